// C = A * B for row-major matrices of 32-bit floats, by tiles of 16 x 16.
//
// One thread block of 16 x 16 threads computes one tile of C. For each pair of tiles along the inner dimension the block
// copies both into shared memory (one element per thread and matrix) and every thread adds 16 products to its sum, both factors
// read from shared memory, so that each element loaded from global memory is used 16 times.
//
// All sizes are multiples of 16; the grid is (width_b / 16, height_a / 16).

#define TILE 16

extern "C" __global__ void __launch_bounds__(TILE * TILE)
mm(float* c, const float* a, const float* b, int width_a, int width_b)
{
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];

    const int column = threadIdx.x;
    const int row = threadIdx.y;

    // First elements of the tiles, which go right in A and down in B.
    int corner_a = blockIdx.y * TILE * width_a;
    int corner_b = blockIdx.x * TILE;
    const int end_a = corner_a + width_a;
    float sum = 0.0f;

    for (; corner_a < end_a; corner_a += TILE, corner_b += TILE * width_b) {
        tile_a[row][column] = a[corner_a + row * width_a + column];
        tile_b[row][column] = b[corner_b + row * width_b + column];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            sum += tile_a[row][k] * tile_b[k][column];
        }
        __syncthreads();
    }

    c[(blockIdx.y * TILE + row) * width_b + blockIdx.x * TILE + column] = sum;
}
