"""Kernels of greedy moving and of its Kernighan-Lin form, on compressed rows of stored pairs.

All elements that may move wait in a heap, keyed by the change of cost by their best move. A move of element a changes
this value for its neighbours only. It is not recomputed at once: a lower bound on it follows from the cost of the one
pair, and an element is looked at again only when its bound comes first. A subset that no stored pair links to an
element is as good for it as the empty set, so it matters only for an element that is alone. All sums are exact, in
fixed point (see kernels/fixed.pxd).

A background that repels, as k > 0 terms (see kernels/terms.pxd), adds products of sums of weights to the cost of an
element to a subset. Then only the empty set and subsets that a stored pair links to the element can lower the cost.
When element a moves from subset U to W,

* the costs of the best moves of members of W, and of elements linked to U, fall by at most twice their background with
  a;
* other costs can only rise. An element is looked at again if its own or its target subset has changed since then.

Groups and a largest size (kernels/groups.pxd) are treated in the same way. If they forbid subset U to a linked element
until a leaves, no bound is known, and the element is looked at again. All elements are looked at again when a limit of
the number of subsets is reached or left.

If subsets have to be connected (kernels/connected.pxd), an element moves only to a subset that a base pair links to it,
or to the empty set. When it comes first, its own subset is examined. If this would not stay connected, the element is
barred: it leaves the heap until another move may have freed it.

A sequence of Kernighan and Lin also makes moves that raise the cost. In it, an element that is alone may move to a
subset that no stored pair links to it. (Any other element would rather move to the empty set.) The least cost of such a
move is the least product of weights and sums. Two trees of boxes find it (kernels/boxes.pxd): one has the sums of the
subsets, the other the weights of the elements that are alone and have not moved. With groups or limits, an element that
is alone only moves to subsets that a stored pair links to it.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport INT64_MAX, int64_t
from libc.stdlib cimport free, malloc

from graphpart.kernels._arrays cimport empty_int32, zeros_int32, zeros_int64
from graphpart.kernels.bitset cimport Bitset, bitset_add, bitset_free, bitset_make, bitset_next, bitset_remove
from graphpart.kernels.boxes cimport Boxes, boxes_best, boxes_build, boxes_climb, boxes_free, boxes_make, boxes_put
from graphpart.kernels.connected cimport Base, base_only, is_freed, mark_freed, may_leave, take_base
from graphpart.kernels.fixed cimport fixed, fixed_t, scale_for
from graphpart.kernels.groups cimport groups_of_pair, groups_were_full
from graphpart.kernels.heap cimport Heap, heap_rise, heap_settle, heap_sink
from graphpart.kernels.memory cimport prefetch
from graphpart.kernels.terms cimport (
    TERMS, Terms, fixed_at, fixed_between, take_terms, terms_clear, terms_move, terms_partners, terms_put, terms_slope,
)
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.partition.local_search.floods cimport base_poll
from graphpart.stopping cimport Stopping

cdef fixed_t NONE = INT64_MAX       # the cost of a forbidden move

cdef enum:
    EMPTY = -1      # target: the empty set
    FAR = -2        # target: the first subset that no stored pair links to the element


cdef struct Waiting:
    fixed_t delta               # lower bound on the change of cost by the element's best move
    element_t element


cdef struct Element:
    element_t target            # of the best move, if not loose
    char loose                  # delta is a bound only
    char saturated              # alone, and linked to every other subset


cdef struct State:
    Py_ssize_t n
    const offset_t* starts
    const element_t* neighbours
    const cost_t* costs
    double scale                # fixed-point units in a cost of 1
    element_t* label            # subset of each element
    element_t* size             # number of elements of each subset; 0 for a free one
    int64_t* members            # sum of the elements of each subset: the element, if it is one
    Py_ssize_t in_use           # number of subsets
    Bitset used, unused         # numbers of subsets
    Element* elements
    element_t* place            # of each element in the heap; -1 once it may not move any more
    Waiting* heap
    Py_ssize_t waiting
    fixed_t* sums               # cost of one element to each subset
    int64_t* stamp              # the look that computed the sum
    int64_t look
    element_t* linked           # subsets of its neighbours
    Py_ssize_t links
    element_t* saturated        # elements to look at again once a subset is added
    Py_ssize_t saturations
    Terms terms
    # With terms only:
    element_t* first            # of the members of each subset, in a ring
    element_t* after
    element_t* ahead
    int64_t* changed            # the move that changed a subset last
    int64_t* looked             # the move after which an element was looked at
    int64_t moves
    int64_t* lowered            # the move at which the bound of an element was lowered
    # With terms, in sequences only:
    Boxes subsets               # sums of all subsets in use
    Boxes alone                 # weights of the waiting elements that are alone, in the order of partners
    int64_t* asked              # number of the last search for a far move that looked at an element; NULL without boxes
    int64_t asks
    # With base pairs only:
    Base base
    element_t* barred           # the first barred element of each subset; -1 if there is none
    element_t* beside           # the next one; -1 at the end, -2 for an element that is not barred
    fixed_t* held               # the change of cost by its best move


# -------------------------------------------------------------------------------------------------------------- heap

cdef inline bint before(void* context, const void* one, const void* other) noexcept nogil:
    cdef const Waiting* x = <const Waiting*>one
    cdef const Waiting* y = <const Waiting*>other
    return x.delta < y.delta or (x.delta == y.delta and x.element < y.element)


cdef inline void note_place(void* context, const void* record, Py_ssize_t at) noexcept nogil:
    (<State*>context).place[(<const Waiting*>record).element] = <element_t>at


cdef inline Heap heap_of(State* s) noexcept nogil:
    return Heap(s.heap, s.waiting, sizeof(Waiting), before, note_place, s)


cdef void up(State* s, Py_ssize_t at, Waiting item) noexcept nogil:
    heap_rise(heap_of(s), at, &item)


cdef void down(State* s, Py_ssize_t at, Waiting item) noexcept nogil:
    heap_sink(heap_of(s), at, &item)


cdef void settle(State* s, Py_ssize_t at, Waiting item) noexcept nogil:
    heap_settle(heap_of(s), at, &item)


cdef inline void set_delta(State* s, element_t a, fixed_t delta) noexcept nogil:
    settle(s, s.place[a], Waiting(delta, a))


cdef void take_out(State* s, element_t a) noexcept nogil:
    cdef Py_ssize_t at = s.place[a]
    s.place[a] = -1
    s.waiting -= 1
    if at < s.waiting:
        settle(s, at, s.heap[s.waiting])


# ------------------------------------------------------------------------------------------------------------- terms

cdef inline fixed_t background(State* s, element_t a, const int64_t* total) noexcept nogil:
    """The background of an element with sums of weights."""
    return fixed_between(&s.terms, s.terms.weights + a * s.terms.k, total, s.scale)


cdef fixed_t add_background(State* s, element_t a) noexcept nogil:
    """Add the background to the sums of the subsets linked to an element; returns its cost in its own subset."""
    cdef Py_ssize_t i
    cdef element_t U, mine = s.label[a]
    cdef fixed_t more
    for i in range(s.links):
        U = s.linked[i]
        if U != mine and s.sums[U] != NONE:
            more = fixed_at(&s.terms, a, U, False, s.scale)
            s.sums[U] = NONE if more == NONE else s.sums[U] + more
    s.looked[a] = s.moves
    return fixed_at(&s.terms, a, mine, True, s.scale)


cdef inline bint outdated(State* s, element_t a) noexcept nogil:
    """Whether the own subset of an element, or its target, has changed since it was looked at."""
    cdef element_t target = s.elements[a].target
    return s.changed[s.label[a]] > s.looked[a] or (target != EMPTY and s.changed[target] > s.looked[a])


cdef inline void enlist(State* s, element_t a, element_t U) noexcept nogil:
    """Put an element into the ring of a subset."""
    cdef element_t b = s.first[U]
    if b < 0:
        s.first[U] = s.after[a] = s.ahead[a] = a
        return
    s.after[a] = b
    s.ahead[a] = s.ahead[b]
    s.after[s.ahead[b]] = a
    s.ahead[b] = a


cdef inline void delist(State* s, element_t a, element_t U) noexcept nogil:
    if s.first[U] == a:
        s.first[U] = -1 if s.after[a] == a else s.after[a]
    s.after[s.ahead[a]] = s.after[a]
    s.ahead[s.after[a]] = s.ahead[a]


cdef inline void lower(State* s, element_t b, element_t a, element_t U) noexcept nogil:
    """Lower the bound of b by its background with element a; U, if not -1, may be open to b now."""
    cdef Waiting item
    cdef fixed_t most = 0, priced = 0
    if s.place[b] < 0:
        return
    item = s.heap[s.place[b]]
    if s.terms.k:
        most = background(s, b, s.terms.weights + a * s.terms.k)
    if s.terms.groups.any and item.delta != -NONE:
        if groups_of_pair(&s.terms.groups, b, a, &priced, s.scale) == INFINITY or (
            U >= 0 and groups_were_full(&s.terms.groups, b, a, U)
        ):
            s.elements[b].loose = True
            up(s, s.place[b], Waiting(-NONE, b))
            return
    if most + priced > 0 and item.delta != NONE and item.delta != -NONE:
        s.elements[b].loose = True
        item.delta -= most + priced + (most >> 40) + 2 * s.terms.k      # products are rounded
        up(s, s.place[b], item)


cdef void lower_bounds(State* s, element_t a, element_t U) noexcept nogil:
    """Lower the bounds that depend on the background of element a, which has moved from subset U."""
    cdef element_t b = s.after[a], d
    cdef Py_ssize_t i
    cdef offset_t j
    while b != a:
        lower(s, b, a, -1)
        b = s.after[b]
    b = s.first[U]
    for i in range(s.size[U]):
        for j in range(s.starts[b], s.starts[b + 1]):
            d = s.neighbours[j]
            if s.label[d] != U and s.lowered[d] != s.moves:
                s.lowered[d] = s.moves
                lower(s, d, a, U)
        b = s.after[b]


cdef void keep_alone(State* s, element_t a) noexcept nogil:
    """Insert an element into the tree of elements that are alone, or remove it."""
    cdef int64_t mine[TERMS]
    terms_partners(&s.terms, s.terms.weights + a * s.terms.k, mine)
    boxes_put(&s.alone, a, mine, s.place[a] >= 0 and s.size[s.label[a]] == 1)
    boxes_climb(&s.alone, a)


cdef void keep_boxes(State* s, element_t a, element_t U, element_t W) noexcept nogil:
    """Correct both trees after a move of element a from subset U to W."""
    boxes_put(&s.subsets, U, &s.terms.total[U * s.terms.k], s.size[U] > 0)
    boxes_put(&s.subsets, W, &s.terms.total[W * s.terms.k], True)
    boxes_climb(&s.subsets, U)
    boxes_climb(&s.subsets, W)
    keep_alone(s, a)
    if s.size[U] == 1:
        keep_alone(s, s.first[U])
    if s.size[W] == 2:
        keep_alone(s, s.after[a])


cdef element_t far_move(State* s, double low, element_t* target, double* delta) noexcept nogil:
    """The element that is alone with the cheapest move to a subset not linked to it; -1 if none is below `low`."""
    cdef Py_ssize_t t, k = s.terms.k
    cdef element_t a, U, found = -1
    cdef double scaled[TERMS]
    cdef double slope[TERMS]
    cdef double bound, value
    s.asks += 1
    for t in range(k):
        # Weights of a term have one sign, so the sums nearest to 0 give the least product.
        value = s.subsets.low[k + t]
        scaled[t] = s.terms.factor[t] * (value if value >= 0 else s.subsets.high[k + t])
    while True:
        bound = low
        a = boxes_best(&s.alone, scaled, s.asked, s.asks, -1, &bound)
        if a < 0:
            break
        s.asked[a] = s.asks
        set_delta(s, a, look_at(s, a))      # this sets its stamps
        terms_slope(&s.terms, s.terms.weights + a * k, slope)
        bound = low
        U = boxes_best(&s.subsets, slope, s.stamp, s.look, s.label[a], &bound)
        if U < 0:
            continue
        value = background(s, a, &s.terms.total[U * k]) / s.scale
        if value < low:
            low = value
            found = a
            target[0] = U
    delta[0] = low
    if found >= 0 and s.size[target[0]] == 1:
        a = s.first[target[0]]
        if a < found and s.place[a] >= 0:       # two single elements: the smaller one makes the move
            target[0] = s.label[found]
            found = a
    return found


cdef void start_terms(State* s) noexcept nogil:
    """Compute the sums and rings of all subsets; elements are looked at afterwards."""
    cdef Py_ssize_t i
    cdef element_t a
    terms_clear(&s.terms, s.n + 1)
    for i in range(s.n + 1):
        s.first[i] = -1
        s.changed[i] = 0
        s.lowered[i] = 0
    s.moves = 0
    for a in range(s.n):
        terms_put(&s.terms, a, s.label[a])
        enlist(s, a, s.label[a])


cdef void start_boxes(State* s) noexcept nogil:
    cdef Py_ssize_t U
    cdef element_t a
    for U in range(s.n + 1):
        boxes_put(&s.subsets, U, &s.terms.total[U * s.terms.k], s.size[U] > 0)
    boxes_build(&s.subsets)
    for a in range(s.n):
        keep_alone(s, a)


# ------------------------------------------------------------------------------------------------------------- moves

cdef fixed_t look_at(State* s, element_t a) noexcept nogil:
    """Find the best move of an element, and the change of cost it makes. O(degree)"""
    cdef element_t U, mine = s.label[a]
    cdef offset_t k
    cdef cost_t c
    cdef Py_ssize_t i
    cdef fixed_t low = NONE, own = 0
    cdef Element* element = &s.elements[a]
    s.look += 1
    s.links = 0
    for k in range(s.starts[a], s.starts[a + 1]):
        U = s.label[s.neighbours[k]]
        c = s.costs[k]
        if s.stamp[U] != s.look:
            s.stamp[U] = s.look
            s.sums[U] = 0
            s.linked[s.links] = U
            s.links += 1
        if c == INFINITY:
            s.sums[U] = NONE
        elif s.sums[U] != NONE:
            s.sums[U] += fixed(c, s.scale)
    if s.base.any:
        s.links = base_only(&s.base, a, s.label, s.linked, s.links)
    element.target = EMPTY
    element.loose = False
    if s.stamp[mine] == s.look:
        own = s.sums[mine]
    if s.terms.any:
        own += add_background(s, a)
    if s.terms.groups.limited and s.size[mine] == 1 and s.in_use <= s.terms.groups.least:
        return NONE
    for i in range(s.links):
        U = s.linked[i]
        if U != mine and (s.sums[U] < low or (s.sums[U] == low != NONE and U < element.target)):
            low = s.sums[U]
            element.target = U
    if s.size[mine] > 1:
        if 0 < low and not (s.terms.groups.limited and s.in_use >= s.terms.groups.most):
            low = 0
            element.target = EMPTY
    elif 0 < low and not s.terms.any and not s.base.any:
        if s.in_use - 1 > s.links:      # alone, so its own subset is not linked
            low = 0
            element.target = FAR
        elif not element.saturated:
            element.saturated = True
            s.saturated[s.saturations] = a
            s.saturations += 1
    return low if low == NONE else low - own


cdef element_t far_subset(State* s, element_t a) noexcept nogil:
    """The first subset that no stored pair links to an element that is alone; -1 if there is none."""
    cdef Py_ssize_t U = -1
    look_at(s, a)
    while True:
        U = bitset_next(&s.used, U + 1, s.n + 1)
        if U < 0 or (U != s.label[a] and s.stamp[U] != s.look):
            return <element_t>U


cdef void loosen(State* s, element_t b, fixed_t most) noexcept nogil:
    """Note that the delta of the best move of b may have fallen by at most `most`."""
    cdef Element* element = &s.elements[b]
    cdef Waiting item = s.heap[s.place[b]]
    element.loose = True
    if item.delta == NONE:
        item.delta = -NONE       # no bound is known, so it comes first and is looked at
    else:
        if s.size[s.label[b]] == 1:
            item.delta = min(item.delta, 0)     # a subset may be linked now, or no longer
        item.delta -= most
    up(s, s.place[b], item)


cdef void look_again(State* s) noexcept nogil:
    """Discard all bounds. O(n)"""
    cdef Py_ssize_t k
    for k in range(s.waiting):
        s.heap[k].delta = -NONE
        s.elements[s.heap[k].element].loose = True
    for k in range((s.waiting - 2) >> 2, -1, -1):
        down(s, k, s.heap[k])


cdef void bar(State* s, element_t a) noexcept nogil:
    """Bar an element without which its subset is not connected."""
    cdef element_t U = s.label[a]
    s.held[a] = s.heap[s.place[a]].delta
    set_delta(s, a, NONE)
    if s.beside[a] == -2:
        s.beside[a] = s.barred[U]
        s.barred[U] = a


cdef void unbar(State* s, element_t U) noexcept nogil:
    """Let freed elements of a subset wait again. Their costs have not fallen since they were looked at."""
    cdef element_t a = s.barred[U], after
    s.barred[U] = -1
    while a >= 0:
        after = s.beside[a]
        if not is_freed(&s.base, a):
            s.beside[a] = s.barred[U]
            s.barred[U] = a
            a = after
            continue
        s.beside[a] = -2
        if s.place[a] >= 0 and s.heap[s.place[a]].delta == NONE:
            s.elements[a].loose = True
            up(s, s.place[a], Waiting(s.held[a], a))
        a = after


cdef void apply(State* s, element_t a, element_t W) noexcept nogil:
    """Move element a to subset W, and loosen what depends on it. O(degree log n)"""
    cdef element_t U = s.label[a], b, mine
    cdef offset_t k
    cdef fixed_t c
    cdef Py_ssize_t count
    cdef bint based = s.base.any
    s.label[a] = W
    s.size[U] -= 1
    s.members[U] -= a
    s.size[W] += 1
    s.members[W] += a
    if s.terms.any:
        s.moves += 1
        s.changed[U] = s.changed[W] = s.moves
        terms_move(&s.terms, a, U, W)
        delist(s, a, U)
        enlist(s, a, W)
    if based:
        mark_freed(&s.base, a, s.label, U)
        unbar(s, U)
        unbar(s, W)
    for k in range(s.starts[a], s.starts[a + 1]):
        if s.place[s.neighbours[k]] >= 0:
            prefetch(s.heap + s.place[s.neighbours[k]])
    for k in range(s.starts[a], s.starts[a + 1]):
        b = s.neighbours[k]
        if s.place[b] < 0:
            continue
        mine = s.label[b]
        if s.costs[k] == INFINITY or (based and mine != W and not s.base.lifted[k]):
            s.elements[b].loose = True
            up(s, s.place[b], Waiting(-NONE, b))     # U or W may be open to b now, at any cost
            continue
        c = fixed(s.costs[k], s.scale)
        if mine == U:
            loosen(s, b, max(0, -2 * c))
        elif mine == W:
            loosen(s, b, max(0, 2 * c))
        else:
            loosen(s, b, max(c, -c))
    if s.size[U] == 0:
        bitset_remove(&s.used, U)
        bitset_add(&s.unused, U)
        s.in_use -= 1
    elif s.size[U] == 1:
        b = <element_t>s.members[U]
        if s.place[b] >= 0:
            loosen(s, b, 0)
    if s.size[W] == 2:
        b = <element_t>(s.members[W] - a)
        if s.place[b] >= 0:
            set_delta(s, b, look_at(s, b))      # the element can leave now
    elif s.size[W] == 1:
        bitset_add(&s.used, W)
        bitset_remove(&s.unused, W)
        s.in_use += 1
        count = s.saturations
        s.saturations = 0
        for k in range(count):
            b = s.saturated[k]
            s.elements[b].saturated = False
            if s.place[b] >= 0:
                loosen(s, b, 0)
    if s.terms.groups.limited and s.size[U] == 0 and s.in_use == s.terms.groups.most - 1:
        look_again(s)
    if s.terms.groups.limited and s.size[W] == 1 and s.in_use == s.terms.groups.least + 1:
        look_again(s)
    if s.terms.any:
        lower_bounds(s, a, U)
        if s.asked != NULL:
            keep_boxes(s, a, U, W)


cdef element_t best(State* s, double cost, Stopping stopping) noexcept nogil:
    """The element with the best move, looked at; -1 if no element has a move, or the run has to end."""
    cdef element_t a
    cdef element_t far
    while s.waiting:
        a = s.heap[0].element
        if s.elements[a].loose or (s.terms.any and outdated(s, a)):
            set_delta(s, a, look_at(s, a))
            if s.terms.any and stopping.poll(cost):
                return -1
            continue
        if s.heap[0].delta == NONE:
            return -1
        if s.terms.groups.limited and (
            (s.elements[a].target == EMPTY and s.in_use >= s.terms.groups.most)
            or (s.size[s.label[a]] == 1 and s.in_use <= s.terms.groups.least)
        ):
            set_delta(s, a, look_at(s, a))      # the limit was reached since then
            continue
        if s.elements[a].target == FAR:
            far = far_subset(s, a)
            if far < 0 or s.elements[a].target != FAR:
                set_delta(s, a, look_at(s, a))
                continue
            s.elements[a].target = far
        if s.base.any and not may_leave(&s.base, a, s.label):
            bar(s, a)
            if base_poll(&s.base, stopping, cost):
                return -1
            continue
        return a
    return -1


cdef inline element_t where(State* s, element_t a) noexcept nogil:
    """The target of an element's best move."""
    if s.elements[a].target == EMPTY:
        return <element_t>bitset_next(&s.unused, 0, s.n + 1)
    return s.elements[a].target


# -------------------------------------------------------------------------------------------------------- algorithms

cdef void start(State* s) noexcept nogil:
    """Number the subsets in order of their smallest elements, and let all elements wait."""
    cdef Py_ssize_t n = s.n, U, k
    cdef element_t a
    cdef element_t* names = s.size
    s.in_use = 0
    for U in range(n + 1):
        names[U] = -1
    for a in range(n):
        if names[s.label[a]] < 0:
            names[s.label[a]] = <element_t>s.in_use
            s.in_use += 1
        s.label[a] = names[s.label[a]]
    for U in range(n + 1):
        s.size[U] = 0
        s.members[U] = 0
        if U < s.in_use:
            bitset_add(&s.used, U)
            bitset_remove(&s.unused, U)
        else:
            bitset_remove(&s.used, U)
            bitset_add(&s.unused, U)
    for a in range(n):
        s.size[s.label[a]] += 1
        s.members[s.label[a]] += a
        s.elements[a].saturated = False
    s.saturations = 0
    if s.base.any:
        for U in range(n + 1):
            s.barred[U] = -1
            s.beside[U] = -2
    if s.terms.any:
        start_terms(s)
    s.waiting = n
    for a in range(n):
        s.heap[a].element = a
        s.place[a] = a
        s.heap[a].delta = look_at(s, a)
    for k in range((n - 2) >> 2, -1, -1):
        down(s, k, s.heap[k])
    if s.asked != NULL:
        start_boxes(s)


cdef void improve(State* s, double tolerance, double cost, Stopping stopping) noexcept nogil:
    """Apply best moves while they lower the cost."""
    cdef element_t a
    cdef double delta
    while True:
        a = best(s, cost, stopping)
        if a < 0:
            break
        delta = s.heap[0].delta / s.scale
        if not delta < -tolerance:
            break
        apply(s, a, where(s, a))
        set_delta(s, a, look_at(s, a))
        cost += delta
        if stopping.tick(cost):
            break


cdef void improve_by_sequence(
    State* s, double tolerance, double cost, Stopping stopping, element_t* moved, element_t* origin
) noexcept nogil:
    """Apply the best prefix of one sequence; no move if none lowers the cost."""
    cdef Py_ssize_t length = 0, kept = 0
    cdef double sum = 0.0, smallest = 0.0, delta, far = 0.0
    cdef element_t a, b, W = 0
    while s.waiting:
        a = best(s, cost + smallest, stopping)
        delta = s.heap[0].delta / s.scale if a >= 0 else INFINITY
        if s.terms.any and stopping.poll(cost + smallest):
            break
        b = far_move(s, delta, &W, &far) if s.asked != NULL else -1
        if b >= 0:
            a, delta = b, far
        elif a < 0:
            break
        else:
            W = where(s, a)
        sum += delta
        moved[length] = a
        origin[length] = s.label[a]
        length += 1
        take_out(s, a)
        apply(s, a, W)
        if sum < smallest - tolerance:
            smallest = sum
            kept = length
        if stopping.poll(cost + smallest):
            break
    while length > kept:
        length -= 1
        s.label[moved[length]] = origin[length]


cdef class _Arrays:
    """The memory of a State."""
    cdef State s
    cdef Waiting* heap
    cdef object labels
    cdef list kept

    def __cinit__(
        self,
        const offset_t[::1] starts,
        const element_t[::1] neighbours,
        const cost_t[::1] costs,
        labels,
        terms,
        double magnitude,
        bint sequences,
    ):
        cdef Py_ssize_t n = starts.shape[0] - 1, k
        cdef element_t[:, ::1] rings, barred
        cdef int64_t[:, ::1] moves
        cdef element_t[::1] label, size, linked, saturated, place
        cdef int64_t[::1] members, stamp, sums, held
        self.labels = np.array(labels, np.int32)
        label, size, linked = self.labels, zeros_int32(n + 1), zeros_int32(n + 1)
        saturated, place = zeros_int32(n + 1), zeros_int32(n + 1)
        members, stamp, sums = zeros_int64(n + 1), zeros_int64(n + 1), zeros_int64(n + 1)
        self.kept = [starts, neighbours, costs, label, size, linked, saturated, place, members, stamp, sums]
        self.s.n = n
        self.s.starts = &starts[0]
        self.s.neighbours = &neighbours[0] if neighbours.shape[0] else NULL
        self.s.costs = &costs[0] if costs.shape[0] else NULL
        self.s.scale = scale_for(magnitude)
        self.s.label = &label[0]
        self.s.size = &size[0]
        self.s.linked = &linked[0]
        self.s.place = &place[0]
        self.s.saturated = &saturated[0]
        self.s.members = &members[0]
        self.s.stamp = &stamp[0]
        self.s.sums = &sums[0]
        self.s.look = 0
        self.s.elements = <Element*>malloc(n * sizeof(Element))
        self.heap = <Waiting*>malloc((n + 8) * sizeof(Waiting))
        if self.s.elements == NULL or self.heap == NULL:
            raise MemoryError()
        # The four children of a place share one line of the cache: place 1 stands at a multiple of 64 bytes.
        self.s.heap = self.heap + (63 - (<size_t>self.heap + 15) % 64) // sizeof(Waiting)
        if not bitset_make(&self.s.used, n + 1) or not bitset_make(&self.s.unused, n + 1):
            raise MemoryError()
        self.kept.append(take_terms(&self.s.terms, terms, n + 1))
        self.kept += take_base(&self.s.base, starts, neighbours, terms, n + 1)
        if self.s.base.any:
            barred, held = np.zeros((2, n + 1), np.int32), zeros_int64(n + 1)
            self.kept += [barred, held]
            self.s.barred, self.s.beside, self.s.held = &barred[0, 0], &barred[1, 0], &held[0]
        if not self.s.terms.any:
            return
        rings, moves = np.zeros((3, n + 1), np.int32), np.zeros((4, n + 1), np.int64)
        self.kept += [rings, moves]
        self.s.first, self.s.after, self.s.ahead = &rings[0, 0], &rings[1, 0], &rings[2, 0]
        self.s.changed, self.s.looked, self.s.lowered = &moves[0, 0], &moves[1, 0], &moves[2, 0]
        k = self.s.terms.k
        if sequences and not self.s.terms.groups.any:
            self.s.asked = &moves[3, 0]
            if not boxes_make(&self.s.subsets, n + 1, k) or not boxes_make(&self.s.alone, n, k):
                raise MemoryError()

    def __dealloc__(self):
        boxes_free(&self.s.subsets)
        boxes_free(&self.s.alone)
        free(self.s.elements)
        free(self.heap)
        bitset_free(&self.s.used)
        bitset_free(&self.s.unused)


def greedy_moving(
    const offset_t[::1] starts,
    const element_t[::1] neighbours,
    const cost_t[::1] costs,
    labels,
    terms,
    double magnitude,
    double tolerance,
    double cost,
    Stopping stopping,
) -> NDArray[np.int32]:
    """Labels of the fixed point of greedy moving from canonical labels.

    `terms` is `Terms` of sums.py, or None.
    """
    if starts.shape[0] == 1:
        return labels
    cdef _Arrays arrays = _Arrays(starts, neighbours, costs, labels, terms, magnitude, False)
    with nogil:
        start(&arrays.s)
        improve(&arrays.s, tolerance, cost, stopping)
    return arrays.labels


def kernighan_lin_sequence(
    const offset_t[::1] starts,
    const element_t[::1] neighbours,
    const cost_t[::1] costs,
    labels,
    terms,
    double magnitude,
    double tolerance,
    double cost,
    Stopping stopping,
):
    """Labels after the best prefix of one sequence from canonical labels; the same labels if none lowers the cost."""
    cdef Py_ssize_t n = starts.shape[0] - 1
    if n == 0:
        return labels
    cdef _Arrays arrays = _Arrays(starts, neighbours, costs, labels, terms, magnitude, True)
    cdef element_t[::1] moved = empty_int32(n), origin = empty_int32(n)
    with nogil:
        start(&arrays.s)
        improve_by_sequence(&arrays.s, tolerance, cost, stopping, &moved[0], &origin[0])
    return arrays.labels
