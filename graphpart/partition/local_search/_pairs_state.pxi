"""Pairwise Kernighan-Lin: elements and subsets, free numbers, and the heaps of elements that wait to switch."""

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
    uint32_t pair       # the pair, as an entry of the rows, of which there are fewer than 2**32
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
