// Calls through a table of pointers.
typedef int (*F)(int);
__device__ __noinline__ int f(int x) { return x + 1; }
__device__ __noinline__ int g(int x) { return x * 2; }
__device__ F table[2] = {f, g};
extern "C" __global__ void indirect(int *out) { out[threadIdx.x] = table[threadIdx.x & 1](threadIdx.x); }
