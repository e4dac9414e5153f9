// One time step of independent systems of bodies, or of one, that attract each other (all pairs, softened gravity).
//
// blockIdx.y selects the system, one thread moves one body. The block walks over the system's bodies in tiles of its own
// size: every thread copies one body into shared memory, then all threads take all bodies of the tile, each body one
// broadcast 16-byte load. A body is (x, y, z, mass); its acceleration is the sum over the others of
//
//     mass * d / (d . d + softening)^(3/2),    d = their place - its place,
//
// where its own term is zero because d is. Velocity first, then place with the new velocity (semi-implicit Euler).
//
// `bodies` per system is a multiple of 256; the grid is (bodies / 256, systems).

#define THREADS 256

extern "C" __global__ void __launch_bounds__(THREADS)
nbdy(float4* new_place, float4* new_velocity, const float4* place, const float4* velocity, int bodies, float step, float softening)
{
    __shared__ float4 tile[THREADS];

    const int first = blockIdx.y * bodies;
    const int own = first + blockIdx.x * THREADS + threadIdx.x;
    const float4 self = place[own];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;

#pragma unroll 1
    for (int done = 0; done < bodies; done += THREADS) {
        tile[threadIdx.x] = place[first + done + threadIdx.x];
        __syncthreads();
#pragma unroll 32
        for (int k = 0; k < THREADS; ++k) {
            const float4 other = tile[k];
            const float dx = other.x - self.x;
            const float dy = other.y - self.y;
            const float dz = other.z - self.z;
            const float square = dx * dx + dy * dy + dz * dz + softening;
            const float inverse = rsqrtf(square);
            const float pull = other.w * (inverse * inverse * inverse);
            ax += dx * pull;
            ay += dy * pull;
            az += dz * pull;
        }
        __syncthreads();
    }

    float4 speed = velocity[own];
    speed.x += ax * step;
    speed.y += ay * step;
    speed.z += az * step;
    new_velocity[own] = speed;
    new_place[own] = make_float4(self.x + speed.x * step, self.y + speed.y * step, self.z + speed.z * step, self.w);
}
