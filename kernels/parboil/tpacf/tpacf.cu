// How far points on the sky are apart, as histograms: of the pairs in a set of observed points, of the pairs in each of many random sets, and of
// all pairs of an observed point and one of a random set. From these the angular correlation follows.
//
// A block makes one histogram. It copies 256 points at a time into shared memory; a thread takes one of its own after the other and
// goes through the copied ones. Bins are by the cosine, found by halving in constant memory. There are 128 copies of the histogram,
// one for each two threads, which count by atomic additions in shared memory.

#define THREADS 256
#define BINS 20
#define COPIES 128
#define BOUNDS 32

__constant__ float bounds[BOUNDS];      // cosines where a bin ends, falling; after the last one what no cosine is below

extern "C" __global__ void __launch_bounds__(THREADS)
tpacf(unsigned* histograms, const float* points, int sets, int count)
{
    __shared__ float tile[3][THREADS];
    __shared__ unsigned counts[BINS][COPIES];

    const int thread = threadIdx.x;
    const int block = blockIdx.x;
    // Set 0 is the observed one; x, y and z of a set one after the other.
    const float* mine = points + (block <= sets ? block : 0) * 3 * count;
    const float* others = points + (block <= sets ? block : block - sets) * 3 * count;
    for (int at = thread; at < BINS * COPIES; at += THREADS) {
        counts[at / COPIES][at % COPIES] = 0;
    }
#pragma unroll 1
    for (int first = 0; first < count; first += THREADS) {
        __syncthreads();
        if (first + thread < count) {
            tile[0][thread] = others[first + thread];
            tile[1][thread] = others[count + first + thread];
            tile[2][thread] = others[2 * count + first + thread];
        }
        __syncthreads();
        const int copied = min(THREADS, count - first);
#pragma unroll 1
        for (int own = thread; own < count; own += THREADS) {
            const float x = mine[own];
            const float y = mine[count + own];
            const float z = mine[2 * count + own];
#pragma unroll 1
            for (int other = 0; other < copied; ++other) {
                const float cosine = fmaf(z, tile[2][other], fmaf(y, tile[1][other], __fmul_rn(x, tile[0][other])));
                int bin = 0;
#pragma unroll
                for (int step = BOUNDS / 2; step > 0; step /= 2) {
                    bin += cosine < bounds[bin + step - 1] ? step : 0;
                }
                // A pair in one set counts once.
                if (block > sets || first + other > own) {
                    atomicAdd(&counts[bin][thread % COPIES], 1u);
                }
            }
        }
    }
    __syncthreads();
    if (thread < BINS) {
        unsigned sum = 0;
#pragma unroll 1
        for (int copy = 0; copy < COPIES; ++copy) {
            sum += counts[thread][(copy + thread) % COPIES];
        }
        histograms[block * BINS + thread] = sum;
    }
}
