"""Kernel of brute force: clusters and classes of one element after the other, depth first.

Element t joins one of the clusters of the elements before it, or opens the next one, and takes one of the classes. A
node is cut off if its cost plus a lower bound on the costs of later elements and pairs is no better than the best
solution found.
"""

from libc.math cimport INFINITY

from graphpart.kernels._arrays cimport empty_int32
from graphpart.kernels.types cimport cost_t, element_t
from graphpart.stopping cimport Stopping

cdef enum:
    LARGEST = 24


cdef struct Search:
    int n, classes
    double tolerance, best
    const cost_t* own           # (n, L)
    const cost_t* joined        # (n, n, L, L); for elements s < t at [s, t]
    const cost_t* parted
    const cost_t* rest          # (n + 1,): least costs of the elements t, ..., n - 1 and their pairs with earlier ones
    element_t label[LARGEST]
    element_t chosen[LARGEST]
    element_t best_label[LARGEST]
    element_t best_chosen[LARGEST]
    bint found, ended


cdef void place(Search* s, int t, int used, double cost, Stopping stopping) noexcept nogil:
    """Place the elements t, ..., n - 1 in all ways, where `used` clusters are there."""
    cdef int c, k, e
    cdef double more
    cdef Py_ssize_t at
    if stopping.tick(s.best):
        s.ended = True
        return
    if t == s.n:
        s.best, s.found = cost, True
        for e in range(s.n):
            s.best_label[e], s.best_chosen[e] = s.label[e], s.chosen[e]
        return
    for c in range(used + 1):
        for k in range(s.classes):
            more = s.own[t * s.classes + k]
            for e in range(t):
                at = (<Py_ssize_t>(e * s.n + t) * s.classes + s.chosen[e]) * s.classes + k
                more += s.joined[at] if s.label[e] == c else s.parted[at]
            if not cost + more + s.rest[t + 1] < s.best - s.tolerance:
                continue
            s.label[t], s.chosen[t] = c, k
            place(s, t + 1, used + (c == used), cost + more, stopping)
            if s.ended:
                return


def enumerate_solutions(
    const cost_t[:, ::1] own,
    const cost_t[:, :, :, ::1] joined,
    const cost_t[:, :, :, ::1] parted,
    const cost_t[::1] rest,
    double tolerance,
    Stopping stopping,
):
    """(labels, classes) of least cost, the first of equals; None if none is allowed or found in time.

    Tables are those of elements s < t at [s, t], with zeros where no pair is listed. `rest` has a lower bound on the
    costs of the elements from t on, and of their pairs.
    """
    cdef Search s
    s.n, s.classes = <int>own.shape[0], <int>own.shape[1]
    if s.n > LARGEST:
        raise ValueError(f"{s.n} elements: expected at most {LARGEST}")
    s.tolerance, s.best = tolerance, INFINITY
    s.own, s.rest = &own[0, 0], &rest[0]
    s.joined, s.parted = &joined[0, 0, 0, 0], &parted[0, 0, 0, 0]
    s.found = s.ended = False
    with nogil:
        place(&s, 0, 0, 0.0, stopping)
    if not s.found:
        return None
    labels, classes = empty_int32(s.n), empty_int32(s.n)
    for t in range(s.n):
        labels[t], classes[t] = s.best_label[t], s.best_chosen[t]
    return labels, classes
