// Removing speckle from a picture by anisotropic diffusion, first of two kernels of a step: how much each pixel differs from its four
// neighbours, and its diffusion coefficient, which is small where the picture has an edge. At the picture's border a pixel's missing
// neighbour is the pixel itself.
//
// A block of 16 x 16 threads takes as many pixels: its own tile and those above, below, left and right of it come through shared memory.

#define SIDE 16

extern "C" __global__ void __launch_bounds__(SIDE * SIDE)
sr1(float* north_of, float* south_of, float* west_of, float* east_of, float* coefficient, const float* picture, int columns, int rows,
    float speckle)
{
    __shared__ float tile[SIDE][SIDE];
    __shared__ float result[SIDE][SIDE];
    __shared__ float above[SIDE][SIDE];
    __shared__ float below[SIDE][SIDE];
    __shared__ float left[SIDE][SIDE];
    __shared__ float right[SIDE][SIDE];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int x = blockIdx.x * SIDE + tx;
    const int y = blockIdx.y * SIDE + ty;
    const int place = y * columns + x;
    const int first_row = blockIdx.y * SIDE;
    const int first_column = blockIdx.x * SIDE;

    // Each thread loads for its column the row above and the row below, and for its row the column left and the column right.
    above[ty][tx] = picture[max(first_row - 1, 0) * columns + x];
    below[ty][tx] = picture[min(first_row + SIDE, rows - 1) * columns + x];
    left[ty][tx] = picture[y * columns + max(first_column - 1, 0)];
    right[ty][tx] = picture[y * columns + min(first_column + SIDE, columns - 1)];
    __syncthreads();
    tile[ty][tx] = picture[place];
    __syncthreads();

    const float own = tile[ty][tx];
    float north, south, west, east;
    if (ty == 0) {
        north = above[ty][tx] - own;
    } else {
        north = tile[ty - 1][tx] - own;
    }
    if (ty == SIDE - 1) {
        south = below[ty][tx] - own;
    } else {
        south = tile[ty + 1][tx] - own;
    }
    if (tx == 0) {
        west = left[ty][tx] - own;
    } else {
        west = tile[ty][tx - 1] - own;
    }
    if (tx == SIDE - 1) {
        east = right[ty][tx] - own;
    } else {
        east = tile[ty][tx + 1] - own;
    }

    // Squared gradient and Laplacian over the value, the square of the coefficient of variation of them, and the coefficient of that.
    const float squares = fmaf(east, east, fmaf(west, west, fmaf(south, south, __fmul_rn(north, north))));
    const float gradient = squares / __fmul_rn(own, own);
    const float laplacian = (north + south + west + east) / own;
    const float above_line = (float)fma(0.5, (double)gradient, -0.0625 * (double)__fmul_rn(laplacian, laplacian));
    const float below_line = (float)fma(0.25, (double)laplacian, 1.0);
    const float variation = above_line / __fmul_rn(below_line, below_line);
    const float excess = (variation - speckle) / __fmul_rn(speckle, 1.0f + speckle);
    const float value = (float)(1.0 / (1.0 + (double)excess));
    if (value < 0.0f) {
        result[ty][tx] = 0.0f;
    } else if (value > 1.0f) {
        result[ty][tx] = 1.0f;
    } else {
        result[ty][tx] = value;
    }
    __syncthreads();
    coefficient[place] = result[ty][tx];
    east_of[place] = east;
    west_of[place] = west;
    south_of[place] = south;
    north_of[place] = north;
}
