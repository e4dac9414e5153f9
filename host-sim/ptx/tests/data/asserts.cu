// What ends a kernel on purpose.
#include <assert.h>
extern "C" __global__ void asserts(int *out, int limit)
{
    int t = threadIdx.x;
    assert(t < limit);
    out[t] = t;
}
extern "C" __global__ void traps(int *out, int limit)
{
    int t = threadIdx.x;
    if (t >= limit) __trap();
    out[t] = t;
}
