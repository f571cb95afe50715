"""Kernels over all subsets of few elements: the least cost with each pair joined or apart, and the best split in two.

Both go through some of the groups that elements are sorted into, ``order[first[g]:first[g + 1]]``; pairs within a
group are looked up in rows.
"""

import numpy as np

from libc.math cimport INFINITY

from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.stopping cimport Stopping

cdef enum:
    AGAIN = 63      # splits after which a sum is formed anew


cdef Py_ssize_t matrix_of_group(
    const offset_t* order, Py_ssize_t n, const offset_t* starts, const element_t* neighbours, const cost_t* costs,
    element_t* place, cost_t* matrix,
) noexcept nogil:
    """The costs between the elements of a group as a matrix; place[a] becomes the place of each in it."""
    cdef Py_ssize_t i
    cdef offset_t at
    cdef element_t a
    for i in range(n * n):
        matrix[i] = 0.0
    for i in range(n):
        place[order[i]] = <element_t>i
    for i in range(n):
        a = <element_t>order[i]
        for at in range(starts[a], starts[a + 1]):
            if place[neighbours[at]] >= 0:
                matrix[n * i + place[neighbours[at]]] = costs[at]
    return n


cdef inline void forget(const offset_t* order, Py_ssize_t n, element_t* place) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        place[order[i]] = -1


cdef double least_costs(
    Py_ssize_t n, const cost_t* matrix, double* within, double* least, double* joined, double* apart,
) noexcept nogil:
    """The least cost of all partitions; into `joined` and `apart`, of those with each pair together, and not. O(3^n)

    within[S] is the cost of a set as one subset, least[S] the least cost of its partitions, where the subset of the
    smallest element is any that holds it (as Lawler 1976 did for colourings). In every partition with a and b together
    there is a subset B with both, and at best the others cost least[A - B]; apart, a subset with a and not b.
    """
    cdef Py_ssize_t size = <Py_ssize_t>1 << n, S, B, rest, low, a, b
    cdef double x, best
    within[0] = least[0] = 0.0
    for S in range(1, size):
        low = 0
        while not (S >> low) & 1:
            low += 1
        rest = S ^ (<Py_ssize_t>1 << low)
        x = within[rest]
        for b in range(low + 1, n):
            if (S >> b) & 1:
                x += matrix[n * low + b]
        within[S] = x
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


def exact_rises(
    const offset_t[::1] order,
    const offset_t[::1] first,
    const offset_t[::1] wanted,
    Py_ssize_t largest,
    const offset_t[::1] starts,
    const element_t[::1] neighbours,
    const cost_t[::1] costs,
    const element_t[::1] labels,
    double[::1] rises,
    unsigned char[::1] exact,
    double[::1] gains,
    Stopping stopping,
):
    """For pairs within the wanted groups, by how much the least cost of the group rises if they are decided otherwise.

    Into rises[k] and exact[k] for pair k; into gains[w] what the least cost of group wanted[w] is above that of the
    labels, never positive. `largest` is the size of the largest wanted group. The groups are components: nothing
    outside matters.
    """
    cdef Py_ssize_t n, w, i, j, elements = labels.shape[0], a, b
    cdef offset_t at, k
    cdef double now, least
    cdef double[::1] matrix = np.empty(largest * largest + 1), joined = np.empty(largest * largest + 1)
    cdef double[::1] apart = np.empty(largest * largest + 1)
    cdef double[::1] within = np.empty(1 << largest), leasts = np.empty(1 << largest)
    cdef element_t[::1] place = np.full(elements + 1, -1, np.int32)
    cdef offset_t[::1] pair = np.zeros(elements + 1, np.int64)      # the first pair of a with a larger element
    cdef const offset_t* mine
    with nogil:
        k = 0
        for a in range(elements):
            pair[a] = k
            for at in range(starts[a], starts[a + 1]):
                k += neighbours[at] > a
        for w in range(wanted.shape[0]):
            mine = &order[first[wanted[w]]]
            n = first[wanted[w] + 1] - first[wanted[w]]
            matrix_of_group(mine, n, &starts[0], &neighbours[0], &costs[0], &place[0], &matrix[0])
            least = least_costs(n, &matrix[0], &within[0], &leasts[0], &joined[0], &apart[0])
            now = 0.0
            for i in range(n):
                for j in range(i):
                    if labels[mine[i]] == labels[mine[j]]:
                        now += matrix[n * i + j]
            gains[w] = least - now
            for i in range(n):
                a = mine[i]
                k = pair[a]
                for at in range(starts[a], starts[a + 1]):
                    b = neighbours[at]
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


def best_splits(
    const offset_t[::1] order,
    const offset_t[::1] first,
    const offset_t[::1] wanted,
    Py_ssize_t largest,
    const offset_t[::1] starts,
    const element_t[::1] neighbours,
    const cost_t[::1] costs,
    double[::1] split,
    element_t[::1] split_size,
    unsigned char[::1] exact,
    Stopping stopping,
):
    """The best split of each wanted group in two: into split[g] the least rise, minus the sum of the costs across.

    Into split_size[g] the number of elements that leave, the fewer of the two. Splits follow each other by one element
    (Gray 1953), O(n 2^n); sums are formed anew from time to time, so that rounding does not add up.
    """
    cdef Py_ssize_t n, w, i, j, step, leaving, fewest
    cdef double across, best
    cdef double[::1] matrix = np.empty(largest * largest + 1)
    cdef element_t[::1] place = np.full(starts.shape[0], -1, np.int32), side = np.zeros(largest + 1, np.int32)
    cdef const offset_t* mine
    with nogil:
        for w in range(wanted.shape[0]):
            mine = &order[first[wanted[w]]]
            n = first[wanted[w] + 1] - first[wanted[w]]
            matrix_of_group(mine, n, &starts[0], &neighbours[0], &costs[0], &place[0], &matrix[0])
            across = 0.0
            best = INFINITY
            leaving = fewest = 0
            for i in range(n):
                side[i] = 0
            for step in range(1, <Py_ssize_t>1 << (n - 1)):
                i = 0
                while not (step >> i) & 1:
                    i += 1
                for j in range(n):
                    if j != i:
                        across += matrix[n * i + j] if side[j] == side[i] else -matrix[n * i + j]
                side[i] = 1 - side[i]
                leaving += 1 if side[i] else -1
                if (step & AGAIN) == 0:
                    across = 0.0
                    for i in range(n):
                        for j in range(i):
                            if side[i] != side[j]:
                                across += matrix[n * i + j]
                if -across < best:
                    best = -across
                    fewest = min(leaving, n - leaving)
            split[wanted[w]] = best
            split_size[wanted[w]] = <element_t>fewest
            exact[wanted[w]] = True
            forget(mine, n, &place[0])
            if n > 12 or (w & 255) == 0:
                if stopping.tick(INFINITY):
                    break
