"""Kernel of the cheapest changes: sums of costs from elements to subsets, sets that leave a subset, later moves.

Pairs are sorted, ``u < v``, and their costs are finite or ``inf``; labels are canonical. The background, groups and a
largest size are terms (kernels/terms.pxd): they add to the sum of an element and a subset, or forbid it.
"""

import numpy as np

from libc.math cimport INFINITY

from graphpart.kernels._arrays cimport (
    empty_float64, empty_int32, full_float64, full_int32, zeros_float64, zeros_int32, zeros_int64, zeros_uint8,
)
from graphpart.kernels._pairs cimport CompressedRows, RowView
from graphpart.kernels.fixed cimport fixed_t
from graphpart.kernels.groups cimport groups_of_pair
from graphpart.kernels.terms cimport Terms, take_terms, terms_at, terms_between, terms_move, terms_put
from graphpart.kernels.types cimport element_t, offset_t
from graphpart.stopping cimport Stopping

cdef enum:
    LONGEST = 1000      # an element with more neighbours does not follow others
    MOST_LOOKS = 64     # most elements that are examined for one pair


# ---------------------------------------------------------------------------------------------- sets formed by joins

cdef inline element_t top_of(element_t* parent, double* least, element_t a, double* smallest) noexcept nogil:
    """The root above a node; into `smallest`, the least value from the node up to the root, without the root.

    least[x] is the least value of x and the nodes above it below parent[x]; paths are halved on the way.
    """
    cdef element_t up, over
    smallest[0] = INFINITY
    while True:
        up = parent[a]
        if up < 0:
            return a
        over = parent[up]
        if over >= 0:
            if least[up] < least[a]:
                least[a] = least[up]
            parent[a] = over
            up = over
        if least[a] < smallest[0]:
            smallest[0] = least[a]
        a = up


cdef inline void offer(
    Py_ssize_t i, element_t label, double* value, element_t* count, const element_t* sizes, double* split,
    element_t* split_size,
) noexcept nogil:
    """Try node i of the forest as a set that leaves its subset, unless it is the whole subset."""
    if count[i] < sizes[label] and value[i] < split[label]:
        split[label] = value[i]
        split_size[label] = count[i]


# ----------------------------------------------------------------------------------------- moves that follow a change

cdef struct State:
    RowView rows
    Terms* terms
    element_t* labels
    double* sums                # of an element to the subset of this label
    element_t* waiting
    unsigned char* queued
    element_t* moved            # elements that have moved, and where from
    element_t* before
    Py_ssize_t moves, begin, end, most, fresh


cdef inline void ask(State* s, element_t a, element_t hold, element_t hold_too) noexcept nogil:
    """Queue the neighbours of a, except the two held elements, while looks are left."""
    cdef offset_t at
    cdef element_t b
    for at in range(s.rows.starts[a], s.rows.starts[a + 1]):
        b = s.rows.neighbours[at]
        if s.end == s.most:
            return
        if b != hold and b != hold_too and not s.queued[b]:
            s.queued[b] = True
            s.waiting[s.end] = b
            s.end += 1


cdef inline void move(State* s, element_t a, element_t label, element_t hold, element_t hold_too) noexcept nogil:
    s.moved[s.moves] = a
    s.before[s.moves] = s.labels[a]
    s.moves += 1
    terms_move(s.terms, a, s.labels[a], label)
    s.labels[a] = label
    ask(s, a, hold, hold_too)


cdef double followed(State* s, element_t a, element_t b, double delta, double tolerance) noexcept nogil:
    """The least change of the cost after other elements have moved to their best subsets, while a and b are held.

    All moves are taken back. s.fresh is the label of the next subset of its own.
    """
    cdef Py_ssize_t k
    cdef offset_t at
    cdef element_t x, label, best, own
    cdef double least, now, value
    while s.begin < s.end:
        x = s.waiting[s.begin]
        s.begin += 1
        s.queued[x] = False
        if s.rows.starts[x + 1] - s.rows.starts[x] > LONGEST:
            continue
        own = s.labels[x]
        s.sums[own] = 0.0
        for at in range(s.rows.starts[x], s.rows.starts[x + 1]):
            s.sums[s.labels[s.rows.neighbours[at]]] = 0.0
        for at in range(s.rows.starts[x], s.rows.starts[x + 1]):
            s.sums[s.labels[s.rows.neighbours[at]]] += s.rows.costs[at]
        best = <element_t>s.fresh
        least = 0.0
        now = s.sums[own] + terms_at(s.terms, x, own, True)
        for at in range(s.rows.starts[x], s.rows.starts[x + 1]):
            label = s.labels[s.rows.neighbours[at]]
            if label == own:
                continue
            if s.terms.any and s.sums[label] < INFINITY:
                s.sums[label] += terms_at(s.terms, x, label, False)     # added once for each label
                value = s.sums[label]
                s.sums[label] = INFINITY
            else:
                value = s.sums[label]
            if value < least:
                least = value
                best = label
        if least - now < -tolerance:
            delta += least - now
            if best == s.fresh:
                s.fresh += 1
            move(s, x, best, a, b)
    for k in range(s.moves - 1, -1, -1):
        terms_move(s.terms, s.moved[k], s.labels[s.moved[k]], s.before[k])
        s.labels[s.moved[k]] = s.before[k]
    s.moves = s.begin = s.end = 0
    return delta


# -------------------------------------------------------------------------------------------------- sums of a partition

cdef class Sums:
    """The sums of costs from elements to the subsets that pairs link to them. O(n + m)

    Parameters
    ----------
    rows : CompressedRows
    labels : ndarray of int32, shape (n,)
    subsets : int
    terms : Terms of sums.py or None
        Additional costs: background, groups, sizes.
    stopping : Stopping

    Attributes
    ----------
    own : ndarray, shape (n,)
        The sum from each element to the others in its subset.
    best, where : ndarray, shape (n,)
        The least sum from each element to another subset, and this subset; ``inf`` and -1 if no pair links it to one.
    from_u, from_v : ndarray, shape (m,)
        For each pair the sum from u to the subset of v, and from v to the subset of u.
    """

    cdef readonly object own, best, where, from_u, from_v
    cdef CompressedRows rows
    cdef const element_t[::1] labels
    cdef Py_ssize_t subsets
    cdef Terms terms
    cdef list kept

    def __init__(self, CompressedRows rows not None, const element_t[::1] labels, Py_ssize_t subsets, terms,
                 Stopping stopping):
        cdef Py_ssize_t n = labels.shape[0], m = rows._neighbours.shape[0] // 2, a, b, k, later = 0, touched
        cdef offset_t at
        cdef element_t mine, label
        self.rows, self.labels, self.subsets = rows, labels, subsets
        self.own, self.best, self.where = zeros_float64(n), full_float64(n, np.inf), full_int32(n, -1)
        self.from_u, self.from_v = empty_float64(m), empty_float64(m)
        cdef double[::1] own = self.own, best = self.best, from_u = self.from_u, from_v = self.from_v
        cdef element_t[::1] where = self.where
        cdef double[::1] sums = zeros_float64(subsets)
        cdef element_t[::1] seen = full_int32(subsets, -1), linked = zeros_int32(subsets + 1)
        cdef offset_t[::1] first = zeros_int64(n + 1)    # the first pair of u whose v was not yet processed
        cdef RowView r = rows.view
        cdef Terms* t = &self.terms
        self.kept = take_terms(t, terms, subsets + MOST_LOOKS + 3)
        if t.any:
            for a in range(n):
                terms_put(t, <element_t>a, labels[a])
        with nogil:
            k = 0
            for a in range(n):
                first[a] = k
                for at in range(r.starts[a], r.starts[a + 1]):
                    k += r.neighbours[at] > a
            for a in range(n):
                mine = labels[a]
                touched = 0
                for at in range(r.starts[a], r.starts[a + 1]):
                    label = labels[r.neighbours[at]]
                    if seen[label] != a:
                        seen[label] = <element_t>a
                        sums[label] = 0.0
                        linked[touched] = label
                        touched += 1
                    sums[label] += r.costs[at]
                if t.any:
                    for k in range(touched):
                        sums[linked[k]] += terms_at(t, <element_t>a, linked[k], linked[k] == mine)
                if seen[mine] == a:
                    own[a] = sums[mine]
                elif t.any:
                    own[a] = terms_at(t, <element_t>a, mine, True)
                for at in range(r.starts[a], r.starts[a + 1]):
                    b = r.neighbours[at]
                    label = labels[b]
                    if label != mine and (sums[label] < best[a] or where[a] < 0):
                        best[a] = sums[label]
                        where[a] = label
                    if b > a:
                        from_u[later] = sums[label]     # pairs are sorted, so the pairs of row a follow each other
                        later += 1
                    else:
                        from_v[first[b]] = sums[label]
                        first[b] += 1
                if stopping.tick(INFINITY):
                    break

    def partings(self, pairs, weight, const element_t[:, ::1] merges, const double[::1] merge_costs,
                 double[::1] split, element_t[::1] split_size, Stopping stopping) -> NDArray[np.float64]:
        """For pairs within subsets, the least rise of the cost if a set with one of the two becomes a new subset.

        The sets are those that greedy joining forms within each subset, including single elements. Each join names two
        sets by their representatives; the first representative stays. split[s] becomes the least rise by any set that
        leaves subset s, and split_size[s] the weight of its elements.

        A pair is processed at the join that unites its elements: the sets that separate it lie on the paths from the
        two elements up to this join. Each join examines the pairs of the smaller set, O(m log n) in all, and halves the
        paths.
        """
        cdef const element_t[::1] u = pairs[0], v = pairs[1], labels = self.labels
        cdef const double[::1] own = self.own
        cdef Py_ssize_t n = own.shape[0], m = u.shape[0], joins = merges.shape[0], nodes = n + joins, i, k
        cdef element_t[::1] sizes = np.bincount(labels, weight, self.subsets).astype(np.int32)
        cdef element_t a, b, x, y, top, small, large
        cdef offset_t at
        cdef double left, right, external
        rises_array = full_float64(m, np.nan)
        cdef double[::1] rises = rises_array
        cdef double[::1] value = empty_float64(nodes + 1), least = empty_float64(nodes + 1)
        cdef element_t[::1] parent = full_int32(nodes + 1, -1), count = zeros_int32(nodes + 1)
        cdef element_t[::1] node = np.arange(n + 1, dtype=np.int32)         # of a representative
        cdef element_t[::1] following = full_int32(n + 1, -1), last = np.arange(n + 1, dtype=np.int32)
        cdef offset_t[::1] starts = zeros_int64(n + 2)
        cdef element_t[::1] ids = empty_int32(2 * m + 1)
        np.asarray(count)[:n] = weight
        with nogil:
            for k in range(m):
                starts[u[k] + 2] += 1
                starts[v[k] + 2] += 1
            for i in range(n):
                starts[i + 2] += starts[i + 1]
            for k in range(m):
                ids[starts[u[k] + 1]] = <element_t>k
                starts[u[k] + 1] += 1
                ids[starts[v[k] + 1]] = <element_t>k
                starts[v[k] + 1] += 1
            for i in range(n):
                value[i] = least[i] = -own[i]
                offer(i, labels[i], &value[0], &count[0], &sizes[0], &split[0], &split_size[0])
            for i in range(joins):
                a, b = merges[i, 0], merges[i, 1]
                small, large = node[b], node[a]
                if count[small] > count[large]:
                    small, large = large, small
                # The members of a set are a list from its representative on.
                x = b if small == node[b] else a
                while x >= 0:
                    for at in range(starts[x], starts[x + 1]):
                        k = ids[at]
                        if rises[k] == rises[k]:
                            continue
                        y = u[k] + v[k] - x
                        top = top_of(&parent[0], &least[0], y, &right)
                        if top != large:
                            continue
                        right = min(right, value[top])
                        top = top_of(&parent[0], &least[0], x, &left)
                        left = min(left, value[top])
                        rises[k] = min(left, right)
                    x = following[x]
                external = -value[node[a]] - value[node[b]] - 2.0 * merge_costs[i]
                parent[node[a]] = parent[node[b]] = <element_t>(n + i)
                count[n + i] = count[node[a]] + count[node[b]]
                value[n + i] = least[n + i] = -external
                node[a] = <element_t>(n + i)
                following[last[a]] = b
                last[a] = last[b]
                offer(n + i, labels[a], &value[0], &count[0], &sizes[0], &split[0], &split_size[0])
                if stopping.tick(INFINITY):
                    break
            for k in range(m):      # joining did not unite the two: also their whole sets separate them
                if rises[k] != rises[k]:
                    top = top_of(&parent[0], &least[0], u[k], &left)
                    left = min(left, value[top])
                    top = top_of(&parent[0], &least[0], v[k], &right)
                    right = min(right, value[top])
                    rises[k] = min(left, right)
        return rises_array

    def follow(self, const double[::1] elements, const element_t[::1] to, const unsigned char[::1] skip,
               double[::1] rises, Py_ssize_t looks, double tolerance, Stopping stopping):
        """Lower the rises of pairs by later moves of other elements: one of the two changes its subset, or both leave.

        `elements` and `to` are the best move of each element. While a pair is held, its neighbours, and the neighbours
        of moved elements, move one after the other to their best subsets. At most `looks` elements are examined for a
        pair. Pairs with `skip` are left out.
        """
        cdef Py_ssize_t n = self.labels.shape[0], k, u, subsets = self.subsets
        cdef bint ended = False
        cdef offset_t at
        cdef element_t a, b
        cdef double x, cost
        cdef fixed_t exact = 0
        cdef State s
        cdef RowView r = self.rows.view
        cdef const double[::1] own = self.own, from_u = self.from_u, from_v = self.from_v
        cdef element_t[::1] labels = np.array(self.labels, np.int32)
        cdef double[::1] sums = zeros_float64(subsets + looks + 3)
        cdef element_t[::1] waiting = empty_int32(looks + 1), moved = empty_int32(looks + 3)
        cdef element_t[::1] before = empty_int32(looks + 3)
        cdef unsigned char[::1] queued = zeros_uint8(n + 1)
        if rises.shape[0] == 0 or looks == 0:
            return
        looks = min(looks, <Py_ssize_t>MOST_LOOKS)
        s.rows, s.labels, s.terms = r, &labels[0], &self.terms
        s.sums, s.waiting, s.queued, s.moved, s.before = &sums[0], &waiting[0], &queued[0], &moved[0], &before[0]
        s.moves = s.begin = s.end = 0
        s.most = looks
        with nogil:
            k = -1
            for u in range(n):
                for at in range(r.starts[u], r.starts[u + 1]):
                    if r.neighbours[at] < u:
                        continue
                    k += 1
                    cost = r.costs[at]
                    if skip[k] or cost == INFINITY:
                        continue
                    if stopping.tick(INFINITY):
                        ended = True
                        break
                    a, b = <element_t>u, r.neighbours[at]
                    if self.terms.any:
                        cost += groups_of_pair(&self.terms.groups, a, b, &exact, 1.0)
                        if self.terms.k:
                            cost += terms_between(
                                &self.terms, self.terms.weights + a * self.terms.k,
                                self.terms.weights + b * self.terms.k)
                    if labels[a] == labels[b]:
                        for _ in range(2):
                            if elements[a] < INFINITY:
                                s.fresh = subsets + 1
                                move(&s, a, <element_t>subsets if to[a] < 0 else to[a], a, b)
                                x = followed(&s, a, b, elements[a], tolerance)
                                rises[k] = min(rises[k], x)
                            a, b = b, a
                        continue
                    if from_u[k] < INFINITY:
                        s.fresh = subsets
                        move(&s, a, labels[b], a, b)
                        x = followed(&s, a, b, from_u[k] - own[a], tolerance)
                        rises[k] = min(rises[k], x)
                    if from_v[k] < INFINITY:
                        s.fresh = subsets
                        move(&s, b, labels[a], a, b)
                        x = followed(&s, a, b, from_v[k] - own[b], tolerance)
                        rises[k] = min(rises[k], x)
                    if cost == INFINITY:
                        continue
                    s.fresh = subsets + 1
                    move(&s, a, <element_t>subsets, a, b)
                    move(&s, b, <element_t>subsets, a, b)
                    x = followed(&s, a, b, cost - own[a] - own[b], tolerance)
                    rises[k] = min(rises[k], x)
                if ended:
                    break
