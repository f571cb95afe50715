"""Kernels over pairs of elements: adjacency, components and blocks, cost of a partition, canonical labels, checks.

Costs are given either as a symmetric matrix (n, n), or as pairs ``u[k] < v[k]`` with ``cost[k]``, sorted. A sum runs row
by row with the rounding error of each addition carried along (Neumaier 1974), so that a reported cost is exact to
the last digits also where huge and tiny costs meet.

Weights of a background are added up by subset, element by element. Each element pays for the elements before it, so
nothing is subtracted, and an element that is alone costs exactly 0. Products carry their rounding errors along, too
(Dekker 1971). So the result is exact to the last digits also if listed pairs and background nearly cancel.
"""

from functools import partial

import numpy as np

from libc.math cimport INFINITY, fabs, frexp, isfinite, isinf, isnan, ldexp
from libc.stdint cimport uint8_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memmove, memset

from graphpart.kernels._arrays cimport (
    empty_float64, empty_int32, empty_int64, empty_uint8, full_int64, zeros_float64, zeros_int64, zeros_uint8,
)
from graphpart.kernels.clones cimport GP_CLONED  # and its macros
from graphpart.kernels.compensated cimport Sum, add, value
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.kernels.union_find cimport number_sets, unite
from graphpart.machine import processors, side_by_side

ctypedef fused index_t:
    element_t
    offset_t

# Sums in several lanes, which are independent of each other; with the error of each addition (Knuth 1969).
cdef extern from *:
    """
    #define GP_LANES 32

    GP_CLONES
    static void gp_add_in_lanes(Py_ssize_t n, const double *GP_RESTRICT row, const int32_t *GP_RESTRICT places,
                                double *GP_RESTRICT totals, double *GP_RESTRICT errors) {
        double x[GP_LANES];
        Py_ssize_t k, j;
        for (k = 0; k < n; k += GP_LANES) {
            const Py_ssize_t m = n - k < GP_LANES ? n - k : GP_LANES;
            for (j = 0; j < m; j++) x[j] = row[places[k + j]];
            for (; j < GP_LANES; j++) x[j] = 0.0;
            for (j = 0; j < GP_LANES; j++) {
                const double sum = totals[j] + x[j], added = sum - totals[j];
                errors[j] += (totals[j] - (sum - added)) + (x[j] - added);
                totals[j] = sum;
            }
        }
    }
    """
    enum: LANES "GP_LANES"
    void add_in_lanes "gp_add_in_lanes" (
        Py_ssize_t n, const cost_t* row, const element_t* places, double* totals, double* errors
    ) noexcept nogil

cdef enum:
    BLOCK = 64      # number of columns of a matrix that are compared with their mirror image at once
    MANY = 1 << 18  # pairs from which on two threads make rows


cdef class CompressedRows:
    """The pairs of each element, for all kernels that go from an element to its neighbours.

    Parameters
    ----------
    starts : ndarray of int64, shape (n + 1,)
    neighbours : ndarray of int32
        The neighbours of element a stand from ``starts[a]`` to ``starts[a + 1]``.
    costs : ndarray of float64
        The cost of each pair.
    """

    def __init__(self, starts, neighbours, costs):
        self.starts, self.neighbours, self.costs = starts, neighbours, costs
        self._starts, self._neighbours, self._costs = starts, neighbours, costs
        self.view.n = self._starts.shape[0] - 1
        self.view.starts = &self._starts[0]
        self.view.neighbours = &self._neighbours[0]
        self.view.costs = &self._costs[0]

    @property
    def arrays(self) -> tuple[Any, Any, Any]:
        """The three arrays."""
        return self.starts, self.neighbours, self.costs

    def __reduce__(self):
        return CompressedRows, self.arrays


def canonical_labels(const index_t[::1] labels) -> tuple[Any, int]:
    """Rename labels from 0..len-1 to 0, 1, ... in order of first appearance; (labels, number of subsets).

    A label outside 0..len-1 gives (None, its position).
    """
    cdef Py_ssize_t n = labels.shape[0], a
    cdef element_t k = 0
    out = empty_int32(n)
    cdef element_t[::1] renamed = out
    cdef element_t* first = <element_t*>calloc(n + 1, sizeof(element_t))   # name + 1, 0 while unseen
    if first == NULL:
        raise MemoryError()
    try:
        with nogil:
            for a in range(n):
                if labels[a] < 0 or labels[a] >= n:
                    k = -1
                    break
                if first[labels[a]] == 0:
                    k += 1
                    first[labels[a]] = k
                renamed[a] = first[labels[a]] - 1
    finally:
        free(first)
    if k < 0:
        return None, a
    return out, k


def connected_components(Py_ssize_t n, const element_t[::1] u, const element_t[::1] v) -> NDArray[np.int32]:
    """Canonical labels of the connected components of the graph with these pairs, not checked; any order, also loops.

    Union-find: O((n + m) log n) at worst, near O(n + m). The root of a set is its least element, so that roots appear
    in order.
    """
    cdef Py_ssize_t m = u.shape[0], k
    out = np.arange(n, dtype=np.int32)
    cdef element_t[::1] view = out
    cdef element_t* parent = &view[0] if n else NULL
    with nogil:
        for k in range(m):
            unite(parent, u[k], v[k])
        number_sets(parent, n)
    return out


def blocks(Py_ssize_t n, const element_t[::1] u, const element_t[::1] v):
    """The number of the block of each pair, and how many blocks there are (Hopcroft & Tarjan 1973). O(n + m)

    No pair occurs twice, and none is a self-loop.
    """
    cdef Py_ssize_t m = u.shape[0], e, i, pairs = 0, depth, time = 0
    cdef offset_t[::1] starts = zeros_int64(n + 2)
    cdef offset_t[::1] arcs = empty_int64(2 * m + 1), at = empty_int64(n + 1)
    cdef offset_t[::1] pair_stack = empty_int64(m + 1), path = empty_int64(n + 1)
    cdef offset_t[::1] entered = zeros_int64(n + 1), low = zeros_int64(n + 1)
    cdef offset_t[::1] came = full_int64(n + 1, -1)     # the pair through which an element was reached
    found = full_int64(m, -1)
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
                if low[x] >= entered[y]:  # y separates the elements that were reached from x
                    while True:
                        pairs -= 1
                        e = pair_stack[pairs]
                        block[e] = count
                        if e == came[x]:
                            break
                    count += 1
    return found, int(count)


def connected_subsets_of_pairs(
    const element_t[::1] labels, const element_t[:, ::1] must_join, const element_t[::1] u, const element_t[::1] v,
    const cost_t[::1] cost=None
) -> NDArray[np.int32]:
    """Canonical labels of the parts of subsets that are connected by non-zero pairs and required joins. Near O(n + m).

    Without costs, all pairs connect.
    """
    cdef Py_ssize_t n = labels.shape[0], m = u.shape[0], k
    out = np.arange(n, dtype=np.int32)
    cdef element_t[::1] view = out
    cdef element_t* parent = &view[0] if n else NULL
    with nogil:
        for k in range(must_join.shape[0]):
            unite(parent, must_join[k, 0], must_join[k, 1])
        for k in range(m):
            if labels[u[k]] == labels[v[k]] and (cost is None or cost[k] != 0):
                unite(parent, u[k], v[k])
        number_sets(parent, n)
    return out


def connected_subsets_of_dense(
    const element_t[::1] labels, const element_t[:, ::1] must_join, const cost_t[:, ::1] matrix
) -> NDArray[np.int32]:
    """The same for a matrix, by breadth-first search: near O(n) where most pairs have a cost, else O(n^2)."""
    cdef Py_ssize_t n = labels.shape[0], k, begin, end, reached, scanned, i
    cdef element_t a, b
    out = np.arange(n, dtype=np.int32)
    order = np.argsort(labels, kind="stable").astype(np.int32)
    cdef element_t[::1] view = out, members = order     # of each subset: the elements reached so far, then the others
    cdef element_t* parent = &view[0] if n else NULL
    cdef const cost_t* row
    with nogil:
        for k in range(must_join.shape[0]):
            unite(parent, must_join[k, 0], must_join[k, 1])
        begin = 0
        while begin < n:
            end = begin + 1
            while end < n and labels[members[end]] == labels[members[begin]]:
                end += 1
            scanned = reached = begin
            while reached < end:
                if scanned == reached:      # no pair connects the others to the elements before
                    reached += 1
                a = members[scanned]
                scanned += 1
                row = &matrix[a, 0]
                for i in range(reached, end):
                    b = members[i]
                    if row[b] != 0:
                        unite(parent, a, b)
                        members[i] = members[reached]
                        members[reached] = b
                        reached += 1
            begin = end
        number_sets(parent, n)
    return out


def cost_of_dense(const cost_t[:, ::1] matrix, const element_t[::1] labels):
    """The sum of ``matrix[a, b]`` over all a < b with equal labels. O(n) and one step for each such pair."""
    cdef Py_ssize_t n = labels.shape[0], a, b, k, count
    cdef element_t[::1] head, following, subset
    cdef double totals[LANES]
    cdef double errors[LANES]
    cdef Sum total = Sum(0.0, 0.0)
    names = np.asarray(labels)
    if n and not 0 <= names.min() <= names.max() < n:
        names = np.unique(names, return_inverse=True)[1].astype(np.int32)
    cdef const element_t[::1] label = names
    room = np.empty((3, n), np.int32)
    head, following, subset = room      # first element with each label; next with the same label; all with one
    with nogil:
        for k in range(LANES):
            totals[k] = errors[k] = 0.0
        for a in range(n):
            head[a] = -1
        for a in range(n - 1, -1, -1):
            following[a] = head[label[a]]
            head[label[a]] = <element_t>a
        for k in range(n):
            count = 0
            b = head[k]
            while b >= 0:
                subset[count] = <element_t>b
                count += 1
                b = following[b]
            for a in range(count - 1):
                add_in_lanes(count - a - 1, &matrix[subset[a], 0], &subset[a + 1], totals, errors)
        for k in range(LANES):
            add(&total, totals[k])
            total.error += errors[k]
    return value(&total)


cdef inline void add_product(Sum* s, double x, Sum* y) noexcept nogil:
    """Add x * y; neither may be above 2^990. The rounding error of the product follows from halves of 26 digits."""
    cdef double p = x * y.total, c, xh, xl, yh, yl
    c = 134217729.0 * x
    xh = c - (c - x)
    xl = x - xh
    c = 134217729.0 * y.total
    yh = c - (c - y.total)
    yl = y.total - yh
    add(s, p)
    s.error += ((xh * yh - p) + xh * yl + xl * yh) + xl * yl + x * y.error


cdef int exponent_of(const double* x, Py_ssize_t n) noexcept nogil:
    cdef double largest = 0.0
    cdef int exponent = 0
    cdef Py_ssize_t a
    for a in range(n):
        largest = max(largest, fabs(x[a]))
    frexp(largest, &exponent)
    return exponent


cdef void add_term(
    Sum* total, double beta, const double* x, const double* y, Py_ssize_t n, const element_t* labels,
    Sum* of_x, Sum* of_y,
) noexcept nogil:
    """Add the cost of a term within subsets; x and y may be the same vector."""
    cdef Py_ssize_t a
    cdef bint two = x != y
    cdef int ex = exponent_of(x, n), ey = exponent_of(y, n)
    cdef double xa, ya
    cdef Sum sum = Sum(0.0, 0.0), product = Sum(0.0, 0.0)
    cdef element_t U
    for a in range(n):
        U = labels[a]
        xa = ldexp(x[a], -ex)
        if two:
            ya = ldexp(y[a], -ey)
            add_product(&sum, xa, &of_y[U])
            add_product(&sum, ya, &of_x[U])
            add(&of_y[U], ya)
        else:
            add_product(&sum, xa, &of_x[U])
        add(&of_x[U], xa)
    add_product(&product, ldexp(beta, -exponent_of(&beta, 1)), &sum)
    ex += ey + exponent_of(&beta, 1)
    add(total, ldexp(product.total, ex))
    total.error += ldexp(product.error, ex)


cdef Sum sum_within(
    Py_ssize_t begin, Py_ssize_t end, const element_t[::1] u, const element_t[::1] v, const cost_t[::1] cost,
    const element_t[::1] labels
) noexcept nogil:
    """The sum over pairs from `begin` to `end`."""
    cdef Py_ssize_t k
    cdef Sum total = Sum(0.0, 0.0)
    for k in range(begin, end):
        if labels[u[k]] == labels[v[k]]:
            add(&total, cost[k])
    return total


def _sum_within(
    Py_ssize_t begin, Py_ssize_t end, const element_t[::1] u, const element_t[::1] v, const cost_t[::1] cost,
    const element_t[::1] labels
):
    cdef Sum total
    with nogil:
        total = sum_within(begin, end, u, v, cost, labels)
    return total.total, total.error


def cost_of_pairs(
    const element_t[::1] u, const element_t[::1] v, const cost_t[::1] cost, const element_t[::1] labels,
    const double[::1] beta=None, vectors=(),
):
    """The sum of ``cost[k]`` over all k with ``labels[u[k]] == labels[v[k]]``, plus the cost of a background. O(m + n)

    A background has a factor in `beta` and a pair ``(x, y)`` in `vectors` for each term; labels are in 0..n-1 then.
    Many pairs are summed up in two halves, by two threads if there are two.
    """
    cdef Py_ssize_t n = labels.shape[0], m = u.shape[0], k
    cdef Sum total = Sum(0.0, 0.0)
    cdef const double[::1] x, y
    cdef Sum* sums
    if m < MANY:
        with nogil:
            total = sum_within(0, m, u, v, cost, labels)
    else:
        halves = [partial(_sum_within, *half, u, v, cost, labels) for half in ((0, m // 2), (m // 2, m))]
        for part, error in side_by_side(*halves):
            add(&total, part)
            total.error += error
    if beta is None or n == 0 or not isfinite(total.total):
        return value(&total)
    for k in range(beta.shape[0]):
        x, y = vectors[k]
        sums = <Sum*>calloc(2 * n, sizeof(Sum))
        if sums == NULL:
            raise MemoryError()
        with nogil:
            add_term(&total, beta[k], &x[0], &y[0], n, &labels[0], sums, sums + n)
        free(sums)
    return total.total + total.error


def sums_by_label(const double[::1] x, const element_t[::1] labels, Py_ssize_t k):
    """The sum of x over the elements of each label, as an array of k numbers. O(n + k)"""
    out = zeros_float64(k)
    cdef double[::1] view = out
    cdef Py_ssize_t a
    cdef Sum* sums = <Sum*>calloc(k + 1, sizeof(Sum))
    if sums == NULL:
        raise MemoryError()
    with nogil:
        for a in range(x.shape[0]):
            add(&sums[labels[a]], x[a])
        for a in range(k):
            view[a] = sums[a].total + sums[a].error
        free(sums)
    return out


def magnitude_of_dense(const cost_t[:, ::1] matrix):
    """The largest sum of absolute finite costs over the pairs of one element, whether any cost is infinite, and the
    largest sum of absolute negative costs."""
    cdef Py_ssize_t n = matrix.shape[0], a, b
    cdef const cost_t* row
    cdef double total, attraction, x, largest = 0.0, attractive = 0.0
    cdef bint infinite = False
    with nogil:
        for a in range(n):
            row = &matrix[a, 0]
            total = attraction = 0.0
            for b in range(n):
                total += fabs(row[b])
                attraction -= row[b] if row[b] < 0.0 else 0.0
            if total == INFINITY:
                total = 0.0
                for b in range(n):
                    x = fabs(row[b])
                    if x == INFINITY:
                        infinite = True
                    else:
                        total += x
            largest = max(largest, total)
            attractive = max(attractive, attraction)
    return largest, infinite, attractive


def magnitude_of_pairs(Py_ssize_t n, const element_t[::1] u, const element_t[::1] v, const cost_t[::1] cost):
    """The same for sorted pairs. Of many, two threads take half of the elements each."""
    total = np.zeros((n, 2))
    cdef Py_ssize_t half = n // 2 if u.shape[0] >= MANY and processors() > 1 else n
    parts = [partial(_magnitudes, 0, half, u, v, cost, total)]
    if half < n:
        parts.append(partial(_magnitudes, half, n, u, v, cost, total))
    largest, infinite, attractive = zip(*side_by_side(*parts))
    return max(largest), any(infinite), max(attractive)


def _magnitudes(
    Py_ssize_t begin, Py_ssize_t end, const element_t[::1] u, const element_t[::1] v, const cost_t[::1] cost,
    double[:, ::1] total
):
    """For elements from `begin` to `end`; `total` is for sums of the finite costs, and of the negative ones."""
    cdef Py_ssize_t k
    cdef double x, largest = 0.0, attractive = 0.0
    cdef bint infinite = False
    with nogil:
        for k in range(u.shape[0]):
            if u[k] >= end:
                break
            x = fabs(cost[k])
            if x == INFINITY:
                infinite = True
                continue
            if u[k] >= begin:
                total[u[k], 0] += x
                if cost[k] < 0.0:
                    total[u[k], 1] += x
            if begin <= v[k] < end:
                total[v[k], 0] += x
                if cost[k] < 0.0:
                    total[v[k], 1] += x
        for k in range(begin, end):
            largest = max(largest, total[k, 0])
            attractive = max(attractive, total[k, 1])
    return largest, infinite, attractive


def symmetrise(cost_t[:, ::1] matrix, double tolerance, double rounding=0.0):
    """Check a matrix and make it exactly symmetric with zero diagonal, in place.

    Returns (row, column, number of non-zero entries above the diagonal): row >= 0 names the first entry that is NaN, or
    that differs from its mirror image by more than `tolerance` times the larger of the two, and by more than `rounding`.
    """
    cdef Py_ssize_t n = matrix.shape[0], a, b, row, column
    cdef long long nonzeros = 0
    cdef double x, y
    for a in range(n):
        matrix[a, a] = 0.0
    for row in range(0, n, BLOCK):
        for column in range(row, n, BLOCK):
            for a in range(row, min(row + BLOCK, n)):
                for b in range(max(column, a + 1), min(column + BLOCK, n)):
                    x = matrix[a, b]
                    y = matrix[b, a]
                    if isnan(x) or isnan(y):
                        return (a, b, 0) if isnan(x) else (b, a, 0)
                    if x != y:
                        if not fabs(x - y) <= max(tolerance * max(fabs(x), fabs(y)), rounding) or not isfinite(x - y):
                            return a, b, 0
                        x = x + 0.5 * (y - x)
                        matrix[a, b] = x
                        matrix[b, a] = x
                    nonzeros += x != 0.0
    return -1, -1, nonzeros


def adjacency(
    Py_ssize_t n, const element_t[::1] u, const element_t[::1] v, const cost_t[::1] cost=None
) -> CompressedRows:
    """The compressed rows of sorted pairs, without costs if none are given; neighbours ascend in each row. O(n + m)

    Of many pairs, two threads take half each: in each row, the entries of the second half follow those of the first.
    """
    cdef Py_ssize_t m = u.shape[0], a, half = m // 2 if m >= MANY and processors() > 1 else m
    cdef bint two = half < m
    starts_array = zeros_int64(n + 1)
    neighbours = empty_int32(2 * m)
    costs = empty_float64(2 * m if cost is not None else 0)
    cdef offset_t[::1] starts = starts_array, first = zeros_int64(n + 1), second = zeros_int64(n + 1 if two else 0)
    cdef offset_t at = 0, counted
    side_by_side(partial(_count, u, v, 0, half, first), partial(_count, u, v, half, m, second), worth=two)
    with nogil:
        for a in range(n):
            counted = first[a]
            starts[a] = first[a] = at
            at += counted
            if two:
                counted = second[a]
                second[a] = at
                at += counted
        starts[n] = at
    side_by_side(
        partial(_fill, u, v, cost, 0, half, first, neighbours, costs),
        partial(_fill, u, v, cost, half, m, second, neighbours, costs),
        worth=two,
    )
    return CompressedRows(starts_array, neighbours, costs)


def _count(
    const element_t[::1] u, const element_t[::1] v, Py_ssize_t begin, Py_ssize_t end, offset_t[::1] counts
) -> None:
    """Count the pairs of each element."""
    cdef Py_ssize_t k
    with nogil:
        for k in range(begin, end):
            counts[u[k]] += 1
            counts[v[k]] += 1


def _fill(
    const element_t[::1] u, const element_t[::1] v, const cost_t[::1] cost, Py_ssize_t begin, Py_ssize_t end,
    offset_t[::1] place, element_t[::1] neighbours, cost_t[::1] costs,
) -> None:
    """Write pairs into the rows of both elements, where each has its next place."""
    cdef Py_ssize_t k
    cdef bint priced = cost is not None
    cdef offset_t at
    with nogil:
        for k in range(begin, end):
            at = place[u[k]]
            place[u[k]] += 1
            neighbours[at] = v[k]
            if priced:
                costs[at] = cost[k]
            at = place[v[k]]
            place[v[k]] += 1
            neighbours[at] = u[k]
            if priced:
                costs[at] = cost[k]


def spread(
    CompressedRows rows, Py_ssize_t most, bint repelling, const element_t[::1] firsts
) -> NDArray[np.int32]:
    """Elements in breadth-first order, along all pairs or those that repel, until more than `most` pairs are within them.

    When no pair leads on, the order goes on from the first of `firsts`, which are all elements, that is not in it.
    O(n), and a step for each pair of an element in the order.
    """
    cdef Py_ssize_t n = rows.view.n, head = 0, tail = 0, start = 0, pairs = 0
    cdef offset_t k
    cdef element_t a, b
    out = empty_int32(n)
    cdef element_t[::1] order = out
    cdef uint8_t[::1] state = zeros_uint8(n)     # 1 while an element waits, 2 after it was taken
    with nogil:
        while pairs <= most and (head < tail or start < n):
            if head == tail:
                if state[firsts[start]] == 0:
                    state[firsts[start]] = 1
                    order[tail] = firsts[start]
                    tail += 1
                start += 1
                continue
            a = order[head]
            head += 1
            state[a] = 2
            for k in range(rows.view.starts[a], rows.view.starts[a + 1]):
                b = rows.view.neighbours[k]
                pairs += state[b] == 2
                if state[b] == 0 and (not repelling or rows.view.costs[k] > 0):
                    state[b] = 1
                    order[tail] = b
                    tail += 1
    return out[:head]


def mark(const index_t[::1] indices, long long low, uint8_t[::1] marks):
    """Set ``marks[index - low]`` to 1 for each index. Several threads may do this."""
    cdef Py_ssize_t k
    with nogil:
        for k in range(indices.shape[0]):
            marks[indices[k] - low] = 1


def entries_at(const index_t[::1] indices, long long low, const element_t[::1] entries) -> NDArray[np.int32]:
    """``entries[indices - low]``."""
    cdef Py_ssize_t k
    out_array = empty_int32(indices.shape[0])
    cdef element_t[::1] out = out_array
    with nogil:
        for k in range(indices.shape[0]):
            out[k] = entries[indices[k] - low]
    return out_array


def sum_between(const cost_t[:, ::1] matrix, const element_t[::1] labels, Py_ssize_t k):
    """The (k, k) matrix of summed costs between the subsets that `labels` names; zero diagonal. O(n^2)."""
    cdef Py_ssize_t n = matrix.shape[0], a, b
    out_array = np.zeros((k, k))
    cdef cost_t[:, ::1] out = out_array
    cdef cost_t* row
    with nogil:
        for a in range(n):
            row = &out[labels[a], 0]
            for b in range(n):
                row[labels[b]] += matrix[a, b]
        for a in range(k):
            out[a, a] = 0.0
            for b in range(a):     # the two sums were computed in different orders
                out[a, b] = out[b, a]
    return out_array


include "_sorted_pairs.pxi"
