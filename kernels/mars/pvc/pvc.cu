// Which page each line of a log is about: the line begins with the page's address, which a tab ends. For each line the address' length and
// a hash of it, by which views are counted afterwards.
//
// One thread per line, which reads a letter at a time. Lines have different lengths, so that each lane reads lines of its own and
// lanes end one after the other.

extern "C" __global__ void __launch_bounds__(256)
pvc(uint2* pages, const unsigned char* text, const unsigned* lines, int count)
{
    const int line = blockIdx.x * blockDim.x + threadIdx.x;
    if (line >= count) {
        return;
    }
    const unsigned char* letters = text + lines[line];
    unsigned hash = 5381;
    unsigned length = 0;
#pragma unroll 1
    for (unsigned letter = letters[0]; letter != '\t'; letter = letters[length]) {
        hash = 33 * hash + letter;
        ++length;
    }
    pages[line] = make_uint2(length, hash % 16777216);
}
