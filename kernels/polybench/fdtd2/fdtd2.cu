// A step of time of Maxwell's equations on a plane, by finite differences: the magnetic field, which points out of the plane, follows from the
// electric field around each point.
//
// One thread per point, a TB is 8 rows of 32 columns. The electric field along x has a column more than there are points, so that its rows
// begin anywhere in a line; that along y has a row more. Of the five pieces of rows that a warp reads two are neighbours.

#define STEP 0.7f                       // Courant's number, below the root of a half

extern "C" __global__ void __launch_bounds__(256)
fdtd2(float* hz, const float* ex, const float* ey, int columns, int rows)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= columns || row >= rows) {
        return;
    }
    const int at = row * columns + column;
    const float* along_x = ex + row * (columns + 1) + column;
    const float* along_y = ey + at;
    // All are loaded before the first is needed, as the assembler would have it; what looks like an instruction keeps the compiler from another order.
    const float before = hz[at];
    const float left = along_x[0];
    const float right = along_x[1];
    const float here = along_y[0];
    const float below = along_y[columns];
    asm volatile("" ::: "memory");
    hz[at] = fmaf(-STEP, ((right - left) + below) - here, before);
}
