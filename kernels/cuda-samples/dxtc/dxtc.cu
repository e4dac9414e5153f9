// DXT1 compression of an image: one block of 64 threads packs 4 x 4 pixels into 8 bytes, two end colours of 16 bits (5, 6, 5)
// and a 2-bit choice per pixel among the ends and the two colours a third of the way between them.
//
// 1. The 16 colours are sorted along their principal axis, found by the power method on their covariance.
// 2. Along that axis a palette of four colours cuts the sorted colours into four runs. There are 969 ways to do so, listed in
//    `cuts` (padded to 1024): 2 bits per colour, 0 for the first end to 3 for the other. Each thread tries 16 of them, two at
//    a time: least squares gives the best ends, which are then rounded as they will be stored, and the error that remains.
// 3. The way with the least error is written.
//
// The image has `width` pixels per row, as 0x00BBGGRR words; the grid is (width / 4, height / 4).

#define THREADS 64
#define PIXELS 16
#define CUTS 1024
#define POWER_STEPS 8

// Sums over the colours of one cut: the second end's weights (b), their squares, and colours weighted with them. The first end's
// weights (a) are 1 - b.
struct Sums {
    float b, bb;
    float3 bx;
};

// What the sums say of both weights.
struct Weights {
    float aa, ab, bb;
};

__device__ void add(Sums& sums, unsigned cut, int place, const volatile float3& colour)
{
    const float b = (float)(cut >> 2 * place & 3) * (1.0f / 3.0f);
    sums.b += b;
    sums.bb += b * b;
    sums.bx.x += b * colour.x;
    sums.bx.y += b * colour.y;
    sums.bx.z += b * colour.z;
}

// The nearest of `levels` + 1 even steps from 0 to 255.
__device__ unsigned nearest(float value, float levels)
{
    return (unsigned)(fminf(fmaxf(value, 0.0f), 255.0f) * (levels / 255.0f) + 0.5f);
}

// One channel: ends (a, b) by least squares, rounded to `bits` bits into `code_a` and `code_b`; gives the channel's error
// less the sum of the squared colours, which is the same for all cuts.
template <int bits>
__device__ float channel(const Weights& w, float inverse, float bx, float total, unsigned& code_a, unsigned& code_b)
{
    const float ax = total - bx;
    code_a = nearest((ax * w.bb - bx * w.ab) * inverse, (1 << bits) - 1);
    code_b = nearest((bx * w.aa - ax * w.ab) * inverse, (1 << bits) - 1);
    const float a = (float)(code_a << (8 - bits) | code_a >> (2 * bits - 8));
    const float b = (float)(code_b << (8 - bits) | code_b >> (2 * bits - 8));
    return a * (a * w.aa - 2.0f * ax) + b * (b * w.bb - 2.0f * bx) + 2.0f * a * b * w.ab;
}

// The error of a cut, and its ends: a in the low half.
__device__ float fit(const Sums& s, const float3& total, unsigned& ends)
{
    const Weights w = {PIXELS - 2.0f * s.b + s.bb, s.b - s.bb, s.bb};
    // Zero if all colours are given the same place: both ends become black and the error is that of no choice.
    const float determinant = w.aa * w.bb - w.ab * w.ab;
    const float inverse = determinant > 1e-3f ? __fdividef(1.0f, determinant) : 0.0f;
    unsigned ra, rb, ga, gb, ba, bb;
    float error = channel<5>(w, inverse, s.bx.x, total.x, ra, rb);
    error += channel<6>(w, inverse, s.bx.y, total.y, ga, gb);
    error += channel<5>(w, inverse, s.bx.z, total.z, ba, bb);
    ends = (rb << 11 | gb << 5 | bb) << 16 | (ra << 11 | ga << 5 | ba);
    return error;
}

extern "C" __global__ void __launch_bounds__(THREADS, 10)
dxtc(uint2* packed, const unsigned* pixels, const unsigned* cuts, int width)
{
    __shared__ float3 colours[PIXELS];
    // Read for each cut again: that it is volatile keeps the compiler from holding all colours in registers.
    __shared__ volatile float3 sorted[PIXELS];
    __shared__ float covariance[6][PIXELS];
    __shared__ float along[PIXELS];
    __shared__ int rank[PIXELS];
    __shared__ float errors[THREADS];
    __shared__ int winner[THREADS];

    const int thread = threadIdx.x;
    if (thread < PIXELS) {
        const unsigned pixel = pixels[(4 * blockIdx.y + thread / 4) * width + 4 * blockIdx.x + thread % 4];
        colours[thread] = make_float3(pixel & 255, pixel >> 8 & 255, pixel >> 16 & 255);
    }
    __syncthreads();

    float3 total = make_float3(0.0f, 0.0f, 0.0f);
#pragma unroll
    for (int k = 0; k < PIXELS; ++k) {
        total.x += colours[k].x;
        total.y += colours[k].y;
        total.z += colours[k].z;
    }
    float3 own = colours[thread % PIXELS];
    own.x -= total.x * (1.0f / PIXELS);
    own.y -= total.y * (1.0f / PIXELS);
    own.z -= total.z * (1.0f / PIXELS);
    if (thread < PIXELS) {
        covariance[0][thread] = own.x * own.x;
        covariance[1][thread] = own.x * own.y;
        covariance[2][thread] = own.x * own.z;
        covariance[3][thread] = own.y * own.y;
        covariance[4][thread] = own.y * own.z;
        covariance[5][thread] = own.z * own.z;
    }
    __syncthreads();
#pragma unroll
    for (int half = PIXELS / 2; half > 0; half /= 2) {
        if (thread < half) {
#pragma unroll
            for (int k = 0; k < 6; ++k) {
                covariance[k][thread] += covariance[k][thread + half];
            }
        }
        __syncthreads();
    }

    // The axis starts as the covariance's row of its largest diagonal element and is scaled by its largest component.
    const float xx = covariance[0][0], xy = covariance[1][0], xz = covariance[2][0];
    const float yy = covariance[3][0], yz = covariance[4][0], zz = covariance[5][0];
    float3 axis = make_float3(xz, yz, zz);
    if (xx >= yy && xx >= zz) {
        axis = make_float3(xx, xy, xz);
    } else if (yy >= zz) {
        axis = make_float3(xy, yy, yz);
    }
#pragma unroll 1
    for (int step = 0; step < POWER_STEPS; ++step) {
        const float x = axis.x * xx + axis.y * xy + axis.z * xz;
        const float y = axis.x * xy + axis.y * yy + axis.z * yz;
        const float z = axis.x * xz + axis.y * yz + axis.z * zz;
        const float scale = __fdividef(1.0f, fmaxf(fmaxf(fabsf(x), fabsf(y)), fmaxf(fabsf(z), 1e-6f)));
        axis = make_float3(x * scale, y * scale, z * scale);
    }
    if (thread < PIXELS) {
        along[thread] = own.x * axis.x + own.y * axis.y + own.z * axis.z;
    }
    __syncthreads();
    if (thread < PIXELS) {
        int before = 0;
#pragma unroll
        for (int k = 0; k < PIXELS; ++k) {
            before += (along[k] < along[thread]) | ((along[k] == along[thread]) & (k < thread));
        }
        rank[thread] = before;
        sorted[before].x = colours[thread].x;
        sorted[before].y = colours[thread].y;
        sorted[before].z = colours[thread].z;
    }
    __syncthreads();

    float best_error = 3.4e38f;
    unsigned best_cut = 0, best_ends = 0;
#pragma unroll 1
    for (int at = thread; at < CUTS; at += 2 * THREADS) {
        const unsigned cut0 = cuts[at];
        const unsigned cut1 = cuts[at + THREADS];
        Sums sums0 = {}, sums1 = {};
#pragma unroll
        for (int k = 0; k < PIXELS; ++k) {
            add(sums0, cut0, k, sorted[k]);
            add(sums1, cut1, k, sorted[k]);
        }
        unsigned ends0, ends1;
        const float error0 = fit(sums0, total, ends0);
        const float error1 = fit(sums1, total, ends1);
        if (error0 < best_error) {
            best_error = error0;
            best_cut = cut0;
            best_ends = ends0;
        }
        if (error1 < best_error) {
            best_error = error1;
            best_cut = cut1;
            best_ends = ends1;
        }
    }

    errors[thread] = best_error;
    winner[thread] = thread;
    __syncthreads();
#pragma unroll
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (thread < half && errors[thread + half] < errors[thread]) {
            errors[thread] = errors[thread + half];
            winner[thread] = winner[thread + half];
        }
        __syncthreads();
    }
    if (thread == winner[0]) {
        const unsigned a = best_ends & 0xffff;
        const unsigned b = best_ends >> 16;
        // The order of the stored ends tells the decoder how many colours there are; four if the first is larger.
        const unsigned swapped = a < b ? 1 : 0;
        unsigned choices = 0;
#pragma unroll 1
        for (int k = 0; k < PIXELS; ++k) {
            // Along the line the stored choices are 0, 2, 3, 1.
            const unsigned choice = 0x78u >> 2 * (best_cut >> 2 * rank[k] & 3) & 3;
            choices |= (choice ^ swapped) << 2 * k;
        }
        const unsigned ends = swapped ? best_ends >> 16 | best_ends << 16 : best_ends;
        packed[blockIdx.y * gridDim.x + blockIdx.x] = make_uint2(ends, a == b ? 0 : choices);
    }
}
