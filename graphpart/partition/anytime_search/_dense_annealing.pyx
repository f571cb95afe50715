"""Kernel of simulated annealing over moves of one element, on a matrix of small integer costs.

An element-by-subset table holds, in one row per subset, the summed cost of each element to that subset. A sweep
repeats, as many times as there are subsets: it offers all elements to a random subset or the empty set. Elements whose
change of cost is at most a random threshold move. The threshold is the temperature times an exponential variate, so a
move that costs d is accepted with probability exp(-d / temperature) (Metropolis et al. 1953; Kirkpatrick, Gelatt &
Vecchi 1983). This does not sample the Boltzmann distribution: each offer of one element to one subset is in detailed
balance with it, but a pass offers all elements to the same subset (docs/explanation/tried.md says what sampling would
take). The variates come from a table, which each row reads from another position on. Rows come in random order: in a
fixed order, elements would not be in each subset as often as its cost says. A move changes two rows by one row of the
matrix. Both loops run over contiguous numbers of 16 or 32 bits, several at a time, and sums of integers are exact, so
that an emptied row is zero again and serves as the empty set.
"""

import numpy as np

from graphpart.kernels.elementary import geometric

from libc.stdint cimport int16_t, int32_t, int64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from graphpart.kernels.clones cimport GP_CLONED  # and its macros
from graphpart.kernels.random cimport random_below
from graphpart.kernels.types cimport element_t
from graphpart.stopping cimport Stopping

# These loops take most of the time. They are in C so that GP_CLONES applies to them, for numbers of both widths.
cdef extern from *:
    """
    #define GP_BLOCK 32  /* elements looked at together; each row ends with as many entries that are never accepted */
    #define GP_LOOPS(bits, cell) \\
        GP_CLONES \\
        static void gp_add_##bits(Py_ssize_t n, const void *row_, void *into_) { \\
            const cell *GP_RESTRICT row = row_; \\
            cell *GP_RESTRICT into = into_; \\
            Py_ssize_t b; \\
            for (b = 0; b < n; b++) into[b] += row[b]; \\
        } \\
        /* What moves may cost at this temperature. */ \\
        GP_CLONES \\
        static void gp_limit_##bits(Py_ssize_t n, const float *GP_RESTRICT variates, float temperature, void *limits_) { \\
            cell *GP_RESTRICT limits = limits_; \\
            Py_ssize_t b; \\
            for (b = 0; b < n; b++) limits[b] = (cell)(int32_t)(temperature * variates[b]); \\
        } \\
        /* An element, of which `row` has the costs, leaves subset U for W. */ \\
        GP_CLONES \\
        static void gp_switch_##bits(Py_ssize_t n, const void *row_, void *from_, void *into_, void *own_, \\
                                     const void *mark_, int32_t U_, int32_t W_) { \\
            const cell *GP_RESTRICT row = row_, *GP_RESTRICT mark = mark_; \\
            cell *GP_RESTRICT from = from_, *GP_RESTRICT into = into_, *GP_RESTRICT own = own_; \\
            const cell U = (cell)U_, W = (cell)W_; \\
            Py_ssize_t b; \\
            for (b = 0; b < n; b++) { \\
                const cell x = row[b]; \\
                from[b] -= x; \\
                into[b] += x; \\
                own[b] += (x & -(cell)(mark[b] == W)) - (x & -(cell)(mark[b] == U)); \\
            } \\
        } \\
        /* The first element from b on, outside subset U, that a move there costs no more than its limit; n if none. */ \\
        GP_CLONES \\
        static Py_ssize_t gp_next_##bits(const void *row_, const void *own_, const void *mark_, const void *limits_, \\
                                         int32_t U_, Py_ssize_t b, Py_ssize_t n) { \\
            const cell *GP_RESTRICT row = row_, *GP_RESTRICT own = own_, *GP_RESTRICT mark = mark_; \\
            const cell *GP_RESTRICT limits = limits_; \\
            const cell U = (cell)U_; \\
            Py_ssize_t k; \\
            for (; b < n; b = (b & -GP_BLOCK) + GP_BLOCK) {  /* blocks after the first one begin where lines do */ \\
                cell any = 0; \\
                for (k = b; k < b + GP_BLOCK; k++) any |= (row[k] <= (cell)(own[k] + limits[k])) & (mark[k] != U); \\
                if (any) \\
                    for (k = b; k < b + GP_BLOCK; k++) \\
                        if ((row[k] <= (cell)(own[k] + limits[k])) & (mark[k] != U)) return k; \\
            } \\
            return n; \\
        }
    GP_LOOPS(16, int16_t)
    GP_LOOPS(32, int32_t)
    #define GP_EITHER(loop, bytes, ...) ((bytes) == 2 ? loop##_16(__VA_ARGS__) : loop##_32(__VA_ARGS__))
    #define gp_add(bytes, ...) GP_EITHER(gp_add, bytes, __VA_ARGS__)
    #define gp_limit(bytes, ...) GP_EITHER(gp_limit, bytes, __VA_ARGS__)
    #define gp_switch(bytes, ...) GP_EITHER(gp_switch, bytes, __VA_ARGS__)
    #define gp_next(bytes, ...) GP_EITHER(gp_next, bytes, __VA_ARGS__)
    """
    void add_row "gp_add" (Py_ssize_t bytes, Py_ssize_t n, const void* row, void* into) noexcept nogil
    void fill_limits "gp_limit" (
        Py_ssize_t bytes, Py_ssize_t n, const float* variates, float temperature, void* limits
    ) noexcept nogil
    void switch_rows "gp_switch" (
        Py_ssize_t bytes, Py_ssize_t n, const void* row, void* from_row, void* into_row, void* own, const void* mark,
        int32_t U, int32_t W
    ) noexcept nogil
    Py_ssize_t next_accepted "gp_next" (
        Py_ssize_t bytes, const void* row, const void* own, const void* mark, const void* limits, int32_t U,
        Py_ssize_t b, Py_ssize_t n
    ) noexcept nogil


# The sums of positive and of negative costs of one element are below LARGEST_ROW or NARROW_ROW, temperatures at most
# HOTTEST or NARROW_HOTTEST. Limits are less than 16 times a temperature, and are added to such sums.
LARGEST_ROW, HOTTEST = 2**29, 2**26
NARROW_ROW, NARROW_HOTTEST = 2**15 - 2**12, 2**8
cdef Py_ssize_t PADDING = 32     # GP_BLOCK
cdef Py_ssize_t LINE = 64        # bytes of a cache line; moves take half as long again if rows do not begin at one
cdef int32_t NEVER = -(3 << 29)  # cost to its own subset of the padding behind the last element: no limit is 3 * 2**29,
cdef int16_t NARROW_NEVER = -(2**15 - 1)  # or 2**15 - 1


cdef bint open_state(State* s, object matrix, const float[::1] variates):
    """Allocate all but the table (see `build`); False if there is no memory. The arrays must outlive the state."""
    cdef const int32_t[:, ::1] wide
    cdef const int16_t[:, ::1] narrow
    cdef Py_ssize_t n = matrix.shape[0], a
    cdef char* room
    memset(s, 0, sizeof(State))
    s.n, s.bytes = n, matrix.itemsize
    if s.bytes == 2:
        narrow = matrix
        s.matrix, s.hottest = <const char*>&narrow[0, 0], NARROW_HOTTEST
    else:
        wide = matrix
        s.matrix, s.hottest = <const char*>&wide[0, 0], HOTTEST
    s.line = (s.bytes * (n + PADDING) + LINE - 1) // LINE * LINE
    s.variates = &variates[0]
    s.shifts = variates.shape[0] - n - PADDING
    room = new_table(4 * s.line + 5 * (n + 2) * sizeof(element_t), &s.arrays)
    if room == NULL:
        return False
    memset(room, 0, s.line)
    memset(room + s.line, -1, s.line)
    s.limits, s.gains, s.own, s.mark = room, room + s.line, room + 2 * s.line, room + 3 * s.line
    s.label = <element_t*>(room + 4 * s.line)
    s.size, s.active, s.place = s.label + n + 2, s.label + 2 * (n + 2), s.label + 3 * (n + 2)
    s.unused = s.label + 4 * (n + 2)
    memset(s.mark, 0, s.line)
    for a in range(s.line // s.bytes):
        put(s, s.own, a, NARROW_NEVER if s.bytes == 2 else NEVER)
    return True


cdef int32_t cell(const State* s, const char* row, Py_ssize_t a) noexcept nogil:
    """Read a number of a row of either width."""
    return (<const int16_t*>row)[a] if s.bytes == 2 else (<const int32_t*>row)[a]


cdef void put(const State* s, char* row, Py_ssize_t a, int32_t value) noexcept nogil:
    """Write a number of a row of either width."""
    if s.bytes == 2:
        (<int16_t*>row)[a] = <int16_t>value
    else:
        (<int32_t*>row)[a] = value


cdef void close_state(State* s) noexcept nogil:
    free(s.room)
    free(s.arrays)


cdef char* new_table(Py_ssize_t size, void** room) noexcept nogil:
    """Allocate `size` bytes that begin at a cache line; NULL if there is no memory."""
    room[0] = malloc(size + LINE)
    if room[0] == NULL:
        return NULL
    return <char*>room[0] + LINE - <uintptr_t>room[0] % LINE


cdef bint grow(State* s) noexcept nogil:
    """Enlarge the table for more subsets."""
    cdef Py_ssize_t capacity = min(s.n + 1, s.capacity + s.capacity // 2 + 8), U
    cdef void* room = NULL
    cdef char* table = new_table(capacity * s.line, &room)
    if table == NULL:
        s.failed = True
        return False
    memcpy(table, s.table, s.capacity * s.line)
    free(s.room)
    s.room = room
    memset(table + s.capacity * s.line, 0, (capacity - s.capacity) * s.line)
    for U in range(capacity - 1, s.capacity - 1, -1):
        s.unused[s.unuseds] = <element_t>U
        s.unuseds += 1
    s.table = table
    s.capacity = capacity
    return True


cdef bint build(State* s, const element_t* labels) noexcept nogil:
    """Begin from canonical labels: fill the table. False if there is no memory. O(n^2)"""
    cdef Py_ssize_t n = s.n, a, k = 0
    cdef char* into
    s.failed = False
    memcpy(s.label, labels, n * sizeof(element_t))
    for a in range(n):
        k = max(k, s.label[a] + 1)
    s.capacity = min(n + 1, k + 8)
    free(s.room)
    s.table = new_table(s.capacity * s.line, &s.room)
    if s.table == NULL:
        s.capacity = 0
        s.failed = True
        return False
    memset(s.table, 0, s.capacity * s.line)
    memset(s.size, 0, (n + 1) * sizeof(element_t))
    s.cost = 0
    for a in range(n):
        s.size[s.label[a]] += 1
        into = s.table + s.label[a] * s.line
        add_row(s.bytes, n, s.matrix + a * n * s.bytes, into)
    for a in range(n):
        put(s, s.mark, a, s.label[a])
        put(s, s.own, a, cell(s, s.table + s.label[a] * s.line, a))
        s.cost += cell(s, s.own, a)
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
    cdef const char* row = s.matrix + a * n * s.bytes
    cdef char* from_row = s.table + U * s.line
    cdef char* into_row = s.table + W * s.line
    s.cost += cell(s, into_row, a) - cell(s, s.own, a)
    switch_rows(s.bytes, n, row, from_row, into_row, s.own, s.mark, U, W)
    s.label[a] = W
    put(s, s.mark, a, W)
    put(s, s.own, a, cell(s, into_row, a))
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


cdef bint offer(State* s, element_t U, const char* limits) noexcept nogil:
    """Offer all elements to a subset, or to the empty set, within limits of costs; return whether one moved."""
    cdef Py_ssize_t n = s.n, b = 0
    cdef bint moved = False
    while True:
        b = next_accepted(s.bytes, s.table + U * s.line, s.own, s.mark, limits, U, b, n)
        if b >= n:
            return moved
        if s.size[U] > 0 or s.size[s.label[b]] > 1:
            apply(s, <element_t>b, U)
            moved = True
        b += 1


cdef bint offer_at(State* s, element_t U, double temperature) noexcept nogil:
    """The same with random limits for a temperature."""
    cdef const float* variates = s.variates + random_below(&s.random, s.shifts)
    cdef float hot = <float>min(<double>s.hottest, temperature)
    fill_limits(s.bytes, s.n, variates, hot, s.limits)
    return offer(s, U, s.limits)


cdef bint sweep(State* s, double temperature, double cost, Stopping stopping) noexcept nogil:
    """Offer all elements to a random subset or the empty set, as many times as there are subsets; True if stopped.

    The first sweep from many elements apart takes seconds.
    """
    cdef Py_ssize_t i, k
    for i in range(s.subsets + 1):
        if s.unuseds == 0:
            grow(s)
            if s.failed:
                break
        k = random_below(&s.random, s.subsets + 1)
        offer_at(s, s.active[k] if k < s.subsets else s.unused[s.unuseds - 1], temperature)
        if stopping.poll(cost):
            return True
    return False


cdef bint descend(State* s) noexcept nogil:
    """Offer all elements to all subsets and the empty set, and accept only gains; return whether an element moved."""
    cdef Py_ssize_t i = 0
    cdef bint moved = False
    while i <= s.subsets:
        if s.unuseds == 0 and not grow(s):
            break
        moved |= offer(s, s.active[i] if i < s.subsets else s.unused[s.unuseds - 1], s.gains)
        i += 1
    return moved


cdef class Annealing:
    """Simulated annealing on one matrix.

    Parameters
    ----------
    matrix : ndarray of int32 or int16, shape (n, n)
        Symmetric, zero diagonal; the sums of positive and of negative costs of each row below ``LARGEST_ROW``, or
        ``NARROW_ROW``. Both give the same results, 16 bits sooner.
    variates : ndarray of float32, more than n and PADDING
        Exponential variates, below 16.
    """
    cdef State s
    cdef object kept

    def __cinit__(self, matrix, const float[::1] variates):
        self.kept = matrix, variates
        if not open_state(&self.s, matrix, variates):
            raise MemoryError()

    def __dealloc__(self):
        close_state(&self.s)

    def one_pass(self, const element_t[::1] labels, element_t subset, double temperature, unsigned long long seed):
        """Labels after offering all elements to one subset, from canonical labels; the next number is a new subset."""
        cdef State* s = &self.s
        s.random = seed
        if not build(s, &labels[0]):
            raise MemoryError()
        offer_at(s, subset, temperature)
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
        """Labels after `sweeps` sweeps from canonical labels and a descent, and their cost less that of the start.

        A run that is stopped early gives the best partition that a sweep ended with, or was stopped with. The cost of the
        start and the scale serve `stopping` only.
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
                if s.failed or ended:
                    break
                ended = sweep(s, temperatures[t], cost + (best - first) / scale, stopping)
                if s.cost < best:
                    best = s.cost
                    memcpy(&best_labels[0], s.label, n * sizeof(element_t))
            # A descent, which accepts only gains.
            while not ended and not s.failed and descend(s):
                pass
        if s.failed:
            raise MemoryError()
        if ended:
            return np.array(best_labels), (best - first) / scale
        return np.array(<element_t[:n]>s.label), (s.cost - first) / scale

