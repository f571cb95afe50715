"""Kernel of brute force: restricted growth strings in lexicographic order, depth first.

Element t joins one of the k subsets of the elements before it, or opens subset k. For every free element a and subset U
the kernel keeps ``between[a, U]``, the cost between them. A node is cut off if no completion can beat the best leaf:

    cost so far + sum over free a of min(0, min over U of between[a, U]) + sum over free pairs of min(0, c)

If subsets have to be connected, a node is cut off if the placed elements of some subset are not connected among
themselves and the free elements.

Subsets have at most a given number of elements, and an element may stand for several. A node is cut off if it has too
many subsets, or if the free elements are too few for the missing subsets.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from graphpart.kernels._arrays cimport zeros_int32
from graphpart.kernels.types cimport cost_t, element_t
from graphpart.stopping cimport Stopping

cdef enum:
    LARGEST = 14


cdef struct Search:
    int n
    int64_t most_elements, least, most         # most elements of a subset; limits of the number of subsets
    int64_t weight[LARGEST]                    # number of elements that each element stands for
    int64_t size[LARGEST]                      # of each subset
    double tolerance
    double best                                # cost of the best leaf
    double cost[LARGEST][LARGEST]
    bint connected                             # whether subsets have to be connected
    int linked[LARGEST]                        # the elements that base pairs link to each element, as bits
    int member[LARGEST]                        # the placed elements of each subset, as bits
    double free_pairs[LARGEST + 1]             # the sum of negative costs among the elements t..n-1
    double between[LARGEST][LARGEST]
    element_t label[LARGEST]
    element_t best_label[LARGEST]


def enumerate_partitions(
    const cost_t[:, ::1] matrix,
    double tolerance,
    Stopping stopping,
    const int64_t[::1] weight,
    int64_t most_elements,
    int64_t least,
    int64_t most,
    const element_t[:, ::1] links=None,
):
    """Labels of a cheapest partition for n <= 14; on ties the lexicographically first. None if no partition is allowed.

    A partition counts as cheaper if its cost is lower by more than `tolerance`. When stopped early, the labels of the
    best partition so far, or None. The first partition is one subset of all elements, or as close to it as required
    cuts allow. Elements stand for `weight` elements; a subset has at most `most_elements`, and there are `least` to
    `most` subsets. With base pairs in the rows of `links`, these must connect each subset.
    """
    cdef int n = <int>matrix.shape[0], a, b
    if n > LARGEST:
        raise ValueError(f"{n} elements: expected at most {LARGEST}")
    cdef Search s
    s.n = n
    s.tolerance = tolerance
    s.most_elements, s.least, s.most = most_elements, least, most
    s.best = INFINITY
    s.connected = links is not None
    s.free_pairs[n] = 0.0
    for a in range(n - 1, -1, -1):
        s.free_pairs[a] = s.free_pairs[a + 1]
        s.weight[a], s.size[a] = weight[a], 0
        s.linked[a] = s.member[a] = 0
        for b in range(n):
            s.cost[a][b] = matrix[a, b]
            s.between[a][b] = 0.0
            if b > a:
                s.free_pairs[a] += min(0.0, matrix[a, b])
    for a in range(links.shape[0] if s.connected else 0):
        s.linked[links[a, 0]] |= 1 << links[a, 1]
        s.linked[links[a, 1]] |= 1 << links[a, 0]
    labels = zeros_int32(n)
    cdef element_t[::1] out = labels
    with nogil:
        if n > 0:
            place(&s, 0, 0, 0.0, stopping)
        for a in range(n if s.best < INFINITY else 0):
            out[a] = s.best_label[a]
    return labels if s.best < INFINITY or not n else None


cdef bint linkable(Search* s, int k, int free) noexcept nogil:
    """Whether each of k subsets is connected by base pairs, with the help of free elements."""
    cdef int U, a, reached, fresh, inside
    for U in range(k):
        inside = s.member[U] | free
        reached = fresh = s.member[U] & -s.member[U]
        while fresh and s.member[U] & ~reached:
            a = 0
            while not (fresh >> a) & 1:
                a += 1
            fresh ^= 1 << a
            fresh |= s.linked[a] & inside & ~reached
            reached |= s.linked[a] & inside
        if s.member[U] & ~reached:
            return False
    return True


cdef bint place(Search* s, int t, int k, double cost, Stopping stopping) noexcept nogil:
    """Try all subsets for element t, given k subsets and the cost so far; True if the run has to end."""
    cdef int a, U, V
    cdef double total, bound, x, least
    cdef double saved[LARGEST]
    for U in range(k + 1):
        if s.size[U] + s.weight[t] > s.most_elements or (U == k and k == s.most):
            continue
        if k + (U == k) + s.n - 1 - t < s.least:
            continue
        if U < k:
            total = cost + s.between[t][U]
            if total == INFINITY:
                continue
        else:
            total = cost
        if s.connected:
            s.member[U] |= 1 << t
            if not linkable(s, max(k, U + 1), ((1 << s.n) - 1) ^ ((2 << t) - 1)):
                s.member[U] ^= 1 << t
                continue
            s.member[U] ^= 1 << t
        if t == s.n - 1:
            if total < s.best - s.tolerance or s.best == INFINITY:
                s.best = total
                memcpy(s.best_label, s.label, sizeof(s.label))
                s.best_label[t] = U
            continue
        bound = total + s.free_pairs[t + 1]
        for a in range(t + 1, s.n):
            saved[a] = s.between[a][U]
            x = s.cost[t][a] if U == k else saved[a] + s.cost[t][a]
            s.between[a][U] = x
            least = min(x, 0.0)
            for V in range(k):
                least = min(least, s.between[a][V])
            bound += least
        if bound < s.best - s.tolerance or s.best == INFINITY:
            s.label[t] = U
            s.size[U] += s.weight[t]
            s.member[U] |= 1 << t
            if stopping.tick(s.best) or place(s, t + 1, max(k, U + 1), total, stopping):
                return True
            s.size[U] -= s.weight[t]
            s.member[U] ^= 1 << t
        for a in range(t + 1, s.n):
            s.between[a][U] = saved[a]
    return False
