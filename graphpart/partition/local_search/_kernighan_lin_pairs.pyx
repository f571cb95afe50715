"""Kernel of pairwise Kernighan-Lin with joins: improve two subsets, or one and the empty set, by switches.

For stored pairs, one pass over a subset lists its pairs with each other one. Elements that may switch wait in a heap,
keyed by the change of cost: the cost of their pairs with the other subset, minus the cost of their pairs with their own
subset. The latter is kept until they or neighbours switch for good. A switch of a neighbour changes the key by twice
the cost of the pair. A sequence ends early if the gain of its best prefix reaches the sum of all positive costs within
the two subsets and all negative ones between them, which is the largest possible gain. Two subsets that cannot gain
anything are passed over: one pass over a subset sums up its pairs with each other one, and only pairs with subsets with
which it may gain are listed. In a subset that has not changed, the pass is over elements near a change.

With a background, a switch changes the cost of all waiting elements. So keys are of stored pairs only, and the elements
of each of the two subsets wait in a heap of their own: a switch of any of them changes the background by at least the
same bound, and by the same amount if all weights are equal. A search from the top of the heap finds the best element,
and leaves out what lies below an element that cannot be the best. For a matrix, and with groups or limits, the best
element is found by a pass over all that wait. If subsets have to be connected (kernels/connected.pxd), the elements
that a base pair links to the other subset wait. Before the best element switches, its subset is examined. If it would
not stay connected, the element is barred until a switch may have freed it. All sums, also those along a sequence, are
exact, in fixed point (see kernels/fixed.pxd). So a sequence that only exchanges the two subsets is never an improvement
by rounding.

What two subsets become depends on no other ones. So on many elements, a round has an order of pairs (see
kernighan_lin_pairs.py) in which two threads work on two groups of subsets each. A thread also reads labels of elements
that the other one moves, but it does not matter in which of the other's two groups an element is. Elements near a move
are marked at once, their subsets when both threads have ended.
"""

from functools import partial

import numpy as np

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, fabs
from libc.stdint cimport INT32_MAX, INT64_MAX
from libc.stdlib cimport qsort
from libc.string cimport memcpy, memset

from graphpart.kernels._arrays cimport empty_int8, zeros_int32
from graphpart.kernels.connected cimport Base, is_freed, mark_freed, may_leave, take_base
from graphpart.kernels.fixed cimport fixed, fixed_t, scale_for
from graphpart.kernels.groups cimport groups_fixed
from graphpart.kernels.heap cimport Heap, heap_rise, heap_settle, heap_sink
from graphpart.kernels.memory cimport prefetch
from graphpart.kernels.terms cimport (
    TERMS, Terms, fixed_at, fixed_between, fixed_tolerance, take_terms, terms_move, terms_put, terms_take,
)
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.machine import side_by_side
from graphpart.partition.local_search.floods cimport base_poll
from graphpart.stopping cimport Stopping

cdef fixed_t NONE = INT64_MAX       # the change of cost by a forbidden switch

cdef enum:
    OUT = -1        # place of an element that does not wait
    DONE = -2       # place of an element that has switched
    BARRED = -3     # place of an element without which its subset is not connected
    LISTED = -4     # place of an element that is listed to wait
    UNSEEN = -1     # border of a subset to which no pair has led
    LISTING = -2    # border of a subset of which no pair is listed yet
    CANNOT_GAIN = -3    # border of a subset whose pairs need not be listed
    SMALL = 64      # most elements of a subset for which `largest_cut` is computed
    GROUPS = 4      # of subsets
    AHEAD = 8       # what is far apart in memory is asked for so many turns before
    SHARE = 256     # larger subsets than this share of all elements are divided first
    WHOLLY = 1      # bits of `pending`
    PARTLY = 2
    LINKED = 1      # bits of `near`: a stored pair links the element to a subset that changed wholly before this round;
    NOW = 2         # it, or a neighbour, has moved in this round,
    CLOSE = 4       # or before this round;
    AROUND = 8      # it is CLOSE, or a neighbour is


cdef struct Element:
    fixed_t delta       # change of cost if it switches, required cuts left out
    fixed_t own         # cost of its stored pairs within its subset; along a sequence, before the sequence
    element_t cuts      # number of its required cuts to the other subset
    element_t links     # number of its base pairs to the other subset, if subsets have to be connected
    element_t place     # in the heap


cdef struct Waiting:
    fixed_t key
    element_t element


cdef struct Linked:
    element_t border    # the first pair with the subset at hand, as an entry of the borders, or one of the above
    element_t parted    # whether a pair must be cut
    fixed_t crossing    # sum of the costs of the stored pairs
    fixed_t attracting  # sum of the negative costs of these pairs


cdef struct Border:
    offset_t pair       # the pair, as an entry of the row of the element
    element_t element
    element_t next      # entry of the same border, or -1


cdef struct State:
    Py_ssize_t n
    const cost_t* matrix        # or NULL; then there are compressed rows:
    const offset_t* starts
    const element_t* neighbours
    const cost_t* costs
    offset_t hub                # most stored pairs of an element that may switch between two subsets
    double scale                # fixed-point units in a cost of 1
    element_t* label            # subset of each element
    element_t* size
    element_t* first            # first element of each subset; a list in both directions
    element_t* next
    element_t* previous
    Py_ssize_t top              # all numbers of subsets from here on are free, and their entries are not in use
    element_t* unused           # other numbers of subsets without elements
    Py_ssize_t unuseds
    Py_ssize_t taken            # of the free numbers, by new subsets of this round
    Py_ssize_t shared           # number of the free numbers that each thread takes every other one of
    bint odd                    # whether these are the odd ones
    char* changed               # subsets that changed since this was last cleared
    char* pending               # subsets that changed before this round, wholly or partly
    char* owed                  # subsets that changed partly, and have not been pending wholly since
    char* near_change           # subsets that changed before this round, or may be linked to one that did
    char* near                  # see the bits
    bint partial                # whether only pairs near a change link the two subsets at hand
    bint divided                # whether subsets are divided into groups
    unsigned char* group        # group of each subset
    int reach[GROUPS]           # groups of subsets with which those of a group are improved now, as bits
    bint crosses                # whether these are pairs of a subset of groups {0, 1} and one of {2, 3}
    int mine                    # the groups of the thread, as bits
    bint listed                 # whether all borders of the subset at hand are listed
    element_t* order            # subsets to improve with the subset at hand, sorted
    fixed_t change              # of the cost in this round
    Element* at
    Waiting* heap[2]            # the waiting elements; if not ordered, a plain list without keys; if not sided, the
    Py_ssize_t waiting[2]       # second one is empty
    element_t* switched         # the sequence; after it, the elements that changed sides
    Py_ssize_t switches         # their number
    element_t* inside           # pairs of an element with elements of both subsets, as places in its row
    element_t* touched          # elements whose place has to be reset
    Py_ssize_t touches
    Py_ssize_t left[2]          # elements of both subsets, if none may become empty; else 0
    bint ordered                # whether the waiting elements form a heap
    bint sided                  # whether the elements of the second subset have a heap of their own
    element_t second            # the second of the two subsets
    bint bounded                # whether the largest possible gain of two subsets is known
    Terms terms
    double low[TERMS]           # the smallest weight of all elements for each term,
    double high[TERMS]          # and the largest one
    bint uniform                # whether each pair has the same background:
    fixed_t each
    Base base
    Linked* linked              # for each subset: its border with the subset at hand, and its sums
    Border* border              # elements of some pairs may have left
    Py_ssize_t borders          # number of entries,
    Py_ssize_t room             # and room for entries
    element_t* close            # subsets linked to the subset at hand
    Py_ssize_t closes
    fixed_t* repelling          # for each subset: sum of the positive costs of its stored pairs, less their background
    fixed_t* gain               # for each subset: `largest_gain`, -1 if it is not known
    Linked between              # sums of the two subsets
    element_t* barred
    Py_ssize_t bars


# ----------------------------------------------------------------------------------------------------------- numbers

cdef inline Py_ssize_t subsets(State* s) noexcept nogil:
    return s.top - s.unuseds + s.taken


cdef inline element_t free_number(State* s, Py_ssize_t at) noexcept nogil:
    """A free number: 0 for the one that became free last, the smallest one of those never used after all of these."""
    return s.unused[s.unuseds - 1 - at] if at < s.unuseds else <element_t>(s.top + at - s.unuseds)


cdef inline Py_ssize_t place_of_number(State* s, Py_ssize_t k) noexcept nogil:
    """The place among the free numbers of the one that a thread takes after k others."""
    return 2 * k + s.odd if k < s.shared else k + s.shared


cdef inline void begin_number(State* s, element_t U) noexcept nogil:
    s.first[U] = -1
    s.linked[U].border = UNSEEN


# -------------------------------------------------------------------------------------------------------------- heap

cdef inline fixed_t key(State* s, element_t a) noexcept nogil:
    return NONE if s.at[a].cuts > 0 or (s.base.any and s.at[a].links == 0) else s.at[a].delta


cdef inline bint first_of_two(void* context, const void* one, const void* other) noexcept nogil:
    cdef const Waiting* x = <const Waiting*>one
    cdef const Waiting* y = <const Waiting*>other
    return (x.key < y.key) | ((x.key == y.key) & (x.element < y.element))


cdef inline void note_place(void* context, const void* record, Py_ssize_t at) noexcept nogil:
    (<State*>context).at[(<const Waiting*>record).element].place = <element_t>at


cdef inline Heap heap_of(State* s, Py_ssize_t side) noexcept nogil:
    return Heap(s.heap[side], s.waiting[side], sizeof(Waiting), first_of_two, note_place, s)


cdef inline Py_ssize_t side_of(State* s, element_t a) noexcept nogil:
    """The heap of an element that waits, or that was the last to wait."""
    return s.sided and s.label[a] == s.second


cdef inline bint stays(State* s, element_t a, element_t V) noexcept nogil:
    """Whether an element has too many stored pairs to switch between two subsets."""
    return s.matrix == NULL and s.starts[a + 1] - s.starts[a] > s.hub and s.size[V] > 0


cdef inline void let_wait(State* s, element_t a) noexcept nogil:
    cdef Waiting record = Waiting(key(s, a), a)
    cdef Py_ssize_t side = side_of(s, a)
    s.waiting[side] += 1
    if s.ordered:
        heap_rise(heap_of(s, side), s.waiting[side] - 1, &record)
    else:
        s.heap[side][s.waiting[side] - 1] = record
        s.at[a].place = <element_t>(s.waiting[side] - 1)


cdef inline fixed_t background(State* s, element_t a, element_t other) noexcept nogil:
    """The additional cost, except stored pairs, of an element in the other subset; NONE if that is forbidden."""
    cdef fixed_t there = fixed_at(&s.terms, a, other, False, s.scale)
    return NONE if there == NONE else there - fixed_at(&s.terms, a, s.label[a], True, s.scale)


cdef fixed_t least_background(State* s, element_t U, element_t V) noexcept nogil:
    """A lower bound on the additional cost, except stored pairs, of any element of U in V."""
    cdef Py_ssize_t t, p
    cdef double sum = 0.0, most = 0.0, into, out, low, high, x, y
    for t in range(s.terms.k):
        p = s.terms.partner[t]
        into, out = <double>s.terms.total[V * s.terms.k + t], <double>s.terms.total[U * s.terms.k + t]
        low, high = into - out + s.low[t], into - out + s.high[t]
        x, y = s.terms.factor[t] * s.low[p], s.terms.factor[t] * s.high[p]
        sum += min(min(x * low, x * high), min(y * low, y * high))
        most += max(fabs(x), fabs(y)) * (fabs(into) + fabs(out) + max(fabs(s.low[t]), fabs(s.high[t])))
    return <fixed_t>max(-2.0**61, min(2.0**61, (sum - 2.0**-48 * most) * s.scale)) - 4 * s.terms.k - 4


cdef void search_heap(
    State* s, Py_ssize_t side, element_t U, element_t V, fixed_t* least, element_t* best
) noexcept nogil:
    """Find a better element than the best one so far, with its change of cost, among elements of U that may enter V."""
    cdef Py_ssize_t stack[128]          # three for each level of the heap
    cdef Py_ssize_t depth = 1, at, below
    cdef fixed_t more = least_background(s, U, V), value
    cdef Waiting* record
    stack[0] = 0
    while depth:
        depth -= 1
        at = stack[depth]
        record = s.heap[side] + at
        if record.key == NONE or record.key + more > least[0]:
            continue                    # and so is all below, which has no smaller keys
        value = record.key + background(s, record.element, V)
        if value < least[0] or (value == least[0] and record.element < best[0]):
            least[0] = value
            best[0] = record.element
        below = 4 * at + 1
        for at in range(below, min(below + 4, s.waiting[side])):
            stack[depth] = at
            depth += 1


cdef inline void take_from(State* s, element_t a, element_t place) noexcept nogil:
    """Remove an element, which may be the first, from the waiting ones."""
    cdef Waiting last
    cdef Py_ssize_t side = side_of(s, a), at = s.at[a].place
    s.at[a].place = place
    s.waiting[side] -= 1
    if at < s.waiting[side]:
        last = s.heap[side][s.waiting[side]]
        if s.ordered:
            heap_settle(heap_of(s, side), at, &last)
        else:
            s.heap[side][at] = last
            s.at[last.element].place = <element_t>at


cdef inline element_t take_best(
    State* s, element_t U, element_t V, fixed_t* change, double cost, Stopping stopping
) noexcept nogil:
    """The element with the smallest change of cost, no longer waiting; -1 if there is none, or the run has to end."""
    cdef Py_ssize_t k
    cdef element_t a, best
    cdef fixed_t least, value, more
    while s.waiting[0] or s.waiting[1]:
        best = -1
        least = NONE
        if s.sided:
            if s.waiting[0]:
                search_heap(s, 0, U, V, &least, &best)
            if s.waiting[1]:
                search_heap(s, 1, V, U, &least, &best)
        elif s.ordered:
            best = s.heap[0].element
            least = s.heap[0].key
        else:
            for k in range(s.waiting[0]):
                a = s.heap[0][k].element
                value = key(s, a)
                if s.terms.any and value != NONE:
                    if s.left[s.label[a] == V] == 1:
                        continue
                    more = background(s, a, V if s.label[a] == U else U)
                    value = NONE if more == NONE else value + more
                if value < least or (value == least != NONE and a < best):
                    least = value
                    best = a
        if least == NONE:
            return -1
        if not s.base.any or may_leave(&s.base, best, s.label):
            change[0] = least
            take_from(s, best, DONE)
            return best
        s.barred[s.bars] = best
        s.bars += 1
        take_from(s, best, BARRED)
        if base_poll(&s.base, stopping, cost):
            return -1
    return -1


# ---------------------------------------------------------------------------------------------------------- switches

cdef inline void account(State* s, element_t a, cost_t cost, element_t theirs, element_t other) noexcept nogil:
    """Add a pair of element a to its change of cost."""
    if cost == INFINITY:
        s.at[a].cuts += theirs == other
    elif theirs == other:
        s.at[a].delta += fixed(cost, s.scale)
    elif theirs == s.label[a]:
        s.at[a].delta -= fixed(cost, s.scale)


cdef void look_at(State* s, element_t a, element_t other) noexcept nogil:
    """Compute the change of cost if a switches to the other subset. O(degree)"""
    cdef offset_t k
    s.at[a].delta = 0
    s.at[a].cuts = s.at[a].links = 0
    for k in range(s.starts[a], s.starts[a + 1]):
        account(s, a, s.costs[k], s.label[s.neighbours[k]], other)
        s.at[a].links += s.label[s.neighbours[k]] == other and not (s.base.any and s.base.lifted[k])


cdef void look_at_all(State* s, element_t U, element_t V) noexcept nogil:
    """Look at all elements of both subsets. O(size^2)"""
    cdef element_t a, b, W
    cdef const cost_t* row
    cdef Py_ssize_t i, j
    for i in range(2):
        W = V if i else U
        a = s.first[W]
        while a >= 0:
            s.at[a].delta = 0
            s.at[a].cuts = 0
            s.touched[s.touches] = a
            s.touches += 1
            a = s.next[a]
    for i in range(s.touches):
        a = s.touched[i]
        row = s.matrix + a * s.n
        for j in range(s.touches):
            b = s.touched[j]
            if a != b:
                account(s, a, row[b], s.label[b], V if s.label[a] == U else U)


cdef inline void touch(State* s, element_t a, element_t other) noexcept nogil:
    """Compute the change of cost if a switches; without pairs to the other subset if all of these are counted after."""
    s.touched[s.touches] = a
    s.touches += 1
    if s.base.any or s.partial:
        look_at(s, a, other)
    else:
        s.at[a].delta = -s.at[a].own
        s.at[a].cuts = 0


cdef inline fixed_t pair_background(State* s, element_t a, element_t b) noexcept nogil:
    if s.uniform:
        return s.each
    return fixed_between(&s.terms, s.terms.weights + a * s.terms.k, s.terms.weights + b * s.terms.k, s.scale)


cdef inline void sum_between(State* s, Linked* linked, element_t a, offset_t k) noexcept nogil:
    """Add a stored pair of an element to the sums of two subsets."""
    cdef fixed_t cost
    if s.costs[k] == INFINITY:
        linked.parted = True
        return
    cost = fixed(s.costs[k], s.scale)
    linked.crossing += cost
    if s.terms.k:
        cost += pair_background(s, a, s.neighbours[k])
    linked.attracting += min(cost, 0)


cdef fixed_t largest_cut(State* s, element_t U) noexcept nogil:
    """An upper bound on the cost between two parts of a subset of at most SMALL elements. O(sum of degrees + size^3)

    It is the sum of the positive costs, each less what must be paid if this pair is cut: a third element is then cut
    from one of the two.
    """
    cdef fixed_t costs[SMALL][SMALL]    # what is not used up yet
    cdef fixed_t sum = 0, paid
    cdef Py_ssize_t size = s.size[U], i, j, k
    cdef element_t a = s.first[U], b
    cdef offset_t at
    for i in range(size):               # `inside` is free between switches
        s.inside[a] = <element_t>i
        a = s.next[a]
    a = s.first[U]
    for i in range(size):
        b = s.first[U]
        for j in range(size):
            costs[i][j] = pair_background(s, a, b) if s.terms.k else 0
            b = s.next[b]
        for at in range(s.starts[a], s.starts[a + 1]):
            if s.label[s.neighbours[at]] == U:
                costs[i][s.inside[s.neighbours[at]]] += fixed(s.costs[at], s.scale)
        a = s.next[a]
    for i in range(size):
        for j in range(i):
            for k in range(size):
                if costs[i][j] <= 0:
                    break
                if k == i or k == j:
                    continue
                paid = min(costs[i][j], min(-costs[i][k], -costs[j][k]))
                if paid > 0:
                    costs[i][j] -= paid
                    costs[i][k] = costs[k][i] = costs[i][k] + paid
                    costs[j][k] = costs[k][j] = costs[j][k] + paid
            sum += max(costs[i][j], 0)
    return sum


cdef fixed_t largest_gain(State* s, element_t U) noexcept nogil:
    """The largest cost between two parts of a subset, or more: the sum of the positive costs of its pairs."""
    cdef Py_ssize_t t
    cdef fixed_t sum = s.repelling[U]
    cdef double within = 0.0, total, size = s.size[U]
    if s.size[U] < 2:
        return 0
    if s.gain[U] >= 0:
        return s.gain[U]
    for t in range(s.terms.k):          # a sum of squares is at least the square of the sum over the number
        total = <double>s.terms.total[U * s.terms.k + t]
        within += s.terms.factor[t] * total * <double>s.terms.total[U * s.terms.k + s.terms.partner[t]] * (
            1.0 - 1.0 / size if s.terms.partner[t] == t else 1.0
        )
    if s.terms.k:
        sum += <fixed_t>min(2.0**61, 0.5 * within * (1.0 + 2.0**-50) * s.scale + 1.0)
    if sum > 0 and s.size[U] <= SMALL:
        sum = min(sum, largest_cut(s, U))
    s.gain[U] = sum
    return sum


cdef inline fixed_t change_of_join(State* s, element_t U, element_t V, const Linked* linked) noexcept nogil:
    """The change of cost by joining two subsets; not for groups, nor if subsets have to be connected."""
    return NONE if linked.parted else linked.crossing + fixed_between(
        &s.terms, &s.terms.total[U * s.terms.k], &s.terms.total[V * s.terms.k], s.scale)


cdef void look_at_border(State* s, element_t U, element_t V) noexcept nogil:
    """Look at the elements that a stored pair links to the other subset; at all elements if V is empty."""
    cdef element_t a, b, at, ahead
    cdef fixed_t cost
    cdef offset_t k
    cdef Py_ssize_t turn
    s.between = Linked(UNSEEN, False, 0, 0)
    if s.size[V] == 0:
        a = s.first[U]
        while a >= 0:
            touch(s, a, V)
            s.at[a].links = 1              # any element may begin the new subset
            a = s.next[a]
        return
    at = ahead = s.linked[V].border
    for turn in range(AHEAD):
        ahead = s.border[ahead].next if ahead >= 0 else ahead
    while at >= 0:
        if ahead >= 0:
            b = s.neighbours[s.border[ahead].pair]
            prefetch(s.label + b)
            prefetch(s.at + b)
            prefetch(s.at + s.border[ahead].element)
            prefetch(s.costs + s.border[ahead].pair)
            ahead = s.border[ahead].next
        a, k = s.border[at].element, s.border[at].pair
        at = s.border[at].next
        b = s.neighbours[k]
        if s.label[a] != U or s.label[b] != V:
            continue
        if s.at[a].place == OUT:
            s.at[a].place = LISTED
            touch(s, a, V)
        if s.at[b].place == OUT:
            s.at[b].place = LISTED
            touch(s, b, U)
        if s.base.any or s.partial:
            continue
        sum_between(s, &s.between, a, k)
        if s.costs[k] == INFINITY:
            s.at[a].cuts += 1
            s.at[b].cuts += 1
            continue
        cost = fixed(s.costs[k], s.scale)
        s.at[a].delta += cost
        s.at[b].delta += cost


cdef inline Linked* begin_border(State* s, element_t W) noexcept nogil:
    """The border of the subset at hand with another one, from now on one of those that were begun."""
    if s.linked[W].border == UNSEEN:
        s.linked[W] = Linked(LISTING, False, 0, 0)
        s.close[s.closes] = W
        s.closes += 1
    return s.linked + W


cdef inline Linked* linked_by(State* s, element_t a, offset_t k) noexcept nogil:
    """The other subset to which a stored (base) pair links an element; NULL if it need not be looked at."""
    cdef element_t W = s.label[s.neighbours[k]], U = s.label[a]
    if (W <= U and not s.crosses) or not s.reach[s.group[U]] >> s.group[W] & 1:
        return NULL
    if (s.base.any and s.base.lifted[k]) or not (s.pending[U] | s.pending[W]):
        return NULL
    if not (s.pending[U] | s.pending[W]) & WHOLLY and not (s.near[a] | s.near[s.neighbours[k]]) & CLOSE:
        return NULL
    return begin_border(s, W)


cdef void list_border(State* s, element_t a) noexcept nogil:
    """List the pairs that link an element to subsets to improve with its own. O(degree)"""
    cdef offset_t k
    cdef Linked* linked
    for k in range(s.starts[a], s.starts[a + 1]):
        linked = linked_by(s, a, k)
        if linked != NULL and linked.border != CANNOT_GAIN:
            s.border[s.borders] = Border(k, a, linked.border)
            linked.border = <element_t>s.borders
            s.borders += 1


cdef bint find_sums(State* s, element_t U, fixed_t tolerance) noexcept nogil:
    """Find linked subsets with which a subset cannot gain; whether there are others. O(sum of degrees)"""
    cdef element_t a = s.first[U], W
    cdef offset_t k
    cdef Py_ssize_t i
    cdef Linked* linked
    cdef fixed_t gain = largest_gain(s, U)
    cdef bint can = False
    s.listed = gain > tolerance
    if gain > tolerance:
        return True
    while a >= 0:
        for k in range(s.starts[a], s.starts[a + 1] if s.pending[U] & WHOLLY or s.near[a] else 0):
            linked = linked_by(s, a, k)
            if linked != NULL:
                sum_between(s, linked, a, k)
        a = s.next[a]
    for i in range(s.closes):
        W = s.close[i]
        linked = s.linked + W
        if (s.pending[U] | s.pending[W]) & WHOLLY and change_of_join(s, U, W, linked) >= -tolerance and (
            gain - linked.attracting + largest_gain(s, W) <= tolerance
        ):
            linked.border = CANNOT_GAIN
        else:
            can = True
    return can


cdef void sum_borders(State* s, element_t a) noexcept nogil:
    """Add the pairs of an element to the sums of its subset and others. O(degree)"""
    cdef element_t W
    cdef offset_t k
    for k in range(s.starts[a], s.starts[a + 1]):
        W = s.label[s.neighbours[k]]
        if W != s.label[a]:
            sum_between(s, begin_border(s, W), a, k)


cdef void forget_borders(State* s) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(s.closes):
        s.linked[s.close[i]].border = UNSEEN
    s.closes = s.borders = 0


cdef void list_borders(State* s, element_t U) noexcept nogil:
    """List the elements of a subset at the border with each one to improve with it. O(sum of degrees)"""
    cdef element_t a = s.first[U], b = s.next[a] if a >= 0 else -1, c
    cdef offset_t k
    while a >= 0:
        c = s.next[b] if b >= 0 else -1
        if c >= 0:
            prefetch(s.neighbours + s.starts[c])
            if s.next[c] >= 0:
                prefetch(s.next + s.next[c])
                prefetch(s.starts + s.next[c])
        if b >= 0 and (s.pending[U] & WHOLLY or s.near[b]):
            for k in range(s.starts[b], s.starts[b + 1]):
                prefetch(s.label + s.neighbours[k])
        if s.pending[U] & WHOLLY or s.near[a]:
            list_border(s, a)
        a, b = b, c


cdef void add_borders(State* s, element_t U) noexcept nogil:
    """List the elements that have entered a subset. To list all its elements each time would take too long."""
    cdef Py_ssize_t i
    cdef element_t a
    for i in range(s.switches):
        a = s.switched[i]
        if s.label[a] != U:
            continue
        if s.borders + s.starts[a + 1] - s.starts[a] > s.room:
            forget_borders(s)
            list_borders(s, U)
            return
        list_border(s, a)


cdef void begin_subset(State* s, element_t a) noexcept nogil:
    """Begin a connected subset with an element: from now on, only elements that base pairs link to it may switch."""
    cdef Py_ssize_t k
    for k in range(s.touches):
        s.at[s.touched[k]].place = OUT
    s.waiting[0] = s.bars = 0
    s.touched[0] = a
    s.touches = 1
    s.at[a].place = DONE


cdef inline void correct(State* s, element_t b, cost_t cost, element_t from_subset) noexcept nogil:
    """The other element of a pair of b has left `from_subset` for the other subset."""
    cdef fixed_t change
    if cost == INFINITY:
        s.at[b].cuts += 1 if s.label[b] == from_subset else -1
        return
    change = 2 * fixed(cost, s.scale)
    s.at[b].delta += change if s.label[b] == from_subset else -change


cdef void put_freed_back(State* s, element_t a, element_t from_subset) noexcept nogil:
    """Let barred elements wait again that may switch after the switch of a."""
    cdef Py_ssize_t i, kept = 0
    mark_freed(&s.base, a, s.label, from_subset)
    for i in range(s.bars):
        if is_freed(&s.base, s.barred[i]):
            let_wait(s, s.barred[i])
        else:
            s.barred[kept] = s.barred[i]
            kept += 1
    s.bars = kept


cdef void switch(State* s, element_t a, element_t U, element_t V) noexcept nogil:
    """Let a switch, and update the changes of cost of the waiting elements."""
    cdef element_t from_subset = s.label[a], other = V if from_subset == U else U, b
    cdef offset_t k
    cdef Py_ssize_t i, count = 0
    cdef cost_t cost
    cdef const cost_t* row
    cdef Waiting record
    for i in range(2 if s.matrix == NULL else 0):       # the next to switch is often one that comes first now
        if s.waiting[i]:
            prefetch(s.neighbours + s.starts[s.heap[i][0].element])
            prefetch(s.costs + s.starts[s.heap[i][0].element])
    s.label[a] = other
    terms_move(&s.terms, a, from_subset, other)
    if s.left[0]:
        s.left[from_subset == V] -= 1
        s.left[other == V] += 1
    if s.matrix != NULL:
        row = s.matrix + a * s.n
        for i in range(s.waiting[0]):
            correct(s, s.heap[0][i].element, row[s.heap[0][i].element], from_subset)
        return
    if s.bars:
        put_freed_back(s, a, from_subset)
    for k in range(s.starts[a], s.starts[a + 1]):       # without branches, which could not be predicted
        s.inside[count] = <element_t>(k - s.starts[a])
        count += (s.label[s.neighbours[k]] == U) | (s.label[s.neighbours[k]] == V)
    for i in range(count):
        k = s.starts[a] + s.inside[i]
        b, cost = s.neighbours[k], s.costs[k]
        if s.at[b].place == DONE:
            continue
        if s.at[b].place == OUT:
            if s.label[b] == from_subset and not (s.base.any and s.base.lifted[k]):     # now linked to the other subset
                touch(s, b, other)
                if stays(s, b, V):
                    s.at[b].place = DONE
                    continue
                if not s.base.any and not s.partial:
                    correct(s, b, cost, from_subset)
                let_wait(s, b)
            continue
        correct(s, b, cost, from_subset)
        if s.base.any and not s.base.lifted[k]:
            s.at[b].links += 1 if s.label[b] == from_subset else -1
        if not s.ordered:
            continue
        if s.base.any:
            if s.at[b].place != BARRED:
                record = Waiting(key(s, b), b)
                heap_settle(heap_of(s, side_of(s, b)), s.at[b].place, &record)
            continue
        record = Waiting(key(s, b), b)
        if (cost > 0) == (s.label[b] == from_subset):
            heap_sink(heap_of(s, side_of(s, b)), s.at[b].place, &record)
        else:
            heap_rise(heap_of(s, side_of(s, b)), s.at[b].place, &record)


cdef void enlist(State* s, element_t a, element_t W) noexcept nogil:
    s.previous[a] = -1
    s.next[a] = s.first[W]
    if s.first[W] >= 0:
        s.previous[s.first[W]] = a
    s.first[W] = a
    s.size[W] += 1
    s.gain[W] = -1
    s.label[a] = W
    terms_put(&s.terms, a, W)


cdef void delist(State* s, element_t a, element_t W) noexcept nogil:
    terms_take(&s.terms, a, W)
    if s.previous[a] >= 0:
        s.next[s.previous[a]] = s.next[a]
    else:
        s.first[W] = s.next[a]
    if s.next[a] >= 0:
        s.previous[s.next[a]] = s.previous[a]
    s.size[W] -= 1
    s.gain[W] = -1


cdef void move(State* s, element_t a, element_t W) noexcept nogil:
    """Move an element to another subset for good, and mark the subsets near it as near a change. O(degree)"""
    cdef element_t U = s.label[a], V
    cdef Element* neighbour
    cdef offset_t k
    cdef fixed_t cost, least
    delist(s, a, U)
    enlist(s, a, W)
    if s.matrix != NULL:
        return
    s.at[a].own = 0
    s.near_change[U] = s.near_change[W] = True
    s.near[a] |= NOW
    for k in range(s.starts[a], s.starts[a + 1]):
        V, neighbour = s.label[s.neighbours[k]], s.at + s.neighbours[k]
        s.near_change[V] = True
        s.near[s.neighbours[k]] |= NOW
        if (V != U and V != W) or s.costs[k] == INFINITY:
            continue
        cost = fixed(s.costs[k], s.scale)
        least = -pair_background(s, a, s.neighbours[k]) if s.terms.k else 0
        if V == U:
            neighbour.own -= cost
            s.repelling[U] -= max(cost, least)
        else:
            neighbour.own += cost
            s.at[a].own += cost
            s.repelling[W] += max(cost, least)


cdef void sum_up(State* s) noexcept nogil:
    """Compute the sums of all elements and subsets that `move` updates. O(m)"""
    cdef element_t a, b
    cdef offset_t k
    cdef fixed_t cost
    for a in range(<element_t>s.n):
        s.at[a].own = 0
        for k in range(s.starts[a], s.starts[a + 1]):
            b = s.neighbours[k]
            if s.label[a] == s.label[b] and s.costs[k] != INFINITY:
                cost = fixed(s.costs[k], s.scale)
                s.at[a].own += cost
                if a < b:
                    s.repelling[s.label[a]] += max(cost, -pair_background(s, a, b) if s.terms.k else 0)


cdef fixed_t join_delta(State* s, element_t U, element_t V) noexcept nogil:
    """The change of cost by joining the two subsets, NONE if forbidden. Their elements were looked at before."""
    cdef element_t a, b
    cdef offset_t k
    cdef Py_ssize_t i, j
    cdef fixed_t sum = fixed_between(
        &s.terms, &s.terms.total[U * s.terms.k], &s.terms.total[V * s.terms.k], s.scale)
    cdef fixed_t price
    if s.terms.groups.any:
        if s.terms.groups.max_size and (
            s.terms.groups.load[U] + s.terms.groups.load[V] > s.terms.groups.max_size
        ):
            return NONE
        a = s.first[U] if s.size[U] < s.size[V] else s.first[V]
        while a >= 0:
            price = groups_fixed(&s.terms.groups, a, V if s.label[a] == U else U, False, s.scale)
            if price == NONE:
                return NONE
            sum += price
            a = s.next[a]
    if s.base.any:                      # a waiting element may have only lifted pairs to the other subset
        if s.touches == 0:              # the elements that linked the subsets have left
            return NONE
        a = s.first[U] if s.size[U] < s.size[V] else s.first[V]
        while a >= 0:
            for k in range(s.starts[a], s.starts[a + 1]):
                if s.label[s.neighbours[k]] == (V if s.label[a] == U else U):
                    if s.costs[k] == INFINITY:
                        return NONE
                    sum += fixed(s.costs[k], s.scale)
            a = s.next[a]
        return sum
    if s.matrix == NULL:
        return NONE if s.between.parted else sum + s.between.crossing
    for i in range(s.touches):
        a = s.touched[i]
        if s.label[a] != U:
            continue
        if s.at[a].cuts:
            return NONE
        for j in range(s.touches):
            b = s.touched[j]
            if s.label[b] == V:
                sum += fixed(s.matrix[a * s.n + b], s.scale)
    return sum


cdef fixed_t improve_pair(
    State* s, element_t U, element_t V, fixed_t tolerance, Py_ssize_t patience, fixed_t height, double cost,
    Stopping stopping
) noexcept nogil:
    """Join two subsets, or apply the best prefix of a sequence of switches; the change of cost, 0 if there is none."""
    cdef Py_ssize_t length = 0, kept = 0, k
    cdef fixed_t sum = 0, smallest = 0, least = -NONE, join, change = 0
    cdef element_t a, W
    s.waiting[0] = s.waiting[1] = s.touches = s.bars = s.switches = 0
    s.heap[1], s.second = s.heap[0] + s.size[U], V
    s.left[0] = s.left[1] = 0
    if s.terms.groups.limited and s.size[V] > 0 and subsets(s) <= s.terms.groups.least:
        s.left[0], s.left[1] = s.size[U], s.size[V]
    if s.bounded and s.size[V] == 0 and largest_gain(s, U) <= tolerance:
        return 0
    s.partial = s.matrix == NULL and s.size[V] > 0 and not (s.pending[U] | s.pending[V]) & WHOLLY
    if s.matrix != NULL:
        look_at_all(s, U, V)
    else:
        look_at_border(s, U, V)
    join = join_delta(s, U, V) if s.size[V] > 0 and s.left[0] == 0 and not s.partial else 0
    if s.bounded and not s.partial:
        least = s.between.attracting - largest_gain(s, U) - largest_gain(s, V)
    for k in range(s.touches if least < min(join, -tolerance) else 0):
        if k + AHEAD < s.touches:
            prefetch(s.at + s.touched[k + AHEAD])
            prefetch(s.starts + s.touched[k + AHEAD])
        if stays(s, s.touched[k], V):
            s.at[s.touched[k]].place = DONE
        else:
            let_wait(s, s.touched[k])
    while least < min(join, smallest - tolerance) and (length - kept < patience or sum - smallest < height):
        a = take_best(s, U, V, &change, cost + smallest / s.scale, stopping)
        if a < 0:
            break
        sum += change
        s.switched[length] = a
        length += 1
        if s.base.any and s.size[V] == 0 and length == 1:
            begin_subset(s, a)
        switch(s, a, U, V)
        if sum < smallest - tolerance:
            smallest = sum
            kept = length
        if base_poll(&s.base, stopping, cost + smallest / s.scale):
            break
    for k in range(length):             # back to the labels of the lists
        a = s.switched[k]
        W = V if s.label[a] == U else U
        terms_move(&s.terms, a, s.label[a], W)
        s.label[a] = W
    for k in range(s.touches):
        if k + AHEAD < s.touches:
            prefetch(s.at + s.touched[k + AHEAD])
        s.at[s.touched[k]].place = OUT
    if join < -tolerance and join <= smallest:
        if s.crosses and s.size[V] > s.size[U]:
            U, V = V, U
        while s.first[V] >= 0:
            a = s.first[V]
            move(s, a, U)
            s.switched[s.switches] = a
            s.switches += 1
        smallest = join
    elif kept:
        s.switches = kept
        for k in range(kept):
            a = s.switched[k]
            move(s, a, V if s.label[a] == U else U)
    else:
        return 0
    s.changed[U] = s.changed[V] = True
    for k in range(2):
        W = V if k else U
        if s.size[W] == 0:
            s.unused[s.unuseds] = W
            s.unuseds += 1
            s.changed[W] = False
    return smallest


cdef int ascending(const void* x, const void* y) noexcept nogil:
    return (<const element_t*>x)[0] - (<const element_t*>y)[0]


cdef class Pairs:
    """A partition, and the arrays with which pairs of its subsets are improved.

    Parameters
    ----------
    matrix : ndarray of float64, shape (n, n), or None
    rows : tuple of compressed rows, or None
    labels : ndarray of int32, shape (n,)
        Canonical.
    magnitude, tolerance, cost : float
        Magnitude and tolerance of the problem, and cost of the labels.
    patience : int
        Number of switches without a new best prefix after which a sequence may end.
    height : float
        Amount above the cost of the best prefix at which such a sequence ends.
    whole : int
        In two subsets with at most `whole` elements, half of all elements may switch without a new best prefix.
    terms : Terms, optional
        Of a background, groups and sizes, see `graphpart.partition.local_search.sums`.
    divided : bool
        Whether subsets are divided into groups, on which two threads may work; not for a matrix, nor for constraints.
    large : int
        Subsets with fewer elements are always looked at wholly;
    few : int
        others only if more than one of so many elements, and its neighbours, have moved.

    Attributes
    ----------
    labels : ndarray of int32
        Numbers of subsets, from 0 to n, as they are now.
    cost : float
    hub : int
        Elements with more stored pairs switch to the empty set only.
    bounded : bool
        Whether there is neither a matrix, nor groups, limits or a background that attracts, and subsets need not be
        connected.
    """
    cdef State s
    cdef State twin                 # of the second thread, in its own part of what is not of elements or subsets
    cdef list kept
    cdef readonly object labels
    cdef readonly double cost
    cdef readonly offset_t hub
    cdef readonly bint bounded
    cdef fixed_t tolerance, height
    cdef Py_ssize_t patience, whole, large, few
    cdef bint begun                 # whether there was a round
    cdef element_t* stamp

    def __cinit__(self, matrix, rows, labels, double magnitude, double tolerance, double cost, Py_ssize_t patience,
                  double height=0.0, Py_ssize_t whole=0, terms=None, bint divided=False,
                  Py_ssize_t large=2**31 - 1, Py_ssize_t few=8):
        cdef Py_ssize_t n = len(labels), a
        cdef const cost_t[:, ::1] dense
        cdef const offset_t[::1] starts
        cdef const element_t[::1] neighbours
        cdef const cost_t[::1] costs
        cdef element_t[::1] label
        cdef char[:, ::1] flags = np.zeros((6, n + 2), np.int8)
        cdef char[::1] border, linked = empty_int8((n + 2) * sizeof(Linked))
        cdef element_t[::1] inside
        cdef fixed_t[:, ::1] sums = np.zeros((2, n + 2), np.int64)
        cdef element_t[:, ::1] room = np.zeros((12, n + 2), np.int32)
        cdef char[::1] at = empty_int8((n + 2) * sizeof(Element)), heap = empty_int8((n + 2) * sizeof(Waiting))
        self.labels = np.array(labels, np.int32)
        label = self.labels
        self.cost = cost
        self.kept = [label, flags, room, at, heap, sums, linked, matrix, rows]
        self.patience = patience
        self.whole = whole
        self.large, self.few = large, few
        self.begun = False
        self.s.n = n
        self.s.matrix = NULL
        if matrix is not None:
            dense = matrix
            self.s.matrix = &dense[0, 0]
        else:
            starts, neighbours, costs = rows
            self.hub = self.s.hub = max(100, 10 * starts[n] // max(1, n))
            self.s.starts = &starts[0]
            self.s.neighbours = &neighbours[0] if neighbours.shape[0] else NULL
            self.s.costs = &costs[0] if costs.shape[0] else NULL
            # A pair is listed once; there is as much room again for elements that enter later.
            self.s.room = max(1, min(costs.shape[0], INT32_MAX))
            border = empty_int8(self.s.room * sizeof(Border))
            self.kept.append(border)
            self.s.border = <Border*>&border[0]
            self.kept += take_base(&self.s.base, starts, neighbours, terms, n + 1)
        self.s.scale = scale_for(min(magnitude * n, DBL_MAX))
        self.height = <fixed_t>(min(height, magnitude) * self.s.scale)
        self.kept.append(take_terms(&self.s.terms, terms, n + 1))
        self.tolerance = fixed_tolerance(&self.s.terms, tolerance, self.s.scale)
        self.s.ordered = self.s.matrix == NULL and not self.s.terms.groups.any
        self.s.sided = self.s.ordered and self.s.terms.any
        self.bounded = self.s.bounded = self.s.ordered and not self.s.base.any and (terms is None or terms.repels)
        if self.s.terms.k:
            self.find_weights()
        self.s.label = &label[0]
        self.s.changed = &flags[0, 0]
        self.s.pending = &flags[1, 0]
        self.s.near_change = &flags[2, 0]
        self.s.near = &flags[3, 0]
        self.s.at = <Element*>&at[0]
        self.s.heap[0] = <Waiting*>&heap[0]
        self.s.repelling, self.s.gain = &sums[0, 0], &sums[1, 0]
        self.s.size = &room[0, 0]
        self.s.first = &room[1, 0]
        self.s.next = &room[2, 0]
        self.s.previous = &room[3, 0]
        self.s.unused = &room[4, 0]
        self.s.switched = &room[5, 0]
        self.s.touched = &room[6, 0]
        self.s.barred = &room[7, 0]
        self.s.order = &room[8, 0]
        self.stamp = &room[9, 0]
        self.s.close = &room[10, 0]
        self.s.inside = &room[11, 0]
        self.s.group = <unsigned char*>&flags[4, 0]
        self.s.owed = &flags[5, 0]
        self.s.divided = divided and self.s.ordered and not self.s.base.any and self.s.room == costs.shape[0]
        if self.s.divided:
            inside = zeros_int32(n + 2)
            self.kept.append(inside)
            self.twin.inside = &inside[0]
        self.s.linked = <Linked*>&linked[0]
        self.s.taken = self.s.shared = self.twin.taken = 0
        self.s.odd = False
        self.s.top = int(self.labels.max(initial=-1)) + 1
        with nogil:
            for a in range(self.s.top):
                begin_number(&self.s, <element_t>a)
                self.s.changed[a] = True
            for a in range(n - 1, -1, -1):
                self.s.at[a].place = OUT
                enlist(&self.s, <element_t>a, label[a])
            if self.s.matrix == NULL:
                sum_up(&self.s)
            self.find_unused()

    cdef void find_weights(self) noexcept nogil:
        """The smallest and the largest weight for each term, and the background of a pair if it is always the same."""
        cdef Py_ssize_t t, a
        cdef double weight
        cdef State* s = &self.s
        s.uniform = True
        for t in range(s.terms.k):
            s.low[t], s.high[t] = INFINITY, -INFINITY
            for a in range(s.n):
                weight = <double>s.terms.weights[a * s.terms.k + t]
                s.low[t], s.high[t] = min(s.low[t], weight), max(s.high[t], weight)
                s.uniform &= s.terms.weights[a * s.terms.k + t] == s.terms.weights[t]
        s.each = fixed_between(&s.terms, s.terms.weights, s.terms.weights, s.scale)

    cdef void find_unused(self) noexcept nogil:
        """List the free numbers below the largest one in use; the smallest one comes first."""
        cdef Py_ssize_t U
        self.s.unuseds = 0
        for U in range(self.s.top - 1, -1, -1):
            if self.s.size[U] == 0:
                self.s.unused[self.s.unuseds] = <element_t>U
                self.s.unuseds += 1

    def adopt(self, const element_t[::1] labels, double cost):
        """Take over a partition. A subset gets the old number of its smallest element, unless that is taken."""
        cdef Py_ssize_t a, free = 0, top = self.s.top
        cdef element_t U, V
        cdef State* s = &self.s
        cdef element_t* name = self.s.order
        cdef element_t* taken = self.stamp
        with nogil:
            for a in range(s.n):
                top = max(top, labels[a] + 1)
            for a in range(top):
                name[a] = -1
                taken[a] = -1
            for a in range(s.n):
                U, V = s.label[a], labels[a]
                if name[V] == -1:
                    name[V] = U if taken[U] == -1 else -2
                    taken[U] = V
            for a in range(s.n):
                U, V = s.label[a], labels[a]
                if name[V] == -2:
                    while taken[free] != -1:
                        free += 1
                    name[V] = <element_t>free
                    taken[free] = V
                    if free >= s.top:
                        begin_number(s, name[V])
                        s.top = free + 1
                if name[V] != U:
                    move(s, <element_t>a, name[V])
                    s.changed[U] = s.changed[name[V]] = True
            self.find_unused()
        self.cost = cost

    @property
    def owes(self):
        """Whether subsets that changed partly have not been looked at wholly."""
        cdef Py_ssize_t U
        for U in range(self.s.top):
            if self.s.owed[U] and self.s.size[U]:
                return True
        return False

    def round(self, Stopping stopping, bint wholly=False):
        """Improve all pairs of linked subsets of which one changed, then split changed subsets; whether that helped.

        With `wholly`, subsets that changed partly are looked at wholly, also those of earlier rounds.
        """
        cdef Py_ssize_t U, step
        cdef fixed_t before
        cdef State* s = &self.s
        cdef int[12] reach = [3, 3, 12, 12, 4, 8, 0, 0, 8, 4, 0, 0]     # of each group, for each step
        s.change, s.crosses = 0, False
        wholly |= not self.begun or not s.bounded
        self.begun = True
        with nogil:
            self.find_pending(wholly)
        if not s.divided:
            s.reach[0] = 1
            self.improve_pairs(False, stopping)
        else:
            self.divide()
            for step in range(3):
                for U in range(GROUPS):
                    s.reach[U] = reach[GROUPS * step + U]
                s.crosses = step > 0
                before = s.change
                self.part(step + 1, False)
                self.at_once(self.improve_pairs, stopping)
                self.unite(False)
                if s.change != before:
                    self.find_near()
        with nogil:
            for U in range(s.top):
                s.pending[U] = s.size[U] > 0 and (
                    s.pending[U] & WHOLLY or (s.changed[U] and (wholly or s.size[U] < self.large)))
        if not s.divided:
            self.split(False, stopping)
        else:
            self.part(1, True)
            self.at_once(self.split, stopping)
            self.unite(True)
        self.take_numbers()
        self.cost += s.change / s.scale
        return s.change < 0

    def joins_help(self):
        """Whether to join two subsets, of which one has changed since the last round, lowers the cost.

        Not for a matrix, nor for groups, limits or a background that attracts, nor if subsets have to be connected.
        """
        cdef Py_ssize_t U, i
        cdef element_t a
        cdef State* s = &self.s
        cdef bint helps = False
        with nogil:
            for U in range(s.top):
                a = s.first[U] if s.changed[U] else -1
                while a >= 0:
                    sum_borders(s, a)
                    a = s.next[a]
                for i in range(s.closes):
                    helps |= change_of_join(s, <element_t>U, s.close[i], s.linked + s.close[i]) < -self.tolerance
                forget_borders(s)
                if helps:
                    break
        return helps

    def at_once(self, work, Stopping stopping):
        side_by_side(partial(work, False, stopping), partial(work, True, stopping.child()))

    def improve_pairs(self, bint second, Stopping stopping):
        """Improve pairs of linked subsets within reach of each other."""
        cdef Py_ssize_t U, k, count
        cdef element_t W
        cdef State* s = &self.twin if second else &self.s
        with nogil:
            for U in range(s.top):
                if s.size[U] == 0 or not s.near_change[U]:
                    continue
                if s.divided and not (s.mine >> s.group[U] & 1 and s.reach[s.group[U]]):
                    continue
                count = self.find_linked(s, <element_t>U)
                for k in range(count):
                    W = s.order[k]
                    if s.size[U] and s.size[W] and (s.matrix != NULL or s.linked[W].border != CANNOT_GAIN):
                        if self.improve(s, <element_t>U, W, stopping) and s.matrix == NULL:
                            if s.listed:
                                add_borders(s, <element_t>U)
                            else:       # also the borders with subsets that U could not gain with before
                                forget_borders(s)
                                list_borders(s, <element_t>U)
                                s.listed = True
                    if stopping.poll(self.cost_of(s)):
                        break
                if stopping.poll(self.cost_of(s)):
                    break
            if s.divided:
                forget_borders(s)               # the next thread to look at these subsets may be another one

    def split(self, bint second, Stopping stopping):
        """Split pending subsets."""
        cdef Py_ssize_t U
        cdef element_t W
        cdef State* s = &self.twin if second else &self.s
        with nogil:
            for U in range(s.top):
                if s.divided and not s.mine >> s.group[U] & 1:
                    continue
                while s.pending[U] and s.size[U] > 1 and not stopping.poll(self.cost_of(s)):
                    if s.terms.groups.limited and subsets(s) >= s.terms.groups.most:
                        break
                    W = free_number(s, place_of_number(s, s.taken))
                    begin_number(s, W)
                    if not self.improve(s, <element_t>U, W, stopping):
                        break
                    s.taken += 1

    cdef void divide(self) noexcept nogil:
        """Divide all subsets into groups."""
        cdef State* s = &self.s
        cdef Py_ssize_t U, i, larges = 0, smalls = 0, before = 0    # elements of small subsets
        cdef element_t* large = self.stamp
        cdef int[4] group = [0, 2, 3, 1]        # so that the largest subsets are on both sides in the first step
        for U in range(s.top):
            if s.size[U] * SHARE <= s.n:
                smalls += s.size[U]
                continue
            i = larges                          # sorted by size, then by number
            while i and s.size[large[i - 1]] < s.size[U]:
                large[i] = large[i - 1]
                i -= 1
            large[i] = <element_t>U
            larges += 1
        for i in range(larges):                 # time depends on their sizes, and on their number
            U = i % (2 * GROUPS)
            s.group[large[i]] = group[min(U, 2 * GROUPS - 1 - U)]
        for U in range(s.top):                  # and on the number of small ones
            if s.size[U] and s.size[U] * SHARE <= s.n:
                s.group[U] = group[GROUPS * before // smalls]
                before += s.size[U]

    cdef void part(self, int other, bint splits) noexcept nogil:
        """Give the first thread group 0 and another one, the second thread the rest."""
        cdef State* s = &self.s
        cdef element_t* inside = self.twin.inside
        cdef Py_ssize_t U, first = 0
        cdef Py_ssize_t[2] numbers = [0, 0]     # each element may need a number
        cdef bint second
        s.mine = 1 | 1 << other
        for U in range(s.top):
            if s.size[U]:
                second = not s.mine >> s.group[U] & 1
                numbers[second] += s.size[U] - 1
                first += 0 if second else s.size[U]
        s.room //= 2                            # a pair is listed by one of its elements only
        s.shared = min(numbers[0], numbers[1]) if splits else 0
        self.twin = s[0]
        self.twin.change, self.twin.mine, self.twin.inside, self.twin.odd = 0, 15 - s.mine, inside, True
        self.twin.border += s.room
        self.twin.heap[0] += first
        self.twin.switched += first
        self.twin.touched += first
        self.twin.barred += first
        self.twin.order += first
        self.twin.close += first
        if not splits:
            self.twin.unused, self.twin.unuseds = self.stamp, 0

    cdef void unite(self, bint splits) noexcept nogil:
        """Take over what the second thread has changed."""
        cdef State* s = &self.s
        s.change += self.twin.change
        s.room *= 2
        if not splits:
            memcpy(s.unused + s.unuseds, self.twin.unused, self.twin.unuseds * sizeof(element_t))
            s.unuseds += self.twin.unuseds

    cdef void take_numbers(self) noexcept nogil:
        """Remove the numbers of new subsets from the free ones."""
        cdef State* s = &self.s
        cdef State* of
        cdef Py_ssize_t at, k, most = 0, kept = 0, taken = s.taken + self.twin.taken
        if taken == 0:
            return
        for k in range(2):                      # all free numbers up to the last one that was taken
            of = &self.twin if k else s
            if of.taken:
                most = max(most, place_of_number(of, of.taken - 1) + 1)
        for at in range(most):
            of = &self.twin if at < 2 * s.shared and at & 1 else s
            k = at // 2 if at < 2 * s.shared else at - s.shared
            if k >= (of.taken if at < 2 * s.shared else max(s.taken, self.twin.taken)):
                self.stamp[kept] = free_number(s, at)
                kept += 1
        s.top += max(0, most - s.unuseds)
        s.unuseds = max(0, s.unuseds - most)
        for at in range(kept - 1, -1, -1):
            s.unused[s.unuseds] = self.stamp[at]
            s.unuseds += 1
        s.taken = s.shared = self.twin.taken = 0

    cdef void find_near(self) noexcept nogil:
        """Mark the subsets near changes of this round: when `move` did, another thread may have changed labels."""
        cdef Py_ssize_t a
        cdef State* s = &self.s
        for a in range(s.n):
            if s.near[a] & NOW:
                s.near_change[s.label[a]] = True

    cdef inline double cost_of(self, State* s) noexcept nogil:
        return self.cost + s.change / s.scale

    cdef void find_pending(self, bint wholly) noexcept nogil:
        """Find the subsets that changed before this round, and elements near them. Only these have pairs to improve."""
        cdef Py_ssize_t U
        cdef element_t a
        cdef offset_t k
        cdef State* s = &self.s
        cdef element_t* close = self.stamp      # number of elements of each subset that are close to a change
        cdef bint partly = False
        memset(close, 0, s.top * sizeof(element_t))
        for a in range(0 if wholly else <element_t>s.n):
            close[s.label[a]] += s.near[a] & NOW
        for U in range(s.top):
            s.pending[U] = WHOLLY if s.changed[U] or (wholly and s.owed[U]) else 0
            if s.changed[U] and not wholly and s.size[U] >= self.large and close[U] * self.few <= NOW * s.size[U]:
                s.pending[U] = PARTLY
                partly = True
            s.owed[U] = s.pending[U] == PARTLY or (s.owed[U] and not s.pending[U])
            s.near_change[U] = s.pending[U] or s.matrix != NULL
            s.changed[U] = False
        if s.matrix != NULL:
            return
        for a in range(<element_t>s.n):
            s.near[a] = CLOSE if partly and s.near[a] & NOW else 0
        for a in range(<element_t>s.n):
            if s.pending[s.label[a]] & WHOLLY or s.near[a] & CLOSE:
                for k in range(s.starts[a], s.starts[a + 1]):
                    s.near[s.neighbours[k]] |= (
                        (LINKED if s.pending[s.label[a]] & WHOLLY else 0) | (AROUND if s.near[a] & CLOSE else 0))
        for a in range(<element_t>s.n):
            if s.near[a]:
                s.near_change[s.label[a]] = True

    cdef bint improve(self, State* s, element_t U, element_t V, Stopping stopping) noexcept nogil:
        cdef Py_ssize_t patience = self.patience, both = s.size[U] + s.size[V]
        cdef fixed_t change
        if both <= self.whole:
            patience = max(patience, both // 2)
        change = improve_pair(s, U, V, self.tolerance, patience, self.height, self.cost_of(s), stopping)
        s.change += change
        return change != 0

    cdef Py_ssize_t find_linked(self, State* s, element_t U) noexcept nogil:
        """List the subsets to improve together with U; return their number. O(sum of degrees)"""
        cdef Py_ssize_t count = 0, k
        cdef element_t W
        if s.matrix != NULL:
            for W in range(U + 1, <element_t>s.top):
                if s.size[W] and (s.pending[U] or s.pending[W]):
                    s.order[count] = W
                    count += 1
            return count
        forget_borders(s)
        s.listed = True
        if s.bounded and not find_sums(s, U, self.tolerance):
            return 0
        list_borders(s, U)
        for k in range(s.closes):
            s.order[k] = s.close[k]
        if s.closes > 1:
            qsort(s.order, s.closes, sizeof(element_t), ascending)
        return s.closes
