#include <cuda_bf16.h>
// c = a b of bf16: a is m x k by rows, b is k x n by columns. One warp per 16 x 8; while one step of 16 is computed, the next is copied.
__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

extern "C" __global__ void pipeline(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, int n, int k)
{
    __shared__ __align__(16) __nv_bfloat16 left[2][16][16], right[2][8][16];
    int t = threadIdx.x, row = blockIdx.y * 16, column = blockIdx.x * 8;
    const __nv_bfloat16 *from_a = a + (row + t / 2) * k + t % 2 * 8, *from_b = b + (column + t / 4) * k + t % 4 * 4;
    float sum[4] = {};
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at(&left[0][t / 2][t % 2 * 8])), "l"(from_a));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(at(&right[0][t / 4][t % 4 * 4])), "l"(from_b));
    asm volatile("cp.async.commit_group;");
    for (int step = 0; step < k; step += 16) {
        int now = step / 16 % 2;
        if (step + 16 < k) {
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at(&left[1 - now][t / 2][t % 2 * 8])), "l"(from_a + step + 16));
            asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(at(&right[1 - now][t / 4][t % 4 * 4])), "l"(from_b + step + 16));
        }
        asm volatile("cp.async.commit_group;");
        asm volatile("cp.async.wait_group 1;");
        __syncthreads();
        unsigned x[4], y[2];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                     : "r"(at(&left[now][t % 16][t / 16 * 8])));
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(y[0]), "=r"(y[1]) : "r"(at(&right[now][t % 8][t / 8 % 2 * 8])));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
        __syncthreads();
    }
    float *to = c + (row + t / 4) * n + column + t % 4 * 2;
    to[0] = sum[0], to[1] = sum[1], to[8 * n] = sum[2], to[8 * n + 1] = sum[3];
}
