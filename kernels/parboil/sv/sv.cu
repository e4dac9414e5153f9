// y = A x for a sparse matrix in jagged-diagonal form.
//
// Rows are sorted by their number of elements, longest first. The first elements of all rows are the first diagonal, the second ones
// the second, and so on: diagonal k begins at `first[k]`, and neighbouring lanes read neighbouring elements of it. 32 rows each are
// filled up to the longest of them with elements of value zero, so that a warp does not diverge. Which row of A a row is, `rows` says.

#define DIAGONALS 1024
#define WARPS 8192

__constant__ unsigned first[DIAGONALS];
__constant__ unsigned lengths[WARPS];   // elements per row, of 32 rows each

extern "C" __global__ void __launch_bounds__(192)
sv(float* y, const float* values, const unsigned* columns, const unsigned* rows, const float* x, unsigned count)
{
    const unsigned place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place < count) {
        const unsigned length = lengths[place / 32];
        float sum = 0.0f;
#pragma unroll 1
        for (unsigned k = 0; k < length; ++k) {
            const unsigned element = first[k] + place;
            sum += values[element] * x[columns[element]];
        }
        y[rows[place]] = sum;
    }
}
