"""Kernels that look for cycles on which the present messages are not consistent, and say what each would gain."""

import numpy as np

from libc.math cimport INFINITY

from graphpart.kernels.types cimport element_t, offset_t


def triangles(const offset_t[::1] start, const element_t[::1] neighbour, const element_t[::1] pair, Py_ssize_t most):
    """Triangles i < j < k: (variables, their pairs ij, ik, jk), at most so many. Rows of neighbours are ascending.

    O(sum over edges of the degrees).
    """
    cdef Py_ssize_t n = start.shape[0] - 1, count = 0, room = 1024
    cdef offset_t a, p, q
    cdef element_t i, j
    scopes_array, pairs_array = np.empty((room, 3), np.int32), np.empty((room, 3), np.int32)
    cdef element_t[:, ::1] scopes = scopes_array, pairs = pairs_array
    for i in range(n):
        for a in range(start[i], start[i + 1]):
            j = neighbour[a]
            if j <= i:
                continue
            p, q = a + 1, start[j]
            while p < start[i + 1] and q < start[j + 1]:
                if neighbour[p] < neighbour[q]:
                    p += 1
                elif neighbour[p] > neighbour[q]:
                    q += 1
                else:
                    if count == most:
                        return scopes_array[:count], pairs_array[:count]
                    if count == room:
                        room *= 2
                        scopes_array = np.resize(scopes_array, (room, 3))
                        pairs_array = np.resize(pairs_array, (room, 3))
                        scopes, pairs = scopes_array, pairs_array
                    scopes[count, 0], scopes[count, 1], scopes[count, 2] = i, j, neighbour[p]
                    pairs[count, 0], pairs[count, 1], pairs[count, 2] = pair[a], pair[p], pair[q]
                    count += 1
                    p += 1
                    q += 1
    return scopes_array[:count], pairs_array[:count]


cdef inline bint adjacent(const offset_t[::1] start, const element_t[::1] neighbour, element_t i,
                          element_t j) noexcept nogil:
    cdef offset_t low = start[i], high = start[i + 1], middle
    while low < high:
        middle = (low + high) >> 1
        if neighbour[middle] < j:
            low = middle + 1
        else:
            high = middle
    return low < start[i + 1] and neighbour[low] == j


def squares(const offset_t[::1] start, const element_t[::1] neighbour, const element_t[::1] pair, Py_ssize_t most,
            Py_ssize_t largest_degree):
    """Chordless cycles i, j, k, l of which i is the smallest: (variables, pairs ij, jk, kl, li), at most so many.

    Paths through variables of a larger degree are left out. O(sum of the squares of degrees).
    """
    cdef Py_ssize_t n = start.shape[0] - 1, count = 0, room = 1024, paths, widest = 1
    cdef offset_t a, b, x, y
    cdef element_t i, j, k
    scopes_array, pairs_array = np.empty((room, 4), np.int32), np.empty((room, 4), np.int32)
    cdef element_t[:, ::1] scopes = scopes_array, pairs = pairs_array
    cdef offset_t[::1] head = np.full(n + 1, -1, np.int64)      # the latest path that ends in k; paths are linked
    for i in range(n):
        widest = max(widest, start[i + 1] - start[i])
    cdef Py_ssize_t path_room = min(largest_degree, widest) * widest + 1
    cdef offset_t[::1] before = np.empty(path_room, np.int64), first = np.empty(path_room, np.int64)
    cdef offset_t[::1] second = np.empty(path_room, np.int64)
    for i in range(n):
        paths = 0
        for a in range(start[i], start[i + 1]):
            j = neighbour[a]
            if j <= i or start[j + 1] - start[j] > largest_degree:
                continue
            for b in range(start[j], start[j + 1]):
                k = neighbour[b]
                if k <= i or adjacent(start, neighbour, i, k):
                    continue
                x = head[k]
                while x >= 0:
                    y = first[x]
                    if not adjacent(start, neighbour, neighbour[y], j):
                        if count == most:
                            return scopes_array[:count], pairs_array[:count]
                        if count == room:
                            room *= 2
                            scopes_array = np.resize(scopes_array, (room, 4))
                            pairs_array = np.resize(pairs_array, (room, 4))
                            scopes, pairs = scopes_array, pairs_array
                        scopes[count, 0], scopes[count, 1] = i, neighbour[y]
                        scopes[count, 2], scopes[count, 3] = k, j
                        pairs[count, 0], pairs[count, 1] = pair[y], pair[second[x]]
                        pairs[count, 2], pairs[count, 3] = pair[b], pair[a]
                        count += 1
                    x = before[x]
                before[paths], first[paths], second[paths] = head[k], a, b
                head[k] = paths
                paths += 1
        for x in range(paths):
            head[neighbour[second[x]]] = -1
    return scopes_array[:count], pairs_array[:count]


def spread(const offset_t[::1] rows, const element_t[::1] neighbour, const element_t[::1] pair,
           const element_t[::1] domains, const offset_t[::1] first, double[::1] unary, const offset_t[::1] start,
           double[::1] tables, Py_ssize_t sweeps):
    """Spread costs evenly, in place: each variable in turn collects from its pairs, and gives all equal shares back.

    That lowers no bound; what passes in one direction moved away comes back to where it can be seen. Rows of the table
    of a pair are those of its smaller variable.
    """
    cdef Py_ssize_t n = domains.shape[0], sweep, step, v, d, e, x, y
    cdef offset_t i
    cdef double* table
    cdef double* own
    cdef double least, share
    cdef offset_t stride, other
    with nogil:
        for sweep in range(sweeps):
            for step in range(n):
                v = step if sweep % 2 == 0 else n - 1 - step
                d = domains[v]
                if rows[v] == rows[v + 1]:
                    continue
                own = &unary[first[v]]
                for i in range(rows[v], rows[v + 1]):
                    e = domains[neighbour[i]]
                    table = &tables[start[pair[i]]]
                    stride = e if v < neighbour[i] else 1
                    other = 1 if v < neighbour[i] else d
                    for x in range(d):
                        least = table[x * stride]
                        for y in range(1, e):
                            least = min(least, table[x * stride + y * other])
                        own[x] += least
                        if least < INFINITY:
                            for y in range(e):
                                table[x * stride + y * other] -= least
                least = INFINITY
                for x in range(d):
                    least = min(least, own[x])
                for x in range(d):
                    if own[x] < INFINITY:
                        share = (own[x] - least) / (rows[v + 1] - rows[v])
                        own[x] = least
                        for i in range(rows[v], rows[v + 1]):
                            e = domains[neighbour[i]]
                            table = &tables[start[pair[i]]]
                            stride = e if v < neighbour[i] else 1
                            other = 1 if v < neighbour[i] else d
                            for y in range(e):
                                table[x * stride + y * other] += share


cdef inline double entry(const double* table, offset_t columns, bint turned, offset_t x, offset_t y) noexcept nogil:
    return table[y * columns + x] if turned else table[x * columns + y]


def gains(const element_t[:, ::1] scopes, const element_t[:, ::1] pairs, const element_t[::1] domains,
          const offset_t[::1] first, const double[::1] unary, const offset_t[::1] start, const double[::1] tables):
    """How much the bound would rise if a cycle were one factor, given the tables of pairs and unary costs that remain.

    The least sum around the cycle, of its variables' costs and its pairs' entries, less the sum of least ones. Rows of
    the table of a pair are those of its smaller variable. O(labels^3) for each triangle and cycle of four.
    """
    cdef Py_ssize_t count = scopes.shape[0], length = scopes.shape[1], c, e
    cdef element_t i, j, k, l, d
    cdef offset_t x, y, z, w
    cdef double least, low, best, total
    cdef const double* t[4]
    cdef bint turned[4]
    cdef offset_t columns[4]
    cdef const double* u[4]
    cdef element_t size[4]
    cdef Py_ssize_t widest = int(np.max(domains, initial=1))
    out_array = np.zeros(count)
    cdef double[::1] out = out_array
    cdef double[::1] half = np.zeros(widest * widest)
    with nogil:
        for c in range(count):
            total = 0.0
            for e in range(length):
                i = scopes[c, e]
                j = scopes[c, (e + 1) % length]
                size[e] = domains[i]
                u[e] = &unary[first[i]]
                # pairs of triangles stand as 01, 02, 12; those of squares in order
                k = pairs[c, e] if length == 4 else pairs[c, 0 if e == 0 else (2 if e == 1 else 1)]
                t[e] = &tables[start[k]]
                turned[e] = i > j
                columns[e] = domains[i] if i > j else domains[j]
                low = INFINITY
                for x in range(size[e]):
                    low = min(low, u[e][x])
                total += low
                low = INFINITY
                for x in range(<offset_t>domains[i] * domains[j]):
                    low = min(low, t[e][x])
                total += low
            # from 0 to 2 through 1
            for x in range(size[0]):
                for z in range(size[2]):
                    least = INFINITY
                    for y in range(size[1]):
                        low = entry(t[0], columns[0], turned[0], x, y) + u[1][y] + entry(t[1], columns[1], turned[1], y, z)
                        least = min(least, low)
                    half[x * size[2] + z] = least + u[0][x] + u[2][z]
            best = INFINITY
            for x in range(size[0]):
                for z in range(size[2]):
                    if length == 3:
                        least = entry(t[2], columns[2], turned[2], z, x)
                    else:
                        least = INFINITY
                        for w in range(size[3]):
                            low = entry(t[2], columns[2], turned[2], z, w) + u[3][w] + entry(
                                t[3], columns[3], turned[3], w, x)
                            least = min(least, low)
                    best = min(best, half[x * size[2] + z] + least)
            out[c] = best - total
    return out_array
