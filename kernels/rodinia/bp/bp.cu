// Forward pass of one layer of a neural network for a batch of patterns: what 16 of the layer's inputs send to each hidden unit. Inputs and
// weights begin with those of the bias, which is the host's work: the weights' rows have one column more than there are hidden units, and a
// pattern one element more than there are inputs.
//
// A block of 16 x 16 threads weighs 16 inputs (threadIdx.y) of one pattern for 16 hidden units (threadIdx.x), and adds up the 16 products for
// each hidden unit by a tree. The host adds up the blocks' sums. The grid is (hidden / 16, inputs / 16, patterns).

#define SIDE 16

extern "C" __global__ void __launch_bounds__(SIDE * SIDE)
bp(const float* patterns, const float* weights, float* partial, int inputs, int hidden)
{
    __shared__ float node[SIDE];
    __shared__ float product[SIDE][SIDE];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int unit = blockIdx.y * SIDE + ty + 1;
    if (tx == 0) {
        node[ty] = patterns[blockIdx.z * (inputs + 1) + unit];
    }
    __syncthreads();
    product[ty][tx] = node[ty] * weights[unit * (hidden + 1) + blockIdx.x * SIDE + tx + 1];
    __syncthreads();
#pragma unroll 2
    for (int span = 1; span < SIDE; span *= 2) {
        if ((ty & (2 * span - 1)) == 0) {
            product[ty][tx] += product[ty + span][tx];
        }
        __syncthreads();
    }
    if (ty == 0) {
        partial[(blockIdx.z * gridDim.y + blockIdx.y) * hidden + blockIdx.x * SIDE + tx] = product[0][tx];
    }
}
