// Prices of European call options on a binomial tree (Cox, Ross and Rubinstein 1979): one option per block.
//
// The block keeps one level of the tree, neighbouring nodes of each thread in registers, and goes from the leaves to the
// root. A node is worth up * (its upper child) + down * (its lower child), discount included; the upper child of a
// thread's last node is the first node of the next thread and comes through shared memory, between two barriers.
// Threads beyond the level's end have nothing to do but wait.
//
// An option is (spot price, strike price, up, down); `sway` is the logarithm to base 2 of the price's factor in a step up, which
// is its volatility times the root of the step's length, over ln 2.
//
// Two sizes of the tree: `bopt` has 512 steps, 4 nodes per thread; `bopt_2048` has the 2,048 steps of the SDK's kernel, 16 nodes
// per thread.

#define THREADS 128

template <int STEPS>
__device__ float leaf(const float4& option, float sway, int node)
{
    const float price = option.x * exp2f(sway * (float)(2 * node - STEPS));
    return fmaxf(price - option.y, 0.0f);
}

template <int NODES>
__device__ __forceinline__ void price(float* value, const float4* options, const float* sways, float* first)
{
    const int STEPS = THREADS * NODES;
    const float4 option = options[blockIdx.x];
    const float sway = sways[blockIdx.x];
    const float up = option.z;
    const float down = option.w;
    const int node = NODES * threadIdx.x;

    float own[NODES];
#pragma unroll
    for (int k = 0; k < NODES; ++k) {
        own[k] = leaf<STEPS>(option, sway, node + k);
    }
    if (threadIdx.x == THREADS - 1) {
        first[THREADS] = leaf<STEPS>(option, sway, STEPS);
    }

#pragma unroll 1
    for (int step = STEPS; step > 0; --step) {
        first[threadIdx.x] = own[0];
        __syncthreads();
        const float next = first[threadIdx.x + 1];
        __syncthreads();
        if (node < step) {
#pragma unroll
            for (int k = 0; k < NODES - 1; ++k) {
                own[k] = up * own[k + 1] + down * own[k];
            }
            own[NODES - 1] = up * next + down * own[NODES - 1];
        }
    }

    if (threadIdx.x == 0) {
        value[blockIdx.x] = own[0];
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
bopt(float* value, const float4* options, const float* sways)
{
    __shared__ float first[THREADS + 1];
    price<4>(value, options, sways, first);
}

extern "C" __global__ void __launch_bounds__(THREADS, 8)
bopt_2048(float* value, const float4* options, const float* sways)
{
    __shared__ float first[THREADS + 1];
    price<16>(value, options, sways, first);
}
