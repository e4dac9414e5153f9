// 64-bit division and remainder, products, shifts, 128-bit sums: all that integers do.
extern "C" __global__ void division(long long *out, const long long *a, const long long *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long x = a[i], y = b[i];
    unsigned long long ux = x, uy = y;
    long long *o = out + 16 * i;
    o[0] = x / y; o[1] = x % y; o[2] = ux / uy; o[3] = ux % uy; o[4] = __mul64hi(x, y); o[5] = __umul64hi(ux, uy);
    o[6] = x >> (y & 63); o[7] = ux << (y & 63); o[8] = __popcll(x); o[9] = __clzll(x); o[10] = __brevll(x); o[11] = __ffsll(x);
    o[12] = (int)x / ((int)y | 1); o[13] = (unsigned)x % ((unsigned)y | 1); o[14] = x / 1000003; o[15] = (short)x / (short)((short)y | 1) + (signed char)x % 7;
}
