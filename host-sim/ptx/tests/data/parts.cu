// CUDA's SIMD intrinsics, and hints that do nothing here.
extern "C" __global__ void parts(unsigned *out, const unsigned *a) {
    int i = threadIdx.x;
    unsigned x = a[i], y = a[i + 1];
    out[4 * i] = __vabsdiffu4(x, y);
    out[4 * i + 1] = __vsadu4(x, y);
    out[4 * i + 2] = __vsads2(x, y);
    out[4 * i + 3] = __vaddss4(x, y);
    asm volatile("discard.global.L2 [%0], 128;" ::"l"(out + 4096));
    if (x == 0xffffffffu) __brkpt();
}
