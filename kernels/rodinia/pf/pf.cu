// The cheapest ways through a grid of cells, row by row: into a cell one comes straight from the one before it, or aslant from the one left or
// right of that; the cell has a cost for either. Dynamic programming: the cost of a way to a cell is the least over the three of the way so
// far and the step. Which of the three it was is kept, two bits per row, so that the way can be followed back. There are several starts, each
// with the costs at which its ways reach the first row.
//
// A block of 256 threads, one per column, does up to 16 rows for one start. With each row the columns whose three predecessors are known are
// fewer by one on each side, and blocks overlap: a block keeps all but HALO columns on each side, which are a whole line of memory. The cells
// of two rows lie together, so that one load serves both: two words per column, straight in the lower half and aslant in the upper. The grid is
// (columns / KEPT rounded up, starts).

#define THREADS 256
#define HALO 16
#define KEPT (THREADS - 2 * HALO)

extern "C" __global__ void __launch_bounds__(THREADS)
pf(unsigned* after, unsigned* ways, const unsigned* before, const uint2* cells, int columns, int rows)
{
    __shared__ unsigned cost[2][THREADS];

    const int thread = threadIdx.x;
    const int column = blockIdx.x * KEPT - HALO + thread;
    const bool inside = column >= 0 && column < columns;
    const int place = blockIdx.y * columns + column;
    if (inside) {
        cost[0][thread] = before[place];
    }
    // Neighbours within the block, and within the grid of cells.
    const int left = max(thread - 1, max(0, thread - column));
    const int right = min(thread + 1, min(THREADS - 1, thread + columns - 1 - column));
    __syncthreads();

    unsigned way = 0;
#pragma unroll 1
    for (int row = 0; row < rows; row += 2) {
        uint2 pair;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            if (inside && thread > row + half && thread < THREADS - 1 - row - half) {
                if (half == 0) {
                    pair = cells[row / 2 * columns + column];
                }
                const unsigned cell = half == 0 ? pair.x : pair.y;
                const unsigned straight = cost[half][thread] + (cell & 0xffff);
                const unsigned from_left = cost[half][left];
                const unsigned from_right = cost[half][right];
                const unsigned aslant = min(from_left, from_right) + (cell >> 16);
                if (aslant < straight) {
                    way |= (from_left <= from_right ? 1 : 2) << 2 * (row + half);
                }
                cost[1 - half][thread] = min(straight, aslant);
            }
            __syncthreads();
        }
    }
    if (inside && thread >= HALO && thread < THREADS - HALO) {
        after[place] = cost[0][thread];
        ways[place] = way;
    }
}
