// A step of time of Maxwell's equations on a plane, by finite differences: the electric field along y follows from the magnetic field, which
// points out of the plane, at a point and in the row before. Row 0 is where the pulse comes from.
//
// One thread per point, a TB is 8 rows of 32 columns. Two rows of the magnetic field and one of the electric one are read, and the latter is
// stored: nothing is used twice but the row between two TBs.

#define HALF 0.5f                       // of Courant's number

extern "C" __global__ void __launch_bounds__(256)
fdtd1(float* ey, const float* hz, const float* pulse, int columns, int rows, int step)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= columns || row >= rows) {
        return;
    }
    const int at = row * columns + column;
    if (row == 0) {
        ey[at] = pulse[step];
    } else {
        // All are loaded before the first is needed, as the assembler would have it; what looks like an instruction keeps the compiler from another
        // order.
        const float before = ey[at];
        const float here = hz[at];
        const float above = hz[at - columns];
        asm volatile("" ::: "memory");
        ey[at] = fmaf(-HALF, here - above, before);
    }
}
