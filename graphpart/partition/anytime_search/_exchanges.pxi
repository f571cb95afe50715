"""Kernel of simulated annealing over moves and exchanges, for problems with sizes of subsets or with required cuts.

A table has the cost of each element with each subset, so the change of cost by a move or an exchange takes constant
time, beside the cost of the pair that is exchanged, which is looked up in a sorted row. A step proposes one change. It
takes an element and a subset: that of a random neighbour of the element, or that of any other element. If exactly one
member of the subset must be apart from the element, the two are exchanged. If the subset has no room for the element,
or at random where sizes are limited, the element is exchanged for a random member of the subset; otherwise it moves
there. If the other element is of the same subset, the element moves to an empty one, if another one is allowed. A
change that costs d is accepted with probability exp(-d / temperature); then the rows of the table that belong to
neighbours of the moved elements change.

The descent at the end looks at all moves and exchanges of each element in turn, and makes the best one, until none
lowers the cost. Where sizes are not limited, the exchanges are those of two elements that must be apart. A second table
has the number of required cuts of each element with each subset, and the exclusive or of the elements that they lead
to: if there is only one, it is that element. If pairs that are not stored have a cost, all of the same, stored pairs
have their costs above it, and only moves change how many such pairs there are, but no exchanges.
"""

import numpy as np

from graphpart.kernels._arrays cimport zeros_float64, zeros_int32, zeros_int64
from graphpart.kernels.elementary import geometric

from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint64_t

from graphpart.kernels.random cimport random_below, random_bits
from graphpart.kernels.sorted_row cimport first_not_below
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.stopping cimport Stopping

cdef enum:
    AT_ONCE = 1024          # steps between two looks at the clock, all of one temperature


cdef struct Table:
    Py_ssize_t n
    Py_ssize_t columns      # subsets that there may be
    const offset_t* starts
    const element_t* neighbours
    const cost_t* costs
    const int64_t* sizes
    int64_t max_size
    double usual            # cost of each pair, to which those of stored pairs are added
    Py_ssize_t least        # fewest subsets
    Py_ssize_t used         # subsets that have elements
    element_t* unused       # the others; the last one is the next to be used
    element_t* label
    int64_t* load
    element_t* members      # of each subset, `room` places
    element_t* count
    element_t* place        # of each element among the members of its subset
    Py_ssize_t room
    cost_t* table           # cost of each element with each subset, required cuts left out
    element_t* cuts         # for each element and subset: number of required cuts, exclusive or of elements; or NULL
    bint sized              # whether some subset may be too small for all elements
    double cost             # since the start
    int64_t work            # entries of rows that were changed, and changes that the descent looked at
    uint64_t random


cdef inline double pair_cost(const Table* s, element_t a, element_t b) noexcept nogil:
    """The cost of a pair, 0 if it is not stored: in a row of all elements at the first look."""
    cdef offset_t low = max(s.starts[a], s.starts[a + 1] - (s.n - b)), high = min(s.starts[a + 1], s.starts[a] + b)
    cdef offset_t k = first_not_below(s.neighbours, low, high, b)
    return s.costs[k] if k < s.starts[a + 1] and s.neighbours[k] == b else 0.0


cdef inline element_t* cuts_with(const Table* s, element_t a, element_t V) noexcept nogil:
    """The number of members of a subset that an element must be apart from, and their exclusive or."""
    return s.cuts + 2 * (a * s.columns + V)


cdef inline double change_with(const Table* s, element_t a, element_t b, element_t V) noexcept nogil:
    """The change of cost if an element moves to a subset, and b, if it is at least 0, from there to that of the element.

    inf if this is not allowed.
    """
    cdef element_t U = s.label[a]
    cdef const cost_t* of_a = s.table + a * s.columns
    cdef const cost_t* of_b
    cdef int64_t more = s.sizes[a]
    cdef double pair
    cdef bint cut
    if b < 0:
        if (s.load[V] + more > s.max_size or (s.count[U] == 1 and s.used <= s.least)
                or (s.cuts != NULL and cuts_with(s, a, V)[0])):
            return INFINITY
        return of_a[V] - of_a[U] + s.usual * (s.load[V] + more - s.load[U])
    more -= s.sizes[b]
    if s.load[V] + more > s.max_size or s.load[U] - more > s.max_size:
        return INFINITY
    pair = pair_cost(s, a, b)
    if s.cuts != NULL:
        cut = pair == INFINITY
        if cuts_with(s, a, V)[0] > cut or cuts_with(s, b, U)[0] > cut:
            return INFINITY
        if cut:
            pair = 0.0
    of_b = s.table + b * s.columns
    return of_a[V] - of_a[U] + of_b[U] - of_b[V] - 2.0 * pair


cdef void tell(Table* s, element_t a, element_t U, element_t V) noexcept nogil:
    """Tell the neighbours of an element that it is in V, no longer in U. O(degree)"""
    cdef offset_t k
    cdef element_t b
    cdef cost_t* row
    s.work += s.starts[a + 1] - s.starts[a]
    for k in range(s.starts[a], s.starts[a + 1]):
        b = s.neighbours[k]
        if s.costs[k] == INFINITY:
            cuts_with(s, b, U)[0] -= 1
            cuts_with(s, b, U)[1] ^= a
            cuts_with(s, b, V)[0] += 1
            cuts_with(s, b, V)[1] ^= a
        else:
            row = s.table + b * s.columns
            row[U] -= s.costs[k]
            row[V] += s.costs[k]


cdef inline void enter(Table* s, element_t a, element_t V, element_t place) noexcept nogil:
    s.members[V * s.room + place] = a
    s.place[a] = place
    s.label[a] = V
    s.load[V] += s.sizes[a]


cdef void make(Table* s, element_t a, element_t b, element_t V, double delta) noexcept nogil:
    """Make a change, see `change_with`. An empty subset V is the last one of the unused."""
    cdef element_t U = s.label[a], place = s.place[a], last
    s.cost += delta
    s.load[U] -= s.sizes[a]
    if b >= 0:
        s.load[V] -= s.sizes[b]
        enter(s, a, V, s.place[b])
        enter(s, b, U, place)
        tell(s, b, V, U)
    else:
        s.count[U] -= 1
        last = s.members[U * s.room + s.count[U]]
        s.members[U * s.room + place], s.place[last] = last, place
        s.used += s.count[V] == 0
        enter(s, a, V, s.count[V])
        s.count[V] += 1
        if s.count[U] == 0:
            s.used -= 1
            s.unused[s.columns - s.used - 1] = U
    tell(s, a, U, V)


cdef inline double propose(Table* s, element_t* a, element_t* b, element_t* V) noexcept nogil:
    """A random change, and what it costs; inf if it is not allowed."""
    cdef uint64_t draw = random_bits(&s.random)
    cdef element_t cuts
    cdef offset_t degree
    a[0] = <element_t>random_below(&s.random, s.n)
    degree = s.starts[a[0] + 1] - s.starts[a[0]]
    if draw & 1 and degree:
        b[0] = s.neighbours[s.starts[a[0]] + <offset_t>random_below(&s.random, degree)]
    else:
        b[0] = <element_t>random_below(&s.random, s.n)
    V[0] = s.label[b[0]]
    cuts = 0 if s.cuts == NULL else cuts_with(s, a[0], V[0])[0]
    if V[0] == s.label[a[0]]:
        b[0] = -1
        if s.used == s.columns or s.count[V[0]] == 1:
            return INFINITY
        V[0] = s.unused[s.columns - s.used - 1]
    elif cuts > 1:
        return INFINITY
    elif cuts:
        b[0] = cuts_with(s, a[0], V[0])[1]
    elif (s.sized and draw & 2) or s.load[V[0]] + s.sizes[a[0]] > s.max_size or (
        s.count[s.label[a[0]]] == 1 and s.used <= s.least
    ):
        b[0] = s.members[V[0] * s.room + <Py_ssize_t>random_below(&s.random, s.count[V[0]])]
    else:
        b[0] = -1
    return change_with(s, a[0], b[0], V[0])


cdef bint improve(Table* s, element_t a, double tolerance) noexcept nogil:
    """Make the best change of an element that lowers the cost, if there is one. O(n log n) with sizes, else O(n)"""
    cdef element_t U = s.label[a], V, b, cuts, chosen = -1, target = -1
    cdef Py_ssize_t i
    cdef double delta, least = -tolerance
    s.work += s.n if s.sized else s.columns
    if s.used < s.columns and s.count[U] > 1:
        V = s.unused[s.columns - s.used - 1]
        delta = change_with(s, a, -1, V)
        if delta < least:
            least, target = delta, V
    for V in range(<element_t>s.columns):
        if V == U or s.count[V] == 0:
            continue
        cuts = 0 if s.cuts == NULL else cuts_with(s, a, V)[0]
        if cuts > 1:
            continue
        if cuts == 0:
            delta = change_with(s, a, -1, V)
            if delta < least:
                least, target, chosen = delta, V, -1
        for i in range(1 if cuts else s.count[V] if s.sized else 0):
            b = cuts_with(s, a, V)[1] if cuts else s.members[V * s.room + i]
            delta = change_with(s, a, b, V)
            if delta < least:
                least, target, chosen = delta, V, b
    if target < 0:
        return False
    make(s, a, chosen, target, least)
    return True


cdef class Exchanges:
    """Annealing on one graph, given as compressed rows whose neighbours ascend.

    Parameters
    ----------
    starts, neighbours, costs
    sizes : array of int64
        The size of each element; 1 for all if there is a usual cost.
    max_size : int
        Sizes are not limited if this is at least the sum of all sizes.
    usual : float
        The cost of each pair, to which `costs` are added.
    least, most : int
        Fewest and most subsets. There is a column of the table for each of the most.
    tolerance : float
    """
    cdef Table s
    cdef list kept
    cdef element_t[::1] label
    cdef cost_t[::1] table
    cdef element_t[::1] cuts
    cdef double tolerance

    def __cinit__(
        self, const offset_t[::1] starts, const element_t[::1] neighbours, const cost_t[::1] costs,
        const int64_t[::1] sizes, long long max_size, double usual, Py_ssize_t least, Py_ssize_t most, double tolerance,
    ):
        cdef Py_ssize_t n = starts.shape[0] - 1, room = min(n, max_size)
        cdef int64_t[::1] load = zeros_int64(most)
        cdef element_t[::1] count = zeros_int32(most), place = zeros_int32(n)
        cdef element_t[::1] unused = zeros_int32(most), members = zeros_int32(most * room)
        self.label, self.table = zeros_int32(n), zeros_float64(n * most)
        self.cuts = zeros_int32(2 * n * most if np.isinf(costs).any() else 0)
        self.kept = [starts, neighbours, costs, sizes, load, count, place, unused, members]
        self.tolerance = tolerance
        self.s.n, self.s.columns, self.s.room = n, most, room
        self.s.max_size, self.s.usual, self.s.least = max_size, usual, least
        self.s.sized = max_size < np.sum(sizes)
        self.s.starts, self.s.sizes = &starts[0], &sizes[0]
        self.s.neighbours = &neighbours[0] if neighbours.shape[0] else NULL
        self.s.costs = &costs[0] if costs.shape[0] else NULL
        self.s.label, self.s.load, self.s.count = &self.label[0], &load[0], &count[0]
        self.s.place, self.s.unused, self.s.members = &place[0], &unused[0], &members[0]
        self.s.table = &self.table[0]
        self.s.cuts = &self.cuts[0] if self.cuts.shape[0] else NULL

    cdef void start(self, const element_t[::1] labels) noexcept nogil:
        cdef Table* s = &self.s
        cdef Py_ssize_t a, U
        cdef offset_t k
        self.table[:] = 0.0
        self.cuts[:] = 0
        for U in range(s.columns):
            s.load[U] = s.count[U] = 0
        for a in range(s.n):
            enter(s, <element_t>a, labels[a], s.count[labels[a]])
            s.count[labels[a]] += 1
        for a in range(s.n):
            for k in range(s.starts[a], s.starts[a + 1]):
                if s.costs[k] == INFINITY:
                    cuts_with(s, <element_t>a, labels[s.neighbours[k]])[0] += 1
                    cuts_with(s, <element_t>a, labels[s.neighbours[k]])[1] ^= s.neighbours[k]
                else:
                    s.table[a * s.columns + labels[s.neighbours[k]]] += s.costs[k]
        s.used = s.columns
        for U in range(s.columns - 1, -1, -1):
            if s.count[U] == 0:
                s.used -= 1
                s.unused[s.columns - s.used - 1] = <element_t>U
        s.cost = 0.0
        s.work = 0

    def sample(self, const element_t[::1] labels, Py_ssize_t count, unsigned long long seed):
        """The changes of cost of `count` random proposals; those that are not allowed are inf."""
        cdef cost_t[::1] out = zeros_float64(count)
        cdef element_t a, b, V
        cdef Py_ssize_t i
        with nogil:
            self.s.random = seed
            self.start(labels)
            for i in range(count):
                out[i] = propose(&self.s, &a, &b, &V)
        return np.asarray(out)

    def run(
        self,
        const element_t[::1] labels,
        long long steps,
        double hot,
        double cold,
        const double[::1] variates,
        unsigned long long seed,
        double cost,
        Stopping stopping,
    ):
        """Labels after `steps` steps from labels that obey all limits, and a descent; also the work beside these steps.

        A run that is stopped early gives the labels of that moment. `variates` are exponential variates; their number
        is a power of 2. The cost of the start serves `stopping` only.
        """
        cdef Table* s = &self.s
        cdef element_t a = 0, b = -1, V = 0
        cdef Py_ssize_t i
        cdef long long t, times = max(1, steps // AT_ONCE), moves = 1
        cdef uint64_t shift, mask = variates.shape[0] - 1
        cdef double delta
        cdef double[::1] temperatures = geometric(hot, cold, times)
        with nogil:
            s.random = seed
            self.start(labels)
            for t in range(times):
                if stopping.poll(cost):
                    moves = 0
                    break
                shift = random_below(&s.random, mask + 1)
                for i in range(AT_ONCE):
                    delta = propose(s, &a, &b, &V)
                    if delta <= temperatures[t] * variates[(i + shift) & mask]:
                        make(s, a, b, V, delta)
            while moves:
                moves = 0
                for a in range(s.n):
                    if stopping.poll(cost):
                        moves = 0
                        break
                    moves += improve(s, a, self.tolerance)
        return np.array(self.label), s.work
