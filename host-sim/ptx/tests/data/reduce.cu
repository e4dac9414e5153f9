// A sum over blocks, warps, and all lanes: shuffles, votes, barriers that count.
template <typename T, int N> __device__ T reduce(T v)
{
    __shared__ T parts[N / 32];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < N / 32 ? parts[threadIdx.x] : T(0);
        for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    }
    return v;
}
extern "C" __global__ void reduces(int *ints, double *doubles, int *votes, const int *in)
{
    int t = threadIdx.x, v = in[blockIdx.x * blockDim.x + t];
    int total = reduce<int, 256>(v);
    double d = reduce<double, 256>(v * 0.5);
    int count = __syncthreads_count(v > 0), all = __syncthreads_and(v > -1000), any = __syncthreads_or(v == 7);
    unsigned ballot = __ballot_sync(0xffffffffu, v & 1);
    int first = __shfl_sync(0xffffffffu, v, 3, 8), up = __shfl_up_sync(0xffffffffu, v, 2, 16);
    int alike = __popc(__match_any_sync(0xffffffffu, v & 3));
    if (t == 0) { ints[blockIdx.x] = total; doubles[blockIdx.x] = d; }
    int *o = votes + 8 * (blockIdx.x * blockDim.x + t);
    o[0] = count; o[1] = all != 0; o[2] = any != 0; o[3] = ballot; o[4] = first; o[5] = up; o[6] = alike; o[7] = __all_sync(0xffffffffu, v > 0) + 2 * __any_sync(0xffffffffu, v > 90);
}
