# Whether pairs are as they should be, and their lexicographic order; `_pairs` includes this file.

cdef enum:
    DIGIT = 11          # bits of a digit
    BUCKETS = 1 << 10   # at most
    IN_BUCKET = 1 << 13  # pairs of a bucket, if BUCKETS are enough


cdef struct KeyedCost:
    uint64_t key    # smaller element within its bucket, larger element, and whether the pair is lifted
    cost_t cost


def first_bad_pair(
    Py_ssize_t n, const index_t[::1] u, const index_t[::1] v, const cost_t[::1] cost
) -> tuple[int, int, bool]:
    """(position, what): the first pair that is out of range (0), a self-loop (1) or NaN (2); (-1, 0) if none.

    A third value says whether the pairs are sorted and unique with u < v. Of many, two threads take half each.
    """
    cdef Py_ssize_t m = u.shape[0]
    parts = [partial(_first_bad_pair, *half, n, u, v, cost) for half in ((0, m // 2), (m // 2, m))]
    first, second = side_by_side(*parts, worth=m >= MANY)
    return first if first[0] >= 0 else (*second[:2], first[2] and second[2])


def _first_bad_pair(
    Py_ssize_t begin, Py_ssize_t end, Py_ssize_t n, const index_t[::1] u, const index_t[::1] v, const cost_t[::1] cost
):
    """The same for pairs from `begin` to `end`, the first of which is compared with the one before it."""
    cdef Py_ssize_t k
    cdef int wrong = -1
    cdef bint ascending = True
    with nogil:
        for k in range(begin, end):
            if u[k] < 0 or v[k] < 0 or u[k] >= n or v[k] >= n:
                wrong = 0
            elif u[k] == v[k]:
                wrong = 1
            elif isnan(cost[k]):
                wrong = 2
            elif u[k] > v[k] or (k > 0 and (u[k] < u[k - 1] or (u[k] == u[k - 1] and v[k] <= v[k - 1]))):
                ascending = False
            if wrong >= 0:
                break
    if wrong >= 0:
        return k, wrong, False
    return -1, 0, ascending


def sort_pairs(
    Py_ssize_t n, const index_t[::1] u, const index_t[::1] v, const cost_t[::1] cost, const uint8_t[::1] lifted=None
):
    """The same pairs with u < v, in lexicographic order, costs of equal pairs added up in the given order. O(n + m).

    Pairs are put into buckets of consecutive smaller elements, and each bucket, which fits into the processor's cache
    unless few smaller elements have most of the pairs, is sorted digit by digit (radix sort). Two threads take half of the pairs each, then half of the buckets. A fourth
    value says whether a sum overflowed. With a flag for each pair, a fifth value has the flags of the sorted pairs: 1 if
    those of all equal pairs are 1. A sixth value is 1 for the smaller element of each pair that was given repeatedly.
    """
    cdef Py_ssize_t m = u.shape[0], k, part, half = 0, buckets
    cdef int shift = 0, bits = 0
    cdef offset_t at = 0, kept = 0, size
    cdef bint flagged = lifted is not None
    while (n - 1) >> shift >= max(1, min(<Py_ssize_t>BUCKETS, m // IN_BUCKET)):
        shift += 1
    while (n - 1) >> bits > 0:
        bits += 1
    buckets = ((n - 1) >> shift) + 1
    cdef offset_t[:, ::1] place = np.zeros((2, buckets), np.int64)
    cdef offset_t[::1] begin = empty_int64(buckets + 1), end = empty_int64(buckets)
    low_array, high_array, cost_array = empty_int32(m), empty_int32(m), empty_float64(m)
    cdef element_t[::1] lows = low_array, highs = high_array
    cdef cost_t[::1] costs = cost_array
    flag_array, again = empty_uint8(m if flagged else 0), zeros_uint8(n)
    cdef uint8_t[::1] flags = flag_array

    def both(function, middle, end, *arguments):
        calls = [partial(function, 0, 0, middle, *arguments), partial(function, 1, middle, end, *arguments)]
        return side_by_side(*calls, worth=m >= 2**18)

    both(_count_buckets, m // 2, m, u, v, shift, place)
    with nogil:
        for k in range(buckets):
            begin[k] = at
            for part in range(2):
                size = place[part, k]
                place[part, k] = at
                at += size
            half += at <= m // 2
        begin[buckets] = at
    both(_put_into_buckets, m // 2, m, u, v, cost, lifted, shift, place, lows, highs, costs, flags)
    found = both(_sort_buckets, half, buckets, shift, bits, begin, end, lows, highs, costs, flags, again)
    with nogil:
        for k in range(buckets):
            size = end[k] - begin[k]
            if kept < begin[k] and size > 0:
                memmove(&lows[kept], &lows[begin[k]], size * sizeof(element_t))
                memmove(&highs[kept], &highs[begin[k]], size * sizeof(element_t))
                memmove(&costs[kept], &costs[begin[k]], size * sizeof(cost_t))
                if flagged:
                    memmove(&flags[kept], &flags[begin[k]], size)
            kept += size
    if kept < m:    # shrunk in place: a view would keep the longer arrays alive, and a copy needs twice the memory
        lows = highs = costs = None
        flags = None
        for array in (low_array, high_array, cost_array) + ((flag_array,) if flagged else ()):
            array.resize(kept, refcheck=False)
    return low_array, high_array, cost_array, any(found), flag_array if flagged else None, again


def _count_buckets(
    Py_ssize_t part, Py_ssize_t begin, Py_ssize_t end, const index_t[::1] u, const index_t[::1] v, int shift,
    offset_t[:, ::1] count
):
    cdef Py_ssize_t k
    with nogil:
        for k in range(begin, end):
            count[part, min(u[k], v[k]) >> shift] += 1


def _put_into_buckets(
    Py_ssize_t part, Py_ssize_t begin, Py_ssize_t end, const index_t[::1] u, const index_t[::1] v,
    const cost_t[::1] cost, const uint8_t[::1] lifted, int shift, offset_t[:, ::1] place,
    element_t[::1] lows, element_t[::1] highs, cost_t[::1] costs, uint8_t[::1] flags
):
    """Put pairs from `begin` to `end` into buckets by their smaller element, each at the next place of this part."""
    cdef Py_ssize_t k
    cdef index_t low
    cdef offset_t at
    cdef bint flagged = lifted is not None
    with nogil:
        for k in range(begin, end):
            low = min(u[k], v[k])
            at = place[part, low >> shift]
            place[part, low >> shift] += 1
            lows[at] = <element_t>low
            highs[at] = <element_t>max(u[k], v[k])
            costs[at] = cost[k]
            if flagged:
                flags[at] = lifted[k]


def _sort_buckets(
    Py_ssize_t part, Py_ssize_t first, Py_ssize_t last, int shift, int bits, const offset_t[::1] begin,
    offset_t[::1] end, element_t[::1] lows, element_t[::1] highs, cost_t[::1] costs, uint8_t[::1] flags,
    uint8_t[::1] again
):
    """Sort the pairs of each bucket, and make equal ones one; `end` is where they end then. Whether a sum overflowed."""
    cdef Py_ssize_t k, i, size, largest = 0
    cdef offset_t to
    cdef uint64_t low, high, before, mask = (<uint64_t>1 << bits) - 1
    cdef bint overflow = False, flagged = flags.shape[0] > 0
    cdef double x
    cdef KeyedCost* pairs
    for k in range(first, last):
        largest = max(largest, begin[k + 1] - begin[k])
    cdef KeyedCost* room = <KeyedCost*>malloc((2 * largest + 1) * sizeof(KeyedCost))
    if room == NULL:
        raise MemoryError()
    with nogil:
        for k in range(first, last):
            to = begin[k]
            size = begin[k + 1] - to
            for i in range(size):
                low = <uint64_t>(lows[to + i] - (k << shift))
                room[i].key = (low << bits | <uint64_t>highs[to + i]) << 1 | (flags[to + i] if flagged else 0)
                room[i].cost = costs[to + i]
            pairs = sorted_by_digits(room, room + largest, size, shift + bits)
            before = -1
            for i in range(size):
                high = pairs[i].key >> 1 & mask
                low = (pairs[i].key >> (bits + 1)) + (<uint64_t>k << shift)
                if pairs[i].key >> 1 == before:
                    x = costs[to - 1] + pairs[i].cost
                    if isinf(x) and isfinite(costs[to - 1]) and isfinite(pairs[i].cost):
                        overflow = True
                    costs[to - 1] = x
                    if flagged:
                        flags[to - 1] &= pairs[i].key & 1
                    again[low] = 1
                else:
                    lows[to] = <element_t>low
                    highs[to] = <element_t>high
                    costs[to] = pairs[i].cost
                    if flagged:
                        flags[to] = pairs[i].key & 1
                    before = pairs[i].key >> 1
                    to += 1
            end[k] = to
    free(room)
    return overflow


cdef KeyedCost* sorted_by_digits(KeyedCost* pairs, KeyedCost* other, Py_ssize_t size, int bits) noexcept nogil:
    """Sort by `bits` bits of the keys above the lowest one, stably; returns where the sorted pairs are, of both places."""
    cdef offset_t count[1 << DIGIT]
    cdef int passes = (bits + DIGIT - 1) // DIGIT, width, step, at, digit
    cdef Py_ssize_t i, sum, next
    cdef KeyedCost* swap
    if size < 2 or passes == 0:
        return pairs
    width = (bits + passes - 1) // passes
    for step in range(passes):
        at = 1 + step * width
        memset(count, 0, sizeof(offset_t) << width)
        for i in range(size):
            count[pairs[i].key >> at & ((1 << width) - 1)] += 1
        sum = 0
        for digit in range(1 << width):
            next = sum + count[digit]
            count[digit] = sum
            sum = next
        for i in range(size):
            digit = <int>(pairs[i].key >> at & ((1 << width) - 1))
            other[count[digit]] = pairs[i]
            count[digit] += 1
        swap = pairs
        pairs = other
        other = swap
    return pairs
