// DXT1 compression of an image with few registers: one block of 64 threads packs 4 x 4 pixels into 8 bytes, two end colours of 16 bits (5, 6,
// 5) and a 2-bit choice per pixel among the ends and the two colours a third of the way between them.
//
// The colours are sorted along their principal axis, and a palette of four colours along it cuts them into four runs. Of the ways to do so, listed
// in `cuts` (2 bits per colour: 0 for the first end to 3 for the other), each thread tries one in 64, one after the other. Least squares gives the
// best ends of a cut channel by channel, so that what a thread holds is a channel's sums and no more. The best of all is written.
//
// `dxtc` does the same with as many registers as help: all channels of two cuts at a time. The grid is (width / 4, height / 4), pixels are
// 0x00BBGGRR words.

#define THREADS 64
#define PIXELS 16
#define CHANNELS 3
#define CUTS 1024
#define POWER_STEPS 8

// What a cut's weights add up to, in thirds: the second end's (b), their squares (bb), those of the first end (aa), and the products (ab).
struct Weights {
    float b, aa, ab, bb;
};

// The best cut of a thread: its error, its ends (the first in the low half), and itself, aligned to be read and written at once.
struct __align__(16) Best {
    float error;
    unsigned ends, cut;
};

__device__ Weights weights(unsigned cut)
{
    const unsigned low = cut & 0x55555555;
    const unsigned high = cut >> 1 & 0x55555555;
    const int once = __popc(low), twice = __popc(high), thrice = __popc(low & high);
    Weights w;
    w.b = once + 2 * twice;
    w.bb = once + 4 * twice + 4 * thrice;
    w.aa = 9 * PIXELS - 6.0f * w.b + w.bb;
    w.ab = 3.0f * w.b - w.bb;
    return w;
}

// The nearest of `levels` + 1 even steps from 0 to 255.
__device__ unsigned nearest(float value, float levels)
{
    return (unsigned)(fminf(fmaxf(value, 0.0f), 255.0f) * (levels / 255.0f) + 0.5f);
}

// 8 bits from a code of `bits`: the upper bits are repeated below.
__device__ float expand(unsigned code, int bits)
{
    return (float)(code << (8 - bits) | code >> (2 * bits - 8));
}

// One channel of a cut: adds its ends of `bits` bits to `ends`, from `place` on. Gives nine times its error, less what all cuts share.
__device__ float channel(const volatile float* colours, float total, unsigned cut, const Weights& w, float inverse, int bits, int place,
                         unsigned& ends)
{
    float bx = 0.0f;
#pragma unroll
    for (int k = 0; k < PIXELS; ++k) {
        bx += (float)(cut >> 2 * k & 3) * colours[k];
    }
    const float ax = 3.0f * total - bx;
    const unsigned code_a = nearest((ax * w.bb - bx * w.ab) * inverse, (1 << bits) - 1);
    const unsigned code_b = nearest((bx * w.aa - ax * w.ab) * inverse, (1 << bits) - 1);
    ends |= (code_b << 16 | code_a) << place;
    const float a = expand(code_a, bits);
    const float b = expand(code_b, bits);
    return a * (a * w.aa - 6.0f * ax) + b * (b * w.bb - 6.0f * bx) + 2.0f * a * b * w.ab;
}

extern "C" __global__ void __launch_bounds__(THREADS)
dc(uint2* packed, const unsigned* pixels, const unsigned* cuts, int width)
{
    __shared__ float colours[CHANNELS][PIXELS];
    // Read for each cut again: that it is volatile keeps the compiler from holding all colours in registers.
    __shared__ volatile float sorted[CHANNELS][PIXELS];
    // Sums of the channels and of their products: x, y, z, xx, xy, xz, yy, yz, zz. Later the places along the axis, in the first row.
    __shared__ float sums[9][PIXELS];
    __shared__ int rank[PIXELS];
    __shared__ Best best[THREADS];

    const int thread = threadIdx.x;
    float x = 0.0f, y = 0.0f, z = 0.0f;
    if (thread < PIXELS) {
        const unsigned pixel = pixels[(4 * blockIdx.y + thread / 4) * width + 4 * blockIdx.x + thread % 4];
        x = pixel & 255;
        y = pixel >> 8 & 255;
        z = pixel >> 16 & 255;
        colours[0][thread] = x;
        colours[1][thread] = y;
        colours[2][thread] = z;
        sums[0][thread] = x;
        sums[1][thread] = y;
        sums[2][thread] = z;
        sums[3][thread] = x * x;
        sums[4][thread] = x * y;
        sums[5][thread] = x * z;
        sums[6][thread] = y * y;
        sums[7][thread] = y * z;
        sums[8][thread] = z * z;
    }
    __syncthreads();
    for (int half = PIXELS / 2; half > 0; half /= 2) {
        if (thread < half) {
            for (int row = 0; row < 9; ++row) {
                sums[row][thread] += sums[row][thread + half];
            }
        }
        __syncthreads();
    }

    const float total_x = sums[0][0], total_y = sums[1][0], total_z = sums[2][0];
    if (thread < PIXELS) {
        // The axis starts as the covariance's row of its largest diagonal element and is scaled by its largest component.
        const float xx = PIXELS * sums[3][0] - total_x * total_x;
        const float xy = PIXELS * sums[4][0] - total_x * total_y;
        const float xz = PIXELS * sums[5][0] - total_x * total_z;
        const float yy = PIXELS * sums[6][0] - total_y * total_y;
        const float yz = PIXELS * sums[7][0] - total_y * total_z;
        const float zz = PIXELS * sums[8][0] - total_z * total_z;
        float3 axis = make_float3(xz, yz, zz);
        if (xx >= yy && xx >= zz) {
            axis = make_float3(xx, xy, xz);
        } else if (yy >= zz) {
            axis = make_float3(xy, yy, yz);
        }
#pragma unroll 1
        for (int step = 0; step < POWER_STEPS; ++step) {
            const float to_x = axis.x * xx + axis.y * xy + axis.z * xz;
            const float to_y = axis.x * xy + axis.y * yy + axis.z * yz;
            const float to_z = axis.x * xz + axis.y * yz + axis.z * zz;
            const float scale = __fdividef(1.0f, fmaxf(fmaxf(fabsf(to_x), fabsf(to_y)), fmaxf(fabsf(to_z), 1e-6f)));
            axis = make_float3(to_x * scale, to_y * scale, to_z * scale);
        }
        x = x * axis.x + y * axis.y + z * axis.z;
    }
    __syncthreads();
    if (thread < PIXELS) {
        sums[0][thread] = x;
    }
    __syncthreads();
    if (thread < PIXELS) {
        int before = 0;
        for (int k = 0; k < PIXELS; ++k) {
            before += (sums[0][k] < x) | ((sums[0][k] == x) & (k < thread));
        }
        rank[thread] = before;
        for (int c = 0; c < CHANNELS; ++c) {
            sorted[c][before] = colours[c][thread];
        }
    }
    __syncthreads();

    Best own = {3.4e38f, 0, 0};
#pragma unroll 1
    for (int at = thread; at < CUTS; at += THREADS) {
        const unsigned cut = cuts[at];
        const Weights w = weights(cut);
        // Zero if all colours are given the same place: both ends become black and the error is that of no choice.
        const float determinant = w.aa * w.bb - w.ab * w.ab;
        const float inverse = determinant > 0.5f ? __fdividef(3.0f, determinant) : 0.0f;
        unsigned ends = 0;
        float error = channel(sorted[0], total_x, cut, w, inverse, 5, 11, ends);
        error += channel(sorted[1], total_y, cut, w, inverse, 6, 5, ends);
        error += channel(sorted[2], total_z, cut, w, inverse, 5, 0, ends);
        if (error < own.error) {
            own.error = error;
            own.ends = ends;
            own.cut = cut;
        }
    }

    best[thread] = own;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (thread < half && best[thread + half].error < best[thread].error) {
            best[thread] = best[thread + half];
        }
        __syncthreads();
    }
    if (thread == 0) {
        const unsigned a = best[0].ends & 0xffff;
        const unsigned b = best[0].ends >> 16;
        // The order of the stored ends tells the decoder how many colours there are; four if the first is larger.
        const unsigned swapped = a < b ? 1 : 0;
        unsigned choices = 0;
#pragma unroll 1
        for (int k = 0; k < PIXELS; ++k) {
            // Along the line the stored choices are 0, 2, 3, 1.
            const unsigned choice = 0x78u >> 2 * (best[0].cut >> 2 * rank[k] & 3) & 3;
            choices |= (choice ^ swapped) << 2 * k;
        }
        packed[blockIdx.y * gridDim.x + blockIdx.x] = make_uint2(swapped ? b | a << 16 : a | b << 16, a == b ? 0 : choices);
    }
}
