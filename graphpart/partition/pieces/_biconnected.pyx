"""Kernel that finds the blocks of a graph (biconnected components), by depth-first search without recursion."""

import numpy as np

from graphpart.kernels.types cimport element_t, offset_t


def blocks(Py_ssize_t n, const element_t[::1] u, const element_t[::1] v):
    """The number of the block of each pair, and how many blocks there are (Hopcroft & Tarjan 1973). O(n + m)

    Pairs are different, and none is of an element with itself.
    """
    cdef Py_ssize_t m = u.shape[0], e, i, pairs = 0, depth, time = 0
    cdef offset_t[::1] starts = np.zeros(n + 2, np.int64)
    cdef offset_t[::1] arcs = np.empty(2 * m + 1, np.int64), at = np.empty(n + 1, np.int64)
    cdef offset_t[::1] pair_stack = np.empty(m + 1, np.int64), path = np.empty(n + 1, np.int64)
    cdef offset_t[::1] entered = np.zeros(n + 1, np.int64), low = np.zeros(n + 1, np.int64)
    cdef offset_t[::1] came = np.full(n + 1, -1, np.int64)     # the pair by which an element was reached
    found = np.full(m, -1, np.int64)
    cdef offset_t[::1] block = found
    cdef offset_t count = 0, x, y, root
    with nogil:
        for e in range(m):
            starts[u[e] + 1] += 1
            starts[v[e] + 1] += 1
        for i in range(n):
            starts[i + 1] += starts[i]
        for i in range(n):
            at[i] = starts[i]
        for e in range(m):
            arcs[at[u[e]]] = e
            at[u[e]] += 1
            arcs[at[v[e]]] = e
            at[v[e]] += 1
        for i in range(n):
            at[i] = starts[i]
        for root in range(n):
            if entered[root]:
                continue
            time += 1
            entered[root] = low[root] = time
            path[0], depth = root, 1
            while depth:
                x = path[depth - 1]
                if at[x] < starts[x + 1]:
                    e = arcs[at[x]]
                    at[x] += 1
                    if e == came[x]:
                        continue
                    y = v[e] if u[e] == x else u[e]
                    if not entered[y]:
                        time += 1
                        entered[y] = low[y] = time
                        came[y] = e
                        pair_stack[pairs] = e
                        pairs += 1
                        path[depth] = y
                        depth += 1
                    elif entered[y] < entered[x]:
                        pair_stack[pairs] = e
                        pairs += 1
                        if entered[y] < low[x]:
                            low[x] = entered[y]
                    continue
                depth -= 1
                if not depth:
                    break
                y = path[depth - 1]
                if low[x] < low[y]:
                    low[y] = low[x]
                if low[x] >= entered[y]:  # y separates what was reached from x
                    while True:
                        pairs -= 1
                        e = pair_stack[pairs]
                        block[e] = count
                        if e == came[x]:
                            break
                    count += 1
    return found, int(count)
