// The fluxes into each cell of an unstructured mesh, for the Euler equations of a gas: what finite volumes do in each step.
//
// One thread per cell, which has four sides: behind each is another cell, the wall, or the far field. Through a side goes the mean of what
// both cells would let through, less the difference of their states times the largest speed of a wave there (Rusanov's flux). A wall
// lets nothing through but pressure. Arrays lie variable by variable, so that neighbouring lanes read neighbouring
// addresses of their own cells; the states of cells behind the sides are gathered. They are loaded one side ahead.

#define GAMMA 1.4f          // ratio of the specific heats of air
#define WALL (-1)
#define FAR_FIELD (-2)
#define SIDES 4

struct State {
    float density;
    float3 momentum;
    float energy;
};

struct Gas {
    float3 velocity;
    float pressure, sound;
};

struct Side {
    int behind;
    float3 normal;          // as long as the side is large
    State state;
};

static __device__ float dot(float3 a, float3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static __device__ Gas gas(const State& s)
{
    const float volume = 1.0f / s.density;
    Gas g;
    g.velocity = make_float3(s.momentum.x * volume, s.momentum.y * volume, s.momentum.z * volume);
    g.pressure = (GAMMA - 1.0f) * (s.energy - 0.5f * dot(s.momentum, g.velocity));
    g.sound = sqrtf(GAMMA * g.pressure * volume);
    return g;
}

static __device__ State state_of(const float* states, int cells, int cell)
{
    State s;
    s.density = states[cell];
    s.momentum = make_float3(states[cells + cell], states[2 * cells + cell], states[3 * cells + cell]);
    s.energy = states[4 * cells + cell];
    return s;
}

static __device__ Side side_of(const float* states, const float* normals, int cells, int cell, int side, int behind)
{
    const State far_field = {1.0f, {1.2f, 0.0f, 0.0f}, 3.22f}; // a pressure of 1, and a little over the speed of sound
    const float* normal = &normals[3 * side * cells + cell];
    Side s;
    s.behind = behind;
    s.normal = make_float3(normal[0], normal[cells], normal[2 * cells]);
    s.state = behind < 0 ? far_field : state_of(states, cells, behind);
    return s;
}

// Half of both cells' fluxes through a side, and of the difference of their states.
static __device__ float through(float mine, float out, float other, float in, float fastest)
{
    return 0.5f * (mine * out + other * in - fastest * (other - mine));
}

static __device__ void into(float* fluxes, const float* states, const int* neighbours, const float* normals, int cells)
{
    const int cell = blockIdx.x * blockDim.x + threadIdx.x;
    const State mine = state_of(states, cells, cell);
    const Gas here = gas(mine);
    State flux = {0.0f, {0.0f, 0.0f, 0.0f}, 0.0f};
    int behind[SIDES];
#pragma unroll
    for (int side = 0; side < SIDES; ++side) {
        behind[side] = neighbours[side * cells + cell];
    }
    Side next = side_of(states, normals, cells, cell, 0, behind[0]);
#pragma unroll
    for (int side = 0; side < SIDES; ++side) {
        const Side now = next;
        if (side + 1 < SIDES) {
            next = side_of(states, normals, cells, cell, side + 1, behind[side + 1]);
        }
        const float3 normal = now.normal;
        if (now.behind == WALL) {
            flux.momentum.x += here.pressure * normal.x;
            flux.momentum.y += here.pressure * normal.y;
            flux.momentum.z += here.pressure * normal.z;
        } else {
            const State other = now.state;
            const Gas there = gas(other);
            const float size = sqrtf(dot(normal, normal));
            const float out = dot(here.velocity, normal);
            const float in = dot(there.velocity, normal);
            const float fastest = fmaxf(fabsf(out) + here.sound * size, fabsf(in) + there.sound * size);
            const float push = 0.5f * (here.pressure + there.pressure);
            const float work = 0.5f * (here.pressure * out + there.pressure * in);
            flux.density += through(mine.density, out, other.density, in, fastest);
            flux.momentum.x += through(mine.momentum.x, out, other.momentum.x, in, fastest) + push * normal.x;
            flux.momentum.y += through(mine.momentum.y, out, other.momentum.y, in, fastest) + push * normal.y;
            flux.momentum.z += through(mine.momentum.z, out, other.momentum.z, in, fastest) + push * normal.z;
            flux.energy += through(mine.energy, out, other.energy, in, fastest) + work;
        }
    }
    fluxes[cell] = flux.density;
    fluxes[cells + cell] = flux.momentum.x;
    fluxes[2 * cells + cell] = flux.momentum.y;
    fluxes[3 * cells + cell] = flux.momentum.z;
    fluxes[4 * cells + cell] = flux.energy;
}

extern "C" __global__ void __launch_bounds__(64, 16)
cd(float* fluxes, const float* states, const int* neighbours, const float* normals, int cells)
{
    into(fluxes, states, neighbours, normals, cells);
}

// The same in larger blocks.
extern "C" __global__ void __launch_bounds__(192, 5)
cd_192(float* fluxes, const float* states, const int* neighbours, const float* normals, int cells)
{
    into(fluxes, states, neighbours, normals, cells);
}
