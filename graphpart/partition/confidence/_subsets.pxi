"""Kernels over all subsets of few elements: the least cost with each pair joined or apart, and the best split in two.

Both process selected groups of elements.
"""

import numpy as np

from libc.math cimport INFINITY

from graphpart.kernels._arrays cimport empty_float64, full_float64, full_int32, zeros_int32, zeros_int64
from graphpart.kernels._pairs cimport CompressedRows, RowView
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.stopping cimport Stopping


cdef void matrix_of_group(
    const offset_t* order, Py_ssize_t n, RowView rows, element_t* place, cost_t* matrix
) noexcept nogil:
    """The costs between the elements of a group as a matrix; place[a] becomes the row of element a."""
    cdef Py_ssize_t i
    cdef offset_t at
    cdef element_t a
    for i in range(n * n):
        matrix[i] = 0.0
    for i in range(n):
        place[order[i]] = <element_t>i
    for i in range(n):
        a = <element_t>order[i]
        for at in range(rows.starts[a], rows.starts[a + 1]):
            if place[rows.neighbours[at]] >= 0:
                matrix[n * i + place[rows.neighbours[at]]] = rows.costs[at]


cdef inline void forget(const offset_t* order, Py_ssize_t n, element_t* place) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        place[order[i]] = -1


cdef struct Allowed:
    const offset_t* weight      # of each element
    offset_t heaviest           # largest weight of a subset; 0 if there is no limit
    bint connected              # whether links have to connect each subset
    offset_t* links             # the elements of a group that base pairs link to each element, as bits


cdef bint is_allowed(Py_ssize_t n, Py_ssize_t S, const offset_t* mine, const Allowed* allowed) noexcept nogil:
    """Whether a set of elements, as bits, may be a subset; mine[i] is the element with bit i."""
    cdef Py_ssize_t reached = S & -S, waiting = reached, a
    cdef offset_t total = 0
    if allowed.heaviest:
        for a in range(n):
            if (S >> a) & 1:
                total += allowed.weight[mine[a]]
        if total > allowed.heaviest:
            return False
    if allowed.connected:
        while waiting:
            a = 0
            while not (waiting >> a) & 1:
                a += 1
            waiting = (waiting & (waiting - 1)) | (allowed.links[a] & S & ~reached)
            reached |= allowed.links[a] & S
        return reached == S
    return True


cdef double least_costs(
    Py_ssize_t n, const cost_t* matrix, const offset_t* mine, const Allowed* allowed, double* sums, double* within,
    double* least, double* joined, double* apart,
) noexcept nogil:
    """The least cost of all partitions; `joined` and `apart` become the least costs with each pair together, and not.
    O(3^n)

    within[S] is the cost of a set as one subset, inf if it is not allowed; sums[S] is the same without this check.
    least[S] is the least cost of all partitions of S: the minimum over the subset that contains its smallest element
    (as Lawler 1976 did for colourings). If a and b are together, some subset B contains both, and the other elements
    cost at least least[A - B]. If they are apart, some subset contains a and not b.
    """
    cdef Py_ssize_t size = <Py_ssize_t>1 << n, S, B, rest, low, a, b
    cdef double x, best
    sums[0] = within[0] = least[0] = 0.0
    for S in range(1, size):
        low = 0
        while not (S >> low) & 1:
            low += 1
        rest = S ^ (<Py_ssize_t>1 << low)
        x = sums[rest]
        for b in range(low + 1, n):
            if (S >> b) & 1:
                x += matrix[n * low + b]
        sums[S] = x
        within[S] = x if is_allowed(n, S, mine, allowed) else INFINITY
        best = INFINITY
        B = rest
        while True:
            x = within[B | (<Py_ssize_t>1 << low)] + least[rest ^ B]
            if x < best:
                best = x
            if B == 0:
                break
            B = (B - 1) & rest
        least[S] = best
    for a in range(n * n):
        joined[a] = apart[a] = INFINITY
    for B in range(1, size):
        x = within[B] + least[(size - 1) ^ B]
        for a in range(n):
            if (B >> a) & 1:
                for b in range(n):
                    if (B >> b) & 1:
                        if x < joined[n * a + b]:
                            joined[n * a + b] = x
                    elif x < apart[n * a + b]:
                        apart[n * a + b] = x
    return least[size - 1]


cdef class SmallGroups:
    """Some groups of few elements.

    Parameters
    ----------
    rows : CompressedRows
        The pairs of all elements.
    order, first : ndarray of int64
        The elements of group g are ``order[first[g]:first[g + 1]]``.
    wanted : ndarray of int64
        The groups to look at.
    weight, heaviest : ndarray of int64, int
        The weight of each element, and the largest weight of a subset; 0 if there is no limit.
    lifted : ndarray of uint8, optional
        1 for each entry of the rows that connects no subset, if entries of a finite cost have to.
    """

    cdef CompressedRows rows
    cdef const offset_t[::1] order, first, wanted, weight
    cdef offset_t heaviest
    cdef const unsigned char[::1] lifted
    cdef Py_ssize_t largest         # elements of a wanted group

    def __init__(self, CompressedRows rows not None, const offset_t[::1] order, const offset_t[::1] first,
                 const offset_t[::1] wanted, const offset_t[::1] weight, offset_t heaviest=0,
                 const unsigned char[::1] lifted=None):
        cdef Py_ssize_t w
        self.rows, self.order, self.first, self.wanted, self.largest = rows, order, first, wanted, 0
        self.weight, self.heaviest, self.lifted = weight, heaviest, lifted
        for w in range(wanted.shape[0]):
            self.largest = max(self.largest, first[wanted[w] + 1] - first[wanted[w]])

    def exact_rises(
        self, const element_t[::1] labels, double[::1] rises, unsigned char[::1] exact, Stopping stopping
    ) -> NDArray[np.float64]:
        """For pairs within the groups, the rise of the least cost of the group if the pair is decided otherwise.

        Writes rises[k] and exact[k] for pair k. Returns for each wanted group its least cost minus the cost of the
        labels: never positive, or NaN if the time was over. No cluster, neither of the labels nor of an optimum,
        contains elements both inside and outside of a group. Groups may overlap.
        """
        cdef Py_ssize_t n, w, i, j, elements = labels.shape[0], a, b, largest = self.largest
        cdef offset_t at, k
        cdef double now, least
        gains_array = full_float64(self.wanted.shape[0], np.nan)
        cdef double[::1] gains = gains_array
        cdef double[::1] matrix = empty_float64(largest * largest + 1), joined = empty_float64(largest * largest + 1)
        cdef double[::1] apart = empty_float64(largest * largest + 1)
        cdef double[::1] within = empty_float64(1 << largest), leasts = empty_float64(1 << largest)
        cdef double[::1] sums = empty_float64(1 << largest)
        cdef offset_t[::1] links = zeros_int64(largest + 1)
        cdef Allowed allowed
        cdef element_t[::1] place = full_int32(elements + 1, -1)
        cdef offset_t[::1] pair = zeros_int64(elements + 1)      # the first pair of a with a larger element
        cdef const offset_t* mine
        cdef RowView r = self.rows.view
        allowed.weight, allowed.heaviest = &self.weight[0] if elements else NULL, self.heaviest
        allowed.connected, allowed.links = self.lifted is not None, &links[0]
        with nogil:
            k = 0
            for a in range(elements):
                pair[a] = k
                for at in range(r.starts[a], r.starts[a + 1]):
                    k += r.neighbours[at] > a
            for w in range(self.wanted.shape[0]):
                mine = &self.order[self.first[self.wanted[w]]]
                n = self.first[self.wanted[w] + 1] - self.first[self.wanted[w]]
                matrix_of_group(mine, n, r, &place[0], &matrix[0])
                if allowed.connected:
                    for i in range(n):
                        links[i] = 0
                        for at in range(r.starts[mine[i]], r.starts[mine[i] + 1]):
                            if place[r.neighbours[at]] >= 0 and not self.lifted[at] and r.costs[at] < INFINITY:
                                links[i] |= <offset_t>1 << place[r.neighbours[at]]
                least = least_costs(
                    n, &matrix[0], mine, &allowed, &sums[0], &within[0], &leasts[0], &joined[0], &apart[0])
                now = 0.0
                for i in range(n):
                    for j in range(i):
                        if labels[mine[i]] == labels[mine[j]]:
                            now += matrix[n * i + j]
                gains[w] = least - now
                for i in range(n):
                    a = mine[i]
                    k = pair[a]
                    for at in range(r.starts[a], r.starts[a + 1]):
                        b = r.neighbours[at]
                        if b > a:
                            j = place[b]
                            if j >= 0:
                                rises[k] = (apart[n * i + j] if labels[a] == labels[b] else joined[n * i + j]) - now
                                exact[k] = True
                            k += 1
                forget(mine, n, &place[0])
                if n > 12 or (w & 255) == 0:
                    if stopping.tick(INFINITY):
                        break
        return gains_array

    def best_splits(self, double[::1] split, element_t[::1] split_size, unsigned char[::1] exact, Stopping stopping):
        """The best split of each group in two: split[g] becomes the least rise, minus the sum of the costs across.

        split_size[g] becomes the weight of the lighter part. Successive splits differ by one element (Gray 1953), O(n
        2^n). Sums are recomputed from time to time, so that rounding errors do not add up.
        """
        cdef Py_ssize_t n, w, i, j, step, leaving, fewest, whole, largest = self.largest
        cdef double across, best
        cdef double[::1] matrix = empty_float64(largest * largest + 1)
        cdef element_t[::1] place = full_int32(self.rows.view.n + 1, -1), side = zeros_int32(largest + 1)
        cdef const offset_t* mine
        with nogil:
            for w in range(self.wanted.shape[0]):
                mine = &self.order[self.first[self.wanted[w]]]
                n = self.first[self.wanted[w] + 1] - self.first[self.wanted[w]]
                matrix_of_group(mine, n, self.rows.view, &place[0], &matrix[0])
                across = 0.0
                best = INFINITY
                leaving = fewest = whole = 0
                for i in range(n):
                    side[i] = 0
                    whole += self.weight[mine[i]]
                for step in range(1, <Py_ssize_t>1 << (n - 1)):
                    i = 0
                    while not (step >> i) & 1:
                        i += 1
                    for j in range(n):
                        if j != i:
                            across += matrix[n * i + j] if side[j] == side[i] else -matrix[n * i + j]
                    side[i] = 1 - side[i]
                    leaving += self.weight[mine[i]] if side[i] else -self.weight[mine[i]]
                    if (step & 63) == 0:
                        across = 0.0
                        for i in range(n):
                            for j in range(i):
                                if side[i] != side[j]:
                                    across += matrix[n * i + j]
                    if -across < best:
                        best = -across
                        fewest = min(leaving, whole - leaving)
                split[self.wanted[w]] = best
                split_size[self.wanted[w]] = <element_t>fewest
                exact[self.wanted[w]] = True
                forget(mine, n, &place[0])
                if n > 12 or (w & 255) == 0:
                    if stopping.tick(INFINITY):
                        break
