"""Messages of sum-product and min-sum: exact ones of forests, both ways, and reweighted ones along all factors.

**Forests** (`both_ways`), over (min, +) or, in the log domain, over (+, *). On the way to the roots, step t computes
the message of factor f to its parent p. It stores this message (``up``) and the belief of p before the step
(``before``). On the way back, ``after[p]`` sums the messages that p received after step t, so that

    mu_{p->f} = before + after[p]

needs no subtraction, which would be undefined for inf and inexact otherwise. Unary factors are steps without children.

**All factors** (`LoopyMessages`). With weights r_f of factors, messages m_{f->i} in logarithms and ``B_i = -(unary energies) + sum over f of r_f m_{f->i}``,

    m_{f->i}(y_i) := log sum over all y of f that agree with y_i of
                         exp( -h_f(y) / r_f + sum over other variables j of f of (B_j(y_j) - m_{f->j}(y_j)) )

and r_f = 1 is ordinary sum-product. All messages of a factor are computed from one exponential for each entry of its
table, unless that underflows for a label.
"""

import numpy as np

from libc.math cimport INFINITY, NAN, exp, fabs, log

from graphpart.crf.problem._view cimport Factors, View, arity_of, labels_of, place, table_of
from graphpart.kernels._arrays cimport empty_float64, empty_int64, full_int64, zeros_float64, zeros_uint8
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.stopping cimport Stopping


cdef struct Reading:            # how the table of one factor is read
    offset_t arity
    offset_t* sizes             # the labels of each variable of the scope
    offset_t* places            # where the vector of each variable begins among all vectors of labels
    double* work                # room for a table
    double scale                # factor of all entries
    bint soft                   # over (+, *), else over (min, +)
    bint normalise              # the minimum is taken out of each message


cdef inline offset_t read_scope(Reading* r, const Factors* g, Py_ssize_t f, element_t p) noexcept nogil:
    """Look up the sizes and places of the variables of a scope; return the place of variable p in the scope."""
    cdef offset_t i, k = 0, begin = g.scope_start[f]
    r.arity = arity_of(g, f)
    for i in range(r.arity):
        r.sizes[i] = labels_of(g, g.scope[begin + i])
        r.places[i] = place(g, g.scope[begin + i])
        if g.scope[begin + i] == p:
            k = i
    return k



def both_ways(
    View view, const element_t[::1] order, const element_t[::1] parent, const offset_t[::1] up_start,
    const offset_t[::1] edge_first, bint soft, bint normalise,
):
    """(beliefs, sum taken out, messages to variables, messages to factors, impossible factor or -1).

    ``up_start[t]`` and ``edge_first[e]`` place vectors with one entry for each label: of the parent at step t, and of
    the variable at position e of the scopes. Messages are returned if `edge_first` is not empty.
    With `normalise`, the minimum is taken out of each message.
    """
    cdef const Factors* g = &view.g
    cdef Py_ssize_t steps = order.shape[0], t, f
    cdef bint keep = edge_first.shape[0] > 0
    cdef offset_t i, begin, arity, k, y, d, at
    cdef element_t p
    cdef double total = 0.0, low
    cdef Reading r = Reading(0, NULL, NULL, NULL, 1.0, soft, normalise)
    belief_array, after_array = zeros_float64(g.size), zeros_float64(g.size)
    cdef cost_t[::1] belief = belief_array, after = after_array
    cdef cost_t[::1] up = empty_float64(up_start[steps]), before = empty_float64(up_start[steps])
    to_variable_array, to_factor_array = (zeros_float64(edge_first[g.scope_start[g.m]] if keep else 0) for _ in range(2))
    cdef cost_t[::1] to_variable = to_variable_array, to_factor = to_factor_array
    cdef cost_t[::1] work = empty_float64(g.largest_table), whole = empty_float64(g.largest_domain)
    cdef offset_t[::1] sizes = empty_int64(g.largest_arity), places = empty_int64(g.largest_arity)
    r.sizes, r.places, r.work = &sizes[0], &places[0], &work[0]
    with nogil:
        for t in range(steps):
            f = order[t]
            p = parent[t]
            begin = g.scope_start[f]
            arity = arity_of(g, f)
            k = read_scope(&r, g, f, p)
            d = sizes[k]
            at = places[k]
            low = reduce(&r, table_of(g, f), k, &belief[0], &up[up_start[t]])
            if low == INFINITY:
                with gil:
                    return belief_array, total, to_variable_array, to_factor_array, f
            total += low
            for y in range(d):
                before[up_start[t] + y] = belief[at + y]
                belief[at + y] += up[up_start[t] + y]
        for t in range(steps - 1, -1, -1):
            f = order[t]
            p = parent[t]
            begin = g.scope_start[f]
            arity = arity_of(g, f)
            k = read_scope(&r, g, f, p)
            d = sizes[k]
            at = places[k]
            # From here on the belief of the parent is its message to this factor.
            for y in range(d):
                whole[y] = belief[at + y]
                belief[at + y] = before[up_start[t] + y] + after[at + y]
                after[at + y] += up[up_start[t] + y]
            if keep:
                for i in range(arity):
                    for y in range(sizes[i]):
                        to_factor[edge_first[begin + i] + y] = belief[places[i] + y]
                for y in range(d):
                    to_variable[edge_first[begin + k] + y] = up[up_start[t] + y]
            for i in range(arity):
                if i != k:
                    reduce(&r, table_of(g, f), i, &belief[0], &after[places[i]])
            for i in range(arity):
                if i != k:
                    for y in range(sizes[i]):
                        belief[places[i] + y] += after[places[i] + y]
                        if keep:
                            to_variable[edge_first[begin + i] + y] = after[places[i] + y]
            for y in range(d):
                belief[at + y] = whole[y]
    return belief_array, total, to_variable_array, to_factor_array, -1


cdef double reduce(
    const Reading* r, const cost_t* table, offset_t target, const cost_t* belief, cost_t* message
) noexcept nogil:
    """Reduce a table plus the beliefs of all other variables to the target; return the minimum taken out."""
    cdef const cost_t* source = table
    cdef const cost_t* other
    cdef offset_t size = 1, inner = 1, d, i, o, k
    cdef double low = INFINITY
    for i in range(r.arity):
        size *= r.sizes[i]
    for i in range(r.arity - 1, -1, -1):
        d = r.sizes[i]
        if i == target:
            inner = d
            continue
        size //= d
        other = &belief[r.places[i]]
        # Indices are (o, label, k). After the first axis this works in place: no entry is overwritten before it is
        # read.
        for o in range(size // inner):
            for k in range(inner):
                r.work[o * inner + k] = least(&source[o * d * inner + k], inner, other, d, r.soft)
        source = r.work
    for k in range(inner):
        low = source[k] if source[k] < low else low
    if low == INFINITY:
        return low
    if not r.normalise:
        low = 0.0
    for k in range(inner):
        message[k] = source[k] - low
    return low


cdef inline double least(const cost_t* row, offset_t stride, const cost_t* other, offset_t d, bint soft) noexcept nogil:
    """The minimum of a sum of two vectors, or ``-log sum exp -`` of it."""
    cdef offset_t y
    cdef double low = INFINITY, x, total = 0.0
    for y in range(d):
        x = row[y * stride] + other[y]
        low = x if x < low else low
    if not soft or low == INFINITY:
        return low
    for y in range(d):
        total += exp(low - (row[y * stride] + other[y]))
    return low - log(total)


# ------------------------------------------------------------------------------------------------------- along all factors

cdef double sums(const Reading* r, const cost_t* table, const double* rest, double* to) noexcept nogil:
    """Sum ``exp(-table * r.scale + rest)`` for each label of each variable, relative to the largest; its logarithm."""
    cdef double* work = r.work
    cdef const offset_t* at = r.places
    cdef offset_t size = 1, i, k, y, inner, outer, d, arity = r.arity
    cdef double high = -INFINITY, w, s
    cdef double* row
    for i in range(arity):
        size *= r.sizes[i]
    for k in range(size):
        work[k] = -table[k] * r.scale
    inner = 1
    for i in range(arity - 1, -1, -1):
        d = r.sizes[i]
        row = work
        for outer in range(size // (d * inner)):
            for y in range(d):
                w = rest[at[i] + y]
                for k in range(inner):
                    row[k] += w
                row += inner
        inner *= d
    for k in range(size):
        high = work[k] if work[k] > high else high
    for k in range(size):
        work[k] = exp(work[k] - high)
    inner = 1
    for i in range(arity - 1, -1, -1):
        d = r.sizes[i]
        for y in range(d):
            to[at[i] + y] = 0.0
        row = work
        for outer in range(size // (d * inner)):
            for y in range(d):
                s = 0.0
                for k in range(inner):
                    s += row[k]
                to[at[i] + y] += s
                row += inner
        inner *= d
    return high


cdef class LoopyMessages:
    """Messages along all factors of at least two variables; those of one variable belong to `base`.

    Parameters
    ----------
    view : View
    tables : ndarray of float64
        Those of the factor graph, with finite entries.
    weight : ndarray of float64
        r_f of each factor.
    start : ndarray of int64
        Where the message at each position of the scopes begins.
    base : ndarray of float64
        The negative sum of the unary tables of each variable.

    Attributes
    ----------
    messages, beliefs : ndarray of float64
    """

    cdef View view
    cdef const cost_t[::1] tables
    cdef const double[::1] weight, base
    cdef const offset_t[::1] start
    cdef double[::1] message, belief, work, rest, to
    cdef offset_t[::1] sizes, at
    cdef Reading r
    cdef readonly object messages, beliefs

    def __init__(self, View view, tables, weight, start, base):
        cdef const Factors* g = &view.g
        self.view, self.tables, self.weight, self.start, self.base = view, tables, weight, start, base
        self.messages, self.beliefs = zeros_float64(start[len(start) - 1]), np.array(base)
        self.message, self.belief = self.messages, self.beliefs
        self.work = empty_float64(g.largest_table)
        self.rest, self.to = empty_float64(g.largest_arity * g.largest_domain), empty_float64(g.largest_arity * g.largest_domain)
        self.sizes, self.at = empty_int64(g.largest_arity), empty_int64(g.largest_arity)
        self.r = Reading(0, &self.sizes[0], &self.at[0], &self.work[0], 1.0, True, False)

    cdef double gather(self, Py_ssize_t f) noexcept nogil:
        """Write beliefs without this factor to `rest`, and the sums of the factor to `to`; return their logarithm."""
        cdef const Factors* g = &self.view.g
        cdef offset_t begin = g.scope_start[f], at = 0, i, y, from_all
        cdef double* rest = &self.rest[0]
        cdef const double* message
        self.r.arity = arity_of(g, f)
        self.r.scale = 1.0 / self.weight[f]
        for i in range(self.r.arity):
            self.sizes[i] = labels_of(g, g.scope[begin + i])
            self.at[i] = at
            from_all = place(g, g.scope[begin + i])
            message = &self.message[self.start[begin + i]]
            for y in range(self.sizes[i]):
                rest[at + y] = self.belief[from_all + y] - message[y]
            at += self.sizes[i]
        return sums(&self.r, &self.tables[g.table_start[f]], rest, &self.to[0])

    cdef double one_sum(self, Py_ssize_t f, offset_t target, offset_t label) noexcept nogil:
        """``log sum exp(-table * scale + rest of all others)`` over entries with this label of the target. Slow."""
        cdef const cost_t* table = &self.tables[self.view.g.table_start[f]]
        cdef const offset_t* sizes = self.r.sizes
        cdef offset_t size = 1, i, k, t
        cdef double high = -INFINITY, total = 0.0, x
        cdef int go
        for i in range(self.r.arity):
            size *= sizes[i]
        for go in range(2):
            for k in range(size):
                t = k
                x = -table[k] * self.r.scale
                for i in range(self.r.arity - 1, -1, -1):
                    if i == target:
                        if t % sizes[i] != label:
                            x = -INFINITY
                    else:
                        x += self.rest[self.at[i] + t % sizes[i]]
                    t //= sizes[i]
                if go == 0:
                    high = x if x > high else high
                elif x > -INFINITY:
                    total += exp(x - high)
        return high + log(total)

    cdef void sum_messages(self) noexcept nogil:
        """Compute all beliefs anew, from `base` and the messages."""
        cdef const Factors* g = &self.view.g
        cdef Py_ssize_t f
        cdef offset_t i, y, at
        for i in range(self.base.shape[0]):
            self.belief[i] = self.base[i]
        for f in range(g.m):
            for i in range(g.scope_start[f], g.scope_start[f + 1]):
                at = place(g, g.scope[i])
                for y in range(self.start[i + 1] - self.start[i]):
                    self.belief[at + y] += self.weight[f] * self.message[self.start[i] + y]

    def run(self, double damping, double tolerance, Stopping stopping):
        """Pass until no message changes by more than the tolerance, or the run has to end; return the last change.

        The change of a pass is the largest change of a message. Passes go through the factors in ascending and in
        descending order, alternately.
        """
        cdef const Factors* g = &self.view.g
        cdef Py_ssize_t m = g.m, f, k
        cdef offset_t begin, i, y, d, where, all_labels
        cdef double change = INFINITY, worst, high, x, new, old, low, top
        cdef double* to = &self.to[0]
        cdef double* rest = &self.rest[0]
        cdef bint forward = True, ended = False
        with nogil:
            while not ended:
                # Beliefs are recomputed in each pass, so that rounding errors do not add up.
                self.sum_messages()
                worst = 0.0
                for k in range(m):
                    f = k if forward else m - 1 - k
                    begin = g.scope_start[f]
                    if arity_of(g, f) < 2:
                        continue
                    high = self.gather(f)
                    for i in range(self.r.arity):
                        d = self.sizes[i]
                        top = -INFINITY
                        for y in range(d):
                            x = to[self.at[i] + y]
                            if x > 1e-200:
                                x = high + log(x) - rest[self.at[i] + y]
                            else:
                                x = self.one_sum(f, i, y)
                            to[self.at[i] + y] = x
                            top = x if x > top else top
                        all_labels = place(g, g.scope[begin + i])
                        where = self.start[begin + i]
                        for y in range(d):
                            old = self.message[where + y]
                            new = to[self.at[i] + y] - top
                            x = fabs(new - old)
                            # Far below the largest entry, the relative change counts.
                            low = fabs(new) if fabs(new) < fabs(old) else fabs(old)
                            if low > 30.0:
                                x /= low
                            worst = x if x > worst else worst
                            new += damping * (old - new)
                            self.message[where + y] = new
                            self.belief[all_labels + y] += self.weight[f] * (new - old)
                    if stopping.poll(change):
                        ended = True
                        break
                if ended:
                    break
                forward = not forward
                change = worst
                ended = change <= tolerance
                if stopping.tick(change):
                    ended = True
            self.sum_messages()
        return change

    def log_z(self, Stopping stopping):
        """The estimate ``sum_i log Z_i + sum_f r_f (log Z_f - sum over i of f of log Z_i)``, stationary in messages.

        NaN if the time ends before.
        """
        cdef const Factors* g = &self.view.g
        cdef Py_ssize_t f, v
        cdef offset_t i, y
        cdef double total = 0.0, high, s
        cdef const double* belief
        cdef double[::1] single = empty_float64(g.n)
        with nogil:
            for v in range(g.n):
                belief = &self.belief[place(g, v)]
                high = -INFINITY
                for y in range(labels_of(g, v)):
                    high = belief[y] if belief[y] > high else high
                s = 0.0
                for y in range(labels_of(g, v)):
                    s += exp(belief[y] - high)
                single[v] = high + log(s)
                total += single[v]
            for f in range(g.m):
                if arity_of(g, f) < 2:
                    continue
                if stopping.poll(0.0):
                    total = NAN
                    break
                high = self.gather(f)
                s = 0.0
                for y in range(self.sizes[0]):
                    s += self.to[y]
                s = high + log(s)
                for i in range(g.scope_start[f], g.scope_start[f + 1]):
                    s -= single[g.scope[i]]
                total += self.weight[f] * s
        return total


def forest(View view, const offset_t[::1] order):
    """The factors that close no cycle, taken greedily in an order; ascending. Near O(size of scopes)"""
    cdef const Factors* g = &view.g
    cdef Py_ssize_t k, f
    cdef offset_t i
    cdef element_t v, r
    cdef bint free
    taken_array = zeros_uint8(g.m)
    cdef unsigned char[::1] taken = taken_array
    cdef element_t[::1] above = np.arange(g.n, dtype=np.int32)
    cdef offset_t[::1] mark = full_int64(g.n, -1)
    with nogil:
        for k in range(order.shape[0]):
            f = order[k]
            free = True
            for i in range(g.scope_start[f], g.scope_start[f + 1]):
                v = g.scope[i]
                while above[v] != v:
                    above[v] = above[above[v]]
                    v = above[v]
                if mark[v] == f:
                    free = False
                    break
                mark[v] = f
            if free:
                taken[f] = 1
                r = -1
                for i in range(g.scope_start[f], g.scope_start[f + 1]):
                    v = g.scope[i]
                    while above[v] != v:
                        v = above[v]
                    if r >= 0:
                        above[v] = r
                    else:
                        r = v
    return np.flatnonzero(taken_array)
