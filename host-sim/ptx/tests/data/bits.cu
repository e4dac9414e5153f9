// Intrinsics on bits and bytes.
extern "C" __global__ void bits(unsigned *out, const unsigned *a, const unsigned *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], y = b[i];
    unsigned *o = out + 16 * i;
    o[0] = __byte_perm(x, y, 0x5410 ^ (i & 7)); o[1] = __funnelshift_l(x, y, i); o[2] = __funnelshift_rc(x, y, i); o[3] = __brev(x); o[4] = __clz(x) + __ffs(y);
    o[5] = __popc(x); o[6] = __sad((int)x, (int)y, 5u); o[7] = __usad(x, y, 9u); o[8] = __mul24((int)x, (int)y); o[9] = __umul24(x, y); o[10] = __dp4a(x, y, 3u);
    o[11] = __dp2a_lo(x, y, 4u); o[12] = __dp2a_hi((int)x, (int)y, -4); o[13] = __hadd((int)x, (int)y) + __rhadd((int)x, (int)y); o[14] = __mulhi((int)x, (int)y) ^ __umulhi(x, y); o[15] = (x & y) ^ (x | 0x55) ^ (~y & x) ;
}
