// Sums of absolute differences of blocks of 4 x 4 pixels and a reference picture, for the motion estimation of H.264.
//
// A block of threads has one block of pixels, which lies in shared memory, and all places of the search: displacements by up to 16 pixels in
// both directions, 33 x 33. A thread has 18 places, three of a row at a time: 24 pixels of the reference, which is a texture, serve the three, and
// neighbouring threads have the next three. What lies outside of the picture is its nearest pixel. The sums lie as `s2` reads them: macroblock by macroblock, in each
// block by block, in each place by place, and a few to fill up.

#define SIDE 4
#define WIDEST 16
#define ROW (2 * WIDEST + 1)
#define PLACES 1104
#define AT_ONCE 3
#define THREADS 61                      // a sixth of the groups of three places, rounded up

extern "C" __global__ void __launch_bounds__(THREADS)
sad1(unsigned short* small, const unsigned short* frame, cudaTextureObject_t reference, int width)
{
    __shared__ unsigned short own[SIDE * SIDE];

    const int thread = threadIdx.x;
    const int left = blockIdx.x * SIDE;
    const int top = blockIdx.y * SIDE;
    if (thread < SIDE * SIDE) {
        own[thread] = frame[(top + thread / SIDE) * width + left + thread % SIDE];
    }
    __syncthreads();

    const int macroblock = blockIdx.y / 4 * (gridDim.x / 4) + blockIdx.x / 4;
    const int block = 16 * macroblock + 4 * (blockIdx.y % 4) + blockIdx.x % 4;
    unsigned short* to = small + block * PLACES;
#pragma unroll 1
    for (int place = thread * AT_ONCE; place < ROW * ROW; place += THREADS * AT_ONCE) {
        const int x = left + place % ROW - WIDEST;
        const int y = top + place / ROW - WIDEST;
        int there[SIDE][SIDE + AT_ONCE - 1];
#pragma unroll
        for (int row = 0; row < SIDE; ++row) {
#pragma unroll
            for (int column = 0; column < SIDE + AT_ONCE - 1; ++column) {
                there[row][column] = tex2D<unsigned short>(reference, x + column, y + row);
            }
        }
        int sums[AT_ONCE] = {0, 0, 0};
#pragma unroll
        for (int row = 0; row < SIDE; ++row) {
#pragma unroll
            for (int column = 0; column < SIDE; ++column) {
                const int here = own[row * SIDE + column];
#pragma unroll
                for (int k = 0; k < AT_ONCE; ++k) {
                    sums[k] += abs(here - there[row][column + k]);
                }
            }
        }
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) {
            to[place + k] = sums[k];
        }
    }
}
