"""Kernel of simulated annealing over changes of one label.

For each variable v and label y, ``local[v, y]`` is the sum of the entries of all tables of v if v had the label y and
nothing else changed. A sweep examines every variable once. The threshold is the temperature times an exponential
variate. The variable takes a random one of the labels that raise the energy by at most the threshold. So a change by d
is accepted with probability proportional to exp(-d / temperature). A change updates the sums of all neighbouring
variables. Each variable remembers the cost of its cheapest change until one of its sums changes. It is skipped while
this cost exceeds the threshold.

If all variables are binary and all factors are pairs, one number for each variable and each pair is enough: the cost of
label 1 less that of label 0, and the change of this difference by the label of a neighbour.

A forbidden entry costs `weight`, which is less than in other kernels, so that the search may pass through forbidden
labelings.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport uint64_t

from graphpart.kernels._arrays cimport zeros_float64, zeros_int32, zeros_int64
from graphpart.kernels.random cimport random_below, random_bits
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.stopping cimport Stopping

cdef double SMALLEST = 5e-324

cdef enum:
    DESCENT = 10000                 # most sweeps of a descent, which rounding could make endless

cdef struct Link:                   # one place of a variable in a scope
    offset_t stride                 # of the variable in the table
    offset_t other_stride           # of the other variable of a pair
    element_t factor
    element_t other                 # -1 if there are several

cdef struct State:
    Graph g
    Link* links
    cost_t* coupling
    offset_t* at                    # the entry of each table that the labels select
    cost_t* local                   # for binary variables: the cost of label 1 minus that of label 0
    cost_t* gap                     # the cheapest change; -inf if not known
    element_t* label
    bint binary
    bint forbidden                  # whether any entry is infinite
    double weight
    double cost                     # since the start
    double work                     # visits, and sums that were updated
    uint64_t random


cdef inline double entry(State* s, offset_t at) noexcept nogil:
    cdef double x = s.g.tables[at]
    return s.weight if x == INFINITY else x


# ------------------------------------------------------------------------------------------------- binary variables

cdef void start_binary(State* s, const element_t* inside, Py_ssize_t count) noexcept nogil:
    cdef Py_ssize_t k, v
    cdef offset_t i
    cdef double x
    for k in range(count):
        v = inside[k] if inside != NULL else k
        x = s.local[2 * s.g.n + v]        # if all neighbours have label 0
        for i in range(s.g.rows[v], s.g.rows[v + 1]):
            if s.label[s.g.near[i]]:
                x += s.coupling[i]
        s.local[v] = x


cdef void couple(State* s) noexcept nogil:
    """Set the costs of pairs for the present weight of forbidden entries."""
    cdef Py_ssize_t v
    cdef offset_t i, at, stride, other
    for v in range(s.g.n):
        s.local[2 * s.g.n + v] = s.g.unary[2 * v + 1] - s.g.unary[2 * v]
        for i in range(s.g.rows[v], s.g.rows[v + 1]):
            at = s.g.table_start[s.links[i].factor]
            stride = s.links[i].stride
            other = 3 - stride
            s.local[2 * s.g.n + v] += entry(s, at + stride) - entry(s, at)
            s.coupling[i] = entry(s, at + 3) - entry(s, at + other) - entry(s, at + stride) + entry(s, at)


cdef inline void visit_binary(State* s, element_t v, double threshold) noexcept nogil:
    cdef double x = s.local[v]
    cdef offset_t i
    if s.label[v]:
        if -x > threshold:
            return
        s.cost -= x
        s.label[v] = 0
        s.work += s.g.rows[v + 1] - s.g.rows[v]
        for i in range(s.g.rows[v], s.g.rows[v + 1]):
            s.local[s.g.near[i]] -= s.coupling[i]
    else:
        if x > threshold:
            return
        s.cost += x
        s.label[v] = 1
        s.work += s.g.rows[v + 1] - s.g.rows[v]
        for i in range(s.g.rows[v], s.g.rows[v + 1]):
            s.local[s.g.near[i]] += s.coupling[i]


# ---------------------------------------------------------------------------------------------------- any variables

cdef void start_any(State* s, const element_t* inside, Py_ssize_t count) noexcept nogil:
    cdef Py_ssize_t k, v, f
    cdef offset_t i, j, at, step, y, d
    cdef cost_t* local
    for k in range(count):
        v = inside[k] if inside != NULL else k
        local = &s.local[s.g.first[v]]
        d = s.g.domains[v]
        for y in range(d):
            local[y] = s.g.unary[s.g.first[v] + y]
        for i in range(s.g.rows[v], s.g.rows[v + 1]):
            f = s.links[i].factor
            at, step = s.g.table_start[f], 1
            for j in range(s.g.scope_start[f + 1] - 1, s.g.scope_start[f] - 1, -1):
                at += step * s.label[s.g.scope[j]]
                step *= s.g.domains[s.g.scope[j]]
            s.at[f] = at
            step = s.links[i].stride
            at -= step * s.label[v]
            for y in range(d):
                local[y] += entry(s, at + step * y)
        s.gap[v] = -INFINITY


cdef inline void exchange(State* s, element_t u, offset_t stride, offset_t old, offset_t new) noexcept nogil:
    """In the sums of u, replace the entries of one table around `old` by those around `new`."""
    cdef offset_t d = s.g.domains[u], y
    cdef cost_t* local = &s.local[s.g.first[u]]
    cdef const cost_t* a = &s.g.tables[old - stride * s.label[u]]
    cdef const cost_t* b = &s.g.tables[new - stride * s.label[u]]
    cdef double x, z
    s.gap[u] = -INFINITY
    s.work += d + 8
    if s.forbidden:
        for y in range(d):
            x, z = a[stride * y], b[stride * y]
            local[y] += (s.weight if z == INFINITY else z) - (s.weight if x == INFINITY else x)
    elif stride == 1:
        for y in range(d):
            local[y] += b[y] - a[y]
    else:
        for y in range(d):
            local[y] += b[stride * y] - a[stride * y]


cdef void change(State* s, element_t v, element_t label) noexcept nogil:
    cdef offset_t i, j, old, new, step
    cdef element_t u, f
    for i in range(s.g.rows[v], s.g.rows[v + 1]):
        f = s.links[i].factor
        old = s.at[f]
        new = old + s.links[i].stride * (label - s.label[v])
        s.at[f] = new
        u = s.links[i].other
        if u >= 0:
            exchange(s, u, s.links[i].other_stride, old, new)
            continue
        step = 1
        for j in range(s.g.scope_start[f + 1] - 1, s.g.scope_start[f] - 1, -1):
            u = s.g.scope[j]
            if u != v:
                exchange(s, u, step, old, new)
            step *= s.g.domains[u]
    s.label[v] = label


cdef inline void visit_any(State* s, element_t v, double threshold) noexcept nogil:
    cdef offset_t d = s.g.domains[v], y
    cdef element_t own = s.label[v], target = -1
    cdef Py_ssize_t eligible = 0
    cdef cost_t* local = &s.local[s.g.first[v]]
    cdef double most = local[own] + threshold, least = INFINITY, base = local[own]
    for y in range(d):
        if y == own:
            continue
        if local[y] < least:
            least = local[y]
    s.gap[v] = least - base
    s.work += d
    if least > most:
        return
    for y in range(d):
        if y != own and local[y] <= most:
            eligible += 1
            if eligible == 1 or random_below(&s.random, eligible) == 0:
                target = <element_t>y
    s.cost += local[target] - base
    change(s, v, target)
    s.gap[v] = -INFINITY


cdef class Annealing:
    """Simulated annealing on one model, for one thread; see `Model` for the arrays.

    `variates` are exponential variates; their number is a power of 2.
    """
    cdef State s
    cdef list kept
    cdef element_t[::1] label, best
    cdef char[::1] links
    cdef const double[::1] variates
    cdef double coupled

    def __cinit__(self, Arrays arrays, const double[::1] variates, bint binary, bint forbidden):
        cdef State* s = &self.s
        cdef Py_ssize_t n = arrays.g.n, m = arrays.g.m, v
        cdef offset_t i, j, step, begin, end, count = arrays.g.rows[n]
        cdef Link* link
        cdef offset_t[::1] at
        cdef cost_t[::1] local, gap, coupling
        self.kept = [arrays]
        self.variates = variates
        self.label, self.best = zeros_int32(n + 1), zeros_int32(n + 1)
        self.links = np.zeros((count + 1) * sizeof(Link), np.int8)
        s.g, s.binary, s.forbidden = arrays.g, binary, forbidden
        s.links = <Link*>&self.links[0]
        s.label = &self.label[0]
        local = zeros_float64(3 * n + 1 if binary else s.g.first[n] + 1)
        gap = zeros_float64(1 if binary else n + 1)
        at = zeros_int64(1 if binary else m + 1)
        coupling = zeros_float64(count + 1 if binary else 1)
        self.kept += [local, gap, at, coupling]
        s.local, s.gap, s.at, s.coupling = &local[0], &gap[0], &at[0], &coupling[0]
        self.coupled = -1.0
        s.work = 0.0
        with nogil:
            for v in range(n):
                for i in range(s.g.rows[v], s.g.rows[v + 1]):
                    link = &s.links[i]
                    link.factor = s.g.factors[i]
                    begin, end = s.g.scope_start[link.factor], s.g.scope_start[link.factor + 1]
                    step = 1
                    link.other = -1
                    for j in range(end - 1, begin - 1, -1):
                        if s.g.scope[j] == v:
                            link.stride = step
                        elif end - begin == 2:
                            link.other = s.g.scope[j]
                            link.other_stride = step
                        step *= s.g.domains[s.g.scope[j]]

    cdef void start(self, double weight, const element_t* inside, Py_ssize_t count) noexcept nogil:
        self.s.cost = 0.0
        self.s.weight = weight
        if self.s.binary:
            if self.coupled != weight:
                couple(&self.s)
                self.coupled = weight
            start_binary(&self.s, inside, count)
        else:
            start_any(&self.s, inside, count)

    @property
    def work(self):
        """Visits and updates of sums so far, each of which takes about a nanosecond or two."""
        return self.s.work

    def changes(self, const element_t[::1] labels, double weight):
        """How much each change of one label costs; 0 for the labels that variables have."""
        cdef State* s = &self.s
        cdef Py_ssize_t v, n = s.g.n
        cdef offset_t y
        out = zeros_float64(s.g.first[n])
        cdef double[::1] result = out
        with nogil:
            self.label[:n] = labels
            self.start(weight, NULL, n)
            for v in range(n):
                if s.binary:
                    result[2 * v + 1 - s.label[v]] = -s.local[v] if s.label[v] else s.local[v]
                    continue
                for y in range(s.g.domains[v]):
                    result[s.g.first[v] + y] = s.local[s.g.first[v] + y] - s.local[s.g.first[v] + s.label[v]]
        return out

    def run(
        self, const element_t[::1] labels, const element_t[::1] inside, const double[::1] temperatures,
        double weight, double tolerance, unsigned long long seed, Stopping stopping,
    ) -> tuple[NDArray[np.int32], float]:
        """Labels after one sweep at each temperature and a descent, or better labels at the end of a sweep.

        Only the variables in `inside` change, or all variables if it is empty.
        """
        cdef State* s = &self.s
        cdef Py_ssize_t n = s.g.n, v, t, k, count = inside.shape[0] if inside.shape[0] else n
        cdef const element_t* chosen = &inside[0] if inside.shape[0] else NULL
        cdef uint64_t shift = 0, mask = self.variates.shape[0] - 1
        cdef double threshold, best = 0.0, before
        cdef const double* variates = &self.variates[0]
        cdef bint ended = False, moved = True
        with nogil:
            self.label[:n] = labels
            self.best[:n] = labels
            s.random = seed
            self.start(weight, chosen, count)
            for t in range(temperatures.shape[0]):
                for k in range(count):
                    v = chosen[k] if chosen != NULL else k
                    if k & 1023 == 0:
                        shift = random_bits(&s.random)
                        if stopping.poll(INFINITY):
                            ended = True
                            break
                    threshold = temperatures[t] * variates[(k + shift) & mask]
                    if s.binary:
                        visit_binary(s, <element_t>v, threshold)
                    elif s.gap[v] <= threshold:
                        visit_any(s, <element_t>v, threshold)
                s.work += count
                if ended:
                    break
                if s.cost < best - tolerance:
                    best = s.cost
                    self.keep(chosen, count)
            t = 0
            while moved and not ended and t < DESCENT:  # descent: accept only improvements
                t += 1
                before = s.cost
                for k in range(count):
                    v = chosen[k] if chosen != NULL else k
                    if s.binary:
                        visit_binary(s, <element_t>v, -max(tolerance, SMALLEST))
                    elif s.gap[v] < -tolerance:
                        visit_any(s, <element_t>v, -max(tolerance, SMALLEST))
                moved = s.cost < before - tolerance
                if stopping.poll(INFINITY):
                    ended = True
            if s.cost < best - tolerance:
                best = s.cost
                self.keep(chosen, count)
        return np.array(self.best[:n]), best

    cdef void keep(self, const element_t* inside, Py_ssize_t count) noexcept nogil:
        cdef Py_ssize_t k
        if inside == NULL:
            self.best[:count] = self.label[:count]
            return
        for k in range(count):
            self.best[inside[k]] = self.label[inside[k]]
