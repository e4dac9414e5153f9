// The double and single functions of the mathematics library, which are PTX by the time they get here.
#include <math.h>
extern "C" __global__ void doubles(double *out, const double *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = in[i];
    double *o = out + 16 * i;
    o[0] = sin(x); o[1] = cos(x); o[2] = exp(x * 0.1); o[3] = log(fabs(x) + 1e-3); o[4] = pow(fabs(x), 1.7);
    o[5] = sqrt(fabs(x)); o[6] = cbrt(x); o[7] = atan2(x, 2.0); o[8] = tanh(x); o[9] = 1.0 / (x + 100.0);
    o[10] = fmod(x, 0.7); o[11] = floor(x) + ceil(x) + rint(x); o[12] = erf(x * 0.2); o[13] = tgamma(fabs(x) * 0.1 + 1.5); o[14] = hypot(x, 3.0);
    o[15] = tan(x);
}
extern "C" __global__ void singles(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i];
    float *o = out + 16 * i;
    o[0] = sinf(x); o[1] = cosf(x); o[2] = expf(x * 0.1f); o[3] = logf(fabsf(x) + 1e-3f); o[4] = powf(fabsf(x), 1.7f);
    o[5] = sqrtf(fabsf(x)); o[6] = cbrtf(x); o[7] = atan2f(x, 2.0f); o[8] = tanhf(x); o[9] = 1.0f / (x + 100.0f);
    o[10] = fmodf(x, 0.7f); o[11] = floorf(x) + ceilf(x) + rintf(x); o[12] = erff(x * 0.2f); o[13] = rsqrtf(fabsf(x) + 1.0f);
    o[14] = hypotf(x, 3.0f); o[15] = __sinf(x * 0.01f) + __expf(x * 0.01f) + __fdividef(x, 3.0f);
}
