"""Kernels that find cycles on which the present messages are not consistent, and the rise of the bound by each."""

import numpy as np

from libc.math cimport INFINITY

from graphpart.kernels._arrays cimport (
    empty_float64, empty_int32, empty_int64, full_int32, full_int64, zeros_float64, zeros_int32, zeros_int64, zeros_int8,
)
from graphpart.kernels.types cimport element_t, offset_t
from graphpart.stopping cimport Stopping


def triangles(const offset_t[::1] start, const element_t[::1] neighbour, const element_t[::1] pair, Py_ssize_t most):
    """At most `most` triangles i < j < k: (variables, their pairs ij, jk, ki). Rows of neighbours are ascending.

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
    """At most `most` chordless cycles i, j, k, l with the smallest variable i: (variables, pairs ij, jk, kl, li).

    Paths through variables of a degree above `largest_degree` are left out. O(sum of the squares of degrees).
    """
    cdef Py_ssize_t n = start.shape[0] - 1, count = 0, room = 1024, paths, widest = 1
    cdef offset_t a, b, x, y
    cdef element_t i, j, k
    scopes_array, pairs_array = np.empty((room, 4), np.int32), np.empty((room, 4), np.int32)
    cdef element_t[:, ::1] scopes = scopes_array, pairs = pairs_array
    cdef offset_t[::1] head = full_int64(n + 1, -1)      # the latest path that ends in k; paths are linked
    for i in range(n):
        widest = max(widest, start[i + 1] - start[i])
    cdef Py_ssize_t path_room = min(largest_degree, widest) * widest + 1
    cdef offset_t[::1] before = empty_int64(path_room), first = empty_int64(path_room)
    cdef offset_t[::1] second = empty_int64(path_room)
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


cdef class PairCosts:
    """Unary costs, from ``first[v]`` on for variable v, and tables of pairs, from ``start[k]`` on for pair k."""

    cdef const element_t[::1] domains
    cdef const offset_t[::1] first, start
    cdef double[::1] unary, tables

    def __init__(self, domains, first, unary, start, tables):
        self.domains, self.first, self.unary, self.start, self.tables = domains, first, unary, start, tables


def spread(PairCosts costs, const offset_t[::1] rows, const element_t[::1] neighbour, const element_t[::1] pair,
           Py_ssize_t sweeps):
    """Spread costs evenly, in place: each variable in turn collects from its pairs, and gives all equal shares back.

    This lowers no bound. Passes in one direction move costs to one end of a pair; afterwards both ends show them. Rows
    of the table of a pair are those of its smaller variable.
    """
    cdef const element_t[::1] domains = costs.domains
    cdef const offset_t[::1] first = costs.first, start = costs.start
    cdef double[::1] unary = costs.unary, tables = costs.tables
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
             Py_ssize_t reach, Py_ssize_t most) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """A shortest cycle through each edge: (starts, variables, pairs), each pair leads to the next variable.

    By breadth first search from the smaller variable of the edge, among at most `reach` variables; cycles longer than
    `longest`, or found before through a smaller variable, are left out. At most about `most` variables in all.
    """
    cdef Py_ssize_t n = start.shape[0] - 1, count = 0, room = 4096, begin, end, length
    cdef offset_t a, b
    cdef element_t i, j, k, w
    cdef bint smaller
    scope_array, pair_array = empty_int32(room), empty_int32(room)
    cdef element_t[::1] scope = scope_array, pairs = pair_array
    cdef element_t[::1] queue = empty_int32(n + 1), came = full_int32(n + 1, -1)
    cdef element_t[::1] by = full_int32(n + 1, -1), far = zeros_int32(n + 1)
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


def gains(PairCosts costs, const offset_t[::1] cycle_start, const element_t[::1] scopes, const element_t[::1] pairs,
          double cost, Stopping stopping):
    """How much the bound would rise if each cycle were one factor, given the remaining unary costs and tables of pairs.

    This is the minimum over labels of the sum of all unary costs and entries of pairs on the cycle, minus the sum of
    their separate minima. Each pair leads to the next variable. Rows of the table of a pair are those of its smaller
    variable. inf if no labels are allowed. O(length times labels^3) for each cycle; 0 for cycles that were not reached
    in time.
    """
    cdef const element_t[::1] domains = costs.domains
    cdef const offset_t[::1] first = costs.first, start = costs.start
    cdef const double[::1] unary = costs.unary, tables = costs.tables
    cdef Py_ssize_t count = cycle_start.shape[0] - 1, c
    cdef element_t i, j, d, e, origin
    cdef offset_t x, y, z, at, begin, end, stride, other, following
    cdef double least, best, total
    cdef const double* t
    cdef const double* u
    cdef double* now
    cdef double* then
    cdef Py_ssize_t widest = int(np.max(domains, initial=1))
    out_array = zeros_float64(count)
    cdef double[::1] out = out_array
    cdef double[::1] one = zeros_float64(widest), two = zeros_float64(widest)
    with nogil:
        for c in range(count):
            if stopping.poll(cost):
                break
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
            for z in range(domains[origin]):        # the cheapest way around the cycle from this label to itself
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


def agreements(const element_t[:, ::1] ends, const element_t[::1] domains, const offset_t[::1] node,
               const offset_t[::1] start, const double[::1] tables, const offset_t[::1] edge_start):
    """For each pair and labels a, b of its variables: how much more it costs if just one variable has its label.

    ``min(entries with (x == a) != (y == b)) - min(entries with (x == a) == (y == b))``, for all labels, or for label 1
    of a variable with two; label a of variable v is node ``node[v] + a``, or ``node[v]``. Returns (first node, second
    node, pair, value), of which those of pair k begin at ``edge_start[k]``. O(labels^3) for each pair.
    """
    cdef Py_ssize_t count = ends.shape[0], k, widest = int(np.max(domains, initial=1))
    cdef offset_t total = edge_start[count], x, y, a, b, i, j, rows, columns, at
    cdef double same, other, low
    cdef const double* t
    u_array, v_array, pair_array = empty_int32(total), empty_int32(total), empty_int32(total)
    value_array = empty_float64(total)
    cdef element_t[::1] u = u_array, v = v_array, pair = pair_array
    cdef double[::1] value = value_array
    cdef double[::1] first = empty_float64(widest), second = empty_float64(widest)    # the least entries of each row
    cdef offset_t[::1] where = empty_int64(widest)
    with nogil:
        for k in range(count):
            i, j = min(ends[k, 0], ends[k, 1]), max(ends[k, 0], ends[k, 1])
            rows, columns = domains[i], domains[j]
            t = &tables[start[k]]
            at = edge_start[k]
            for x in range(rows):
                first[x] = second[x] = INFINITY
                where[x] = -1
                for y in range(columns):
                    if t[x * columns + y] < first[x]:
                        second[x] = first[x]
                        first[x] = t[x * columns + y]
                        where[x] = y
                    elif t[x * columns + y] < second[x]:
                        second[x] = t[x * columns + y]
            for a in range(rows):
                if rows == 1 or (rows == 2 and a == 0):
                    continue
                for b in range(columns):
                    if columns == 1 or (columns == 2 and b == 0):
                        continue
                    same = t[a * columns + b]
                    other = second[a] if where[a] == b else first[a]
                    for x in range(rows):
                        if x != a:
                            low = second[x] if where[x] == b else first[x]
                            same = min(same, low)
                            other = min(other, t[x * columns + b])
                    u[at] = <element_t>(node[i] + (a if rows > 2 else 0))
                    v[at] = <element_t>(node[j] + (b if columns > 2 else 0))
                    pair[at] = <element_t>k
                    value[at] = other - same if same < INFINITY else -INFINITY
                    if other == INFINITY and same == INFINITY:
                        value[at] = 0.0
                    at += 1
    return u_array, v_array, pair_array, value_array


cdef inline element_t root_of(element_t[::1] parent, signed char[::1] parity, element_t x) noexcept nogil:
    """The root of x, of which x is then a child, with the parity towards it."""
    cdef element_t r = x, following
    cdef signed char p = 0, q
    while parent[r] != r:
        p ^= parity[r]
        r = parent[r]
    while parent[x] != r and x != r:
        following, q = parent[x], parity[x]
        parent[x], parity[x] = r, p
        p ^= q
        x = following
    return r


def frustrated(const element_t[::1] u, const element_t[::1] v, const element_t[::1] pair, const double[::1] value,
               Py_ssize_t nodes, Py_ssize_t longest, Py_ssize_t most):
    """Cycles of an odd number of negative edges, of edges in descending order of absolute values.

    Edges make a forest as in Kruskal's algorithm. An edge that contradicts the parity of the path between its ends
    closes a cycle. Returns (starts, nodes, pairs), where each pair leads to the next node: at most `most` cycles of
    length at most `longest`. O(edges + lengths).
    """
    cdef Py_ssize_t count = u.shape[0], k, bad = 0, length = 0, room = 4096, cycles = 0, tree = 0
    cdef element_t a, b, x, y
    cdef offset_t i, begin
    cdef signed char p
    cdef element_t[::1] parent = np.arange(nodes, dtype=np.int32)
    cdef signed char[::1] parity = zeros_int8(nodes)
    cdef element_t[::1] closing = empty_int32(count), forest = empty_int32(nodes)
    cdef offset_t[::1] rows = zeros_int64(nodes + 2)
    cdef element_t[::1] to = empty_int32(2 * nodes), by = empty_int32(2 * nodes)
    cdef element_t[::1] up = full_int32(nodes, -1), up_pair = full_int32(nodes, -1)
    cdef element_t[::1] depth = zeros_int32(nodes), queue = empty_int32(nodes + 1)
    node_array, pair_array = empty_int32(room), empty_int32(room)
    cdef element_t[::1] out = node_array, out_pair = pair_array
    cdef element_t[::1] tail = empty_int32(2 * longest + 4), tail_pair = empty_int32(2 * longest + 4)
    cdef Py_ssize_t behind
    starts = [0]
    with nogil:
        for k in range(count):
            a, b = root_of(parent, parity, u[k]), root_of(parent, parity, v[k])
            p = parity[u[k]] ^ parity[v[k]] ^ (value[k] < 0)
            if a != b:
                parent[a], parity[a] = b, p
                forest[tree] = <element_t>k
                tree += 1
            elif p:
                closing[bad] = <element_t>k
                bad += 1
        for k in range(tree):
            rows[u[forest[k]] + 2] += 1
            rows[v[forest[k]] + 2] += 1
        for k in range(2, nodes + 2):
            rows[k] += rows[k - 1]
        for k in range(tree):
            a, b = u[forest[k]], v[forest[k]]
            to[rows[a + 1]], by[rows[a + 1]] = b, pair[forest[k]]
            rows[a + 1] += 1
            to[rows[b + 1]], by[rows[b + 1]] = a, pair[forest[k]]
            rows[b + 1] += 1
        for k in range(nodes):
            if depth[k]:
                continue
            depth[k] = 1
            queue[0] = <element_t>k
            begin, i = 0, 1
            while begin < i:
                x = queue[begin]
                begin += 1
                for behind in range(rows[x], rows[x + 1]):
                    y = to[behind]
                    if depth[y] == 0:
                        depth[y], up[y], up_pair[y] = depth[x] + 1, x, by[behind]
                        queue[i] = y
                        i += 1
        for k in range(bad):
            if cycles == most:
                break
            if length + 2 * longest + 4 > room:
                with gil:
                    room *= 2
                    node_array, pair_array = np.resize(node_array, room), np.resize(pair_array, room)
                    out, out_pair = node_array, pair_array
            a, b = u[closing[k]], v[closing[k]]
            i, behind = 0, 0
            while a != b and i + behind < longest:      # from u up, and from v up, until they meet
                if depth[a] >= depth[b]:
                    out[length + i], out_pair[length + i] = a, up_pair[a]
                    a = up[a]
                    i += 1
                else:
                    tail[behind], tail_pair[behind] = b, up_pair[b]
                    b = up[b]
                    behind += 1
            if a != b or i + behind < 2:
                continue
            out[length + i] = a
            for begin in range(behind):
                out_pair[length + i] = tail_pair[behind - 1 - begin]
                i += 1
                out[length + i] = tail[behind - 1 - begin]
            out_pair[length + i] = pair[closing[k]]
            length += i + 1
            cycles += 1
            with gil:
                starts.append(length)
    return np.array(starts, np.int64), node_array[:length], pair_array[:length]
