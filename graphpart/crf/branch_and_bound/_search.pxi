"""Hybrid best-first search: depth first up to a number of conflicts, then on from the open node with the least bound.

A node is a list of decisions. Each decision is about one variable: it has a given label, or it has any other label. If
the variable has many labels, a decision takes the lower or the upper half of them. The open node with the least bound
is searched depth first. After a number of conflicts, the unsearched parts of this node become open nodes. The number of
conflicts is doubled or halved so that returning to open nodes takes a small share of the time (Allouche, de Givry,
Katsirelos, Schiex & Zytnicki 2015). The least bound of all open nodes is a lower bound at any time.

The next variable is that of the last conflict if it still has several labels (Lecoutre, Sais, Tabary & Vidal 2009),
else the one with the smallest ratio of number of labels to weight. Its label is that of the best labeling, or else the
cheapest one.
"""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

import numpy as np

from graphpart.kernels._arrays cimport zeros_int32
from graphpart.kernels.growing cimport grow
from graphpart.kernels.heap cimport Heap, heap_rise, heap_sink
from graphpart.stopping cimport Stopping

cdef struct Node:           # an open one
    int64_t bound
    int64_t number
    int length
    int32_t* path           # decisions: 4 * (place of the label) + kind

cdef enum:
    THIS, OTHER             # kinds: this label, or any other one,
    LOWER, UPPER            # one up to this label, or one beyond it

cdef int MANY = 10          # number of labels from which on a decision halves them


cdef inline bint comes_first(void* context, const void* one, const void* other) noexcept nogil:
    cdef const Node* a = <const Node*>one
    cdef const Node* b = <const Node*>other
    if a.bound != b.bound:
        return a.bound < b.bound
    if a.length != b.length:
        return a.length > b.length
    return a.number < b.number


cdef struct Level:
    int64_t mark            # of the trail
    int64_t bound
    int length              # of the path
    int rest                # the decision of the other branch
    int variable


cdef class Search:
    """The search of one factor graph with whole costs.

    Parameters
    ----------
    costs : Costs
        Entries of at least 2**59 are forbidden. The search writes to the tables; they have their first values at the
        root only.
    delta : ndarray of int64
        The amounts that factors have sent to the labels. The costs of labels include them.
    top : int
        Only labelings that cost less than this are sought.
    gap : int
        The least difference between two different energies.
    room : int
        Bytes for open nodes.
    report : callable
        ``report(labels)`` takes a better labeling and returns its energy.

    Attributes
    ----------
    nodes, dives : int
    bound : int
    done : bool
    """

    cdef Store s
    cdef object keep, report, error
    cdef Node* heap
    cdef Level* levels
    cdef int32_t* path
    cdef int32_t[::1] best
    cdef bint known
    cdef Py_ssize_t heap_size, heap_room, levels_room
    cdef int64_t path_bytes, room, number, root, gap, least, limit, spent, replayed
    cdef readonly int64_t nodes, dives, conflicts
    cdef readonly bint done
    cdef double cost
    cdef int last, path_length, depth

    def __cinit__(self, costs, delta, int64_t top, int64_t gap, int64_t room, report, double cost):
        cdef int i
        self.keep = costs
        self.report, self.cost = report, cost
        allocate(&self.s, costs, delta)
        self.s.top = top
        self.gap, self.room, self.limit, self.last = gap, room, 1, -1
        self.path = <int32_t*>malloc((self.s.first[self.s.n] + 1) * sizeof(int32_t))
        if self.path == NULL:
            raise MemoryError("no memory for the search")
        self.best = zeros_int32(self.s.n)
        self.root = -1
        for i in range(self.s.n):
            self.s.weight[i] = max(1.0, self.s.near_count[i])

    def __dealloc__(self):
        cdef int64_t k
        for k in range(self.heap_size):
            free(self.heap[k].path)
        free(self.heap)
        free(self.levels)
        free(self.path)
        release(&self.s)

    @property
    def bound(self):
        """The least bound of all open nodes; `top` if there is none."""
        return min(self.s.top, self.heap[0].bound) if self.heap_size else (self.s.top if self.done else self.least)

    @property
    def open_nodes(self) -> int:
        return self.heap_size

    def offer(self, const int32_t[::1] labels, int64_t value, double cost):
        """Take over a labeling; `value` is its cost in whole units."""
        cdef int i
        if value < self.s.top:
            for i in range(self.s.n):
                self.best[i] = labels[i]
            self.known = True
            self.s.top = value - self.gap + 1
            self.cost = cost

    def run(self, Stopping stopping, int64_t more=-1) -> bool:
        """Search until the end, until stopped, or for `more` nodes; True if everything is searched."""
        cdef int64_t until = self.nodes + more if more >= 0 else <int64_t>1 << 62
        cdef Node node
        cdef Outcome outcome
        with nogil:
            if self.root < 0 and not self.done:
                self.start(stopping)
            while not self.done and self.root >= 0 and not self.s.failed:
                if self.heap_size == 0 or self.heap[0].bound >= self.s.top:
                    self.done = True
                    break
                if self.nodes >= until or stopping.look(self.cost):
                    break
                self.pop(&node)
                outcome = self.dive(&node, stopping, until)
                free(node.path)
                if outcome == STOPPED:
                    break
        if self.error is not None:
            error, self.error = self.error, None
            raise error
        if self.s.failed:
            raise MemoryError("no memory for the search")
        return self.done

    cdef void start(self, Stopping stopping) noexcept nogil:
        """Make the root consistent. This is never undone."""
        cdef Node node
        cdef Outcome outcome
        if self.root == -1:
            first_amounts(&self.s)
            self.root = -2
        else:  # it was stopped
            queue_all(&self.s)
        outcome = propagate(&self.s, stopping, self.cost)
        self.least = self.s.c0
        if outcome == CONFLICT:
            self.done = True
        elif outcome == CONSISTENT:
            self.s.trail_size = 0
            self.root = 0
            node.bound, node.length, node.path = self.s.c0, 0, NULL
            self.push(&node)

    # ------------------------------------------------------------------------------------------------- open nodes

    cdef void push(self, Node* node) noexcept nogil:
        if not grow(<void**>&self.heap, &self.heap_room, self.heap_size + 1, sizeof(Node)):
            self.s.failed = True
            return
        node.number = self.number
        self.number += 1
        self.path_bytes += node.length * 4 + 64
        self.heap_size += 1
        heap_rise(Heap(self.heap, self.heap_size, sizeof(Node), comes_first, NULL, NULL), self.heap_size - 1, node)

    cdef void pop(self, Node* node) noexcept nogil:
        cdef Node last
        node[0] = self.heap[0]
        self.path_bytes -= node.length * 4 + 64
        self.heap_size -= 1
        if self.heap_size:
            last = self.heap[self.heap_size]
            heap_sink(Heap(self.heap, self.heap_size, sizeof(Node), comes_first, NULL, NULL), 0, &last)

    cdef void open_path(self, int length, int extra, int64_t bound) noexcept nogil:
        """Push an open node: the first decisions of the path, and the decision `extra` unless it is -1."""
        cdef Node node
        if bound >= self.s.top:
            return
        node.length = length + (extra >= 0)
        node.bound = bound
        node.path = <int32_t*>malloc((node.length + 1) * sizeof(int32_t))
        if node.path == NULL:
            self.s.failed = True
            return
        memcpy(node.path, self.path, length * sizeof(int32_t))
        if extra >= 0:
            node.path[length] = extra
        self.push(&node)

    cdef void leave(self, int64_t bound) noexcept nogil:
        """All levels become open nodes."""
        cdef int d
        cdef Level* l
        for d in range(self.depth - 1, -1, -1):
            l = &self.levels[d]
            self.open_path(l.length, l.rest, max(bound, l.bound))
        self.depth = 0

    # --------------------------------------------------------------------------------------------------- one dive

    cdef void decide(self, int decision) noexcept nogil:
        cdef Store* s = &self.s
        cdef int i = self.variable_of(decision >> 2), a = <int>((decision >> 2) - s.first[i]), kind = decision & 3, b
        cdef int64_t k
        if kind == OTHER:
            if is_live(s, i, a):
                remove(s, i, a)
            return
        if kind == THIS and not is_live(s, i, a):
            s.conflict = True
            return
        for k in range(s.count[i] - 1, -1, -1):
            b = s.live[s.first[i] + k]
            if not s.conflict and (b != a if kind == THIS else b > a if kind == LOWER else b <= a):
                remove(s, i, b)

    cdef int variable_of(self, int64_t place) noexcept nogil:
        cdef int low = 0, high = self.s.n, middle
        while high - low > 1:
            middle = (low + high) // 2
            if self.s.first[middle] <= place:
                low = middle
            else:
                high = middle
        return low

    cdef Outcome dive(self, Node* node, Stopping stopping, int64_t until) noexcept nogil:
        cdef Store* s = &self.s
        cdef Outcome outcome
        cdef int64_t until_conflict = self.conflicts + self.limit
        cdef int k, i, a, decision
        cdef Level* l
        undo(s, self.root)
        clear(s)
        self.depth = 0
        self.path_length = node.length
        if node.length:
            memcpy(self.path, node.path, node.length * sizeof(int32_t))
        for k in range(node.length):
            self.decide(node.path[k])
            if s.conflict:
                break
        outcome = propagate(s, stopping, self.cost)
        self.dives += 1
        self.replayed += 1 + node.length // 4
        if outcome == STOPPED:
            self.open_path(self.path_length, -1, node.bound)
            return STOPPED
        while True:
            if outcome == CONSISTENT:
                self.nodes += 1
                i = self.choose(&a)
                if i < 0:
                    self.solution()
                else:
                    if not grow(<void**>&self.levels, &self.levels_room, self.depth + 1, sizeof(Level)):
                        s.failed = True
                        return STOPPED
                    l = &self.levels[self.depth]
                    decision = self.branch(i, a)
                    l.mark, l.bound, l.length, l.variable = s.trail_size, s.c0, self.path_length, i
                    l.rest = decision ^ 1
                    self.depth += 1
                    self.path[self.path_length] = decision
                    self.path_length += 1
                    s.current = -1
                    self.decide(decision)
                    outcome = propagate(s, stopping, self.cost)
                    if outcome == STOPPED:
                        self.open_path(self.path_length, -1, max(node.bound, l.bound))
                        self.leave(node.bound)
                        return STOPPED
                    continue
            # A conflict: the other branch of the deepest level.
            if self.depth == 0:
                break
            self.conflicts += 1
            if self.nodes >= until or stopping.look(self.cost):
                self.leave(node.bound)
                return STOPPED
            if self.conflicts >= until_conflict and self.path_bytes < self.room:
                self.leave(node.bound)
                break
            self.depth -= 1
            l = &self.levels[self.depth]
            undo(s, l.mark)
            self.path_length = l.length
            self.last = l.variable
            if l.bound >= s.top:
                outcome = CONFLICT
                continue
            self.path[self.path_length] = l.rest
            self.path_length += 1
            s.current = -1
            self.decide(l.rest)
            outcome = propagate(s, stopping, self.cost)
            if outcome == STOPPED:
                self.open_path(self.path_length, -1, max(node.bound, l.bound))
                self.leave(node.bound)
                return STOPPED
        if self.replayed * 10 > self.nodes and self.limit < 1 << 14:
            self.limit *= 2
        elif self.replayed * 20 < self.nodes and self.limit > 1:
            self.limit //= 2
        return CONFLICT

    cdef int branch(self, int i, int a) noexcept nogil:
        """The decision about a variable that is tried first; label a is the most promising."""
        cdef Store* s = &self.s
        cdef int64_t k
        cdef int low, high, middle, below, b
        if s.count[i] <= MANY:
            return <int>(4 * (s.first[i] + a) + THIS)
        low, high = s.live[s.first[i]], s.live[s.first[i]]
        for k in range(s.count[i]):
            b = s.live[s.first[i] + k]
            low, high = min(low, b), max(high, b)
        while True:  # the median, by bisection
            middle = (low + high) // 2
            below = 0
            for k in range(s.count[i]):
                below += s.live[s.first[i] + k] <= middle
            if low == high:
                break
            if 2 * below < s.count[i]:
                low = middle + 1
            else:
                high = middle
        return <int>(4 * (s.first[i] + middle) + (LOWER if a <= middle else UPPER))

    cdef int choose(self, int* label) noexcept nogil:
        """The variable to decide about, or -1 if all have one label."""
        cdef Store* s = &self.s
        cdef int i, chosen = -1, a
        cdef int64_t k, cost, least
        cdef double score, best = 0.0
        if self.last >= 0 and s.count[self.last] > 1 and not s.gone[self.last]:
            chosen = self.last
        else:
            for i in range(s.n):
                if s.count[i] > 1 and not s.gone[i]:
                    score = s.weight[i] / s.count[i]
                    if score > best or (score == best and s.highest[i] > s.highest[chosen]):
                        best = score
                        chosen = i
            if chosen < 0:
                return -1
        if self.known and is_live(s, chosen, self.best[chosen]):
            label[0] = self.best[chosen]
            return chosen
        label[0] = s.eac[chosen]
        if is_live(s, chosen, s.eac[chosen]) and s.unary[s.first[chosen] + s.eac[chosen]] == s.base[chosen]:
            return chosen
        least = 4 * s.forbidden
        for k in range(s.count[chosen]):
            a = s.live[s.first[chosen] + k]
            cost = s.unary[s.first[chosen] + a]
            if cost < least:
                least = cost
                label[0] = a
        return chosen

    cdef void solution(self) noexcept nogil:
        cdef Store* s = &self.s
        cdef int i
        for i in range(s.n):
            self.best[i] = s.live[s.first[i]]
        last_labels(s, &self.best[0])
        self.known = True
        s.top = s.c0 - self.gap + 1
        with gil:
            self.tell()

    cdef void tell(self):
        try:
            self.cost = self.report(np.array(self.best), self.s.c0)
        except BaseException as error:
            self.error = error
            self.s.failed = True
