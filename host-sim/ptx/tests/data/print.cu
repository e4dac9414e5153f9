// Prints, which is refused.
#include <stdio.h>
extern "C" __global__ void print(int *out) { printf("%d\n", out[threadIdx.x]); }
