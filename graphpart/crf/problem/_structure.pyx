"""Kernels over the flat arrays of a factor graph: checks, incidence, energies, components; tables made from old ones.

The scope of factor f is ``scope[scope_start[f]:scope_start[f + 1]]``. Its table begins at ``tables[table_start[f]]``;
the last variable of the scope runs fastest. Several factors may have the same table. Each kernel takes one pass.
"""

import numpy as np

from libc.math cimport INFINITY, fabs, fmod, isfinite, isnan
from libc.string cimport memcpy

from graphpart.kernels._arrays cimport empty_float64, empty_int32, empty_int64, full_int32, zeros_int32, zeros_int64
from graphpart.kernels.compensated cimport Sum, add, value
from graphpart.kernels.types cimport cost_t, element_t, offset_t


def table_starts(const element_t[::1] domains, const offset_t[::1] scope_start, const element_t[::1] scope,
                 bint every=True):
    """(starts of the tables, factor, what): the first factor whose scope is wrong, or factor = -1.

    Unless `every` start is asked for, there is the end of the tables only. `what` is 0 if a variable is out of range,
    1 if a variable is repeated, 2 if the table is larger than 2^62.
    """
    cdef Py_ssize_t n = domains.shape[0], m = scope_start.shape[0] - 1, f
    cdef offset_t size, i, j, at = 0
    cdef int what = -1
    cdef double entries
    out = zeros_int64(m + 1 if every else 1)
    cdef offset_t[::1] start = out
    with nogil:
        for f in range(m):
            size = 1
            entries = 1.0
            for i in range(scope_start[f], scope_start[f + 1]):
                if scope[i] < 0 or scope[i] >= n:
                    what = 0
                    break
                for j in range(scope_start[f], i):
                    if scope[j] == scope[i]:
                        what = 1
                size *= domains[scope[i]]
                entries *= domains[scope[i]]
            if what < 0 and at + entries > 4.6e18:
                what = 2
            if what >= 0:
                break
            at += size
            start[f + 1 if every else 0] = at
    return (out, f, what) if what >= 0 else (out, -1, -1)


def measure(const cost_t[::1] tables) -> tuple[int, int, float]:
    """(position of the first NaN or -inf, or -1; number of +inf; sum of absolute finite entries)."""
    cdef Py_ssize_t i, at = -1
    cdef offset_t infinite = 0
    cdef double total = 0.0, part
    cdef Py_ssize_t block, end
    with nogil:
        for block in range(0, tables.shape[0], 1024):
            end = min(block + 1024, tables.shape[0])
            part = 0.0
            for i in range(block, end):
                part += fabs(tables[i])
            if isfinite(part):
                total += part
                continue
            for i in range(block, end):
                if isnan(tables[i]) or tables[i] == -INFINITY:
                    at = i
                    break
                if tables[i] == INFINITY:
                    infinite += 1
                else:
                    total += fabs(tables[i])
            if at >= 0:
                break
    return at, infinite, total


def gather(const cost_t[::1] tables, const offset_t[::1] begins, const offset_t[::1] start):
    """Tables, one after the other: table f has ``start[f + 1] - start[f]`` entries, from ``tables[begins[f]]`` on."""
    cdef Py_ssize_t m = start.shape[0] - 1, f
    out_array = empty_float64(start[m])
    cdef cost_t[::1] out = out_array
    with nogil:
        for f in range(m):
            if start[f + 1] > start[f]:
                memcpy(&out[start[f]], &tables[begins[f]], (start[f + 1] - start[f]) * sizeof(cost_t))
    return out_array


def incidence(Py_ssize_t n, const offset_t[::1] scope_start, const element_t[::1] scope):
    """Compressed rows (starts, factors, slots): where each variable occurs; the factors of each variable ascend."""
    cdef Py_ssize_t m = scope_start.shape[0] - 1, f, v
    cdef offset_t i, at
    start_array = zeros_int64(n + 1)
    factor_array = empty_int32(scope.shape[0])
    slot_array = empty_int32(scope.shape[0])
    cdef offset_t[::1] start = start_array
    cdef element_t[::1] factor = factor_array, slot = slot_array
    with nogil:
        for i in range(scope.shape[0]):
            start[scope[i]] += 1
        at = 0
        for v in range(n + 1):      # start[v] is the end of row v, and its start after filling backwards
            at += start[v]
            start[v] = at
        for f in range(m - 1, -1, -1):
            for i in range(scope_start[f], scope_start[f + 1]):
                start[scope[i]] -= 1
                at = start[scope[i]]
                factor[at] = f
                slot[at] = i - scope_start[f]
    return start_array, factor_array, slot_array


def runs(
    const element_t[::1] domains,
    const offset_t[::1] scope_start,
    const element_t[::1] scope,
    const offset_t[::1] table_start,
):
    """(runs, largest arity, largest size of a table): runs of factors of equal arity, size, and distance of tables.

    Rows are (first factor, arity, size, start of scopes, start of tables, distance from one table to the next). A last
    row ends the last run. Within a run the starts follow from the number of the factor and need not be read. The
    distance is 0 if all factors of the run have one table. If there are more than 64 runs, reading them saves no time,
    and the shape is (0, 6).
    """
    cdef Py_ssize_t m = scope_start.shape[0] - 1, f
    cdef offset_t arity, size, i, count = 0, largest_arity = 0, largest_size = 0
    out = np.zeros((65, 6), np.int64)
    cdef offset_t[:, ::1] row = out
    with nogil:
        for f in range(m):
            arity = scope_start[f + 1] - scope_start[f]
            size = 1
            for i in range(scope_start[f], scope_start[f + 1]):
                size *= domains[scope[i]]
            largest_arity, largest_size = max(arity, largest_arity), max(size, largest_size)
            if count < 0:
                continue
            if count and arity == row[count - 1, 1] and size == row[count - 1, 2]:
                if f == row[count - 1, 0] + 1:
                    row[count - 1, 5] = table_start[f] - table_start[f - 1]
                if table_start[f] - table_start[f - 1] == row[count - 1, 5]:
                    continue
            if count == 64:
                count = -1
                continue
            row[count, 0] = f
            row[count, 1] = arity
            row[count, 2] = row[count, 5] = size
            row[count, 3] = scope_start[f]
            row[count, 4] = table_start[f]
            count += 1
    if count < 0:
        return np.zeros((0, 6), np.int64), largest_arity, largest_size
    out[count, 0] = m
    return out[:count + 1].copy(), largest_arity, largest_size


def energy(
    const element_t[::1] domains,
    const offset_t[::1] scope_start,
    const element_t[::1] scope,
    const offset_t[::1] table_start,
    const cost_t[::1] tables,
    const element_t[::1] labels,
    double constant,
    offset_t width,
    const offset_t[:, ::1] run,
):
    """The constant plus one entry of each table, the rounding error of each addition carried along (Neumaier 1974).

    `width` is the number of labels if all variables have the same, else 0; for `run` see `runs`.
    """
    cdef Py_ssize_t m = scope_start.shape[0] - 1, f, k
    cdef offset_t i, at, s, t
    cdef Sum total = Sum(constant, 0.0)
    with nogil:
        if width and run.shape[0]:
            for k in range(run.shape[0] - 1):
                s = run[k, 3]
                t = run[k, 4]
                for f in range(run[k + 1, 0] - run[k, 0]):
                    if run[k, 1] == 1:
                        at = labels[scope[s]]
                    elif run[k, 1] == 2:
                        at = labels[scope[s]] * width + labels[scope[s + 1]]
                    else:
                        at = 0
                        for i in range(run[k, 1]):
                            at = at * width + labels[scope[s + i]]
                    add(&total, tables[t + at])
                    s += run[k, 1]
                    t += run[k, 5]
        else:
            for f in range(m):
                at = 0
                for i in range(scope_start[f], scope_start[f + 1]):
                    at = at * domains[scope[i]] + labels[scope[i]]
                add(&total, tables[table_start[f] + at])
    return value(&total)


def first_forbidding(
    const element_t[::1] domains,
    const offset_t[::1] scope_start,
    const element_t[::1] scope,
    const offset_t[::1] table_start,
    const cost_t[::1] tables,
    const element_t[::1] labels,
):
    """The first factor whose entry is infinite for these labels, or -1."""
    cdef Py_ssize_t m = scope_start.shape[0] - 1, f
    cdef offset_t i, at
    for f in range(m):
        at = 0
        for i in range(scope_start[f], scope_start[f + 1]):
            at = at * domains[scope[i]] + labels[scope[i]]
        if tables[table_start[f] + at] == INFINITY:
            return f
    return -1


def minima(const offset_t[::1] table_start, const offset_t[::1] start, const cost_t[::1] tables):
    """(smallest entry of each table, their sum with the rounding error of each addition carried along).

    Table f has ``start[f + 1] - start[f]`` entries.
    """
    cdef Py_ssize_t m = table_start.shape[0] - 1, f
    cdef offset_t i
    cdef double least = INFINITY
    cdef Sum total = Sum(0.0, 0.0)
    out = empty_float64(m)
    cdef double[::1] result = out
    with nogil:
        for f in range(m):
            if f == 0 or table_start[f] != table_start[f - 1]:
                least = INFINITY
                for i in range(table_start[f], table_start[f] + start[f + 1] - start[f]):
                    least = tables[i] if tables[i] < least else least
            result[f] = least
            add(&total, least)
    return out, value(&total)


def least_sum(
    const element_t[::1] domains,
    const offset_t[::1] scope_start,
    const element_t[::1] scope,
    const offset_t[::1] table_start,
    const cost_t[::1] tables,
    double step,
):
    """Of the smallest entries of all tables: (sum, sum of absolute values, whether all are multiples of a step)."""
    cdef Py_ssize_t m = scope_start.shape[0] - 1, f
    cdef offset_t i, size, before = 0
    cdef double least = INFINITY, absolute = 0.0
    cdef bint multiples = True
    cdef Sum total = Sum(0.0, 0.0)
    with nogil:
        for f in range(m):
            size = 1
            for i in range(scope_start[f], scope_start[f + 1]):
                size *= domains[scope[i]]
            if f == 0 or table_start[f] != table_start[f - 1] or size != before:
                least, before = INFINITY, size
                for i in range(table_start[f], table_start[f] + size):
                    least = tables[i] if tables[i] < least else least
                multiples = multiples and fmod(least, step) == 0.0
            absolute += fabs(least)
            add(&total, least)
    return value(&total), absolute, multiples


def eliminate(Py_ssize_t n, const offset_t[::1] scope_start, const element_t[::1] scope):
    """Strip leaves from the factor graph: (order, parent, degree).

    A variable in one remaining factor is a leaf. A factor with one remaining variable sends its message to that
    variable, its parent, and is removed. ``order`` lists the removed factors with at least two variables, ``parent``
    their parents. The union of all cycles and of the paths between them remains: ``degree[v] >= 2`` for its variables,
    0 for roots of acyclic components, -1 for all others. O(n + size of scopes).

    Variables are tried from last to first. A parent that became a leaf is removed at once only if its turn has passed.
    So a graph whose numbers rise from roots to leaves is processed in the order of memory. No lists of neighbours are
    needed: the exclusive or of the remaining neighbours of a variable is kept, which is the neighbour itself for a
    leaf.
    """
    cdef Py_ssize_t m = scope_start.shape[0] - 1, f, last
    cdef offset_t i, arity, proper = 0, t = 0
    cdef element_t u, v
    degree_array = zeros_int32(n)
    cdef element_t[::1] degree = degree_array, link = zeros_int32(n)
    cdef element_t[::1] left = zeros_int32(m), rest = zeros_int32(m)
    with nogil:
        for f in range(m):
            arity = scope_start[f + 1] - scope_start[f]
            if arity < 2:
                continue
            proper += 1
            left[f] = <element_t>arity
            for i in range(scope_start[f], scope_start[f + 1]):
                v = scope[i]
                rest[f] ^= v
                degree[v] += 1
                link[v] ^= <element_t>f
    order_array, parent_array = empty_int32(proper), empty_int32(proper)
    cdef element_t[::1] order = order_array, parent = parent_array
    with nogil:
        for last in range(n - 1, -1, -1):
            v = <element_t>last
            while degree[v] == 1:
                f = link[v]
                degree[v] = -1
                rest[f] ^= v
                left[f] -= 1
                if left[f] > 1:
                    break
                u = rest[f]
                order[t] = <element_t>f
                parent[t] = u
                t += 1
                degree[u] -= 1
                link[u] ^= <element_t>f
                if u < last:
                    break
                v = u
    if t < proper:
        order_array, parent_array = order_array[:t].copy(), parent_array[:t].copy()
    return order_array, parent_array, degree_array


def components(Py_ssize_t n, const offset_t[::1] scope_start, const element_t[::1] scope):
    """Label the variables by connected component, 0, 1, ... in order of first appearance. (labels, count)"""
    cdef Py_ssize_t m = scope_start.shape[0] - 1, f
    cdef offset_t i
    cdef element_t a, b, v, count = 0
    cdef element_t[::1] up = np.arange(n, dtype=np.int32)
    out = empty_int32(n)
    cdef element_t[::1] label = out
    with nogil:
        for f in range(m):
            for i in range(scope_start[f] + 1, scope_start[f + 1]):
                a = find(&up[0], scope[i - 1])
                b = find(&up[0], scope[i])
                if a < b:           # the smallest variable of a component is its root
                    up[b] = a
                else:
                    up[a] = b
        for v in range(n):
            a = find(&up[0], v)
            if a == v:
                label[v] = count
                count += 1
            else:
                label[v] = label[a]
    return out, count


cdef inline element_t find(element_t* up, element_t v) noexcept nogil:
    while up[v] != v:
        up[v] = up[up[v]]
        v = up[v]
    return v


def condition(
    const element_t[::1] domains,
    const offset_t[::1] scope_start,
    const element_t[::1] scope,
    const offset_t[::1] table_start,
    const cost_t[::1] tables,
    const element_t[::1] given,
    bint shared,
):
    """Fix the variables with ``given[v] >= 0``: (scope_start, scope, begins, tables, constant, forbidden factor or -1).

    Factors without a free variable are dropped; the sum of their entries is added to the constant. `begins` says where
    the table of each remaining factor begins in the new tables. With `shared`, it is where it begins in the old tables
    followed by the new ones: tables of factors whose variables are all free are not copied then. O(size of scopes and
    tables).
    """
    cdef Py_ssize_t m = scope_start.shape[0] - 1, f, kept = 0
    cdef offset_t i, j, size, at, entries = 0, members = 0, begin, arity
    cdef double constant = 0.0, x
    cdef Py_ssize_t bad = -1
    # First count the remaining factors and entries, then write them.
    for f in range(m):
        size = 1
        arity = 0
        for i in range(scope_start[f], scope_start[f + 1]):
            if given[scope[i]] < 0:
                size *= domains[scope[i]]
                arity += 1
        if arity:
            kept += 1
            members += arity
            if not shared or arity < scope_start[f + 1] - scope_start[f]:
                entries += size
    start_array, scope_array, tables_array = zeros_int64(kept + 1), empty_int32(members), empty_float64(entries)
    begins_array = empty_int64(kept)
    cdef offset_t[::1] start = start_array, begins = begins_array
    cdef offset_t before = tables.shape[0] if shared else 0
    cdef element_t[::1] rest = scope_array
    cdef cost_t[::1] out = tables_array
    kept = members = entries = 0
    with nogil:
        for f in range(m):
            begin = members
            for i in range(scope_start[f], scope_start[f + 1]):
                if given[scope[i]] < 0:
                    rest[members] = scope[i]
                    members += 1
            if members == begin:
                at = 0
                for i in range(scope_start[f], scope_start[f + 1]):
                    at = at * domains[scope[i]] + given[scope[i]]
                x = tables[table_start[f] + at]
                if x == INFINITY and bad < 0:
                    bad = f
                constant += x
                continue
            kept += 1
            start[kept] = members
            begins[kept - 1] = table_start[f]
            if shared and members - begin == scope_start[f + 1] - scope_start[f]:
                continue
            begins[kept - 1] = before + entries
            size = 1
            for i in range(begin, members):
                size *= domains[rest[i]]
            for j in range(size):
                out[entries] = tables[table_start[f] + place_of(
                    &domains[0], &scope[scope_start[f]], scope_start[f + 1] - scope_start[f], &given[0], j)]
                entries += 1
    return start_array, scope_array, begins_array, tables_array, constant, bad


cdef inline offset_t place_of(
    const element_t* domains, const element_t* scope, offset_t arity, const element_t* given, offset_t j,
) noexcept nogil:
    """The position in the whole table of the j-th entry of the table over the free variables."""
    cdef offset_t at = 0, stride = 1, i, d
    for i in range(arity - 1, -1, -1):
        d = domains[scope[i]]
        if given[scope[i]] >= 0:
            at += given[scope[i]] * stride
        else:
            at += (j % d) * stride
            j //= d
        stride *= d
    return at


def absorb_unary(
    const element_t[::1] domains,
    const offset_t[::1] scope_start,
    const element_t[::1] scope,
    const offset_t[::1] table_start,
    const cost_t[::1] tables,
):
    """Add each unary factor to the first larger factor of its variable: (scope_start, scope, tables).

    ``table_start[f + 1]`` is the end of table f: no two factors have the same table.
    """
    cdef Py_ssize_t n = domains.shape[0], m = scope_start.shape[0] - 1, f, g
    cdef offset_t i, j, d, stride, kept = 0, members = 0, entries = 0
    cdef element_t v
    cdef element_t[::1] host = full_int32(n, -1)
    tables_array = np.array(tables)
    cdef cost_t[::1] out = tables_array
    start_array, scope_array = empty_int64(m + 1), empty_int32(scope.shape[0])
    cdef offset_t[::1] start = start_array
    cdef element_t[::1] rest = scope_array
    with nogil:
        for f in range(m - 1, -1, -1):
            if scope_start[f + 1] - scope_start[f] > 1:
                for i in range(scope_start[f], scope_start[f + 1]):
                    host[scope[i]] = <element_t>f
        for f in range(m):
            if scope_start[f + 1] - scope_start[f] != 1 or host[scope[scope_start[f]]] < 0:
                continue
            v = scope[scope_start[f]]
            g = host[v]
            stride = 1
            i = scope_start[g + 1] - 1
            while scope[i] != v:
                stride *= domains[scope[i]]
                i -= 1
            d = domains[v]
            for j in range(table_start[g + 1] - table_start[g]):
                out[table_start[g] + j] += tables[table_start[f] + (j // stride) % d]
        start[0] = 0
        for f in range(m):
            if scope_start[f + 1] - scope_start[f] == 1 and host[scope[scope_start[f]]] >= 0:
                continue
            for i in range(scope_start[f], scope_start[f + 1]):
                rest[members] = scope[i]
                members += 1
            for j in range(table_start[f], table_start[f + 1]):
                out[entries] = out[j]
                entries += 1
            kept += 1
            start[kept] = members
    return start_array[:kept + 1].copy(), scope_array[:members].copy(), tables_array[:entries].copy()
