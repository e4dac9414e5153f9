// One level of a breadth-first search, first of two kernels: the neighbours of the frontier that no level reached before. One thread per
// node; most nodes are not on the frontier, and their threads end at once.
//
// A node is a range of edges, and an edge the node it leads to. Two threads may reach the same node: both write the same values, so that
// the result does not depend on who is first. Stores come while edges are walked, the first before any.

struct Node {
    int first_edge, edges;
};

extern "C" __global__ void __launch_bounds__(512)
bfs1(int* level, bool* reached, bool* frontier, const bool* visited, const Node* nodes, const int* edges, int count)
{
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < count && frontier[node]) {
        frontier[node] = false;
        for (int edge = nodes[node].first_edge; edge < nodes[node].first_edge + nodes[node].edges; ++edge) {
            const int neighbour = edges[edge];
            if (!visited[neighbour]) {
                level[neighbour] = level[node] + 1;
                reached[neighbour] = true;
            }
        }
    }
}
