// Removing speckle from a picture by anisotropic diffusion, second of two kernels of a step: each pixel becomes what flows in and out of it,
// by its own coefficient and those of its neighbours below and right. The picture changes in place, at the end.
//
// A block of 16 x 16 threads takes as many pixels. The tile, the coefficients and what lies below and right of them come through shared
// memory.

#define SIDE 16

extern "C" __global__ void __launch_bounds__(SIDE * SIDE)
sr2(float* picture, const float* north_of, const float* south_of, const float* west_of, const float* east_of, const float* coefficient,
    int columns, int rows, float rate)
{
    __shared__ float tile[SIDE][SIDE];
    __shared__ float own[SIDE][SIDE];
    __shared__ float below[SIDE][SIDE];
    __shared__ float right[SIDE][SIDE];
    __shared__ float result[SIDE][SIDE];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int x = blockIdx.x * SIDE + tx;
    const int y = blockIdx.y * SIDE + ty;
    const int place = y * columns + x;

    tile[ty][tx] = picture[place];
    __syncthreads();
    below[ty][tx] = coefficient[min((int)(blockIdx.y + 1) * SIDE, rows - 1) * columns + x];
    right[ty][tx] = coefficient[y * columns + min((int)(blockIdx.x + 1) * SIDE, columns - 1)];
    __syncthreads();
    own[ty][tx] = coefficient[place];
    __syncthreads();

    const float here = own[ty][tx];
    float south, east;
    if (ty == SIDE - 1) {
        south = below[ty][tx];
    } else {
        south = own[ty + 1][tx];
    }
    if (tx == SIDE - 1) {
        east = right[ty][tx];
    } else {
        east = own[ty][tx + 1];
    }
    float flow = __fmul_rn(here, north_of[place]);
    flow = fmaf(south, south_of[place], flow);
    flow = fmaf(here, west_of[place], flow);
    flow = fmaf(east, east_of[place], flow);
    result[ty][tx] = (float)fma(0.25 * (double)rate, (double)flow, (double)tile[ty][tx]);
    __syncthreads();
    picture[place] = result[ty][tx];
}
