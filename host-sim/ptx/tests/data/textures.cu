// A picture turned through a texture object, and one made smaller through a texture reference into a surface.
texture<uchar4, cudaTextureType2D, cudaReadModeNormalizedFloat> colors;

extern "C" __global__ void rotate(float *out, int width, int height, float cosine, float sine, cudaTextureObject_t picture)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float u = ((float)x - 0.5f * (float)width) / (float)width;
    float v = ((float)y - 0.5f * (float)height) / (float)height;
    out[y * width + x] = tex2D<float>(picture, u * cosine - v * sine + 0.5f, v * cosine + u * sine + 0.5f);
}

extern "C" __global__ void shrink(cudaSurfaceObject_t out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    // Between four texels, so that the filter gives their mean.
    float4 mean = tex2D(colors, 2.0f * (float)x + 1.0f, 2.0f * (float)y + 1.0f);
    uchar4 colour = make_uchar4(255.0f * mean.x, 255.0f * mean.y, 255.0f * mean.z, 255.0f * mean.w);
    surf2Dwrite(colour, out, 4 * x, y);
}
