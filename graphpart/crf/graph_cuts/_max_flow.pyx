"""Kernel of maximum flow: incremental breadth-first search (Goldberg, Hed, Kaplan, Tarjan & Werneck 2011).

First, flow is pushed along single edges between nodes that the source supplies and nodes that supply the sink. Then two
trees grow over arcs with residual capacity, one from the source, one towards the sink, both breadth first: the
label of a node is its distance to its terminal. Where an arc leads from one to the other, flow is pushed along the path
through both trees. Arcs that it saturates make orphans of the nodes below them:

1. An orphan takes another parent of the same distance if there is one; the search goes on where the last one ended.
2. Else it is lost, and its children are orphans. The orphans are taken by ascending distance.
3. The lost nodes get their distances anew by breadth-first search from those that are not lost. Who ends up beyond the
   present greatest label is free.

The trees grow by one label at a time, that with fewer nodes to scan first. If there are none, the flow is maximum: that
tree is one side of a minimum cut. Unlike the trees of Boykov & Kolmogorov (2004), this takes O(n^2 m) time at worst.

Capacities are integers of 64 bits; whoever fills them sees to it that no sum at a node exceeds 2^62. Edges have a
capacity for each direction, next to each other, in the order in which they were made; arcs refer to them.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t

from graphpart.kernels.memory cimport large_pages
from graphpart.stopping cimport Stopping

cdef enum:
    NONE = -1
    ROOT = -2


cdef class Network:
    """A network of n nodes beside source and sink, and edges between them.

    Edge e connects ``ends[2 * e]`` and ``ends[2 * e + 1]``, with ``capacity[2 * e]`` forwards and ``capacity[2 * e + 1]``
    backwards. In order: fill `ends`, connect, fill capacities and excess, run; then fill, clear and run again.
    """

    def __init__(self, Py_ssize_t n, Py_ssize_t edges):
        if n >= INT32_MAX or 2 * edges >= INT32_MAX:
            raise MemoryError(f"a network of {n} nodes and {edges} edges: expected fewer than 2^31 nodes and arcs")
        cdef Flow* f = &self.flow
        cdef Py_ssize_t i
        self.n, self.edges = n, edges
        self.kept = []
        f.n = n
        f.known_cost = INFINITY
        f.nodes = <Node*>self.memory((n + 1) * sizeof(Node), True)
        f.arcs = <Arc*>self.memory(2 * edges * sizeof(Arc), False)
        self.capacity = np.empty(2 * edges, np.int64)
        self.ends = np.empty(2 * edges, np.int32)
        f.capacity = &self.capacity[0] if edges else NULL
        if edges:
            large_pages(f.capacity, 2 * edges * sizeof(int64_t))
            large_pages(&self.ends[0], 2 * edges * sizeof(int32_t))
        for i in range(3):
            f.queue[i] = <int32_t*>self.memory(n * sizeof(int32_t), False)
        f.queued = <uint8_t*>self.memory(n, False)
        f.bucket[0] = <int32_t*>self.memory((n + 3) * sizeof(int32_t), False)
        f.bucket[1] = <int32_t*>self.memory((n + 3) * sizeof(int32_t), False)
        f.lost = <int32_t*>self.memory(n * sizeof(int32_t), False)
        f.wave = <int32_t*>self.memory(n * sizeof(int32_t), False)

    cdef void* memory(self, Py_ssize_t size, bint zero) except NULL:
        cdef char[::1] view = np.zeros(size + 64, np.int8) if zero else np.empty(size + 64, np.int8)
        large_pages(&view[0], size)
        self.kept.append(view)
        return <void*>&view[0]

    cdef void connect(self) noexcept nogil:
        """Make the arcs of all edges. O(n + edges)"""
        cdef Flow* f = &self.flow
        cdef Py_ssize_t i, v
        cdef int32_t at = 0
        for v in range(f.n + 1):
            f.nodes[v].first = 0
        for i in range(2 * self.edges):
            f.nodes[self.ends[i]].first += 1
        for v in range(f.n + 1):
            at += f.nodes[v].first
            f.nodes[v].first = at
        for i in range(2 * self.edges - 1, -1, -1):
            v = self.ends[i]
            f.nodes[v].first -= 1
            at = f.nodes[v].first
            f.arcs[at].head = self.ends[i ^ 1]
            f.arcs[at].place = <int32_t>i

    cdef void clear(self) noexcept nogil:
        """Set all capacities and excesses to 0."""
        cdef Py_ssize_t i
        for i in range(2 * self.edges):
            self.flow.capacity[i] = 0
        for i in range(self.n):
            self.flow.nodes[i].excess = 0

    cdef bint run(self, Stopping stopping) noexcept nogil:
        """Push flow until it is maximum, or False if stopped: what was pushed so far is a flow."""
        cdef Flow* f = &self.flow
        cdef bint finished
        if self.edges:
            push_along_edges(f, &self.ends[0], self.edges)
        start(f)
        while f.waiting[f.top[0]] and f.waiting[f.top[1]]:
            if f.waiting[f.top[0]] <= f.waiting[f.top[1]]:
                finished = grow(f, 0, stopping)
            else:
                finished = grow(f, 1, stopping)
            if not finished:
                return False
        self.source_done = f.waiting[f.top[0]] == 0
        return True

    cdef bint in_source_set(self, Py_ssize_t v) noexcept nogil:
        """Whether a node is on the source's side of the minimum cut that was found."""
        return self.flow.nodes[v].label > 0 if self.source_done else self.flow.nodes[v].label >= 0


cdef void start(Flow* f) noexcept nogil:
    cdef Py_ssize_t v
    cdef Node* node
    cdef int side
    f.waiting[0] = f.waiting[1] = f.waiting[2] = 0
    for side in range(2):
        f.top[side] = side
        f.greatest[side] = 1
        f.bucket[side][0] = f.bucket[side][1] = f.bucket[side][2] = NONE
        f.lowest[side] = INT32_MAX
        f.orphans[side] = 0
    for v in range(f.n):
        node = &f.nodes[v]
        node.parent = ROOT
        node.current = node.first
        f.queued[v] = 0
        if node.excess > 0:
            node.label = 1
            enter(f, 0, <int32_t>v)
        elif node.excess < 0:
            node.label = -1
            enter(f, 1, <int32_t>v)
        else:
            node.label = 0
            node.parent = NONE


cdef void push_along_edges(Flow* f, const int32_t* ends, Py_ssize_t edges) noexcept nogil:
    """Push what single edges let through, from nodes with a positive excess to nodes with a negative one."""
    cdef Py_ssize_t e
    cdef int forwards
    cdef int64_t amount
    cdef Node* p
    cdef Node* q
    for e in range(edges):
        p = &f.nodes[ends[2 * e]]
        q = &f.nodes[ends[2 * e + 1]]
        if p.excess > 0 and q.excess < 0:
            forwards = 0
        elif p.excess < 0 and q.excess > 0:
            forwards = 1
            p, q = q, p
        else:
            continue
        amount = min(f.capacity[2 * e + forwards], p.excess, -q.excess)
        p.excess -= amount
        q.excess += amount
        f.capacity[2 * e + forwards] -= amount
        f.capacity[2 * e + 1 - forwards] += amount


cdef inline void enter(Flow* f, int queue, int32_t v) noexcept nogil:
    cdef uint8_t bit = <uint8_t>(1 << queue)
    if not f.queued[v] & bit:
        f.queued[v] |= bit
        f.queue[queue][f.waiting[queue]] = v
        f.waiting[queue] += 1


cdef inline bint grow(Flow* f, int side, Stopping stopping) noexcept nogil:
    """Scan the nodes of the greatest label of one tree. False if stopped."""
    if side == 0:
        return grow_tree(f, 0, 1, 0, stopping)
    return grow_tree(f, 1, -1, 1, stopping)


cdef inline bint grow_tree(
    Flow* f, const int side, const int32_t sign, const int32_t flip, Stopping stopping
) noexcept nogil:
    # In the sink tree flow comes from the head of an arc: the capacity of the reverse arc counts (flip).
    cdef int own = f.top[side], later = 3 - f.top[0] - f.top[1]
    cdef int32_t label = sign * f.greatest[side], p, q, place
    cdef Py_ssize_t i, a, end
    cdef int64_t* capacity = f.capacity
    cdef Node* nodes = f.nodes
    f.top[side] = later
    f.greatest[side] += 1
    f.bucket[side][f.greatest[side]] = f.bucket[side][f.greatest[side] + 1] = NONE
    for i in range(f.waiting[own]):
        p = f.queue[own][i]
        f.queued[p] &= <uint8_t>~(1 << own)
        if nodes[p].label != label:
            continue
        if stopping.poll(f.known_cost):
            return False
        a = nodes[p].first
        end = nodes[p + 1].first
        while a < end:
            place = f.arcs[a].place ^ flip
            if capacity[place] == 0:
                a += 1
                continue
            q = f.arcs[a].head
            if nodes[q].label == 0:
                nodes[q].label = label + sign
                nodes[q].parent = p
                nodes[q].place = place
                nodes[q].current = nodes[q].first
                enter(f, later, q)
                a += 1
            elif (nodes[q].label > 0) != (sign > 0):
                if flip:
                    augment(f, q, p, place)
                else:
                    augment(f, p, q, place)
                if nodes[p].label != label:
                    break
                if stopping.poll(f.known_cost):
                    return False
            else:
                a += 1
    f.waiting[own] = 0
    return True


cdef void augment(Flow* f, int32_t p, int32_t q, int32_t bridge) noexcept nogil:
    """Push flow from the source through p, over the bridge, through q to the sink, and find parents for orphans."""
    cdef Node* nodes = f.nodes
    cdef int64_t* capacity = f.capacity
    cdef int64_t amount = capacity[bridge]
    cdef int32_t v = p, parent, place
    while nodes[v].parent != ROOT:
        if capacity[nodes[v].place] < amount:
            amount = capacity[nodes[v].place]
        v = nodes[v].parent
    if nodes[v].excess < amount:
        amount = nodes[v].excess
    v = q
    while nodes[v].parent != ROOT:
        if capacity[nodes[v].place] < amount:
            amount = capacity[nodes[v].place]
        v = nodes[v].parent
    if -nodes[v].excess < amount:
        amount = -nodes[v].excess
    capacity[bridge] -= amount
    capacity[bridge ^ 1] += amount
    v = p
    while nodes[v].parent != ROOT:
        parent, place = nodes[v].parent, nodes[v].place
        capacity[place] -= amount
        capacity[place ^ 1] += amount
        if capacity[place] == 0:
            make_orphan(f, 0, v, nodes[v].label)
        v = parent
    nodes[v].excess -= amount
    if nodes[v].excess == 0:
        make_orphan(f, 0, v, 1)
    v = q
    while nodes[v].parent != ROOT:
        parent, place = nodes[v].parent, nodes[v].place
        capacity[place] -= amount
        capacity[place ^ 1] += amount
        if capacity[place] == 0:
            make_orphan(f, 1, v, -nodes[v].label)
        v = parent
    nodes[v].excess += amount
    if nodes[v].excess == 0:
        make_orphan(f, 1, v, 1)
    if f.orphans[0]:
        adopt(f, 0, 1, 0)
    if f.orphans[1]:
        adopt(f, 1, -1, 1)


cdef inline void make_orphan(Flow* f, int side, int32_t v, int32_t label) noexcept nogil:
    f.nodes[v].parent = NONE
    f.nodes[v].link = f.bucket[side][label]
    f.bucket[side][label] = v
    f.orphans[side] += 1
    if label < f.lowest[side]:
        f.lowest[side] = label


cdef inline void adopt(Flow* f, const int side, const int32_t sign, const int32_t flip) noexcept nogil:
    """Find parents for all orphans of one tree; some nodes move away from the terminal, some become free."""
    cdef Node* nodes = f.nodes
    cdef int64_t* capacity = f.capacity
    cdef int32_t* bucket = f.bucket[side]
    cdef int32_t label = f.lowest[side], v, u, wanted, distance, best, greatest = f.greatest[side]
    cdef int32_t pending = 0, low = INT32_MAX
    cdef Py_ssize_t a, end, i, count = 0, begin = 0, stop, reached = 0
    cdef bint found
    while f.orphans[side]:
        v = bucket[label]
        if v == NONE:
            label += 1
            continue
        bucket[label] = nodes[v].link
        f.orphans[side] -= 1
        found = False
        end = nodes[v + 1].first
        if label > 1:
            wanted = sign * (label - 1)
            for a in range(nodes[v].current, end):
                u = f.arcs[a].head
                if nodes[u].label == wanted and capacity[f.arcs[a].place ^ 1 ^ flip]:
                    nodes[v].parent = u
                    nodes[v].place = f.arcs[a].place ^ 1 ^ flip
                    nodes[v].current = <int32_t>a
                    found = True
                    break
        if found:
            continue
        nodes[v].label = 0
        f.lost[count] = v
        count += 1
        for a in range(nodes[v].first, end):
            u = f.arcs[a].head
            if nodes[u].parent == v:
                make_orphan(f, side, u, label + 1)
    f.lowest[side] = INT32_MAX
    # The lost nodes: first those next to nodes that are not lost.
    for i in range(count):
        v = f.lost[i]
        best = greatest
        for a in range(nodes[v].first, nodes[v + 1].first):
            u = f.arcs[a].head
            distance = sign * nodes[u].label
            if 0 < distance < best and capacity[f.arcs[a].place ^ 1 ^ flip]:
                best = distance
                nodes[v].parent = u
                nodes[v].place = f.arcs[a].place ^ 1 ^ flip
        nodes[v].current = nodes[v].first
        if best < greatest:
            nodes[v].link = bucket[best + 1]
            bucket[best + 1] = v
            pending += 1
            if best + 1 < low:
                low = best + 1
    # Then, by ascending label, those next to them. wave[begin:stop] are all that have the label.
    label = low
    while pending or begin < reached:
        v = bucket[label]
        while v != NONE:
            pending -= 1
            if nodes[v].label == 0:
                nodes[v].label = sign * label
                f.wave[reached] = v
                reached += 1
            v = nodes[v].link
        bucket[label] = NONE
        stop = reached
        for i in range(begin, stop):
            v = f.wave[i]
            if label == greatest:
                enter(f, f.top[side], v)
                continue
            for a in range(nodes[v].first, nodes[v + 1].first):
                u = f.arcs[a].head
                if nodes[u].label == 0 and capacity[f.arcs[a].place ^ flip]:
                    nodes[u].label = sign * (label + 1)
                    nodes[u].parent = v
                    nodes[u].place = f.arcs[a].place ^ flip
                    nodes[u].current = nodes[u].first
                    f.wave[reached] = u
                    reached += 1
        begin = stop
        label += 1
    for i in range(count):
        if nodes[f.lost[i]].label == 0:
            nodes[f.lost[i]].parent = NONE


def max_flow(Py_ssize_t n, const int32_t[:, ::1] ends, const int64_t[:, ::1] capacity, const int64_t[::1] excess,
             Stopping stopping):
    """(finished, in source set, residual capacities, residual excess) of edges with capacities in both directions.

    Positive excess is capacity from the source, negative to the sink.
    """
    cdef Py_ssize_t e, v, m = ends.shape[0]
    cdef Network network = Network(n, m)
    cdef bint finished
    side = np.zeros(n, np.uint8)
    left = np.zeros(n, np.int64)
    cdef uint8_t[::1] in_source = side
    cdef int64_t[::1] rest = left
    with nogil:
        for e in range(m):
            network.ends[2 * e], network.ends[2 * e + 1] = ends[e, 0], ends[e, 1]
            network.capacity[2 * e], network.capacity[2 * e + 1] = capacity[e, 0], capacity[e, 1]
        network.connect()
        for v in range(n):
            network.flow.nodes[v].excess = excess[v]
        finished = network.run(stopping)
        for v in range(n):
            in_source[v] = network.in_source_set(v)
            rest[v] = network.flow.nodes[v].excess
    return finished, side.astype(bool), np.asarray(network.capacity).reshape(m, 2), left
