// What it would change to open another centre in a clustering of a stream: for every point, the squared distance to the candidate times the
// point's weight, against the cost of the centre that it has. A point for which the candidate is cheaper changes over, and its gain is added
// to the candidate's column of the table; else what it would cost is added to the column of the point's own centre, which the host may close.
//
// One thread per point. Coordinates lie dimension by dimension, so that lanes load a line together, and all lanes load the candidate's
// coordinate. Both sums of the table are made in place, by the one thread whose row it is.

struct Point {
    float weight, cost;
    int centre;
};

extern "C" __global__ void __launch_bounds__(512)
sc(const float* coordinates, const Point* points, const int* columns, float* table, unsigned char* changes, int count, int dimensions,
   int candidate, int width, int last)
{
    const int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= count) {
        return;
    }
    float distance = 0.0f;
#pragma unroll 1
    for (int dimension = 0; dimension < dimensions; ++dimension) {
        const float apart = coordinates[dimension * count + point] - coordinates[dimension * count + candidate];
        distance = fmaf(apart, apart, distance);
    }
    const float cost = __fmul_rn(distance, points[point].weight);
    float* row = table + point * width;
    if (cost < points[point].cost) {
        changes[point] = 1;
        row[last] += cost - points[point].cost;
    } else {
        row[columns[points[point].centre]] += points[point].cost - cost;
    }
}
