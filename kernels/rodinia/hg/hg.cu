// How many values lie in each of 1,024 equal parts of a range.
//
// Each of a TB's three warps counts in 1,024 words of shared memory of its own. Where several lanes want one word, one of their stores stays,
// and a lane knows by its number in the word's highest five bits whether it was its own; the others try again. At the end the three counts
// are added, and the sum is added to those of other TBs in memory.

#define BINS 1024
#define WARPS 3
#define COUNT 0x07ffffffu               // bits of a word that count

extern "C" __global__ void __launch_bounds__(32 * WARPS)
hg(unsigned* counts, const float* values, int elements, float low, float high)
{
    __shared__ unsigned counters[WARPS * BINS];

    const int thread = threadIdx.x;
#pragma unroll 1
    for (int at = thread; at < WARPS * BINS; at += 32 * WARPS) {
        counters[at] = 0;
    }
    __syncthreads();
    volatile unsigned* own = counters + thread / 32 * BINS;
    const unsigned tag = (unsigned)thread << 27;
#pragma unroll 1
    for (int at = blockIdx.x * (32 * WARPS) + thread; at < elements; at += gridDim.x * (32 * WARPS)) {
        const int bin = min((int)((values[at] - low) / (high - low) * BINS), BINS - 1);
        unsigned next;
        do {
            next = ((own[bin] & COUNT) + 1) | tag;
            own[bin] = next;
        } while (own[bin] != next);
    }
    __syncthreads();
#pragma unroll 1
    for (int bin = thread; bin < BINS; bin += 32 * WARPS) {
        unsigned sum = 0;
        for (int warp = 0; warp < WARPS; ++warp) {
            sum += counters[warp * BINS + bin] & COUNT;
        }
        atomicAdd(&counts[bin], sum);
    }
}
