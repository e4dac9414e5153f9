// Where the cells in a picture may be: for every pixel, the best over circles of seven radii of how clearly the gradient points
// along the radius all around the circle, which is the squared mean of that component over its variance.
//
// A block is a column of the picture, a thread one of its rows. Gradients are textures, column by column, so that lanes
// fetch from one or two lines; where a circle's 150 points are is in constant memory.

#define RADII 7
#define POINTS 150
#define MARGIN 22                       // pixels around the picture where a circle would not fit

__constant__ int circles[RADII * POINTS];   // distance of a point from the middle, in elements
__constant__ float cosines[POINTS];
__constant__ float sines[POINTS];

extern "C" __global__ void __launch_bounds__(512)
leu(float* best, cudaTextureObject_t along_x, cudaTextureObject_t along_y, int rows)
{
    const int middle = (blockIdx.x + MARGIN) * rows + threadIdx.x + MARGIN;
    float top = 0.0f;
#pragma unroll 1
    for (int radius = 0; radius < RADII; ++radius) {
        float mean = 0.0f, spread = 0.0f, count = 0.0f;
#pragma unroll 1
        for (int point = 0; point < POINTS; ++point) {
            const int at = middle + circles[radius * POINTS + point];
            const float outward = tex1Dfetch<float>(along_x, at) * cosines[point] + tex1Dfetch<float>(along_y, at) * sines[point];
            const float apart = outward - mean;
            count += 1.0f;
            mean += __fdividef(apart, count);
            spread += apart * (outward - mean);
        }
        top = fmaxf(top, __fdividef(mean * mean * (float)(POINTS - 1), spread));
    }
    best[middle] = top;
}
