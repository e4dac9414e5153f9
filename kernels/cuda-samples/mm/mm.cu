// C = A * B for row-major matrices of 32-bit floats, by tiles of 16 x 16.
//
// One thread block of 16 x 16 threads computes one tile of C. For each pair of tiles along the inner dimension the block
// copies both into shared memory (one element per thread and matrix) and every thread adds 16 products to its sum, so that
// each loaded element is used 16 times. The row of A is read four elements at a time, as shared-memory loads of 16 bytes.
//
// All sizes are multiples of 16; the grid is (width_b / 16, height_a / 16).

#define TILE 16

extern "C" __global__ void __launch_bounds__(TILE * TILE)
mm(float* c, const float* a, const float* b, int width_a, int width_b)
{
    __shared__ __align__(16) float tile_a[TILE][TILE];
    __shared__ __align__(16) float tile_b[TILE][TILE];

    const int column = threadIdx.x;
    const int row = threadIdx.y;

    int next_a = (blockIdx.y * TILE + row) * width_a + column;
    int next_b = row * width_b + blockIdx.x * TILE + column;
    float sum = 0.0f;

#pragma unroll 1
    for (int done = 0; done < width_a; done += TILE) {
        tile_a[row][column] = a[next_a];
        tile_b[row][column] = b[next_b];
        __syncthreads();

        float column_of_b[TILE];
        float4 row_of_a[TILE / 4];
#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            column_of_b[k] = tile_b[k][column];
        }
#pragma unroll
        for (int k = 0; k < TILE / 4; ++k) {
            row_of_a[k] = *reinterpret_cast<const float4*>(&tile_a[row][4 * k]);
        }
#pragma unroll
        for (int k = 0; k < TILE / 4; ++k) {
            sum += row_of_a[k].x * column_of_b[4 * k];
            sum += row_of_a[k].y * column_of_b[4 * k + 1];
            sum += row_of_a[k].z * column_of_b[4 * k + 2];
            sum += row_of_a[k].w * column_of_b[4 * k + 3];
        }
        __syncthreads();
        next_a += TILE;
        next_b += TILE * width_b;
    }

    c[(blockIdx.y * TILE + row) * width_b + blockIdx.x * TILE + column] = sum;
}
