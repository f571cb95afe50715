"""Kernel of maximum flow: incremental breadth-first search (Goldberg, Hed, Kaplan, Tarjan & Werneck 2011).

First, flow is pushed along single edges between nodes that the source supplies and nodes that supply the sink. Then two
trees grow over arcs with residual capacity, one from the source, one towards the sink, both breadth first: the
label of a node is its distance to its terminal. Where an arc leads from one to the other, flow is pushed along the path
through both trees. Arcs that it saturates make orphans of the nodes below them:

1. An orphan takes another parent of the same distance if there is one; the search goes on where the last one ended.
2. Otherwise it is lost, and its children become orphans. Orphans are taken by ascending distance.
3. The lost nodes get new distances by breadth-first search from nodes that are not lost. A node beyond the present
   greatest label becomes free.

The trees grow by one label at a time; the tree with fewer nodes to scan comes first. If it has no node to scan, the
flow is maximum, and the tree is one side of a minimum cut. Unlike the algorithm of Boykov & Kolmogorov (2004), this
takes O(n^2 m) time at worst.

**Mirrored networks** have a mirror image of each node and each edge, as those of roof duality have, and their flow is
its own mirror image. Then the sink tree is the mirror image of the source tree, and one tree is enough:

* Node v stands for two nodes. The lowest bit of its label says whether v or its mirror image is in the tree. An edge
  between u and v has the same capacities as that between their mirror images; one that is *crossed* connects u
  with the mirror image of v, and v with that of u.
* An arc that leads from the tree to the mirror image of a node of the tree completes a path. Flow is pushed along this
  path and its mirror image at once. If both ends of the arc have a common root, arcs from the root to where their ways
  part are passed twice, so only half their capacity counts. A capacity of 1 is then set to 0 and noted as dropped.
  Capacities that are multiples of 2^24 were never dropped in tests: grids of 90,000 nodes took at most three halvings.
* All nodes of the greatest label are scanned in turn, in whichever copy they are. Distances grow as above.

Capacities are integers of 64 bits. The caller ensures that no sum at a node exceeds 2^62. Edges have a
capacity for each direction, next to each other, in the order in which they were made; arcs refer to them.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t

from graphpart.kernels._arrays cimport empty_int32, empty_int64, empty_int8, zeros_int64, zeros_int8, zeros_uint8
from graphpart.kernels.memory cimport large_pages
from graphpart.stopping cimport Stopping

# Functions that look at many arcs are compiled for each kind of network, so that plain networks take no extra time.
ctypedef int32_t Plain
ctypedef int64_t Mirrored

ctypedef fused Kind:
    Plain
    Mirrored

cdef enum:
    NONE = -1
    ROOT = -2
    SINK = 1            # a bit of labels
    LOST = 3            # where that bit of a lost node is kept, above those of the queues


cdef class Network:
    """A network of n nodes beside source and sink, and edges between them.

    Edge e connects ``ends[2 * e]`` and ``ends[2 * e + 1]``, with ``capacity[2 * e]`` forwards and ``capacity[2 * e + 1]``
    backwards. In a mirrored network, ``ends[2 * e + 1]`` is ``~v`` where edge e is crossed. In order: fill `ends`, connect,
    fill capacities and excess, run; then fill, clear and run again.
    """

    def __init__(self, Py_ssize_t n, Py_ssize_t edges, bint mirrored=False):
        if 2 * n >= INT32_MAX - 3 or 2 * edges >= INT32_MAX:    # labels are up to 2 * n + 3
            raise MemoryError(f"a network of {n} nodes and {edges} edges: expected fewer than 2^30 of each")
        cdef Flow* f = &self.flow
        cdef Py_ssize_t i
        self.n, self.edges = n, edges
        self.kept = []
        f.n, f.mirrored = n, mirrored
        f.known_cost = INFINITY
        f.nodes = <Node*>self.memory((n + 1) * sizeof(Node), True)
        f.arcs = <Arc*>self.memory(2 * edges * sizeof(Arc), False)
        self.capacity = empty_int64(2 * edges)
        self.ends = empty_int32(2 * edges)
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
        f.drops = False
        f.dropped = <uint8_t*>self.memory(2 * edges, True) if mirrored else NULL
        f.dropped_excess = <uint8_t*>self.memory(n, True) if mirrored else NULL

    cdef void* memory(self, Py_ssize_t size, bint zero) except NULL:
        cdef char[::1] view = zeros_int8(size + 64) if zero else empty_int8(size + 64)
        large_pages(&view[0], size)
        self.kept.append(view)
        return <void*>&view[0]

    cdef void connect(self) noexcept nogil:
        """Make the arcs of all edges. O(n + edges)"""
        if self.flow.mirrored:
            connect(&self.flow, &self.ends[0] if self.edges else NULL, self.edges, <Mirrored>0)
        else:
            connect(&self.flow, &self.ends[0] if self.edges else NULL, self.edges, <Plain>0)

    cdef void clear(self) noexcept nogil:
        """Set all capacities and excesses to 0."""
        cdef Py_ssize_t i
        for i in range(2 * self.edges):
            self.flow.capacity[i] = 0
        for i in range(self.n):
            self.flow.nodes[i].excess = 0

    cdef bint run(self, Stopping stopping) noexcept nogil:
        """Push flow until it is maximum. False if stopped; the arcs then hold a valid flow."""
        cdef Flow* f = &self.flow
        if f.mirrored:
            if self.edges:
                push_along_edges(f, &self.ends[0], self.edges, <Mirrored>0)
            start(f)
            while f.waiting[f.top[0]]:
                if not grow(f, 0, <Mirrored>0, stopping):
                    return False
        else:
            if self.edges:
                push_along_edges(f, &self.ends[0], self.edges, <Plain>0)
            start(f)
            while f.waiting[f.top[0]] and f.waiting[f.top[1]]:
                if not grow(f, f.waiting[f.top[0]] > f.waiting[f.top[1]], <Plain>0, stopping):
                    return False
        self.source_done = f.waiting[f.top[0]] == 0
        return True

    cdef bint in_source_set(self, Py_ssize_t v) noexcept nogil:
        """Whether a node is on the source's side of the minimum cut that was found."""
        cdef int32_t label = self.flow.nodes[v].label
        return label & SINK == 0 and (label > 0 or not self.source_done)


cdef inline int32_t node_of(int32_t end, Kind kind) noexcept nogil:
    if Kind is Mirrored:
        return end if end >= 0 else ~end
    else:
        return end


cdef void connect(Flow* f, const int32_t* ends, Py_ssize_t edges, Kind kind) noexcept nogil:
    cdef Py_ssize_t i, v
    cdef int32_t at = 0, crossed
    for v in range(f.n + 1):
        f.nodes[v].first = 0
    for i in range(2 * edges):
        f.nodes[node_of(ends[i], kind)].first += 1
    for v in range(f.n + 1):
        at += f.nodes[v].first
        f.nodes[v].first = at
    for i in range(2 * edges - 1, -1, -1):
        v = node_of(ends[i], kind)
        f.nodes[v].first -= 1
        at = f.nodes[v].first
        f.arcs[at].head = ends[i ^ 1]
        f.arcs[at].place = <int32_t>i
        if Kind is Mirrored:
            crossed = (ends[i] ^ ends[i ^ 1]) < 0
            f.arcs[at].head = 2 * node_of(ends[i ^ 1], kind) + crossed
            f.arcs[at].place &= ~crossed


cdef inline int32_t head_of(const Arc* arc, Kind kind) noexcept nogil:
    if Kind is Mirrored:
        return arc.head >> 1
    else:
        return arc.head


cdef inline int32_t crossed(const Arc* arc, Kind kind) noexcept nogil:
    if Kind is Mirrored:
        return arc.head & 1
    else:
        return 0


cdef inline int side_of(const Flow* f, int32_t label) noexcept nogil:
    """The tree of a node."""
    return label & 1 and not f.mirrored


cdef void start(Flow* f) noexcept nogil:
    cdef Py_ssize_t v
    cdef Node* node
    cdef int side
    f.waiting[0] = f.waiting[1] = f.waiting[2] = 0
    f.spilled = 0
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
            node.label = 2
            enter(f, 0, <int32_t>v)
        elif node.excess < 0:
            node.label = 2 + SINK
            enter(f, side_of(f, SINK), <int32_t>v)
        else:
            node.label = 0
            node.parent = NONE


cdef void push_along_edges(Flow* f, const int32_t* ends, Py_ssize_t edges, Kind kind) noexcept nogil:
    """Push flow along single edges, from nodes with a positive excess to nodes with a negative one.

    A crossed edge leads to the mirror image of its second node, whose excess has the opposite sign.
    """
    cdef Py_ssize_t e
    cdef int forwards
    cdef int64_t amount, demand
    cdef Node* p
    cdef Node* q
    for e in range(edges):
        p, q = &f.nodes[ends[2 * e]], &f.nodes[node_of(ends[2 * e + 1], kind)]
        demand = -q.excess
        if Kind is Mirrored:
            demand = demand if ends[2 * e + 1] >= 0 else q.excess
        if p.excess > 0 and demand > 0:
            forwards = 0
            amount = min(f.capacity[2 * e], p.excess, demand)
        elif p.excess < 0 and demand < 0:
            forwards = 1
            amount = min(f.capacity[2 * e + 1], -p.excess, -demand)
        else:
            continue
        p.excess -= amount if p.excess > 0 else -amount
        q.excess -= amount if q.excess > 0 else -amount
        f.capacity[2 * e + forwards] -= amount
        f.capacity[2 * e + 1 - forwards] += amount


cdef inline void enter(Flow* f, int queue, int32_t v) noexcept nogil:
    cdef uint8_t bit = <uint8_t>(1 << queue)
    if not f.queued[v] & bit:
        f.queued[v] |= bit
        f.queue[queue][f.waiting[queue]] = v
        f.waiting[queue] += 1


cdef bint grow(Flow* f, int side, Kind kind, Stopping stopping) noexcept nogil:
    """Scan the nodes of the greatest label of one tree. False if stopped."""
    # In the sink tree flow comes from the head of an arc: the capacity of the reverse arc counts.
    cdef int own = f.top[side], later = 3 - f.top[0] - f.top[1]
    cdef int32_t greatest = f.greatest[side], label, p, q, place, tree
    cdef Py_ssize_t i, a, end
    cdef int64_t* capacity = f.capacity
    cdef Node* nodes = f.nodes
    cdef Arc* arcs = f.arcs
    f.top[side] = later
    f.greatest[side] += 1
    f.bucket[side][f.greatest[side]] = f.bucket[side][f.greatest[side] + 1] = NONE
    for i in range(f.waiting[own]):
        p = f.queue[own][i]
        f.queued[p] &= <uint8_t>~(1 << own)
        label = nodes[p].label
        if label >> 1 != greatest or side_of(f, label) != side:  # the node has moved
            continue
        if stopping.poll(f.known_cost):
            return False
        a = nodes[p].first
        end = nodes[p + 1].first
        while a < end:
            place = arcs[a].place ^ (label & SINK)
            if capacity[place] == 0:
                a += 1
                continue
            q = head_of(&arcs[a], kind)
            tree = (label & SINK) ^ crossed(&arcs[a], kind)
            if nodes[q].label == 0:
                nodes[q].label = 2 * (greatest + 1) + tree
                nodes[q].parent = p
                nodes[q].place = place
                nodes[q].current = nodes[q].first
                enter(f, later, q)
                a += 1
            elif nodes[q].label & SINK != tree:
                augment(f, p, q, place, kind)
                if nodes[p].label != label:
                    break
                if stopping.poll(f.known_cost):
                    return False
            else:
                a += 1
    f.waiting[own] = 0
    return True


cdef inline int32_t least_along(Flow* f, int32_t v, int64_t* least) noexcept nogil:
    """The root above a node, and the least capacity on the way."""
    cdef Node* nodes = f.nodes
    cdef int64_t* capacity = f.capacity
    cdef int64_t amount = least[0]
    while nodes[v].parent != ROOT:
        if capacity[nodes[v].place] < amount:
            amount = capacity[nodes[v].place]
        v = nodes[v].parent
    least[0] = min(amount, magnitude(nodes[v].excess))
    return v


cdef inline void push_along(Flow* f, int32_t v, int64_t amount) noexcept nogil:
    """Push flow between a node and its root. Saturated arcs make orphans."""
    cdef Node* nodes = f.nodes
    cdef int64_t* capacity = f.capacity
    cdef int32_t parent, place
    while nodes[v].parent != ROOT:
        parent, place = nodes[v].parent, nodes[v].place
        capacity[place] -= amount
        capacity[place ^ 1] += amount
        if capacity[place] == 0:
            make_orphan(f, side_of(f, nodes[v].label), v, nodes[v].label >> 1)
        v = parent
    nodes[v].excess -= amount if nodes[v].excess > 0 else -amount
    if nodes[v].excess == 0:
        make_orphan(f, side_of(f, nodes[v].label), v, 1)


cdef void augment(Flow* f, int32_t p, int32_t q, int32_t bridge, Kind kind) noexcept nogil:
    """Push flow along a path from root to root, over the bridge between p and q, and find parents for orphans."""
    cdef int64_t amount = f.capacity[bridge]
    cdef int32_t root = least_along(f, p, &amount), other = least_along(f, q, &amount)
    if Kind is Mirrored and root == other:
        amount = least_twice(f, p, q, f.capacity[bridge])
    if amount:
        f.capacity[bridge] -= amount
        f.capacity[bridge ^ 1] += amount
        push_along(f, p, amount)
        push_along(f, q, amount)
    if f.orphans[0]:
        adopt(f, 0, kind)
    if f.orphans[1]:
        adopt(f, 1, kind)


cdef int64_t least_twice(Flow* f, int32_t p, int32_t q, int64_t amount) noexcept nogil:
    """The flow, at most `amount`, that fits along the path through p and q if both have a common root.

    If it is 0, capacities of 1 on the common part are dropped.
    """
    cdef Node* nodes = f.nodes
    cdef int64_t* capacity = f.capacity
    cdef int32_t v, parent
    while p != q:
        if nodes[p].label >> 1 < nodes[q].label >> 1:
            p, q = q, p
        amount = min(amount, capacity[nodes[p].place])
        p = nodes[p].parent
    v = p
    while nodes[v].parent != ROOT:
        amount = min(amount, capacity[nodes[v].place] >> 1)
        v = nodes[v].parent
    amount = min(amount, magnitude(nodes[v].excess) >> 1)
    if amount:
        return amount
    f.drops = True
    if magnitude(nodes[v].excess) == 1:
        f.dropped_excess[v] |= 1 if nodes[v].excess > 0 else 2
        nodes[v].excess = 0
        f.spilled += 1
        make_orphan(f, 0, v, 1)
    while p != v:
        parent = nodes[p].parent
        if capacity[nodes[p].place] == 1:
            capacity[nodes[p].place] = 0
            f.dropped[nodes[p].place] = 1
            make_orphan(f, 0, p, nodes[p].label >> 1)
        p = parent
    return 0


cdef inline void make_orphan(Flow* f, int side, int32_t v, int32_t label) noexcept nogil:
    f.nodes[v].parent = NONE
    f.nodes[v].link = f.bucket[side][label]
    f.bucket[side][label] = v
    f.orphans[side] += 1
    if label < f.lowest[side]:
        f.lowest[side] = label


cdef void adopt(Flow* f, int side, Kind kind) noexcept nogil:
    """Find parents for all orphans of one tree; some nodes move away from the terminal, some become free."""
    cdef Node* nodes = f.nodes
    cdef Arc* arcs = f.arcs
    cdef int64_t* capacity = f.capacity
    cdef int32_t* bucket = f.bucket[side]
    cdef int32_t label = f.lowest[side], v, u, away, wanted, best, greatest = f.greatest[side]
    cdef int32_t pending = 0, low = INT32_MAX, tree = side
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
        if Kind is Mirrored:
            tree = nodes[v].label & SINK
        if label > 1:
            wanted = 2 * (label - 1) + tree
            for a in range(nodes[v].current, end):
                u = head_of(&arcs[a], kind)
                if nodes[u].label ^ crossed(&arcs[a], kind) == wanted and capacity[arcs[a].place ^ 1 ^ tree]:
                    nodes[v].parent = u
                    nodes[v].place = arcs[a].place ^ 1 ^ tree
                    nodes[v].current = <int32_t>a
                    found = True
                    break
        if found:
            continue
        nodes[v].label = 0
        if Kind is Mirrored:
            f.queued[v] = <uint8_t>((f.queued[v] & ~(1 << LOST)) | (tree << LOST))
        f.lost[count] = v
        count += 1
        for a in range(nodes[v].first, end):
            u = head_of(&arcs[a], kind)
            if nodes[u].parent == v:
                make_orphan(f, side, u, label + 1)
    f.lowest[side] = INT32_MAX
    # The lost nodes: first those next to nodes that are not lost.
    for i in range(count):
        v = f.lost[i]
        best = greatest
        if Kind is Mirrored:
            tree = f.queued[v] >> LOST
        for a in range(nodes[v].first, nodes[v + 1].first):
            u = head_of(&arcs[a], kind)
            away = nodes[u].label ^ crossed(&arcs[a], kind) ^ tree
            if SINK < away < 2 * best and away & SINK == 0 and capacity[arcs[a].place ^ 1 ^ tree]:
                best = away >> 1
                nodes[v].parent = u
                nodes[v].place = arcs[a].place ^ 1 ^ tree
        nodes[v].current = nodes[v].first
        if best < greatest:
            nodes[v].link = bucket[best + 1]
            bucket[best + 1] = v
            pending += 1
            if best + 1 < low:
                low = best + 1
    # Then, by ascending label, the lost nodes next to these. wave[begin:stop] are all nodes with the label.
    label = low
    while pending or begin < reached:
        v = bucket[label]
        while v != NONE:
            pending -= 1
            if nodes[v].label == 0:
                if Kind is Mirrored:
                    tree = f.queued[v] >> LOST
                nodes[v].label = 2 * label + tree
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
            if Kind is Mirrored:
                tree = nodes[v].label & SINK
            for a in range(nodes[v].first, nodes[v + 1].first):
                u = head_of(&arcs[a], kind)
                if nodes[u].label == 0 and capacity[arcs[a].place ^ tree]:
                    nodes[u].label = 2 * (label + 1) + (tree ^ crossed(&arcs[a], kind))
                    nodes[u].parent = v
                    nodes[u].place = arcs[a].place ^ tree
                    nodes[u].current = nodes[u].first
                    f.wave[reached] = u
                    reached += 1
        begin = stop
        label += 1
    for i in range(count):
        if nodes[f.lost[i]].label == 0:
            nodes[f.lost[i]].parent = NONE


def max_flow(Py_ssize_t n, const int32_t[:, ::1] ends, const int64_t[:, ::1] capacity, const int64_t[::1] excess,
             Stopping stopping, bint mirrored=False):
    """(finished, in source set, residual capacities, residual excess) of edges with capacities in both directions.

    Positive excess is capacity from the source, negative to the sink. `ends` and `mirrored` as for `Network`.
    """
    cdef Py_ssize_t e, v, m = ends.shape[0]
    cdef Network network = Network(n, m, mirrored)
    cdef bint finished
    side = zeros_uint8(n)
    left = zeros_int64(n)
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
