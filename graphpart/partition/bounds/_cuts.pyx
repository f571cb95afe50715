"""Kernels that find violated inequalities for a matrix of pair variables in [0, 1]."""

import numpy as np

from graphpart.kernels.types cimport element_t, offset_t
from graphpart.stopping cimport Stopping
from libc.math cimport INFINITY

cdef enum:
    MOST = 32
    TENURE = 5


def triangles(const double[:, ::1] y, double tolerance, Stopping stopping):
    """For each pair {b, c} the element a with the largest ``y[a, b] + y[a, c] - y[b, c] - 1``, if more than `tolerance`.

    Returns (triangles as rows b, a, c; violations). O(n^3)
    """
    cdef Py_ssize_t n = y.shape[0], a, b, c, best, found = 0
    cdef double most, s
    cdef const double* row_b
    cdef const double* row_c
    rows_array, amounts_array = np.empty((n * (n - 1) // 2, 3), np.int32), np.empty(n * (n - 1) // 2)
    cdef element_t[:, ::1] rows = rows_array
    cdef double[::1] amounts = amounts_array
    with nogil:
        for b in range(n):
            if stopping.poll(INFINITY):
                break
            row_b = &y[b, 0]
            for c in range(b + 1, n):
                if row_b[c] >= 1.0 - tolerance:
                    continue
                row_c = &y[c, 0]
                most = 1.0 + tolerance + row_b[c]
                best = -1
                for a in range(n):
                    s = row_b[a] + row_c[a]
                    if s > most and a != b and a != c:
                        most = s
                        best = a
                if best >= 0:
                    rows[found, 0], rows[found, 1], rows[found, 2] = <element_t>b, <element_t>best, <element_t>c
                    amounts[found] = most - 1.0 - row_b[c]
                    found += 1
    return rows_array[:found], amounts_array[:found]


def two_partitions(const double[:, ::1] y, double tolerance, int largest, Stopping stopping):
    """2-partition inequalities by local search from S = {s}, T = {t} (after Grötschel & Wakabayashi 1989, 1990).

    With b = -1 on S, 1 on T and 0 elsewhere, ``y(S, T) - y(S) - y(T) - |S|`` rises most by adding an element to S or T,
    or by removing one, which ``h[i] = sum of b[j] y[i, j]`` tells; that is done while it rises. For each s, the elements
    t of a set T that was found are not tried again, and after MOST finds the next s is taken. Triangles are left out, and S and T have at most `largest` elements.
    Returns (starts, splits, elements with S first, violations). O(n) for each step of a search
    """
    cdef Py_ssize_t n = y.shape[0], s, t, i, chosen, turn
    cdef int S, T, side, move, found
    cdef double value, gain, most
    cdef const double* row
    elements, starts, splits, amounts = [], [0], [], []
    cdef double[::1] h = np.empty(n)
    cdef signed char[::1] b = np.zeros(n, np.int8)
    cdef unsigned char[::1] covered = np.zeros(n, np.uint8)
    for s in range(n):
        covered[:] = 0
        found = 0
        for turn in range(1, n):
            t = (s + turn) % n
            if covered[t] or y[s, t] <= tolerance or y[s, t] >= 1.0 - tolerance:
                continue
            if stopping.poll(INFINITY):
                break
            with nogil:
                for i in range(n):
                    b[i] = 0
                    h[i] = y[t, i] - y[s, i]
                b[s], b[t] = -1, 1
                S = T = 1
                value = y[s, t] - 1.0
                while True:
                    most, chosen, move = tolerance, -1, 0
                    for i in range(n):
                        if b[i] == 0:
                            if S + T >= largest:
                                continue
                            gain = h[i]
                            if -gain > most:
                                most, chosen, move = -gain, i, 1
                            elif gain - 1.0 > most:
                                most, chosen, move = gain - 1.0, i, -1
                        elif b[i] == 1:
                            if h[i] > most and T > 1:
                                most, chosen, move = h[i], i, -1
                        elif 1.0 - h[i] > most and S > 1:
                            most, chosen, move = 1.0 - h[i], i, 1
                    if chosen < 0:
                        break
                    value += most
                    if b[chosen] == 0:
                        b[chosen] = move
                        S += move < 0
                        T += move > 0
                    else:
                        S -= b[chosen] < 0
                        T -= b[chosen] > 0
                        b[chosen] = 0
                    row = &y[chosen, 0]
                    for i in range(n):
                        h[i] += move * row[i]
                for i in range(n):
                    if b[i] == 1:
                        covered[i] = 1
                covered[t] = 1
            if value > tolerance and S + T > 3:
                for side in (-1, 1):
                    for i in range(n):
                        if b[i] == side:
                            elements.append(i)
                starts.append(len(elements))
                splits.append(S)
                amounts.append(value + S - min(S, T))
                found += 1
                if found == MOST:
                    break
    return (np.array(starts, np.int64), np.array(splits, np.int32), np.array(elements, np.int32),
            np.array(amounts, np.float64))


def odd_wheels(const double[:, ::1] y, double tolerance, Stopping stopping):
    """Odd wheel inequalities by shortest paths in a doubled graph (Chopra & Rao 1993).

    Around the hub w, a pair {a, b} has the length ``1/2 + y[a, b] - (y[w, a] + y[w, b]) / 2``, not negative where no
    triangle inequality is violated. A cycle of odd length k is violated iff it is shorter than 1/2. Each element has two
    copies and each pair connects unequal copies, so a path from one copy of a to the other is a closed walk of odd
    length; the shortest contains an odd cycle. Elements on one that was found are no more started from.
    Returns (starts, elements with the hub first, violations).
    """
    cdef Py_ssize_t n = y.shape[0], w, i, j, q, a, x, next_x, found
    cdef double least, length, limit = 0.5 - tolerance
    cdef element_t[::1] near = np.empty(n, np.int32)
    cdef double[::1] spoke = np.empty(n)
    cdef double[::1] distance = np.empty(2 * n)
    cdef element_t[::1] before = np.empty(2 * n, np.int32)
    cdef unsigned char[::1] settled = np.empty(2 * n, np.uint8)
    cdef unsigned char[::1] covered = np.empty(n, np.uint8)
    cdef const double* row
    elements, starts, amounts = [], [0], []
    for w in range(n):
        q = 0
        for i in range(n):
            if i != w and y[w, i] > tolerance:
                near[q], spoke[q], covered[q] = i, y[w, i], 0
                q += 1
        for a in range(q if q >= 3 else 0):
            if covered[a]:
                continue
            if stopping.poll(INFINITY):
                break
            with nogil:
                for x in range(2 * q):
                    distance[x], settled[x] = INFINITY, 0
                distance[2 * a] = 0.0
                found = -1
                while True:
                    least, x = limit, -1
                    for i in range(2 * q):
                        if not settled[i] and distance[i] < least:
                            least, x = distance[i], i
                    if x < 0:
                        break
                    if x == 2 * a + 1:
                        found = x
                        break
                    settled[x] = 1
                    i = x // 2
                    row = &y[near[i], 0]
                    for j in range(q):
                        if j != i:
                            length = 0.5 + row[near[j]] - 0.5 * (spoke[i] + spoke[j])
                            length = least + (length if length > 0 else 0.0)
                            next_x = 2 * j + 1 - x % 2
                            if length < limit and length < distance[next_x]:
                                distance[next_x], before[next_x] = length, <element_t>x
            if found < 0:
                continue
            walk = [found // 2]
            while x != 2 * a:
                x = before[x]
                walk.append(x // 2)
            rim = _odd_cycle(walk)
            for i in rim:
                covered[i] = 1
            elements.append(w)
            elements.extend([near[i] for i in rim])
            starts.append(len(elements))
            length = -0.5 * (len(rim) - 1)
            j = rim[len(rim) - 1]
            for i in rim:
                length += spoke[i] - y[near[i], near[j]]
                j = i
            amounts.append(length)
    return np.array(starts, np.int64), np.array(elements, np.int32), np.array(amounts, np.float64)


def _odd_cycle(walk):
    """A cycle of odd length within a closed walk of odd length, whose first and last element are the same."""
    cycle, place = [], {}
    for a in walk:
        if a in place:
            start = place[a]
            if (len(cycle) - start) % 2:
                return cycle[start:]
            for b in cycle[start:]:
                del place[b]
            del cycle[start:]
        place[a] = len(cycle)
        cycle.append(a)
    raise AssertionError("no odd cycle")


def near_two_partitions(const double[:, ::1] y, const offset_t[::1] starts, const element_t[::1] splits,
                        const element_t[::1] elements, double tolerance, int largest, int steps, Stopping stopping):
    """2-partition inequalities by tabu search from given ones, for a matrix with 1 on its diagonal.

    For b as in `two_partitions`, the sum of b less ``b' Y b`` is twice the violation, if it is not negative. A step adds
    1 to an element of b, or takes 1 away, whichever raises that most or lowers it least, but not where one of the last
    few steps did. Of `steps` of these, that with the largest violation for its size is returned: (starts, splits, elements with S first,
    violations). O(n) for each step
    """
    cdef Py_ssize_t n = y.shape[0], k, i, chosen, found = 0, room = 0
    cdef int step, move, size, total
    cdef double value, gain, most, best
    cdef const double* row
    cdef double[::1] h = np.empty(n)
    cdef signed char[::1] b = np.zeros(n, np.int8), best_b = np.zeros(n, np.int8)
    cdef int[::1] free_at = np.zeros(n, np.intc)
    count = splits.shape[0]
    starts_array, splits_array, amounts_array = np.zeros(count + 1, np.int64), np.empty(count, np.int32), np.empty(count)
    elements_array = np.empty(count * min(largest, n), np.int32)
    cdef offset_t[::1] out_starts = starts_array
    cdef element_t[::1] out_splits = splits_array, out = elements_array
    cdef double[::1] amounts = amounts_array
    with nogil:
        for k in range(splits.shape[0]):
            if stopping.poll(INFINITY):
                break
            for i in range(n):
                b[i] = 0
                h[i] = 0.0
                free_at[i] = 0
            size = total = 0
            value = 0.0
            for i in range(starts[k], starts[k + 1]):
                move = -1 if i < starts[k] + splits[k] else 1
                b[elements[i]] = move
                size += 1
                total += move
                row = &y[elements[i], 0]
                if move > 0:
                    for chosen in range(n):
                        h[chosen] += row[chosen]
                else:
                    for chosen in range(n):
                        h[chosen] -= row[chosen]
            for i in range(starts[k], starts[k + 1]):
                value -= b[elements[i]] * h[elements[i]]
            value += total
            best = 0.0
            room = 0
            for step in range(1, steps + 1):
                most, chosen, move = -INFINITY, -1, 0
                for i in range(n):
                    if free_at[i] > step:
                        continue
                    if b[i] < 1 and (b[i] < 0 or size < largest):
                        gain = -2.0 * h[i]
                        if gain > most:
                            most, chosen, move = gain, i, 1
                    if b[i] > -1 and (b[i] > 0 or size < largest):
                        gain = 2.0 * h[i] - 2.0
                        if gain > most:
                            most, chosen, move = gain, i, -1
                if chosen < 0:
                    break
                value += most
                size += 1 if b[chosen] == 0 else -1
                total += move
                b[chosen] += move
                free_at[chosen] = step + TENURE
                row = &y[chosen, 0]
                if move > 0:
                    for i in range(n):
                        h[i] += row[i]
                else:
                    for i in range(n):
                        h[i] -= row[i]
                if value > best * size and value > 2.0 * tolerance and total >= 0 and 3 < size <= largest:
                    best = value / size
                    amounts[found] = 0.5 * value
                    room = 1
                    for i in range(n):
                        best_b[i] = b[i]
            if room:
                room = out_starts[found]
                size = 0
                for move in range(-1, 2, 2):
                    for i in range(n):
                        if best_b[i] == move:
                            out[room] = <element_t>i
                            room += 1
                            size += move < 0
                out_splits[found] = size
                found += 1
                out_starts[found] = room
    return starts_array[:found + 1], splits_array[:found], elements_array[:starts_array[found]], amounts_array[:found]
