// Looking up ranges of keys in a B+ tree: one block per range, one thread per key of a node. The ways to the range's first and last key are
// followed together; each level's children are left in memory, from where the block's next nodes are taken. In the leaves the threads with
// the two keys store where the records begin and how many they are.
//
// Nodes are those of bt.

#define ORDER 256

struct Node {
    int keys[ORDER + 1];
    int children[ORDER + 1];
};

extern "C" __global__ void __launch_bounds__(ORDER)
btr(int* first, int* length, int* current, int* next, int* last_current, int* last_next, const Node* nodes, const int* from, const int* to,
    int levels, int count)
{
    const int thread = threadIdx.x;
    const int query = blockIdx.x;
#pragma unroll 1
    for (int level = 0; level < levels; ++level) {
        const Node* node = nodes + current[query];
        if (node->keys[thread] <= from[query] && node->keys[thread + 1] > from[query]) {
            const int child = nodes[next[query]].children[thread];
            if (child < count) {
                next[query] = child;
            }
        }
        const Node* last = nodes + last_current[query];
        if (last->keys[thread] <= to[query] && last->keys[thread + 1] > to[query]) {
            const int child = nodes[last_next[query]].children[thread];
            if (child < count) {
                last_next[query] = child;
            }
        }
        __syncthreads();
        if (thread == 0) {
            current[query] = next[query];
            last_current[query] = last_next[query];
        }
        __syncthreads();
    }
    const Node* node = nodes + current[query];
    if (node->keys[thread] == from[query]) {
        first[query] = node->children[thread];
    }
    __syncthreads();
    const Node* last = nodes + last_current[query];
    if (last->keys[thread] == to[query]) {
        length[query] = last->children[thread] - first[query] + 1;
    }
}
