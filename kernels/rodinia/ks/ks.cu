// Turns a table of points, one after the other with all their features, into one of features, each with those of all points. Later
// steps of k-means read the second with neighbouring lanes at neighbouring addresses.
//
// One thread per point. The lanes of a warp are a point apart when they load: each walks through lines of its own. Stores are coalesced.

extern "C" __global__ void __launch_bounds__(256)
ks(const float* by_point, float* by_feature, int points, int features)
{
    const int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point < points) {
#pragma unroll 1
        for (int feature = 0; feature < features; ++feature) {
            by_feature[feature * points + point] = by_point[point * features + feature];
        }
    }
}
