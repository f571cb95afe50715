"""Kernel of simulated annealing over moves of one element, on a matrix of small integer costs.

An element-by-subset table holds, in one row per subset, the summed cost of each element to that subset. A sweep
offers all elements to random subsets, or to the empty set, as many times as there are subsets: row by row, the elements
whose change of cost is at most a random threshold move. The threshold is the temperature times an exponential variate,
so a move that costs d is accepted with probability exp(-d / temperature) (Metropolis et al. 1953; Kirkpatrick, Gelatt &
Vecchi 1983). This does not sample the Boltzmann distribution: each offer of one element to one subset is in detailed
balance with it, but a pass offers all elements to the same subset (docs/explanation/tried.md says what sampling would
take). The variates come from a table, which each row reads from another position on. Rows come in random order: in a
fixed order, elements would not be in each subset as often as its cost says. A move changes two rows by one row of the
matrix. Both loops run over contiguous 32-bit numbers, several at a time, and sums of integers are exact, so that an
emptied row is zero again and serves as the empty set.
"""

import numpy as np

from graphpart.kernels.elementary import geometric

from libc.stdint cimport int32_t, int64_t, uint64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from graphpart.kernels.clones cimport GP_CLONED  # and its macros
from graphpart.kernels.random cimport random_below
from graphpart.kernels.types cimport element_t
from graphpart.stopping cimport Stopping

# The two loops in which the time goes, in C for the sake of GP_CLONES.
cdef extern from *:
    """
    #define GP_BLOCK 32  /* elements looked at together; rows have room for as many more, which are never accepted */
    #define GP_ACCEPTED(k) \\
        ((row[k] - own[k] <= (int32_t)(temperature * variates[k]) - least) & (label[k] != U))

    /* Element a, of which `row` has the costs, leaves subset U for W. */
    GP_CLONES
    static void gp_switch_rows(Py_ssize_t n, const int32_t *GP_RESTRICT row, int32_t *GP_RESTRICT from_row,
                               int32_t *GP_RESTRICT into_row, int32_t *GP_RESTRICT own,
                               const int32_t *GP_RESTRICT label, int32_t U, int32_t W) {
        Py_ssize_t b;
        for (b = 0; b < n; b++) {
            const int32_t x = row[b];
            from_row[b] -= x;
            into_row[b] += x;
            own[b] += (x & -(int32_t)(label[b] == W)) - (x & -(int32_t)(label[b] == U));
        }
    }

    /* The first element from b on, outside subset U, whose change of cost is accepted; n if none.
       Without a temperature, `least` is what a move has to gain. */
    GP_CLONES
    static Py_ssize_t gp_next_accepted(const int32_t *GP_RESTRICT row, const int32_t *GP_RESTRICT own,
                                       const int32_t *GP_RESTRICT label, const float *GP_RESTRICT variates,
                                       float temperature, int32_t least, int32_t U, Py_ssize_t b, Py_ssize_t n) {
        Py_ssize_t k;
        for (; b < n; b = (b & -GP_BLOCK) + GP_BLOCK) {  /* blocks after the first one begin where lines do */
            int32_t any = 0;
            for (k = b; k < b + GP_BLOCK; k++) any |= GP_ACCEPTED(k);
            if (any)
                for (k = b; k < b + GP_BLOCK; k++)
                    if (GP_ACCEPTED(k)) return k;
        }
        return n;
    }
    """
    void switch_rows "gp_switch_rows" (
        Py_ssize_t n, const int32_t* row, int32_t* from_row, int32_t* into_row, int32_t* own, const element_t* label,
        element_t U, element_t W
    ) noexcept nogil
    Py_ssize_t next_accepted "gp_next_accepted" (
        const int32_t* row, const int32_t* own, const element_t* label, const float* variates, float temperature,
        int32_t least, element_t U, Py_ssize_t b, Py_ssize_t n
    ) noexcept nogil


LARGEST_ROW = 2**29         # sums of absolute costs of one element stay below
cdef double HOTTEST = 2**25      # variates stay below 2**5
cdef Py_ssize_t PADDING = 32     # GP_BLOCK
cdef Py_ssize_t LINE = 64        # bytes of a line of the cache; where rows begin between two, a move takes half as long again
cdef int32_t NEVER = -(3 << 29)  # of what is behind the last element, the cost to its own subset: no threshold is 3 * 2**29


cdef bint open_state(State* s, const int32_t[:, ::1] matrix, const float[::1] variates) noexcept nogil:
    """Room for all but the table, which `build` makes; False if there is none. The arrays have to outlive the state."""
    cdef Py_ssize_t n = matrix.shape[0], a
    cdef int32_t* room
    memset(s, 0, sizeof(State))
    s.n = n
    s.stride = (4 * (n + PADDING) + LINE - 1) // LINE * LINE // 4
    s.matrix = &matrix[0, 0]
    s.variates = &variates[0]
    s.shifts = variates.shape[0] - n - PADDING
    room = new_table(1, 2 * s.stride + 4 * (n + 2), &s.arrays)
    if room == NULL:
        return False
    s.own, s.label, s.size = room, room + s.stride, room + 2 * s.stride
    s.active, s.place, s.unused = s.size + n + 2, s.size + 2 * (n + 2), s.size + 3 * (n + 2)
    for a in range(s.stride):
        s.own[a] = NEVER
        s.label[a] = 0
    return True


cdef void close_state(State* s) noexcept nogil:
    free(s.room)
    free(s.arrays)


cdef bint copy_state(State* s, const State* other) noexcept nogil:
    """Make a state like another one of the same problem; False if there is no room for its table."""
    if s.capacity < other.capacity:
        free(s.room)
        s.table = new_table(other.capacity, s.stride, &s.room)
        if s.table == NULL:
            s.capacity = 0
            s.failed = True
            return False
    s.capacity = other.capacity
    memcpy(s.table, other.table, s.capacity * s.stride * sizeof(int32_t))
    memcpy(s.own, other.own, (2 * s.stride + 4 * (s.n + 2)) * sizeof(int32_t))  # all arrays, which follow it
    s.subsets, s.unuseds, s.cost = other.subsets, other.unuseds, other.cost
    return True


cdef int32_t* new_table(Py_ssize_t capacity, Py_ssize_t stride, void** room) noexcept nogil:
    """A table at the beginning of a line; NULL if there is no room for it."""
    room[0] = malloc(capacity * stride * sizeof(int32_t) + LINE)
    if room[0] == NULL:
        return NULL
    return <int32_t*>(<char*>room[0] + LINE - <uintptr_t>room[0] % LINE)


cdef bint grow(State* s) noexcept nogil:
    """More subsets."""
    cdef Py_ssize_t capacity = min(s.n + 1, s.capacity + s.capacity // 2 + 8), U
    cdef void* room = NULL
    cdef int32_t* table = new_table(capacity, s.stride, &room)
    if table == NULL:
        s.failed = True
        return False
    memcpy(table, s.table, s.capacity * s.stride * sizeof(int32_t))
    free(s.room)
    s.room = room
    memset(table + s.capacity * s.stride, 0, (capacity - s.capacity) * s.stride * sizeof(int32_t))
    for U in range(capacity - 1, s.capacity - 1, -1):
        s.unused[s.unuseds] = <element_t>U
        s.unuseds += 1
    s.table = table
    s.capacity = capacity
    return True


cdef bint build(State* s, const element_t* labels) noexcept nogil:
    """Begin from canonical labels: fill the table. False if there is no room for it. O(n^2)"""
    cdef Py_ssize_t n = s.n, a, b, k = 0
    cdef int32_t* into
    cdef const int32_t* row
    s.failed = False
    memcpy(s.label, labels, n * sizeof(element_t))
    for a in range(n):
        k = max(k, s.label[a] + 1)
    s.capacity = min(n + 1, k + 8)
    free(s.room)
    s.table = new_table(s.capacity, s.stride, &s.room)
    if s.table == NULL:
        s.capacity = 0
        s.failed = True
        return False
    memset(s.table, 0, s.capacity * s.stride * sizeof(int32_t))
    memset(s.size, 0, (n + 1) * sizeof(element_t))
    s.cost = 0
    for a in range(n):
        s.size[s.label[a]] += 1
        row = s.matrix + a * n
        into = s.table + s.label[a] * s.stride
        for b in range(n):
            into[b] += row[b]
    for a in range(n):
        s.own[a] = s.table[s.label[a] * s.stride + a]
        s.cost += s.own[a]
    s.cost //= 2  # each pair was counted twice
    s.subsets = k
    for a in range(k):
        s.active[a] = s.place[a] = <element_t>a
    s.unuseds = 0
    for a in range(s.capacity - 1, k - 1, -1):
        s.unused[s.unuseds] = <element_t>a
        s.unuseds += 1
    return True


cdef void apply(State* s, element_t a, element_t W) noexcept nogil:
    """Move element a to subset W. O(n)"""
    cdef Py_ssize_t n = s.n
    cdef element_t U = s.label[a], last
    cdef const int32_t* row = s.matrix + a * n
    cdef int32_t* from_row = s.table + U * s.stride
    cdef int32_t* into_row = s.table + W * s.stride
    s.cost += into_row[a] - s.own[a]
    switch_rows(n, row, from_row, into_row, s.own, s.label, U, W)
    s.label[a] = W
    s.own[a] = into_row[a]
    s.size[U] -= 1
    s.size[W] += 1
    if s.size[W] == 1:
        s.unuseds -= 1              # W was the last one there
        s.active[s.subsets] = W
        s.place[W] = <element_t>s.subsets
        s.subsets += 1
    if s.size[U] == 0:
        s.subsets -= 1
        last = s.active[s.subsets]
        s.active[s.place[U]] = last
        s.place[last] = s.place[U]
        s.unused[s.unuseds] = U
        s.unuseds += 1


cdef bint offer(State* s, element_t U, float temperature, int32_t least) noexcept nogil:
    """Offer all elements to a subset, or to the empty set; whether one moved."""
    cdef Py_ssize_t n = s.n, b = 0
    cdef bint moved = False
    cdef const float* variates = s.variates + random_below(&s.random, s.shifts)
    while True:
        b = next_accepted(s.table + U * s.stride, s.own, s.label, variates, temperature, least, U, b, n)
        if b >= n:
            return moved
        if s.size[U] > 0 or s.size[s.label[b]] > 1:
            apply(s, <element_t>b, U)
            moved = True
        b += 1


cdef void sweep(State* s, double temperature) noexcept nogil:
    """Offer all elements to random subsets and the empty set, to as many as there are."""
    cdef Py_ssize_t i, k
    cdef float hot = <float>min(HOTTEST, temperature)
    for i in range(s.subsets + 1):
        if s.unuseds == 0:
            grow(s)
            if s.failed:
                break
        k = random_below(&s.random, s.subsets + 1)
        offer(s, s.active[k] if k < s.subsets else s.unused[s.unuseds - 1], hot, 0)


cdef bint descend(State* s) noexcept nogil:
    """Offer all elements to all subsets and the empty set, accepting only what gains; whether anything did."""
    cdef Py_ssize_t i = 0
    cdef bint moved = False
    while i <= s.subsets:
        if s.unuseds == 0 and not grow(s):
            break
        moved |= offer(s, s.active[i] if i < s.subsets else s.unused[s.unuseds - 1], 0.0, 1)
        i += 1
    return moved


cdef class Annealing:
    """Simulated annealing on one matrix.

    Parameters
    ----------
    matrix : ndarray of int32, shape (n, n)
        Symmetric, zero diagonal; the sum of absolute costs of each row below ``LARGEST_ROW``.
    variates : ndarray of float32, more than n and PADDING
        Exponential variates.
    """
    cdef State s
    cdef object kept

    def __cinit__(self, const int32_t[:, ::1] matrix, const float[::1] variates):
        self.kept = matrix, variates
        if not open_state(&self.s, matrix, variates):
            raise MemoryError()

    def __dealloc__(self):
        close_state(&self.s)

    def one_pass(self, const element_t[::1] labels, element_t subset, double temperature, unsigned long long seed):
        """Labels after all elements were offered to one subset, from canonical labels; the next number is a new one."""
        cdef State* s = &self.s
        s.random = seed
        if not build(s, &labels[0]):
            raise MemoryError()
        offer(s, subset, min(HOTTEST, temperature), 0)
        return np.array(<element_t[: s.n]>s.label)

    def run(
        self,
        const element_t[::1] labels,
        long long sweeps,
        double hot,
        double cold,
        unsigned long long seed,
        double cost,
        double scale,
        Stopping stopping,
    ):
        """Labels after so many sweeps from canonical labels, and a descent; and their cost less that of the start.

        A run that is stopped early gives the best partition that a sweep ended with. The cost of the start and the scale
        serve `stopping` only.
        """
        cdef State* s = &self.s
        cdef Py_ssize_t n = s.n
        cdef long long t
        cdef double[::1] temperatures = geometric(hot, cold, sweeps)
        cdef element_t[::1] best_labels = np.array(labels, np.int32)
        cdef int64_t first = 0, best = 0
        cdef bint ended = False
        with nogil:
            s.random = seed
            build(s, &labels[0])
            first = best = s.cost
            for t in range(sweeps):
                if s.failed:
                    break
                sweep(s, temperatures[t])
                if s.cost < best:
                    best = s.cost
                    memcpy(&best_labels[0], s.label, n * sizeof(element_t))
                if stopping.poll(cost + (best - first) / scale):
                    ended = True
                    break
            # What is left to gain without accepting anything worse.
            while not ended and not s.failed and descend(s):
                pass
        if s.failed:
            raise MemoryError()
        if ended:
            return np.array(best_labels), (best - first) / scale
        return np.array(<element_t[:n]>s.label), (s.cost - first) / scale

