// Half precision, single and in pairs.
#include <cuda_fp16.h>
extern "C" __global__ void halves(__half *out, const __half *a, const __half *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half x = a[i], y = b[i];
    __half *o = out + 12 * i;
    o[0] = __hadd(x, y); o[1] = __hmul(x, y); o[2] = __hfma(x, y, x); o[3] = __hsub(x, y); o[4] = __hdiv(x, y);
    o[5] = __hmax(x, y); o[6] = __hneg(x); o[7] = __hlt(x, y) ? x : y; o[8] = hexp(x); o[9] = hsqrt(__habs(x)); o[10] = __float2half(__half2float(x) * 3.0f); o[11] = __int2half_rn(i);
}
extern "C" __global__ void pairs(__half2 *out, const __half2 *a, const __half2 *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half2 x = a[i], y = b[i];
    __half2 *o = out + 8 * i;
    o[0] = __hadd2(x, y); o[1] = __hmul2(x, y); o[2] = __hfma2(x, y, x); o[3] = __hgt2(x, y); o[4] = __hbeq2(x, x) ? y : x;
    o[5] = h2exp2(x); o[6] = __lowhigh2highlow(x); o[7] = __hmin2(x, y);
    atomicAdd(&out[8 * n], x);
}
