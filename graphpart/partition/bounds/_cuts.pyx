"""Kernels that find violated inequalities for a matrix of pair variables in [0, 1].

Both searches for 2-partitions keep ``g[i] = sum of b[j] y[i, j], less 1/2``, with y = 1 on the diagonal, b = -1 on S, 1 on T
and 0 elsewhere. Adding element i to T if g[i] < 0, and to S otherwise, changes the violation by ``|g[i]| - 1/2``.
Removing i changes it by ``b[i] g[i] - 1/2``. The searches compute with whole multiples of ``1 / ONE``, for which vector
instructions are fast. Violations are recomputed in double precision.
"""

import numpy as np

from graphpart.kernels._arrays cimport empty_float64, empty_int32, empty_uint8, zeros_int64, zeros_int8, zeros_uint8
from graphpart.kernels.clones cimport GP_CLONED  # and its macros
from graphpart.kernels.types cimport element_t, offset_t
from graphpart.stopping cimport Stopping
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t

cdef enum:
    MOST = 32
    TENURE = 5
    BLOCK = 32           # number of elements processed together; the length of a row is a multiple of this
    ONE = 1 << 22
    HALF = 1 << 21
    BLOCKED = 1 << 30    # larger than any |g|
    ELEMENTS = 200       # most elements of a 2-partition, so that no |g| exceeds BLOCKED

cdef extern from *:
    """
    /* Adds a row to g, or subtracts it. Returns the largest of |g[i]| - blocked[i], and where it is. */
    GP_CLONES
    static int32_t gp_shift(int32_t *GP_RESTRICT g, const int32_t *GP_RESTRICT row, int32_t move,
                            const int32_t *GP_RESTRICT blocked, ptrdiff_t blocks, ptrdiff_t *at) {
        const int32_t sign = move < 0 ? -1 : 0;
        int32_t most = INT32_MIN;
        ptrdiff_t block = 0;
        for (ptrdiff_t k = 0; k < blocks; k++) {
            int32_t top = INT32_MIN;
            for (int i = 0; i < 32; i++) {
                const int32_t value = g[32 * k + i] + ((row[32 * k + i] ^ sign) - sign);
                const int32_t room = (value < 0 ? -value : value) - blocked[32 * k + i];
                g[32 * k + i] = value;
                top = room > top ? room : top;
            }
            block = top > most ? k : block;
            most = top > most ? top : most;
        }
        for (*at = 32 * block; ; ++*at) {
            const int32_t value = g[*at];
            if ((value < 0 ? -value : value) - blocked[*at] == most)
                return most;
        }
    }

    /* Where the sum of two rows is largest, if that is more than `least`; else -1. */
    GP_CLONES
    static ptrdiff_t gp_most(const int32_t *one, const int32_t *other, ptrdiff_t blocks, int32_t least) {
        int32_t most = least;
        ptrdiff_t block = -1;
        for (ptrdiff_t k = 0; k < blocks; k++) {
            int32_t top = INT32_MIN;
            for (int i = 0; i < 32; i++) {
                const int32_t sum = one[32 * k + i] + other[32 * k + i];
                top = sum > top ? sum : top;
            }
            block = top > most ? k : block;
            most = top > most ? top : most;
        }
        if (block < 0)
            return -1;
        for (block *= 32; one[block] + other[block] != most; block++)
            ;
        return block;
    }
    """
    Py_ssize_t gp_most(const int32_t* one, const int32_t* other, Py_ssize_t blocks, int32_t least) noexcept nogil
    int32_t gp_shift(int32_t* g, const int32_t* row, int32_t move, const int32_t* blocked, Py_ssize_t blocks,
                     Py_ssize_t* at) noexcept nogil


def _fixed(const double[:, ::1] y):
    """The matrix in multiples of 1 / ONE, with 1 on the diagonal, and 0 up to the end of each row's last block.

    Values outside of [0, 1] are clipped, and NaN becomes 0, so that no sum is larger than BLOCKED.
    """
    n = y.shape[0]
    out = np.zeros((n, (n + BLOCK - 1) // BLOCK * BLOCK), np.int32)
    out[:, :n] = np.rint(np.fmin(np.fmax(y, 0.0), 1.0) * <double>ONE)
    np.fill_diagonal(out, ONE)
    return out


cdef double violation(const double[:, ::1] y, const element_t* members, int size, const signed char* b) noexcept nogil:
    """``y(S, T) - y(S) - y(T) - min(|S|, |T|)``."""
    cdef double value = 0.0
    cdef int i, j, S = 0
    for i in range(size):
        S += b[members[i]] < 0
        for j in range(i):
            value -= b[members[i]] * b[members[j]] * y[members[i], members[j]]
    return value - min(S, size - S)


def triangles(const double[:, ::1] y, double tolerance, Stopping stopping):
    """For each pair {b, c} the element a with the largest ``y[a, b] + y[a, c] - y[b, c] - 1``, if more than `tolerance`.

    Returns (triangles as rows b, a, c; violations). Sums are compared in multiples of 1 / ONE. O(n^3)
    """
    cdef Py_ssize_t n = y.shape[0], blocks = (n + BLOCK - 1) // BLOCK, b, c, best, found = 0
    cdef double amount
    cdef int32_t above = <int32_t>((1.0 + tolerance) * ONE) - 2  # above 0, the value of padding columns
    fixed = _fixed(y)
    np.fill_diagonal(fixed, -BLOCKED)  # a is neither b nor c
    cdef int32_t[:, ::1] W = fixed
    rows_array, amounts_array = np.empty((n * (n - 1) // 2, 3), np.int32), empty_float64(n * (n - 1) // 2)
    cdef element_t[:, ::1] rows = rows_array
    cdef double[::1] amounts = amounts_array
    with nogil:
        for b in range(n):
            if stopping.poll(INFINITY):
                break
            for c in range(b + 1, n):
                if y[b, c] >= 1.0 - tolerance:
                    continue
                best = gp_most(&W[b, 0], &W[c, 0], blocks, W[b, c] + above)
                if best < 0:
                    continue
                amount = y[b, best] + y[c, best] - 1.0 - y[b, c]
                if amount > tolerance:
                    rows[found, 0], rows[found, 1], rows[found, 2] = <element_t>b, <element_t>best, <element_t>c
                    amounts[found] = amount
                    found += 1
    return rows_array[:found], amounts_array[:found]


def two_partitions(const double[:, ::1] y, double tolerance, int largest, Stopping stopping):
    """2-partition inequalities by local search from S = {s}, T = {t} (after Grötschel & Wakabayashi 1989, 1990).

    Each step adds or removes the element that raises ``y(S, T) - y(S) - y(T) - |S|`` most, while this rise is more than
    `tolerance`. For each s, the elements t of a found set T are not tried again. After MOST finds, the next s follows.
    Triangles are left out, and S and T have at most `largest` elements. Returns (starts, splits, elements with S first,
    violations). O(n) for each step of a search
    """
    cdef Py_ssize_t n = y.shape[0], blocks = (n + BLOCK - 1) // BLOCK, s, t, i, chosen, turn
    cdef int size, S, side, move, found, first
    cdef int32_t room, gain, most, least = <int32_t>(tolerance * ONE) + 1
    cdef double amount
    elements, starts, splits, amounts = [], [0], [], []
    cdef int32_t[:, ::1] W = _fixed(y)
    cdef int32_t[::1] g = empty_int32(blocks * BLOCK), blocked = empty_int32(blocks * BLOCK)
    cdef signed char[::1] b = zeros_int8(n)
    cdef element_t[::1] members = empty_int32(max(n, 2))
    cdef unsigned char[::1] covered = zeros_uint8(n)
    largest = min(largest, ELEMENTS)
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
                for i in range(blocks * BLOCK):
                    g[i], blocked[i] = -HALF, 0 if i < n else BLOCKED
                for i in range(n):
                    b[i] = 0
                b[s], b[t], blocked[s], blocked[t], members[0], members[1] = -1, 1, BLOCKED, BLOCKED, s, t
                S, size = 1, 2
                gp_shift(&g[0], &W[s, 0], -1, &blocked[0], blocks, &chosen)
                room = gp_shift(&g[0], &W[t, 0], 1, &blocked[0], blocks, &chosen)
                while True:
                    most, first = room - HALF, -1
                    if size >= largest or most < least:
                        most, chosen = least - 1, -1
                    for i in range(size):
                        if S > 1 if b[members[i]] < 0 else size - S > 1:
                            gain = b[members[i]] * g[members[i]] - HALF
                            if gain > most:
                                most, first = gain, i
                    if first >= 0:
                        chosen = members[first]
                        move = -b[chosen]
                        S -= move > 0
                        size -= 1
                        members[first] = members[size]
                        b[chosen], blocked[chosen] = 0, 0
                    elif chosen >= 0:
                        move = 1 if g[chosen] < 0 else -1
                        S += move < 0
                        members[size] = chosen
                        size += 1
                        b[chosen], blocked[chosen] = move, BLOCKED
                    else:
                        break
                    room = gp_shift(&g[0], &W[chosen, 0], move, &blocked[0], blocks, &chosen)
                for i in range(size):
                    if b[members[i]] > 0:
                        covered[members[i]] = 1
                covered[t] = 1
                amount = violation(y, &members[0], size, &b[0])
            # The search raised y(S, T) - y(S) - y(T) - |S|, which is at most the violation; it must exceed the
            # tolerance.
            if size > 3 and amount + min(S, size - S) - S > tolerance:
                for side in (-1, 1):
                    for i in range(n):
                        if b[i] == side:
                            elements.append(i)
                starts.append(len(elements))
                splits.append(S)
                amounts.append(amount)
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
    length; the shortest one contains an odd cycle. Elements of a found cycle are not used as starts again.
    Returns (starts, elements with the hub first, violations).
    """
    cdef Py_ssize_t n = y.shape[0], w, i, j, q, a, x, next_x, found
    cdef double least, length, limit = 0.5 - tolerance
    cdef element_t[::1] near = empty_int32(n)
    cdef double[::1] spoke = empty_float64(n)
    cdef double[::1] distance = empty_float64(2 * n)
    cdef element_t[::1] before = empty_int32(2 * n)
    cdef unsigned char[::1] settled = empty_uint8(2 * n)
    cdef unsigned char[::1] covered = empty_uint8(n)
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
    """2-partition inequalities by tabu search from given ones of at most ELEMENTS elements.

    A step adds an element to S or T, or removes one: the change that raises ``y(S, T) - y(S) - y(T) - |S|`` most or
    lowers it least. Elements that one of the last few steps added or removed are excluded. After `steps` steps, the
    inequality with the largest violation for its size is returned: (starts, splits, elements with S first, violations).
    O(n) for each step
    """
    cdef Py_ssize_t n = y.shape[0], blocks = (n + BLOCK - 1) // BLOCK, k, i, chosen, at
    cdef int step, move, size, total, best_size, place, S, found = 0
    cdef int32_t room = 0, gain, most
    cdef int64_t value
    cdef double best, amount
    cdef int32_t[:, ::1] W = _fixed(y)
    cdef int32_t[::1] g = empty_int32(blocks * BLOCK), blocked = empty_int32(blocks * BLOCK)
    cdef signed char[::1] b = zeros_int8(n), best_b = zeros_int8(n)
    cdef element_t[::1] members = empty_int32(n), best_members = empty_int32(n)
    cdef int[::1] free_at = np.zeros(n, np.intc)
    cdef Py_ssize_t[TENURE] moved
    count = splits.shape[0]
    largest = min(largest, ELEMENTS, n)
    starts_array, splits_array, amounts_array = zeros_int64(count + 1), empty_int32(count), empty_float64(count)
    elements_array = empty_int32(count * largest)
    cdef offset_t[::1] out_starts = starts_array
    cdef element_t[::1] out_splits = splits_array, out = elements_array
    cdef double[::1] amounts = amounts_array
    with nogil:
        for k in range(splits.shape[0]):
            if stopping.poll(INFINITY):
                break
            size = <int>(starts[k + 1] - starts[k])
            if size > ELEMENTS:
                continue
            for i in range(blocks * BLOCK):
                g[i], blocked[i] = -HALF, 0 if i < n else BLOCKED
            for i in range(n):
                b[i], free_at[i] = 0, 0
            for i in range(size):
                members[i] = elements[starts[k] + i]
                b[members[i]] = -1 if i < splits[k] else 1
                blocked[members[i]] = BLOCKED
            for i in range(size):
                room = gp_shift(&g[0], &W[members[i], 0], b[members[i]], &blocked[0], blocks, &at)
            total = size - 2 * splits[k]
            value = total * <int64_t>ONE  # twice the violation
            for i in range(size):
                value -= b[members[i]] * (g[members[i]] + HALF)
            for i in range(TENURE):
                moved[i] = -1
            best, best_size = 0.0, 0
            for step in range(1, steps + 1):
                place, most = -1, -BLOCKED
                if size < largest and room >= 0:
                    most = room - HALF
                for i in range(size):
                    if free_at[members[i]] <= step:
                        gain = b[members[i]] * g[members[i]] - HALF
                        if gain > most:
                            most, place = gain, <int>i
                if most == -BLOCKED:
                    break
                value += 2 * most
                if place >= 0:
                    chosen = members[place]
                    move = -b[chosen]
                    size -= 1
                    members[place] = members[size]
                    b[chosen] = 0
                else:
                    chosen = at
                    move = 1 if g[chosen] < 0 else -1
                    members[size] = <element_t>chosen
                    size += 1
                    b[chosen] = move
                total += move
                blocked[chosen], free_at[chosen], moved[step % TENURE] = BLOCKED, step + TENURE, chosen
                i = moved[(step + 1) % TENURE]
                if i >= 0 and b[i] == 0:
                    blocked[i] = 0
                room = gp_shift(&g[0], &W[chosen, 0], move, &blocked[0], blocks, &at)
                if value > best * size and value > 2 * tolerance * ONE and total >= 0 and 3 < size <= largest:
                    best, best_size = <double>value / size, size
                    for i in range(size):
                        best_members[i] = members[i]
                        best_b[i] = b[members[i]]
            if best_size:
                for i in range(n):
                    b[i] = 0
                for i in range(best_size):
                    b[best_members[i]] = best_b[i]
                amount = violation(y, &best_members[0], best_size, &b[0])
                if not amount > tolerance:  # violated by rounding only, or NaN
                    continue
                at, S = out_starts[found], 0
                for move in range(-1, 2, 2):
                    for i in range(n):
                        if b[i] == move:
                            out[at] = <element_t>i
                            at += 1
                            S += move < 0
                amounts[found], out_splits[found] = amount, S
                found += 1
                out_starts[found] = at
    return starts_array[:found + 1], splits_array[:found], elements_array[:starts_array[found]], amounts_array[:found]
