// A task that is urgent: samples of a signal are smoothed some steps of time, each becoming the weighted mean of itself and its two
// neighbours, and where the signal ends the end itself. What such a task does is what many do: a tile comes from memory, is worked on in
// shared memory between barriers, and goes back to another place.
//
// A block of 256 threads loads 256 samples, of which HALO on each side are only neighbours of the others: with each step those whose
// neighbours are known are fewer by one on each side. Any number of steps up to HALO.

#define THREADS 256
#define HALO 16
#define KEPT (THREADS - 2 * HALO)

extern "C" __global__ void __launch_bounds__(THREADS)
preempt(float* after, const float* before, int samples, int steps, float share)
{
    __shared__ float value[2][THREADS];

    const int thread = threadIdx.x;
    const int place = blockIdx.x * KEPT - HALO + thread;
    const bool inside = place >= 0 && place < samples;
    const int left = max(thread - 1, max(0, thread - place));
    const int right = min(thread + 1, min(THREADS - 1, thread + samples - 1 - place));
    value[0][thread] = inside ? before[place] : 0.0f;
    __syncthreads();
    int now = 0;
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        const float own = value[now][thread];
        float around = own;
        if (inside) {
            around = fmaf(-2.0f, own, value[now][left] + value[now][right]);
            around = fmaf(share, around, own);
        }
        now = 1 - now;
        value[now][thread] = around;
        __syncthreads();
    }
    if (inside && thread >= HALO && thread < THREADS - HALO) {
        after[place] = value[now][thread];
    }
}
