// Forward pass of one layer of a neural network for one pattern, as training makes it: what 16 of the layer's inputs send to each hidden
// unit. Inputs and weights begin with those of the bias, which is the host's work.
//
// A block of 16 x 16 threads weighs 16 inputs (threadIdx.y) for 16 hidden units (threadIdx.x), and adds up the products by a tree. The
// products, of which the tree leaves sums, go back to where the weights were; the host adds up the blocks' sums.

#define SIDE 16

extern "C" __global__ void __launch_bounds__(SIDE * SIDE)
bpl(const float* inputs, float* weights, float* partial, int hidden)
{
    __shared__ float node[SIDE];
    __shared__ float product[SIDE][SIDE];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int unit = blockIdx.y * SIDE + ty + 1;
    const int place = unit * (hidden + 1) + blockIdx.x * SIDE + tx + 1;
    if (tx == 0) {
        node[ty] = inputs[unit];
    }
    __syncthreads();
    product[ty][tx] = weights[place];
    __syncthreads();
    product[ty][tx] = __fmul_rn(product[ty][tx], node[ty]);
    __syncthreads();
#pragma unroll 1
    for (int span = 1; span < SIDE; span *= 2) {
        if (ty % (2 * span) == 0) {
            product[ty][tx] += product[ty + span][tx];
        }
        __syncthreads();
    }
    weights[place] = product[ty][tx];
    __syncthreads();
    if (tx == 0) {
        partial[blockIdx.y * hidden + blockIdx.x * SIDE + ty] = product[tx][ty];
    }
}
