// Prices of European call options on a binomial tree (Cox, Ross and Rubinstein 1979): one option per block.
//
// The block keeps one level of the tree, neighbouring nodes of each thread in registers, and goes from the leaves to the
// root. A node is worth up * (its upper child) + down * (its lower child), discount included; the upper child of a
// thread's last node is the first node of the next thread and comes through shared memory, between two barriers.
// Threads beyond the level's end have nothing to do but wait.
//
// Two sizes of the tree: `bopt` has 2,048 steps, 16 nodes per thread; `bopt_512` has 512 steps, 4 nodes per thread.

#define THREADS 128

// At most so many options in one launch.
#define OPTIONS 1024

// `up` and `down` are discounted probabilities; `sway` is the logarithm to base 2 of the price's factor in a step up, which
// is its volatility times the root of the step's length, over ln 2.
struct Option {
    float spot, strike, up, down, sway;
};

__constant__ Option options[OPTIONS];

template <int STEPS>
__device__ float leaf(const Option& option, int node)
{
    const float price = option.spot * exp2f(option.sway * ((float)(2 * node) - STEPS));
    return fmaxf(price - option.strike, 0.0f);
}

template <int NODES>
__device__ __forceinline__ void price(float* value, float* first)
{
    const int STEPS = THREADS * NODES;
    const Option option = options[blockIdx.x];
    const int node = NODES * threadIdx.x;

    float own[NODES];
#pragma unroll
    for (int k = 0; k < NODES; ++k) {
        own[k] = leaf<STEPS>(option, node + k);
    }
    if (threadIdx.x == 0) {
        first[THREADS] = leaf<STEPS>(option, STEPS);
    }

#pragma unroll 16
    for (int step = STEPS; step > 0; --step) {
        first[threadIdx.x] = own[0];
        __syncthreads();
        const float next = first[threadIdx.x + 1];
        __syncthreads();
        if (node < step) {
#pragma unroll
            for (int k = 0; k < NODES - 1; ++k) {
                own[k] = option.up * own[k + 1] + option.down * own[k];
            }
            own[NODES - 1] = option.up * next + option.down * own[NODES - 1];
        }
    }

    if (threadIdx.x == 0) {
        value[blockIdx.x] = own[0];
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
bopt(float* value)
{
    __shared__ float first[THREADS + 1];
    price<16>(value, first);
}

extern "C" __global__ void __launch_bounds__(THREADS)
bopt_512(float* value)
{
    __shared__ float first[THREADS + 1];
    price<4>(value, first);
}
