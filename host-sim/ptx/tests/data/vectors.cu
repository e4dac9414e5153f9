// Vector loads and stores of all widths, read-only loads, volatile ones, structs as parameters.
struct Big { int a; float f[6]; double d; char c[3]; short2 s; };
extern "C" __global__ void vectors(uchar4 *bytes, const char2 *chars, ushort4 *shorts, int4 *ints, double2 *doubles, const float2 * __restrict__ floats, Big big, volatile int *seen, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    char2 c = chars[i];
    uchar4 b = bytes[i];
    b.x += c.x; b.y += c.y; b.z = b.w ^ b.z; bytes[i] = b;
    ushort4 s = shorts[i];
    s.x = s.y + s.z; s.w = (unsigned short)-s.w; shorts[i] = s;
    int4 v = ints[i];
    v.x += big.a; v.y = (int)big.f[i % 6]; v.z = big.c[i % 3]; v.w += big.s.x - big.s.y; ints[i] = v;
    float2 f = __ldg(&floats[i]);
    double2 d = doubles[i];
    d.x += big.d; d.y = f.x * f.y; doubles[i] = d;
    seen[i] = seen[i] + 1;
}
