"""Kernels of greedy moving and of its Kernighan-Lin form, on a matrix of costs.

An element-by-subset table holds, in one row per subset, the summed cost of each element to that subset. A move changes
two of its rows by one row of the matrix. Each element keeps the smallest value of its column over the subsets that it is
not in, and the place of this value. When the value grows, the old one stays as a lower bound. The column is scanned again
only when the element comes first. Of few subsets, all values are compared after each move instead, many at once: a move
then changes the best moves of most elements, and branches could not be predicted. With pairs that must be cut, a second table counts them, and a subset with a positive
count is no target. All sums are exact, in fixed point (see kernels/fixed.pxd).
"""

import numpy as np

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY
from libc.stdint cimport INT64_MAX
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from graphpart.kernels._arrays cimport empty_int32, zeros_int32, zeros_int64, zeros_int8
from graphpart.kernels.clones cimport GP_CLONED  # and its macros
from graphpart.kernels.fixed cimport fixed, fixed_t, scale_for
from graphpart.kernels.types cimport cost_t, element_t
from graphpart.stopping cimport Stopping

# These loops are in C so that GP_CLONES applies to them, and compilers can vectorise them.
cdef extern from *:
    """
    /* Let `low` be at most the cost to a subset, of each element that is in another one. */
    GP_CLONES
    static void gp_lower(Py_ssize_t n, int64_t *GP_RESTRICT low, const int64_t *GP_RESTRICT row,
                         const int32_t *GP_RESTRICT label, int32_t subset) {
        Py_ssize_t k;
        for (k = 0; k < n; k++) {
            const int64_t x = label[k] == subset ? INT64_MAX : row[k];
            low[k] = x < low[k] ? x : low[k];
        }
    }

    /* Let `own` be the cost to a subset, of each element that is in it. */
    GP_CLONES
    static void gp_own(Py_ssize_t n, int64_t *GP_RESTRICT own, const int64_t *GP_RESTRICT row,
                       const int32_t *GP_RESTRICT label, int32_t subset) {
        Py_ssize_t k;
        for (k = 0; k < n; k++) own[k] = label[k] == subset ? row[k] : own[k];
    }

    /* The changes of cost by best moves; INT64_MAX without one. */
    GP_CLONES
    static void gp_rate(Py_ssize_t n, int64_t *GP_RESTRICT delta, const int64_t *GP_RESTRICT low,
                        const int64_t *GP_RESTRICT own, const char *GP_RESTRICT done) {
        Py_ssize_t k;
        for (k = 0; k < n; k++) delta[k] = done[k] || low[k] == INT64_MAX ? INT64_MAX : low[k] - own[k];
    }
    """
    void gp_lower(Py_ssize_t, fixed_t*, const fixed_t*, const element_t*, element_t) noexcept nogil
    void gp_own(Py_ssize_t, fixed_t*, const fixed_t*, const element_t*, element_t) noexcept nogil
    void gp_rate(Py_ssize_t, fixed_t*, const fixed_t*, const fixed_t*, const char*) noexcept nogil

cdef fixed_t NONE = INT64_MAX       # the cost of a forbidden move

cdef enum:
    FEW = 24        # subsets up to which all are compared after each move


cdef struct State:
    Py_ssize_t n
    const cost_t* matrix
    double scale                # fixed-point units in a cost of 1
    element_t* label            # subset of each element
    element_t* size             # number of elements of each subset; 0 for a free one
    Py_ssize_t subsets          # subsets in use have smaller numbers
    Py_ssize_t free_subset      # the smallest free one, at most `subsets`
    Py_ssize_t capacity         # rows of the tables
    fixed_t* table               # (capacity, n): cost of each element to each subset
    element_t* cuts             # (capacity, n): number of required cuts; NULL without any
    fixed_t* own                 # cost of each element to its own subset
    fixed_t* low                 # lower bound on its cost to another subset
    element_t* target           # the subset at this cost, if not loose; the first one on ties
    char* loose
    char* done                  # may not move any more in this sequence
    fixed_t* delta               # lower bound on the change of cost by its best move; NONE once done
    bint failed


# Two moves compare by (delta, element); of one element's targets an existing subset precedes the empty set on ties.

cdef inline fixed_t to_empty(State* s, element_t a) noexcept nogil:
    return 0 if s.size[s.label[a]] > 1 else NONE


cdef void scan(State* s, element_t a) noexcept nogil:
    """Find the smallest cost of an element to a subset it is not in."""
    cdef Py_ssize_t U
    cdef fixed_t x, low = NONE
    cdef fixed_t* column = s.table + a
    s.target[a] = -1
    for U in range(s.subsets):
        x = column[U * s.n]
        if x < low and U != s.label[a] and s.size[U] > 0:
            if s.cuts == NULL or s.cuts[U * s.n + a] == 0:
                low = x
                s.target[a] = <element_t>U
    s.low[a] = low
    s.loose[a] = False


cdef inline void rate(State* s, element_t a) noexcept nogil:
    cdef fixed_t cost = min(s.low[a], to_empty(s, a))
    s.delta[a] = NONE if s.done[a] or cost == NONE else cost - s.own[a]


cdef bint reserve(State* s, Py_ssize_t rows) noexcept nogil:
    """Make room for `rows` subsets."""
    cdef Py_ssize_t capacity = s.capacity
    cdef fixed_t* table
    cdef element_t* cuts
    if rows <= capacity:
        return True
    capacity = min(s.n, max(rows, capacity + capacity // 2 + 8))
    table = <fixed_t*>calloc(capacity * s.n, sizeof(fixed_t))
    if table == NULL:
        s.failed = True
        return False
    if s.table != NULL:
        memcpy(table, s.table, s.capacity * s.n * sizeof(fixed_t))
        free(s.table)
    s.table = table
    if s.cuts != NULL:
        cuts = <element_t*>calloc(capacity * s.n, sizeof(element_t))
        if cuts == NULL:
            s.failed = True
            return False
        memcpy(cuts, s.cuts, s.capacity * s.n * sizeof(element_t))
        free(s.cuts)
        s.cuts = cuts
    s.capacity = capacity
    return True


cdef void number_anew(State* s, element_t* names) noexcept nogil:
    """Renumber the subsets in order of their smallest elements. `names` has room for n + 1."""
    cdef Py_ssize_t a, k = 0
    for a in range(s.n + 1):
        names[a] = -1
    for a in range(s.n):
        if names[s.label[a]] < 0:
            names[s.label[a]] = <element_t>k
            k += 1
        s.label[a] = names[s.label[a]]
    s.subsets = s.free_subset = k


cdef void build(State* s) noexcept nogil:
    """Fill the tables for the present labels, renumbered. O(n^2)"""
    cdef Py_ssize_t n = s.n, a, b, U
    cdef const cost_t* row
    cdef fixed_t* sums
    if not reserve(s, s.subsets):
        return
    memset(s.size, 0, (n + 1) * sizeof(element_t))
    for a in range(n):
        s.size[s.label[a]] += 1
    sums = <fixed_t*>malloc((s.subsets + 1) * sizeof(fixed_t))
    if sums == NULL:
        s.failed = True
        return
    if s.cuts != NULL:
        memset(s.cuts, 0, s.capacity * n * sizeof(element_t))
    for a in range(n):
        row = s.matrix + a * n
        memset(sums, 0, s.subsets * sizeof(fixed_t))
        if s.cuts == NULL:
            for b in range(n):
                sums[s.label[b]] += fixed(row[b], s.scale)
        else:
            for b in range(n):
                if row[b] == INFINITY:
                    s.cuts[s.label[b] * n + a] += 1
                else:
                    sums[s.label[b]] += fixed(row[b], s.scale)
        s.own[a] = sums[s.label[a]]
        s.low[a] = NONE
        s.target[a] = -1
        s.loose[a] = s.done[a] = False
        for U in range(s.subsets):
            s.table[U * n + a] = sums[U]
            if sums[U] < s.low[a] and U != s.label[a] and (s.cuts == NULL or s.cuts[U * n + a] == 0):
                s.low[a] = sums[U]
                s.target[a] = <element_t>U
        rate(s, <element_t>a)
    for U in range(s.subsets, s.capacity):
        memset(s.table + U * n, 0, n * sizeof(fixed_t))
    free(sums)


cdef inline void offer(State* s, element_t b, fixed_t x, element_t U) noexcept nogil:
    """Update the bound of b: its cost to subset U, which it is not in, has become x."""
    if x < s.low[b]:
        s.low[b] = x
        s.target[b] = U
        s.loose[b] = False
    elif s.loose[b]:
        pass                     # the bound still holds
    elif s.target[b] == U:
        if x > s.low[b]:
            s.loose[b] = True
    elif x == s.low[b] and U < s.target[b]:
        s.target[b] = U


cdef void rate_all(State* s, element_t U, element_t W) noexcept nogil:
    """Find bounds for all elements after a move from U to W. O(n * subsets)"""
    cdef Py_ssize_t n = s.n, b
    cdef element_t V
    gp_own(n, s.own, s.table + U * n, s.label, U)
    gp_own(n, s.own, s.table + W * n, s.label, W)
    for b in range(n):
        s.low[b] = to_empty(s, <element_t>b)
    for V in range(<element_t>s.subsets):
        if s.size[V]:
            gp_lower(n, s.low, s.table + V * n, s.label, V)
    gp_rate(n, s.delta, s.low, s.own, s.done)
    memset(s.loose, True, n)


cdef void apply(State* s, element_t a, element_t W) noexcept nogil:
    """Move element a to subset W, which may be the free one, and update the tables and bounds. O(n)"""
    cdef Py_ssize_t n = s.n, b
    cdef element_t U = s.label[a], mine
    cdef const cost_t* row = s.matrix + a * n
    cdef fixed_t* from_row
    cdef fixed_t* into_row
    cdef fixed_t x, y
    if not reserve(s, W + 1):
        return
    from_row = s.table + U * n
    into_row = s.table + W * n
    s.label[a] = W
    s.size[U] -= 1
    s.size[W] += 1
    if s.cuts == NULL:
        for b in range(n):
            x = fixed(row[b], s.scale)
            from_row[b] -= x
            into_row[b] += x
    else:
        for b in range(n):
            if row[b] == INFINITY:
                s.cuts[U * n + b] -= 1
                s.cuts[W * n + b] += 1
            else:
                x = fixed(row[b], s.scale)
                from_row[b] -= x
                into_row[b] += x
    if W == s.free_subset:
        s.subsets = max(s.subsets, W + 1)
        while s.free_subset < s.subsets and s.size[s.free_subset] > 0:
            s.free_subset += 1
    if s.size[U] == 0:
        s.free_subset = min(s.free_subset, U)
    if s.subsets <= FEW and s.cuts == NULL:
        rate_all(s, U, W)
        return
    for b in range(n):
        mine = s.label[b]
        x = from_row[b]
        y = into_row[b]
        if (
            x > s.low[b] and y > s.low[b] and mine != U and mine != W and s.target[b] != U and s.target[b] != W
            and s.cuts == NULL
        ):
            continue             # the best move of this element has not changed
        if s.done[b]:
            continue
        if s.size[U] == 0 or (s.cuts != NULL and s.cuts[U * n + b] > 0):
            x = NONE
        if s.cuts != NULL and s.cuts[W * n + b] > 0:
            y = NONE
        if mine == U:
            s.own[b] = from_row[b]
        else:
            offer(s, <element_t>b, x, U)
        if mine == W:
            s.own[b] = into_row[b]
        else:
            offer(s, <element_t>b, y, W)
        rate(s, <element_t>b)
    if s.done[a]:
        s.delta[a] = NONE
    else:
        s.own[a] = into_row[a]
        scan(s, a)
        rate(s, a)


cdef element_t best(State* s) noexcept nogil:
    """The element with the best move, its column scanned; -1 if no element has a move."""
    cdef Py_ssize_t k, n = s.n
    cdef fixed_t p, q, r, t
    cdef fixed_t* x = s.delta
    while True:
        p = q = r = t = NONE
        k = 0
        while k + 4 <= n:      # four independent minima run at the speed of memory, one does not
            p = x[k] if x[k] < p else p
            q = x[k + 1] if x[k + 1] < q else q
            r = x[k + 2] if x[k + 2] < r else r
            t = x[k + 3] if x[k + 3] < t else t
            k += 4
        while k < n:
            p = x[k] if x[k] < p else p
            k += 1
        p = min(min(p, q), min(r, t))
        if p == NONE:
            return -1
        k = 0
        while x[k] != p:
            k += 1
        if not s.loose[k]:
            return <element_t>k
        scan(s, <element_t>k)
        rate(s, <element_t>k)
        if s.delta[k] == p:
            return <element_t>k


cdef inline element_t where(State* s, element_t a) noexcept nogil:
    """The target of an element's best move."""
    return s.target[a] if s.low[a] <= to_empty(s, a) else <element_t>s.free_subset


cdef void improve(State* s, double tolerance, double cost, Stopping stopping) noexcept nogil:
    """Apply best moves while they lower the cost."""
    cdef element_t a
    cdef double delta
    while not s.failed:
        a = best(s)
        if a < 0:
            break
        delta = s.delta[a] / s.scale
        if not delta < -tolerance:
            break
        apply(s, a, where(s, a))
        cost += delta
        if stopping.tick(cost):
            break


cdef void release(State* s, element_t a) noexcept nogil:
    """Let an element move again."""
    s.done[a] = False
    s.own[a] = s.table[s.label[a] * s.n + a]
    scan(s, a)
    rate(s, a)


cdef fixed_t improve_by_sequence(
    State* s, fixed_t tolerance, double cost, Stopping stopping, Py_ssize_t rest, element_t* resting,
    Py_ssize_t patience, element_t* moved, element_t* origin
) noexcept nogil:
    """One outer iteration of Kernighan and Lin; the change of cost, 0 if there is none.

    An element may move again after `rest` further moves; the sequence ends after `patience` moves without a new best
    prefix. Both are n if each element is to move once.
    """
    cdef Py_ssize_t length = 0, total = 0       # number of moves since the best prefix, and of all moves
    cdef fixed_t sum = 0, smallest = 0          # change of cost since the best prefix, and before it
    cdef element_t a
    while length < patience and not s.failed:
        a = best(s)
        if a < 0:
            break
        sum += s.delta[a]
        moved[length] = a
        origin[length] = s.label[a]
        length += 1
        s.done[a] = True
        apply(s, a, where(s, a))
        if total >= rest:
            release(s, resting[total % rest])
        resting[total % rest] = a
        total += 1
        if sum < -tolerance:
            smallest += sum
            sum = 0
            length = 0
        if stopping.poll(cost + smallest / s.scale):
            break
    while length > 0:
        length -= 1
        s.label[moved[length]] = origin[length]
    return smallest


cdef class _Arrays:
    """The memory of a State."""
    cdef State s
    cdef object labels
    cdef list kept
    cdef element_t[::1] names

    def __cinit__(self, const cost_t[:, ::1] matrix, labels, double magnitude, bint has_must_cut):
        cdef Py_ssize_t n = matrix.shape[0]
        cdef element_t[::1] label, size, target
        cdef fixed_t[::1] own, low, delta
        cdef char[::1] loose, done
        self.labels = np.array(labels, np.int32)
        label = self.labels
        size, target, self.names = zeros_int32(n + 1), zeros_int32(n), empty_int32(n + 1)
        own, low, delta = zeros_int64(n), zeros_int64(n), zeros_int64(n)
        loose, done = zeros_int8(n), zeros_int8(n)
        self.kept = [matrix, label, size, target, own, low, delta, loose, done]
        self.s.n = n
        self.s.matrix = &matrix[0, 0]
        self.s.scale = scale_for(magnitude)
        self.s.label = &label[0]
        self.s.size = &size[0]
        self.s.target = &target[0]
        self.s.own = &own[0]
        self.s.low = &low[0]
        self.s.delta = &delta[0]
        self.s.loose = &loose[0]
        self.s.done = &done[0]
        self.s.capacity = 0
        self.s.table = NULL
        self.s.cuts = <element_t*>calloc(1, sizeof(element_t)) if has_must_cut else NULL
        self.s.failed = False

    def __dealloc__(self):
        free(self.s.table)
        free(self.s.cuts)

    cdef void start(self) noexcept nogil:
        number_anew(&self.s, &self.names[0])
        build(&self.s)


def greedy_moving(
    const cost_t[:, ::1] matrix,
    labels,
    double magnitude,
    double tolerance,
    bint has_must_cut,
    double cost,
    Stopping stopping,
) -> NDArray[np.int32]:
    """Labels of the fixed point of greedy moving from canonical labels."""
    if matrix.shape[0] == 0:
        return labels
    cdef _Arrays arrays = _Arrays(matrix, labels, magnitude, has_must_cut)
    with nogil:
        arrays.start()
        improve(&arrays.s, tolerance, cost, stopping)
    if arrays.s.failed:
        raise MemoryError()
    return arrays.labels


def kernighan_lin(
    const cost_t[:, ::1] matrix,
    labels,
    double magnitude,
    double tolerance,
    bint has_must_cut,
    double cost,
    Stopping stopping,
    Py_ssize_t rest = 0,
    Py_ssize_t patience = 0,
) -> NDArray[np.int32]:
    """Labels of the fixed point of the Kernighan-Lin iteration from canonical labels.

    Without `rest` and `patience`, each element moves once in a sequence, and the sequence ends with the last one.
    """
    cdef Py_ssize_t n = matrix.shape[0]
    if n == 0:
        return labels
    cdef _Arrays arrays = _Arrays(
        matrix, labels, min(magnitude * n, DBL_MAX), has_must_cut     # so that sums along a sequence fit
    )
    rest, patience = rest or n, patience or n
    cdef element_t[::1] moved = empty_int32(patience), origin = empty_int32(patience)
    cdef element_t[::1] resting = empty_int32(rest)
    cdef fixed_t change, least = <fixed_t>(tolerance * arrays.s.scale)
    with nogil:
        while True:
            arrays.start()
            if arrays.s.failed:
                break
            change = improve_by_sequence(
                &arrays.s, least, cost, stopping, rest, &resting[0], patience, &moved[0], &origin[0]
            )
            cost += change / arrays.s.scale
            if stopping.tick(cost) or change == 0 or arrays.s.failed:
                break
            with gil:
                stopping.record(cost)
    if arrays.s.failed:
        raise MemoryError()
    return arrays.labels
