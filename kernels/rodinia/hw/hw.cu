// Following points of a heart's wall from one picture of it to the next: a point is where what was around it before is found again. Per
// point there is a template of 51 x 51 pixels and a window in which it is searched; the place is the one where template and window correlate
// best. The template then takes on a part of what was found.
//
// A block of 256 threads has one point. First it moves the point by what it moved last, and copies the window from the picture into memory of
// its own; takes the mean away, in place; correlates, a thread per place, for which all threads read an element of the template together; and
// finds the best by a tree. At the end the point moves in memory, and its template changes in place.

#define THREADS 256
#define HALF 25
#define SIDE (2 * HALF + 1)
#define ELEMENTS (SIDE * SIDE)
#define WIDEST 111

struct Place {
    int x, y, dx, dy;
};

// The sum over all threads, for each of them.
__device__ float sum_of_all(float* part, float own)
{
    const int thread = threadIdx.x;
    part[thread] = own;
    __syncthreads();
#pragma unroll 1
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (thread < half) {
            part[thread] += part[thread + half];
        }
        __syncthreads();
    }
    const float sum = part[0];
    __syncthreads();
    return sum;
}

extern "C" __global__ void __launch_bounds__(THREADS)
hw(Place* points, float* templates, float* windows, float* correlations, const float* picture, int width, int height, int reach, float share)
{
    __shared__ float seen[ELEMENTS];
    __shared__ float part[THREADS];
    __shared__ float column_sum[WIDEST];

    const int thread = threadIdx.x;
    const int side = SIDE + 2 * reach;
    const int across = 2 * reach + 1;
    Place* point = points + blockIdx.x;
    float* before = templates + blockIdx.x * ELEMENTS;
    float* window = windows + blockIdx.x * side * side;
    float* correlation = correlations + blockIdx.x * across * across;

    // Where it would be had it gone on.
    const int x = point->x + point->dx;
    const int y = point->y + point->dy;
    __syncthreads();
    if (thread == 0) {
        point->x = x;
        point->y = y;
    }
#pragma unroll 1
    for (int i = thread; i < side * side; i += THREADS) {
        const int row = min(max(y - HALF - reach + i / side, 0), height - 1);
        const int column = min(max(x - HALF - reach + i % side, 0), width - 1);
        window[i] = picture[row * width + column];
    }
    float sum = 0.0f;
#pragma unroll 1
    for (int i = thread; i < ELEMENTS; i += THREADS) {
        seen[i] = before[i];
        sum += seen[i];
    }
    const float template_mean = sum_of_all(part, sum) / ELEMENTS;

    if (thread < side) {
        float column = 0.0f;
#pragma unroll 1
        for (int row = 0; row < side; ++row) {
            column += window[row * side + thread];
        }
        column_sum[thread] = column;
    }
    __syncthreads();
    const float mean = sum_of_all(part, thread < side ? column_sum[thread] : 0.0f) / (side * side);
#pragma unroll 1
    for (int i = thread; i < side * side; i += THREADS) {
        window[i] -= mean;
    }
    sum = 0.0f;
#pragma unroll 1
    for (int i = thread; i < ELEMENTS; i += THREADS) {
        const float element = seen[i] - template_mean;
        seen[i] = element;
        sum = fmaf(element, element, sum);
    }
    const float template_energy = sum_of_all(part, sum);

    float best = -2.0f;
    int where = 0;
#pragma unroll 1
    for (int i = thread; i < across * across; i += THREADS) {
        const float* from = window + i / across * side + i % across;
        float product = 0.0f, all = 0.0f, squares = 0.0f;
#pragma unroll 1
        for (int row = 0; row < SIDE; ++row) {
#pragma unroll 3
            for (int column = 0; column < SIDE; ++column) {
                const float pixel = from[row * side + column];
                product = fmaf(pixel, seen[row * SIDE + column], product);
                all += pixel;
                squares = fmaf(pixel, pixel, squares);
            }
        }
        const float energy = fmaf(-all / ELEMENTS, all, squares);
        const float value = product / sqrtf(energy * template_energy);
        correlation[i] = value;
        if (value > best) {
            best = value;
            where = i;
        }
    }

    // The largest of all, and the first place that has it.
    part[thread] = best;
    __syncthreads();
#pragma unroll 1
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (thread < half) {
            part[thread] = fmaxf(part[thread], part[thread + half]);
        }
        __syncthreads();
    }
    const bool mine = part[0] == best;
    __syncthreads();
    int* places = (int*)part;
    places[thread] = mine ? where : across * across;
    __syncthreads();
#pragma unroll 1
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (thread < half) {
            places[thread] = min(places[thread], places[thread + half]);
        }
        __syncthreads();
    }
    const int found = places[0];
    const int dx = found % across - reach;
    const int dy = found / across - reach;
    if (thread == 0) {
        point->dx += dx;
        point->dy += dy;
        point->x = x + dx;
        point->y = y + dy;
    }
#pragma unroll 1
    for (int i = thread; i < ELEMENTS; i += THREADS) {
        const int row = min(max(y + dy - HALF + i / SIDE, 0), height - 1);
        const int column = min(max(x + dx - HALF + i % SIDE, 0), width - 1);
        before[i] = fmaf(share, picture[row * width + column] - before[i], before[i]);
    }
}
