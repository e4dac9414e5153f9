// Forces and potentials between particles in a cube of boxes, each of which acts on the particles of its own box and of those around it.
//
// A block is a box. Its particles come into shared memory, then those of one box after the other; a thread is one particle and
// goes through the other box's. A particle's force and potential are in double precision. nvcc keeps them in registers for a box, since what is
// read is shared memory; between boxes they are in memory, where lanes are 32 bytes apart.

#define ROOM 100

struct Four {
    double v, x, y, z;                  // of a place: half of its square; of a force: the potential
};

extern "C" __global__ void __launch_bounds__(128)
lavamd(Four* forces, const Four* places, const double* charges, int boxes, int particles, double steepness)
{
    __shared__ Four own[ROOM];
    __shared__ Four others[ROOM];
    __shared__ double charge[ROOM];

    const int thread = threadIdx.x;
    const int home = blockIdx.x;
    const int x = home % boxes;
    const int y = home / boxes % boxes;
    const int z = home / boxes / boxes;
    Four* force = &forces[home * particles + thread];
    if (thread < particles) {
        own[thread] = places[home * particles + thread];
    }
#pragma unroll 1
    for (int side = 0; side < 27; ++side) {
        const int at_x = x + side % 3 - 1;
        const int at_y = y + side / 3 % 3 - 1;
        const int at_z = z + side / 9 - 1;
        if (min(at_x, min(at_y, at_z)) < 0 || max(at_x, max(at_y, at_z)) >= boxes) {
            continue;
        }
        const int first = ((at_z * boxes + at_y) * boxes + at_x) * particles;
        __syncthreads();
        if (thread < particles) {
            others[thread] = places[first + thread];
            charge[thread] = charges[first + thread];
        }
        __syncthreads();
        if (thread < particles) {
#pragma unroll 1
            for (int other = 0; other < particles; ++other) {
                const Four from = others[other];
                const Four to = own[thread];
                const double apart = to.v + from.v - (to.x * from.x + to.y * from.y + to.z * from.z);
                const double pull = (double)__expf((float)(-steepness * apart));
                const double twice = 2.0 * pull;
                force->v += charge[other] * pull;
                force->x += charge[other] * (twice * (to.x - from.x));
                force->y += charge[other] * (twice * (to.y - from.y));
                force->z += charge[other] * (twice * (to.z - from.z));
            }
        }
    }
}
