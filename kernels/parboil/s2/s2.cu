// Sums of absolute differences of larger blocks from those of 4 x 4 pixels, for the motion estimation of H.264: those of 8 x 4,
// 4 x 8 and 8 x 8 pixels.
//
// A macroblock has 4 x 4 of the smallest blocks, row by row, and so 2 x 2 of the largest. There is a sum for each place that is searched:
// displacements by up to 16 pixels in both directions, 33 x 33, and a few to fill up. 16 lanes make all sums of one
// large block, 16 places at a time. Sums of 8 x 8 pixels of 8 bits fit 16 bits.

#define PLACES 1104u

extern "C" __global__ void __launch_bounds__(128)
s2(unsigned short* wide, unsigned short* tall, unsigned short* square, const unsigned short* small)
{
    const unsigned block = blockIdx.x * blockDim.y + threadIdx.y;
    const unsigned quarter = 16 * (block / 4) + 8 * (block / 2 % 2) + 2 * (block % 2);
#pragma unroll 1
    for (unsigned place = threadIdx.x; place < PLACES; place += 16) {
        const unsigned short* from = &small[quarter * PLACES + place];
        const unsigned a = from[0];
        const unsigned b = from[PLACES];
        const unsigned c = from[4 * PLACES];
        const unsigned d = from[5 * PLACES];
        unsigned short* to = &wide[2 * block * PLACES + place];
        to[0] = a + b;
        to[PLACES] = c + d;
        to = &tall[2 * block * PLACES + place];
        to[0] = a + c;
        to[PLACES] = b + d;
        square[block * PLACES + place] = a + b + c + d;
    }
}
