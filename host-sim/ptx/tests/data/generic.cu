// Pointers of which the compiler does not know where they point, lanes of one warp into different memories.
__device__ __noinline__ void add(int *p, int v) { *p += v; }
__device__ __noinline__ int take(const int *p) { return *p; }
__device__ __noinline__ void atomic(int *p, int v) { atomicAdd(p, v); }
extern "C" __global__ void generic(int *out, int *data)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    int mine[2];
    s[t] = 100 + t;
    mine[0] = 7 * t; mine[1] = -t;
    __syncthreads();
    int *p = t % 3 == 0 ? &s[t] : t % 3 == 1 ? &data[t] : &mine[t & 1];
    add(p, 1000);
    int v = take(p);
    atomic(t & 1 ? &s[0] : &data[0], 1);
    __syncthreads();
    v += __isShared(p) * 1000000 + __isGlobal(p) * 2000000 + __isLocal(p) * 4000000;
    out[t] = v;
    if (t == 0) { out[64] = s[0]; out[65] = data[0]; }
}
