# Constraints on subsets beside the costs of pairs: groups of elements, a largest size, and limits of their number.
#
# Each pair of members of a group that are in one subset costs the price of the group. A group of price inf is hard: a
# subset has at most one of its members. The groups of elements are stored in compressed rows. An element that stands
# for several others has a count for each of its groups, and a size. A hash table holds the number of members for each
# subset and group. Its memory is in proportion to the number of elements, not of pairs. The cost of an element with a
# subset follows from the counts of the element's groups. This cost never falls when the subset grows. It is inf, or
# NONE in fixed point, if a hard group or the largest size forbids the subset. In fixed point, prices are integers, so
# sums are exact in any order. The limits of the number of subsets are stored here, but kernels count the subsets.
from libc.math cimport INFINITY
from libc.stdint cimport INT64_MAX, int64_t, uint64_t
from libc.string cimport memset

from graphpart.kernels._arrays cimport zeros_int64
from graphpart.kernels.fixed cimport fixed, fixed_t
from graphpart.kernels.hash_set cimport HashSet, hash_set_clear, hash_set_count, hash_set_counts, hash_set_has, hash_set_raise
from graphpart.kernels.types cimport cost_t, element_t, offset_t


cdef struct Groups:
    bint any                    # whether there are any constraints
    Py_ssize_t entries          # number of entries of the rows; 0 without groups
    const offset_t* starts
    const element_t* group      # ascending for each element
    const int64_t* count
    const cost_t* price
    HashSet members             # number of members for each subset and group
    int64_t max_size            # largest size of a subset; 0 if sizes are not limited
    const int64_t* sizes        # size of each element
    int64_t* load               # size of each subset
    bint limited                # whether the number of subsets is limited: from `least` to `most`
    Py_ssize_t least
    Py_ssize_t most
    # In joining only, see below:
    element_t* alias
    element_t* kinds
    offset_t* first
    offset_t* last
    offset_t* after


cdef inline list take_groups(Groups* s, terms, Py_ssize_t subsets):
    """Point to the groups and sizes of `Terms` of sums.py, or None; returns the objects that have to be kept alive."""
    cdef const offset_t[::1] starts
    cdef const element_t[::1] group
    cdef const int64_t[::1] count, size
    cdef const cost_t[::1] price
    cdef int64_t[::1] load, counts
    cdef uint64_t[::1] slots
    cdef list kept = []
    cdef int bits = 4
    import numpy as np

    memset(s, 0, sizeof(Groups))
    s.least, s.most = 1, subsets
    if terms is None:
        return kept
    if terms.groups is not None and len(terms.groups):
        starts, group, count, price = terms.groups.starts, terms.groups.group, terms.groups.count, terms.groups.price
        s.entries = group.shape[0]
        while (<Py_ssize_t>1 << bits) < 2 * (s.entries + 1):
            bits += 1
        slots, counts = np.zeros(1 << bits, np.uint64), zeros_int64(1 << bits)
        hash_set_counts(&s.members, &slots[0], &counts[0], bits)
        s.starts, s.group, s.count, s.price = &starts[0], &group[0], &count[0], &price[0]
        kept += [starts, group, count, price, slots, counts]
    if terms.max_size and len(terms.sizes):
        size, load = terms.sizes, zeros_int64(subsets)
        s.max_size, s.sizes, s.load = terms.max_size, &size[0], &load[0]
        kept += [size, load]
    s.limited = terms.least > 1 or terms.most > 0
    s.least, s.most = terms.least, terms.most or subsets
    s.any = s.entries > 0 or s.max_size > 0 or s.limited
    return kept


cdef inline uint64_t group_key(element_t U, element_t g) noexcept nogil:
    return (<uint64_t>U << 32 | <uint64_t>g) + 1


cdef inline int64_t groups_counted(const Groups* s, element_t a, offset_t i) noexcept nogil:
    """What an element adds to the number of members; in a hard group, where there is one, the number is its name plus 1."""
    return <int64_t>a + 1 if s.price[s.group[i]] == INFINITY else s.count[i]


cdef inline element_t groups_holder(const Groups* s, element_t a, element_t U) noexcept nogil:
    """The only element that forbids a subset to a; -1 if there is none, or if several do."""
    cdef offset_t i
    cdef int64_t found = 0, other
    for i in range(s.starts[a], s.starts[a + 1]):
        if s.price[s.group[i]] == INFINITY:
            other = hash_set_count(&s.members, group_key(U, s.group[i]))
            if other and found and other != found:
                return -1
            if other:
                found = other
    return <element_t>(found - 1)


cdef inline void groups_add(Groups* s, element_t a, element_t U, int sign) noexcept nogil:
    """Count an element in a subset, or no longer with the sign -1."""
    cdef offset_t i
    if s.entries:
        for i in range(s.starts[a], s.starts[a + 1]):
            hash_set_raise(&s.members, group_key(U, s.group[i]), sign * groups_counted(s, a, i))
    if s.max_size:
        s.load[U] += sign * s.sizes[a]


cdef inline void groups_clear(Groups* s, Py_ssize_t subsets) noexcept nogil:
    if s.entries:
        hash_set_clear(&s.members)
    if s.max_size:
        memset(s.load, 0, subsets * sizeof(int64_t))


cdef inline bint groups_full(const Groups* s, element_t a, element_t U) noexcept nogil:
    """Whether a subset has no room for an element that is not in it."""
    return s.max_size > 0 and s.load[U] + s.sizes[a] > s.max_size


cdef inline bint groups_were_full(const Groups* s, element_t a, element_t gone, element_t U) noexcept nogil:
    """Whether a subset had no room for an element before another one left it."""
    return s.max_size > 0 and s.load[U] + s.sizes[gone] + s.sizes[a] > s.max_size


cdef inline double groups_at(const Groups* s, element_t a, element_t U, bint inside) noexcept nogil:
    """The cost of an element with a subset, inf if this is forbidden; `inside` if the element is part of the subset."""
    cdef double sum = 0.0
    cdef int64_t others
    cdef offset_t i
    if not inside and groups_full(s, a, U):
        return INFINITY
    if s.entries:
        for i in range(s.starts[a], s.starts[a + 1]):
            if s.price[s.group[i]] == INFINITY:
                if not inside and hash_set_has(&s.members, group_key(U, s.group[i])):
                    return INFINITY
                continue
            others = hash_set_count(&s.members, group_key(U, s.group[i]))
            if inside:
                others -= s.count[i]
            sum += s.price[s.group[i]] * (<double>s.count[i] * <double>others)
    return sum


cdef inline fixed_t groups_fixed(
    const Groups* s, element_t a, element_t U, bint inside, double scale
) noexcept nogil:
    """The same in fixed point, NONE if it is forbidden."""
    cdef fixed_t sum = 0
    cdef int64_t others
    cdef offset_t i
    if not inside and groups_full(s, a, U):
        return INT64_MAX
    if s.entries:
        for i in range(s.starts[a], s.starts[a + 1]):
            if s.price[s.group[i]] == INFINITY:
                if not inside and hash_set_has(&s.members, group_key(U, s.group[i])):
                    return INT64_MAX
                continue
            others = hash_set_count(&s.members, group_key(U, s.group[i]))
            if inside:
                others -= s.count[i]
            sum += fixed(s.price[s.group[i]], scale) * s.count[i] * others
    return sum


cdef inline double groups_of_pair(const Groups* s, element_t a, element_t b, fixed_t* fixed_sum, double scale) noexcept nogil:
    """The cost of two elements in one subset, inf if this is forbidden; also the finite prices in fixed point."""
    cdef double sum = 0.0
    cdef bint hard = s.max_size > 0 and s.sizes[a] + s.sizes[b] > s.max_size
    cdef offset_t i, j
    fixed_sum[0] = 0
    if s.entries:
        i, j = s.starts[a], s.starts[b]
        while i < s.starts[a + 1] and j < s.starts[b + 1]:
            if s.group[i] < s.group[j]:
                i += 1
            elif s.group[j] < s.group[i]:
                j += 1
            else:
                if s.price[s.group[i]] == INFINITY:
                    hard = True
                else:
                    sum += s.price[s.group[i]] * (<double>s.count[i] * <double>s.count[j])
                    fixed_sum[0] += fixed(s.price[s.group[i]], scale) * s.count[i] * s.count[j]
                i += 1
                j += 1
    return INFINITY if hard else sum


# ------------------------------------------------------------------------------------------- subsets that only grow
#
# When two subsets are joined, the members of the one with fewer groups are counted under the number of the other one,
# its alias. Each subset lists the groups of its members, by one entry of the rows for each group.

cdef inline list take_lists(Groups* s, Py_ssize_t n):
    """Prepare to join n elements, each in a subset of its own; returns the objects that have to be kept alive."""
    cdef element_t[:, ::1] names
    cdef offset_t[:, ::1] ends
    cdef offset_t[::1] after
    cdef Py_ssize_t a
    cdef offset_t i
    import numpy as np

    if not s.any:
        return []
    names, ends, after = np.zeros((2, n + 1), np.int32), np.zeros((2, n + 1), np.int64), zeros_int64(s.entries + 1)
    s.alias, s.kinds, s.first, s.last, s.after = &names[0, 0], &names[1, 0], &ends[0, 0], &ends[1, 0], &after[0]
    for a in range(n):
        groups_add(s, <element_t>a, <element_t>a, 1)
        s.alias[a] = <element_t>a
        s.first[a] = s.last[a] = -1
        if s.entries:
            for i in range(s.starts[a], s.starts[a + 1]):
                groups_list(s, <element_t>a, i)
    return [names, ends, after]


cdef inline void groups_list(Groups* s, element_t x, offset_t i) noexcept nogil:
    s.after[i] = -1
    if s.first[x] < 0:
        s.first[x] = i
    else:
        s.after[s.last[x]] = i
    s.last[x] = i
    s.kinds[x] += 1


cdef inline double groups_between(const Groups* s, element_t U, element_t V) noexcept nogil:
    """What two subsets pay if they are joined, inf if that is forbidden. O(groups of the one with fewer)"""
    cdef element_t x = s.alias[U], y = s.alias[V], g
    cdef offset_t i
    cdef int64_t others
    cdef double sum = 0.0
    if s.max_size and s.load[x] + s.load[y] > s.max_size:
        return INFINITY
    if s.kinds[x] > s.kinds[y]:
        x, y = y, x
    i = s.first[x]
    while i >= 0:
        g = s.group[i]
        others = hash_set_count(&s.members, group_key(y, g))
        if others:
            if s.price[g] == INFINITY:
                return INFINITY
            sum += s.price[g] * (<double>hash_set_count(&s.members, group_key(x, g)) * <double>others)
        i = s.after[i]
    return sum


cdef inline void groups_join(Groups* s, element_t U, element_t V) noexcept nogil:
    """Count the members of V in U."""
    cdef element_t x = s.alias[U], y = s.alias[V], g
    cdef offset_t i, next
    cdef int64_t mine
    if s.kinds[x] < s.kinds[y]:
        x, y = y, x
    s.alias[U] = x
    if s.max_size:
        s.load[x] += s.load[y]
    i = s.first[y]
    while i >= 0:
        next = s.after[i]
        g = s.group[i]
        mine = hash_set_count(&s.members, group_key(y, g))
        hash_set_raise(&s.members, group_key(y, g), -mine)
        if hash_set_raise(&s.members, group_key(x, g), mine) == mine:
            groups_list(s, x, i)
        i = next
