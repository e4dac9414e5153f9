// Shared memory of a size that the launch chooses, beside static.
extern __shared__ unsigned char bytes[];
extern "C" __global__ void dynamic_shared(int *out, int n)
{
    __shared__ int fixed[32];
    int *ints = (int *)bytes;
    short *shorts = (short *)&ints[blockDim.x];
    int t = threadIdx.x;
    if (t < 32) fixed[t] = t * 11;
    ints[t] = t * 3;
    shorts[t] = (short)(-t);
    __syncthreads();
    int o = blockDim.x - 1 - t;
    out[blockIdx.x * blockDim.x + t] = ints[o] + shorts[o] + fixed[t & 31];
}
