// Pixels of three bytes become three planes of whole numbers around zero, for the wavelet transform of each plane.
//
// A block of 256 threads takes 256 pixels, 768 bytes: three quarters of the threads load a word each into shared memory, from where each
// thread takes the three bytes of its pixel.

#define PIXELS 256

extern "C" __global__ void __launch_bounds__(PIXELS)
dwtc(int* red, int* green, int* blue, const unsigned* source, int pixels)
{
    __shared__ unsigned words[PIXELS * 3 / 4];

    const int thread = threadIdx.x;
    const int pixel = blockIdx.x * PIXELS + thread;
    if (thread < PIXELS * 3 / 4) {
        words[thread] = source[blockIdx.x * (PIXELS * 3 / 4) + thread];
    }
    __syncthreads();
    if (pixel < pixels) {
        const unsigned char* bytes = (const unsigned char*)words + 3 * thread;
        red[pixel] = bytes[0] - 128;
        green[pixel] = bytes[1] - 128;
        blue[pixel] = bytes[2] - 128;
    }
}
