// Device functions that are not inlined: results, structs by value, nested and guarded calls, a function with a loop and an early return.
struct Pair { int a; float b; double c; };
__device__ __noinline__ int square(int x) { return x * x; }
__device__ __noinline__ float4 scale(float4 v, float k) { return make_float4(v.x * k, v.y * k, v.z * k, v.w * k); }
__device__ __noinline__ Pair swap(Pair p, char c) { Pair q; q.a = (int)p.b + c; q.b = (float)p.a; q.c = p.c * 2.0; return q; }
__device__ __noinline__ int steps(unsigned n) { int s = 0; while (n != 1) { if (s > 100) return -1; n = n & 1 ? 3 * n + 1 : n / 2; s++; } return s; }
__device__ __noinline__ int nested(int x) { return square(x) + square(x + 1); }
__device__ __noinline__ void store(int *p, int v) { *p = v; }
__device__ __noinline__ long long wide(long long a, unsigned char b, short c) { return a * b + c; }
__device__ __noinline__ bool odd(int x) { return x & 1; }
extern "C" __global__ void device_functions(int *out, long long *wides, float *floats, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = square(i) + nested(i);
    if (odd(i)) v += steps(i + 1);
    float4 f = scale(make_float4(i, i + 1, i + 2, i + 3), 0.5f);
    Pair p = {i, 2.5f * i, 0.25 * i};
    Pair q = swap(p, (char)(i & 7));
    store(&out[i], v + q.a);
    wides[i] = wide((long long)i << 33, (unsigned char)(i * 7), (short)(i * -300));
    floats[i] = f.x + f.y * 2 + f.z * 3 + f.w * 4 + q.b + (float)q.c;
}
