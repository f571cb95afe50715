"""All messages of a forest, both ways, over (min, +) or, in the log domain, over (+, *).

On the way to the roots, step t computes the message of factor f to its parent p and remembers it (``up``), and what the
belief of p was before (``before``). On the way back, ``after[p]`` sums what came to p after step t, so that

    mu_{p->f} = before + after[p]

needs no subtraction, which would be undefined for inf and inexact otherwise. Unary factors are steps without children.
"""

import numpy as np

from libc.math cimport INFINITY, exp, log

from graphpart.kernels.types cimport cost_t, element_t, offset_t


def both_ways(
    const element_t[::1] domains,
    const offset_t[::1] first,
    const offset_t[::1] scope_start,
    const element_t[::1] scope,
    const offset_t[::1] table_start,
    const cost_t[::1] tables,
    const element_t[::1] order,
    const element_t[::1] parent,
    const offset_t[::1] up_start,
    const offset_t[::1] edge_first,
    offset_t largest_table,
    offset_t largest_arity,
    bint soft,
    bint normalise,
):
    """(beliefs, sum taken out, messages to variables, messages to factors, impossible factor or -1).

    ``first[v]``, ``up_start[t]`` and ``edge_first[e]`` place vectors with one entry for each label: of variable v, of the
    parent at step t, of the variable at position e of the scopes. Messages are returned if `edge_first` is not empty.
    With `normalise`, the minimum is taken out of each message.
    """
    cdef Py_ssize_t n = domains.shape[0], steps = order.shape[0], t, f, v
    cdef bint keep = edge_first.shape[0] > 0
    cdef offset_t i, begin, arity, k, y, d
    cdef element_t p, c
    cdef double total = 0.0, low
    cdef const cost_t* table
    belief_array, after_array = np.zeros(first[n]), np.zeros(first[n])
    cdef cost_t[::1] belief = belief_array, after = after_array
    cdef cost_t[::1] up = np.empty(up_start[steps]), before = np.empty(up_start[steps])
    to_variable_array, to_factor_array = (np.zeros(edge_first[scope.shape[0]] if keep else 0) for _ in range(2))
    cdef cost_t[::1] to_variable = to_variable_array, to_factor = to_factor_array
    cdef cost_t[::1] work = np.empty(largest_table), whole = np.empty(largest_table)
    cdef offset_t[::1] sizes = np.empty(largest_arity, np.int64), places = np.empty(largest_arity, np.int64)
    with nogil:
        for t in range(steps):
            f = order[t]
            p = parent[t]
            begin = scope_start[f]
            arity = scope_start[f + 1] - begin
            k = 0
            for i in range(arity):
                sizes[i] = domains[scope[begin + i]]
                places[i] = first[scope[begin + i]]
                if scope[begin + i] == p:
                    k = i
            d = domains[p]
            low = reduce(&tables[table_start[f]], arity, k, &sizes[0], &places[0], &belief[0], &work[0],
                         &up[up_start[t]], soft, normalise)
            if low == INFINITY:
                with gil:
                    return belief_array, total, to_variable_array, to_factor_array, f
            total += low
            for y in range(d):
                before[up_start[t] + y] = belief[first[p] + y]
                belief[first[p] + y] += up[up_start[t] + y]
        for t in range(steps - 1, -1, -1):
            f = order[t]
            p = parent[t]
            begin = scope_start[f]
            arity = scope_start[f + 1] - begin
            k = 0
            for i in range(arity):
                sizes[i] = domains[scope[begin + i]]
                places[i] = first[scope[begin + i]]
                if scope[begin + i] == p:
                    k = i
            d = domains[p]
            # From here on the belief of the parent stands aside for what it sends to this factor.
            for y in range(d):
                whole[y] = belief[first[p] + y]
                belief[first[p] + y] = before[up_start[t] + y] + after[first[p] + y]
                after[first[p] + y] += up[up_start[t] + y]
            if keep:
                for i in range(arity):
                    for y in range(sizes[i]):
                        to_factor[edge_first[begin + i] + y] = belief[places[i] + y]
                for y in range(d):
                    to_variable[edge_first[begin + k] + y] = up[up_start[t] + y]
            for i in range(arity):
                if i != k:
                    reduce(&tables[table_start[f]], arity, i, &sizes[0], &places[0], &belief[0], &work[0],
                           &after[places[i]], soft, normalise)
            for i in range(arity):
                if i != k:
                    for y in range(sizes[i]):
                        belief[places[i] + y] += after[places[i] + y]
                        if keep:
                            to_variable[edge_first[begin + i] + y] = after[places[i] + y]
            for y in range(d):
                belief[first[p] + y] = whole[y]
    return belief_array, total, to_variable_array, to_factor_array, -1


cdef double reduce(
    const cost_t* table, offset_t arity, offset_t target, const offset_t* sizes, const offset_t* places,
    const cost_t* belief, cost_t* work, cost_t* message, bint soft, bint normalise,
) noexcept nogil:
    """Reduce a table plus the beliefs of all other variables to the target; what was taken out of the message."""
    cdef const cost_t* source = table
    cdef const cost_t* other
    cdef offset_t size = 1, inner = 1, d, i, o, k
    cdef double low = INFINITY
    for i in range(arity):
        size *= sizes[i]
    for i in range(arity - 1, -1, -1):
        d = sizes[i]
        if i == target:
            inner = d
            continue
        size //= d
        other = &belief[places[i]]
        # Seen as (o, label, k). In place after the first axis: no entry is overwritten before it is read.
        for o in range(size // inner):
            for k in range(inner):
                work[o * inner + k] = least(&source[o * d * inner + k], inner, other, d, soft)
        source = work
    for k in range(inner):
        low = source[k] if source[k] < low else low
    if low == INFINITY:
        return low
    if not normalise:
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
