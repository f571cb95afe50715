"""Kernels of packing: stars and triangles of a matrix, cycles of any length, message passing, stars of groups.

Each pair has a capacity, the absolute value of its cost. A cycle of one repulsive pair and attractive pairs is packed
with the least capacity on it, which is then subtracted from all its pairs. A star is packed in the same way: an element
and leaves that it attracts, which repel each other.

In message passing, one after the other, pairs redistribute their capacity among their inequalities. Each pair gives a
share of its capacity to each inequality that contains it. The amount of an inequality is the least share that it gets
from one of its pairs. If a pair gives an inequality more than all other pairs do, the excess is wasted. So a pair first
gives each inequality the least share of the other pairs, and divides the rest of its capacity between all. If its
capacity is not enough for this, inequalities of equal worth divide the capacity that they use together, in proportion
to these least shares, and unused capacity goes to inequalities of the largest worth first. No step lowers the sum of
amounts times worths. If all worths are equal, a step is optimal for the shares of one pair.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memset

from graphpart.kernels._arrays cimport empty_float64, empty_int32, empty_int64, full_int64, zeros_int64
from graphpart.kernels.types cimport element_t, offset_t
from graphpart.partition.bounds._packed cimport Packed, packed_add, packed_arrays, packed_close, packed_free
from graphpart.stopping cimport Stopping


# ----------------------------------------------------------------------------------------------------------- matrices

def pack_stars(double[:, ::1] rest, const double[::1] least, Py_ssize_t largest, Stopping stopping):
    """Pack stars of at least 3 and at most `largest` leaves; (starts, elements, amounts), the centre of each first.

    `rest` becomes the remaining capacity. The amounts are at least ``least[0]`` at first, then ``least[1]``, and so on.
    """
    cdef Py_ssize_t n = rest.shape[0], stage, centre, i, j, around, count, kept, leaves, best, next_best
    cdef double threshold, amount, x
    cdef double[::1] room = empty_float64(n + 1)   # least capacity of each candidate to the centre and the leaves
    cdef element_t[::1] near = empty_int32(n + 1)
    cdef element_t[::1] reach = empty_int32(n + 1)
    cdef element_t[::1] star = empty_int32(largest + 1)
    cdef double* row
    cdef double* other
    cdef Packed out
    memset(&out, 0, sizeof(out))
    try:
        with nogil:
            for stage in range(least.shape[0]):
                threshold = least[stage]
                for centre in range(n):
                    row = &rest[centre, 0]
                    around = 0
                    for i in range(n):
                        if row[i] < 0 and -row[i] >= threshold:
                            reach[around] = <element_t>i
                            around += 1
                    while around > 2:
                        if stopping.poll(INFINITY) or out.failed:
                            break
                        count = best = 0
                        for j in range(around):
                            x = -row[reach[j]]
                            if x > 0 and x >= threshold:
                                reach[count] = near[count] = reach[j]
                                room[count] = x
                                if x > room[best]:
                                    best = count
                                count += 1
                        around = count
                        leaves = 0
                        amount = INFINITY
                        while count and leaves < largest:
                            star[leaves] = near[best]
                            amount = min(amount, room[best])
                            other = &rest[near[best], 0]
                            leaves += 1
                            kept = next_best = 0
                            for j in range(count):
                                x = other[near[j]]          # 0 for the leaf itself
                                if x > 0 and x >= threshold:
                                    near[kept] = near[j]
                                    room[kept] = x if x < room[j] else room[j]
                                    if room[kept] > room[next_best]:
                                        next_best = kept
                                    kept += 1
                            count, best = kept, next_best
                        if leaves < 3:
                            break
                        for i in range(leaves):
                            row[star[i]] += amount
                            rest[star[i], centre] = row[star[i]]
                            for j in range(i):
                                rest[star[i], star[j]] -= amount
                                rest[star[j], star[i]] = rest[star[i], star[j]]
                        packed_add(&out, <element_t>centre)
                        for i in range(leaves):
                            packed_add(&out, star[i])
                        packed_close(&out, amount)
        return packed_arrays(&out)
    finally:
        packed_free(&out)


def pack_triangles(double[:, ::1] rest, Stopping stopping):
    """Pack triangles of a matrix of costs, which becomes the remaining costs; (starts, elements, amounts).

    For each repulsive pair, the triangle with the largest amount first.
    """
    cdef Py_ssize_t n = rest.shape[0], u, v, w, best
    cdef double amount, x
    cdef double* row_u
    cdef double* row_v
    cdef Packed out
    memset(&out, 0, sizeof(out))
    try:
        with nogil:
            for u in range(n):
                if stopping.look(INFINITY):
                    break
                row_u = &rest[u, 0]
                for v in range(u + 1, n):
                    if stopping.poll(INFINITY):
                        break
                    row_v = &rest[v, 0]
                    while row_u[v] > 0:
                        best = -1
                        amount = 0.0
                        for w in range(n):
                            x = row_u[w] if row_u[w] > row_v[w] else row_v[w]
                            if x < amount:
                                amount = x
                                best = w
                        if best < 0:
                            break
                        amount = min(-amount, row_u[v])
                        w = best
                        row_u[v] -= amount
                        row_v[u] = row_u[v]
                        row_u[w] += amount
                        rest[w, u] = row_u[w]
                        row_v[w] += amount
                        rest[w, v] = row_v[w]
                        packed_add(&out, <element_t>u)
                        packed_add(&out, <element_t>w)
                        packed_add(&out, <element_t>v)
                        packed_close(&out, amount)
                    if out.failed:
                        break
        return packed_arrays(&out)
    finally:
        packed_free(&out)


# -------------------------------------------------------------------------------------------------------------- lists

cdef struct Search:
    # Breadth-first search from both ends of a repulsive pair, level by level, through attractive pairs with capacity
    # left.
    offset_t* starts
    offset_t* ends              # ends of the part of each list that still has capacity
    element_t* neighbours
    offset_t* edges
    double* capacity
    int64_t* mark               # 2 * stamp + side, for elements that the search has reached
    element_t* before
    offset_t* edge_before
    element_t* queue[2]
    Py_ssize_t first[2]
    Py_ssize_t last[2]
    element_t* path             # the elements and pairs of the path that was found
    offset_t* path_edges


cdef int search(Search* s, element_t u, element_t v, int64_t stamp, Py_ssize_t limit, element_t* meet,
                offset_t* meet_edge) noexcept nogil:
    """1 if a path of at most `limit` pairs joins u and v, 0 if all of them are longer, -1 if there is none."""
    cdef int side
    cdef Py_ssize_t depth, i, level_end
    cdef offset_t k
    cdef element_t a, b
    s.mark[u] = 2 * stamp
    s.mark[v] = 2 * stamp + 1
    s.queue[0][0] = u
    s.queue[1][0] = v
    s.first[0] = s.first[1] = 0
    s.last[0] = s.last[1] = 1
    for depth in range(limit):
        side = 0 if s.last[0] - s.first[0] <= s.last[1] - s.first[1] else 1
        level_end = s.last[side]
        for i in range(s.first[side], level_end):
            a = s.queue[side][i]
            k = s.starts[a]
            while k < s.ends[a]:
                if s.capacity[s.edges[k]] <= 0:
                    # swap used-up pairs to the end, behind those that are searched
                    s.ends[a] -= 1
                    s.neighbours[k] = s.neighbours[s.ends[a]]
                    s.edges[k] = s.edges[s.ends[a]]
                    continue
                b = s.neighbours[k]
                if s.mark[b] == 2 * stamp + 1 - side:
                    meet[side] = a
                    meet[1 - side] = b
                    meet_edge[0] = s.edges[k]
                    return 1
                if s.mark[b] != 2 * stamp + side:
                    s.mark[b] = 2 * stamp + side
                    s.before[b] = a
                    s.edge_before[b] = s.edges[k]
                    s.queue[side][s.last[side]] = b
                    s.last[side] += 1
                k += 1
        s.first[side] = level_end
        if s.first[side] == s.last[side]:
            return -1
    return 0


def pack_cycles(Py_ssize_t n, const element_t[::1] u, const element_t[::1] v, const uint8_t[::1] attractive,
                double[::1] capacity, const offset_t[::1] lengths, Stopping stopping):
    """Pack cycles, short ones first; (starts, elements, amounts).

    `lengths` are the largest numbers of pairs in a cycle, ascending, one for each stage of the search. `capacity`
    becomes the remaining capacity.
    """
    cdef Py_ssize_t m = u.shape[0], e, i, count, stage, kept, total = 0, limit
    cdef int found
    cdef int64_t stamp = 0
    cdef offset_t at
    cdef offset_t meet_edge
    cdef element_t meet[2]
    cdef double amount
    starts_array = zeros_int64(n + 1)
    cdef offset_t[::1] starts = starts_array
    with nogil:
        for e in range(m):
            if attractive[e] and capacity[e] > 0:
                starts[u[e]] += 1
                starts[v[e]] += 1
                total += 2
        at = 0
        for i in range(n + 1):
            at += starts[i]
            starts[i] = at          # the end of list i; filled downwards below
    cdef element_t[::1] neighbours = empty_int32(total + 1)
    cdef offset_t[::1] edges = empty_int64(total + 1)
    cdef offset_t[::1] ends = starts_array[:n + 1].copy()
    cdef int64_t[::1] mark = full_int64(n + 1, -1)
    cdef element_t[::1] before = empty_int32(n + 1)
    cdef offset_t[::1] edge_before = empty_int64(n + 1)
    cdef element_t[::1] queue_u = empty_int32(n + 1)
    cdef element_t[::1] queue_v = empty_int32(n + 1)
    waiting_array = np.flatnonzero((np.asarray(attractive) == 0) & (np.asarray(capacity) > 0))
    cdef offset_t[::1] waiting = waiting_array
    cdef element_t[::1] path = empty_int32(n + 1)
    cdef offset_t[::1] path_edges = empty_int64(n + 1)
    cdef Search s
    cdef Packed out
    memset(&out, 0, sizeof(out))
    try:
        with nogil:
            for e in range(m - 1, -1, -1):
                if attractive[e] and capacity[e] > 0:
                    starts[u[e]] -= 1
                    neighbours[starts[u[e]]] = v[e]
                    edges[starts[u[e]]] = e
                    starts[v[e]] -= 1
                    neighbours[starts[v[e]]] = u[e]
                    edges[starts[v[e]]] = e
            s.starts, s.ends, s.neighbours, s.edges = &starts[0], &ends[0], &neighbours[0], &edges[0]
            s.capacity = &capacity[0] if m else NULL
            s.mark, s.before, s.edge_before = &mark[0], &before[0], &edge_before[0]
            s.queue[0], s.queue[1] = &queue_u[0], &queue_v[0]
            s.path, s.path_edges = &path[0], &path_edges[0]
            kept = waiting.shape[0]
            for stage in range(lengths.shape[0]):
                limit = lengths[stage] - 1
                count, kept = kept, 0
                for i in range(count):
                    e = waiting[i]
                    if out.failed or stopping.poll(INFINITY):
                        kept = 0
                        break
                    found = 1
                    while found > 0 and capacity[e] > 0:
                        stamp += 1
                        found = search(&s, u[e], v[e], stamp, limit, meet, &meet_edge)
                        if found > 0:
                            amount = take_path(&s, u[e], v[e], meet, meet_edge, capacity[e], &out)
                            capacity[e] -= amount
                            packed_close(&out, amount)
                    if found == 0:      # only longer paths exist; found < 0: no path exists
                        waiting[kept] = e
                        kept += 1
                if kept == 0:
                    break
        return packed_arrays(&out)
    finally:
        packed_free(&out)


cdef double take_path(Search* s, element_t u, element_t v, element_t* meet, offset_t meet_edge, double amount,
                      Packed* out) noexcept nogil:
    """Write the path that was found, from u to v, and take the least capacity on the cycle from its pairs."""
    cdef Py_ssize_t count = 0, i
    cdef element_t a
    cdef element_t* path = s.path
    cdef offset_t* path_edges = s.path_edges
    a = meet[0]
    while a != u:               # backwards to u
        path[count] = a
        path_edges[count] = s.edge_before[a]
        count += 1
        a = s.before[a]
    packed_add(out, u)
    for i in range(count - 1, -1, -1):
        packed_add(out, path[i])
    path_edges[count] = meet_edge
    count += 1
    a = meet[1]
    while a != v:
        packed_add(out, a)
        path_edges[count] = s.edge_before[a]
        count += 1
        a = s.before[a]
    packed_add(out, v)
    for i in range(count):
        if s.capacity[path_edges[i]] < amount:
            amount = s.capacity[path_edges[i]]
    for i in range(count):
        s.capacity[path_edges[i]] -= amount
    return amount


# ------------------------------------------------------------------------------------------------------ message passing

def share(const offset_t[::1] starts, const offset_t[::1] pairs, const double[::1] capacity, const double[::1] worth,
          double[::1] amounts, int sweeps, Stopping stopping):
    """Sweeps over all pairs, forwards and backwards in turn, until one of each gains nothing; the number of sweeps made.

    Inequality k is over ``pairs[starts[k]:starts[k + 1]]``, and worth ``worth[k]`` times ``amounts[k]``, which changes.
    """
    cdef Py_ssize_t count = worth.shape[0], terms = pairs.shape[0], m = capacity.shape[0], k, e, sweep, at
    cdef offset_t i, j, t, last
    cdef double total, need, more, left, used, wanted, value = -INFINITY, before
    owner_array = np.repeat(np.arange(count, dtype=np.int32), np.diff(np.asarray(starts)))
    values = np.asarray(worth)
    if count and (values == values[0]).all():
        order_array = np.argsort(np.asarray(pairs), kind="stable")
    else:
        order_array = np.lexsort((-values[owner_array], np.asarray(pairs)))
    cdef offset_t[::1] order = order_array                      # terms, pair by pair, the largest worth first
    cdef offset_t[::1] first = np.searchsorted(np.asarray(pairs)[order_array], np.arange(m + 1)).astype(np.int64)
    cdef double[::1] shares = empty_float64(terms)
    cdef element_t[::1] owner = owner_array
    cdef double[::1] needs = empty_float64(terms)
    cdef int done = 0
    with nogil:
        for e in range(m):
            if first[e] == first[e + 1]:
                continue
            total = 0.0
            for i in range(first[e], first[e + 1]):
                total += amounts[owner[order[i]]]
            more = (capacity[e] - total) / (first[e + 1] - first[e])
            for i in range(first[e], first[e + 1]):
                shares[order[i]] = amounts[owner[order[i]]] + (more if more > 0 else 0.0)
        for sweep in range(sweeps):
            if sweep % 2 == 0:  # where all costs are equal, mostly nothing is gained
                before, value = value, 0.0
                for k in range(count):
                    value += worth[k] * least_of(shares, starts[k], starts[k + 1])
                if value <= before * (1.0 + 1e-12):
                    break
            if stopping.look(INFINITY):
                break
            for at in range(m):
                if stopping.poll(INFINITY):
                    break
                e = at if sweep % 2 == 0 else m - 1 - at
                if first[e + 1] - first[e] < 2 or capacity[e] == INFINITY:
                    continue
                total = 0.0
                left = capacity[e]                              # the capacity that no inequality uses yet
                for i in range(first[e], first[e + 1]):
                    t = order[i]
                    k = owner[t]
                    need = INFINITY
                    for j in range(starts[k], starts[k + 1]):
                        if j != t and shares[j] < need:
                            need = shares[j]
                    needs[i] = need
                    total += need
                    left -= need if need < shares[t] else shares[t]
                if total <= capacity[e]:
                    more = (capacity[e] - total) / (first[e + 1] - first[e])
                    for i in range(first[e], first[e + 1]):
                        shares[order[i]] = needs[i] + more
                    continue
                i = first[e]
                while i < first[e + 1]:
                    used = wanted = 0.0
                    last = i
                    while last < first[e + 1] and worth[owner[order[last]]] == worth[owner[order[i]]]:
                        t = order[last]
                        used += needs[last] if needs[last] < shares[t] else shares[t]
                        wanted += needs[last]
                        last += 1
                    if wanted > used:
                        more = wanted - used if wanted - used < left else (left if left > 0 else 0.0)
                        left -= more
                        for j in range(i, last):
                            shares[order[j]] = needs[j] * ((used + more) / wanted)
                    else:
                        for j in range(i, last):
                            shares[order[j]] = needs[j]
                    i = last
            done += 1
        for k in range(count):
            amounts[k] = least_of(shares, starts[k], starts[k + 1])
    return done


cdef inline double least_of(const double[::1] values, offset_t first, offset_t last) noexcept nogil:
    """The least of some values in a row."""
    cdef double least = INFINITY
    cdef offset_t j
    for j in range(first, last):
        if values[j] < least:
            least = values[j]
    return least


# -------------------------------------------------------------------------------------------------------- group stars

def sweep_group_stars(const offset_t[::1] starts, const offset_t[::1] pairs, const double[::1] attraction,
                      double[::1] multipliers, double[::1] load, bint forwards, Stopping stopping):
    """Set the multiplier of each star in turn to its best value given the others; return the value gained.

    Star k is over ``pairs[starts[k]:starts[k + 1]]``; `load` has the sum of the multipliers of each pair. The objective
    is the sum of the multipliers plus the attraction of each pair that exceeds its load. For one star, any number
    between the two largest attractions that the other stars leave is best. The mean of the two is taken.
    """
    cdef Py_ssize_t count = multipliers.shape[0], at, k
    cdef offset_t i
    cdef double first, second, left, new, gained = 0.0
    with nogil:
        for at in range(count):
            if stopping.poll(INFINITY):
                break
            k = at if forwards else count - 1 - at
            first = second = 0.0
            for i in range(starts[k], starts[k + 1]):
                left = attraction[pairs[i]] - (load[pairs[i]] - multipliers[k])
                if left > first:
                    second, first = first, left
                elif left > second:
                    second = left
            new = 0.5 * (first + second)
            if new == multipliers[k]:
                continue
            for i in range(starts[k], starts[k + 1]):
                left = attraction[pairs[i]] - (load[pairs[i]] - multipliers[k])
                gained += max(left - multipliers[k], 0.0) - max(left - new, 0.0)
                load[pairs[i]] += new - multipliers[k]
            gained += multipliers[k] - new
            multipliers[k] = new
    return gained
