// Early exits out of nested loops, in a grid of three dimensions, by template.
template <int K> __device__ int find(const int *p, int n, int what)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < K; k++) {
            if (p[(i * K + k) % n] == what) return i * K + k;
            if (i + k > 40) goto out;
        }
out:
    return -1;
}
extern "C" __global__ void loops(int *out, const int *in, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
    int i = (z * gridDim.y * blockDim.y + y) * gridDim.x * blockDim.x + x;
    if ((x ^ y ^ z) == 5) return;
    int r = find<3>(in, n, x * 7 % 32) + 100 * find<1>(in, n, y + z);
    if (r < 0) { out[i] = -r; return; }
    do { r = r * 3 % 1009; if (r == 77) break; } while (r % 13 != 4 && r > 20);
    out[i] = r;
}
