// Breadth-first search, level by level: one level is one launch of `bfs` and one of `bfs_next`. One thread per node, so that
// a warp's lanes do very different work: most nodes are not on the frontier, and those that are have different numbers of
// edges that lead anywhere.
//
// A node is (first edge, number of edges); an edge is the node it leads to, and is skipped if there is no such node. Two threads may reach the same node: both
// write the same values, so that the result does not depend on who is first.

// Reaches the neighbours of the frontier that no level reached before.
extern "C" __global__ void __launch_bounds__(256)
bfs(int* level, unsigned char* reached, unsigned char* frontier, const unsigned char* visited, const int2* nodes, const int* edges, int count)
{
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= count || !frontier[node]) {
        return;
    }
    frontier[node] = 0;
    const int2 range = nodes[node];
    const int next_level = level[node] + 1;
#pragma unroll 1
    for (int edge = range.x; edge < range.x + range.y; ++edge) {
        const int neighbour = edges[edge];
        if ((unsigned)neighbour < (unsigned)count && !visited[neighbour]) {
            level[neighbour] = next_level;
            reached[neighbour] = 1;
        }
    }
}

// Makes the nodes just reached the next frontier; `more` becomes 1 if there are any.
extern "C" __global__ void __launch_bounds__(256)
bfs_next(unsigned char* reached, unsigned char* frontier, unsigned char* visited, int* more, int count)
{
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < count && reached[node]) {
        reached[node] = 0;
        frontier[node] = 1;
        visited[node] = 1;
        *more = 1;
    }
}
