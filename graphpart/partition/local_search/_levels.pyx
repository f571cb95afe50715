"""Kernel of multilevel moves: one level, a graph whose elements are sets of elements of the level below.

A level is compressed rows of costs, and for each element its weights in the terms of the background, as integers of 64
bits that add up exactly. The cost of an element with a subset is the sum of its stored pairs to it, in fixed point, and

    sum over terms t of  factor[t] * weight[partner[t]][a] * (sum of weight[t] over the subset),

which follows from the sums of subsets alone. If every term repels, only the empty set and subsets that a stored pair
links to the element can lower the cost. Otherwise the best other subset is found in a tree of boxes
(kernels/boxes.pxd).

If subsets have to be connected (kernels/connected.pxd), a pair of a level is a base pair if it stands for at least one.
An element without which its subset would not be connected is held back, and waits again at the end.

The costs of groups and limits (kernels/groups.pxd) are added; an element of a level stands for several members.
"""

from functools import partial

import numpy as np

from libc.math cimport INFINITY, fabs
from libc.stdint cimport INT64_MAX, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memmove

from graphpart.kernels._arrays cimport (
    empty_float64, empty_int32, empty_uint8, full_int32, full_int64, zeros_int32, zeros_int64, zeros_int8,
)
from graphpart.kernels.boxes cimport (
    Boxes, boxes_best, boxes_build, boxes_climb, boxes_free, boxes_make, boxes_put,
)
from graphpart.kernels.connected cimport Base, base_only, may_leave, take_base
from graphpart.kernels.fixed cimport fixed, fixed_t, scale_for
from graphpart.kernels.groups cimport Groups, groups_add, groups_at, take_groups
from graphpart.kernels.memory cimport prefetch
from graphpart.kernels.random cimport random_below
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.machine import processors, side_by_side
from graphpart.stopping cimport Stopping

cdef fixed_t NONE = INT64_MAX       # the cost of a forbidden move

cdef enum:
    TERMS = 16      # most terms of a background
    AHEAD = 8       # elements before which the row of an element is fetched
    MANY = 1 << 18  # entries of rows from which two threads work
    BATCH = 1 << 19 # entries of the rows of elements whose best subsets are found before they move
    WAITS = 1       # in the queue
    FOUND = 2       # in the queue, and its best subset is known


cdef struct Sum:                # 16 bytes, in one line of the cache
    fixed_t cost                # of the element at hand to a subset
    int64_t look                # that computed it


cdef struct Subsets:
    element_t* label
    element_t* size             # number of elements of each subset
    int64_t* total              # k sums of weights for each subset
    Sum* sums                   # for each subset
    int64_t* stamp              # if boxed: the look that found the subset last
    int64_t look
    element_t* linked           # subsets that stored pairs link to it
    Py_ssize_t links
    Boxes boxes
    bint boxed
    Groups groups
    Base base


cdef struct Move:
    element_t element
    element_t target            # -1 if no subset that is linked to it is better; an empty one may be
    double low                  # the cost of the element there,
    double own                  # and where it is


cdef inline void vote(element_t* most, element_t* votes, element_t candidate) noexcept nogil:
    """Count a candidate; one that has more than half of all is the one named at the end."""
    if votes[0] == 0:
        most[0] = candidate
    votes[0] += 1 if most[0] == candidate else -1


cdef class Level:
    """One level.

    Parameters
    ----------
    starts, neighbours, costs : ndarray
        Compressed rows; the latter two may be longer.
    terms : Terms
        Of a background, groups and sizes, see `graphpart.partition.local_search.sums`.
    listed : float, optional
        The largest sum of absolute finite costs of a row, if that is known, and there is no background.
    """

    cdef readonly Py_ssize_t n, k
    cdef readonly double tolerance
    cdef readonly tuple rows
    cdef const offset_t[::1] starts
    cdef const element_t[::1] neighbours
    cdef const cost_t[::1] costs
    cdef const int64_t[:, ::1] weights
    cdef const element_t[::1] partner
    cdef const double[::1] factor
    cdef bint repels
    cdef double scale
    cdef object terms

    def __init__(self, starts, neighbours, costs, terms, listed=None):
        self.terms = terms
        self.rows = starts, neighbours, costs
        self.starts, self.neighbours, self.costs = starts, neighbours, costs
        self.weights, self.partner, self.factor = terms.weights, terms.partner, terms.factor
        self.repels = terms.repels or self.weights.shape[1] == 0
        self.n = self.starts.shape[0] - 1
        self.k = self.weights.shape[1]
        if self.k > TERMS:
            raise ValueError(f"{self.k} terms of a background: expected at most {TERMS}")
        self._measure(-1.0 if listed is None else listed)

    cdef void _measure(self, double listed):
        """Set scale and tolerance from the largest sums of absolute costs of an element, of stored pairs and in all.

        The former is `listed`, if it is known, and there are no terms then.
        """
        cdef Py_ssize_t a, t, n = self.n if listed < 0.0 else 0
        cdef offset_t i
        cdef double sum, magnitude = max(0.0, listed)
        cdef double total[TERMS]
        listed = magnitude
        with nogil:
            for t in range(self.k):
                total[t] = 0.0
                for a in range(n):
                    total[t] += fabs(<double>self.weights[a, t])
            for a in range(n):
                sum = 0.0
                for i in range(self.starts[a], self.starts[a + 1]):
                    if self.costs[i] != INFINITY:
                        sum += fabs(self.costs[i])
                listed = max(listed, sum)
                for t in range(self.k):
                    sum += fabs(self.factor[t] * <double>self.weights[a, self.partner[t]]) * (
                        total[t] - fabs(<double>self.weights[a, t])
                    )
                magnitude = max(magnitude, sum)
        self.scale = scale_for(listed)
        if self.terms.groups is not None:
            magnitude += self.terms.groups.sums().max(initial=0.0)
        self.tolerance = 2.0**-50 * magnitude

    cdef void _gather(self, Subsets* s, element_t a, element_t begin, element_t end) noexcept nogil:
        """The stored costs of an element to each subset whose number is at least `begin` and less than `end`."""
        cdef offset_t i
        cdef element_t U
        cdef cost_t c
        cdef Sum* sum
        s.look += 1
        s.links = 0
        for i in range(self.starts[a], self.starts[a + 1]):
            U = s.label[self.neighbours[i]]
            if not begin <= U < end:
                continue
            c = self.costs[i]
            sum = s.sums + U
            if sum.look != s.look:
                sum.look = s.look
                sum.cost = 0
                s.linked[s.links] = U
                s.links += 1
                if s.boxed:
                    s.stamp[U] = s.look
            if c == INFINITY:
                sum.cost = NONE
            elif sum.cost != NONE:
                sum.cost += fixed(c, self.scale)
        if s.base.any:
            s.links = base_only(&s.base, a, s.label, s.linked, s.links)

    cdef inline double _background(self, Subsets* s, element_t a, const double* slope, element_t U) noexcept nogil:
        """The cost of an element in another subset, without stored pairs; inf if that is forbidden."""
        cdef Py_ssize_t t
        cdef double sum = groups_at(&s.groups, a, U, False) if s.groups.any else 0.0
        for t in range(self.k):
            sum += slope[t] * <double>s.total[U * self.k + t]
        return sum

    cdef inline void _fetch(self, element_t a) noexcept nogil:
        """Have the row of an element brought near that is looked at soon."""
        if self.starts[a] < self.starts[a + 1]:
            prefetch(&self.neighbours[self.starts[a]])
            prefetch(&self.costs[self.starts[a]])

    cdef inline void _slope(self, element_t a, double* slope) noexcept nogil:
        """The background of an element per unit of each sum of a subset."""
        cdef Py_ssize_t t
        for t in range(self.k):
            slope[t] = self.factor[t] * <double>self.weights[a, self.partner[t]]

    cdef inline void _move(self, Subsets* s, element_t a, element_t U, element_t W) noexcept nogil:
        cdef Py_ssize_t t
        s.label[a] = W
        s.size[U] -= 1
        s.size[W] += 1
        for t in range(self.k):
            s.total[U * self.k + t] -= self.weights[a, t]
            s.total[W * self.k + t] += self.weights[a, t]
        if s.groups.any:
            groups_add(&s.groups, a, U, -1)
            groups_add(&s.groups, a, W, 1)
        if s.boxed:
            boxes_put(&s.boxes, U, &s.total[U * self.k], s.size[U] > 0)
            boxes_put(&s.boxes, W, &s.total[W * self.k], True)
            boxes_climb(&s.boxes, U)
            boxes_climb(&s.boxes, W)

    cdef inline element_t _best_linked(self, Subsets* s, element_t a, const double* slope, double* low) noexcept nogil:
        """Of the gathered subsets but its own, the one with which an element costs least, below `low`; else -1."""
        cdef element_t U, W = -1, mine = s.label[a]
        cdef Py_ssize_t i
        cdef double value
        for i in range(s.links):
            U = s.linked[i]
            if U == mine or s.sums[U].cost == NONE:
                continue
            value = s.sums[U].cost / self.scale + self._background(s, a, slope, U)
            if value < low[0]:
                low[0] = value
                W = U
        return W

    cdef element_t _target(self, Subsets* s, element_t a, double* cost, double* now) noexcept nogil:
        """The subset with which an element costs least; -1 if none costs less than its own, where it costs `now`."""
        cdef element_t U, W, mine = s.label[a]
        cdef Py_ssize_t t
        cdef double low, value, own
        cdef double slope[TERMS]
        self._gather(s, a, 0, <element_t>self.n + 1)
        self._slope(a, slope)
        own = groups_at(&s.groups, a, mine, True) if s.groups.any else 0.0
        for t in range(self.k):
            own += slope[t] * <double>(s.total[mine * self.k + t] - self.weights[a, t])
        if s.sums[mine].look == s.look:
            own += s.sums[mine].cost / self.scale
        low = own - self.tolerance
        W = self._best_linked(s, a, slope, &low)
        while s.boxed:
            value = low
            U = boxes_best(&s.boxes, slope, s.stamp, s.look, mine, &value)
            if U < 0:
                break
            s.stamp[U] = s.look         # the next free subset is another one
            if s.groups.any:
                value += groups_at(&s.groups, a, U, False)
            if value < low:
                low = value
                W = U
        cost[0], now[0] = low, own
        return W

    def move(self, labels, double cost, Stopping stopping, waiting_elements=None):
        """Move elements to their best subsets while that lowers the cost; the change of cost. Labels change in place.

        All elements, or those given, wait in a queue. When an element moves, its neighbours outside of its new
        subset enter the queue again. With groups or limits, any other element may have a better move, too. So all
        elements wait again at the end, until no move lowers the cost. So do elements that were held back.

        Without terms, two threads find the best subsets of the next elements of the queue, for half of them each. Then
        these move one after the other, but one with a neighbour that has moved since is looked at again. So the labels
        are those of one thread. Few elements move, so few are looked at again.
        """
        cdef Py_ssize_t n = self.n, i, head = 0, waiting, free_count = 0, found = 0, next = 0, half
        cdef bint moved = False, holds = False, going = True, is_known
        cdef bint two = self.starts[n] >= MANY and self._plain() and processors() > 1
        cdef element_t a, W, mine, b
        cdef offset_t j, pairs, middle
        cdef double low, own, change = 0.0
        cdef Move* move = NULL
        cdef _Arrays arrays = _Arrays(self, labels)
        cdef Subsets* s = &arrays.s
        first = np.arange(n, dtype=np.int32) if waiting_elements is None else waiting_elements
        waits_array = zeros_int8(n)
        waits_array[first] = WAITS
        waiting = len(first)
        cdef element_t[::1] queue = np.resize(first, n)
        cdef char[::1] waits = waits_array, held = zeros_int8(0 if two else n)
        cdef element_t[::1] free_subsets = empty_int32(n + 1)
        if n == 0:
            return 0.0
        if two:
            arrays.pair(True)
        with nogil:
            for i in range(n, -1, -1):
                if s.size[i] == 0:
                    free_subsets[free_count] = <element_t>i
                    free_count += 1
        while going and (waiting or moved):
            if two:
                found = next = half = 0
                pairs = middle = 0
                with nogil:
                    while found < min(waiting, BATCH) and pairs < BATCH:
                        a = queue[head + found if head + found < n else head + found - n]
                        waits[a] = FOUND
                        pairs += self.starts[a + 1] - self.starts[a]
                        found += 1
                    while half < found and 2 * middle < pairs:
                        a = queue[head + half if head + half < n else head + half - n]
                        middle += self.starts[a + 1] - self.starts[a]
                        half += 1
                counts = side_by_side(
                    partial(self._find, arrays, False, queue, head, 0, half),
                    partial(self._find, arrays, True, queue, head, half, found),
                    worth=8 * pairs > BATCH,
                )
                move = arrays.moves
                memmove(move + <Py_ssize_t>counts[0], move + half, <Py_ssize_t>counts[1] * sizeof(Move))
                move[<Py_ssize_t>counts[0] + <Py_ssize_t>counts[1]].element = -1
            with nogil:
                while waiting or moved:
                    if two and next == found:
                        break
                    if waiting == 0:
                        moved = holds = False
                        head = 0
                        for i in range(n):
                            if s.groups.any or held[i]:
                                queue[waiting] = <element_t>i
                                waiting += 1
                                waits[i] = WAITS
                            held[i] = False
                    a = queue[head]
                    head = head + 1 if head + 1 < n else 0
                    waiting -= 1
                    mine = s.label[a]
                    is_known = two and move.element == a
                    if waits[a] == FOUND:
                        W, low, own = -1, 0.0, 0.0
                        if is_known:
                            W, low, own = move.target, move.low, move.own
                    else:
                        if waiting > AHEAD and not two:
                            b = queue[head + AHEAD - 1 if head + AHEAD - 1 < n else head + AHEAD - 1 - n]
                            self._fetch(b)
                        W = self._target(s, a, &low, &own)
                    move += is_known
                    next += 1
                    waits[a] = 0
                    if s.groups.limited and s.size[mine] == 1 and n + 1 - free_count <= s.groups.least:
                        continue
                    if 0.0 < low and s.size[mine] > 1 and not (
                        s.groups.limited and n + 1 - free_count >= s.groups.most
                    ):
                        low = 0.0
                        W = free_subsets[free_count - 1]
                    if W >= 0 and s.base.any and not may_leave(&s.base, a, s.label):
                        held[a] = holds = True
                        W = -1
                    if W < 0:
                        if stopping.poll(cost + change):
                            going = False
                            break
                        continue
                    change += low - own
                    moved = s.groups.any or holds
                    free_count -= s.size[W] == 0
                    self._move(s, a, mine, W)
                    if s.size[mine] == 0:
                        free_subsets[free_count] = mine
                        free_count += 1
                    for j in range(self.starts[a], self.starts[a + 1]):
                        b = self.neighbours[j]
                        if waits[b]:
                            waits[b] = WAITS            # what was found for it no longer holds
                        elif s.label[b] != W:
                            i = head + waiting
                            queue[i if i < n else i - n] = b
                            waiting += 1
                            waits[b] = WAITS
                    if stopping.poll(cost + change):
                        going = False
                        break
        return change

    def _find(
        self, _Arrays arrays, bint second, const element_t[::1] queue, Py_ssize_t head, Py_ssize_t begin, Py_ssize_t end
    ):
        """Find elements of the queue that cost less elsewhere, among those from `begin` to `end`; their number."""
        cdef Subsets* s = &arrays.other if second else &arrays.s
        cdef Move* move = arrays.moves + begin
        cdef Py_ssize_t n = self.n, i, at
        with nogil:
            for i in range(begin, end):
                at = head + i if head + i < n else head + i - n
                if i + AHEAD < end:
                    self._fetch(queue[at + AHEAD if at + AHEAD < n else at + AHEAD - n])
                move.element = queue[at]
                move.target = self._target(s, move.element, &move.low, &move.own)
                move += move.target >= 0 or move.low > 0.0
        return move - arrays.moves - begin

    cdef bint _plain(self):
        """Whether the cost of an element in a subset depends on its neighbours there only."""
        terms = self.terms
        return not (
            self.k or any(x is not None for x in (terms.groups, terms.sizes, terms.row_flags)) or terms.most
            or terms.least > 1
        )

    def touched(self, before, after):
        """Elements that may have a better move after labels have changed, if none had one before.

        With terms, None for all. Each subset now is compared with the one that most of its elements were in (Boyer &
        Moore 1991). An element can only have a better move if it, or one of its neighbours, is not where it was.
        O(n + degrees of those that are not)
        """
        cdef Py_ssize_t n = self.n, a
        cdef offset_t j
        cdef const element_t[::1] old = before, new = after
        if not self._plain():
            return None
        cdef element_t[::1] was = full_int32(n + 1, -1), now = full_int32(n + 1, -1)
        cdef element_t[::1] votes = zeros_int32(n + 1), ballots = zeros_int32(n + 1)
        found = np.zeros(n, np.bool_)
        cdef char[::1] changed = found.view(np.int8)
        with nogil:
            for a in range(n):
                vote(&was[new[a]], &votes[new[a]], old[a])
                vote(&now[old[a]], &ballots[old[a]], new[a])
            for a in range(n):
                # The subsets before and after are one another's only partner, or the element is not where it was.
                if was[new[a]] == old[a] and now[old[a]] == new[a]:
                    continue
                changed[a] = 1
                for j in range(self.starts[a], self.starts[a + 1]):
                    changed[self.neighbours[j]] = 1
        return np.flatnonzero(found).astype(np.int32)

    def refine(self, labels, seed=None):
        """A finer partition: within each subset, elements that are alone join the best set of other elements.

        They do so in the order of their numbers, or with a seed in random order. Subsets do not depend on each other:
        two threads have half of the pairs each. Sets are numbered subset by subset, so that most neighbours are near in
        memory on the levels above.
        """
        cdef Py_ssize_t n = self.n, a, i, begin = 0, half = 0, count = 0
        cdef offset_t pairs = 0
        cdef uint64_t state = 0 if seed is None else seed
        cdef bint shuffled = seed is not None
        cdef element_t b, U
        fine_array = empty_int32(n)
        if n == 0:
            return fine_array
        cdef const element_t[::1] subset = labels
        cdef element_t[::1] fine = fine_array, sequence = empty_int32(n), ends = zeros_int32(labels.max() + 2)
        cdef element_t subsets = <element_t>ends.shape[0] - 1
        sort_by_subset(subset, ends, sequence)
        with nogil:
            for U in range(subsets if shuffled else 0):
                for i in range(ends[U] - 1, begin, -1):
                    a = begin + <Py_ssize_t>random_below(&state, i - begin + 1)
                    b = sequence[i]
                    sequence[i] = sequence[a]
                    sequence[a] = b
                begin = ends[U]
            for i in range(n):          # the number of a set is the place of its first element
                fine[sequence[i]] = <element_t>i
            while half < subsets and 2 * pairs < self.starts[n]:
                for i in range(ends[half - 1] if half else 0, ends[half]):
                    pairs += self.starts[sequence[i] + 1] - self.starts[sequence[i]]
                half += 1
        cdef _Arrays arrays = _Arrays(self, fine_array, False)
        if self.starts[n] < MANY or arrays.s.groups.any or arrays.s.base.any:
            half = subsets
        arrays.pair()
        side_by_side(
            partial(self._refine, arrays, False, 0, half, sequence, ends),
            partial(self._refine, arrays, True, half, subsets, sequence, ends),
            worth=half < subsets,
        )
        with nogil:
            for i in range(n):
                if arrays.s.size[i]:
                    sequence[i] = <element_t>count
                    count += 1
            for a in range(n):
                fine[a] = sequence[fine[a]]
        return fine_array

    def _refine(
        self, _Arrays arrays, bint second, element_t first, element_t last, const element_t[::1] sequence,
        const element_t[::1] ends,
    ):
        """Let elements of the subsets from `first` to `last` join sets."""
        cdef Subsets* s = &arrays.other if second else &arrays.s
        cdef Py_ssize_t begin = ends[first - 1] if first else 0, end, stop = ends[last - 1] if last else 0, j
        cdef element_t a, W, mine, subset
        cdef double low
        cdef double slope[TERMS]
        with nogil:
            for subset in range(first, last):
                end = ends[subset]
                for j in range(begin, end):
                    if j + AHEAD < stop:
                        self._fetch(sequence[j + AHEAD])
                    a = sequence[j]
                    mine = s.label[a]
                    if s.size[mine] != 1:
                        continue
                    self._gather(s, a, <element_t>begin, <element_t>end)
                    self._slope(a, slope)
                    low = -self.tolerance
                    W = self._best_linked(s, a, slope, &low)
                    if W >= 0:
                        self._move(s, a, mine, W)
                begin = end

    def coarsen(self, labels, Py_ssize_t subsets, old=None):
        """The level whose elements are the subsets that canonical labels name. O(n + m + members of groups, sorted)

        A row has at most one entry for each pair of its elements, and one for each other subset. Two threads may make
        half of the rows each; those of the second half are then moved to the end of the first. `old` are the `rows` of
        a level that is not used any more, whose memory serves again if it is large enough: new memory takes as long as
        the rows.
        """
        cdef Py_ssize_t n = self.n, k = self.k, a
        cdef offset_t room = 0, middle = 0, gap
        cdef element_t U, half = 0
        cdef const element_t[::1] label = labels
        cdef offset_t[::1] ends = zeros_int64(subsets + 1), most = zeros_int64(subsets)
        cdef element_t[::1] members = empty_int32(n)
        starts_array = zeros_int64(subsets + 1)
        cdef offset_t[::1] starts = starts_array
        with nogil:
            for a in range(n):
                ends[label[a] + 1] += 1
                most[label[a]] += self.starts[a + 1] - self.starts[a]
            for U in range(subsets):
                ends[U + 1] += ends[U]
                most[U] = min(most[U], subsets - 1)
                room += most[U]
            for a in range(n):      # the members of U are then those from the end of the subset before to its own
                members[ends[label[a]]] = <element_t>a
                ends[label[a]] += 1
            while half < subsets and (2 * middle < room or self.starts[n] < MANY):
                middle += most[half]
                half += 1
        flags = self.terms.row_flags
        fresh = old is None         # later levels like this one are to have room in its memory
        if fresh or len(old[1]) < room:
            old = None      # whose memory is then free
            old = None, empty_int32(room + room // 16), empty_float64(room + room // 16)    # the next may be larger
        _, to, cost = old
        flag = None if flags is None else empty_uint8(room)
        weights = np.zeros((subsets, k), np.int64)
        parts = (0, half, 0), (half, subsets, middle)
        (first, most_here), (end, most_there) = side_by_side(
            *(partial(self._join, *part, labels, ends, members, to, cost, flag, starts_array, weights)
              for part in parts),
            worth=half < subsets,
        )
        gap = middle - first
        for array in (to, cost) if flag is None else (to, cost, flag):
            move_down(array.view(np.uint8), array.itemsize * middle, array.itemsize * end, array.itemsize * gap)
            if fresh and end - gap < room - room // 4:
                array.resize(end - gap, refcheck=False)     # in place
        with nogil:
            for U in range(half, subsets):
                starts[U] -= gap
        starts[subsets] = end - gap
        groups, sizes = self.terms.groups, self.terms.sizes
        terms = self.terms._replace(
            weights=weights,
            row_flags=flag,
            groups=None if groups is None else groups.contract(labels, subsets),
            sizes=None if sizes is None else np.bincount(labels, sizes, subsets).astype(np.int64),
        )
        return Level(starts_array, to, cost, terms, max(most_here, most_there) if k == 0 else None)

    def _join(
        self, element_t begin, element_t stop, offset_t size, const element_t[::1] label, const offset_t[::1] ends,
        const element_t[::1] members, element_t[::1] to, cost_t[::1] cost, unsigned char[::1] flag,
        offset_t[::1] starts, int64_t[:, ::1] weights,
    ):
        """Make the rows of the subsets from `begin` to `stop`, from an entry on.

        Returns the entry behind the last, and the largest sum of absolute costs of a row.
        """
        cdef Py_ssize_t i = ends[begin - 1] if begin else 0, t
        cdef offset_t first, j
        cdef element_t a, U, W
        cdef offset_t[::1] place = full_int64(len(ends), -1)
        cdef const unsigned char[::1] flags = self.terms.row_flags
        cdef bint flagged = flags is not None
        cdef double sum, most = 0.0
        with nogil:
            for U in range(begin, stop):
                starts[U] = first = size
                while i < ends[U]:
                    if i + AHEAD < self.n:
                        self._fetch(members[i + AHEAD])
                    a = members[i]
                    i += 1
                    for t in range(self.k):
                        weights[U, t] += self.weights[a, t]
                    for j in range(self.starts[a], self.starts[a + 1]):
                        W = label[self.neighbours[j]]
                        if W == U:
                            continue
                        if place[W] < first:
                            place[W] = size
                            to[size] = W
                            cost[size] = self.costs[j]
                            if flagged:
                                flag[size] = flags[j]
                            size += 1
                        else:
                            cost[place[W]] += self.costs[j]
                            if flagged:
                                flag[place[W]] &= flags[j]
                sum = 0.0
                for j in range(first, size):
                    if cost[j] != INFINITY:
                        sum += fabs(cost[j])
                most = max(most, sum)
        return size, most


cdef void sort_by_subset(const element_t[::1] labels, element_t[::1] ends, element_t[::1] sequence):
    """Make `sequence` the elements of subset after subset; `ends`, all 0 before, is then where each subset ends."""
    cdef Py_ssize_t n = labels.shape[0], U
    cdef element_t a
    with nogil:
        for a in range(n):
            ends[labels[a] + 1] += 1
        for U in range(ends.shape[0] - 1):
            ends[U + 1] += ends[U]
        for a in range(n):
            sequence[ends[labels[a]]] = a
            ends[labels[a]] += 1


def subset_by_subset(labels):
    """The place of each element, if the elements of subset after subset are taken in turn. O(n)"""
    cdef Py_ssize_t n = len(labels), i
    cdef element_t[::1] sequence = empty_int32(n)
    places_array = empty_int32(n)
    cdef element_t[::1] places = places_array
    sort_by_subset(labels, zeros_int32(labels.max(initial=-1) + 2), sequence)
    with nogil:
        for i in range(n):
            places[sequence[i]] = <element_t>i
    return places_array


def move_down(unsigned char[::1] array, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t by):
    """Move bytes of an array towards its start."""
    if by and end > begin:
        with nogil:
            memmove(&array[begin - by], &array[begin], end - begin)


cdef class _Arrays:
    """The memory of Subsets, and of those of a second thread, which has other elements."""
    cdef Subsets s, other
    cdef Move* moves            # of elements of the queue
    cdef list kept

    def __cinit__(self, Level level, labels, bint boxed=True):
        cdef Py_ssize_t n = level.n, k = level.k, a, t
        cdef element_t[::1] label = labels, size = zeros_int32(n + 1), linked = zeros_int32(n + 1)
        cdef int64_t[::1] total = np.zeros((n + 1) * k + 1, np.int64)
        cdef int64_t[::1] stamp
        cdef char[::1] sums = zeros_int8((n + 1) * sizeof(Sum))
        self.kept = [label, size, linked, total, sums]
        self.s.label = &label[0] if n else NULL
        self.s.size = &size[0]
        self.s.linked = &linked[0]
        self.s.total = &total[0]
        self.s.sums = <Sum*>&sums[0]
        self.s.look = 0
        self.s.links = 0
        self.kept.append(take_groups(&self.s.groups, level.terms, n + 1))
        self.kept += take_base(&self.s.base, level.starts, level.neighbours, level.terms, n + 1)
        for a in range(n):
            size[label[a]] += 1
            if self.s.groups.any:
                groups_add(&self.s.groups, <element_t>a, label[a], 1)
            for t in range(k):
                total[label[a] * k + t] += level.weights[a, t]
        self.s.boxed = boxed and not level.repels
        if self.s.boxed:
            stamp = zeros_int64(n + 1)
            self.kept.append(stamp)
            self.s.stamp = &stamp[0]
            if not boxes_make(&self.s.boxes, n + 1, k):
                raise MemoryError()
            for a in range(n + 1):
                boxes_put(&self.s.boxes, a, &total[a * k], size[a] > 0)
            boxes_build(&self.s.boxes)

    cdef int pair(self, bint all_elements=False) except -1:
        """Make what a second thread needs of its own, which has other subsets, or other elements of all subsets."""
        cdef Py_ssize_t room = len(self.kept[1])
        cdef element_t[::1] linked = zeros_int32(room)
        cdef char[::1] sums = zeros_int8((room if all_elements else 1) * sizeof(Sum))
        self.kept += [linked, sums]
        self.other = self.s
        self.other.linked = &linked[0]
        if all_elements:
            self.other.sums = <Sum*>&sums[0]
            self.moves = <Move*>malloc((min(room, BATCH) + 1) * sizeof(Move))
            if self.moves == NULL:
                raise MemoryError()

    def __dealloc__(self):
        free(self.moves)
        if self.s.boxed:
            boxes_free(&self.s.boxes)
