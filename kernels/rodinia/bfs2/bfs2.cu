// One level of a breadth-first search, second of two kernels: the nodes that were just reached are the next frontier, and `more` becomes true
// if there are any. One thread per node. A node's mark is taken away at the end, after what it asks for was stored.

extern "C" __global__ void __launch_bounds__(512)
bfs2(bool* reached, bool* frontier, bool* visited, bool* more, int count)
{
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < count && reached[node]) {
        frontier[node] = true;
        visited[node] = true;
        *more = true;
        reached[node] = false;
    }
}
