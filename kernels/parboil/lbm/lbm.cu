// A step of time of a fluid by the lattice-Boltzmann method with 19 velocities: what moves in each direction at a cell is relaxed towards
// its equilibrium (Bhatnagar, Gross and Krook 1954), and moves on to the next cell. At a solid cell all of it turns back. Edges of the box meet.
//
// A block is a row of cells, one thread each. Each direction has an array of its own, so that lanes load lines; a store in a direction along
// the row begins a cell beside a line.

#define DIRECTIONS 19
#define COLUMNS 120

extern "C" __global__ void __launch_bounds__(COLUMNS)
lbm(float* after, const float* before, const unsigned* solid, float rate)
{
    // At rest; along x, y, z, both ways, opposite ones next to each other; then along two axes at once.
    constexpr int X[DIRECTIONS] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0};
    constexpr int Y[DIRECTIONS] = {0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1};
    constexpr int Z[DIRECTIONS] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1};

    const int column = threadIdx.x;
    const int rows = gridDim.x;
    const int planes = gridDim.y;
    const int cells = COLUMNS * rows * planes;
    const int row = blockIdx.x;
    const int plane = blockIdx.y;
    const int cell = (plane * rows + row) * COLUMNS + column;
    const int row_at[3] = {row == 0 ? rows - 1 : row - 1, row, row == rows - 1 ? 0 : row + 1};
    const int plane_at[3] = {plane == 0 ? planes - 1 : plane - 1, plane, plane == planes - 1 ? 0 : plane + 1};
    const int column_at[3] = {column == 0 ? COLUMNS - 1 : column - 1, column, column == COLUMNS - 1 ? 0 : column + 1};

    float moving[DIRECTIONS];
#pragma unroll
    for (int direction = 0; direction < DIRECTIONS; ++direction) {
        moving[direction] = before[direction * cells + cell];
    }
    if (solid[cell]) {
#pragma unroll
        for (int direction = 1; direction < DIRECTIONS; direction += 2) {
            const float there = moving[direction];
            moving[direction] = moving[direction + 1];
            moving[direction + 1] = there;
        }
    } else {
        float density = 0.0f, x = 0.0f, y = 0.0f, z = 0.0f;
#pragma unroll
        for (int direction = 0; direction < DIRECTIONS; ++direction) {
            density += moving[direction];
            x += (float)X[direction] * moving[direction];
            y += (float)Y[direction] * moving[direction];
            z += (float)Z[direction] * moving[direction];
        }
        const float lighter = __fdividef(1.0f, density);
        x *= lighter;
        y *= lighter;
        z *= lighter;
        const float energy = 1.0f - 1.5f * (x * x + y * y + z * z);
#pragma unroll
        for (int direction = 0; direction < DIRECTIONS; ++direction) {
            const float weight = direction == 0 ? 1.0f / 3.0f : direction < 7 ? 1.0f / 18.0f : 1.0f / 36.0f;
            const float along = (float)X[direction] * x + (float)Y[direction] * y + (float)Z[direction] * z;
            const float still = weight * density * (energy + 3.0f * along + 4.5f * along * along);
            moving[direction] += rate * (still - moving[direction]);
        }
    }
#pragma unroll
    for (int direction = 0; direction < DIRECTIONS; ++direction) {
        const int to = (plane_at[Z[direction] + 1] * rows + row_at[Y[direction] + 1]) * COLUMNS + column_at[X[direction] + 1];
        after[direction * cells + to] = moving[direction];
    }
}
