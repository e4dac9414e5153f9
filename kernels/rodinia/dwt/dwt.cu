// One level of the reversible 5/3 wavelet transform of a plane of whole numbers, as JPEG 2000 has it: of two neighbours the odd one becomes
// what it differs from the mean of those around it, and the even one a smoothed value; along rows, then along columns. What is beyond the
// plane is its mirror image. The four kinds of results go into the four quarters of another plane: smooth in both ways above left.
//
// A block of 64 threads has a strip of 64 columns, one of 128 threads a strip of 128, and slides down 8 rows at a time. The rows along which it
// works lie in shared memory, even and odd columns apart, with two more columns on the left and one on the right. The last three rows stay for
// the next time. Along columns each thread has its own.

#define PAIRS (COLUMNS / 2)
#define STEP 8
#define KEPT 3
#define STRIDE (PAIRS + 2)
// Odd columns begin in another half of the banks than even ones.
#define ODD ((STEP + KEPT) * STRIDE + 26)
#define WORDS(columns) (2 * (STEP + KEPT) * ((columns) / 2 + 2) + 26)

__device__ int mirrored(int place, int count)
{
    return place < 0 ? -place : place >= count ? 2 * (count - 1) - place : place;
}

// Loads rows of the strip and its neighbours, and transforms them along the row.
template <int COLUMNS, int ROWS>
__device__ void rows_from(int* tile, const int* source, int first, int left, int width, int height)
{
    const int thread = threadIdx.x;
    const int place = thread / 2 + 1 + (thread % 2 != 0 ? ODD : 0);
    int loaded[ROWS];
#pragma unroll
    for (int k = 0; k < ROWS; ++k) {
        loaded[k] = source[mirrored(first + k, height) * width + left + thread];
    }
#pragma unroll
    for (int k = 0; k < ROWS; ++k) {
        tile[place + k * STRIDE] = loaded[k];
    }
    if (thread < 3) {
        // Two columns left of the strip, one right of it.
        const int at = thread == 0 ? 0 : thread == 1 ? ODD : PAIRS + 1;
        const int column = mirrored(thread == 0 ? left - 2 : thread == 1 ? left - 1 : left + COLUMNS, width);
#pragma unroll
        for (int k = 0; k < ROWS; ++k) {
            tile[at + k * STRIDE] = source[mirrored(first + k, height) * width + column];
        }
    }
    __syncthreads();
    const int pair = thread % PAIRS;
#pragma unroll
    for (int k = thread / PAIRS; k < ROWS; k += 2) {
        int* even = tile + k * STRIDE + pair + 1;
        even[ODD] -= (even[0] + even[1]) >> 1;
    }
    if (thread < ROWS) {
        int* even = tile + thread * STRIDE;
        even[ODD] -= (even[0] + even[1]) >> 1;
    }
    __syncthreads();
#pragma unroll
    for (int k = thread / PAIRS; k < ROWS; k += 2) {
        int* even = tile + k * STRIDE + pair + 1;
        even[0] += (even[ODD - 1] + even[ODD] + 2) >> 2;
    }
    __syncthreads();
}

template <int COLUMNS>
__device__ void strip(int* tile, int* result, const int* source, int width, int height, int steps)
{
    const int thread = threadIdx.x;
    const int left = blockIdx.x * COLUMNS;
    int row = blockIdx.y * STEP * steps;
    // The thread's column of results: smooth ones in the first half of a row.
    const int column = thread % PAIRS + 1 + (thread >= PAIRS ? ODD : 0);
    const int target = left / 2 + thread % PAIRS + (thread >= PAIRS ? width / 2 : 0);

    rows_from<COLUMNS, KEPT>(tile, source, row - 2, left, width, height);
#pragma unroll 1
    for (int step = 0; step < steps && row < height; ++step, row += STEP) {
        rows_from<COLUMNS, STEP>(tile + KEPT * STRIDE, source, row + 1, left, width, height);
        int value[STEP + KEPT];
#pragma unroll
        for (int k = 0; k < STEP + KEPT; ++k) {
            value[k] = tile[column + k * STRIDE];
        }
        __syncthreads();
        // For the next time.
#pragma unroll
        for (int k = 0; k < KEPT; ++k) {
            tile[column + k * STRIDE] = value[STEP + k];
        }
#pragma unroll
        for (int k = 1; k < STEP + KEPT; k += 2) {
            value[k] -= (value[k - 1] + value[k + 1]) >> 1;
        }
#pragma unroll
        for (int k = 2; k < STEP + 2; k += 2) {
            value[k] += (value[k - 1] + value[k + 1] + 2) >> 2;
        }
#pragma unroll
        for (int k = 0; k < STEP / 2; ++k) {
            result[(row / 2 + k) * width + target] = value[2 * k + 2];
            result[((height + row) / 2 + k) * width + target] = value[2 * k + 3];
        }
    }
}

extern "C" __global__ void __launch_bounds__(64)
dwt(int* result, const int* source, int width, int height, int steps)
{
    __shared__ int tile[WORDS(64)];
    strip<64>(tile, result, source, width, height, steps);
}

extern "C" __global__ void __launch_bounds__(128)
dwt_128(int* result, const int* source, int width, int height, int steps)
{
    __shared__ int tile[WORDS(128)];
    strip<128>(tile, result, source, width, height, steps);
}
