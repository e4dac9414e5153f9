// Every kind of atomic.
#include <cuda_fp16.h>
extern "C" __global__ void atomics(int *i32, unsigned *u32, unsigned long long *u64, long long *s64, float *f32, double *f64, unsigned short *u16, __half2 *h2, __half *h)
{
    __shared__ int s; __shared__ unsigned long long big;
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) { s = 0; big = 0; }
    __syncthreads();
    atomicAdd(&i32[0], t); atomicSub(&i32[1], t); atomicMin(&i32[2], -t); atomicMax(&i32[3], t); 
    atomicAnd(&u32[0], ~(1u << (t & 31))); atomicOr(&u32[1], 1u << (t & 31)); atomicXor(&u32[2], t * 77u); atomicInc(&u32[3], 10); atomicDec(&u32[4], 10);
    atomicAdd(&u64[0], (unsigned long long)t << 30); atomicMin(&u64[1], 1000ull - t); atomicMax(&u64[2], (unsigned long long)t << 40); atomicAnd(&u64[3], ~(1ull << (t & 63))); atomicOr(&u64[4], 1ull << (t & 63)); atomicXor(&u64[5], t * 0x123456789ull);
    atomicMin(&s64[0], -(long long)t << 35); atomicMax(&s64[1], (long long)t << 35);
    atomicAdd(f32, 0.5f * t); atomicAdd(f64, 0.25 * t); atomicAdd(h2, __floats2half2_rn(1.0f, 0.5f)); atomicAdd(h, __float2half(0.25f));
    atomicCAS(&u16[t & 1], 0, (unsigned short)(t + 1));
    int old = atomicExch(&i32[4], t);
    atomicAdd(&i32[5], old);
    unsigned long long seen = atomicCAS(&u64[6], 0ull, 1ull + t);
    atomicAdd(&u64[7], seen == 0);
    atomicAdd_block(&s, 1); atomicAdd(&big, 3ull); atomicAdd_system(&i32[6], 1);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) { i32[8 + blockIdx.x] = s; u64[8 + blockIdx.x] = big; }
}
