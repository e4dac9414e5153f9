// The electric potential of all atoms on a plane of points, without a cutoff: a charge q at the distance r adds q / r.
//
// Atoms are in constant memory, which all lanes read at once. A thread has eight points of a row, 16 apart so that a warp's stores are
// whole lines: the square of the distance along y and z is worked out once for the eight. A launch adds to what the plane has of atoms before.

#define ATOMS 4000
#define POINTS 8
#define COLUMNS 16
#define ROWS 8

__constant__ float4 atoms[ATOMS];       // x, y, the square of the distance to the plane along z, charge

extern "C" __global__ void __launch_bounds__(COLUMNS * ROWS)
coulomb(float* potential, int count, float spacing)
{
    const int row = blockIdx.y * ROWS + threadIdx.y;
    const int column = blockIdx.x * COLUMNS * POINTS + threadIdx.x;
    const int width = gridDim.x * COLUMNS * POINTS;
    const float y = spacing * (float)row;
    const float x = spacing * (float)column;
    const float apart = spacing * (float)COLUMNS;
    float sum[POINTS] = {};
#pragma unroll 1
    for (int atom = 0; atom < count; ++atom) {
        const float4 at = atoms[atom];
        const float dy = y - at.y;
        const float aside = fmaf(dy, dy, at.z);
        float dx = x - at.x;
#pragma unroll
        for (int point = 0; point < POINTS; ++point) {
            sum[point] = fmaf(at.w, rsqrtf(fmaf(dx, dx, aside)), sum[point]);
            dx += apart;
        }
    }
    float* to = potential + row * width + column;
#pragma unroll
    for (int point = 0; point < POINTS; ++point) {
        to[point * COLUMNS] += sum[point];
    }
}
