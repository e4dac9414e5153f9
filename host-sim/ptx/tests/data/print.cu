// What printf makes of values of every size.
#include <cstdio>
extern "C" __global__ void print(int *x) { printf("%d\n", x[threadIdx.x]); }
extern "C" __global__ void formats(double x, long long big) {
  if (threadIdx.x < 2)
    printf("%s %5d|%-4u|%c %lld %#llx %.3f %e %g 100%% %p\n", threadIdx.x ? "one" : "zero", -7 - (int)threadIdx.x, 42u, 'x', big, big, x, x, x,
           (void *)0x1234);
}
