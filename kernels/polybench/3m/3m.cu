// One of the three products of E F with E = A B and F = C D, for square E of 32-bit floats: here E, with A stored column by column.
//
// One thread per element, which adds its products to the element in memory, as a compiler must that does not know whether E overlaps A or
// B. A TB is 256 neighbouring elements of a row: in each step its warps read one element of A together, a line of B each, and store
// a line of E each.
//
// A kernel's name may not begin with a digit.

extern "C" __global__ void __launch_bounds__(256)
m3(float* e, const float* a, const float* b, int side, int inner)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y;
    if (column < side) {
        e[row * side + column] = 0.0f;
#pragma unroll 1
        for (int k = 0; k < inner; ++k) {
            e[row * side + column] += a[k * side + row] * b[k * side + column];
        }
    }
}
