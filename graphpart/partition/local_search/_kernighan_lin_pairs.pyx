"""Kernel of pairwise Kernighan-Lin with joins: improve two subsets, or one and the empty set, by switches.

For stored pairs, one pass over a subset lists its pairs with each other one. Elements that may switch wait in a heap,
keyed by the change of cost: the cost of their pairs with the other subset, minus the cost of their pairs with their own
subset. The latter is kept until they or neighbours switch for good. A switch of a neighbour changes the key by twice
the cost of the pair. A sequence ends early if the gain of its best prefix reaches the sum of all positive costs within
the two subsets and all negative ones between them, which is the largest possible gain. Two subsets that cannot gain
anything are passed over: one pass over a subset sums up its pairs with each other one, and only pairs with subsets with
which it may gain are listed. In a subset that has not changed, the pass is over elements near a change.

With a background, a switch changes the cost of all waiting elements. So keys are of stored pairs only, and the elements
of each of the two subsets wait in a heap of their own: a switch of any of them changes the background by at least the
same bound, and by the same amount if all weights are equal. A search from the top of the heap finds the best element,
and leaves out what lies below an element that cannot be the best. For a matrix, and with groups or limits, the best
element is found by a pass over all that wait. If subsets have to be connected (kernels/connected.pxd), the elements
that a base pair links to the other subset wait. Before the best element switches, its subset is examined. If it would
not stay connected, the element is barred until a switch may have freed it. All sums, also those along a sequence, are
exact, in fixed point (see kernels/fixed.pxd). So a sequence that only exchanges the two subsets is never an improvement
by rounding.

Between two large subsets of which little changed, only pairs near a change are listed. Then elements are looked at when
they are touched, since not all of their pairs with the other subset are listed, and joins are left to a later round.

What two subsets become depends on no other ones. So on many elements, a round has an order of pairs (see
kernighan_lin_pairs.py) in which two threads work on two groups of subsets each. A thread also reads labels of elements
that the other one moves, but it does not matter in which of the other's two groups an element is. Elements near a move
are marked at once, their subsets when both threads have ended.
"""

from functools import partial

import numpy as np

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, fabs
from libc.stdint cimport INT32_MAX, INT64_MAX, uint32_t
from libc.stdlib cimport qsort
from libc.string cimport memcpy, memset

from graphpart.kernels._arrays cimport empty_int8, zeros_int32
from graphpart.kernels.connected cimport Base, is_freed, mark_freed, may_leave, take_base
from graphpart.kernels.fixed cimport fixed, fixed_t, scale_for
from graphpart.kernels.groups cimport groups_fixed
from graphpart.kernels.heap cimport Heap, heap_rise, heap_settle, heap_sink
from graphpart.kernels.memory cimport prefetch
from graphpart.kernels.terms cimport (
    TERMS, Terms, fixed_at, fixed_between, fixed_tolerance, take_terms, terms_move, terms_put, terms_take,
)
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.machine import side_by_side
from graphpart.partition.local_search.floods cimport base_poll
from graphpart.stopping cimport Stopping

include "_pairs_state.pxi"
include "_pairs_borders.pxi"
include "_pairs_switches.pxi"
include "_pairs_rounds.pxi"


cdef int ascending(const void* x, const void* y) noexcept nogil:
    return (<const element_t*>x)[0] - (<const element_t*>y)[0]


cdef class Pairs:
    """A partition, and the arrays with which pairs of its subsets are improved.

    Parameters
    ----------
    matrix : ndarray of float64, shape (n, n), or None
    rows : tuple of compressed rows, or None
    labels : ndarray of int32, shape (n,)
        Canonical.
    magnitude, tolerance, cost : float
        Magnitude and tolerance of the problem, and cost of the labels.
    patience : int
        Number of switches without a new best prefix after which a sequence may end.
    height : float
        Amount above the cost of the best prefix at which such a sequence ends.
    whole : int
        In two subsets with at most `whole` elements, half of all elements may switch without a new best prefix.
    terms : Terms, optional
        Of a background, groups and sizes, see `graphpart.partition.local_search.sums`.
    divided : bool
        Whether subsets are divided into groups, on which two threads may work; not for a matrix, nor for constraints.
    large : int
        Subsets with fewer elements are always looked at wholly;
    few : int
        others only if more than one of so many elements, and its neighbours, have moved.

    Attributes
    ----------
    labels : ndarray of int32
        Numbers of subsets, from 0 to n, as they are now.
    cost : float
    hub : int
        Elements with more stored pairs switch to the empty set only.
    bounded : bool
        Whether there is neither a matrix, nor groups, limits or a background that attracts, and subsets need not be
        connected.
    """
    cdef State s
    cdef State twin                 # of the second thread, in its own part of what is not of elements or subsets
    cdef list kept
    cdef readonly object labels
    cdef readonly double cost
    cdef readonly offset_t hub
    cdef readonly bint bounded
    cdef fixed_t tolerance, height
    cdef Py_ssize_t patience, whole, large, few
    cdef bint begun                 # whether there was a round
    cdef element_t* stamp

    def __cinit__(self, matrix, rows, labels, double magnitude, double tolerance, double cost, Py_ssize_t patience,
                  double height=0.0, Py_ssize_t whole=0, terms=None, bint divided=False,
                  Py_ssize_t large=2**31 - 1, Py_ssize_t few=8):
        cdef Py_ssize_t n = len(labels), a
        cdef const cost_t[:, ::1] dense
        cdef const offset_t[::1] starts
        cdef const element_t[::1] neighbours
        cdef const cost_t[::1] costs
        cdef element_t[::1] label
        cdef char[:, ::1] flags = np.zeros((6, n + 2), np.int8)
        cdef char[::1] border, linked = empty_int8((n + 2) * sizeof(Linked))
        cdef element_t[::1] inside
        cdef fixed_t[:, ::1] sums = np.zeros((2, n + 2), np.int64)
        cdef element_t[:, ::1] room = np.zeros((12, n + 2), np.int32)
        cdef char[::1] at = empty_int8((n + 2) * sizeof(Element)), heap = empty_int8((n + 2) * sizeof(Waiting))
        self.labels = np.array(labels, np.int32)
        label = self.labels
        self.cost = cost
        self.kept = [label, flags, room, at, heap, sums, linked, matrix, rows]
        self.patience = patience
        self.whole = whole
        self.large, self.few = large, few
        self.begun = False
        self.s.n = n
        self.s.matrix = NULL
        if matrix is not None:
            dense = matrix
            self.s.matrix = &dense[0, 0]
        else:
            starts, neighbours, costs = rows
            self.hub = self.s.hub = max(100, 10 * starts[n] // max(1, n))
            self.s.starts = &starts[0]
            self.s.neighbours = &neighbours[0] if neighbours.shape[0] else NULL
            self.s.costs = &costs[0] if costs.shape[0] else NULL
            # A pair is listed once; there is as much room again for elements that enter later.
            self.s.room = max(1, min(costs.shape[0], INT32_MAX))
            border = empty_int8(self.s.room * sizeof(Border))
            self.kept.append(border)
            self.s.border = <Border*>&border[0]
            self.kept += take_base(&self.s.base, starts, neighbours, terms, n + 1)
        self.s.scale = scale_for(min(magnitude * n, DBL_MAX))
        self.height = <fixed_t>(min(height, magnitude) * self.s.scale)
        self.kept.append(take_terms(&self.s.terms, terms, n + 1))
        self.tolerance = fixed_tolerance(&self.s.terms, tolerance, self.s.scale)
        self.s.ordered = self.s.matrix == NULL and not self.s.terms.groups.any
        self.s.sided = self.s.ordered and self.s.terms.any
        self.bounded = self.s.bounded = self.s.ordered and not self.s.base.any and (terms is None or terms.repels)
        if self.s.terms.k:
            find_weights(&self.s)
        self.s.label = &label[0]
        self.s.changed = &flags[0, 0]
        self.s.pending = &flags[1, 0]
        self.s.near_change = &flags[2, 0]
        self.s.near = &flags[3, 0]
        self.s.at = <Element*>&at[0]
        self.s.heap[0] = <Waiting*>&heap[0]
        self.s.repelling, self.s.gain = &sums[0, 0], &sums[1, 0]
        self.s.size = &room[0, 0]
        self.s.first = &room[1, 0]
        self.s.next = &room[2, 0]
        self.s.previous = &room[3, 0]
        self.s.unused = &room[4, 0]
        self.s.switched = &room[5, 0]
        self.s.touched = &room[6, 0]
        self.s.barred = &room[7, 0]
        self.s.order = &room[8, 0]
        self.stamp = &room[9, 0]
        self.s.close = &room[10, 0]
        self.s.inside = &room[11, 0]
        self.s.group = <unsigned char*>&flags[4, 0]
        self.s.owed = &flags[5, 0]
        self.s.divided = divided and self.s.ordered and not self.s.base.any and self.s.room == costs.shape[0]
        if self.s.divided:
            inside = zeros_int32(n + 2)
            self.kept.append(inside)
            self.twin.inside = &inside[0]
        self.s.linked = <Linked*>&linked[0]
        self.s.taken = self.s.shared = self.twin.taken = 0
        self.s.odd = False
        self.s.top = int(self.labels.max(initial=-1)) + 1
        with nogil:
            for a in range(self.s.top):
                begin_number(&self.s, <element_t>a)
                self.s.changed[a] = True
            for a in range(n - 1, -1, -1):
                self.s.at[a].place = OUT
                enlist(&self.s, <element_t>a, label[a])
            if self.s.matrix == NULL:
                sum_up(&self.s)
            find_unused(&self.s)

    def adopt(self, const element_t[::1] labels, double cost):
        """Take over a partition. A subset gets the old number of its smallest element, unless that is taken."""
        cdef Py_ssize_t a, free = 0, top = self.s.top
        cdef element_t U, V
        cdef State* s = &self.s
        cdef element_t* name = self.s.order
        cdef element_t* taken = self.stamp
        with nogil:
            for a in range(s.n):
                top = max(top, labels[a] + 1)
            for a in range(top):
                name[a] = -1
                taken[a] = -1
            for a in range(s.n):
                U, V = s.label[a], labels[a]
                if name[V] == -1:
                    name[V] = U if taken[U] == -1 else -2
                    taken[U] = V
            for a in range(s.n):
                U, V = s.label[a], labels[a]
                if name[V] == -2:
                    while taken[free] != -1:
                        free += 1
                    name[V] = <element_t>free
                    taken[free] = V
                    if free >= s.top:
                        begin_number(s, name[V])
                        s.top = free + 1
                if name[V] != U:
                    move(s, <element_t>a, name[V])
                    s.changed[U] = s.changed[name[V]] = True
            find_unused(&self.s)
        self.cost = cost

    @property
    def owes(self):
        """Whether subsets that changed partly have not been looked at wholly."""
        cdef Py_ssize_t U
        for U in range(self.s.top):
            if self.s.owed[U] and self.s.size[U]:
                return True
        return False

    def round(self, Stopping stopping, bint wholly=False):
        """Improve all pairs of linked subsets of which one changed, then split changed subsets; whether that helped.

        With `wholly`, subsets that changed partly are looked at wholly, also those of earlier rounds.
        """
        cdef Py_ssize_t U, step
        cdef fixed_t before
        cdef State* s = &self.s
        cdef int[12] reach = [3, 3, 12, 12, 4, 8, 0, 0, 8, 4, 0, 0]     # of each group, for each step
        s.change, s.crosses = 0, False
        wholly |= not self.begun or not s.bounded
        self.begun = True
        with nogil:
            find_pending(s, self.stamp, self.large, self.few, wholly)
        if not s.divided:
            s.reach[0] = 1
            self.improve_pairs(False, stopping)
        else:
            divide(s, self.stamp)
            for step in range(3):
                for U in range(GROUPS):
                    s.reach[U] = reach[GROUPS * step + U]
                s.crosses = step > 0
                before = s.change
                part(s, &self.twin, self.stamp, <int>step + 1, False)
                self.at_once(self.improve_pairs, stopping)
                unite(s, &self.twin, False)
                if s.change != before:
                    find_near(s)
        with nogil:
            for U in range(s.top):
                s.pending[U] = s.size[U] > 0 and (
                    s.pending[U] & WHOLLY or (s.changed[U] and (wholly or s.size[U] < self.large)))
        if not s.divided:
            self.split(False, stopping)
        else:
            part(s, &self.twin, self.stamp, 1, True)
            self.at_once(self.split, stopping)
            unite(s, &self.twin, True)
        take_numbers(s, &self.twin, self.stamp)
        self.cost += s.change / s.scale
        return s.change < 0

    def joins_help(self):
        """Whether to join two subsets, of which one has changed since the last round, lowers the cost.

        Not for a matrix, nor for groups, limits or a background that attracts, nor if subsets have to be connected.
        """
        cdef Py_ssize_t U, i
        cdef element_t a
        cdef State* s = &self.s
        cdef bint helps = False
        with nogil:
            for U in range(s.top):
                a = s.first[U] if s.changed[U] else -1
                while a >= 0:
                    sum_borders(s, a)
                    a = s.next[a]
                for i in range(s.closes):
                    helps |= change_of_join(s, <element_t>U, s.close[i], s.linked + s.close[i]) < -self.tolerance
                forget_borders(s)
                if helps:
                    break
        return helps

    def at_once(self, work, Stopping stopping):
        side_by_side(partial(work, False, stopping), partial(work, True, stopping.child()))

    def improve_pairs(self, bint second, Stopping stopping):
        """Improve pairs of linked subsets within reach of each other."""
        cdef Py_ssize_t U, k, count
        cdef element_t W
        cdef State* s = &self.twin if second else &self.s
        with nogil:
            for U in range(s.top):
                if s.size[U] == 0 or not s.near_change[U]:
                    continue
                if s.divided and not (s.mine >> s.group[U] & 1 and s.reach[s.group[U]]):
                    continue
                count = self.find_linked(s, <element_t>U)
                for k in range(count):
                    W = s.order[k]
                    if s.size[U] and s.size[W] and (s.matrix != NULL or s.linked[W].border != CANNOT_GAIN):
                        if self.improve(s, <element_t>U, W, stopping) and s.matrix == NULL:
                            if s.listed:
                                add_borders(s, <element_t>U)
                            else:       # also the borders with subsets that U could not gain with before
                                forget_borders(s)
                                list_borders(s, <element_t>U)
                                s.listed = True
                    if stopping.poll(self.cost_of(s)):
                        break
                if stopping.poll(self.cost_of(s)):
                    break
            if s.divided:
                forget_borders(s)               # the next thread to look at these subsets may be another one

    def split(self, bint second, Stopping stopping):
        """Split pending subsets."""
        cdef Py_ssize_t U
        cdef element_t W
        cdef State* s = &self.twin if second else &self.s
        with nogil:
            for U in range(s.top):
                if s.divided and not s.mine >> s.group[U] & 1:
                    continue
                while s.pending[U] and s.size[U] > 1 and not stopping.poll(self.cost_of(s)):
                    if s.terms.groups.limited and subsets(s) >= s.terms.groups.most:
                        break
                    W = free_number(s, place_of_number(s, s.taken))
                    begin_number(s, W)
                    if not self.improve(s, <element_t>U, W, stopping):
                        break
                    s.taken += 1

    cdef inline double cost_of(self, State* s) noexcept nogil:
        return self.cost + s.change / s.scale

    cdef bint improve(self, State* s, element_t U, element_t V, Stopping stopping) noexcept nogil:
        cdef Py_ssize_t patience = self.patience, both = s.size[U] + s.size[V]
        cdef fixed_t change
        if both <= self.whole:
            patience = max(patience, both // 2)
        change = improve_pair(s, U, V, self.tolerance, patience, self.height, self.cost_of(s), stopping)
        s.change += change
        return change != 0

    cdef Py_ssize_t find_linked(self, State* s, element_t U) noexcept nogil:
        """List the subsets to improve together with U; return their number. O(sum of degrees)"""
        cdef Py_ssize_t count = 0, k
        cdef element_t W
        if s.matrix != NULL:
            for W in range(U + 1, <element_t>s.top):
                if s.size[W] and (s.pending[U] or s.pending[W]):
                    s.order[count] = W
                    count += 1
            return count
        forget_borders(s)
        s.listed = True
        if s.bounded and not find_sums(s, U, self.tolerance):
            return 0
        list_borders(s, U)
        for k in range(s.closes):
            s.order[k] = s.close[k]
        if s.closes > 1:
            qsort(s.order, s.closes, sizeof(element_t), ascending)
        return s.closes
