"""Kernels that look for cycles on which the present messages are not consistent, and say what each would gain."""

import numpy as np

from libc.math cimport INFINITY

from graphpart.kernels.types cimport element_t, offset_t


def triangles(const offset_t[::1] start, const element_t[::1] neighbour, const element_t[::1] pair, Py_ssize_t most):
    """Triangles i < j < k: (variables, their pairs ij, jk, ki), at most so many. Rows of neighbours are ascending.

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
                    pairs[count, 0], pairs[count, 1], pairs[count, 2] = pair[a], pair[q], pair[p]
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


def shortest(const offset_t[::1] start, const element_t[::1] neighbour, const element_t[::1] pair, Py_ssize_t longest,
             Py_ssize_t reach, Py_ssize_t most):
    """A shortest cycle through each edge: (starts, variables, pairs), each pair leads to the next variable.

    By breadth first search from the smaller variable of the edge, among at most `reach` variables; cycles longer than
    `longest`, or found before through a smaller variable, are left out. At most about `most` variables in all.
    """
    cdef Py_ssize_t n = start.shape[0] - 1, count = 0, room = 4096, begin, end, length
    cdef offset_t a, b
    cdef element_t i, j, k, w
    cdef bint smaller
    scope_array, pair_array = np.empty(room, np.int32), np.empty(room, np.int32)
    cdef element_t[::1] scope = scope_array, pairs = pair_array
    cdef element_t[::1] queue = np.empty(n + 1, np.int32), came = np.full(n + 1, -1, np.int32)
    cdef element_t[::1] by = np.full(n + 1, -1, np.int32), far = np.zeros(n + 1, np.int32)
    starts = [0]
    for i in range(n):
        for a in range(start[i], start[i + 1]):
            j = neighbour[a]
            if j <= i:
                continue
            # from i to j, but not by this edge
            queue[0] = i
            came[i] = i
            far[i] = 1
            begin, end = 0, 1
            while begin < end and came[j] < 0 and end < reach:
                k = queue[begin]
                begin += 1
                if far[k] == longest:
                    break
                for b in range(start[k], start[k + 1]):
                    w = neighbour[b]
                    if came[w] >= 0 or (k == i and w == j):
                        continue
                    came[w], by[w], far[w] = k, pair[b], far[k] + 1
                    queue[end] = w
                    end += 1
            if came[j] >= 0:
                length = far[j]
                smaller = False
                if count + length > room:
                    room = 2 * room + length
                    scope_array, pair_array = np.resize(scope_array, room), np.resize(pair_array, room)
                    scope, pairs = scope_array, pair_array
                w = j
                for b in range(length):
                    scope[count + b] = w
                    smaller = smaller or w < i
                    pairs[count + b] = by[w] if w != i else pair[a]
                    w = came[w]
                if not smaller:
                    count += length
                    starts.append(count)
            for b in range(end):
                came[queue[b]] = -1
            if count > most:
                return np.array(starts, np.int64), scope_array[:count], pair_array[:count]
    return np.array(starts, np.int64), scope_array[:count], pair_array[:count]


def gains(const offset_t[::1] cycle_start, const element_t[::1] scopes, const element_t[::1] pairs,
          const element_t[::1] domains, const offset_t[::1] first, const double[::1] unary, const offset_t[::1] start,
          const double[::1] tables):
    """How much the bound would rise if a cycle were one factor, given the tables of pairs and unary costs that remain.

    The least sum around the cycle, of its variables' costs and its pairs' entries, less the sum of least ones; each pair
    leads to the next variable. Rows of the table of a pair are those of its smaller variable. inf where no labels fit.
    O(length times labels^3) for each cycle.
    """
    cdef Py_ssize_t count = cycle_start.shape[0] - 1, c
    cdef element_t i, j, d, e, origin
    cdef offset_t x, y, z, at, begin, end, stride, other, following
    cdef double least, best, total
    cdef const double* t
    cdef const double* u
    cdef double* now
    cdef double* then
    cdef Py_ssize_t widest = int(np.max(domains, initial=1))
    out_array = np.zeros(count)
    cdef double[::1] out = out_array
    cdef double[::1] one = np.zeros(widest), two = np.zeros(widest)
    with nogil:
        for c in range(count):
            begin, end = cycle_start[c], cycle_start[c + 1]
            total = 0.0
            for at in range(begin, end):
                i = scopes[at]
                least = INFINITY
                for x in range(domains[i]):
                    least = min(least, unary[first[i] + x])
                total += least
                least = INFINITY
                for x in range(start[pairs[at]], start[pairs[at] + 1]):
                    least = min(least, tables[x])
                total += least
            best = INFINITY
            origin = scopes[begin]
            for z in range(domains[origin]):        # from this label of the first variable around to itself
                now, then = &one[0], &two[0]
                for x in range(domains[origin]):
                    now[x] = INFINITY
                now[z] = unary[first[origin] + z]
                for at in range(begin, end):
                    following = at + 1 if at + 1 < end else begin
                    i, j = scopes[at], scopes[following]
                    d, e = domains[i], domains[j]
                    t = &tables[start[pairs[at]]]
                    u = &unary[first[j]]
                    stride = e if i < j else 1
                    other = 1 if i < j else d
                    for y in range(e):
                        if following == begin and y != z:
                            continue
                        least = INFINITY
                        for x in range(d):
                            least = min(least, now[x] + t[x * stride + y * other])
                        then[y] = least if following == begin else least + u[y]
                    now, then = then, now
                best = min(best, now[z])
            out[c] = best - total if total < INFINITY else 0.0
    return out_array
