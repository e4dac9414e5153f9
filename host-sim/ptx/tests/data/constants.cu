// Constant tables with initial values, module variables, pointers to them.
__constant__ float weights[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__constant__ int shape[2][3] = {{1, 2, 3}, {4, 5, 6}};
__constant__ int given[4];
__device__ int counter = 5;
__device__ unsigned table[6] = {10, 20, 30, 40, 50, 60};
__device__ const short small[5] = {-1, 2, -3, 4, -5};
__device__ unsigned *where = table;
struct Mixed { char c; int i; double d; const char *s; };
__device__ Mixed mixed[2] = {{'a', 7, 2.5, "hi"}, {'b', -8, -0.5, "there"}};
__device__ __noinline__ float pick(const float *p, int i) { return p[i]; }
extern "C" __global__ void constants(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float w = pick(i & 1 ? weights : (const float *)table, i & 1 ? i & 7 : 0);
    int v = i & 1 ? (int)w : 3;
    v += shape[i & 1][i % 3] * 100 + given[i & 3] + table[i % 6] + small[i % 5] + where[2];
    v += mixed[i & 1].c + mixed[i & 1].i + (int)(4 * mixed[i & 1].d) + mixed[i & 1].s[1];
    atomicAdd(&counter, 1);
    out[i] = v;
}
extern "C" __global__ void read_counter(int *out) { out[0] = counter; }
