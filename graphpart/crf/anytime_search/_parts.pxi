"""Kernels of parts of a factor graph: the better parts of two labelings, and the problem of one region.

Two labelings differ in parts: connected components of variables that have different labels and share factors. Each
factor meets at most one part, so the better labels of one part do not depend on the other parts.

If all variables outside a region keep their labels, a factor with one variable inside becomes costs of labels, and a
factor with several variables inside becomes a smaller table.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint64_t

from graphpart.kernels._arrays cimport empty_int32, empty_int64, zeros_int64, zeros_int8
from graphpart.kernels.random cimport random_below
from graphpart.kernels.types cimport cost_t, element_t, offset_t

cdef int64_t FORBIDDEN = <int64_t>1 << 60    # an entry of at least half of this is forbidden


cdef struct Graph:
    Py_ssize_t n, m
    const element_t* domains
    const offset_t* first           # of each variable, its first unary cost
    const cost_t* unary
    const offset_t* scope_start
    const element_t* scope
    const offset_t* table_start
    const cost_t* tables
    const offset_t* rows            # factors of at least two variables of each variable
    const element_t* factors
    const offset_t* near_start      # its neighbours, each once
    const element_t* near
    double penalty                  # the cost of a forbidden entry


cdef class Arrays:
    """The arrays of a `Model`, which all kernels of one factor graph share."""

    cdef Graph g
    cdef list kept

    def __cinit__(self, model):
        _, starts, members, begins, kept = model.f._flat()
        cdef const element_t[::1] domains = model.domains, scope = members, factors = model.factors
        cdef const element_t[::1] near = model.near
        cdef const offset_t[::1] first = model.first, scope_start = starts, rows = model.rows
        cdef const offset_t[::1] table_start = begins, near_start = model.near_start
        cdef const cost_t[::1] unary = model.unary, tables = kept
        cdef Graph* g = &self.g
        self.kept = [domains, first, unary, scope_start, scope, table_start, tables, rows, factors, near_start, near]
        g.n, g.m = domains.shape[0], scope_start.shape[0] - 1
        g.domains = &domains[0] if g.n else NULL
        g.first = &first[0]
        g.unary = &unary[0] if g.n else NULL
        g.scope_start = &scope_start[0]
        g.scope = &scope[0] if scope.shape[0] else NULL
        g.table_start = &table_start[0]
        g.tables = &tables[0] if tables.shape[0] else NULL
        g.rows = &rows[0]
        g.factors = &factors[0] if factors.shape[0] else NULL
        g.near_start = &near_start[0]
        g.near = &near[0] if near.shape[0] else NULL
        g.penalty = model.penalty

    def energy(self, const element_t[::1] labels) -> tuple[float, int]:
        """(energy without the constant, forbidden entries): each of these costs the penalty."""
        cdef Graph* g = &self.g
        cdef Py_ssize_t v, f, forbidden = 0
        cdef double total = 0.0
        if g.n == 0:
            return 0.0, 0
        with nogil:
            for v in range(g.n):
                total += g.unary[g.first[v] + labels[v]]
                forbidden += g.unary[g.first[v] + labels[v]] >= g.penalty
            for f in range(g.m):
                if g.scope_start[f + 1] - g.scope_start[f] > 1:
                    total += selected(g, f, &labels[0], &forbidden)
        return total, forbidden

    def around(self, Py_ssize_t size, uint64_t seed) -> NDArray[np.int32]:
        """`size` variables around a random one, the nearest first; fewer if its component has fewer."""
        cdef Graph* g = &self.g
        cdef Py_ssize_t count = 1, at = 0
        cdef offset_t i, begin, length, shift
        cdef element_t u
        size = min(size, g.n)
        out = empty_int32(max(size, 1))
        cdef element_t[::1] found = out
        cdef char[::1] seen = zeros_int8(g.n + 1)
        with nogil:
            found[0] = <element_t>random_below(&seed, g.n)
            seen[found[0]] = True
            while at < count and count < size:
                begin = g.near_start[found[at]]
                length = g.near_start[found[at] + 1] - begin
                at += 1
                if length == 0:
                    continue
                shift = random_below(&seed, length)
                for i in range(length):
                    u = g.near[begin + (i + shift) % length]
                    if not seen[u]:
                        seen[u] = True
                        found[count] = u
                        count += 1
                        if count == size:
                            break
        return out[:count]

    def better_parts(self, const element_t[::1] one, const element_t[::1] other) -> NDArray[np.int32]:
        """Labels of `one`, with those of `other` in the parts where these cost less."""
        cdef Graph* g = &self.g
        cdef Py_ssize_t v, at, end, forbidden = 0
        cdef offset_t i, f
        cdef element_t u
        cdef double delta
        out = np.array(one)
        if g.n == 0:
            return out
        cdef element_t[::1] label = out
        cdef element_t[::1] region = empty_int32(g.n)
        cdef char[::1] seen = zeros_int8(g.n)
        cdef char[::1] counted = zeros_int8(g.m + 1)
        with nogil:
            for v in range(g.n):
                if seen[v] or one[v] == other[v]:
                    continue
                region[0] = <element_t>v
                seen[v] = True
                at, end = 0, 1
                delta = 0.0
                while at < end:
                    u = region[at]
                    at += 1
                    delta += g.unary[g.first[u] + other[u]] - g.unary[g.first[u] + one[u]]
                    for i in range(g.rows[u], g.rows[u + 1]):
                        f = g.factors[i]
                        if not counted[f]:
                            counted[f] = True
                            delta += selected(g, f, &other[0], &forbidden) - selected(g, f, &one[0], &forbidden)
                    for i in range(g.near_start[u], g.near_start[u + 1]):
                        if not seen[g.near[i]] and one[g.near[i]] != other[g.near[i]]:
                            seen[g.near[i]] = True
                            region[end] = g.near[i]
                            end += 1
                if delta < 0.0:
                    for at in range(end):
                        label[region[at]] = other[region[at]]
        return out


cdef inline double selected(Graph* g, Py_ssize_t f, const element_t* label, Py_ssize_t* forbidden) noexcept nogil:
    """The entry of a factor at the given labels; a forbidden one costs the penalty and is counted."""
    cdef offset_t i, at = 0, step = 1
    cdef double x
    for i in range(g.scope_start[f + 1] - 1, g.scope_start[f] - 1, -1):
        at += step * label[g.scope[i]]
        step *= g.domains[g.scope[i]]
    x = g.tables[g.table_start[f] + at]
    if x == INFINITY:
        forbidden[0] += 1
        return g.penalty
    return x


def part(whole, const element_t[::1] labels, const element_t[::1] inside, element_t[::1] place, offset_t most):
    """(scope_start, scope, table_start, tables, unary, value, members), or None if tables had more than `most` entries.

    Parameters
    ----------
    whole : Regions
        The arrays of the factor graph with whole costs.
    labels, inside : ndarray of int32
        Labels of all variables; the variables of the region, which have the numbers 0, 1, ... in it.
    place : ndarray of int32, shape (n,)
        -1 for all variables, before and after.
    most : int

    Returns
    -------
    value : int
        The cost of the given labels in the region; 2**60 if they are forbidden.
    members : ndarray of int64
        Where each entry of `scope` stands in the scopes of the whole factor graph.
    """
    flat = whole.flat
    cdef const element_t[::1] domains = flat.domains, scope = flat.scope, factors = whole.factors
    cdef const offset_t[::1] first = flat.first, scope_start = flat.scope_start, table_start = flat.table_start
    cdef const offset_t[::1] rows = whole.rows
    cdef const int64_t[::1] unary = whole.unary, tables = flat.tables
    cdef Py_ssize_t count = inside.shape[0], k, f, kept = 0
    cdef offset_t i, j, members = 0, size, wide, base, sizes = 0, at, own
    cdef int64_t entries = 0, value = 0
    cdef int a, v, arity, widest = 0
    for k in range(count):
        place[inside[k]] = <element_t>k
        sizes += domains[inside[k]]
    with nogil:
        for k in range(count):
            for i in range(rows[inside[k]], rows[inside[k] + 1]):
                f = factors[i]
                arity, wide = 0, 1
                for j in range(scope_start[f], scope_start[f + 1]):
                    v = scope[j]
                    if place[v] >= 0:
                        if arity == 0 and place[v] != k:
                            break
                        arity += 1
                        wide *= domains[v]
                if arity > 1:
                    kept += 1
                    members += arity
                    entries += wide
                widest = max(widest, arity)
    if entries > most:
        for k in range(count):
            place[inside[k]] = -1
        return None
    start_array, scope_array = zeros_int64(kept + 1), empty_int32(members)
    member_array = empty_int64(members)
    cdef offset_t[::1] member = member_array
    begin_array, tables_array = zeros_int64(kept + 1), empty_int64(entries)
    unary_array, first_array = empty_int64(sizes), zeros_int64(count + 1)
    counter_array, stride_array = zeros_int64(widest + 1), zeros_int64(widest + 1)
    cdef offset_t[::1] start = start_array, begin = begin_array, counter = counter_array, stride = stride_array
    cdef offset_t[::1] starts = first_array
    cdef element_t[::1] rest = scope_array
    cdef int64_t[::1] out = tables_array, costs = unary_array
    with nogil:
        for k in range(count):
            v = inside[k]
            starts[k + 1] = starts[k] + domains[v]
            for a in range(domains[v]):
                costs[starts[k] + a] = unary[first[v] + a]
        kept, members, entries = 0, 0, 0
        for k in range(count):
            for i in range(rows[inside[k]], rows[inside[k] + 1]):
                f = factors[i]
                arity, size, own, base = 0, 1, 0, table_start[f]
                for j in range(scope_start[f + 1] - 1, scope_start[f] - 1, -1):  # the last axis first
                    v = scope[j]
                    if place[v] >= 0:
                        stride[arity] = size
                        counter[arity] = j
                        own += size * labels[v]
                        arity += 1
                    else:
                        base += size * labels[v]
                    size *= domains[v]
                if place[scope[counter[arity - 1]]] != k:
                    continue
                if arity == 1:
                    v = inside[k]
                    for a in range(domains[v]):
                        add(&costs[starts[k] + a], tables[base + stride[0] * a])
                    continue
                add(&value, tables[base + own])
                for j in range(arity - 1, -1, -1):
                    rest[members], member[members] = place[scope[counter[j]]], counter[j]
                    members += 1
                kept += 1
                start[kept] = members
                for j in range(arity):
                    counter[j] = 0
                at = base
                while True:
                    out[entries] = tables[at]
                    entries += 1
                    for j in range(arity):
                        v = inside[rest[members - 1 - j]]
                        counter[j] += 1
                        at += stride[j]
                        if counter[j] < domains[v]:
                            break
                        at -= stride[j] * domains[v]
                        counter[j] = 0
                    else:
                        break
                begin[kept] = entries
        for k in range(count):
            v = inside[k]
            add(&value, costs[starts[k] + labels[v]])
            place[v] = -1
    return start_array, scope_array, begin_array, tables_array, unary_array, value, member_array


cdef inline void add(int64_t* total, int64_t cost) noexcept nogil:
    if total[0] >= FORBIDDEN // 2 or cost >= FORBIDDEN // 2:
        total[0] = FORBIDDEN
    else:
        total[0] += cost


def around(whole, Py_ssize_t size, Py_ssize_t middle, char[::1] seen) -> NDArray[np.int32]:
    """`size` variables around a given one, the nearest first; fewer if its component has fewer. `seen` is 0 before and
    after."""
    cdef const element_t[::1] scope = whole.flat.scope, factors = whole.factors
    cdef const offset_t[::1] scope_start = whole.flat.scope_start, rows = whole.rows
    cdef Py_ssize_t count = 1, at = 0, f, k
    cdef offset_t i, j
    out = empty_int32(size)
    cdef element_t[::1] found = out
    with nogil:
        found[0] = <element_t>middle
        seen[middle] = True
        while at < count and count < size:
            for i in range(rows[found[at]], rows[found[at] + 1]):
                f = factors[i]
                for j in range(scope_start[f], scope_start[f + 1]):
                    if count < size and not seen[scope[j]]:
                        seen[scope[j]] = True
                        found[count] = scope[j]
                        count += 1
            at += 1
        for k in range(count):
            seen[found[k]] = False
    return out[:count]


def gap_terms(whole, const element_t[::1] labels) -> NDArray[np.int64]:
    """What the cost of labels is above the bound that the amounts of `Regions` prove, divided among the variables.

    The labels of a variable, and a factor, cost so much more than the least cost, after the amounts were sent. Each
    variable of the factor has an equal part of the latter.
    """
    flat = whole.flat
    cdef const element_t[::1] domains = flat.domains, scope = flat.scope
    cdef const offset_t[::1] first = flat.first, scope_start = flat.scope_start, table_start = flat.table_start
    cdef const offset_t[::1] begin = whole.begin
    cdef const int64_t[::1] tables = flat.tables, sent = whole.sent
    cdef Py_ssize_t n = domains.shape[0], m = scope_start.shape[0] - 1, f, v
    cdef offset_t i, j, k, count, size, own
    cdef int64_t least, selected, value
    cdef int64_t[::1] cost = np.array(whole.unary)
    cdef offset_t[::1] label = zeros_int64(max(1, int(np.max(np.diff(flat.scope_start), initial=1))))
    out = zeros_int64(n)
    cdef int64_t[::1] term = out
    with nogil:
        for f in range(m):
            count, size, own = scope_start[f + 1] - scope_start[f], 1, 0
            for k in range(count):
                i = scope_start[f] + k
                v = scope[i]
                for j in range(domains[v]):
                    cost[first[v] + j] += sent[begin[i] + j]
                label[k] = 0
                size *= domains[v]
                own = own * domains[v] + labels[v]
            least = selected = FORBIDDEN
            for j in range(size):
                value = tables[table_start[f] + j]
                if value < FORBIDDEN // 2:
                    for k in range(count):
                        value -= sent[begin[scope_start[f] + k] + label[k]]
                    least = min(least, value)
                    if j == own:
                        selected = value
                k = count - 1
                while k >= 0:
                    label[k] += 1
                    if label[k] < domains[scope[scope_start[f] + k]]:
                        break
                    label[k] = 0
                    k -= 1
            for i in range(scope_start[f], scope_start[f + 1]):
                term[scope[i]] += (selected - least) // count
        for v in range(n):
            least = cost[first[v]]
            for i in range(first[v], first[v + 1]):
                least = min(least, cost[i])
            term[v] += cost[first[v] + labels[v]] - least
    return out
