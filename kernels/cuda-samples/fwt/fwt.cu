// Fast Walsh (Hadamard) transform of vectors of 32-bit floats, in natural order: one pass per launch.
//
// A radix-4 pass with stride s combines the four elements i, i + s, i + 2s, i + 3s, which is two radix-2 passes (strides s
// and 2s) at once and halves the traffic. A transform of n = 4^p elements is p launches with s = n / 4, n / 16, ..., 1; when n
// is twice a power of four, one radix-2 pass of stride n / 2 comes first. Every element is read and written by the same
// thread, so that `out` may be `in`.
//
// blockIdx.y selects the vector of a batch. Geometry per vector of n elements: fwt_radix4 has n / 4 threads, fwt_radix2 has
// n / 2, in blocks of 256. The stride is a power of two.

extern "C" __global__ void __launch_bounds__(256) fwt_radix4(float* out, const float* in, int stride)
{
    const int position = blockIdx.x * blockDim.x + threadIdx.x;
    const int length = 4 * gridDim.x * blockDim.x;
    in += blockIdx.y * length;
    out += blockIdx.y * length;

    const int low = position & (stride - 1);
    const int i0 = 4 * (position - low) + low;
    const int i1 = i0 + stride;
    const int i2 = i1 + stride;
    const int i3 = i2 + stride;

    const float d0 = in[i0];
    const float d1 = in[i1];
    const float d2 = in[i2];
    const float d3 = in[i3];

    const float sum02 = d0 + d2;
    const float difference02 = d0 - d2;
    const float sum13 = d1 + d3;
    const float difference13 = d1 - d3;

    out[i0] = sum02 + sum13;
    out[i1] = sum02 - sum13;
    out[i2] = difference02 + difference13;
    out[i3] = difference02 - difference13;
}

extern "C" __global__ void __launch_bounds__(256) fwt_radix2(float* out, const float* in, int stride)
{
    const int position = blockIdx.x * blockDim.x + threadIdx.x;
    const int length = 2 * gridDim.x * blockDim.x;
    in += blockIdx.y * length;
    out += blockIdx.y * length;

    const int low = position & (stride - 1);
    const int i0 = 2 * (position - low) + low;
    const int i1 = i0 + stride;

    const float d0 = in[i0];
    const float d1 = in[i1];

    out[i0] = d0 + d1;
    out[i1] = d0 - d1;
}
