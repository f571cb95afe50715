"""Kernel of local search: moves of single elements to another cluster, another choice, or both.

The cost of an element is computed anew from its pairs for each move, so that no rounding errors add up. Three searches
use the same moves:

* `descend`: elements in a queue are given their best cluster and choice while that lowers the cost. The neighbours of
  an element that has moved enter the queue.
* `chains`, with the technique of Kernighan and Lin: from each element, a sequence of moves whose next one is the best
  move of an element next to those that have moved, of any sign. The best prefix is kept if it lowers the cost.
* `shake`: a random region is changed, then the other two repair it; if the cost rises, all of that is undone.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport uint8_t, uint64_t
from libc.stdlib cimport free, malloc

from graphpart.kernels._arrays cimport empty_int32
from graphpart.kernels.growing cimport grow
from graphpart.kernels.random cimport random_below
from graphpart.kernels.ring cimport Ring, pop, push
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.stopping cimport Stopping

cdef enum:
    LENGTH = 16             # moves of a chain after its best prefix
    NEW = -1                # instead of a cluster: an empty one
    REGION = 24             # most elements of a region that is changed at random

cdef struct Move:
    element_t element, cluster, choice      # in the log: where it was

cdef struct Candidate:
    double delta
    element_t cluster, choice

cdef struct State:
    element_t n, K
    double tolerance, most
    const cost_t* own                   # (n, K)
    const cost_t* joined                # (m, K, K)
    const cost_t* parted
    const offset_t* start               # the pairs of element a: start[a] to start[a + 1]
    const element_t* other              # the other element of each
    const offset_t* code                # 2 * pair, plus 1 if a is its second element
    element_t* label
    element_t* choice
    element_t* size                     # of each cluster
    element_t* empty                    # a stack of clusters that were empty when they were put there
    element_t empties
    unsigned char* stacked              # whether a cluster is on that stack
    element_t* slot                     # of each cluster: its place among those next to the element at hand, or -1
    element_t* found                    # the clusters in the slots
    cost_t* base                        # (K,): costs of the choices of the element at hand, alone
    cost_t* gain                        # (slots, K): what being in a cluster adds
    Ring queue
    unsigned char* state                # in a chain: 0 not seen, 1 candidate, 2 moved
    Candidate* candidate                # of each element
    element_t* seen                     # the elements of a chain that were seen
    Move* log                           # moves, to undo them
    Py_ssize_t logged, room
    bint no_memory


cdef double best_move(State* s, element_t a, element_t* cluster, element_t* choice) noexcept nogil:
    """The difference of the cost by the best move of an element; staying as it is is no move."""
    cdef element_t K = s.K, c0 = s.label[a], k0 = s.choice[a], slots = 0, b, c, l, t, k
    cdef offset_t i, begin
    cdef const cost_t* together
    cdef const cost_t* apart
    cdef cost_t* gain
    cdef Py_ssize_t step
    cdef double now, best = INFINITY, value
    for k in range(K):
        s.base[k] = s.own[<Py_ssize_t>a * K + k]
    for i in range(s.start[a], s.start[a + 1]):
        b = s.other[i]
        l, c, begin = s.choice[b], s.label[b], (s.code[i] >> 1) * K * K
        begin += l * K if s.code[i] & 1 else l
        step = 1 if s.code[i] & 1 else K
        together, apart = s.joined + begin, s.parted + begin
        t = s.slot[c]
        if t < 0:
            t = slots
            slots += 1
            s.slot[c], s.found[t] = t, c
            for k in range(K):
                s.gain[<Py_ssize_t>t * K + k] = 0.0
        gain = s.gain + <Py_ssize_t>t * K
        for k in range(K):
            s.base[k] += apart[k * step]
            gain[k] += together[k * step] - apart[k * step]
    now = s.base[k0] + (s.gain[<Py_ssize_t>s.slot[c0] * K + k0] if s.slot[c0] >= 0 else 0.0)
    cluster[0], choice[0] = c0, k0
    if s.slot[c0] >= 0:                     # first of all the own cluster, then an empty one, then the others
        gain = s.gain + <Py_ssize_t>s.slot[c0] * K
        for k in range(K):
            if k != k0 and s.base[k] + gain[k] < best:
                best, choice[0] = s.base[k] + gain[k], k
    for k in range(K):
        if (k != k0 or s.slot[c0] >= 0) and s.base[k] < best:
            best, choice[0] = s.base[k], k
            cluster[0] = NEW if s.slot[c0] >= 0 else c0     # no pair links it to its cluster, so it may stay there
    for t in range(slots):
        c = s.found[t]
        if c != c0:
            gain = s.gain + <Py_ssize_t>t * K
            for k in range(K):
                value = s.base[k] + gain[k]
                if value < best:
                    best, choice[0], cluster[0] = value, k, c
        s.slot[c] = -1
    return best - now


cdef inline void leave(State* s, element_t c) noexcept nogil:
    s.size[c] -= 1
    if s.size[c] == 0 and not s.stacked[c]:
        s.empty[s.empties] = c
        s.empties += 1
        s.stacked[c] = True


cdef inline element_t new_cluster(State* s) noexcept nogil:
    """An empty cluster; there is one unless every element is alone."""
    cdef element_t c
    while True:
        s.empties -= 1
        c = s.empty[s.empties]
        s.stacked[c] = False
        if s.size[c] == 0:
            return c


cdef void put(State* s, element_t a, element_t cluster, element_t choice) noexcept nogil:
    """Move an element; the log has where it was."""
    cdef element_t c = s.label[a]
    if not grow(<void**>&s.log, &s.room, s.logged + 1, sizeof(Move)):
        s.no_memory = True
        return
    s.log[s.logged] = Move(a, c, s.choice[a])
    s.logged += 1
    s.choice[a] = choice
    if cluster != c:
        if cluster == NEW:
            if s.size[c] == 1:
                return
            cluster = new_cluster(s)
        leave(s, c)
        s.label[a] = cluster
        s.size[cluster] += 1


cdef void undo(State* s, Py_ssize_t logged) noexcept nogil:
    """Take back the moves after the first `logged` ones of the log."""
    cdef Move* m
    while s.logged > logged:
        s.logged -= 1
        m = &s.log[s.logged]
        s.choice[m.element] = m.choice
        if m.cluster != s.label[m.element]:
            leave(s, s.label[m.element])
            s.label[m.element] = m.cluster
            s.size[m.cluster] += 1


cdef inline double known(const State* s, double cost) noexcept nogil:
    """The cost, or inf if it is that of a forbidden solution."""
    return cost if cost <= s.most else INFINITY


cdef inline void push_neighbours(State* s, element_t a) noexcept nogil:
    cdef offset_t i
    for i in range(s.start[a], s.start[a + 1]):
        push(&s.queue, s.other[i])


cdef void push_moved(State* s, Py_ssize_t logged) noexcept nogil:
    """Put elements into the queue that have moved since the log had this length, and their neighbours."""
    cdef Py_ssize_t j
    for j in range(logged, s.logged):
        push(&s.queue, s.log[j].element)
        push_neighbours(s, s.log[j].element)


cdef double descend(State* s, double cost, Stopping stopping) noexcept nogil:
    """Work off the queue; returns the cost."""
    cdef element_t a, cluster, choice
    cdef double delta
    while s.queue.size > 0 and not s.no_memory:
        a = pop(&s.queue)
        delta = best_move(s, a, &cluster, &choice)
        if delta < -s.tolerance:
            put(s, a, cluster, choice)
            cost += delta
            push_neighbours(s, a)
            if stopping.tick(known(s, cost)):
                break
        elif stopping.poll(known(s, cost)):
            break
    while s.queue.size > 0:
        pop(&s.queue)
    return cost


cdef double chain(State* s, element_t seed) noexcept nogil:
    """A chain from an element; returns the difference of the cost, 0 if none lowers it."""
    cdef Py_ssize_t begin = s.logged, best_length = s.logged
    cdef element_t count = 1, t, a, b
    cdef offset_t i
    cdef double total = 0.0, best = -s.tolerance
    cdef element_t chosen
    s.seen[0], s.state[seed] = seed, 1
    s.candidate[seed].delta = best_move(s, seed, &s.candidate[seed].cluster, &s.candidate[seed].choice)
    while s.logged - best_length < LENGTH and not s.no_memory:
        chosen = -1
        for t in range(count):
            a = s.seen[t]
            if s.state[a] == 1 and (chosen < 0 or s.candidate[a].delta < s.candidate[chosen].delta):
                chosen = a
        if chosen < 0 or s.candidate[chosen].delta == INFINITY:
            break
        a = chosen
        total += s.candidate[a].delta
        put(s, a, s.candidate[a].cluster, s.candidate[a].choice)
        s.state[a] = 2
        if total < best:
            best, best_length = total, s.logged
        for i in range(s.start[a], s.start[a + 1]):
            b = s.other[i]
            if s.state[b] == 0:
                s.state[b] = 1
                s.seen[count] = b
                count += 1
            if s.state[b] == 1:
                s.candidate[b].delta = best_move(s, b, &s.candidate[b].cluster, &s.candidate[b].choice)
    undo(s, best_length)
    for t in range(count):
        s.state[s.seen[t]] = 0
    return best if best_length > begin else 0.0


cdef double chains(State* s, const element_t* seeds, Py_ssize_t count, double cost, Stopping stopping) noexcept nogil:
    """A chain from each of these elements; after one that lowers the cost, elements near it descend."""
    cdef Py_ssize_t k, before
    cdef double delta
    for k in range(count):
        before = s.logged
        delta = chain(s, seeds[k])
        if delta < 0.0:
            cost += delta
            push_moved(s, before)
            cost = descend(s, cost, stopping)
        if s.no_memory or stopping.poll(known(s, cost)):
            break
    return cost


cdef element_t region_of(State* s, element_t centre, element_t most, element_t* region) noexcept nogil:
    """The first elements that are reached from a centre, breadth first; returns their number."""
    cdef element_t count = 1, t = 0, a
    cdef offset_t i
    region[0], s.state[centre] = centre, 1
    while t < count and count < most:
        a = region[t]
        t += 1
        for i in range(s.start[a], s.start[a + 1]):
            if count < most and s.state[s.other[i]] == 0:
                s.state[s.other[i]] = 1
                region[count] = s.other[i]
                count += 1
    for t in range(count):
        s.state[region[t]] = 0
    return count


cdef double value_of(State* s, element_t a) noexcept nogil:
    """The costs of an element and of its pairs, as they are."""
    cdef element_t K = s.K
    cdef offset_t i, at
    cdef double value = s.own[<Py_ssize_t>a * K + s.choice[a]]
    for i in range(s.start[a], s.start[a + 1]):
        at = (s.code[i] >> 1) * K * K
        at += s.choice[s.other[i]] * K + s.choice[a] if s.code[i] & 1 else s.choice[a] * K + s.choice[s.other[i]]
        value += s.joined[at] if s.label[a] == s.label[s.other[i]] else s.parted[at]
    return value


cdef double change_region(State* s, uint64_t* random, element_t* region) noexcept nogil:
    """Change a random region; returns the difference of the cost.

    All of its elements become one cluster of one choice, or each is alone, or each gets a choice at random.
    """
    cdef element_t count, t, a, k = <element_t>random_below(random, s.K), cluster = NEW
    cdef int kind = <int>random_below(random, 3)
    cdef double delta = 0.0
    count = 2 + <element_t>random_below(random, REGION - 1)
    count = region_of(s, <element_t>random_below(random, s.n), count, region)
    for t in range(count):
        a = region[t]
        delta -= value_of(s, a)
        if kind == 0:
            put(s, a, cluster, k)
            cluster = s.label[a]
        elif kind == 1:
            put(s, a, NEW, s.choice[a])
        else:
            put(s, a, s.label[a], <element_t>random_below(random, s.K))
        if s.no_memory:
            return 0.0
        delta += value_of(s, a)
    return delta


cdef class LocalSearch:
    """Local search on the tables of a problem; see :mod:`graphpart.labeled.finite`.

    Labels are in 0, ..., n - 1, choices in 0, ..., K - 1; both arrays are changed in place.
    """

    cdef State s
    cdef void* memory[12]
    cdef int held
    cdef object kept, labels, choices
    cdef double cost

    def __cinit__(
        self,
        const cost_t[:, ::1] own,
        const cost_t[:, :, ::1] joined,
        const cost_t[:, :, ::1] parted,
        const offset_t[::1] start,
        const element_t[::1] other,
        const offset_t[::1] code,
        double most,
        double tolerance,
    ):
        cdef State* s = &self.s
        cdef Py_ssize_t n = own.shape[0], K = own.shape[1], degree = 0, k
        self.kept = (own, joined, parted, start, other, code)
        s.n, s.K = <element_t>n, <element_t>K
        s.most, s.tolerance = most, tolerance
        s.own = &own[0, 0] if n else NULL
        s.joined = &joined[0, 0, 0] if joined.shape[0] else NULL
        s.parted = &parted[0, 0, 0] if parted.shape[0] else NULL
        s.start = &start[0]
        s.other = &other[0] if other.shape[0] else NULL
        s.code = &code[0] if code.shape[0] else NULL
        s.log, s.logged, s.room, s.no_memory = NULL, 0, 0, False
        for k in range(n):
            degree = max(degree, start[k + 1] - start[k])
        s.size = <element_t*>self.take(n * sizeof(element_t))
        s.empty = <element_t*>self.take(n * sizeof(element_t))
        s.stacked = <unsigned char*>self.take(n)
        s.slot = <element_t*>self.take(n * sizeof(element_t))
        s.found = <element_t*>self.take((degree + 1) * sizeof(element_t))
        s.base = <cost_t*>self.take(K * sizeof(cost_t))
        s.gain = <cost_t*>self.take((degree + 1) * K * sizeof(cost_t))
        s.queue = Ring(<element_t*>self.take(n * sizeof(element_t)), <uint8_t*>self.take(n), 0, 0, n)
        s.state = <unsigned char*>self.take(n)
        s.candidate = <Candidate*>self.take(n * sizeof(Candidate))
        s.seen = <element_t*>self.take(n * sizeof(element_t))
        for k in range(n):
            s.slot[k], s.queue.inside[k], s.state[k] = -1, 0, 0

    cdef void* take(self, size_t size) except NULL:
        cdef void* taken = malloc(size + 1)
        if taken == NULL:
            raise MemoryError
        self.memory[self.held] = taken
        self.held += 1
        return taken

    def __dealloc__(self):
        cdef int k
        for k in range(self.held):
            free(self.memory[k])
        free(self.s.log)

    def begin(self, element_t[::1] labels, element_t[::1] choices, double cost):
        """Take over a solution and its cost."""
        cdef State* s = &self.s
        cdef Py_ssize_t k
        self.labels, self.choices, self.cost = labels.base, choices.base, cost
        s.label = &labels[0] if s.n else NULL
        s.choice = &choices[0] if s.n else NULL
        s.empties, s.logged = 0, 0
        for k in range(s.n):
            s.size[k], s.stacked[k] = 0, False
        for k in range(s.n):
            s.size[labels[k]] += 1
        for k in range(s.n - 1, -1, -1):
            if s.size[k] == 0:
                s.empty[s.empties] = <element_t>k
                s.empties += 1
                s.stacked[k] = True

    def improve(self, bint sequences, Stopping stopping):
        """Descend from all elements; with `sequences`, also by chains, until a round of them gains nothing."""
        cdef State* s = &self.s
        cdef double before
        cdef element_t[::1] every = np.arange(s.n, dtype=np.int32)
        cdef Py_ssize_t k
        if s.n == 0:
            return
        with nogil:
            for k in range(s.n):
                push(&s.queue, <element_t>k)
            self.cost = descend(s, self.cost, stopping)
            s.logged = 0
            while sequences and not s.no_memory and not stopping.poll(known(s, self.cost)):
                before = self.cost
                self.cost = chains(s, &every[0], s.n, self.cost, stopping)
                s.logged = 0
                if not self.cost < before - s.tolerance:
                    break
        self.check()

    def shake(self, uint64_t seed, long rounds, Stopping stopping):
        """Change random regions and repair them, `rounds` times; keep what does not raise the cost."""
        cdef State* s = &self.s
        cdef long r
        cdef double cost
        cdef Py_ssize_t j, count
        cdef uint64_t random = seed
        cdef element_t a
        if s.n == 0:
            return
        cdef element_t[::1] region = empty_int32(max(REGION + 2, s.n))
        with nogil:
            for r in range(rounds):
                if s.no_memory or stopping.tick(known(s, self.cost)):
                    break
                s.logged = 0
                cost = self.cost + change_region(s, &random, &region[0])
                push_moved(s, 0)
                cost = descend(s, cost, stopping)
                count = 0
                for j in range(s.logged):
                    a = s.log[j].element
                    if s.state[a] == 0:
                        s.state[a] = 1
                        region[count] = a
                        count += 1
                for j in range(count):
                    s.state[region[j]] = 0
                cost = chains(s, &region[0], count, cost, stopping)
                if cost > self.cost + s.tolerance:
                    undo(s, 0)
                else:
                    self.cost = cost
            s.logged = 0
        self.check()

    def check(self):
        """Raise MemoryError if there was no memory for the log of moves."""
        if self.s.no_memory:
            raise MemoryError
