"""Kernels on the graph of variables: who shares a factor with whom, and sweeps through it."""

import numpy as np

from graphpart.kernels.types cimport element_t, offset_t


def interactions(
    const element_t[::1] domains,
    const offset_t[::1] scope_start,
    const element_t[::1] scope,
    const offset_t[::1] rows,
    const element_t[::1] factors,
):
    """Compressed rows (starts, neighbours): who shares a factor with whom. Variables with one label have nobody."""
    cdef Py_ssize_t n = domains.shape[0], v, i, j
    cdef offset_t total = 0, f
    cdef element_t u
    cdef int turn
    start_array = np.zeros(n + 1, np.int64)
    cdef offset_t[::1] start = start_array
    cdef element_t[::1] seen = np.empty(n, np.int32), neighbour
    neighbour_array = np.empty(0, np.int32)
    for turn in range(2):
        neighbour = neighbour_array
        seen[:] = -1
        with nogil:
            total = 0
            for v in range(n):
                start[v] = total
                if domains[v] == 1:
                    continue
                seen[v] = <element_t>v
                for i in range(rows[v], rows[v + 1]):
                    f = factors[i]
                    for j in range(scope_start[f], scope_start[f + 1]):
                        u = scope[j]
                        if seen[u] != v and domains[u] > 1:
                            seen[u] = <element_t>v
                            if turn:
                                neighbour[total] = u
                            total += 1
            start[n] = total
        if turn == 0:
            neighbour_array = np.empty(total, np.int32)
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
                # Insertion; hubs with many new neighbours are not worth sorting.
                while j > first and reached - first < 64 and start[queue[j - 1] + 1] - start[queue[j - 1]] > own:
                    queue[j] = queue[j - 1]
                    j -= 1
                queue[j] = u
                reached += 1
        done += 1
    return reached


def sweep(const offset_t[::1] start, const element_t[::1] neighbour):
    """All variables front by front, from one end of each component to the other (reverse Cuthill & McKee 1969).

    Graphs that are long and narrow have little width along this order, and few tables at a time.
    """
    cdef Py_ssize_t n = start.shape[0] - 1, v, i
    cdef offset_t done = 0, count
    cdef element_t mark = 0, root, turn
    order_array = np.empty(n, np.int32)
    cdef element_t[::1] order = order_array, seen = np.zeros(n, np.int32), queue = np.empty(n, np.int32)
    cdef element_t nothing = 0
    cdef const element_t* near = &neighbour[0] if neighbour.shape[0] else &nothing
    with nogil:
        for v in range(n):
            if seen[v] != 0:
                continue
            root = <element_t>v
            # From anywhere to the farthest, twice.
            for turn in range(3):
                mark = turn + 1
                count = visit(&start[0], near, root, &queue[0], &seen[0], mark)
                root = queue[count - 1]
            for i in range(count):
                order[n - 1 - done - i] = queue[i]
            done += count
    return order_array
