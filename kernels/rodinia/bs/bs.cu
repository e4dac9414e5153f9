// Breadth-first search, level by level, while few nodes are on the frontier: one level is one launch. A thread looks at NODES nodes, nearly all
// of which are not on the frontier. For one that is, it marks the neighbours that no level reached before.
//
// A node is a range of edges (the first, and how many), and an edge the node it leads to. Two threads may reach the same node: both write the
// same values, so that the result does not depend on who is first. The arrays of one word per node are filled up to whole blocks' nodes.

#define THREADS 512
#define NODES 4

__device__ void visit(int* level, int* reached, const int* visited, int next, int2 range, const int* edges)
{
#pragma unroll 1
    for (int edge = range.x; edge < range.x + range.y; ++edge) {
        const int neighbour = edges[edge];
        if (visited[neighbour] == 0) {
            level[neighbour] = next;
            reached[neighbour] = 1;
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
bs(int* level, int* reached, int* frontier, const int* visited, const int2* nodes, const int* edges)
{
    const int first = blockIdx.x * THREADS * NODES + threadIdx.x;
#pragma unroll
    for (int k = 0; k < NODES; ++k) {
        const int node = first + k * THREADS;
        if (frontier[node] != 0) {
            frontier[node] = 0;
            visit(level, reached, visited, level[node] + 1, nodes[node], edges);
        }
    }
}
