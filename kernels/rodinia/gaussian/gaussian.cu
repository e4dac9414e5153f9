// A step of Gaussian elimination: from every row below the pivot's, the pivot's row times that row's multiplier is taken away, and the same is done
// with the right-hand side. Multipliers are known.
//
// One thread per element. A block is 4 x 4 threads, half a warp, whose lanes go down the rows first, so that each access of the matrix
// touches four rows.

extern "C" __global__ void __launch_bounds__(16)
gaussian(float* matrix, float* right, const float* multipliers, int size, int step)
{
    const int below = blockIdx.x * blockDim.x + threadIdx.x;
    const int behind = blockIdx.y * blockDim.y + threadIdx.y;
    if (below >= size - 1 - step || behind >= size - step) {
        return;
    }
    const int row = below + 1 + step;
    const int column = behind + step;
    const int factor = row * size + step;
    matrix[row * size + column] = fmaf(-multipliers[factor], matrix[step * size + column], matrix[row * size + column]);
    if (behind == 0) {
        right[row] = fmaf(-multipliers[factor], right[step], right[row]);
    }
}
