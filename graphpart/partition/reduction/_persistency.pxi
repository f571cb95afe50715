"""Kernel of persistency: criteria for pairs, applied to a fixed point with a work queue; then sets grown from elements.

The statement of each criterion, and why it holds, is in `persistency.py`.

With a background that repels, in channels (see _pair_criteria.pxi), the kernel only joins pairs and sets. Joining
elements adds their weights, and the background within a set follows from the weights of its members. At an element x in
neither row, a weighted mean of moves loses at most the maximum of 0 and three linear functions of the backgrounds
between x and the two elements. So the loss at all such x is at most the sum of the losses that each channel alone would
cause, which follow from the sum of the weights of all such x. In the same way, only the number of members of a group in
neither row matters.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free, realloc

from graphpart.kernels._arrays cimport empty_float64, empty_int32, empty_int64, full_int64, zeros_uint8
from graphpart.kernels.contraction cimport (
    Row, Shrinking, row_place, row_set, shrinking_contract, shrinking_find, shrinking_free, shrinking_make,
)
from graphpart.kernels.minimum_cut cimport minimum_cut
from graphpart.kernels.ring cimport Ring, pop, push
from graphpart.kernels.types cimport element_t, offset_t
from graphpart.partition.reduction._criteria cimport CUT_SET, SUBGRAPH
from graphpart.partition.reduction._moves cimport MOVES, TO_A, TO_B, judge_third, most_lost, name_of_move
from graphpart.stopping cimport Stopping

cdef enum:
    HOPELESS = 2                # give up a set that must outweigh more than this multiple of its seed's costs



cdef struct Cut:
    element_t a, b
    int why


cdef struct Work:
    Shrinking g
    Scratch scratch
    double* pull                # with a background: the sum of all attraction to each element,
    uint8_t* dirty              # and whether this sum must be recomputed
    Ring pairs                  # elements whose pairs must be examined
    Ring seeds                  # elements from which a set must be grown
    element_t* join_a
    element_t* join_b
    uint8_t* join_why
    Py_ssize_t joins
    Cut* cuts
    Py_ssize_t cut, cut_room
    bint failed                 # whether memory ran out


# ------------------------------------------------------------------------------------------------------- the work queue

cdef element_t join(Work* w, element_t a, element_t b, int why) noexcept nogil:
    """Contract a and b, and queue the result and its neighbours, which must be examined again."""
    cdef element_t kept = shrinking_contract(&w.g, a, b), gone = b if kept == a else a
    cdef Row* row
    cdef Py_ssize_t i, k = w.scratch.k
    if kept < 0:
        w.failed = True
        return kept
    w.join_a[w.joins], w.join_b[w.joins], w.join_why[w.joins] = a, b, <uint8_t>why
    w.joins += 1
    for i in range(k):
        w.scratch.g[kept * k + i] += w.scratch.g[gone * k + i]
        w.scratch.h[kept * k + i] += w.scratch.h[gone * k + i]
    if w.scratch.groups and w.scratch.first[gone] >= 0:
        if w.scratch.first[kept] >= 0:
            w.scratch.next[w.scratch.last[kept]] = w.scratch.first[gone]
        else:
            w.scratch.first[kept] = w.scratch.first[gone]
        w.scratch.last[kept] = w.scratch.last[gone]
        w.scratch.hard[kept] |= w.scratch.hard[gone]
    row = &w.g.rows[kept]
    push(&w.pairs, kept)
    push(&w.seeds, kept)
    if k:
        w.dirty[kept] = 1
    for i in range(row.size):
        if k:
            w.dirty[row.to[i]] = 1
        push(&w.pairs, row.to[i])
        if row.cost[i] < 0:
            push(&w.seeds, row.to[i])
    return kept


cdef inline double between(Work* w, element_t a, element_t b, double cost) noexcept nogil:
    """The cost of a pair with its background and its groups; `cost` is the listed part."""
    if not w.scratch.k:
        return cost
    return cost + background(&w.scratch, a, w.scratch.h + b * w.scratch.k) + paid_by(&w.scratch, a, b)


cdef double pull_of(Work* w, element_t a) noexcept nogil:
    """The sum of all attraction to an element, with a background."""
    cdef Row* row = &w.g.rows[a]
    cdef Py_ssize_t j
    if w.dirty[a]:
        w.pull[a], w.dirty[a] = 0.0, 0
        for j in range(row.size):
            if row.cost[j] < 0:
                w.pull[a] -= min(between(w, a, row.to[j], row.cost[j]), 0.0)
    return w.pull[a]


cdef inline double attraction_of(Work* w, element_t a) noexcept nogil:
    """The sum of all attraction to an element."""
    return pull_of(w, a) if w.scratch.k else w.g.rows[a].attraction


cdef inline void forget(Scratch* t, element_t a, double* counts) noexcept nogil:
    cdef element_t i = t.first[a]
    while i >= 0:
        counts[t.member_of[i]] = 0.0
        i = t.next[i]


cdef void add_other_members(Scratch* t, element_t a, double* sums) noexcept nogil:
    """Add the largest losses of means of moves at members, in neither row, of the groups of one element."""
    cdef element_t i = t.first[a]
    cdef element_t g
    cdef double x, y, left
    cdef int l
    while i >= 0:
        g = t.member_of[i]
        i = t.next[i]
        left = t.members[g] - t.of_a[g] - t.of_b[g] - t.others[g]
        t.others[g] = t.members[g]          # so that each group is counted once
        if left <= 0:
            continue
        x = t.price[g] * t.of_a[g] if t.of_a[g] > 0 else 0.0
        y = t.price[g] * t.of_b[g] if t.of_b[g] > 0 else 0.0
        for l in range(MOVES):
            if (x == INFINITY and TO_B[l] > 0) or (y == INFINITY and TO_A[l] > 0):
                sums[l] = INFINITY
            else:
                sums[l] += left * most_lost(x, y, l)


cdef int judge_beside(Shrinking* g, Scratch* t, element_t a, element_t b, double cost) noexcept nogil:
    """`judge_join` with a background, included in `cost`: first elements in either row, then all others together."""
    cdef Row* p = &g.rows[a]
    cdef Row* q = &g.rows[b]
    cdef double room = -cost
    cdef double[MOVES] sums, peak
    cdef double x, y, worst
    cdef Py_ssize_t i = 0, j = 0, common = 0, k = t.k, c
    cdef element_t other
    cdef int l
    cdef bint hopeless = False
    if t.groups:
        put_memberships(t, a, t.of_a, 1.0)
        put_memberships(t, b, t.of_b, 1.0)
    if not t.exact:         # the sums of weights of all elements are rounded, too
        room -= 4 * (ROUNDING * (64 + p.terms + q.terms + g.n) * (weight_of(g, t, a) + weight_of(g, t, b)) + 1e-290)
    for c in range(k):
        t.mass[c] = t.total[c] - t.h[a * k + c] - t.h[b * k + c]
    for l in range(MOVES):
        sums[l] = peak[l] = 0.0
    while i < p.size or j < q.size:
        if j >= q.size or (i < p.size and p.to[i] < q.to[j]):
            other, x, y = p.to[i], p.cost[i], 0.0
            i += 1
        elif i >= p.size or q.to[j] < p.to[i]:
            other, x, y = q.to[j], 0.0, q.cost[j]
            j += 1
        else:
            other, x, y = p.to[i], p.cost[i], q.cost[j]
            i += 1
            j += 1
        if (x == 0 and y == 0) or other == a or other == b:
            continue
        x += background(t, a, t.h + other * k)
        y += background(t, b, t.h + other * k)
        for c in range(k):
            t.mass[c] -= t.h[other * k + c]
        if t.groups:
            x += paid_with(t, other, t.of_a)
            y += paid_with(t, other, t.of_b)
            put_memberships(t, other, t.others, 1.0)
        t.common_a[common] = x
        t.common_b[common] = y
        common += 1
        hopeless = common & 7 == 0
        for l in range(MOVES):
            if (x == INFINITY) != (y == INFINITY) and ((x == INFINITY and TO_B[l] > 0) or
                                                       (y == INFINITY and TO_A[l] > 0)):
                sums[l] = INFINITY
            else:
                worst = most_lost(x, y, l)
                sums[l] += worst
                if worst > peak[l]:
                    peak[l] = worst
            if not sums[l] - peak[l] > room:
                hopeless = False
        if hopeless:
            break
    if t.groups:
        if not hopeless:
            add_other_members(t, a, &sums[0])
            add_other_members(t, b, &sums[0])
        forget(t, a, t.of_a)
        forget(t, b, t.of_b)
        forget(t, a, t.others)
        forget(t, b, t.others)
        for l in range(p.size):
            forget(t, p.to[l], t.others)
        for l in range(q.size):
            forget(t, q.to[l], t.others)
    if hopeless:
        return 0
    hopeless = True
    for l in range(MOVES):
        for c in range(k):
            if t.mass[c] > 0:
                sums[l] += t.mass[c] * most_lost(t.beta[c] * t.g[a * k + c], t.beta[c] * t.g[b * k + c], l)
        if sums[l] <= room:
            return name_of_move(l)
        if sums[l] - peak[l] <= room:
            hopeless = False
    if hopeless:
        return 0
    return judge_third(&sums[0], common, t.common_a, t.common_b, room)


cdef inline bint cannot_leave(Work* w, element_t a, element_t b, double cost) noexcept nogil:
    """Whether a listed pair cannot be proven: groups allow only the move of both elements to a new subset.

    This move loses all other attraction of either element, in every case of a third element.
    """
    if not w.scratch.groups or not (w.scratch.hard[a] and w.scratch.hard[b]):
        return False
    return pull_of(w, a) > -2 * cost or pull_of(w, b) > -2 * cost


cdef bint settle(Work* w, Stopping stopping) noexcept nogil:
    """Join each pair that a criterion for pairs proves, until there is none. False if stopped before."""
    cdef element_t a, b, kept
    cdef Py_ssize_t j
    cdef Row* row
    cdef double cost
    cdef int why
    while w.pairs.size:
        a = pop(&w.pairs)
        if w.g.parent[a] != a:
            continue
        j = 0
        while j < w.g.rows[a].size:
            if w.failed or stopping.poll(INFINITY):
                return False
            row = &w.g.rows[a]
            b = row.to[j]
            # a pair of two queued elements is examined with the last one
            if row.cost[j] < 0 and not w.pairs.inside[b]:
                if w.scratch.k == 0:
                    why = judge_join(&w.g, &w.scratch, a, b, row.cost[j])
                elif cannot_leave(w, a, b, row.cost[j]):
                    why = 0
                else:
                    cost = between(w, a, b, row.cost[j])
                    why = judge_beside(&w.g, &w.scratch, a, b, cost) if cost < 0 else 0
                if why:
                    kept = join(w, a, b, why)
                    if kept != a:
                        break
                    j = row_place(&w.g.rows[a], b)
                    continue
            j += 1
    return True


cdef bint settle_cuts(Work* w, Stopping stopping) noexcept nogil:
    """Cut each pair that a criterion for pairs proves, until there is none. False if stopped before."""
    cdef element_t a, b
    cdef Py_ssize_t j
    cdef Row* row
    cdef int why
    while w.pairs.size:
        a = pop(&w.pairs)
        row = &w.g.rows[a]
        for j in range(row.size):
            if w.failed or stopping.poll(INFINITY):
                return False
            b = row.to[j]
            if 0 < row.cost[j] < INFINITY:
                why = judge_cut(&w.g, &w.scratch, a, b, row.cost[j])
                if why:
                    forbid(w, a, b, why)
    return True


cdef void forbid(Work* w, element_t a, element_t b, int why) noexcept nogil:
    """Make the cost of a pair infinite, and queue its elements, because other pairs may be proven now."""
    cdef Cut* more
    if w.cut == w.cut_room:
        more = <Cut*>realloc(w.cuts, (2 * w.cut_room + 1024) * sizeof(Cut))
        if more == NULL:
            w.failed = True
            return
        w.cuts, w.cut_room = more, 2 * w.cut_room + 1024
    w.cuts[w.cut].a, w.cuts[w.cut].b, w.cuts[w.cut].why = a, b, why
    w.cut += 1
    row_set(&w.g.rows[a], b, INFINITY)
    row_set(&w.g.rows[b], a, INFINITY)
    push(&w.pairs, a)
    push(&w.pairs, b)


cdef void push_all(Work* w, Ring* r) noexcept nogil:
    cdef Py_ssize_t a
    for a in range(w.g.n):
        if w.g.parent[a] == a and w.g.rows[a].size:
            push(r, <element_t>a)


# -------------------------------------------------------------------------------------------- sets grown from an element

cdef struct Set:
    element_t* members
    Py_ssize_t size, largest
    int64_t* mark               # 2 * stamp: next to the set; 2 * stamp + 1: in it
    int64_t stamp
    element_t* around           # the elements that it attracts
    Py_ssize_t rim              # their number
    element_t* place            # position of a member in `members`
    double* attraction          # of an element to the set
    double* repulsion
    element_t* cuts
    double* known               # with a background: the part of it in the two sums above
    double* matrix              # for minimum cuts
    # sums over pairs that leave the set
    double outer_attraction
    double outer_repulsion
    Py_ssize_t outer_cuts
    double inner_repulsion
    double weight
    double terms


cdef void clear(Work* w, Set* s) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(w.scratch.k):
        w.scratch.mass[i] = 0.0             # of the members
    if w.scratch.groups:
        for i in range(s.size):
            forget(&w.scratch, s.members[i], w.scratch.of_set)
    s.stamp += 1
    s.size = s.rim = s.outer_cuts = 0
    s.outer_attraction = s.outer_repulsion = s.inner_repulsion = s.weight = s.terms = 0.0


cdef inline void reach(Work* w, Set* s, element_t x) noexcept nogil:
    s.attraction[x] = s.repulsion[x] = 0.0
    s.cuts[x] = 0
    if w.scratch.k:
        s.known[x] = 0.0


cdef inline double unlisted(Work* w, Set* s, element_t x) noexcept nogil:
    """The costs of background and groups between an element and the members with which it has no listed pair."""
    cdef double total = background(&w.scratch, x, w.scratch.mass) - s.known[x]
    return total + paid_with(&w.scratch, x, w.scratch.of_set) if w.scratch.groups else total


cdef void put_in(Work* w, Set* s, element_t x) noexcept nogil:
    """Put an element into the set."""
    cdef Row* row = &w.g.rows[x]
    cdef Py_ssize_t i, j, k = w.scratch.k
    cdef element_t y
    cdef double cost, paid
    if s.mark[x] != 2 * s.stamp:
        reach(w, s, x)
    s.mark[x] = 2 * s.stamp + 1
    s.place[x] = <element_t>s.size
    s.members[s.size] = x
    s.size += 1
    s.outer_attraction += attraction_of(w, x) - 2 * s.attraction[x]
    s.outer_repulsion += row.repulsion - 2 * s.repulsion[x]
    s.outer_cuts += row.cuts - 2 * s.cuts[x]
    s.inner_repulsion += s.repulsion[x] if s.cuts[x] == 0 else INFINITY
    s.weight += row.weight
    s.terms += row.terms + row.size
    if k:
        s.inner_repulsion += max(unlisted(w, s, x), 0.0)
        s.weight += background(&w.scratch, x, w.scratch.total) + finite_prices(&w.scratch, x)
        for i in range(k):
            w.scratch.mass[i] += w.scratch.h[x * k + i]
        if w.scratch.groups:
            put_memberships(&w.scratch, x, w.scratch.of_set, 1.0)
    for j in range(row.size):
        y, cost = row.to[j], row.cost[j]
        if cost == 0:
            continue
        if s.mark[y] < 2 * s.stamp:
            s.mark[y] = 2 * s.stamp
            reach(w, s, y)
        if k:
            s.known[y] += background(&w.scratch, x, w.scratch.h + y * k)
            paid = paid_by(&w.scratch, x, y)
            if paid < INFINITY:
                s.known[y] += paid
            cost = between(w, x, y, cost)
        if cost < 0:
            if s.attraction[y] == 0:
                s.around[s.rim] = y
                s.rim += 1
            s.attraction[y] -= cost
        elif cost < INFINITY:
            s.repulsion[y] += cost
        else:
            s.cuts[y] += 1


cdef inline double set_slack(Work* w, Set* s) noexcept nogil:
    cdef double slack = ROUNDING * (64 + s.terms) * s.weight + 1e-290
    return 0.0 if w.scratch.exact else 4 * slack if w.scratch.k else slack


cdef element_t nearest(Work* w, Set* s, bint isolate, element_t but) noexcept nogil:
    """The element whose inclusion lowers the sum that the set must outweigh most, or raises it least; -1 for none."""
    cdef Py_ssize_t j, kept = 0, k = w.scratch.k
    cdef element_t x, best = -1
    cdef double gain, most = -INFINITY
    cdef Row* row
    for j in range(s.rim):
        x = s.around[j]
        if s.mark[x] == 2 * s.stamp + 1:
            continue
        s.around[kept] = x
        kept += 1
        if x == but:
            continue
        row = &w.g.rows[x]
        if isolate:
            gain = 2 * s.attraction[x] - (pull_of(w, x) if k else row.attraction) - s.repulsion[x]
            if k:
                gain -= unlisted(w, s, x)
            if s.cuts[x]:
                continue
        else:
            gain = 2 * (s.attraction[x] + s.repulsion[x]) - row.attraction - row.repulsion
            if row.cuts != s.cuts[x]:
                continue
        if gain > most:
            most = gain
            best = x
    s.rim = kept
    return best


cdef bint grow_subgraph(Work* w, Set* s, element_t a, Stopping stopping) noexcept nogil:
    """Grow a set from an element until it is proven joined, and join it. False if no such set is proven."""
    cdef double needed, most = HOPELESS * attraction_of(w, a)
    cdef Py_ssize_t i
    cdef element_t x = a, kept
    clear(w, s)
    while x >= 0 and s.size < s.largest:
        # A long row is not read for a set that must outweigh too much already.
        if s.size and s.outer_attraction + (attraction_of(w, x) - 2 * s.attraction[x]) > most:
            break
        put_in(w, s, x)
        needed = s.outer_attraction + s.inner_repulsion + set_slack(w, s)
        if s.size > 2 and least_inside(s) >= needed and not stopping.poll(INFINITY) and cut_inside(w, s) >= needed:
            kept = s.members[0]
            for i in range(1, s.size):
                kept = join(w, shrinking_find(&w.g, kept), s.members[i], SUBGRAPH)
                if kept < 0:
                    break
            return True
        x = nearest(w, s, True, -1) if needed <= most else -1
    return False


cdef bint grow_cut(Work* w, Set* s, element_t a) noexcept nogil:
    """Grow a set from one end of the most attractive pair of an element until it proves the pair joined; join it."""
    cdef Row* row = &w.g.rows[a]
    cdef Py_ssize_t j
    cdef element_t b = -1, x = a
    cdef double cost = 0.0, needed, most = HOPELESS * (row.attraction + row.repulsion)
    for j in range(row.size):
        if row.cost[j] < cost:
            cost = row.cost[j]
            b = row.to[j]
    if b < 0:
        return False
    clear(w, s)
    while x >= 0 and s.size < s.largest:
        put_in(w, s, x)
        needed = s.outer_attraction + s.outer_repulsion + set_slack(w, s)
        if s.outer_cuts == 0 and needed <= -2 * cost:
            join(w, a, b, CUT_SET)
            return True
        x = nearest(w, s, False, b) if needed <= most else -1
    return False


cdef void grow_apart(Work* w, Set* s, element_t a) noexcept nogil:
    """Grow a set from an element; cut pairs of the element that cost more than all attraction across the border."""
    cdef Row* row = &w.g.rows[a]
    cdef Py_ssize_t j
    cdef element_t x = a
    cdef double largest = 0.0, needed, most = HOPELESS * row.attraction
    for j in range(row.size):
        if row.cost[j] > largest and row.cost[j] < INFINITY:
            largest = row.cost[j]
    clear(w, s)
    while x >= 0 and s.size < s.largest and largest > 0:
        put_in(w, s, x)
        needed = s.outer_attraction + set_slack(w, s)
        if s.size > 1 and needed <= largest:
            largest = 0.0
            for j in range(row.size):
                if 0 < row.cost[j] < INFINITY and s.mark[row.to[j]] != 2 * s.stamp + 1:
                    if row.cost[j] >= needed:
                        forbid(w, a, row.to[j], CUT_SET)
                    elif row.cost[j] > largest:
                        largest = row.cost[j]
        x = nearest(w, s, True, -1) if needed <= most else -1


cdef double least_inside(Set* s) noexcept nogil:
    cdef Py_ssize_t i
    cdef double least = INFINITY
    for i in range(s.size):
        least = min(least, s.attraction[s.members[i]])
    return least


cdef double cut_inside(Work* w, Set* s) noexcept nogil:
    """The least attraction between two parts of the set: a minimum cut."""
    cdef Py_ssize_t i, j, k = s.size
    cdef Row* row
    cdef element_t x
    cdef double cost
    for i in range(k * k):
        s.matrix[i] = 0.0
    for i in range(k):
        x = s.members[i]
        row = &w.g.rows[x]
        for j in range(row.size):
            if row.cost[j] < 0 and s.mark[row.to[j]] == 2 * s.stamp + 1:
                cost = between(w, x, row.to[j], row.cost[j])
                s.matrix[i * k + s.place[row.to[j]]] = -cost if cost < 0 else 0.0
    return minimum_cut(s.matrix, k, s.matrix + s.largest * s.largest)


# ------------------------------------------------------------------------------------------------------------- the whole

cdef bint settle_joins(Work* w, Set* s, Stopping stopping) noexcept nogil:
    """Join all pairs that a criterion proves, cheap criteria first, until none proves more. False if stopped before."""
    cdef element_t a
    while settle(w, stopping):
        if w.seeds.size == 0:
            return True
        if stopping.poll(INFINITY):
            break
        a = pop(&w.seeds)
        if w.g.parent[a] == a and not grow_subgraph(w, s, a, stopping) and w.scratch.k == 0:
            grow_cut(w, s, a)
    return False


cdef void list_attracted(Work* w) noexcept nogil:
    cdef Py_ssize_t a, j
    cdef offset_t count = 0
    cdef Row* row
    for a in range(w.g.n):
        w.scratch.attracted_from[a] = count
        row = &w.g.rows[a]
        for j in range(row.size):
            if row.cost[j] < 0:
                w.scratch.attracted[count] = row.to[j]
                count += 1
    w.scratch.attracted_from[w.g.n] = count


cdef bint settle_all_cuts(Work* w, Set* s, Stopping stopping) noexcept nogil:
    """Cut each pair that any criterion proves. False if stopped before."""
    cdef Py_ssize_t a
    list_attracted(w)
    push_all(w, &w.pairs)
    for a in range(w.g.n):
        if stopping.poll(INFINITY) or not settle_cuts(w, stopping):
            return False
        if w.g.parent[a] == a:
            grow_apart(w, s, <element_t>a)
    return settle_cuts(w, stopping)


cdef void run(Work* w, Set* s, Stopping stopping) noexcept nogil:
    """Joins, then cuts, and again, while cuts prove further joins; with a background, joins only."""
    cdef Py_ssize_t joins = -1
    push_all(w, &w.pairs)
    push_all(w, &w.seeds)
    while settle_joins(w, s, stopping) and w.joins > joins:
        joins = w.joins
        if w.scratch.k or not settle_all_cuts(w, s, stopping):
            break
        push_all(w, &w.pairs)


cdef void* start(array):
    cdef uint8_t[::1] bytes_ = array.view(np.uint8).ravel()
    return &bytes_[0]


def persistent(Py_ssize_t n, const offset_t[::1] starts, element_t[::1] neighbours, double[::1] costs, bint exact,
               Py_ssize_t largest, Stopping stopping, channels=None, groups=None):
    """Apply all criteria to compressed rows. Return (a, b, why) of joins, and (a, b, why) of cuts.

    The rows are overwritten. Joins are a forest. An element of a cut stands for all elements that are joined to it.
    `exact` says whether all sums of eighths of costs are exact. A set that is grown has at most `largest` elements.
    `channels` are (beta, g, h) of a background, of shapes (k,), (n, k) and (n, k), with k >= 1.
    `groups`, with channels, are (starts, group, count, price), see `graphpart.partition.problem.groups`.
    """
    cdef Work w
    cdef Set s
    cdef Py_ssize_t i
    cdef bint made
    elements = [empty_int32(n + 1) for _ in range(8)]
    reals = [empty_float64(n + 1) for _ in range(6)]
    flags = [zeros_uint8(n + 1) for _ in range(3)] + [np.ones(n + 1, np.uint8)]
    attracted_from, attracted = empty_int64(n + 2), empty_int32(neighbours.shape[0] + 1)
    mark, matrix = full_int64(n + 1, -1), np.empty((largest + 1) * largest)
    w.pairs.items, w.seeds.items, w.join_a, w.join_b = <element_t*>start(elements[0]), <element_t*>start(elements[1]), \
        <element_t*>start(elements[2]), <element_t*>start(elements[3])
    w.pairs.inside, w.seeds.inside, w.join_why = <uint8_t*>start(flags[0]), <uint8_t*>start(flags[1]), \
        <uint8_t*>start(flags[2])
    w.pairs.first = w.pairs.size = w.seeds.first = w.seeds.size = 0
    w.pairs.room = w.seeds.room = n
    w.scratch.common_a, w.scratch.common_b = <double*>start(reals[0]), <double*>start(reals[1])
    w.scratch.attracted_from, w.scratch.attracted = <offset_t*>start(attracted_from), <element_t*>start(attracted)
    w.joins = w.cut = w.cut_room = 0
    w.cuts = NULL
    w.scratch.exact, w.failed = exact, False
    s.members, s.around, s.place, s.cuts = <element_t*>start(elements[4]), <element_t*>start(elements[5]), \
        <element_t*>start(elements[6]), <element_t*>start(elements[7])
    s.attraction, s.repulsion = <double*>start(reals[2]), <double*>start(reals[3])
    s.known, w.pull, w.dirty = <double*>start(reals[4]), <double*>start(reals[5]), <uint8_t*>start(flags[3])
    w.scratch.k = 0
    if channels is not None:
        beta, g, h = (np.array(array, np.float64, order="C") for array in channels)
        total, mass = h.sum(axis=0), empty_float64(len(beta))
        w.scratch.k = len(beta)
        w.scratch.beta, w.scratch.g, w.scratch.h = <double*>start(beta), <double*>start(g), <double*>start(h)
        w.scratch.total, w.scratch.mass = <double*>start(total), <double*>start(mass)
    w.scratch.groups = 0
    s.size = 0
    if groups is not None:
        begins, member_of, counts, prices = groups
        members = np.bincount(member_of, counts, len(prices))
        w.scratch.groups = len(prices)
        member_of, counts, prices = member_of.copy(), counts.astype(np.float64), prices.copy()
        after = np.arange(1, len(member_of) + 1, dtype=np.int32)
        some = np.diff(begins) > 0
        first = np.where(some, begins[:n], -1).astype(np.int32)
        last = np.where(some, begins[1:] - 1, -1).astype(np.int32)
        after[last[some]] = -1
        tallies = np.zeros((4, len(prices)))
        w.scratch.price, w.scratch.members = <double*>start(prices), <double*>start(members)
        w.scratch.member_of, w.scratch.count = <element_t*>start(member_of), <double*>start(counts)
        hard = zeros_uint8(n + 1)
        hard[np.repeat(np.arange(n), np.diff(begins))[np.isinf(prices[member_of])]] = 1
        w.scratch.hard = <uint8_t*>start(hard)
        w.scratch.next, w.scratch.first, w.scratch.last = <element_t*>start(after), <element_t*>start(first), \
            <element_t*>start(last)
        w.scratch.of_a, w.scratch.of_b = <double*>start(tallies[0]), <double*>start(tallies[1])
        w.scratch.others, w.scratch.of_set = <double*>start(tallies[2]), <double*>start(tallies[3])
    s.mark, s.matrix = <int64_t*>start(mark), <double*>start(matrix)
    s.stamp, s.largest = 0, largest
    try:
        with nogil:
            made = shrinking_make(&w.g, n, &starts[0], &neighbours[0] if neighbours.shape[0] else NULL,
                                  &costs[0] if costs.shape[0] else NULL)
            if made:
                run(&w, &s, stopping)
        if not made or w.failed:
            raise MemoryError()
        cuts = np.empty((3, w.cut), np.int32)
        for i in range(w.cut):
            cuts[0, i], cuts[1, i], cuts[2, i] = w.cuts[i].a, w.cuts[i].b, w.cuts[i].why
        return (elements[2][:w.joins], elements[3][:w.joins], flags[2][:w.joins]), (cuts[0], cuts[1], cuts[2])
    finally:
        shrinking_free(&w.g)
        free(w.cuts)
