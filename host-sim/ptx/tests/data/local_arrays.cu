// Arrays per thread with an index known at run time, and a pointer to them handed to a function.
__device__ __noinline__ int sum(const int *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }
__device__ __noinline__ void sort(int *p, int n)
{
    for (int i = 1; i < n; i++) {
        int v = p[i], j = i;
        while (j > 0 && p[j - 1] > v) { p[j] = p[j - 1]; j--; }
        p[j] = v;
    }
}
extern "C" __global__ void local_arrays(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int a[16];
    double d[4];
    unsigned char c[8];
    for (int k = 0; k < 16; k++) a[k] = in[(i * 16 + k) % n];
    for (int k = 0; k < 4; k++) d[k] = k * 0.5 + i;
    for (int k = 0; k < 8; k++) c[k] = (unsigned char)(i + 40 * k);
    sort(a, 16);
    out[i] = a[in[i] & 15] * 3 + sum(a, in[i] & 15) + (int)(2 * d[in[i] & 3]) + c[in[i + 1] & 7];
}
