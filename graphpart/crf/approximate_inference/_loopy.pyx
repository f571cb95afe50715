"""Passes of reweighted sum-product messages over all factors, the estimate of log Z, and forests of factors.

With weights r_f of factors, messages m_{f->i} in logarithms and ``B_i = -(unary energies) + sum over f of r_f m_{f->i}``,

    m_{f->i}(y_i) := log sum over all y of f that agree with y_i of
                         exp( -h_f(y) / r_f + sum over other variables j of f of (B_j(y_j) - m_{f->j}(y_j)) )

and r_f = 1 is ordinary sum-product. All messages of a factor are computed from one exponential for each entry of its
table, unless that underflows for a label.
"""

import numpy as np

from libc.math cimport INFINITY, exp, fabs, log

from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.stopping cimport Stopping


cdef double sums(
    const cost_t* table, double scale, offset_t arity, const offset_t* sizes, const offset_t* at, const double* rest,
    double* work, double* to,
) noexcept nogil:
    """Sum ``exp(-table * scale + rest)`` for each label of each variable, relative to the largest; its logarithm."""
    cdef offset_t size = 1, i, k, y, inner, outer, d
    cdef double high = -INFINITY, w, s
    cdef double* row
    for i in range(arity):
        size *= sizes[i]
    for k in range(size):
        work[k] = -table[k] * scale
    inner = 1
    for i in range(arity - 1, -1, -1):
        d = sizes[i]
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
        d = sizes[i]
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


cdef double one_sum(
    const cost_t* table, double scale, offset_t arity, const offset_t* sizes, const offset_t* at, const double* rest,
    offset_t target, offset_t label,
) noexcept nogil:
    """``log sum exp(-table * scale + rest of all others)`` over entries with this label of the target. Slow, exact."""
    cdef offset_t size = 1, i, k, t
    cdef double high = -INFINITY, total = 0.0, x
    cdef int go
    for i in range(arity):
        size *= sizes[i]
    for go in range(2):
        for k in range(size):
            t = k
            x = -table[k] * scale
            for i in range(arity - 1, -1, -1):
                if i == target:
                    if t % sizes[i] != label:
                        x = -INFINITY
                else:
                    x += rest[at[i] + t % sizes[i]]
                t //= sizes[i]
            if go == 0:
                high = x if x > high else high
            elif x > -INFINITY:
                total += exp(x - high)
    return high + log(total)


def passes(
    const element_t[::1] domains,
    const offset_t[::1] first,
    const offset_t[::1] scope_start,
    const element_t[::1] scope,
    const offset_t[::1] table_start,
    const cost_t[::1] tables,
    const double[::1] weight,
    const offset_t[::1] edge_first,
    const double[::1] base,
    double[::1] message,
    double[::1] belief,
    double damping,
    double tolerance,
    offset_t largest_table,
    offset_t largest_arity,
    Stopping stopping,
):
    """Pass until no message changes by more than the tolerance, or the run has to end: the largest change at last.

    `edge_first` places the message at each position of the scopes. Factors of one variable belong to `base`. Factors
    are passed in their order and against it in turns.
    """
    cdef Py_ssize_t m = scope_start.shape[0] - 1, f, n = domains.shape[0], v, k
    cdef offset_t arity, begin, i, y, d, place
    cdef double change = INFINITY, worst, high, x, new, old, low, top
    cdef bint forward = True, ended = False
    cdef double[::1] work = np.empty(largest_table)
    cdef offset_t[::1] sizes = np.empty(largest_arity, np.int64), at = np.empty(largest_arity, np.int64)
    room = largest_arity * (int(np.max(domains)) if n else 1)
    cdef double[::1] rest = np.empty(room), to = np.empty(room)
    with nogil:
        while not ended:
            # Anew in each pass, so that rounding does not add up.
            sum_messages(first, scope_start, scope, weight, edge_first, base, message, belief)
            worst = 0.0
            for k in range(m):
                f = k if forward else m - 1 - k
                begin = scope_start[f]
                arity = scope_start[f + 1] - begin
                if arity < 2:
                    continue
                place = 0
                for i in range(arity):
                    v = scope[begin + i]
                    sizes[i] = domains[v]
                    at[i] = place
                    for y in range(sizes[i]):
                        rest[place + y] = belief[first[v] + y] - message[edge_first[begin + i] + y]
                    place += sizes[i]
                high = sums(&tables[table_start[f]], 1.0 / weight[f], arity, &sizes[0], &at[0], &rest[0], &work[0],
                            &to[0])
                for i in range(arity):
                    d = sizes[i]
                    top = -INFINITY
                    for y in range(d):
                        x = to[at[i] + y]
                        if x > 1e-200:
                            x = high + log(x) - rest[at[i] + y]
                        else:
                            x = one_sum(&tables[table_start[f]], 1.0 / weight[f], arity, &sizes[0], &at[0], &rest[0], i,
                                        y)
                        to[at[i] + y] = x
                        top = x if x > top else top
                    v = scope[begin + i]
                    place = edge_first[begin + i]
                    for y in range(d):
                        old = message[place + y]
                        new = to[at[i] + y] - top
                        x = fabs(new - old)
                        # Far below the largest, what counts is the relative change.
                        low = fabs(new) if fabs(new) < fabs(old) else fabs(old)
                        if low > 30.0:
                            x /= low
                        worst = x if x > worst else worst
                        new += damping * (old - new)
                        message[place + y] = new
                        belief[first[v] + y] += weight[f] * (new - old)
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
        sum_messages(first, scope_start, scope, weight, edge_first, base, message, belief)
    return change


cdef void sum_messages(
    const offset_t[::1] first, const offset_t[::1] scope_start, const element_t[::1] scope, const double[::1] weight,
    const offset_t[::1] edge_first, const double[::1] base, const double[::1] message, double[::1] belief,
) noexcept nogil:
    cdef Py_ssize_t f, v
    cdef offset_t i, y
    for i in range(base.shape[0]):
        belief[i] = base[i]
    for f in range(scope_start.shape[0] - 1):
        for i in range(scope_start[f], scope_start[f + 1]):
            v = scope[i]
            for y in range(edge_first[i + 1] - edge_first[i]):
                belief[first[v] + y] += weight[f] * message[edge_first[i] + y]


def log_z(
    const element_t[::1] domains,
    const offset_t[::1] first,
    const offset_t[::1] scope_start,
    const element_t[::1] scope,
    const offset_t[::1] table_start,
    const cost_t[::1] tables,
    const double[::1] weight,
    const offset_t[::1] edge_first,
    const double[::1] message,
    const double[::1] belief,
    offset_t largest_table,
    offset_t largest_arity,
):
    """The estimate ``sum_i log Z_i + sum_f r_f (log Z_f - sum over i of f of log Z_i)``, stationary in the messages."""
    cdef Py_ssize_t m = scope_start.shape[0] - 1, f, n = domains.shape[0], v
    cdef offset_t arity, begin, i, y, place
    cdef double total = 0.0, high, s
    cdef double[::1] work = np.empty(largest_table), single = np.empty(n)
    cdef offset_t[::1] sizes = np.empty(largest_arity, np.int64), at = np.empty(largest_arity, np.int64)
    room = largest_arity * (int(np.max(domains)) if n else 1)
    cdef double[::1] rest = np.empty(room), to = np.empty(room)
    with nogil:
        for v in range(n):
            high = -INFINITY
            for y in range(domains[v]):
                high = belief[first[v] + y] if belief[first[v] + y] > high else high
            s = 0.0
            for y in range(domains[v]):
                s += exp(belief[first[v] + y] - high)
            single[v] = high + log(s)
            total += single[v]
        for f in range(m):
            begin = scope_start[f]
            arity = scope_start[f + 1] - begin
            if arity < 2:
                continue
            place = 0
            for i in range(arity):
                v = scope[begin + i]
                sizes[i] = domains[v]
                at[i] = place
                for y in range(sizes[i]):
                    rest[place + y] = belief[first[v] + y] - message[edge_first[begin + i] + y]
                place += sizes[i]
            high = sums(&tables[table_start[f]], 1.0 / weight[f], arity, &sizes[0], &at[0], &rest[0], &work[0], &to[0])
            s = 0.0
            for y in range(sizes[0]):
                s += to[y]
            s = high + log(s)
            for i in range(arity):
                s -= single[scope[begin + i]]
            total += weight[f] * s
    return total


def forest(Py_ssize_t n, const offset_t[::1] scope_start, const element_t[::1] scope, const offset_t[::1] order):
    """The factors, taken greedily in an order, that close no cycle, ascending. O(size of scopes) almost"""
    cdef Py_ssize_t m = scope_start.shape[0] - 1, k, f
    cdef offset_t i, j
    cdef element_t v, r
    cdef bint free
    taken_array = np.zeros(m, np.uint8)
    cdef unsigned char[::1] taken = taken_array
    cdef element_t[::1] above = np.arange(n, dtype=np.int32)
    cdef offset_t[::1] mark = np.full(n, -1, np.int64)
    with nogil:
        for k in range(order.shape[0]):
            f = order[k]
            free = True
            for i in range(scope_start[f], scope_start[f + 1]):
                v = scope[i]
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
                for i in range(scope_start[f], scope_start[f + 1]):
                    v = scope[i]
                    while above[v] != v:
                        v = above[v]
                    if r >= 0:
                        above[v] = r
                    else:
                        r = v
    return np.flatnonzero(taken_array)
