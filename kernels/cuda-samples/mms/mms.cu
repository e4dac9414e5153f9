// C = A * B for row-major matrices of 32-bit floats, by tiles of 32 x 32.
//
// One thread block of 32 x 32 threads computes one tile of C. For each pair of tiles along the inner dimension the block
// copies both into shared memory (one element per thread and matrix) and every thread adds 32 products to its sum, both factors
// read from shared memory. A warp is a row of the tile: of A its lanes share each element, four of which are loaded at once, of B they read a row.
//
// All sizes are multiples of 32; the grid is (width_b / 32, height_a / 32).

#define TILE 32

extern "C" __global__ void __launch_bounds__(TILE * TILE)
mms(float* c, const float* a, const float* b, int width_a, int width_b)
{
    __shared__ __align__(16) float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];

    const int column = threadIdx.x;
    const int row = threadIdx.y;

    int of_a = (blockIdx.y * TILE + row) * width_a + column;
    int of_b = row * width_b + blockIdx.x * TILE + column;
    float sum = 0.0f;

#pragma unroll 1
    for (int tile = 0; tile < width_a; tile += TILE, of_a += TILE, of_b += TILE * width_b) {
        tile_a[row][column] = a[of_a];
        tile_b[row][column] = b[of_b];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; k += 4) {
            const float4 of_row = *reinterpret_cast<const float4*>(&tile_a[row][k]);
            sum += of_row.x * tile_b[k][column];
            sum += of_row.y * tile_b[k + 1][column];
            sum += of_row.z * tile_b[k + 2][column];
            sum += of_row.w * tile_b[k + 3][column];
        }
        __syncthreads();
    }

    c[(blockIdx.y * TILE + row) * width_b + blockIdx.x * TILE + column] = sum;
}
