"""Kernel of tabu search over moves of one element, on a small matrix of integer costs.

An element-by-subset table holds, in one row per subset, the summed cost of each element to that subset. A step makes
the best allowed move, to any subset or the empty set, also if it raises the cost; ties are broken at random, so that
the search moves across plateaus. For some steps, an element may not move back to the subset that it left, unless this
gives a new best partition. (Swaps, and chains in which one element makes room for another, are two or more such steps.)
After a number of steps without a new best partition, some elements of the best partition move at random, and the search
continues from there.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset

from graphpart.kernels.clones cimport GP_CLONED  # and its macros
from graphpart.kernels.random cimport random_below
from graphpart.kernels.types cimport element_t
from graphpart.stopping cimport Stopping

cdef extern from *:
    """
    /* The least change of cost by an allowed move into the subset of this row; `aspired` is what is always allowed. */
    GP_CLONES
    static int32_t gp_least_change(Py_ssize_t n, const int32_t *GP_RESTRICT row, const int32_t *GP_RESTRICT own,
                                   const int32_t *GP_RESTRICT expiry, int32_t step, int32_t aspired) {
        int32_t least = INT32_MAX;
        Py_ssize_t a;
        for (a = 0; a < n; a++) {
            const int32_t change = row[a] - own[a];
            const int32_t one = ((expiry[a] <= step) | (change < aspired)) ? change : INT32_MAX;
            least = one < least ? one : least;
        }
        return least;
    }

    /* What the costs of one element change by if it leaves subset U for W. */
    GP_CLONES
    static int32_t gp_change_of_cost(Py_ssize_t n, const int32_t *GP_RESTRICT row, const int32_t *GP_RESTRICT label,
                                     int32_t U, int32_t W) {
        int32_t change = 0;
        Py_ssize_t b;
        for (b = 0; b < n; b++)
            change += (row[b] & -(int32_t)(label[b] == W)) - (row[b] & -(int32_t)(label[b] == U));
        return change;
    }
    """
    int32_t least_change "gp_least_change" (
        Py_ssize_t n, const int32_t* row, const int32_t* own, const int32_t* expiry, int32_t step, int32_t aspired
    ) noexcept nogil
    int32_t change_of_cost "gp_change_of_cost" (
        Py_ssize_t n, const int32_t* row, const element_t* label, element_t U, element_t W
    ) noexcept nogil

LARGEST_ROW = 2**29         # sums of absolute costs of one element stay below
cdef int32_t NONE = 2147483647
cdef int32_t NEVER = 2147483646     # when an element may join the subset it is in


cdef struct State:
    Py_ssize_t n, rows
    const int32_t* guide    # the costs by which moves are chosen
    int32_t* table          # (n + 1, n)
    int32_t* expiry         # (n + 1, n): the step from which on a move is allowed again
    int32_t* own
    element_t* label
    element_t* size
    element_t* active       # subsets in use, and last one that is empty
    element_t* place
    Py_ssize_t subsets      # in use
    int64_t cost            # by the guide, since the start
    uint64_t random


cdef void build(State* s) noexcept nogil:
    """Fill the table for labels below n. O(n^2)"""
    cdef Py_ssize_t n = s.n, a, b, U
    cdef const int32_t* row
    cdef int32_t* into
    memset(s.table, 0, (n + 1) * n * sizeof(int32_t))
    memset(s.expiry, 0, (n + 1) * n * sizeof(int32_t))
    memset(s.size, 0, (n + 1) * sizeof(element_t))
    for a in range(n):
        s.size[s.label[a]] += 1
        s.expiry[s.label[a] * n + a] = NEVER
        row = s.guide + a * n
        into = s.table + s.label[a] * n
        for b in range(n):
            into[b] += row[b]
    for a in range(n):
        s.own[a] = s.table[s.label[a] * n + a]
    s.subsets = 0
    for U in range(n + 1):
        if s.size[U] > 0:
            s.place[U] = <element_t>s.subsets
            s.active[s.subsets] = <element_t>U
            s.subsets += 1
    b = s.subsets
    for U in range(n + 1):
        if s.size[U] == 0:
            s.place[U] = <element_t>b
            s.active[b] = <element_t>U
            b += 1


cdef inline void swap_places(State* s, element_t U, Py_ssize_t at) noexcept nogil:
    cdef element_t other = s.active[at]
    s.active[s.place[U]] = other
    s.place[other] = s.place[U]
    s.active[at] = U
    s.place[U] = <element_t>at


cdef void move(State* s, Py_ssize_t a, element_t W, int32_t until) noexcept nogil:
    """Move element a to subset W; it may go back from step `until` on. O(n)"""
    cdef Py_ssize_t n = s.n, b
    cdef element_t U = s.label[a]
    cdef const int32_t* row = s.guide + a * n
    cdef int32_t* from_row = s.table + U * n
    cdef int32_t* into_row = s.table + W * n
    s.cost += into_row[a] - s.own[a]
    for b in range(n):
        from_row[b] -= row[b]
        into_row[b] += row[b]
        s.own[b] += (row[b] if s.label[b] == W else 0) - (row[b] if s.label[b] == U else 0)
    s.label[a] = W
    s.own[a] = into_row[a]
    s.expiry[U * n + a] = until
    s.expiry[W * n + a] = NEVER
    s.size[U] -= 1
    s.size[W] += 1
    if s.size[W] == 1:              # it was the first empty one
        s.subsets += 1
    if s.size[U] == 0:
        s.subsets -= 1
        swap_places(s, U, s.subsets)
        for b in range(n):          # an empty subset is any empty subset: nothing about it is forbidden
            if s.expiry[U * n + b] != NEVER:
                s.expiry[U * n + b] = 0


cdef bint best_move(State* s, int32_t step, int64_t aspired, Py_ssize_t* element, element_t* target) noexcept nogil:
    """One of the best allowed moves, at random; whether there is any. O(n k) for k subsets"""
    cdef Py_ssize_t n = s.n, i, a, found = 0
    cdef int32_t least = NONE, change, low, wished = <int32_t>max(min(aspired, <int64_t>NONE), -<int64_t>NONE)
    cdef element_t U
    cdef const int32_t* row
    cdef const int32_t* expiry
    for i in range(s.subsets + 1):
        U = s.active[i]
        if i < s.subsets:
            low = least_change(n, s.table + U * n, s.own, s.expiry + U * n, step, wished)
        else:
            low = NONE
            for a in range(n):
                if s.size[s.label[a]] > 1 and (s.expiry[U * n + a] <= step or -s.own[a] < wished):
                    low = min(low, -s.own[a])
        if low < least:
            least = low
            found = 0
        if low > least or low == NONE:
            continue
        row, expiry = s.table + U * n, s.expiry + U * n
        for a in range(n):
            change = row[a] - s.own[a]
            if change != least or expiry[a] == NEVER or (expiry[a] > step and change >= wished):
                continue
            if i == s.subsets and s.size[s.label[a]] == 1:
                continue
            found += 1
            if found == 1 or random_below(&s.random, found) == 0:
                element[0] = a
                target[0] = U
    return found > 0


def tabu_search(
    const int32_t[:, ::1] matrix,
    const int32_t[:, :, ::1] guides,
    const element_t[::1] labels,
    long long steps,
    int tenure,
    int patience,
    unsigned long long seed,
    double cost,
    double scale,
    Stopping stopping,
):
    """The best labels after so many steps from labels below n, their cost less that of the start, and the work.

    Parameters
    ----------
    matrix : ndarray of int32, shape (n, n)
        Symmetric, zero diagonal; the sum of absolute costs of each row below ``LARGEST_ROW``.
    guides : ndarray of int32, shape (g, n, n)
        Like it, with large costs lowered. Moves are chosen by one of them, another one after each start at random.
    labels : ndarray of int32, shape (n,)
    steps : int
    tenure : int
        Steps during which an element may not go back; up to as many more at random.
    patience : int
        Steps without a new best partition, before elements move at random.
    seed : int
    cost, scale : float
        Of the start, and integers in a cost of 1; they serve `stopping` only.
    stopping : Stopping

    Returns
    -------
    labels : ndarray of int32, shape (n,)
    gain : float
    work : int
        Entries of the table that were looked at.
    """
    cdef Py_ssize_t n = matrix.shape[0], a = 0
    cdef uint64_t k
    cdef State s
    cdef element_t[::1] label = np.array(labels, np.int32), best = np.array(labels, np.int32)
    cdef element_t[::1] local = np.array(labels, np.int32)
    cdef element_t[::1] size = np.zeros(n + 1, np.int32), active = np.zeros(n + 1, np.int32)
    cdef element_t[::1] place = np.zeros(n + 1, np.int32)
    cdef int32_t[::1] own = np.zeros(n, np.int32)
    cdef int32_t[:, ::1] table = np.zeros((n + 1, n), np.int32), expiry = np.zeros((n + 1, n), np.int32)
    cdef int64_t here = 0, best_cost = 0, local_cost = 0, least = 0, work = 0
    cdef long long t
    cdef int32_t step = 0, stale = 0
    cdef element_t W = 0
    cdef bint ended = False
    if n < 2:
        return np.array(labels), 0.0, 0
    with nogil:
        s.n = n
        s.guide = &guides[0, 0, 0]
        s.table, s.expiry, s.own = &table[0, 0], &expiry[0, 0], &own[0]
        s.label, s.size, s.active, s.place = &label[0], &size[0], &active[0], &place[0]
        s.random = seed
        s.cost = 0
        build(&s)
        for t in range(steps):
            step += 1
            work += (s.subsets + 3) * n
            # What a move has to change the cost by for a new best partition since the last start.
            if best_move(&s, step, least - s.cost, &a, &W):
                here += change_of_cost(n, &matrix[a, 0], s.label, s.label[a], W)
                move(&s, a, W, step + tenure + <int32_t>random_below(&s.random, tenure + 1))
            stale += 1
            if s.cost < least:
                least = s.cost
                stale = 0
            if here < local_cost:
                local_cost = here
                local[:] = label
                stale = 0
            if here < best_cost:
                best_cost = here
                best[:] = label
            if stale >= patience:
                if local_cost <= best_cost or random_below(&s.random, 4) == 0:
                    label[:] = local
                    here = local_cost
                else:
                    label[:] = best
                    here = best_cost
                s.guide = &guides[random_below(&s.random, guides.shape[0]), 0, 0]
                s.cost = 0
                build(&s)
                work += n * n
                step = stale = 0
                for k in range(2 + random_below(&s.random, 1 + n // 4)):
                    a = random_below(&s.random, n)
                    W = s.active[random_below(&s.random, s.subsets + 1)]
                    if W != s.label[a] and (s.size[W] > 0 or s.size[s.label[a]] > 1):
                        here += change_of_cost(n, &matrix[a, 0], s.label, s.label[a], W)
                        move(&s, a, W, tenure)
                least = s.cost
                local_cost = here
                local[:] = label
            if stopping.poll(cost + best_cost / scale):
                ended = True
                break
    return np.array(best), best_cost / scale, work
