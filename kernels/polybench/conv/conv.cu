// A picture weighed over 3 x 3 points: what is at each inner point of B is a weighted sum of the point of A and its eight neighbours.
//
// One thread per point. A TB is 8 rows of 32 columns, so that a warp reads nine pieces of rows, six of which begin one element beside a line,
// and each row is read by the warps above, on and below it.

#define ABOVE_LEFT 0.25f
#define ABOVE -0.375f
#define ABOVE_RIGHT 0.5f
#define LEFT -0.625f
#define HERE 1.5f
#define RIGHT 0.75f
#define BELOW_LEFT -0.125f
#define BELOW 0.875f
#define BELOW_RIGHT 0.3125f

extern "C" __global__ void __launch_bounds__(256)
conv(float* b, const float* a, int columns, int rows)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < 1 || column >= columns - 1 || row < 1 || row >= rows - 1) {
        return;
    }
    const float* here = a + row * columns + column;
    const float* above = here - columns;
    const float* below = here + columns;
    float sum = __fmul_rn(ABOVE_LEFT, above[-1]);
    sum = fmaf(ABOVE, above[0], sum);
    sum = fmaf(ABOVE_RIGHT, above[1], sum);
    sum = fmaf(LEFT, here[-1], sum);
    sum = fmaf(HERE, here[0], sum);
    sum = fmaf(RIGHT, here[1], sum);
    sum = fmaf(BELOW_LEFT, below[-1], sum);
    sum = fmaf(BELOW, below[0], sum);
    b[row * columns + column] = fmaf(BELOW_RIGHT, below[1], sum);
}
