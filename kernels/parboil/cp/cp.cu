// Electric potential on a lattice of points: the sum over the atoms nearer than a cutoff of charge over distance, smoothed so that it ends
// at the cutoff: q / r * (1 - r^2 / cutoff^2)^2. Lengths are in the lattice's spacing, and its first point is `offset` from
// the corner of a bin in each direction.
//
// Atoms are sorted into cubic bins of 8 x 8 x 8 points, 8 atoms in each: x, y and z from the bin's corner, and charge, 128 bytes in all. A place
// without an atom has charge 0. Around the bins of the lattice there are `reach` more on each side, and the cutoff is `reach` bins long.
//
// A block of 8 x 4 x 4 threads computes a quarter of a bin's points, one per thread, which lie together in the result. It copies the bins near by into shared memory, 32 at a time,
// and adds up their atoms. The grid is (columns, 2 * rows, 2 * layers) of bins.

#define SIDE 8                          // points along a bin
#define ATOMS 8                         // places in a bin
#define BINS 32                         // bins in shared memory
#define LANES 16                        // threads that copy a bin, half an atom each
#define THREADS 128

// Where the block's points are, which one thread works out for all.
struct Region {
    int bin;                            // the first of the bins near by
    int point;                          // the block's first point in the result
    float x, y, z;                      // the same, from the corner of its own bin
};

extern "C" __global__ void __launch_bounds__(THREADS)
cp(float* potential, const float2* bins, int reach, float offset)
{
    __shared__ Region region;
    __shared__ float atom_x[BINS * ATOMS], atom_y[BINS * ATOMS], atom_z[BINS * ATOMS], charge[BINS * ATOMS];

    const int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const int columns = gridDim.x + 2 * reach;
    const int rows = gridDim.y / 2 + 2 * reach;
    if (thread == 0) {
        region.bin = (blockIdx.z / 2 * rows + blockIdx.y / 2) * columns + blockIdx.x;
        region.point = ((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) * THREADS;
        region.x = offset;
        region.y = offset + 4 * (blockIdx.y % 2);
        region.z = offset + 4 * (blockIdx.z % 2);
    }
    __syncthreads();
    const float x = region.x + threadIdx.x;
    const float y = region.y + threadIdx.y;
    const float z = region.z + threadIdx.z;

    const float cutoff = SIDE * reach;
    const float inverse = 1.0f / (cutoff * cutoff);
    const int across = 2 * reach + 1;
    const int near = across * across * across;
    float sum = 0.0f;
    for (int first = 0; first < near; first += BINS) {
        const int count = min(BINS, near - first);
#pragma unroll 1
        for (int slot = thread / LANES; slot < count; slot += THREADS / LANES) {
            const int bin = first + slot;
            const int along_x = bin % across;
            const int along_y = bin / across % across;
            const int along_z = bin / across / across;
            const int place = region.bin + (along_z * rows + along_y) * columns + along_x;
            const float2 half = bins[place * LANES + thread % LANES];
            const int atom = slot * ATOMS + thread % LANES / 2;
            if (thread % 2 == 0) {
                atom_x[atom] = half.x + SIDE * (along_x - reach);
                atom_y[atom] = half.y + SIDE * (along_y - reach);
            } else {
                atom_z[atom] = half.x + SIDE * (along_z - reach);
                charge[atom] = half.y;
            }
        }
        __syncthreads();
#pragma unroll 4
        for (int atom = 0; atom < count * ATOMS; ++atom) {
            const float dx = atom_x[atom] - x;
            const float dy = atom_y[atom] - y;
            const float dz = atom_z[atom] - z;
            const float square = dx * dx + dy * dy + dz * dz;
            if (square < cutoff * cutoff) {
                const float smooth = 1.0f - square * inverse;
                sum += charge[atom] * rsqrtf(square) * smooth * smooth;
            }
        }
        __syncthreads();
    }
    potential[region.point + thread] = sum;
}
