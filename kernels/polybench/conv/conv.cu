// A picture weighed over 3 x 3 points: what is at each inner point of B is a weighted sum of the point of A and its eight neighbours.
//
// One thread per point. A TB is 8 rows of 32 columns, so that a warp reads nine pieces of rows, six of which begin one element beside a line,
// and each row is read by the warps above, on and below it.

__device__ const float weights[3][3] = {
    {0.25f, -0.375f, 0.5f},
    {-0.625f, 1.5f, 0.75f},
    {-0.125f, 0.875f, 0.3125f},
};

extern "C" __global__ void __launch_bounds__(256)
conv(float* b, const float* a, int columns, int rows)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < 1 || column >= columns - 1 || row < 1 || row >= rows - 1) {
        return;
    }
    // All are loaded before the first is needed, as the assembler would have it; what looks like an instruction keeps the compiler from another order.
    float around[3][3];
#pragma unroll
    for (int y = 0; y < 3; ++y) {
        const float* line = a + (row + y - 1) * columns + column - 1;
#pragma unroll
        for (int x = 0; x < 3; ++x) {
            around[y][x] = line[x];
        }
    }
    asm volatile("" ::: "memory");
    float sum = __fmul_rn(weights[0][0], around[0][0]);
#pragma unroll
    for (int k = 1; k < 9; ++k) {
        sum = fmaf(weights[k / 3][k % 3], around[k / 3][k % 3], sum);
    }
    b[row * columns + column] = sum;
}
