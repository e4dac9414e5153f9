// The best alignment of two sequences by dynamic programming over a table of scores, tile by tile: a cell's score is the best of the one
// upper left of it with the score of aligning its two letters, and of those above and left of it with the penalty of a gap. This is the first kernel of two:
// diagonals of tiles from the upper left corner to the longest. A launch does one diagonal of tiles, which do not depend on each
// other, of as many pairs of sequences as blockIdx.y counts.
//
// A block is one warp, of which 16 lanes work: a tile of 16 x 16 cells comes into shared memory with the row above and the column left of
// it, and is done diagonal by diagonal. It goes back into the table at the end.

#define SIDE 16

extern "C" __global__ void __launch_bounds__(2 * SIDE)
nw1(int* scores, const int* matches, int columns, int gap, int tiles, int diagonal)
{
    __shared__ int tile[SIDE + 1][SIDE + 1];
    __shared__ int match[SIDE][SIDE];

    const int lane = threadIdx.x;
    if (lane >= SIDE) {
        return;
    }
    const int column = blockIdx.x;
    const int row = diagonal - 1 - blockIdx.x;
    // A pair's table has a row and a column before those of the letters.
    scores += blockIdx.y * columns * columns;
    matches += blockIdx.y * columns * columns;
    const int corner = row * SIDE * columns + column * SIDE;
    const int inner = corner + columns + 1 + lane;

    if (lane == 0) {
        tile[0][0] = scores[corner];
    }
#pragma unroll
    for (int y = 0; y < SIDE; ++y) {
        match[y][lane] = matches[inner + y * columns];
    }
    __syncthreads();
    tile[lane + 1][0] = scores[corner + (lane + 1) * columns];
    __syncthreads();
    tile[0][lane + 1] = scores[corner + 1 + lane];
    __syncthreads();
#pragma unroll
    for (int step = 0; step < SIDE; ++step) {
        if (lane <= step) {
            const int x = lane + 1;
            const int y = step - lane + 1;
            tile[y][x] = max(tile[y - 1][x - 1] + match[y - 1][x - 1], max(tile[y][x - 1] - gap, tile[y - 1][x] - gap));
        }
        __syncthreads();
    }
#pragma unroll
    for (int step = SIDE - 2; step >= 0; --step) {
        if (lane <= step) {
            const int x = lane + SIDE - step;
            const int y = SIDE - lane;
            tile[y][x] = max(tile[y - 1][x - 1] + match[y - 1][x - 1], max(tile[y][x - 1] - gap, tile[y - 1][x] - gap));
        }
        __syncthreads();
    }
#pragma unroll
    for (int y = 0; y < SIDE; ++y) {
        scores[inner + y * columns] = tile[y + 1][lane + 1];
    }
}
