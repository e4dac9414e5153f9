// Each 1,024 keys with their values are sorted by merging in shared memory: runs of one, two, four, .. keys, two at a time, until one is left.
//
// A thread has a key of either run. Its place in the merged run is its place in its own run, and how many keys of the other
// run come before it, which a binary search finds. Of equal keys those of the first run come first, so that the order is stable.

#define ELEMENTS 1024u

// How many of `length` sorted keys, a power of two, are less than `key`, or equal where `equal` says so.
template <bool equal> __device__ __forceinline__ unsigned before(unsigned key, const unsigned* run, unsigned length)
{
    unsigned count = 0;
#pragma unroll 1
    for (unsigned step = length; step > 0; step /= 2) {
        const unsigned next = min(count + step, length);
        const unsigned other = run[next - 1];
        if (other < key || (equal && other == key)) {
            count = next;
        }
    }
    return count;
}

extern "C" __global__ void __launch_bounds__(512)
merge(unsigned* to_keys, unsigned* to_values, const unsigned* from_keys, const unsigned* from_values)
{
    __shared__ unsigned keys[ELEMENTS];
    __shared__ unsigned values[ELEMENTS];

    const unsigned thread = threadIdx.x;
    const unsigned first = blockIdx.x * ELEMENTS + thread;
    keys[thread] = from_keys[first];
    values[thread] = from_values[first];
    keys[thread + ELEMENTS / 2] = from_keys[first + ELEMENTS / 2];
    values[thread + ELEMENTS / 2] = from_values[first + ELEMENTS / 2];
#pragma unroll 1
    for (unsigned length = 1; length < ELEMENTS; length *= 2) {
        const unsigned place = thread & (length - 1);
        unsigned* run = &keys[2 * (thread - place)];
        unsigned* along = &values[2 * (thread - place)];
        __syncthreads();
        const unsigned key_a = run[place];
        const unsigned value_a = along[place];
        const unsigned key_b = run[length + place];
        const unsigned value_b = along[length + place];
        const unsigned at_a = place + before<false>(key_a, run + length, length);
        const unsigned at_b = place + before<true>(key_b, run, length);
        __syncthreads();
        run[at_a] = key_a;
        along[at_a] = value_a;
        run[at_b] = key_b;
        along[at_b] = value_b;
    }
    __syncthreads();
    to_keys[first] = keys[thread];
    to_values[first] = values[thread];
    to_keys[first + ELEMENTS / 2] = keys[thread + ELEMENTS / 2];
    to_values[first + ELEMENTS / 2] = values[thread + ELEMENTS / 2];
}
