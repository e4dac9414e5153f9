// Heat on a chip: the temperature of every cell of a floor plan after some steps of time. A cell gains what its circuits
// dissipate, exchanges heat with its four neighbours, and loses some to the surroundings. At the chip's edge a cell's missing neighbour is
// the cell itself.
//
// A block of 16 x 16 threads computes the cells of a tile in shared memory. With each step the cells whose neighbours are known
// are fewer by one on each side, so that blocks overlap: after `steps` steps a block has a core of 16 - 2 * steps
// rows and columns of its own.
//
// The grid is columns and rows over those of the core, rounded up.

#define TILE 16

extern "C" __global__ void __launch_bounds__(TILE * TILE)
hs(float* after, const float* before, const float* power, int columns, int rows, int steps, float rate, float along_x, float along_y, float up,
   float ambient)
{
    __shared__ float heat[TILE][TILE];
    __shared__ float next[TILE][TILE];
    __shared__ float watts[TILE][TILE];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int x = blockIdx.x * (TILE - 2 * steps) - steps + tx;
    const int y = blockIdx.y * (TILE - 2 * steps) - steps + ty;
    const bool on_chip = x >= 0 && x < columns && y >= 0 && y < rows;
    const int place = y * columns + x;
    if (on_chip) {
        heat[ty][tx] = before[place];
        watts[ty][tx] = power[place];
    }
    __syncthreads();

    // Neighbours within the tile, and within the chip.
    const int west = max(tx - 1, x - tx > 0 ? 0 : tx - x);
    const int east = min(tx + 1, min(TILE - 1, columns - 1 - x + tx));
    const int north = max(ty - 1, max(0, ty - y));
    const int south = min(ty + 1, min(TILE - 1, rows - 1 - y + ty));

    for (int step = 1; step <= steps; ++step) {
        const bool known = on_chip && tx >= step && tx < TILE - step && ty >= step && ty < TILE - step;
        if (known) {
            const float own = heat[ty][tx];
            const float vertical = heat[south][tx] + heat[north][tx] - 2.0f * own;
            const float horizontal = heat[ty][east] + heat[ty][west] - 2.0f * own;
            next[ty][tx] = own + rate * (watts[ty][tx] + vertical * along_y + horizontal * along_x + (ambient - own) * up);
        }
        __syncthreads();
        if (step == steps) {
            if (known) {
                after[place] = next[ty][tx];
            }
            break;
        }
        if (known) {
            heat[ty][tx] = next[ty][tx];
        }
        __syncthreads();
    }
}
