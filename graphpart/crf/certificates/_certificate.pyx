"""Kernel that computes the bound that a reparametrisation of a factor graph proves, with every sum rounded down."""

from functools import partial

import numpy as np

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, fabs, isfinite, nextafter

from graphpart.crf.problem._view cimport Factors, View, place
from graphpart.kernels._arrays cimport empty_float64, zeros_float64, zeros_int32, zeros_int64
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.machine import side_by_side


cdef inline double add_down(double x, double y) noexcept nogil:
    """A double not above x + y: the rounded sum, or the one below if rounding went up. Neither is NaN, y is finite."""
    cdef double total = x + y, back, error
    if not isfinite(total):
        return DBL_MAX if total > 0 and x < INFINITY else total     # a finite sum that overflows proves no more
    back = total - x
    error = (x - (total - back)) + (y - back)      # exactly x + y - total (Knuth 1969)
    if not isfinite(error):                        # y + x near the largest number
        return nextafter(total, -INFINITY)
    return nextafter(total, -INFINITY) if error < 0 else total


cdef inline void subtract_vector(double* low, const double* message, offset_t before, offset_t size,
                                 offset_t after) noexcept nogil:
    """``low[a, y, b] -= message[y]``."""
    cdef offset_t a, y, b
    for a in range(before):
        for y in range(size):
            for b in range(after):
                low[b] = add_down(low[b], -message[y])
            low += after


cdef void subtract_plainly(double* low, const double* message, offset_t before, offset_t size,
                           offset_t after) noexcept nogil:
    """``low[a, y, b] -= message[y]``, rounded to nearest."""
    cdef offset_t a, y, b
    cdef double x
    for a in range(before):
        if after == 1:
            for y in range(size):
                low[y] -= message[y]
            low += size
            continue
        for y in range(size):
            x = message[y]
            for b in range(after):
                low[b] -= x
            low += after


cdef double least_of_pair(const double* table, double* low, offset_t rows, offset_t columns, const double* to_rows,
                          const double* to_columns) noexcept nogil:
    """`least_of` for two variables."""
    cdef offset_t i, j, at = 0
    cdef double largest = 0.0, most = 0.0, best = INFINITY, least = INFINITY, value, x
    for i in range(rows * columns):
        x = fabs(table[i])
        x = x if x < INFINITY else 0.0
        largest = x if x > largest else largest
    for i in range(rows):
        most = max(most, fabs(to_rows[i]))
    largest += most
    most = 0.0
    for j in range(columns):
        most = max(most, fabs(to_columns[j]))
    largest += most
    for i in range(rows):
        x = to_rows[i]
        for j in range(columns):
            low[j] = (table[j] - x) - to_columns[j]
        for j in range(columns):
            best = low[j] if low[j] < best else best
        low += columns
        table += columns
    low -= rows * columns
    table -= rows * columns
    best += 8.0 * 2.0**-53 * largest
    for i in range(rows):
        for j in range(columns):
            if not low[at] > best:      # also if it is NaN, after an overflow
                value = add_down(add_down(table[at], -to_rows[i]), -to_columns[j])
                least = value if value < least else least
            at += 1
    return least


cdef double least_of(const double* table, double* low, offset_t size, const double* messages, const element_t* domains,
                     const element_t* scope, Py_ssize_t arity) noexcept nogil:
    """The smallest entry of a table (NULL: zeros) less its messages, rounded down.

    Rounded to nearest, an entry errs by at most ``arity * 2**-53`` times the sum S of its absolute terms, up to terms
    of higher order. So only entries within ``4 * arity * 2**-53`` times the largest S of the minimum are computed
    again.
    """
    cdef offset_t i, before = 1, after = size, at = 0, rest
    cdef Py_ssize_t j
    cdef element_t d, y
    cdef double largest = 0.0, most, best = INFINITY, least = INFINITY, value, x
    for i in range(size):
        low[i] = table[i] if table != NULL else 0.0
    for i in range(size):
        x = fabs(low[i])
        largest = x if x > largest and x < INFINITY else largest
    for j in range(arity):
        d = domains[scope[j]]
        after //= d
        subtract_plainly(low, messages + at, before, d, after)
        most = 0.0
        for y in range(d):
            most = max(most, fabs(messages[at + y]))
        largest += most
        before *= d
        at += d
    for i in range(size):
        best = low[i] if low[i] < best else best
    best += 4.0 * arity * 2.0**-53 * largest
    for i in range(size):
        if low[i] > best:
            continue
        value = table[i] if table != NULL else 0.0
        after, at, rest = size, 0, i
        for j in range(arity):
            d = domains[scope[j]]
            after //= d
            value = add_down(value, -messages[at + rest // after])
            rest %= after
            at += d
        least = min(least, value)
    return least


def places(const offset_t[::1] scope_start, const element_t[::1] scope, const element_t[:, ::1] links,
           element_t[::1] out):
    """For each link, the places of the variables of its first factor in the scope of its second factor.

    Returns the first link whose first factor is not within the second one and smaller; -1 if there is none.
    """
    cdef Py_ssize_t k, at = 0, i, j
    cdef element_t small, large
    cdef bint found
    with nogil:
        for k in range(links.shape[0]):
            small, large = links[k, 0], links[k, 1]
            if scope_start[small + 1] - scope_start[small] >= scope_start[large + 1] - scope_start[large]:
                with gil:
                    return k
            for i in range(scope_start[small], scope_start[small + 1]):
                found = False
                for j in range(scope_start[large], scope_start[large + 1]):
                    if scope[j] == scope[i]:
                        out[at] = <element_t>(j - scope_start[large])
                        at += 1
                        found = True
                        break
                if not found:
                    with gil:
                        return k
    return -1


def unary_minima(View view, const double[::1] messages, const element_t[::1] extra_scope):
    """The smallest of unary costs and messages of each variable, shape (n,)."""
    cdef const Factors* g = &view.g
    cdef Py_ssize_t n = g.n, m = g.m, f, v, y
    cdef offset_t i, at = 0
    belief_array, least_array = zeros_float64(g.size), empty_float64(n)
    cdef double[::1] belief = belief_array, least = least_array
    with nogil:
        for f in range(m):
            if g.scope_start[f + 1] - g.scope_start[f] == 1:
                v = g.scope[g.scope_start[f]]
                for y in range(g.domains[v]):
                    # inf once, inf for good
                    if g.tables[g.table_start[f] + y] == INFINITY:
                        belief[place(g, v) + y] = INFINITY
                    else:
                        belief[place(g, v) + y] = add_down(belief[place(g, v) + y], g.tables[g.table_start[f] + y])
                continue
            for i in range(g.scope_start[f], g.scope_start[f + 1]):
                v = g.scope[i]
                for y in range(g.domains[v]):
                    belief[place(g, v) + y] = add_down(belief[place(g, v) + y], messages[at])
                    at += 1
        for i in range(extra_scope.shape[0]):
            v = extra_scope[i]
            for y in range(g.domains[v]):
                belief[place(g, v) + y] = add_down(belief[place(g, v) + y], messages[at])
                at += 1
        for v in range(n):
            least[v] = INFINITY
            for y in range(g.domains[v]):
                least[v] = min(least[v], belief[place(g, v) + y])
    return least_array


cdef class Links:
    """The links between factors, with their messages: the links of factor f are ``ends[rows[f]:rows[f + 1]]``.

    The variables of the first factor of link k stand at ``place[place_start[k]:place_start[k + 1]]`` of the scope of its
    second one; its messages begin at ``start[k]``.
    """

    cdef const element_t[:, ::1] links
    cdef const offset_t[::1] rows, ends, place_start, start
    cdef const element_t[::1] place
    cdef const double[::1] messages

    def __init__(self, links, rows, ends, place_start, place, start, messages):
        self.links, self.rows, self.ends = links, rows, ends
        self.place_start, self.place, self.start, self.messages = place_start, place, start, messages


def factor_minima(
    View view, const offset_t[::1] scope_start, const element_t[::1] scope, const offset_t[::1] table_start,
    const double[::1] messages, Links sent,
):
    """The smallest entry of each factor of arity at least 2, less the messages that it sends.

    The factors are those of the scopes given here, over the variables of the view. ``table_start[f]`` is where in its
    tables the table stands, -1 if it is zero. Two threads may work on factors that have half of the entries each.
    """
    cdef const element_t* domains = view.g.domains
    cdef Py_ssize_t m = scope_start.shape[0] - 1, f, i, middle = 0
    cdef offset_t entries, half = 0, at = 0
    least_array, size_array = empty_float64(m), np.ones(m, np.int64)
    cdef offset_t[::1] sizes = size_array
    with nogil:
        for f in range(m):
            for i in range(scope_start[f], scope_start[f + 1]):
                sizes[f] *= domains[scope[i]]
    entries = size_array.sum()
    with nogil:
        while middle < m and 2 * half < entries:
            half += sizes[middle]
            for i in range(scope_start[middle], scope_start[middle + 1]):
                at += domains[scope[i]]
            middle += 1
    rest = view, scope_start, scope, table_start, messages, sent, sizes, least_array
    calls = partial(_factor_minima, 0, middle, 0, *rest), partial(_factor_minima, middle, m, at, *rest)
    side_by_side(*calls, worth=entries >= 2**20)
    return least_array


def _factor_minima(
    Py_ssize_t begin, Py_ssize_t end, offset_t at, View view, const offset_t[::1] scope_start,
    const element_t[::1] scope, const offset_t[::1] table_start, const double[::1] messages, Links sent,
    const offset_t[::1] sizes, double[::1] least,
):
    """The same for the factors from `begin` to `end`, whose messages begin at `at`."""
    cdef const element_t* domains = view.g.domains
    cdef const cost_t* tables = view.g.tables
    cdef const element_t[:, ::1] links = sent.links
    cdef const offset_t[::1] rows = sent.rows, ends = sent.ends, place_start = sent.place_start, link_start = sent.start
    cdef const element_t[::1] where = sent.place
    cdef const double[::1] link_messages = sent.messages
    cdef Py_ssize_t f, i, j, largest_arity = int(np.max(np.diff(scope_start), initial=1))
    cdef offset_t size, before, after, r, k, c
    cdef element_t d
    cdef double[::1] low = empty_float64(int(np.max(sizes, initial=1)))
    cdef offset_t[::1] stride = zeros_int64(largest_arity)
    cdef element_t[::1] label = zeros_int32(largest_arity)
    cdef double best
    with nogil:
        for f in range(begin, end):
            size = sizes[f]
            if rows[f] == rows[f + 1]:
                i = scope_start[f]
                if table_start[f] >= 0 and scope_start[f + 1] - i == 2:
                    d = domains[scope[i]]
                    least[f] = least_of_pair(&tables[table_start[f]], &low[0], d, domains[scope[i + 1]], &messages[at],
                                             &messages[at + d])
                    at += d + domains[scope[i + 1]]
                    continue
                least[f] = least_of(
                    &tables[table_start[f]] if table_start[f] >= 0 else NULL, &low[0], size, &messages[at], domains,
                    &scope[scope_start[f]], scope_start[f + 1] - scope_start[f],
                )
                for i in range(scope_start[f], scope_start[f + 1]):
                    at += domains[scope[i]]
                continue
            if table_start[f] >= 0:
                for i in range(size):
                    low[i] = tables[table_start[f] + i]
            else:
                for i in range(size):
                    low[i] = 0.0
            before = 1
            after = size
            for i in range(scope_start[f], scope_start[f + 1]):
                d = domains[scope[i]]
                after //= d
                subtract_vector(&low[0], &messages[at], before, d, after)
                before *= d
                at += d
            for r in range(rows[f], rows[f + 1]):
                k = ends[r]
                if links[k, 0] == f:
                    for i in range(size):
                        low[i] = add_down(low[i], link_messages[link_start[k] + i])
                    continue
                for j in range(scope_start[f + 1] - scope_start[f]):
                    stride[j] = label[j] = 0
                after = 1
                for j in range(place_start[k + 1] - 1, place_start[k] - 1, -1):
                    stride[where[j]] = after
                    after *= domains[scope[scope_start[f] + where[j]]]
                c = link_start[k]
                for i in range(size):
                    low[i] = add_down(low[i], -link_messages[c])
                    j = scope_start[f + 1] - scope_start[f] - 1
                    while j >= 0:               # the next entry: its labels, and the entry of the message
                        label[j] += 1
                        c += stride[j]
                        d = domains[scope[scope_start[f] + j]]
                        if label[j] < d:
                            break
                        label[j] = 0
                        c -= d * stride[j]
                        j -= 1
            best = INFINITY
            for i in range(size):
                best = min(best, low[i])
            least[f] = best


def sum_down(double total, const double[::1] values) -> float:
    """The sum, rounded down; -inf if one is -inf, else inf if one is inf.

    What single additions lose is summed apart, so that all of them together lose little.
    """
    cdef Py_ssize_t k
    cdef bint infinite = total == INFINITY
    cdef double lost = 0.0, x, y, back, error
    with nogil:
        for k in range(values.shape[0]):
            if values[k] == INFINITY:
                infinite = True
            elif values[k] == -INFINITY:
                total = -INFINITY
                infinite = False
                break
            else:
                x, y = total, values[k]
                total = x + y
                back = total - x
                error = (x - (total - back)) + (y - back)       # see add_down
                if isfinite(error):
                    lost = add_down(lost, error)
                else:
                    total = add_down(x, y)
    return INFINITY if infinite else add_down(total, lost)
