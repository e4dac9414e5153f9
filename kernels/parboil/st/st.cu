// One step of a 7-point stencil on a three-dimensional grid of points: a point's new value is a weighted sum of its six neighbours less its
// own. Points on the grid's faces have no new value.
//
// One thread per point, a block per row of 512 points or part of one; the grid is (width / 512, inner rows, inner planes), and both arrays are
// given from the first row on that is on no face.

#define THREADS 512

extern "C" __global__ void __launch_bounds__(THREADS)
st(float* after, const float* before, float own, float neighbours, int width, int plane)
{
    const int x = blockIdx.x * THREADS + threadIdx.x;
    if (x > 0 && x < width - 1) {
        const int place = blockIdx.z * plane + blockIdx.y * width + x;
        const float* point = before + place;
        float sum = point[-plane] + point[-width];
        sum += point[-1];
        sum += point[1];
        sum += point[width];
        sum += point[plane];
        after[place] = fmaf(sum, neighbours, -own * point[0]);
    }
}
