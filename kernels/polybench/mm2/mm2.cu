// One of the two products of D A B: the product of A and B added to C, without tiles, one element of C per thread.
//
// The sum is stored after every product, since the compiler cannot know that C overlaps neither A nor B: per step an element of A for all
// lanes, a piece of a row of B, and a store. A TB is 8 rows of 32 columns. C and B have 2,048 columns, which the compiler knows, so that 16
// steps together need hardly an address; A has as many columns as there are steps, a multiple of 16.

#define COLUMNS 2048
#define TOGETHER 16

extern "C" __global__ void __launch_bounds__(256)
mm2(float* c, const float* a, const float* b, int rows, int inner)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows) {
        return;
    }
    float* sum = c + row * COLUMNS + column;
    const float* of_a = a + row * inner;
    const float* of_b = b + column;
#pragma unroll 1
    for (int first = 0; first < inner; first += TOGETHER, of_a += TOGETHER, of_b += TOGETHER * COLUMNS) {
#pragma unroll
        for (int k = 0; k < TOGETHER; ++k) {
            *sum = fmaf(of_a[k], of_b[k * COLUMNS], *sum);
        }
    }
}
