"""Kernel of chains: short sequences of moves, from each element in turn, on compressed rows of stored pairs.

Each element remembers its best move until it or a neighbour moves for good. Within a chain, a move changes the best
moves of the neighbours only. These are not recomputed at once: the best move of a neighbour, or a lower bound on its
change of cost, follows from the cost of the one pair. An element is looked at again only when its bound comes first.
An element whose best move is neither from nor to a subset that the chain has changed is idle: that move costs what it
would without the chain. It is passed over until its best move is another one or the chain changes one of these subsets.
All sums are exact, in fixed point (see kernels/fixed.pxd).

With a background, a move changes the best moves of all elements whose own or target subset another element leaves or
enters. The change is at most the background of the element with all moved elements, each term taken as positive. It is
subtracted from bounds. If the background repels, a best move stays what it was while no element enters or leaves the
element's own and its target subset, and the bound on moves to other subsets is above it. Chains start again only at
elements that a stored pair links to a moved element, so all elements are looked at once more at the end.

Groups and limits of subsets (kernels/groups.pxd) may also forbid a subset until another element leaves it. So there is a
second bound, on moves that were forbidden when the element was looked at. It takes the place of the first when an
element has moved that may have opened a subset.

If subsets have to be connected (kernels/connected.pxd), elements move to subsets that a base pair links to them, or to
the empty set. When an element moves, only neighbours by base pairs become candidates. When a candidate comes first, its
own subset is examined. If it would not stay connected, the move is forbidden until another move may have freed the
element. At the end, elements with a forbidden move that would have lowered the cost are looked at once more.

If one element forbids a subset to another one, the two may change places. In a chain of ejections the element moves
there, and the other one leaves to be alone and is the next to move in the same way. Alternating paths improve an
assignment in this manner. Such a chain starts if ordinary chains from an element find nothing.

In a batch, two threads find chains at once. Each has its own labels, on which it makes and undoes moves, and all that
belongs to one chain. Both share the best moves of elements: a best move that is learned within a chain is kept only if
it holds in the partition between chains, too, so that both threads would write the same. With a background, one that
was learned earlier may no longer hold. It is not replaced then, since the other thread may read it.
"""

from functools import partial

import numpy as np

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, fabs
from libc.stdint cimport INT64_MAX, int64_t
from libc.string cimport memcpy

from graphpart.kernels._arrays cimport empty_int32, empty_int8, full_int32, zeros_float64, zeros_int64, zeros_int8
from graphpart.kernels.clock cimport seconds
from graphpart.kernels.connected cimport Base, is_freed, mark_freed, may_leave, take_base
from graphpart.kernels.fixed cimport fixed, fixed_t, scale_for
from graphpart.kernels.groups cimport groups_holder, groups_of_pair
from graphpart.kernels.terms cimport (
    TERMS, Terms, fixed_at, fixed_tolerance, take_terms, terms_clear, terms_move, terms_put, terms_slope,
)
from graphpart.kernels.memory cimport prefetch, publish, published
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.machine import processors, side_by_side
from graphpart.partition.local_search.floods cimport base_poll
from graphpart.stopping cimport Stopping

include "_chains_state.pxi"
include "_chains_moves.pxi"
include "_chains_search.pxi"


cdef class Chains:
    """A partition, and the arrays with which chains improve it.

    Parameters
    ----------
    starts, neighbours, costs : ndarray
        Compressed rows.
    labels : ndarray of int32, shape (n,)
        From 0 to n.
    magnitude, tolerance : float
        Of the problem.
    patience : int
        Number of moves without a new best prefix after which a chain ends.
    longest : int
        Largest number of moves in a chain.
    hub : int
        An element with more than `hub` stored pairs starts only chains of one move, and is no later move of a chain.
    terms : Terms, optional
        Of a background, groups and sizes, see `graphpart.partition.local_search.sums`.
    batch : int, optional
        Number of elements from which chains are found before they are applied, in two threads. It is 1 with terms that
        attract, with groups or limits, and if subsets have to be connected.
    often : int, optional
        If more than one of so many elements of a batch has moved, chains of the next one are applied at once.

    Attributes
    ----------
    labels : ndarray of int32
        Numbers of subsets, from 0 to n, as they are now.
    """
    cdef State s
    cdef list kept
    cdef readonly object labels
    cdef State twin                 # of the second thread
    cdef Half[2] halves
    cdef Py_ssize_t room            # of the steps of one half
    cdef Py_ssize_t moves           # that were applied in the last batch
    cdef bint two                   # whether the second thread works on the twin
    cdef fixed_t tolerance
    cdef Py_ssize_t patience, longest, batch, often

    def __cinit__(
        self,
        const offset_t[::1] starts,
        const element_t[::1] neighbours,
        const cost_t[::1] costs,
        labels,
        double magnitude,
        double tolerance,
        Py_ssize_t patience,
        Py_ssize_t longest,
        offset_t hub,
        terms=None,
        Py_ssize_t batch=1,
        Py_ssize_t often=4,
    ):
        cdef Py_ssize_t n = starts.shape[0] - 1, a
        cdef State* s = &self.s
        cdef char[::1] at = empty_int8((n + 1) * sizeof(Element) + LINE), stuck
        cdef element_t[::1] label, queue = empty_int32(n + 1)
        cdef double[::1] since
        cdef fixed_t[::1] barred
        cdef int64_t[::1] moves, known
        cdef int64_t[:, ::1] versions, counts
        self.labels = np.array(labels, np.int32)
        label = self.labels
        self.kept = [starts, neighbours, costs, label, at, queue]
        self.patience = patience
        self.longest = longest
        s.hub = hub
        s.n = n
        s.starts = &starts[0]
        s.neighbours = &neighbours[0] if neighbours.shape[0] else NULL
        s.costs = &costs[0] if costs.shape[0] else NULL
        # A move changes the cost by at most twice the magnitude; so the sum along a chain stays in range.
        s.scale = scale_for(min(2.0 * longest * magnitude, DBL_MAX))
        s.label, s.queue, s.at = &label[0], &queue[0], <Element*>begin_of_line(at)
        self.kept.append(take_terms(&s.terms, terms, n + 1))
        self.tolerance = fixed_tolerance(&s.terms, tolerance, s.scale)
        self.kept += take_base(&s.base, starts, neighbours, terms, n + 1)
        s.narrow = not s.base.any
        if s.base.any:
            stuck = zeros_int8(n + 1)
            self.kept.append(stuck)
            s.stuck = &stuck[0]
        if s.base.any or s.terms.groups.any:
            barred = zeros_int64(n + 1)
            self.kept.append(barred)
            s.barred = &barred[0]
        if s.terms.k:
            since = zeros_float64(n * s.terms.k)
            self.kept.append(since)
            s.since = &since[0]
            for a in range(s.terms.k):
                s.applied[a] = s.during[a] = s.left[a] = 0.0
            s.exact = terms.repels and not s.terms.groups.any and not s.base.any
        if s.exact:
            counts = np.zeros((2, n + 1), np.int64)
            self.kept.append(counts)
            s.last, s.seen = &counts[0, 0], &counts[1, 0]
        if s.terms.groups.entries:
            moves = zeros_int64(len(terms.groups))
            known = zeros_int64(s.terms.groups.entries)
            self.kept += [moves, known]
            s.moves, s.known = &moves[0], &known[0]
            s.ejects = terms.groups.is_hard and not restless(s)
        if s.ejects:
            versions = np.zeros((3, n + 1), np.int64)
            versions[1] = -1
            self.kept.append(versions)
            s.version, s.paid_at, s.paid = &versions[0, 0], &versions[1, 0], <fixed_t*>&versions[2, 0]
        s.high = s.terms.k == 0 or not terms.repels
        self.often = often
        self.batch = 1 if (s.terms.any and not s.exact) or s.base.any else batch
        with nogil:
            for a in range(n):
                s.at[a] = Element(0, 0, starts[a] << 16 | min(starts[a + 1] - starts[a], MANY), 0, 0, 0, True, 0)
                queue[a] = <element_t>a
                s.most = max(s.most, starts[a + 1] - starts[a])
                s.top = max(s.top, label[a] + 1)
        s.length = n
        self.kept += begin_thread(s, longest)
        count(s)

    def adopt(self, const element_t[::1] labels):
        """Take over a partition that uses the same numbers for most of its subsets."""
        cdef Py_ssize_t a, t
        cdef State* s = &self.s
        with nogil:
            for a in range(s.n):
                if s.label[a] != labels[a]:
                    note_subsets(s, s.label[a], labels[a])
                    forget_around(s, <element_t>a)
                    for t in range(s.terms.k):
                        s.applied[t] += fabs(<double>s.terms.weights[a * s.terms.k + t])
                    note_groups(s, <element_t>a, 1)
                    s.top = max(s.top, labels[a] + 1)
                    transfer(s, <element_t>a, labels[a])
                    if self.twin.label != NULL:
                        transfer(&self.twin, <element_t>a, labels[a])
            if s.terms.any:
                count(s)
            find_unused(s)
            if self.twin.label != NULL:
                self.copy_numbers()

    cdef void copy_numbers(self) noexcept nogil:
        """Let the second thread have the free numbers and the sums of the first."""
        cdef Py_ssize_t t
        self.twin.top, self.twin.unuseds, self.twin.kept = self.s.top, self.s.unuseds, self.s.kept
        memcpy(self.twin.unused, self.s.unused, self.s.unuseds * sizeof(element_t))
        for t in range(self.s.terms.k):
            self.twin.applied[t] = self.s.applied[t]
        if self.s.terms.k:
            memcpy(self.twin.terms.total, self.s.terms.total, self.s.top * self.s.terms.k * sizeof(int64_t))

    cdef inline bint is_settled(self, element_t a) noexcept nogil:
        """Whether it follows from what is known of an element that none of its moves lowers the cost."""
        cdef State* s = &self.s
        cdef Element* known = s.at + a
        cdef Py_ssize_t t
        cdef double moved[TERMS]
        if not s.exact or not known.known or known.alone != (s.subset[s.label[a]].size == 1):
            return False
        if not is_as_it_was(s, a, s.label[a]) or not is_as_it_was(s, a, known.target):
            return False
        for t in range(s.terms.k):
            moved[t] = s.applied[t] - s.since[a * s.terms.k + t]
        return min(known.delta, known.others - most_by(s, a, moved)) >= -self.tolerance

    cdef bint find_moves(self, double cost, Stopping stopping) noexcept nogil:
        """Queue all elements whose best move lowers the cost; return whether there are any, and the run may go on."""
        cdef element_t a, target
        cdef fixed_t others, barred
        for a in range(<element_t>self.s.n):
            if (self.s.base.any and not self.s.stuck[a]) or self.is_settled(a):
                continue
            if look_at(&self.s, a, &target, &others, &barred) < -self.tolerance:
                if not self.s.base.any or may_leave(&self.s.base, a, self.s.label):
                    forget(&self.s, a)
                elif base_poll(&self.s.base, stopping, cost):
                    return False
        return self.s.length > 0

    cdef bint rise(self, double before, double cost) noexcept nogil:
        """Let chains rise by as much as pairs repel, and start from all elements again, if others have gained much."""
        cdef element_t a
        if self.s.high or not before - cost > PAYS * fabs(before):
            return False
        self.s.high = True
        for a in range(<element_t>self.s.n):
            self.s.queue[a], self.s.at[a].queued = a, True
        self.s.head, self.s.length = 0, self.s.n
        return True

    cdef void begin_twin(self):
        """Give the second thread labels of its own, and what it needs to move elements."""
        cdef element_t[::1] label = np.array(self.labels)
        cdef int64_t[::1] total = zeros_int64((self.s.n + 1) * self.s.terms.k + 1)
        cdef State* s = &self.twin
        s[0] = self.s
        self.kept += [label, total, *begin_thread(s, self.longest)]
        s.label, s.terms.total = &label[0], &total[0]
        memcpy(s.subset, self.s.subset, s.top * sizeof(Subset))
        self.copy_numbers()

    cdef double improve_in_batches(self, double cost, Stopping stopping):
        """As `improve`, but find chains from many elements before those that do not touch each other are applied.

        Where the elements before moved often, chains are applied at once: many would be in vain.
        """
        cdef State* s = &self.s
        cdef Py_ssize_t room = 2 * (self.batch + self.longest), count, i
        cdef element_t[::1] taken = empty_int32(self.batch)
        cdef char[::1] steps = empty_int8(2 * room * sizeof(Step))
        cdef fixed_t change
        cdef double before = cost
        cdef double begun, spent = 0.0      # seconds for each element, as found in the last batch
        if self.twin.label == NULL and s.length > self.batch and processors() > 1:
            self.begin_twin()
        self.two = self.twin.label != NULL
        self.room = room
        self.moves = s.n
        for i in range(2):
            self.halves[i].steps = <Step*>&steps[0] + i * room
        while s.length or self.rise(before, cost) or (s.terms.k and self.find_moves(cost, stopping)):
            count = min(self.batch, s.length)
            for i in range(count):
                taken[i] = s.queue[s.head]
                s.head = s.head + 1 if s.head + 1 < s.n else 0
            s.length -= count
            self.halves[0].starts, self.halves[0].count = &taken[0], count // 2
            self.halves[1].starts, self.halves[1].count = &taken[0] + count // 2, count - count // 2
            if self.moves * self.often > count:
                with nogil:
                    change = self.one_by_one(&taken[0], count, cost, stopping)
            else:
                for i in range(count):
                    s.at[taken[i]].queued = False
                begun = seconds()
                side_by_side(
                    partial(self.search, False, cost, stopping), partial(self.search, True, cost, stopping.child()),
                    worth=self.two and spent * count > WORTH,
                )
                spent = (seconds() - begun) / count
                with nogil:
                    self.moves = 0
                    change = self.apply()
            cost += change / s.scale
            if stopping.poll(cost):
                break
        s.half = NULL
        return cost

    cdef fixed_t one_by_one(
        self, element_t* starts, Py_ssize_t count, double cost, Stopping stopping
    ) noexcept nogil:
        """Find a chain from each element, and apply it; the change of cost."""
        cdef Half* half = &self.halves[0]
        cdef Py_ssize_t i
        cdef fixed_t change = 0
        self.s.half, self.s.shared = half, False
        self.halves[1].written = self.halves[1].count = self.halves[1].looked = 0
        half.count = half.looked = 0
        self.moves = 0
        for i in range(count):
            half.written = 0
            self.s.at[starts[i]].queued = False
            if i + 2 * AHEAD < count:
                fetch_start(&self.s, starts[i + 2 * AHEAD], starts[i + AHEAD])
            improve_by_chain(&self.s, starts[i], self.tolerance, self.patience, self.longest, cost, stopping)
            if half.written:
                change += self.apply()
            if base_poll(&self.s.base, stopping, cost + change / self.s.scale):
                break
        return change

    def search(self, bint second, double cost, Stopping stopping):
        """Find chains from one half of the elements that were taken from the queue."""
        cdef State* s = &self.twin if second and self.two else &self.s
        cdef Half* half = &self.halves[second]
        s.half, s.high, s.shared = half, self.s.high, self.two
        half.written = half.looked = 0
        with nogil:
            while half.looked < half.count and half.written + self.longest < self.room:
                if half.looked + 2 * AHEAD < half.count:
                    fetch_start(s, half.starts[half.looked + 2 * AHEAD], half.starts[half.looked + AHEAD])
                improve_by_chain(
                    s, half.starts[half.looked], self.tolerance, self.patience, self.longest, cost, stopping)
                half.looked += 1
                if base_poll(&s.base, stopping, cost):
                    break

    cdef fixed_t apply(self) noexcept nogil:
        """Apply the chains that were found, but for those of which another one has moved an element or a neighbour."""
        cdef State* s = &self.s
        cdef Half* half
        cdef Step* steps
        cdef Py_ssize_t i, h, kept
        cdef fixed_t change = 0, now
        cdef int64_t begun = s.kept
        cdef bint fits, check
        if s.turn == TURNS:
            s.turn = 0
            for i in range(s.n):
                s.at[i].turn = 0
        s.turn += 1
        for h in range(2):
            half = &self.halves[h]
            steps = half.steps
            while steps < half.steps + half.written:
                kept = steps.element
                fits = True
                for i in range(1, kept + 1):
                    fits &= s.at[steps[i].element].turn != s.turn
                check = fits and s.exact and meets(s, steps + 1, kept, begun)
                now = 0
                if fits:
                    now = carry_out(s, steps + 1, kept, check, self.tolerance)
                if now < 0 or (fits and not check):
                    change += now if check else steps.change
                    self.moves += kept
                    if self.two:
                        carry_out(&self.twin, steps + 1, kept, False, 0)
                    for i in range(1, kept + 1):
                        forget_around(s, steps[i].element)
                else:
                    enqueue(s, steps[1].element)
                steps += kept + 1
            for i in range(half.looked, half.count):
                enqueue(s, half.starts[i])
        return change

    def improve(self, double cost, Stopping stopping):
        """Apply chains until none helps: from all elements first, then where something changed. Returns the cost."""
        cdef element_t a
        cdef fixed_t change
        cdef State* s = &self.s
        cdef double before = cost
        if self.batch > 1:
            return self.improve_in_batches(cost, stopping)
        with nogil:
            while s.length or self.rise(before, cost) or (
                (s.terms.any or s.base.any) and self.find_moves(cost, stopping)
            ):
                a = s.queue[s.head]
                s.head = s.head + 1 if s.head + 1 < s.n else 0
                s.length -= 1
                s.at[a].queued = False
                fetch_next(s)
                change = improve_by_chain(s, a, self.tolerance, self.patience, self.longest, cost, stopping)
                if s.ejects and change == 0:
                    change = improve_by_ejections(s, a, self.tolerance, self.longest)
                cost += change / s.scale
                if base_poll(&s.base, stopping, cost):
                    break
        return cost
