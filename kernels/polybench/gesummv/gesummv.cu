// y = alpha A x + beta B x for two matrices, one row of each per thread.
//
// A warp's lanes are a row apart, so that each load of A or B touches a line per lane; the lanes come back to these lines for the next
// columns, if the cache still has them. All lanes read one element of x. Both sums stay in memory, since the compiler cannot know that
// they do not overlap what is read.

extern "C" __global__ void __launch_bounds__(256)
gesummv(float* y, float* partial, const float* a, const float* b, const float* x, int rows, int columns, float alpha, float beta)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) {
        return;
    }
    const float* of_a = a + row * columns;
    const float* of_b = b + row * columns;
#pragma unroll 1
    for (int column = 0; column < columns; ++column) {
        partial[row] = fmaf(of_a[column], x[column], partial[row]);
        y[row] = fmaf(of_b[column], x[column], y[row]);
    }
    y[row] = fmaf(alpha, partial[row], __fmul_rn(beta, y[row]));
}
