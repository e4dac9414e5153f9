// Half of the warps produce, half consume, by numbered barriers with thread counts.
extern "C" __global__ void named_barriers(int *out)
{
    __shared__ int box[64];
    int t = threadIdx.x, w = t / 32;
    for (int round = 0; round < 4; round++) {
        if (w < 2) {
            asm volatile("bar.sync 2, 128;" ::: "memory");
            box[t] = t * 10 + round;
            asm volatile("bar.arrive 1, 128;" ::: "memory");
        } else {
            asm volatile("bar.arrive 2, 128;" ::: "memory");
            asm volatile("bar.sync 1, 128;" ::: "memory");
            out[round * 64 + t - 64] = box[t - 64];
        }
    }
}
