// Every thread makes a list of 1 to 4 numbers on the device's heap, sums it up and gives it back.
struct Node { long long value; Node *next; };
extern "C" __global__ void heap(long long *out, int *missing) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  Node *list = nullptr;
  for (int i = 0; i <= t % 4; i++) {
    Node *node = (Node *)malloc(sizeof(Node));
    if (!node) { atomicAdd(missing, 1); break; }
    node->value = t * 10 + i;
    node->next = list;
    list = node;
  }
  long long sum = 0;
  while (list) {
    sum += list->value;
    Node *next = list->next;
    if (t % 2) free(list);
    list = next;
  }
  out[t] = sum;
}
// More than there is.
extern "C" __global__ void greedy(unsigned long long *out) { out[threadIdx.x] = (unsigned long long)malloc(1 << 20); }
