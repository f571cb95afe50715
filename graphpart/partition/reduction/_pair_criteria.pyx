"""Kernel of persistency: the criteria for two elements and their neighbours.

The statement of each criterion, and why it holds, is in `persistency.py`.
"""

from libc.math cimport INFINITY

from graphpart.kernels.contraction cimport Row, Shrinking
from graphpart.kernels.sorted_row cimport first_not_below
from graphpart.kernels.types cimport element_t
from graphpart.partition.reduction._criteria cimport EDGE, NEIGHBOURHOOD, NODE, TRIANGLE
from graphpart.partition.reduction._moves cimport MOVES, PAIR_OUT, TO_A, TO_B, judge_third, most, name_of_move

cdef enum:
    LEAVINGS = 5                # weighted means of two moves, see `judge_cut`

cdef double ROUNDING = 2.0**-51

# Weights of the two moves: a leaves, b leaves.
cdef double[5] A_OUT = [1, 0, 0.5, 0.75, 0.25]
cdef double[5] B_OUT = [0, 1, 0.5, 0.25, 0.75]
cdef int[5] LEAVING_NAME = [NODE, NODE, NEIGHBOURHOOD, NEIGHBOURHOOD, NEIGHBOURHOOD]


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
                worst = most(x, y, l)
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
