// Functions that call themselves, which the compiler does not make loops of; where it would, an empty statement stands in its way.
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
extern "C" __global__ void recursion(int *out) { out[threadIdx.x] = fib(threadIdx.x); }

__device__ __noinline__ unsigned long long factorial(unsigned n) {
    if (n == 0) return 1;
    unsigned long long below = factorial(n - 1);
    asm volatile("");
    return n * below;
}
extern "C" __global__ void factorials(unsigned long long *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = factorial(i % 21);
}

// Two functions that call each other.
__device__ __noinline__ int is_odd(int n, int *steps);
__device__ __noinline__ int is_even(int n, int *steps) {
    atomicAdd(steps, 1);
    return n == 0 ? 1 : is_odd(n - 1, steps);
}
__device__ __noinline__ int is_odd(int n, int *steps) {
    int below = n == 0 ? 0 : is_even(n - 1, steps);
    atomicAdd(steps, 1000);
    return below;
}
extern "C" __global__ void parity(int *out, int *steps) {
    out[threadIdx.x] = is_even(threadIdx.x, &steps[threadIdx.x]);
}

// Sorts a thread's own array. Parts of one element have no call, so that lanes differ in depth.
__device__ __noinline__ void quicksort(int *a, int low, int high) {
    if (low >= high) return;
    int pivot = a[(low + high) / 2], i = low, j = high;
    while (i <= j) {
        while (a[i] < pivot) i++;
        while (a[j] > pivot) j--;
        if (i <= j) {
            int t = a[i];
            a[i++] = a[j];
            a[j--] = t;
        }
    }
    quicksort(a, low, j);
    quicksort(a, i, high);
}
extern "C" __global__ void sort(int *data) {
    int own[16], i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 16; k++) own[k] = data[16 * i + k];
    quicksort(own, 0, 15);
    for (int k = 0; k < 16; k++) data[16 * i + k] = own[k];
}

// The sum of a search tree's keys within bounds. After a barrier each thread takes its neighbour's.
struct Node { int key, left, right; };
__device__ __noinline__ int between(const Node *nodes, int at, int low, int high) {
    if (at < 0) return 0;
    Node node = nodes[at];
    int sum = low <= node.key && node.key < high ? node.key : 0;
    if (low < node.key) sum += between(nodes, node.left, low, high);
    if (node.key < high) sum += between(nodes, node.right, low, high);
    return sum;
}
extern "C" __global__ void tree(int *out, const Node *nodes, const int *bounds, int n) {
    extern __shared__ int sums[];
    int i = threadIdx.x;
    if (i >= n) return;
    sums[i] = 0;
    if (i % 3 != 1) sums[i] = between(nodes, 0, bounds[2 * i], bounds[2 * i + 1]);
    __syncthreads();
    out[i] = sums[(i + 1) % n];
}

// Every activation has digits of its own; the one above it reads and changes them.
__device__ __noinline__ int digits(int n, int *above) {
    int own[4];
    for (int k = 0; k < 4; k++) own[k] = n % (k + 2);
    if (n > 0) above[n & 3] += digits(n / 2, own);
    int sum = 0;
    for (int k = 0; k < 4; k++) sum = 3 * sum + own[k];
    return sum;
}
extern "C" __global__ void frames(int *out) {
    int own[4] = {1, 2, 3, 4};
    int sum = digits(threadIdx.x, own);
    out[threadIdx.x] = sum + own[0] + 5 * own[1] + 25 * own[2] + 125 * own[3];
}

// Through a pointer, and with a structure by value.
struct Range { char tag; short step; int from, to; };
typedef int (*Visit)(Range);
__device__ int descend(Range range);
__device__ int leaf(Range range) { return range.tag * range.from + range.step; }
__device__ Visit visits[2] = {leaf, descend};
__device__ int descend(Range range) {
    int middle = (range.from + range.to) / 2;
    Range low = {(char)(range.tag + 1), (short)(range.step + 3), range.from, middle}, high = {range.tag, range.step, middle, range.to};
    return visits[middle - range.from > 1](low) + 2 * visits[range.to - middle > 1](high);
}
extern "C" __global__ void pointed(int *out) {
    Range range = {1, (short)threadIdx.x, 0, (int)threadIdx.x + 2};
    out[threadIdx.x] = visits[1](range);
}

// Some threads end the kernel in the middle of it.
__device__ __noinline__ int search(int n, int goal) {
    if (n == goal) asm volatile("exit;");
    if (n == 0) return 1;
    int below = search(n - 1, goal);
    asm volatile("");
    return below + 1;
}
extern "C" __global__ void leavers(int *out) {
    out[threadIdx.x] = -1;
    int depth = search(12, threadIdx.x);
    __syncthreads();
    out[threadIdx.x] = depth;
}

// Never ends.
__device__ __noinline__ int endless(int n) { return endless(n + 1) ^ n; }
extern "C" __global__ void deep(int *out) { out[threadIdx.x] = endless(threadIdx.x); }
