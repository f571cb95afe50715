"""Kernel of persistency: the criteria for two elements and their neighbours.

The statement of each criterion, and why it holds, is in `persistency.py`.
"""

from libc.math cimport INFINITY

from graphpart.kernels.contraction cimport Row, Shrinking
from graphpart.kernels.sorted_row cimport first_not_below
from graphpart.kernels.types cimport element_t, offset_t
from graphpart.partition.reduction._criteria cimport EDGE, NEIGHBOURHOOD, NODE, TRIANGLE
from graphpart.partition.reduction._moves cimport MOVES, PAIR_OUT, TO_A, TO_B, judge_third, most_lost, name_of_move

cdef enum:
    LEAVINGS = 5                # weighted means of two moves, see `judge_cut`

cdef double ROUNDING = 2.0**-51

# Weights of the two moves: a leaves, b leaves.
cdef double[5] A_OUT = [1, 0, 0.5, 0.75, 0.25]
cdef double[5] B_OUT = [0, 1, 0.5, 0.25, 0.75]
cdef int[5] LEAVING_NAME = [NODE, NODE, NEIGHBOURHOOD, NEIGHBOURHOOD, NEIGHBOURHOOD]


cdef struct Scratch:
    bint exact                  # whether all sums are exact
    double* common_a            # costs of common neighbours of the pair under consideration
    double* common_b
    offset_t* attracted_from    # compressed rows of negative entries, while pairs are cut
    element_t* attracted
    # The background of two elements is the sum over k channels of beta * g[a] * h[b]; no factor is negative. Unlike in
    # local search, weights are not rounded to integers: a proof has to hold for the costs as they are.
    Py_ssize_t k                # 0 without a background
    const double* beta
    double* g                   # k for each element
    double* h
    const double* total         # of h over all elements
    double* mass                # of h over some elements
    # Groups. Each element has a list of memberships, from `first` along `next` to `last`; -1 if there is none.
    Py_ssize_t groups
    const double* price
    const double* members       # of each group
    const element_t* member_of  # of each membership its group,
    const double* count         # and the number of members that the element stands for
    unsigned char* hard         # of each element, whether it is a member of a group at price inf
    element_t* next
    element_t* first
    element_t* last
    double* of_a                # for each group: its members under consideration, by the element that stands for them,
    double* of_b
    double* others              # the members that other elements stand for,
    double* of_set              # the members that a set stands for


cdef inline double background(const Scratch* t, element_t a, const double* h) noexcept nogil:
    """The background of an element with others, given the sums of their weights."""
    cdef double sum = 0.0
    cdef Py_ssize_t i
    for i in range(t.k):
        sum += t.beta[i] * t.g[a * t.k + i] * h[i]
    return sum


cdef inline void put_memberships(const Scratch* t, element_t a, double* counts, double sign) noexcept nogil:
    """Add the memberships of an element to counts of members of groups."""
    cdef element_t i = t.first[a]
    while i >= 0:
        counts[t.member_of[i]] += sign * t.count[i]
        i = t.next[i]


cdef inline double paid_with(const Scratch* t, element_t a, const double* counts) noexcept nogil:
    """The cost of groups if element a is with `counts` members of each group."""
    cdef element_t i = t.first[a]
    cdef double total = 0.0
    while i >= 0:
        if counts[t.member_of[i]] != 0:
            total += t.price[t.member_of[i]] * t.count[i] * counts[t.member_of[i]]
        i = t.next[i]
    return total


cdef inline double paid_by(const Scratch* t, element_t a, element_t b) noexcept nogil:
    """The cost of the groups that a pair shares."""
    cdef double total
    if not t.groups or t.first[a] < 0 or t.first[b] < 0:
        return 0.0
    put_memberships(t, a, t.others, 1.0)
    total = paid_with(t, b, t.others)
    put_memberships(t, a, t.others, -1.0)
    return total


cdef inline double finite_prices(const Scratch* t, element_t a) noexcept nogil:
    """The cost of an element with all members of its groups, over groups of finite price."""
    cdef element_t i = t.first[a] if t.groups else -1
    cdef double total = 0.0
    while i >= 0:
        if t.price[t.member_of[i]] < INFINITY:
            total += t.price[t.member_of[i]] * t.count[i] * t.members[t.member_of[i]]
        i = t.next[i]
    return total


cdef inline double weight_of(const Shrinking* g, const Scratch* t, element_t a) noexcept nogil:
    """An upper bound on the sum of absolute costs of an element."""
    return g.rows[a].weight + background(t, a, t.total) + finite_prices(t, a)


cdef inline double slack(Shrinking* g, Scratch* t, element_t a, element_t b) noexcept nogil:
    """The margin of an inequality between sums of costs at a and b: the possible error of rounding."""
    if t.exact:
        return 0.0
    cdef Row* p = &g.rows[a]
    cdef Row* q = &g.rows[b]
    return ROUNDING * (64 + p.terms + q.terms) * (p.weight + q.weight) + 1e-290


cdef int judge_join(Shrinking* g, Scratch* t, element_t a, element_t b, double cost) noexcept nogil:
    """The criterion that proves that a and b, of negative cost, are joined in some optimum; 0 if none does."""
    cdef Row* p = &g.rows[a]
    cdef Row* q = &g.rows[b]
    cdef double room = -cost - slack(g, t, a, b)
    cdef double least_a = p.attraction + p.repulsion + cost, least_b = q.attraction + q.repulsion + cost
    if (p.cuts == 0 and least_a <= room) or (q.cuts == 0 and least_b <= room):
        return EDGE
    if q.size > p.size:
        a, b, p, q = b, a, q, p
    # sums[l]: the sum over the other elements x of the largest loss of mean number l at x
    cdef double[MOVES] sums, rest, peak
    cdef double x, y, worst
    cdef Py_ssize_t i = 0, j, common = 0, both_cut = 0
    cdef int l
    cdef bint hopeless
    for l in range(MOVES):
        sums[l] = peak[l] = 0.0
        rest[l] = (TO_B[l] + PAIR_OUT[l]) * (p.attraction + cost) + TO_B[l] * p.repulsion
    for j in range(q.size):
        if q.to[j] == a or q.cost[j] == 0:
            continue
        y = q.cost[j]
        i = gallop(p, i, q.to[j])
        x = p.cost[i] if i < p.size and p.to[i] == q.to[j] else 0.0
        if x == 0:
            if y < 0:
                for l in range(MOVES):
                    sums[l] -= (TO_A[l] + PAIR_OUT[l]) * y
            elif y < INFINITY:
                for l in range(MOVES):
                    sums[l] += TO_A[l] * y
        else:
            t.common_a[common] = x
            t.common_b[common] = y
            common += 1
            if x == INFINITY and y == INFINITY:
                both_cut += 1
            for l in range(MOVES):
                worst = most_lost(x, y, l)
                sums[l] += worst
                if worst > peak[l]:
                    peak[l] = worst
                if x < 0:
                    rest[l] += (TO_B[l] + PAIR_OUT[l]) * x
                elif x < INFINITY:
                    rest[l] -= TO_B[l] * x
        if j & 7 == 7:
            hopeless = True
            for l in range(MOVES):
                if not sums[l] - peak[l] > room:
                    hopeless = False
            if hopeless:
                return 0
    hopeless = True
    for l in range(MOVES):
        if (TO_B[l] > 0 and p.cuts > both_cut) or (TO_A[l] > 0 and q.cuts > both_cut):
            sums[l] = INFINITY
            continue
        sums[l] += rest[l]
        if sums[l] <= room:
            return name_of_move(l)
        if sums[l] - peak[l] <= room:
            hopeless = False
    if hopeless:
        return 0
    return judge_third(&sums[0], common, t.common_a, t.common_b, room)


cdef inline Py_ssize_t gallop(const Row* row, Py_ssize_t i, element_t x) noexcept nogil:
    """Position, from i on, of the first entry that is not below x."""
    cdef Py_ssize_t step = 1, low = i
    while i < row.size and row.to[i] < x:
        low = i + 1
        i += step
        step *= 2
    return first_not_below(row.to, low, i if i < row.size else row.size, x)


cdef int judge_cut(Shrinking* g, Scratch* t, element_t a, element_t b, double cost) noexcept nogil:
    """The criterion that proves that a and b, of positive cost, are cut in some optimum; 0 if none does."""
    cdef Row* p = &g.rows[a]
    cdef Row* q = &g.rows[b]
    cdef double room = cost - slack(g, t, a, b)
    if p.attraction <= room or q.attraction <= room:
        return NODE
    cdef double[LEAVINGS] sums, peak
    cdef double x, y, loss
    cdef Py_ssize_t i = t.attracted_from[a], j = t.attracted_from[b], at_a = 0, at_b = 0, k, common = 0
    cdef Py_ssize_t end_i = t.attracted_from[a + 1], end_j = t.attracted_from[b + 1]
    cdef element_t other
    cdef int l
    cdef bint hopeless
    for l in range(LEAVINGS):
        sums[l] = peak[l] = 0.0
    while i < end_i or j < end_j:       # elements that a or b attracts
        if j >= end_j or (i < end_i and t.attracted[i] < t.attracted[j]):
            other = t.attracted[i]
            i += 1
        else:
            other = t.attracted[j]
            i += i < end_i and t.attracted[i] == other
            j += 1
        at_a, at_b = gallop(p, at_a, other), gallop(q, at_b, other)
        x = p.cost[at_a] if at_a < p.size and p.to[at_a] == other else 0.0
        y = q.cost[at_b] if at_b < q.size and q.to[at_b] == other else 0.0
        if x == INFINITY or y == INFINITY:
            continue
        t.common_a[common] = x
        t.common_b[common] = y
        common += 1
        for l in range(LEAVINGS):
            loss = -A_OUT[l] * x - B_OUT[l] * y
            if loss > 0:
                sums[l] += loss
                if loss > peak[l]:
                    peak[l] = loss
        if common & 7 == 0:
            hopeless = True
            for l in range(LEAVINGS):
                if not sums[l] - peak[l] > room:
                    hopeless = False
            if hopeless:
                return 0
    hopeless = True
    for l in range(LEAVINGS):
        if sums[l] <= room:
            return LEAVING_NAME[l]
        if sums[l] - peak[l] <= room:
            hopeless = False
    if hopeless:
        return 0
    cdef bint inside, outside
    for k in range(common):
        x, y = t.common_a[k], t.common_b[k]
        inside = outside = False
        for l in range(LEAVINGS):
            loss = -A_OUT[l] * x - B_OUT[l] * y
            outside |= sums[l] - (loss if loss > 0 else 0.0) <= room
            inside |= sums[l] - (0.0 if loss > 0 else -loss) <= room
        if inside and outside:
            return TRIANGLE
    return 0
