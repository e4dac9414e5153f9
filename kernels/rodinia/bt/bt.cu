// Looking up keys in a B+ tree: one block per key, one thread per key of a node, so that a node is searched at once. In each level the one
// thread whose key is the last that is not greater knows the child; it leaves its number in memory, from where the block's next node is taken.
// In the leaf the thread with the key stores the record's value.
//
// A node has room for 256 keys, filled up with the greatest, and one more that ends the last interval; and as many children or records.

#define ORDER 256

struct Node {
    int keys[ORDER + 1];
    int children[ORDER + 1];
};

extern "C" __global__ void __launch_bounds__(ORDER)
bt(int* answers, int* current, int* next, const Node* nodes, const int* records, const int* wanted, int levels, int count)
{
    const int thread = threadIdx.x;
    const int query = blockIdx.x;
#pragma unroll 1
    for (int level = 0; level < levels; ++level) {
        const Node* node = nodes + current[query];
        if (node->keys[thread] <= wanted[query] && node->keys[thread + 1] > wanted[query]) {
            // What lies behind the last child leads nowhere.
            const int child = nodes[next[query]].children[thread];
            if (child < count) {
                next[query] = child;
            }
        }
        __syncthreads();
        if (thread == 0) {
            current[query] = next[query];
        }
        __syncthreads();
    }
    const Node* leaf = nodes + current[query];
    if (leaf->keys[thread] == wanted[query]) {
        answers[query] = records[leaf->children[thread]];
    }
}
