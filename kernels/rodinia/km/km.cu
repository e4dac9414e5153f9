// Which cluster each point belongs to: that whose centre is the nearest by the squared Euclidean distance, the first of several.
//
// One thread per point. Features lie feature by feature, so that lanes load a line together; centres come from constant memory.

#define ROOM 2048

__constant__ float centres[ROOM];

extern "C" __global__ void __launch_bounds__(256)
km(int* member, const float* by_feature, int points, int features, int clusters)
{
    const int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= points) {
        return;
    }
    int nearest = -1;
    float least = 3.402823466e+38f;
#pragma unroll 1
    for (int cluster = 0; cluster < clusters; ++cluster) {
        float distance = 0.0f;
#pragma unroll 1
        for (int feature = 0; feature < features; ++feature) {
            const float apart = by_feature[feature * points + point] - centres[cluster * features + feature];
            distance = fmaf(apart, apart, distance);
        }
        if (distance < least) {
            least = distance;
            nearest = cluster;
        }
    }
    member[point] = nearest;
}
