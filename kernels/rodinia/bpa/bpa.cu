// Backward pass of one layer of a neural network: each weight moves by what its hidden unit's error and its input ask for, and by a part of
// how far it moved before. Weights and moves change in place, in double precision between.
//
// A block of 16 x 16 threads has 16 inputs (threadIdx.y) and 16 hidden units (threadIdx.x). The first row of blocks also moves the bias'
// weights, after a barrier.

#define SIDE 16
#define RATE 0.3
#define MOMENTUM 0.3

extern "C" __global__ void __launch_bounds__(SIDE * SIDE)
bpa(float* weights, float* moves, const float* errors, const float* inputs, int hidden)
{
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int unit = blockIdx.x * SIDE + tx + 1;
    const int input = blockIdx.y * SIDE + ty + 1;
    const int place = input * (hidden + 1) + unit;

    weights[place] = (float)(weights[place] + fma(RATE * errors[unit], (double)inputs[input], MOMENTUM * moves[place]));
    moves[place] = (float)fma(RATE * errors[unit], (double)inputs[input], MOMENTUM * moves[place]);
    __syncthreads();
    if (ty == 0 && blockIdx.y == 0) {
        weights[unit] = (float)(weights[unit] + fma(RATE, (double)errors[unit], MOMENTUM * moves[unit]));
        moves[unit] = (float)fma(RATE, (double)errors[unit], MOMENTUM * moves[unit]);
    }
}
