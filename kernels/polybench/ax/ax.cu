// The first half of A^T (A x): tmp = A x for a row-major matrix of 32-bit floats.
//
// One thread per row, which adds its row's products to its element of `tmp` in memory, as a compiler must that does not know whether
// `tmp` overlaps A or x. The lanes of a warp are a row apart: each walks through a line of its own, 32 elements long, while all of them
// read the same element of x and write neighbouring sums.

extern "C" __global__ void __launch_bounds__(256)
ax(const float* a, const float* x, float* tmp, int rows, int columns)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
#pragma unroll 1
        for (int column = 0; column < columns; ++column) {
            tmp[row] += a[row * columns + column] * x[column];
        }
    }
}
