"""Kernel of elimination orders: the graph of variables, and two orders of it.

Variables that share a factor are neighbours (`interactions`). `sweep` goes through the graph front by front.

Eliminating a variable joins all its neighbours to each other. `greedy` eliminates, again and again, the variable that
joins the fewest pairs (min-fill; Rose 1972), or whose table is smallest. The number of pairs that each variable would
join is kept up to date: a new pair {a, b} is one fewer for each common neighbour of a and b, and makes new ones with
those neighbours of either that the other lacks. Adjacency is a hash table of pairs beside lists of neighbours, from which
eliminated variables are removed when the list is next read.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy

from graphpart.crf.problem._view cimport Factors, View
from graphpart.kernels._arrays cimport empty_int32, zeros_int32, zeros_int64
from graphpart.kernels.growing cimport grow
from graphpart.kernels.hash_set cimport HashSet, hash_set_add, hash_set_has, hash_set_reserve
from graphpart.kernels.heap cimport Heap, heap_settle, heap_sink
from graphpart.kernels.types cimport element_t, offset_t
from graphpart.stopping cimport Stopping

cdef enum:
    FILL = 0            # fewest pairs, of these the smallest table
    SIZE = 1            # smallest table; pairs are not counted
    FILL_TIMES_SIZE = 2
    DEGREE = 3          # fewest neighbours; pairs are no longer joined
    WIDEST = 62         # neighbours, when a table has at most 2^62 entries

cdef double TOO_LARGE = 2.0**62

cdef struct Graph:
    Py_ssize_t n
    element_t* pool         # lists of neighbours, which may contain eliminated variables
    Py_ssize_t pool_size
    Py_ssize_t pool_capacity
    offset_t* start
    element_t* length
    element_t* capacity
    element_t* degree
    unsigned char* dead
    HashSet pairs           # a < b as a * n + b + 1
    int64_t* fill
    int64_t* weight         # sum of scaled logarithms of the domains of a variable and its neighbours
    int64_t* first          # the key of a variable in the heap
    int64_t* second
    element_t* heap
    element_t* where
    element_t size
    element_t* touched
    element_t touches
    unsigned char* touch
    const int64_t* logs
    const int64_t* noise
    const element_t* rank
    int criterion
    int64_t work


# --------------------------------------------------------------------------------------------------- pairs and neighbours

cdef inline uint64_t key_of(Graph* g, element_t a, element_t b) noexcept nogil:
    return <uint64_t>(a if a < b else b) * <uint64_t>g.n + <uint64_t>(b if a < b else a) + 1


cdef inline bint adjacent(Graph* g, element_t a, element_t b) noexcept nogil:
    return hash_set_has(&g.pairs, key_of(g, a, b))


cdef inline element_t* living(Graph* g, element_t v) noexcept nogil:
    """The `degree` remaining neighbours of v; removes the eliminated ones from its list."""
    cdef element_t* list = &g.pool[g.start[v]]
    cdef element_t i, k = 0
    if g.length[v] != g.degree[v]:
        for i in range(g.length[v]):
            if not g.dead[list[i]]:
                list[k] = list[i]
                k += 1
        g.length[v] = k
    return list


cdef bint append(Graph* g, element_t v, element_t u) noexcept nogil:
    cdef element_t room
    if g.length[v] == g.capacity[v]:
        living(g, v)
    if g.length[v] == g.capacity[v]:
        room = 2 * g.capacity[v] + 4
        if not grow(<void**>&g.pool, &g.pool_capacity, g.pool_size + room, sizeof(element_t)):
            return False
        memcpy(&g.pool[g.pool_size], &g.pool[g.start[v]], g.length[v] * sizeof(element_t))
        g.start[v] = g.pool_size
        g.capacity[v] = room
        g.pool_size += room
    g.pool[g.start[v] + g.length[v]] = u
    g.length[v] += 1
    g.degree[v] += 1
    return True


cdef bint link(Graph* g, element_t a, element_t b) noexcept nogil:
    if not hash_set_add(&g.pairs, key_of(g, a, b)):
        return False
    g.weight[a] += g.logs[b]
    g.weight[b] += g.logs[a]
    return append(g, a, b) and append(g, b, a)


cdef bint count_fill(Graph* g) noexcept nogil:
    """``fill[v]``: the pairs of neighbours of v that are not adjacent. O(pairs^1.5) by counting triangles."""
    cdef offset_t* begin = <offset_t*>malloc((g.n + 1) * sizeof(offset_t))
    cdef element_t* above = <element_t*>malloc((g.pool_size // 2 + 1) * sizeof(element_t))
    cdef element_t* seen = <element_t*>malloc((g.n + 1) * sizeof(element_t))
    cdef element_t v, a, b
    cdef offset_t i, j, total = 0
    if begin == NULL or above == NULL or seen == NULL:
        free(begin)
        free(above)
        free(seen)
        return False
    for v in range(g.n):
        begin[v] = total
        seen[v] = -1
        g.fill[v] = <int64_t>g.degree[v] * (g.degree[v] - 1) // 2
        for i in range(g.start[v], g.start[v] + g.degree[v]):
            a = g.pool[i]
            if g.degree[v] < g.degree[a] or (g.degree[v] == g.degree[a] and v < a):
                above[total] = a
                total += 1
    begin[g.n] = total
    for v in range(g.n):
        for i in range(begin[v], begin[v + 1]):
            seen[above[i]] = v
        for i in range(begin[v], begin[v + 1]):
            a = above[i]
            g.work += begin[a + 1] - begin[a]
            for j in range(begin[a], begin[a + 1]):
                b = above[j]
                if seen[b] == v:
                    g.fill[v] -= 1
                    g.fill[a] -= 1
                    g.fill[b] -= 1
    free(begin)
    free(above)
    free(seen)
    return True


# --------------------------------------------------------------------------------------------------------------- the heap

cdef inline void set_key(Graph* g, element_t v) noexcept nogil:
    if g.criterion == FILL:
        g.first[v] = g.fill[v] * (1024 + g.noise[v])
        g.second[v] = g.weight[v]
    elif g.criterion == SIZE:
        g.first[v] = g.weight[v] * (1024 + g.noise[v])
        g.second[v] = 0
    elif g.criterion == FILL_TIMES_SIZE:
        g.first[v] = min(g.fill[v], 1 << 20) * min(g.weight[v] >> 10, 1 << 28) * (1024 + g.noise[v])
        g.second[v] = g.weight[v]
    else:
        g.first[v] = g.degree[v]
        g.second[v] = 0


cdef inline bint before(void* graph, const void* one, const void* other) noexcept nogil:
    cdef const Graph* g = <const Graph*>graph
    cdef element_t a = (<const element_t*>one)[0], b = (<const element_t*>other)[0]
    if g.first[a] != g.first[b]:
        return g.first[a] < g.first[b]
    if g.second[a] != g.second[b]:
        return g.second[a] < g.second[b]
    return g.rank[a] < g.rank[b]


cdef inline void note_place(void* graph, const void* variable, Py_ssize_t at) noexcept nogil:
    (<Graph*>graph).where[(<const element_t*>variable)[0]] = <element_t>at


cdef inline Heap heap_of_variables(Graph* g) noexcept nogil:
    return Heap(g.heap, g.size, sizeof(element_t), before, note_place, g)


cdef inline void take_out(Graph* g, element_t v) noexcept nogil:
    cdef element_t i = g.where[v], last
    g.size -= 1
    if i < g.size:
        last = g.heap[g.size]
        heap_settle(heap_of_variables(g), i, &last)
    g.where[v] = -1


cdef inline void notice(Graph* g, element_t v) noexcept nogil:
    if not g.touch[v]:
        g.touch[v] = 1
        g.touched[g.touches] = v
        g.touches += 1


cdef void use(Graph* g, int criterion) noexcept nogil:
    """Compute all keys by another criterion."""
    cdef element_t i, v
    g.criterion = criterion
    for i in range(g.size):
        set_key(g, g.heap[i])
    for i in range(g.size - 1, -1, -1):
        v = g.heap[i]
        heap_sink(heap_of_variables(g), i, &v)


# --------------------------------------------------------------------------------------------------------- the algorithm

cdef bint eliminate(Graph* g, element_t v) noexcept nogil:
    """Join the neighbours of v to each other and remove v; False without memory."""
    cdef element_t near[WIDEST]
    cdef element_t common[WIDEST]
    cdef element_t missing[WIDEST * WIDEST]
    cdef element_t k = g.degree[v], i, j, a, b, w, shared, gaps = 0
    cdef bint fills = g.criterion != SIZE
    cdef element_t* list = living(g, v)
    for i in range(k):
        near[i] = list[i]
        common[i] = 0
    g.work += 4 + k * (k - 1) // 2
    for i in range(k):
        for j in range(i):
            if adjacent(g, near[i], near[j]):
                common[i] += 1
                common[j] += 1
            else:
                missing[gaps] = near[i]
                missing[gaps + 1] = near[j]
                gaps += 2
    g.dead[v] = 1
    take_out(g, v)
    for i in range(k):
        a = near[i]
        g.fill[a] -= g.degree[a] - 1 - common[i]
        g.degree[a] -= 1
        g.weight[a] -= g.logs[v]
        notice(g, a)
    for i in range(0, gaps, 2):
        a = missing[i]
        b = missing[i + 1]
        if g.degree[a] > g.degree[b]:
            a, b = b, a
        if fills:
            list = living(g, a)
            shared = 0
            g.work += g.degree[a]
            for j in range(g.degree[a]):
                w = list[j]
                if adjacent(g, w, b):
                    shared += 1
                    g.fill[w] -= 1
                    notice(g, w)
            g.fill[a] += g.degree[a] - shared
            g.fill[b] += g.degree[b] - shared
        if not link(g, a, b):
            return False
    for i in range(g.touches):
        w = g.touched[i]
        g.touch[w] = 0
        set_key(g, w)
        heap_settle(heap_of_variables(g), g.where[w], &w)
    g.touches = 0
    return True


cdef void release(Graph* g) noexcept nogil:
    free(g.pool)
    free(g.start)
    free(g.length)
    free(g.capacity)
    free(g.degree)
    free(g.dead)
    free(g.pairs.slots)
    free(g.fill)
    free(g.weight)
    free(g.first)
    free(g.second)
    free(g.heap)
    free(g.where)
    free(g.touched)
    free(g.touch)


cdef bint set_up(Graph* g, const offset_t* start, const element_t* neighbour) noexcept nogil:
    """Copy the graph, count pairs to join, and order the heap; False without memory. `release` follows in any case."""
    cdef Py_ssize_t n = g.n, room = g.n + 1
    cdef element_t v
    cdef offset_t i
    g.pool_size = g.pool_capacity = start[n]
    g.pool = <element_t*>malloc((start[n] + 1) * sizeof(element_t))
    g.start = <offset_t*>malloc(room * sizeof(offset_t))
    g.length = <element_t*>malloc(room * sizeof(element_t))
    g.capacity = <element_t*>malloc(room * sizeof(element_t))
    g.degree = <element_t*>malloc(room * sizeof(element_t))
    g.dead = <unsigned char*>calloc(room, 1)
    g.touch = <unsigned char*>calloc(room, 1)
    g.fill = <int64_t*>calloc(room, sizeof(int64_t))
    g.weight = <int64_t*>malloc(room * sizeof(int64_t))
    g.first = <int64_t*>malloc(room * sizeof(int64_t))
    g.second = <int64_t*>malloc(room * sizeof(int64_t))
    g.heap = <element_t*>malloc(room * sizeof(element_t))
    g.where = <element_t*>malloc(room * sizeof(element_t))
    g.touched = <element_t*>malloc(room * sizeof(element_t))
    g.pairs.slots = NULL
    g.pairs.size = 0
    if (g.pool == NULL or g.start == NULL or g.length == NULL or g.capacity == NULL or g.degree == NULL
            or g.dead == NULL or g.touch == NULL or g.fill == NULL or g.weight == NULL or g.first == NULL
            or g.second == NULL or g.heap == NULL or g.where == NULL or g.touched == NULL):
        return False
    if not hash_set_reserve(&g.pairs, start[n] // 2 + start[n] // 4 + 8):
        return False
    if start[n]:  # else `neighbour` may be null, which memcpy must not be given
        memcpy(g.pool, neighbour, start[n] * sizeof(element_t))
    for v in range(n):
        g.start[v] = start[v]
        g.length[v] = g.capacity[v] = g.degree[v] = <element_t>(start[v + 1] - start[v])
        g.weight[v] = g.logs[v]
        g.heap[v] = g.where[v] = v
        for i in range(start[v], start[v + 1]):
            g.weight[v] += g.logs[neighbour[i]]
            if v < neighbour[i]:
                hash_set_add(&g.pairs, key_of(g, v, neighbour[i]))
    g.size = <element_t>n
    g.touches = 0
    g.work = start[n]
    if g.criterion != SIZE and not count_fill(g):
        return False
    use(g, g.criterion)
    return True


def interactions(View view):
    """Compressed rows (starts, neighbours) of variables that share a factor, without variables of one label."""
    cdef const Factors* g = &view.g
    cdef Py_ssize_t n = g.n, v, i, j
    cdef offset_t total = 0, f
    cdef element_t u
    cdef int turn
    start_array = zeros_int64(n + 1)
    cdef offset_t[::1] start = start_array
    cdef element_t[::1] seen = empty_int32(n), neighbour
    neighbour_array = empty_int32(0)
    for turn in range(2):
        neighbour = neighbour_array
        seen[:] = -1
        with nogil:
            total = 0
            for v in range(n):
                start[v] = total
                if g.domains[v] == 1:
                    continue
                seen[v] = <element_t>v
                for i in range(g.rows[v], g.rows[v + 1]):
                    f = g.factors[i]
                    for j in range(g.scope_start[f], g.scope_start[f + 1]):
                        u = g.scope[j]
                        if seen[u] != v and g.domains[u] > 1:
                            seen[u] = <element_t>v
                            if turn:
                                neighbour[total] = u
                            total += 1
            start[n] = total
        if turn == 0:
            neighbour_array = empty_int32(total)
    return start_array, neighbour_array


cdef offset_t visit(
    const offset_t* start, const element_t* neighbour, element_t root, element_t* queue, element_t* seen, element_t mark
) noexcept nogil:
    """Breadth first search, neighbours by increasing degree; the number of variables reached, in the queue."""
    cdef offset_t done = 0, reached = 1, first, i, j, own
    cdef element_t u
    queue[0] = root
    seen[root] = mark
    while done < reached:
        first = reached
        for i in range(start[queue[done]], start[queue[done] + 1]):
            u = neighbour[i]
            if seen[u] != mark:
                seen[u] = mark
                own = start[u + 1] - start[u]
                j = reached
                # Insertion sort; many new neighbours are left unsorted, because sorting takes too long.
                while j > first and reached - first < 64 and start[queue[j - 1] + 1] - start[queue[j - 1]] > own:
                    queue[j] = queue[j - 1]
                    j -= 1
                queue[j] = u
                reached += 1
        done += 1
    return reached


cdef class VariableGraph:
    """The graph of the variables of a factor graph: neighbours share a factor.

    Parameters
    ----------
    domains : ndarray of int32
    start, neighbour : ndarray of int64 and of int32
        The neighbours of each variable in compressed rows; see `interactions`.
    logs : ndarray of int64
        Scaled logarithms of the domains.
    """

    cdef const element_t[::1] domains, neighbour
    cdef const offset_t[::1] start
    cdef const int64_t[::1] logs

    def __init__(self, domains, start, neighbour, logs):
        self.domains, self.start, self.neighbour, self.logs = domains, start, neighbour, logs

    def greedy(
        self,
        const int64_t[::1] noise,
        const element_t[::1] rank,
        int criterion,
        int64_t budget,
        double abort,
        Stopping stopping,
    ):
        """(order, variables eliminated by the criterion, width, entries of all tables, entries of the largest, work).

        After `budget` operations, fill is no longer counted. After four times as many, or if the smallest table would
        have more than 2^62 entries, the remaining variables follow by their number of neighbours. Then width is a lower
        bound, and the remaining variables are not counted in entries. With more than `abort` entries in all, the order
        ends early.
        """
        cdef const element_t[::1] domains = self.domains
        cdef Py_ssize_t n = domains.shape[0], t = 0, known = 0
        cdef Graph g
        cdef element_t v, u, i, width = 0
        cdef double entries = 0.0, largest = 0.0, size
        cdef bint fine, exact = True
        cdef element_t* list
        order_array = empty_int32(n)
        cdef element_t[::1] order = order_array
        if n == 0:
            return order_array, 0, 0, 0.0, 0.0, 0
        g.n = n
        g.logs = &self.logs[0]
        g.noise = &noise[0]
        g.rank = &rank[0]
        g.criterion = criterion
        with nogil:
            fine = set_up(&g, &self.start[0], &self.neighbour[0] if self.neighbour.shape[0] else NULL)
            while fine and g.size > 0 and entries <= abort:
                v = g.heap[0]
                if exact:
                    if g.work > budget and g.criterion != SIZE:
                        use(&g, SIZE)
                        continue
                    size = domains[v]
                    list = living(&g, v)
                    for i in range(g.degree[v]):
                        size *= domains[list[i]]
                    if size > TOO_LARGE and g.criterion != SIZE:
                        use(&g, SIZE)
                        continue
                    if size > TOO_LARGE or g.work > 4 * budget or stopping.poll(INFINITY):
                        exact = False
                        use(&g, DEGREE)
                        continue
                    if g.degree[v] > width:
                        width = g.degree[v]
                    entries += size
                    if size > largest:
                        largest = size
                    fine = eliminate(&g, v)
                    known += 1
                else:
                    list = living(&g, v)
                    if g.degree[v] > width:     # pairs that are no longer joined do not count
                        width = g.degree[v]
                    g.dead[v] = 1
                    take_out(&g, v)
                    for i in range(g.degree[v]):
                        g.degree[list[i]] -= 1
                        u = list[i]
                        set_key(&g, u)
                        heap_settle(heap_of_variables(&g), g.where[u], &u)
                order[t] = v
                t += 1
            release(&g)
        if not fine:
            raise MemoryError
        return order_array[:t], known, width, entries, largest, g.work

    def sweep(self):
        """All variables front by front, from one end of each component to the other (reverse Cuthill & McKee 1969).

        Graphs that are long and narrow have little width along this order, and few tables at a time.
        """
        cdef Py_ssize_t n = self.domains.shape[0], v, i
        cdef offset_t done = 0, count
        cdef element_t mark = 0, root, turn
        order_array = empty_int32(n)
        cdef element_t[::1] order = order_array, seen = zeros_int32(n), queue = empty_int32(n)
        cdef const offset_t* start = &self.start[0]
        cdef const element_t* near = &self.neighbour[0] if self.neighbour.shape[0] else NULL
        with nogil:
            for v in range(n):
                if seen[v] != 0:
                    continue
                root = <element_t>v
                # From anywhere to the farthest, twice.
                for turn in range(3):
                    mark = turn + 1
                    count = visit(start, near, root, &queue[0], &seen[0], mark)
                    root = queue[count - 1]
                for i in range(count):
                    order[n - 1 - done - i] = queue[i]
                done += count
        return order_array
