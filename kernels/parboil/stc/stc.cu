// One step of a 7-point stencil on a three-dimensional grid of points: a point's new value is a weighted sum of its six neighbours less its
// own. Points on the grid's faces have no new value.
//
// A block of 32 x 4 threads has 64 x 4 columns of points, two for each thread, 32 apart, and walks through the planes: what is a point's upper
// neighbour becomes the point, and then its lower neighbour, and is loaded once. Neighbours in the plane are loaded from memory. The grid
// is (width / 64 rounded up, rows / 4 rounded up).

#define LANES 32
#define ROWS 4

extern "C" __global__ void __launch_bounds__(LANES * ROWS)
stc(float* after, const float* before, float own, float neighbours, int width, int rows, int planes)
{
    const int x = blockIdx.x * 2 * LANES + threadIdx.x;
    const int y = blockIdx.y * ROWS + threadIdx.y;
    const bool row = y > 0 && y < rows - 1;
    const bool near = row && x > 0 && x < width - 1;
    const bool far = row && x + LANES < width - 1;
    const int plane = width * rows;
    int place = y * width + x;

    float below[2], here[2];
    if (near) {
        below[0] = before[place];
        here[0] = before[place + plane];
    }
    if (far) {
        below[1] = before[place + LANES];
        here[1] = before[place + plane + LANES];
    }
#pragma unroll 1
    for (int z = 1; z < planes - 1; ++z) {
        place += plane;
        if (near) {
            const float* point = before + place;
            const float above = point[plane];
            float sum = above + below[0];
            sum += point[width];
            sum += point[-width];
            sum += point[1];
            sum += point[-1];
            after[place] = fmaf(sum, neighbours, -own * here[0]);
            below[0] = here[0];
            here[0] = above;
        }
        if (far) {
            const float* point = before + place + LANES;
            const float above = point[plane];
            float sum = above + below[1];
            sum += point[width];
            sum += point[-width];
            sum += point[1];
            sum += point[-1];
            after[place + LANES] = fmaf(sum, neighbours, -own * here[1]);
            below[1] = here[1];
            here[1] = above;
        }
    }
}
