"""Kernels over lists of valid inequalities: check them, expand them to rows, and sum with directed rounding."""

import numpy as np

from libc.math cimport INFINITY, fma, isfinite, nextafter
from libc.stdint cimport uint8_t

from graphpart.kernels._arrays cimport empty_int64, empty_int8, full_int64, zeros_float64, zeros_int64
from graphpart.kernels.types cimport element_t, offset_t

cdef enum:
    CYCLE = 0
    WHEEL = 1
    TWO_PARTITION = 2
    GENERAL = 3
    GROUP_STAR = 4
    CUT = 5

cdef enum:
    LARGEST_COEFFICIENT = 1 << 24     # of a general 2-partition: sums of squared coefficients fit 64 bits


def largest_coefficient() -> int:
    """The largest absolute coefficient of a general 2-partition."""
    return LARGEST_COEFFICIENT


def sizes(const uint8_t[::1] kinds, const offset_t[::1] starts, const element_t[::1] splits, const element_t[::1] elements,
          Py_ssize_t n):
    """The number of terms of each inequality and its right-hand side; (terms, rhs, first bad inequality or -1).

    An inequality is bad if it names an element twice or an element that does not exist, has too few elements, or an
    unknown kind. Right-hand sides of general 2-partitions are rounded up to 53 bits. A pair with a coefficient of k
    counts as k terms.
    """
    cdef Py_ssize_t k, i, count = kinds.shape[0], bad = -1
    cdef offset_t length, s, end, total, most, squares
    terms_array, rhs_array = zeros_int64(count), zeros_float64(count)
    cdef offset_t[::1] terms = terms_array
    cdef double[::1] rhs = rhs_array
    cdef offset_t[::1] seen = full_int64(n + 1, -1)
    with nogil:
        for k in range(count):
            length = starts[k + 1] - starts[k]
            s = splits[k]
            if kinds[k] == CYCLE:
                terms[k] = length
                rhs[k] = length - 2
                if length < 3 or s != 0:
                    bad = k
            elif kinds[k] == WHEEL:
                terms[k] = 2 * (length - 1)
                rhs[k] = (length - 1) // 2
                if length < 4 or (length - 1) % 2 == 0 or s != 1:
                    bad = k
            elif kinds[k] == TWO_PARTITION:
                terms[k] = length * (length - 1) // 2
                rhs[k] = min(s, length - s)
                if s < 1 or s >= length or length > 4096:
                    bad = k
            elif kinds[k] == GROUP_STAR:
                terms[k] = length - 1
                rhs[k] = 1
                if length < 2 or s != 1:
                    bad = k
            elif kinds[k] == CUT:
                terms[k] = length // 2
                rhs[k] = 0
                if length < 2 or length % 2 or s != 2:
                    bad = k
                    break
                for i in range(starts[k], starts[k + 1]):      # an element may be in several pairs
                    if elements[i] < 0 or elements[i] >= n or (i % 2 == starts[k] % 2 and elements[i] == elements[i + 1]):
                        bad = k
                        break
                if bad >= 0:
                    break
                continue
            elif kinds[k] == GENERAL:
                if s < 2 or length != 2 * s or s > 4096:
                    bad = k
                    break
                total = most = squares = 0
                for i in range(starts[k] + s, starts[k + 1]):
                    if elements[i] > LARGEST_COEFFICIENT or elements[i] < -LARGEST_COEFFICIENT:
                        bad = k
                        break
                    total += elements[i]
                    most += elements[i] if elements[i] > 0 else -elements[i]
                    squares += <offset_t>elements[i] * elements[i]
                terms[k] = (most * most - squares) // 2
                squares -= total if total > 0 else -total      # even, since b * b - b is
                rhs[k] = 0.5 * squares
                if <offset_t>(2 * rhs[k]) < squares:
                    rhs[k] = nextafter(rhs[k], INFINITY)
            else:
                bad = k
            end = starts[k] + s if kinds[k] == GENERAL else starts[k + 1]
            for i in range(starts[k], end):
                if elements[i] < 0 or elements[i] >= n or seen[elements[i]] == k:
                    bad = k
                    break
                seen[elements[i]] = k
            if bad >= 0:
                break
    return terms_array, rhs_array, bad


def expand(const uint8_t[::1] kinds, const offset_t[::1] starts, const element_t[::1] splits, const element_t[::1] elements,
           const offset_t[::1] ends, Py_ssize_t n):
    """The terms of inequalities that passed `sizes`: keys ``a * n + b`` with a < b, and signs; (keys, signs).

    A pair with a coefficient of k is k terms.
    """
    cdef Py_ssize_t k, count = kinds.shape[0], at = 0, i, j, first, last
    cdef offset_t times, t
    cdef signed char sign
    keys_array = empty_int64(ends[count - 1] if count else 0)
    signs_array = empty_int8(len(keys_array))
    cdef offset_t[::1] keys = keys_array
    cdef signed char[::1] signs = signs_array
    with nogil:
        for k in range(count):
            first, last = starts[k], starts[k + 1]
            if kinds[k] == CYCLE:
                for i in range(first, last - 1):
                    keys[at] = key(elements[i], elements[i + 1], n)
                    signs[at] = 1
                    at += 1
                keys[at] = key(elements[first], elements[last - 1], n)
                signs[at] = -1
                at += 1
            elif kinds[k] == WHEEL:
                for i in range(first + 1, last):
                    keys[at] = key(elements[first], elements[i], n)
                    signs[at] = 1
                    keys[at + 1] = key(elements[i], elements[i + 1 if i + 1 < last else first + 1], n)
                    signs[at + 1] = -1
                    at += 2
            elif kinds[k] == GROUP_STAR:
                for i in range(first + 1, last):
                    keys[at] = key(elements[first], elements[i], n)
                    signs[at] = 1
                    at += 1
            elif kinds[k] == CUT:
                for i in range(first, last, 2):
                    keys[at] = key(elements[i], elements[i + 1], n)
                    signs[at] = 1 if i == first else -1
                    at += 1
            elif kinds[k] == GENERAL:
                last = first + splits[k]
                for i in range(first, last):
                    for j in range(i + 1, last):
                        times = -<offset_t>elements[i + splits[k]] * elements[j + splits[k]]
                        sign = 1 if times > 0 else -1
                        for t in range(times if times > 0 else -times):
                            keys[at] = key(elements[i], elements[j], n)
                            signs[at] = sign
                            at += 1
            else:
                for i in range(first, last):
                    for j in range(i + 1, last):
                        keys[at] = key(elements[i], elements[j], n)
                        signs[at] = 1 if (i < first + splits[k]) != (j < first + splits[k]) else -1
                        at += 1
    return keys_array, signs_array


cdef inline offset_t key(element_t a, element_t b, Py_ssize_t n) noexcept nogil:
    return <offset_t>a * n + b if a < b else <offset_t>b * n + a


cdef inline double add_down(double x, double y) noexcept nogil:
    """A double not above x + y: the rounded sum, or the one below if rounding went up."""
    cdef double total = x + y, back, error
    if not isfinite(total):
        return total
    back = total - x
    error = (x - (total - back)) + (y - back)      # exactly x + y - total (Knuth 1969)
    return nextafter(total, -INFINITY) if error < 0 else total


cdef inline double add_up(double x, double y) noexcept nogil:
    return -add_down(-x, -y)


def add_terms(const offset_t[::1] slots, const signed char[::1] signs, const double[::1] values, double[::1] low):
    """``low[slot] += sign * value``, rounded down."""
    cdef Py_ssize_t k
    with nogil:
        for k in range(slots.shape[0]):
            low[slots[k]] = add_down(low[slots[k]], signs[k] * values[k])


def add_values(const offset_t[::1] slots, const double[::1] values, double[::1] low):
    """``low[slot] += value``, rounded down."""
    cdef Py_ssize_t k
    with nogil:
        for k in range(slots.shape[0]):
            low[slots[k]] = add_down(low[slots[k]], values[k])


def sum_down(const double[::1] values, bint negative_only):
    """The sum of all values, or of the negative ones, rounded down."""
    cdef Py_ssize_t k
    cdef double total = 0.0
    with nogil:
        for k in range(values.shape[0]):
            if values[k] < 0 or not negative_only:
                total = add_down(total, values[k])
    return total


def dot_up(const double[::1] x, const double[::1] y):
    """The sum of x * y, rounded up."""
    cdef Py_ssize_t k
    cdef double total = 0.0, product
    with nogil:
        for k in range(x.shape[0]):
            product = x[k] * y[k]
            if fma(x[k], y[k], -product) > 0:
                product = nextafter(product, INFINITY)
            total = add_up(total, product)
    return total


# --------------------------------------------------------------------------------------------------------- background

cdef inline double multiply_down(double x, double y) noexcept nogil:
    """A double not above x * y."""
    cdef double product = x * y
    if product == 0 and (x == 0 or y == 0):
        return 0.0
    if -1e-280 < product < 1e-280:      # the error of the product may underflow
        return nextafter(product, -INFINITY)
    return nextafter(product, -INFINITY) if fma(x, y, -product) < 0 else product


cdef inline double least_product(double x, double x_high, double y, double y_high) noexcept nogil:
    """A double not above the product of any two numbers from x to x_high and from y to y_high."""
    cdef double least = multiply_down(x, y)
    if x != x_high or y != y_high:
        least = min(min(least, multiply_down(x_high, y_high)), min(multiply_down(x, y_high), multiply_down(x_high, y)))
    return least


cdef inline double least_term(double beta, double x, double x_high, double y, double y_high) noexcept nogil:
    if beta >= 0:
        return multiply_down(beta, least_product(x, x_high, y, y_high))
    return multiply_down(-beta, least_product(-x_high, -x, y, y_high))


def background_down(const element_t[::1] a, const element_t[::1] b, const double[::1] beta, const double[:, ::1] x,
                    const double[:, ::1] x_high, const double[:, ::1] y, const double[:, ::1] y_high,
                    const uint8_t[::1] single, const double[::1] start, double[::1] low, double[::1] negative):
    """``low``: a lower bound on the start plus the background of pairs; ``negative``: a bound on its negative terms.

    The weights of element a in term t are from ``x[a, t]`` to ``x_high[a, t]``, and so on.
    """
    cdef Py_ssize_t i, t, side
    cdef element_t p, q
    cdef double value, term
    with nogil:
        for i in range(a.shape[0]):
            value, negative[i] = start[i], 0.0
            for t in range(beta.shape[0]):
                for side in range(1 if single[t] else 2):
                    p = a[i] if side == 0 else b[i]
                    q = b[i] if side == 0 else a[i]
                    value = add_down(value, least_term(beta[t], x[p, t], x_high[p, t], y[q, t], y_high[q, t]))
                    term = -least_term(-beta[t], x[p, t], x_high[p, t], y[q, t], y_high[q, t])
                    if term < 0:
                        negative[i] = add_up(negative[i], term)
            low[i] = value


def groups_down(const element_t[::1] a, const element_t[::1] b, const offset_t[::1] starts, const element_t[::1] group,
                const offset_t[::1] count, const double[::1] price, double[::1] low):
    """Add to `low` the costs of groups that both elements of a pair are members of, rounded down; inf at price inf.

    The groups of an element stand from ``starts[a]`` to ``starts[a + 1]``, in ascending order.
    """
    cdef Py_ssize_t e
    cdef offset_t i, j
    cdef double paid
    with nogil:
        for e in range(a.shape[0]):
            i, j = starts[a[e]], starts[b[e]]
            while i < starts[a[e] + 1] and j < starts[b[e] + 1]:
                if group[i] == group[j]:
                    if price[group[i]] == INFINITY:
                        low[e] = INFINITY
                        break
                    paid = multiply_down(<double>count[i], <double>count[j])
                    low[e] = add_down(low[e], multiply_down(price[group[i]], paid))
                    i += 1
                    j += 1
                elif group[i] < group[j]:
                    i += 1
                else:
                    j += 1


# --------------------------------------------------------------------------------------------------------------- cuts

def first_linked(const offset_t[::1] links, const element_t[::1] neighbours, const offset_t[::1] starts,
                 const element_t[::1] elements):
    """The first cut whose first two elements are still linked by base pairs when its pairs are removed; -1 if none is.

    Base pairs link a to ``neighbours[links[a]:links[a + 1]]``, in ascending order; each is there from both sides.
    Elements are reached from both in turns, until one side has no further element. So the time is in proportion to the
    smaller side.
    """
    cdef Py_ssize_t n = links.shape[0] - 1, k, turn
    cdef element_t a, b, x
    cdef offset_t i, j
    cdef offset_t size[2]
    cdef offset_t head[2]
    cdef bint met
    cdef offset_t[::1] barred = full_int64(neighbours.shape[0] + 1, -1)      # the cut that an arc is in
    cdef offset_t[::1] out = full_int64(n + 1, -1)                           # the cut that takes an element away
    cdef offset_t[:, ::1] seen = np.full((2, n + 1), -1, np.int64)
    cdef element_t[:, ::1] queue = np.empty((2, n + 1), np.int32)
    with nogil:
        for k in range(starts.shape[0] - 1):
            a, b = elements[starts[k]], elements[starts[k] + 1]
            for i in range(starts[k] + 2, starts[k + 1], 2):
                if elements[i] == a or elements[i] == b:
                    out[elements[i + 1]] = k
                elif elements[i + 1] == a or elements[i + 1] == b:
                    out[elements[i]] = k
                else:
                    bar(links, neighbours, barred, elements[i], elements[i + 1], k)
                    bar(links, neighbours, barred, elements[i + 1], elements[i], k)
            for turn in range(2):
                queue[turn, 0] = elements[starts[k] + turn]
                seen[turn, queue[turn, 0]] = k
                head[turn], size[turn] = 0, 1
            met, turn = False, 0
            while not met and head[turn] < size[turn]:
                x = queue[turn, head[turn]]
                head[turn] += 1
                for j in range(links[x], links[x + 1]):
                    b = neighbours[j]
                    if barred[j] == k or out[b] == k or seen[turn, b] == k:
                        continue
                    if seen[1 - turn, b] == k:
                        met = True
                        break
                    seen[turn, b] = k
                    queue[turn, size[turn]] = b
                    size[turn] += 1
                turn = 1 - turn
            if met:
                with gil:
                    return k
    return -1


cdef void bar(const offset_t[::1] links, const element_t[::1] neighbours, offset_t[::1] barred, element_t a, element_t b,
              offset_t k) noexcept nogil:
    """Mark the arc from a to b, if there is one."""
    cdef offset_t low = links[a], high = links[a + 1], middle
    while low < high:
        middle = (low + high) // 2
        if neighbours[middle] < b:
            low = middle + 1
        else:
            high = middle
    if low < links[a + 1] and neighbours[low] == b:
        barred[low] = k
