"""Kernel of persistency with a background that repels: criteria for joins, on rows of listed pairs and sums of weights.

The statement of each criterion, and why it holds, is in `persistency.py`. Rows hold what is listed beside the
background; the background of two elements is a sum over channels, ``beta * g[a] * h[b]``, of weights that are not
negative. What a weighted mean of moves loses at an element that is in neither row is the largest of three linear
functions of its two backgrounds and 0, so over all such elements and channels it is at most the sum of what each
channel alone would lose, which follows from the sum of their weights. Joining elements adds their weights.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint8_t

from graphpart.kernels.contraction cimport (
    Row, Shrinking, shrinking_contract, shrinking_find, shrinking_free, shrinking_make,
)
from graphpart.kernels.minimum_cut cimport minimum_cut
from graphpart.kernels.ring cimport Ring, pop, push
from graphpart.kernels.types cimport element_t, offset_t
from graphpart.partition.reduction._criteria cimport SUBGRAPH
from graphpart.partition.reduction._moves cimport MOVES, TO_A, TO_B, judge_third, most, name_of_move
from graphpart.stopping cimport Stopping

cdef enum:
    HOPELESS = 2                # a set is given up once what it has to outweigh is so many times what its seed had

cdef double ROUNDING = 2.0**-51


cdef class Joins:
    """Elements that shrink as joins are proven.

    Parameters
    ----------
    starts, neighbours, costs : compressed rows, the latter two written to
    beta : (k,), g, h : (n, k), not negative; the latter two written to
    exact : bool
        Whether all sums of eighths of costs are.
    largest : int
        Elements of a set that is grown.
    """

    cdef Shrinking rows
    cdef Py_ssize_t n, channels, largest, joins, size, rim
    cdef bint exact, failed
    cdef const double[::1] beta
    cdef double[:, ::1] g, h
    cdef double[::1] total, mass, common_a, common_b, attraction, to_set, from_set, set_known, matrix
    cdef element_t[::1] join_a, join_b, items, seeds_items, members, around, place
    cdef uint8_t[::1] why, dirty, inside, seeds_inside, forbidden
    cdef int64_t[::1] mark
    cdef int64_t stamp
    cdef Ring pairs, seeds
    cdef object kept

    def __cinit__(self, const offset_t[::1] starts, element_t[::1] neighbours, double[::1] costs, beta, g, h,
                  bint exact, Py_ssize_t largest):
        cdef Py_ssize_t n = starts.shape[0] - 1
        cdef bint made
        self.kept = (neighbours, costs)
        self.n, self.channels, self.exact, self.largest = n, len(beta), exact, largest
        self.beta, self.g, self.h = beta, g, h
        self.total, self.mass = h.sum(axis=0), np.empty(len(beta))
        self.common_a, self.common_b = np.empty(n + 1), np.empty(n + 1)
        self.attraction = np.empty(n + 1)
        self.to_set, self.from_set, self.set_known = np.empty(n + 1), np.empty(n + 1), np.empty(n + 1)
        self.matrix = np.empty((largest + 1) * largest)
        self.join_a, self.join_b = np.empty(n + 1, np.int32), np.empty(n + 1, np.int32)
        self.items, self.seeds_items = np.empty(n + 1, np.int32), np.empty(n + 1, np.int32)
        self.members, self.around, self.place = (np.empty(n + 1, np.int32) for _ in range(3))
        self.why, self.dirty = np.zeros(n + 1, np.uint8), np.ones(n + 1, np.uint8)
        self.inside, self.seeds_inside = np.zeros(n + 1, np.uint8), np.zeros(n + 1, np.uint8)
        self.forbidden = np.zeros(n + 1, np.uint8)
        self.mark = np.full(n + 1, -1, np.int64)
        self.pairs.items, self.pairs.inside, self.pairs.room = &self.items[0], &self.inside[0], n
        self.seeds.items, self.seeds.inside, self.seeds.room = &self.seeds_items[0], &self.seeds_inside[0], n
        made = shrinking_make(&self.rows, n, &starts[0], &neighbours[0] if neighbours.shape[0] else NULL,
                              &costs[0] if costs.shape[0] else NULL)
        if not made:
            raise MemoryError()

    def __dealloc__(self):
        shrinking_free(&self.rows)

    cdef inline double background(self, element_t a, element_t b) noexcept nogil:
        cdef double total = 0.0
        cdef Py_ssize_t t
        for t in range(self.channels):
            total += self.beta[t] * self.g[a, t] * self.h[b, t]
        return total

    cdef inline double pull(self, element_t a) noexcept nogil:
        """The sum of all that attracts an element."""
        cdef Row* row = &self.rows.rows[a]
        cdef Py_ssize_t j
        cdef double cost, total = 0.0
        if self.dirty[a]:
            for j in range(row.size):
                if row.cost[j] < 0:
                    cost = row.cost[j] + self.background(a, row.to[j])
                    if cost < 0:
                        total -= cost
            self.attraction[a], self.dirty[a] = total, 0
        return self.attraction[a]

    cdef inline double weight(self, element_t a) noexcept nogil:
        """The sum of absolute costs of an element, at least."""
        cdef double total = self.rows.rows[a].weight
        cdef Py_ssize_t t
        for t in range(self.channels):
            total += self.beta[t] * self.g[a, t] * self.total[t]
        return total

    cdef inline double slack(self, double terms, double weight) noexcept nogil:
        return 0.0 if self.exact else ROUNDING * (64 + terms) * weight + 1e-290

    # -------------------------------------------------------------------------------------------------------- pairs

    cdef int judge(self, element_t a, element_t b, double cost) noexcept nogil:
        """Which criterion proves that a and b, of negative cost, are joined in some optimum; 0 if none does."""
        cdef Row* p = &self.rows.rows[a]
        cdef Row* q = &self.rows.rows[b]
        # Sums over all elements have to be exact up to this, those of weights included.
        cdef double room = -cost - 4 * self.slack(p.terms + q.terms + self.n, self.weight(a) + self.weight(b))
        cdef double[8] sums
        cdef double[8] peak
        cdef double x, y, worst
        cdef Py_ssize_t i = 0, j = 0, t, common = 0
        cdef element_t other
        cdef int l
        cdef bint hopeless
        for t in range(self.channels):
            self.mass[t] = self.total[t] - self.h[a, t] - self.h[b, t]
        for l in range(MOVES):
            sums[l] = peak[l] = 0.0
        while i < p.size or j < q.size:
            if j >= q.size or (i < p.size and p.to[i] < q.to[j]):
                other, x, y = p.to[i], p.cost[i], 0.0
                i += 1
            elif i >= p.size or q.to[j] < p.to[i]:
                other, x, y = q.to[j], 0.0, q.cost[j]
                j += 1
            else:
                other, x, y = p.to[i], p.cost[i], q.cost[j]
                i += 1
                j += 1
            if (x == 0 and y == 0) or other == a or other == b:
                continue
            x += self.background(a, other)
            y += self.background(b, other)
            for t in range(self.channels):
                self.mass[t] -= self.h[other, t]
            self.common_a[common] = x
            self.common_b[common] = y
            common += 1
            hopeless = common & 7 == 0
            for l in range(MOVES):
                if (x == INFINITY) != (y == INFINITY) and ((x == INFINITY and TO_B[l] > 0) or
                                                           (y == INFINITY and TO_A[l] > 0)):
                    sums[l] = INFINITY
                else:
                    worst = most(x, y, l)
                    sums[l] += worst
                    if worst > peak[l]:
                        peak[l] = worst
                if not sums[l] - peak[l] > room:
                    hopeless = False
            if hopeless:
                return 0
        hopeless = True
        for l in range(MOVES):
            for t in range(self.channels):
                if self.mass[t] > 0:
                    sums[l] += self.mass[t] * most(self.beta[t] * self.g[a, t], self.beta[t] * self.g[b, t], l)
            if sums[l] <= room:
                return name_of_move(l)
            if sums[l] - peak[l] <= room:
                hopeless = False
        if hopeless:
            return 0
        return judge_third(&sums[0], common, &self.common_a[0], &self.common_b[0], room)

    cdef element_t join(self, element_t a, element_t b, int why) noexcept nogil:
        """Contract a and b, and queue what has to be looked at again: the result and its neighbours."""
        cdef element_t kept = shrinking_contract(&self.rows, a, b), gone
        cdef Row* row
        cdef Py_ssize_t i, t
        if kept < 0:
            self.failed = True
            return kept
        gone = b if kept == a else a
        self.join_a[self.joins], self.join_b[self.joins], self.why[self.joins] = a, b, <uint8_t>why
        self.joins += 1
        for t in range(self.channels):
            self.g[kept, t] += self.g[gone, t]
            self.h[kept, t] += self.h[gone, t]
        row = &self.rows.rows[kept]
        push(&self.pairs, kept)
        push(&self.seeds, kept)
        self.dirty[kept] = 1
        for i in range(row.size):
            self.dirty[row.to[i]] = 1
            push(&self.pairs, row.to[i])
            if row.cost[i] < 0:
                push(&self.seeds, row.to[i])
        return kept

    cdef bint settle(self, Stopping stopping) noexcept nogil:
        """Join pairs that criteria for pairs prove, until none does any more. False if stopped before."""
        cdef element_t a, b, kept
        cdef Py_ssize_t j
        cdef Row* row
        cdef double cost
        cdef int why
        while self.pairs.size:
            a = pop(&self.pairs)
            if self.rows.parent[a] != a:
                continue
            j = 0
            while j < self.rows.rows[a].size:
                if self.failed or stopping.poll(INFINITY):
                    return False
                row = &self.rows.rows[a]
                b, cost = row.to[j], row.cost[j]
                # a pair of two queued elements is left to the one that comes last
                if cost < 0 and not self.pairs.inside[b]:
                    cost += self.background(a, b)
                    why = self.judge(a, b, cost) if cost < 0 else 0
                    if why:
                        kept = self.join(a, b, why)
                        if kept != a:
                            break
                        j = 0
                        continue
                j += 1
        return True

    # --------------------------------------------------------------------------------------------------------- sets

    cdef bint grow(self, element_t a, Stopping stopping) noexcept nogil:
        """Grow a set from an element until it is proven joined, and join it. False if that does not come to pass."""
        cdef double most_needed = HOPELESS * self.pull(a), needed, outer = 0.0, inner = 0.0, weight = 0.0, terms = 0.0
        cdef double cost, gain, best_gain, beside
        cdef Py_ssize_t j, t, left
        cdef element_t x = a, y, kept
        cdef Row* row
        self.stamp += 1
        self.size = self.rim = 0
        for t in range(self.channels):
            self.mass[t] = 0.0                  # of the members
        while x >= 0 and self.size < self.largest:
            row = &self.rows.rows[x]
            if self.mark[x] != 2 * self.stamp:
                self.to_set[x] = self.from_set[x] = self.set_known[x] = 0.0
                self.forbidden[x] = 0
            beside = -self.set_known[x]         # the background of members that it has no listed pair with
            for t in range(self.channels):
                beside += self.beta[t] * self.g[x, t] * self.mass[t]
            outer += self.pull(x) - 2 * self.to_set[x]
            inner += self.from_set[x] + (beside if beside > 0 else 0.0)
            self.mark[x] = 2 * self.stamp + 1
            self.place[x] = <element_t>self.size
            self.members[self.size] = x
            self.size += 1
            weight += self.weight(x)
            terms += row.terms + row.size
            for t in range(self.channels):
                self.mass[t] += self.h[x, t]
            for j in range(row.size):
                y, cost = row.to[j], row.cost[j]
                if cost == 0:
                    continue
                if self.mark[y] < 2 * self.stamp:
                    self.mark[y] = 2 * self.stamp
                    self.to_set[y] = self.from_set[y] = self.set_known[y] = 0.0
                    self.forbidden[y] = 0
                beside = self.background(x, y)
                self.set_known[y] += beside
                cost += beside
                if cost < 0:
                    if self.to_set[y] == 0:
                        self.around[self.rim] = y
                        self.rim += 1
                    self.to_set[y] -= cost
                elif cost < INFINITY:
                    self.from_set[y] += cost
                else:
                    self.forbidden[y] = 1
            needed = outer + inner + 4 * self.slack(terms, weight)
            if self.size > 2 and self.least_inside() >= needed and not stopping.poll(INFINITY) and \
                    self.cut_inside() >= needed:
                kept = self.members[0]
                for j in range(1, self.size):
                    kept = self.join(shrinking_find(&self.rows, kept), self.members[j], SUBGRAPH)
                    if kept < 0:
                        break
                return True
            x = -1
            if needed <= most_needed:
                left, best_gain = 0, -INFINITY
                for j in range(self.rim):
                    y = self.around[j]
                    if self.mark[y] == 2 * self.stamp + 1:
                        continue
                    self.around[left] = y
                    left += 1
                    if self.forbidden[y]:
                        continue
                    gain = 2 * self.to_set[y] - self.pull(y) - self.from_set[y] + self.set_known[y]
                    for t in range(self.channels):
                        gain -= self.beta[t] * self.g[y, t] * self.mass[t]
                    if gain > best_gain:
                        best_gain, x = gain, y
                self.rim = left
        return False

    cdef double least_inside(self) noexcept nogil:
        cdef Py_ssize_t i
        cdef double least = INFINITY
        for i in range(self.size):
            least = min(least, self.to_set[self.members[i]])
        return least

    cdef double cut_inside(self) noexcept nogil:
        """The least attraction between two parts of the set."""
        cdef Py_ssize_t i, j, k = self.size
        cdef Row* row
        cdef double cost
        for i in range(k * k):
            self.matrix[i] = 0.0
        for i in range(k):
            row = &self.rows.rows[self.members[i]]
            for j in range(row.size):
                if row.cost[j] < 0 and self.mark[row.to[j]] == 2 * self.stamp + 1:
                    cost = row.cost[j] + self.background(self.members[i], row.to[j])
                    if cost < 0:
                        self.matrix[i * k + self.place[row.to[j]]] = -cost
        return minimum_cut(&self.matrix[0], k, &self.matrix[self.largest * self.largest])

    # ---------------------------------------------------------------------------------------------------- the whole

    def run(self, Stopping stopping):
        """Join what any criterion proves, the cheap ones first: (a, b, why) of joins, which are a forest."""
        cdef Py_ssize_t a
        cdef element_t x
        with nogil:
            for a in range(self.n):
                if self.rows.rows[a].size:
                    push(&self.pairs, <element_t>a)
                    push(&self.seeds, <element_t>a)
            while self.settle(stopping) and self.seeds.size and not stopping.poll(INFINITY):
                x = pop(&self.seeds)
                if self.rows.parent[x] == x:
                    self.grow(x, stopping)
        if self.failed:
            raise MemoryError()
        return (np.asarray(self.join_a)[:self.joins], np.asarray(self.join_b)[:self.joins],
                np.asarray(self.why)[:self.joins])
