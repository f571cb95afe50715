"""Kernel of packing with a background: stars and cycles along listed pairs, closed by pairs that need not be listed.

Lists and message passing are those of `_packing`, but the search differs. In `_packing`, only listed pairs that repel
close cycles, so paths are sought from both ends of each such pair. With a background almost any two elements repel, so
paths are sought from each element to all elements nearby. Stars are sought among the neighbours of an element, most of
whose pairs are not listed.

A pair that is not listed is added when an inequality first uses it. It gets a number after those of the listed pairs,
and its capacity is the background. Memory is in proportion to the listed and added pairs. Packing does not add pairs of
a group at price inf, because their capacity is infinite.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport uint8_t
from libc.stdlib cimport calloc, free

from graphpart.kernels._arrays cimport empty_float64, empty_int32, empty_int64, full_int32, zeros_uint8
from graphpart.kernels.sorted_row cimport first_not_below
from graphpart.kernels.types cimport element_t, offset_t
from graphpart.partition.bounds._packed cimport (
    Numbers, Packed, Reals, add_number, add_real, array_of, packed_add, packed_arrays, packed_close, packed_free,
    poll_after,
)
from graphpart.stopping cimport Stopping


cdef class ImplicitPairs:
    """The pairs of a problem with a background: the listed pairs, and pairs that were added.

    Parameters
    ----------
    starts, neighbours, pairs : compressed rows of the listed pairs, neighbours ascending, with the number of each pair
    beta : (k,), x, y : (n, k)
        The terms of the background; ``x[:, t]`` equals ``y[:, t]`` where ``single[t]``.
    group_starts, group, count, price
        The groups of each element; see `graphpart.partition.problem.groups`.
    most : int
        The largest number of added pairs.
    """

    cdef Py_ssize_t n, m, k, most, mask
    cdef const offset_t[::1] starts
    cdef const element_t[::1] neighbours
    cdef const offset_t[::1] pairs
    cdef const double[::1] beta
    cdef const double[:, ::1] x
    cdef const double[:, ::1] y
    cdef const uint8_t[::1] single
    cdef const offset_t[::1] group_starts
    cdef const element_t[::1] group
    cdef const offset_t[::1] count
    cdef const double[::1] price
    cdef bint grouped
    cdef offset_t* slots                # a hash table: 1 + position among the added pairs, or 0
    cdef Numbers keys                   # the keys of the added pairs
    cdef Reals left                     # their remaining capacity
    cdef Packed packed
    cdef Numbers terms, term_ends, stars_found
    cdef bint failed

    def __cinit__(self, starts, neighbours, pairs, m, beta, x, y, single, group_starts, group, count, price, most):
        self.starts, self.neighbours, self.pairs, self.m = starts, neighbours, pairs, m
        self.beta, self.x, self.y, self.single = beta, x, y, single
        self.group_starts, self.group, self.count, self.price = group_starts, group, count, price
        self.grouped = len(price) > 0
        self.n, self.k, self.most = len(starts) - 1, len(beta), most
        self.mask = 1023
        self.slots = <offset_t*>calloc(self.mask + 1, sizeof(offset_t))
        if self.slots == NULL:
            raise MemoryError()

    def __dealloc__(self):
        free(self.slots)
        free(self.keys.items)
        free(self.left.items)
        free(self.terms.items)
        free(self.term_ends.items)
        free(self.stars_found.items)
        packed_free(&self.packed)

    def made(self):
        """The keys ``a * n + b`` (a < b) of the added pairs, in the order of their numbers."""
        return array_of(self.keys.items, self.keys.size, np.int64)

    def size(self):
        """The number of added pairs."""
        return self.keys.size

    def costs(self):
        """The background of the added pairs."""
        out = empty_float64(self.keys.size)
        cdef double[::1] view = out
        cdef offset_t key
        cdef Py_ssize_t i
        for i in range(self.keys.size):
            key = self.keys.items[i]
            view[i] = self.background(<element_t>(key // self.n), <element_t>(key % self.n))
        return out

    cdef inline double background(self, element_t a, element_t b) noexcept nogil:
        cdef double total = 0.0
        cdef Py_ssize_t t
        for t in range(self.k):
            if self.single[t]:
                total += self.beta[t] * (self.x[a, t] * self.x[b, t])
            else:
                total += self.beta[t] * (self.x[a, t] * self.y[b, t] + self.y[a, t] * self.x[b, t])
        return total + self.paid(a, b) if self.grouped else total

    cdef inline double paid(self, element_t a, element_t b) noexcept nogil:
        """The cost of the groups that a pair shares."""
        cdef double total = 0.0
        cdef offset_t i = self.group_starts[a], j = self.group_starts[b]
        while i < self.group_starts[a + 1] and j < self.group_starts[b + 1]:
            if self.group[i] < self.group[j]:
                i += 1
            elif self.group[i] > self.group[j]:
                j += 1
            else:
                total += self.price[self.group[i]] * <double>(self.count[i] * self.count[j])
                i += 1
                j += 1
        return total

    cdef inline offset_t listed(self, element_t a, element_t b) noexcept nogil:
        """The number of a listed pair; -1 if it is not listed."""
        cdef offset_t k
        if self.starts[a + 1] - self.starts[a] > self.starts[b + 1] - self.starts[b]:
            a, b = b, a
        k = first_not_below(&self.neighbours[0], self.starts[a], self.starts[a + 1], b)
        return self.pairs[k] if k < self.starts[a + 1] and self.neighbours[k] == b else -1

    cdef inline Py_ssize_t slot(self, offset_t key) noexcept nogil:
        cdef Py_ssize_t at = <Py_ssize_t>((<unsigned long long>key * 0x9E3779B97F4A7C15ULL) >> 20) & self.mask
        while self.slots[at] and self.keys.items[self.slots[at] - 1] != key:
            at = (at + 1) & self.mask
        return at

    cdef inline offset_t key(self, element_t a, element_t b) noexcept nogil:
        return <offset_t>a * self.n + b if a < b else <offset_t>b * self.n + a

    cdef inline double value(self, double* rest, element_t a, element_t b) noexcept nogil:
        """The remaining cost of a pair, negative if it attracts; 0 if the pair cannot be added any more."""
        cdef offset_t e = self.listed(a, b)
        cdef Py_ssize_t at
        if e >= 0:
            return rest[e]
        if self.keys.size:
            at = self.slot(self.key(a, b))
            if self.slots[at]:
                return self.left.items[self.slots[at] - 1]
        cdef double cost = self.background(a, b)
        return cost if self.keys.size < self.most or cost == INFINITY else 0.0

    cdef offset_t number(self, element_t a, element_t b) noexcept nogil:
        """The number of a pair, which is added if it has none."""
        cdef offset_t e = self.listed(a, b), key
        cdef offset_t* larger
        cdef Py_ssize_t at, i
        if e >= 0:
            return e
        key = self.key(a, b)
        at = self.slot(key)
        if self.slots[at]:
            return self.m + self.slots[at] - 1
        if not add_number(&self.keys, key) or not add_real(&self.left, self.background(a, b)):
            self.failed = True
            return 0
        self.slots[at] = self.keys.size
        if 2 * self.keys.size > self.mask:
            larger = <offset_t*>calloc(4 * (self.mask + 1), sizeof(offset_t))
            if larger == NULL:
                self.failed = True
                return 0
            free(self.slots)
            self.slots, self.mask = larger, 4 * (self.mask + 1) - 1
            for i in range(self.keys.size):
                self.slots[self.slot(self.keys.items[i])] = i + 1
        return self.m + self.keys.size - 1

    cdef inline void take(self, double* rest, element_t a, element_t b, double amount) noexcept nogil:
        """Take an amount from the remaining capacity of a pair, and add the pair to the terms."""
        cdef offset_t e
        cdef double* left
        if self.grouped and self.listed(a, b) < 0 and self.paid(a, b) == INFINITY:
            return
        e = self.number(a, b)
        if self.failed:
            return
        left = &rest[e] if e < self.m else &self.left.items[e - self.m]
        if left[0] < 0:
            left[0] += amount
            left[0] = min(left[0], 0.0)
        else:
            left[0] -= amount
            left[0] = max(left[0], 0.0)
        self.failed |= not add_number(&self.terms, e)

    cdef inline void close(self, double amount, bint star) noexcept nogil:
        packed_close(&self.packed, amount)
        self.failed |= self.packed.failed or not add_number(&self.term_ends, self.terms.size)
        self.failed |= not add_number(&self.stars_found, star)

    def begin(self, const double[::1] left):
        """Begin without inequalities, with the remaining capacities of the added pairs."""
        cdef Py_ssize_t i
        for i in range(self.keys.size):
            self.left.items[i] = left[i]
        self.terms.size = self.term_ends.size = self.stars_found.size = 0
        self._clear()

    cdef void _clear(self) noexcept nogil:
        self.packed.size = self.packed.ends.size = self.packed.amounts.size = 0

    def end(self):
        """(starts, elements, ends of terms, numbers of the pairs that are terms, amounts, stars) of the inequalities.

        `stars` says whether an inequality is a star with at least three leaves; otherwise it is a cycle.
        """
        starts, elements, amounts = packed_arrays(&self.packed)
        term_ends = array_of(self.term_ends.items, self.term_ends.size, np.int64)
        terms = array_of(self.terms.items, self.terms.size, np.int64)
        stars = array_of(self.stars_found.items, self.stars_found.size, np.int64) > 0
        return starts, elements, term_ends, terms, amounts, stars

    def stars(self, double[::1] rest, const double[::1] most_each, const element_t[::1] order, double threshold,
              Py_ssize_t least, Py_ssize_t largest, bint once, Stopping stopping):
        """Pack stars with amounts of at least `threshold`, from `least` to `largest` leaves; return their number.

        `order` is the order of the centres. A star takes at most ``most_each[e]`` of pair e of its centre. If `once`,
        each pair is used once from each of its ends. `rest` becomes the remaining capacity of the listed pairs.
        """
        cdef Py_ssize_t n = self.n, at, around, count, kept, leaves, best, next_best, i, j
        cdef Py_ssize_t before = self.packed.amounts.size
        cdef element_t centre
        cdef offset_t e
        cdef double amount, x
        cdef double* left = &rest[0] if rest.shape[0] else NULL
        cdef double[::1] room = empty_float64(n + 1)
        cdef element_t[::1] near = empty_int32(n + 1), reach = empty_int32(n + 1)
        cdef offset_t[::1] numbers = empty_int64(n + 1)
        cdef element_t[::1] star = empty_int32(largest + 1)
        cdef uint8_t[::1] used = zeros_uint8(n + 1)
        with nogil:
            for at in range(order.shape[0]):
                if stopping.poll(INFINITY) or self.failed:
                    break
                centre = order[at]
                around = 0
                for i in range(self.starts[centre], self.starts[centre + 1]):
                    e = self.pairs[i]
                    if left[e] < 0 and -left[e] >= threshold:
                        reach[around], numbers[around] = self.neighbours[i], e
                        around += 1
                while around >= least and not self.failed:
                    if poll_after(stopping, around):
                        break
                    count = best = 0
                    for j in range(around):
                        e = numbers[j]
                        x = min(-left[e], most_each[e])
                        if x > 0 and x >= threshold and not used[reach[j]]:
                            reach[count], numbers[count] = reach[j], e
                            near[count] = reach[j]
                            room[count] = x
                            if x > room[best]:
                                best = count
                            count += 1
                    around = count
                    leaves = 0
                    amount = INFINITY
                    while count and leaves < largest and not poll_after(stopping, count):
                        star[leaves] = near[best]
                        amount = min(amount, room[best])
                        leaves += 1
                        near[best] = near[count - 1]
                        room[best] = room[count - 1]
                        count -= 1
                        kept = next_best = 0
                        for j in range(count if leaves < largest else 0):
                            x = self.value(left, star[leaves - 1], near[j])
                            if x > 0 and x >= threshold:
                                near[kept] = near[j]
                                room[kept] = x if x < room[j] else room[j]
                                if room[kept] > room[next_best]:
                                    next_best = kept
                                kept += 1
                        count, best = kept, next_best
                    if leaves < least:
                        if not self.grouped:
                            break
                        for j in range(around):     # the first leaf repels too few others
                            if reach[j] == star[0]:
                                around -= 1
                                reach[j], numbers[j] = reach[around], numbers[around]
                                break
                        continue
                    if leaves == 2:     # stored as a cycle
                        packed_add(&self.packed, star[0])
                        packed_add(&self.packed, centre)
                        packed_add(&self.packed, star[1])
                    else:
                        packed_add(&self.packed, centre)
                    for i in range(leaves):
                        if leaves > 2:
                            packed_add(&self.packed, star[i])
                        used[star[i]] = once
                        self.take(left, centre, star[i], amount)
                        for j in range(i):
                            self.take(left, star[i], star[j], amount)
                    self.close(amount, leaves > 2)
                for j in range(self.starts[centre], self.starts[centre + 1]):
                    used[self.neighbours[j]] = 0
        if self.failed:
            raise MemoryError()
        return self.packed.amounts.size - before

    def cycles(self, double[::1] rest, Py_ssize_t reach, Stopping stopping):
        """Pack cycles closed by a repelling pair, along shortest paths from each element to the `reach` nearest.

        Returns the number of cycles. Cycles of three elements come first, then those of four, and so on.
        """
        cdef Py_ssize_t n = self.n, first, last, i, before = self.packed.amounts.size
        cdef element_t a, b, c
        cdef double amount, x
        cdef double* left = &rest[0] if rest.shape[0] else NULL
        cdef element_t[::1] queue = empty_int32(n + 1), parent = empty_int32(n + 1)
        cdef element_t[::1] mark = full_int32(n + 1, -1), depth = empty_int32(n + 1)
        cdef offset_t[::1] via = empty_int64(n + 1)
        with nogil:
            for a in range(n):
                if stopping.poll(INFINITY) or self.failed:
                    break
                queue[0], first, last = a, 0, 1
                mark[a], depth[a] = a, 0
                while first < last and not self.failed:
                    b = queue[first]
                    first += 1
                    if poll_after(stopping, self.starts[b + 1] - self.starts[b]):
                        break
                    if depth[b] > 1:
                        x = self.value(left, a, b)
                        amount = x
                        c = b
                        while c != a and amount > 0:
                            amount = min(amount, -left[via[c]])
                            c = parent[c]
                        if amount > 0:
                            c = b
                            while c != a:
                                packed_add(&self.packed, c)
                                self.take(left, c, parent[c], amount)
                                c = parent[c]
                            packed_add(&self.packed, a)
                            self.take(left, a, b, amount)
                            self.close(amount, False)
                    if last >= reach:
                        continue
                    for i in range(self.starts[b], self.starts[b + 1]):
                        c = self.neighbours[i]
                        if mark[c] != a and left[self.pairs[i]] < 0:
                            mark[c], parent[c], via[c], depth[c] = a, b, self.pairs[i], depth[b] + 1
                            queue[last] = c
                            last += 1
        if self.failed:
            raise MemoryError()
        return self.packed.amounts.size - before

    def numbers(self, const offset_t[::1] keys) -> NDArray[np.int64]:
        """The numbers of the pairs with keys ``a * n + b``. A pair without a number is added."""
        out_array = empty_int64(keys.shape[0])
        cdef offset_t[::1] out = out_array
        cdef Py_ssize_t i
        with nogil:
            for i in range(keys.shape[0]):
                out[i] = self.number(<element_t>(keys[i] // self.n), <element_t>(keys[i] % self.n))
        if self.failed:
            raise MemoryError()
        return out_array

    cdef inline double at(self, const double* y, element_t a, element_t b) noexcept nogil:
        """The value of a pair at a point; a pair without a variable has 0 if it repels, else 1, which costs nothing."""
        cdef offset_t e = self.listed(a, b)
        cdef Py_ssize_t i
        if e >= 0:
            return y[e]
        i = self.slot(self.key(a, b))
        if self.slots[i]:
            return y[self.m + self.slots[i] - 1]
        return 1.0 if self.grouped and not self.background(a, b) > 0 else 0.0

    def violated_stars(self, const double[::1] y, double tolerance, Py_ssize_t largest, Stopping stopping):
        """Stars whose inequality a point violates by more than `tolerance`: (starts, elements, violations).

        Each search starts with a neighbour of a centre that is no leaf of a found star of this centre. The leaf that
        raises the violation most is added, while the violation rises. The centre stands first; in a star with two
        leaves it stands between them.
        """
        cdef Py_ssize_t n = self.n, count, leaves, j, seed, best, i
        cdef element_t centre
        cdef double value, most
        cdef element_t[::1] near = empty_int32(n + 1), star = empty_int32(largest + 1)
        cdef double[::1] near_y = empty_float64(n + 1), gain = empty_float64(n + 1)
        cdef uint8_t[::1] covered = zeros_uint8(n + 1), inside = zeros_uint8(n + 1)
        cdef const double* point = &y[0] if y.shape[0] else NULL
        self._clear()
        with nogil:
            for centre in range(n):
                if stopping.poll(INFINITY) or self.packed.failed:
                    break
                count = 0
                for i in range(self.starts[centre], self.starts[centre + 1]):
                    value = point[self.pairs[i]]
                    if value > tolerance:
                        near[count], near_y[count], covered[count], inside[count] = self.neighbours[i], value, 0, 0
                        count += 1
                for seed in range(count if count > 1 else 0):
                    if covered[seed]:
                        continue
                    for j in range(count):
                        gain[j], inside[j] = near_y[j], 0
                    value, leaves, best = -1.0, 0, seed
                    while best >= 0 and leaves < largest:
                        if poll_after(stopping, count):
                            break
                        value += gain[best]
                        inside[best], covered[best] = 1, 1
                        star[leaves] = near[best]
                        leaves += 1
                        j, most = best, tolerance
                        best = -1
                        for i in range(count):
                            if not inside[i] and gain[i] > tolerance:
                                gain[i] -= self.at(point, near[j], near[i])
                                if gain[i] > most:
                                    most, best = gain[i], i
                    if value > tolerance and leaves > 1:
                        packed_add(&self.packed, star[0] if leaves == 2 else centre)
                        packed_add(&self.packed, centre if leaves == 2 else star[0])
                        for i in range(1, leaves):
                            packed_add(&self.packed, star[i])
                        packed_close(&self.packed, value)
        return packed_arrays(&self.packed)
