// A dense switch: a table of branches.
extern "C" __global__ void switches(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = in[i], r = 0;
    for (int k = 0; k < 3; k++) {
        switch ((x + k) & 15) {
        case 0: r += x * 3; break;
        case 1: r ^= x + 7; break;
        case 2: r -= x / 3; break;
        case 3: r += in[(i + 1) % n]; break;
        case 4: r = r * 5 + 1; break;
        case 5: r = __popc(r) + x; break;
        case 6: r = ~r;
        case 7: r += 77; break;
        case 8: r = r > x ? r - x : x - r; break;
        case 9: out[i] = r; return;
        case 10: r += 10000; break;
        case 11: r <<= 2; break;
        case 12: r >>= 1; break;
        default: r += 1;
        }
    }
    out[i] = r;
}
