"""Kernel of joining in rounds: the rows of subsets before a round, and those after it, in ranges for threads.

A row has the subsets that a stored pair links to one subset, and the sum of all costs between both. The row of two
subsets that are joined is made of theirs: where both have the same neighbour, or neighbours that are joined, one entry
takes the sum. While a row is still in the cache, the best join of its subset is chosen. Each range of rows is written
to a place of its own, so `begin` and `end` of a row are apart. The order of rows and entries, and so that of additions,
does not depend on the ranges.
"""

from functools import partial

import numpy as np

from libc.stdint cimport uint64_t

from graphpart.kernels._arrays cimport empty_float64, empty_int32, empty_int64, zeros_int32, zeros_int64
from graphpart.kernels.ties cimport pack_sizes, scramble_pair
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.machine import processors, side_by_side

cdef enum:
    RANGES = 4      # most threads: each has an array of the size of all subsets
    SAMPLE = 32     # one subset in so many says whether pairs become one


cdef struct Rows:           # those of Subsets, for loops
    const offset_t* begin
    const offset_t* end
    const element_t* neighbours
    const cost_t* costs
    element_t* elements
    element_t* smallest
    element_t* best
    element_t* to
    double tolerance


cdef class Subsets:
    """The subsets before a round.

    Parameters
    ----------
    begin, end : ndarray of int64
        Of the row of each subset, ascending.
    neighbours, costs : ndarray
        The entries of the rows.
    elements, smallest : ndarray of int32
        The number of elements of each subset, and its smallest element.
    tolerance : float
        A join has to lower the cost by more.

    Attributes
    ----------
    n, entries : int
        Number of subsets, and of the entries of all rows.
    room : tuple of ndarray
        The arrays of the entries.
    best : ndarray of int32
        For each subset the one whose join lowers the cost most; -1 if none does.
    to : ndarray of int32
        After `joined`: for each subset the one that it is part of.
    """

    cdef readonly Py_ssize_t n
    cdef readonly Py_ssize_t entries
    cdef readonly object room, best, to
    cdef object limits, sets, pieces              # of the arrays of entries: where each begins, and how many there are
    cdef Rows rows

    def __init__(self, begin, end, neighbours, costs, elements, smallest, double tolerance):
        cdef const offset_t[::1] begins = begin, ends = end
        cdef const element_t[::1] keys = neighbours
        cdef const cost_t[::1] sums = costs
        self.n = begins.shape[0]
        best, to = empty_int32(self.n), empty_int32(self.n)
        cdef element_t[::1] sizes = elements, names = smallest, chosen = best, number = to
        self.rows = Rows(
            &begins[0], &ends[0], &keys[0], &sums[0], &sizes[0], &names[0], &chosen[0], &number[0], tolerance,
        )
        self.limits, self.room, self.sets = (begin, end), (neighbours, costs), (elements, smallest)
        self.best, self.to = best, to
        self.entries = ends[self.n - 1]
        self.pieces = [(0, self.entries)]

    def choose(self):
        """Choose the best join of each subset; `joined` does so for the subsets that it returns."""
        side_by_side(*[partial(_choose, self, *cut) for cut in self._ranges()])

    def joined(self, room=None):
        """The subsets after a round; None if it joins none.

        `room` is a pair of arrays for the entries, whose content nobody needs any more.
        """
        cdef Subsets next
        next, tasks = self._numbered(room)
        if next.n == self.n:
            return None
        kept = side_by_side(*[partial(_merge, self, next, *task) for task in tasks])
        next.pieces = [(task[3], entries) for task, entries in zip(tasks, kept)]
        next.entries = sum(kept)
        return next

    def merging(self):
        """The number of pairs that become one with another when a round joins two subsets, of one subset in SAMPLE."""
        cdef Py_ssize_t end = (self.n + SAMPLE - 1) // SAMPLE
        cdef Subsets next = self._numbered(None)[0]
        _, joins, entries = _count(self, 0, end)
        return 0.0 if joins == 0 else (entries - _merge(self, next, 0, end, 0, 0)) / (2.0 * joins) - 1.0

    cdef tuple _numbered(self, room):
        """The subsets after a round, without rows, and what `_merge` is to do in each thread."""
        cdef Py_ssize_t n = 0, entries = 0
        cdef Subsets next
        ranges, tasks = self._ranges(), []
        for cut, counted in zip(ranges, side_by_side(*[partial(_count, self, *cut) for cut in ranges])):
            tasks.append((*cut, n, entries))
            n += counted[0]
            entries += counted[2]
        if room is None or len(room[0]) < entries:
            room = empty_int32(entries), empty_float64(entries)
        next = Subsets(empty_int64(n), zeros_int64(n), *room, empty_int32(n), empty_int32(n), self.rows.tolerance)
        side_by_side(*[partial(_number, self, next, *task[:3]) for task in tasks])
        side_by_side(*[partial(_follow, self, *cut) for cut in ranges])
        return next, tasks

    def pairs(self):
        """Both subsets of each pair, the smaller number first, and its cost."""
        cdef Py_ssize_t k = 0, a, e, m = self.entries // 2
        u_array, v_array, cost_array = empty_int32(m), empty_int32(m), empty_float64(m)
        cdef element_t[::1] u = u_array, v = v_array
        cdef cost_t[::1] cost = cost_array
        with nogil:
            for a in range(self.n):
                for e in range(self.rows.begin[a], self.rows.end[a]):
                    if self.rows.neighbours[e] > a:
                        u[k] = <element_t>a
                        v[k] = self.rows.neighbours[e]
                        cost[k] = self.rows.costs[e]
                        k += 1
        return u_array, v_array, cost_array

    def _ranges(self):
        """Ranges of subsets whose rows have about as many entries."""
        cdef Py_ssize_t parts = min(RANGES, processors()), k, at, place, kept
        begin, cuts = self.limits[0], [0]
        for k in range(1, parts):
            at = self.entries * k // parts
            for place, kept in self.pieces:
                if at <= kept:
                    break
                at -= kept
            cuts.append(int(np.searchsorted(begin, place + at)))
        cuts.append(self.n)
        return list(zip(cuts, cuts[1:]))


cdef inline bint leads(const element_t* best, element_t a) noexcept nogil:
    """Whether the row of a subset that may be joined is taken first; not always that of the smaller number, which
    would give the first range more work."""
    cdef element_t b = best[a]
    return b < 0 or best[b] != a or ((a < b) == ((a ^ b) & 1))


cdef inline element_t follower(const element_t* best, element_t a) noexcept nogil:
    """The subset that is joined with one that leads; -1 if none is."""
    cdef element_t b = best[a]
    return b if b >= 0 and best[b] == a else -1


cdef bint comes_first(const Rows* s, element_t a, element_t b, element_t c) noexcept nogil:
    """Whether the join of `a` and `b` comes before that of `a` and `c`, which costs as much: as in greedy joining."""
    cdef uint64_t one = pack_sizes(s.elements[a], s.elements[b]), other = pack_sizes(s.elements[a], s.elements[c])
    if one != other:
        return one < other
    return scramble_pair(s.smallest[a], s.smallest[b]) < scramble_pair(s.smallest[a], s.smallest[c])


cdef inline element_t best_of(const Rows* s, element_t a, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """The subset whose join with `a` lowers the cost most, of those in a row; -1 if none does."""
    cdef element_t best = -1
    cdef cost_t least = -s.tolerance
    cdef Py_ssize_t k
    for k in range(begin, end):
        if s.costs[k] <= least:
            if s.costs[k] < least or (best >= 0 and comes_first(s, a, s.neighbours[k], best)):
                best, least = s.neighbours[k], s.costs[k]
    return best


def _choose(Subsets subsets, Py_ssize_t begin, Py_ssize_t end) -> None:
    cdef Rows s = subsets.rows
    cdef Py_ssize_t a
    with nogil:
        for a in range(begin, end):
            s.best[a] = best_of(&s, <element_t>a, s.begin[a], s.end[a])


def _count(Subsets subsets, Py_ssize_t begin, Py_ssize_t end) -> tuple[int, int, int]:
    """Of the subsets of the next round that a range leads: their number, the joins, and the most entries of their rows."""
    cdef Rows s = subsets.rows
    cdef Py_ssize_t a, count = 0, joins = 0, entries = 0
    cdef element_t b
    with nogil:
        for a in range(begin, end):
            if leads(s.best, <element_t>a):
                count += 1
                entries += s.end[a] - s.begin[a]
                b = follower(s.best, <element_t>a)
                if b >= 0:
                    joins += 1
                    entries += s.end[b] - s.begin[b]
    return count, joins, entries


def _number(Subsets subsets, Subsets next, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t first) -> None:
    """Number the subsets of the next round that a range leads."""
    cdef Rows s = subsets.rows, t = next.rows
    cdef Py_ssize_t a
    cdef element_t b
    with nogil:
        for a in range(begin, end):
            if leads(s.best, <element_t>a):
                s.to[a] = <element_t>first
                t.elements[first] = s.elements[a]
                t.smallest[first] = s.smallest[a]
                b = follower(s.best, <element_t>a)
                if b >= 0:
                    t.elements[first] += s.elements[b]
                    t.smallest[first] = min(s.smallest[a], s.smallest[b])
                first += 1


def _follow(Subsets subsets, Py_ssize_t begin, Py_ssize_t end) -> None:
    """Give the other subsets of a range the number of the one that they are joined with."""
    cdef Rows s = subsets.rows
    cdef Py_ssize_t a
    with nogil:
        for a in range(begin, end):
            if not leads(s.best, <element_t>a):
                s.to[a] = s.to[s.best[a]]


cdef inline element_t add_row(
    const Rows* s, Py_ssize_t begin, Py_ssize_t end, element_t own, element_t* neighbours, cost_t* costs,
    element_t* place, element_t size,
) noexcept nogil:
    """Add the entries of a row of this round to one of the next round, which has `size` entries; the new size.

    `place` has the place of each neighbour in the row, or any other number.
    """
    cdef Py_ssize_t k
    cdef element_t b, at
    for k in range(begin, end):
        b = s.to[s.neighbours[k]]
        if b == own:
            continue
        at = place[b]
        if at < size and neighbours[at] == b:
            costs[at] += s.costs[k]
        else:
            place[b] = size
            neighbours[size] = b
            costs[size] = s.costs[k]
            size += 1
    return size


def _merge(
    Subsets subsets, Subsets next, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t first, Py_ssize_t room
) -> int:
    """Write the rows of the subsets that a range leads, and choose the best join of each; the number of entries."""
    cdef Rows s = subsets.rows, t = next.rows
    cdef Py_ssize_t a, at = room
    cdef element_t b, own = <element_t>first, size
    cdef element_t[::1] places = zeros_int32(next.n), neighbours = next.room[0]
    cdef cost_t[::1] costs = next.room[1]
    cdef offset_t[::1] begins = next.limits[0], ends = next.limits[1]
    with nogil:
        for a in range(begin, end):
            if not leads(s.best, <element_t>a):
                continue
            size = add_row(&s, s.begin[a], s.end[a], own, &neighbours[at], &costs[at], &places[0], 0)
            b = follower(s.best, <element_t>a)
            if b >= 0:
                size = add_row(&s, s.begin[b], s.end[b], own, &neighbours[at], &costs[at], &places[0], size)
            begins[own] = at
            at += size
            ends[own] = at
            t.best[own] = best_of(&t, own, at - size, at)
            own += 1
    return at - room
