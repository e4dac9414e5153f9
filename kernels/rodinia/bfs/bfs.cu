// Breadth-first search, level by level: one level is one launch of `bfs` and one of `bfs_next`. One thread per node, so that
// a warp's lanes do very different work: most nodes are not on the frontier, and those that are have different numbers of
// edges that lead anywhere.
//
// A node is a range of edges, and an edge the node it leads to. Two threads may reach the same node: both write the same values, so that
// the result does not depend on who is first.

struct Node {
    int first_edge, edges;
};

// Reaches the neighbours of the frontier that no level reached before. Its stores may be to any of its arrays for all that the compiler
// knows: a node's range and level are loaded again for every edge.
extern "C" __global__ void __launch_bounds__(256)
bfs(int* level, bool* reached, bool* frontier, const bool* visited, const Node* nodes, const int* edges, int count)
{
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= count || !frontier[node]) {
        return;
    }
    frontier[node] = false;
    for (int edge = nodes[node].first_edge; edge < nodes[node].first_edge + nodes[node].edges; ++edge) {
        const int neighbour = edges[edge];
        if (!visited[neighbour]) {
            level[neighbour] = level[node] + 1;
            reached[neighbour] = true;
        }
    }
}

// Makes the nodes just reached the next frontier; `more` becomes 1 if there are any.
extern "C" __global__ void __launch_bounds__(256)
bfs_next(bool* reached, bool* frontier, bool* visited, int* more, int count)
{
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < count && reached[node]) {
        reached[node] = false;
        frontier[node] = true;
        visited[node] = true;
        *more = 1;
    }
}
