"""Kernel of chains: short sequences of moves, from each element in turn, on compressed rows of stored pairs.

Each element remembers its best move until it or a neighbour moves for good. Within a chain, a move changes the best
moves of the neighbours only. These are not recomputed at once: the best move of a neighbour, or a lower bound on its
change of cost, follows from the cost of the one pair. An element is looked at again only when its bound comes first.
An element whose best move is neither from nor to a subset that the chain has changed is idle: that move costs what it
would without the chain. It is passed over until its best move is another one or the chain changes one of these subsets.
All sums are exact, in fixed point (see kernels/fixed.pxd).

With a background, a move changes the best moves of all elements whose own or target subset another element leaves or
enters. The change is at most the background of the element with all moved elements, each term taken as positive. It is
subtracted from bounds. If the background repels, a best move stays what it was while no element enters or leaves the
element's own and its target subset, and the bound on moves to other subsets is above it. Chains start again only at
elements that a stored pair links to a moved element, so all elements are looked at once more at the end.

Groups and limits of subsets (kernels/groups.pxd) may also forbid a subset until another element leaves it. So there is a
second bound, on moves that were forbidden when the element was looked at. It takes the place of the first when an
element has moved that may have opened a subset.

If subsets have to be connected (kernels/connected.pxd), elements move to subsets that a base pair links to them, or to
the empty set. When an element moves, only neighbours by base pairs become candidates. When a candidate comes first, its
own subset is examined. If it would not stay connected, the move is forbidden until another move may have freed the
element. At the end, elements with a forbidden move that would have lowered the cost are looked at once more.

If one element forbids a subset to another one, the two may change places. In a chain of ejections the element moves
there, and the other one leaves to be alone and is the next to move in the same way. Alternating paths improve an
assignment in this manner. Such a chain starts if ordinary chains from an element find nothing.

In a batch, two threads find chains at once. Each has its own labels, on which it makes and undoes moves, and all that
belongs to one chain. Both share the best moves of elements: a best move that is learned within a chain is kept only if
it holds in the partition between chains, too, so that both threads would write the same.
"""

from functools import partial

import numpy as np

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, fabs
from libc.stdint cimport INT64_MAX, int64_t
from libc.string cimport memcpy

from graphpart.kernels._arrays cimport empty_int32, empty_int8, full_int32, zeros_float64, zeros_int64, zeros_int8
from graphpart.kernels.clock cimport seconds
from graphpart.kernels.connected cimport Base, is_freed, mark_freed, may_leave, take_base
from graphpart.kernels.fixed cimport fixed, fixed_t, scale_for
from graphpart.kernels.groups cimport groups_holder, groups_of_pair
from graphpart.kernels.terms cimport (
    TERMS, Terms, fixed_at, fixed_tolerance, take_terms, terms_clear, terms_move, terms_put, terms_slope,
)
from graphpart.kernels.memory cimport prefetch, publish, published
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.machine import processors, side_by_side
from graphpart.partition.local_search.floods cimport base_poll
from graphpart.stopping cimport Stopping

cdef fixed_t NONE = INT64_MAX       # the cost of a forbidden move

cdef double WORTH = 0.003           # seconds for a batch from which two threads are worth their start
cdef double PAYS = 1e-4             # share of the cost that chains have gained, above which higher ones pay

cdef enum:
    EMPTY = -1      # target: the empty set
    OUT = -1        # place of an element that is no candidate
    DONE = -2       # place of an element that has moved in this chain
    FETCHED = 64    # most pairs of a row that are fetched beforehand
    AHEAD = 4       # elements of the queue before which the row of one is fetched
    LINE = 64       # bytes of a line of the cache
    MANY = 65535    # pairs, or more than these
    TURNS = 255


cdef struct Element:            # 32 bytes, what is shared by both threads
    fixed_t delta               # change of cost by the best move
    fixed_t others              # lower bound on it by a move to another linked subset
    int64_t row                 # first of its stored pairs, in bits from 16 on; their number, or MANY, in the others
    element_t target
    char known                  # whether delta, others and target are
    char alone                  # the element was alone when this was computed, so that the empty set was no target
    char queued
    unsigned char turn          # of `State` when the element was last forgotten


cdef struct Candidate:
    fixed_t delta               # lower bound on the change of cost by the element's best move
    fixed_t others              # and by moves to other linked subsets, if not loose
    fixed_t barred              # and by moves that were forbidden when it was looked at; NONE if none was
    element_t element
    element_t mine              # its subset
    element_t target            # of the best move, if not loose
    char loose                  # delta is a bound only
    char looked                 # it was looked at in this chain
    char idle                   # its best move is neither from nor to a subset that this chain has changed


cdef struct Subset:             # 32 bytes
    fixed_t cost                # of one element to this subset
    int64_t look                # that computed it
    int64_t visited             # the last chain that changed this subset
    element_t size
    element_t members           # exclusive or of the elements: the element, if it is one


cdef struct Step:
    element_t element           # that moves
    element_t target            # -1 - U for a subset U that has no elements before the chain
    fixed_t change              # in the first of a chain, which is no step: of cost; and `element` says how many follow


cdef struct Half:               # of the elements of a batch
    element_t* starts           # elements taken from the queue,
    Py_ssize_t count, looked    # their number, and how many of them chains started from
    Step* steps                 # of chains that lower the cost; before those of each, one that says how many they are
    Py_ssize_t written


cdef struct State:
    Py_ssize_t n
    const offset_t* starts      # of rows with MANY or more pairs; `at` has the others
    const element_t* neighbours
    const cost_t* costs
    double scale                # fixed-point units in a cost of 1
    offset_t hub                # elements with more pairs have chains of one move
    element_t* label            # subset of each element
    Subset* subset
    Py_ssize_t top              # all numbers of subsets from here on are free, and their entries are 0
    element_t* unused           # other numbers of subsets without elements
    Py_ssize_t unuseds
    Element* at                 # the best move of each element in the partition between chains
    fixed_t* barred             # for each element a lower bound on a move that is forbidden, NONE if none is; or NULL
    int64_t look
    element_t* linked           # subsets of its neighbours
    offset_t most               # pairs that an element has
    Candidate* candidates
    Py_ssize_t waiting
    element_t* place            # of each element among the candidates
    element_t* moved            # the chain
    element_t* origin
    element_t* queue            # a ring: elements from which a chain has to start
    Py_ssize_t head, length
    Half* half                  # where chains are noted, not applied; NULL if each is applied at once
    unsigned char turn          # number of the last times that noted chains were applied
    Base base
    char* stuck                 # elements whose move was forbidden, if subsets have to be connected
    Py_ssize_t bars             # at least the number of candidates that are barred
    Terms terms
    double* since               # terms.k for each element: `applied` when its best move was found
    double applied[TERMS]       # absolute weights of all that moved for good,
    double during[TERMS]        # and in this chain
    double left[TERMS]          # if exact: the largest absolute weight that has left one subset in this chain
    bint exact                  # whether the background repels, and there are no constraints
    int64_t kept                # number of moves for good; if exact:
    int64_t* last               # for each subset: the last of these moves that changed it
    int64_t* seen               # for each element: the last of these moves when its best move was found
    bint high                   # whether a chain may rise by as much as a pair repels
    bint narrow                 # whether a chain goes on with moves from or to subsets that it has changed only
    int64_t chain
    int64_t* moves              # for each group: number of moves of members, times the number that they stand for
    int64_t* known              # for each entry of the rows of groups: `moves` when the element was looked at
    bint ejects                 # whether there are hard groups, and no other constraints
    int64_t changes
    int64_t* version            # for each subset: number of its last change
    int64_t* paid_at            # for each element: the version of its subset for which `paid` is valid; -1 at first
    fixed_t* paid               # cost of each element in its own subset


# ---------------------------------------------------------------------------------------------- rows, and numbers

cdef inline offset_t row_begin(State* s, element_t a) noexcept nogil:
    return s.at[a].row >> 16


cdef inline offset_t degree(State* s, element_t a) noexcept nogil:
    cdef offset_t pairs = s.at[a].row & MANY
    return pairs if pairs < MANY else s.starts[a + 1] - s.starts[a]


cdef inline offset_t row_end(State* s, element_t a) noexcept nogil:
    return row_begin(s, a) + degree(s, a)


cdef inline char* begin_of_line(char[::1] room):
    """The first address in an array at which a line of the cache begins."""
    return <char*>((<size_t>&room[0] + LINE - 1) // LINE * LINE)


cdef list begin_thread(State* s, Py_ssize_t longest):
    """Make room for all that belongs to one thread, except the labels; returns what has to be kept alive."""
    cdef Py_ssize_t n = s.n + 1
    cdef char[::1] subset = zeros_int8(n * sizeof(Subset) + LINE)
    cdef char[::1] candidates = empty_int8((min(n, longest * s.hub) + 1) * sizeof(Candidate))
    cdef element_t[::1] place = full_int32(n, OUT), unused = empty_int32(n), linked = empty_int32(s.most + 1)
    cdef element_t[:, ::1] chain = np.empty((2, 2 * min(n, longest) + 2), np.int32)
    s.subset, s.candidates = <Subset*>begin_of_line(subset), <Candidate*>&candidates[0]
    s.place, s.unused, s.linked = &place[0], &unused[0], &linked[0]
    s.moved, s.origin = &chain[0, 0], &chain[1, 0]
    return [subset, candidates, place, unused, linked, chain]


cdef inline element_t take_number(State* s) noexcept nogil:
    if s.unuseds:
        s.unuseds -= 1
        return s.unused[s.unuseds]
    s.top += 1
    return <element_t>(s.top - 1)


# -------------------------------------------------------------------------------------------------------- background

cdef inline fixed_t most_by(State* s, element_t b, const double* moved) noexcept nogil:
    """The most by which the background of b with a subset may have changed by these absolute weights."""
    cdef Py_ssize_t t
    cdef double sum = 0.0
    cdef double slope[TERMS]
    terms_slope(&s.terms, s.terms.weights + b * s.terms.k, slope)
    for t in range(s.terms.k):
        sum += fabs(slope[t]) * moved[t]
    sum *= s.scale * (1.0 + 2.0**-40)
    return <fixed_t>min(sum, 2.0**60) + s.terms.k


cdef inline bint restless(State* s) noexcept nogil:
    """Whether any move may open a subset to any element."""
    return s.terms.groups.max_size > 0 or s.terms.groups.limited


cdef inline bint groups_moved(State* s, element_t b, fixed_t* most) noexcept nogil:
    """Whether members of the groups of b have moved since it was looked at; `most`: the most that this may save."""
    cdef offset_t i
    cdef element_t g
    cdef bint moved = False
    cdef double sum = 0.0
    most[0] = 0
    if s.terms.groups.entries == 0:
        return False
    for i in range(s.terms.groups.starts[b], s.terms.groups.starts[b + 1]):
        g = s.terms.groups.group[i]
        if s.moves[g] != s.known[i]:
            moved = True
            if s.terms.groups.price[g] != INFINITY:
                sum += s.terms.groups.price[g] * <double>s.terms.groups.count[i] * <double>(s.moves[g] - s.known[i])
    if sum > 0:
        most[0] = <fixed_t>min(2.0 * s.scale * (1.0 + 2.0**-40) * sum + 1.0, 2.0**60)
    return moved


cdef inline void note_groups(State* s, element_t a, int moves) noexcept nogil:
    """Note that element a is looked at (0), moves (1), or moves back (-1)."""
    cdef offset_t i
    if s.terms.groups.entries == 0:
        return
    for i in range(s.terms.groups.starts[a], s.terms.groups.starts[a + 1]):
        if moves:
            s.moves[s.terms.groups.group[i]] += moves * s.terms.groups.count[i]
        else:
            s.known[i] = s.moves[s.terms.groups.group[i]]


cdef inline void note_change(State* s, element_t U, element_t W) noexcept nogil:
    if s.ejects:
        s.changes += 1
        s.version[U] = s.version[W] = s.changes


cdef inline bint is_as_it_was(State* s, element_t b, element_t U) noexcept nogil:
    """Whether a subset is as it was when the best move of b was found."""
    return U == EMPTY or (s.last[U] <= s.seen[b] and s.subset[U].visited != s.chain)


cdef inline void note_subsets(State* s, element_t U, element_t W) noexcept nogil:
    """Note that an element has moved from U to W for good."""
    s.kept += 1
    if s.exact:
        s.last[U] = s.last[W] = s.kept


# ------------------------------------------------------------------------------------------------------------- moves

cdef Py_ssize_t gather(State* s, element_t a) noexcept nogil:
    """Compute the costs of an element to all subsets linked to it; return the number of subsets. O(degree)

    If subsets have to be connected, these are the subsets that a base pair links to it.
    """
    cdef element_t U
    cdef offset_t k
    cdef cost_t c
    cdef fixed_t old
    cdef Py_ssize_t links = 0
    cdef bint based = s.base.any
    s.base.work += degree(s, a)
    s.look += 1
    for k in range(row_begin(s, a), row_end(s, a)):
        if based and s.base.lifted[k]:
            continue
        U = s.label[s.neighbours[k]]
        c = s.costs[k]
        old = s.subset[U].cost & -<fixed_t>(s.subset[U].look == s.look)     # without branches, which would be mispredicted
        s.linked[links] = U
        links += s.subset[U].look != s.look
        s.subset[U].look = s.look
        if c == INFINITY or old == NONE:
            s.subset[U].cost = NONE
        else:
            s.subset[U].cost = old + fixed(c, s.scale)
    if based:
        for k in range(row_begin(s, a), row_end(s, a)):
            U = s.label[s.neighbours[k]]
            if s.base.lifted[k] and s.subset[U].look == s.look:
                c = s.costs[k]
                if c == INFINITY:
                    s.subset[U].cost = NONE
                elif s.subset[U].cost != NONE:
                    s.subset[U].cost += fixed(c, s.scale)
    return links


cdef fixed_t look_at(State* s, element_t a, element_t* target, fixed_t* others, fixed_t* barred) noexcept nogil:
    """The change of cost by the best move of an element, to a subset that is linked to it or empty. O(degree)"""
    cdef element_t U, mine = s.label[a]
    cdef Py_ssize_t i, links = gather(s, a)
    cdef fixed_t low = NONE, second = NONE, own = 0, value, more
    target[0] = EMPTY
    if s.subset[mine].look == s.look:
        own = s.subset[mine].cost
    barred[0] = NONE
    if s.terms.any:
        own += fixed_at(&s.terms, a, mine, True, s.scale)
    for i in range(links):
        U = s.linked[i]
        value = s.subset[U].cost
        if U == mine or value == NONE:
            continue
        if s.terms.any:
            more = fixed_at(&s.terms, a, U, False, s.scale)
            if more == NONE:            # the additional cost there is at least 0
                barred[0] = min(barred[0], value - own)
                continue
            value += more
        if value < low or (value == low and U < target[0]):
            second = low
            low = value
            target[0] = U
        else:
            second = min(second, value)
    if s.subset[mine].size > 1 and low <= 0:
        second = min(second, 0)
    elif s.subset[mine].size > 1:
        if s.terms.groups.limited and s.top - s.unuseds >= s.terms.groups.most:
            barred[0] = min(barred[0], -own)
        else:
            second = low
            low = 0
            target[0] = EMPTY
    others[0] = second if second == NONE else second - own
    if low == NONE:
        return NONE
    if s.terms.groups.limited and s.subset[mine].size == 1 and s.top - s.unuseds <= s.terms.groups.least:
        barred[0] = min(barred[0], low - own)
        return NONE
    return low - own


cdef void learn(State* s, element_t a) noexcept nogil:
    """Remember the best move of an element. O(degree)"""
    cdef Element* best = s.at + a
    cdef Py_ssize_t t
    cdef fixed_t barred
    for t in range(s.terms.k):
        s.since[a * s.terms.k + t] = s.applied[t]
    if s.exact:
        s.seen[a] = s.kept
    best.alone = s.subset[s.label[a]].size == 1
    best.delta = look_at(s, a, &best.target, &best.others, &barred)
    if s.barred != NULL:
        s.barred[a] = barred
    publish(&best.known)
    note_groups(s, a, 0)


cdef inline bint is_hub(State* s, element_t a) noexcept nogil:
    return degree(s, a) > s.hub


cdef inline void lower(Candidate* item, fixed_t most, bint opened) noexcept nogil:
    """Lower both bounds of a candidate; `opened` if a forbidden subset may be open to it now."""
    item.loose, item.idle = True, False
    if item.delta == -NONE:
        return
    if opened and item.barred < item.delta:
        item.delta = item.barred
    if item.barred != NONE:
        item.barred -= most
    if item.delta != NONE:
        item.delta -= most


cdef inline void lower_others(Candidate* item, fixed_t most) noexcept nogil:
    """Lower the bound on other moves than the best one, whose change of cost stays."""
    if item.others != NONE:
        item.others -= most
    if item.others <= item.delta:
        item.delta = item.others
        item.loose = True


cdef Candidate* candidate(State* s, element_t b) noexcept nogil:
    """Make element b a candidate, if it is not one yet; NULL if it must not be one."""
    cdef Candidate* item
    cdef Element* known = s.at + b
    cdef bint is_known = published(&known.known)
    cdef Py_ssize_t t
    cdef fixed_t priced = 0
    cdef double moved[TERMS]
    if s.place[b] == DONE or is_hub(s, b):
        return NULL
    if s.place[b] >= 0:
        return s.candidates + s.place[b]
    s.place[b] = <element_t>s.waiting
    item = s.candidates + s.waiting
    s.waiting += 1
    item.element, item.mine = b, s.label[b]
    item.looked = item.idle = False
    item.delta = known.delta if is_known else -NONE
    item.others = known.others
    item.barred = NONE if s.barred == NULL else s.barred[b]
    item.target = known.target
    item.loose = not is_known or known.alone or (s.terms.any and not (
        s.exact and is_as_it_was(s, b, s.label[b]) and is_as_it_was(s, b, known.target)
    ))
    if s.terms.groups.any and is_known and (groups_moved(s, b, &priced) or restless(s)):
        lower(item, priced, True)
    if known.alone:
        item.delta = min(item.delta, 0)     # the empty set may be open to it now
    if s.terms.k and is_known and item.delta != NONE:
        for t in range(s.terms.k):
            moved[t] = s.applied[t] - s.since[b * s.terms.k + t] + (s.during[t] if item.loose else s.left[t])
        if item.loose:
            lower(item, 2 * most_by(s, b, moved), False)
        else:                       # the background with another subset only falls where elements have left it
            lower_others(item, most_by(s, b, moved))
    return item


cdef inline bint concerns(State* s, const Candidate* item) noexcept nogil:
    """Whether the best move of a candidate is only bounded, or from or to a subset that this chain has changed."""
    return item.loose or s.subset[item.mine].visited == s.chain or (
        item.target != EMPTY and s.subset[item.target].visited == s.chain)


cdef void loosen(State* s, element_t b, fixed_t most) noexcept nogil:
    """Note that the delta of the best move of b may have fallen by at most `most`; b becomes a candidate."""
    cdef Candidate* item = candidate(s, b)
    if item == NULL:
        return
    item.loose, item.idle = True, False
    if item.delta == NONE or most == NONE:
        item.delta = -NONE                      # no bound is known, so it comes first and is looked at
    elif item.delta != -NONE:
        if s.subset[s.label[b]].size <= 2:             # the same if it was alone, or is alone now
            item.delta = min(item.delta, 0)
        lower(item, most, False)


cdef inline void reprice(Candidate* item, element_t T, fixed_t change) noexcept nogil:
    """Add `change` to the change of cost by a move to subset T, which may not have been linked before."""
    if item.loose:
        item.delta += min(change, 0)
        return
    if item.target == T:
        item.delta += change
        if change <= 0:
            return
    else:                           # a move to a subset that was not linked cost as much as to the empty set
        item.others = min(item.others, (item.delta if item.target == EMPTY else item.others) + change)
        if change >= 0:
            return
    if item.others <= item.delta:
        item.delta = item.others
        item.loose = True


cdef void correct(State* s, element_t b, fixed_t c, element_t U, element_t W) noexcept nogil:
    """A neighbour of b, at cost c, has moved from U to W; b becomes a candidate.

    Only for problems without constraints and with a background that repels, if any, which is not taken into account
    here. Element b must be able to move to the empty set before and after this.
    """
    cdef Candidate* item = candidate(s, b)
    if item == NULL or item.delta == -NONE:
        return
    if s.label[b] == U or s.label[b] == W:
        if s.label[b] == W:
            c, W = -c, U
        item.delta += c             # b costs c less in its own subset,
        if item.others != NONE:
            item.others += c
    else:
        reprice(item, U, -c)
    reprice(item, W, c)             # and c more in the new subset of its neighbour
    item.loose |= c == 0            # links may have changed, and so may ties


cdef element_t shift(State* s, element_t a, element_t W) noexcept nogil:
    """Move element a to subset W, whose number is returned: a free one for the empty set. O(1)"""
    cdef element_t U = s.label[a]
    if W == EMPTY:
        W = take_number(s)
    s.label[a] = W
    s.subset[U].size -= 1
    s.subset[U].members ^= a
    s.subset[W].size += 1
    s.subset[W].members ^= a
    if s.terms.any:
        terms_move(&s.terms, a, U, W)
        note_groups(s, a, 1)
        note_change(s, U, W)
    if s.subset[U].size == 0:
        s.unused[s.unuseds] = U
        s.unuseds += 1
    return W


cdef void transfer(State* s, element_t a, element_t W) noexcept nogil:
    """Move an element to another subset for good, without regard to free numbers.

    Elements that are alone from then on, or no more, have another best move.
    """
    cdef element_t U = s.label[a]
    s.label[a] = W
    s.subset[U].size -= 1
    s.subset[U].members ^= a
    s.subset[W].size += 1
    s.subset[W].members ^= a
    if s.subset[U].size == 1:
        s.at[s.subset[U].members].known = False
    if s.subset[W].size == 2:
        s.at[s.subset[W].members ^ a].known = False


cdef inline void fetch_row(State* s, element_t b) noexcept nogil:
    """Fetch the stored pairs of an element, from all lines of the cache that they may take."""
    cdef offset_t k, begin = row_begin(s, b), end = begin + min(degree(s, b), FETCHED)
    for k in range(begin, end, 16):
        prefetch(s.neighbours + k)
    for k in range(begin, end, 8):
        prefetch(s.costs + k)


cdef void move(State* s, element_t a, element_t W, Py_ssize_t length) noexcept nogil:
    """Move element a to subset W, the last of `length` moves of a chain, and make neighbours candidates. O(degree)"""
    cdef element_t U = s.label[a], b
    cdef offset_t k
    cdef fixed_t c
    cdef Py_ssize_t i
    cdef Candidate* item
    cdef fixed_t priced = 0
    cdef bint opened, plain = not s.terms.any and not s.base.any
    cdef double moved[TERMS]
    cdef double grown[TERMS]
    if not is_hub(s, a):                # all of this is far apart in memory, and comes sooner if it is asked for at once
        for k in range(row_begin(s, a), row_end(s, a)):
            b = s.neighbours[k]
            prefetch(s.place + b)
            prefetch(s.at + b)
            prefetch(s.label + b)
        for k in range(row_begin(s, a), row_end(s, a)):
            b = s.neighbours[k]
            prefetch(s.subset + s.label[b])
            if s.place[b] == OUT and not published(&s.at[b].known):
                fetch_row(s, b)
    for k in range(row_begin(s, a), row_end(s, a) if (plain or (s.exact and length == 1)) and not is_hub(s, a) else 0):
        b = s.neighbours[k]
        if s.half != NULL and s.subset[s.label[b]].visited == s.chain and s.subset[s.label[b]].size <= length + 1:
            continue                    # what two threads learn has to be the same: what holds between chains
        if s.place[b] == OUT and not published(&s.at[b].known) and (
            degree(s, b) > 2 and not is_hub(s, b)
        ):
            # No neighbour has moved in this chain, and with a background no element has, so the best move is valid in
            # later chains, too. On paths this saves no time.
            learn(s, b)
    W = shift(s, a, W)
    if s.narrow:
        s.subset[U].visited = s.subset[W].visited = s.chain
        for i in range(s.waiting):
            item = s.candidates + i
            if item.mine == U or item.mine == W or item.target == U or item.target == W:
                item.idle = False
    if s.terms.any:
        for i in range(s.terms.k):
            moved[i] = fabs(<double>s.terms.weights[a * s.terms.k + i])
            s.during[i] += moved[i]
            grown[i] = 0.0
            for k in range(length if s.exact else 0):
                if s.origin[k] == U:
                    grown[i] += fabs(<double>s.terms.weights[s.moved[k] * s.terms.k + i])
            grown[i] = max(0.0, grown[i] - s.left[i])
            s.left[i] += grown[i]
        for i in range(s.waiting):
            item = s.candidates + i
            if s.exact and not item.loose and not (
                item.mine == U or item.mine == W or item.target == U or item.target == W
            ):
                lower_others(item, most_by(s, item.element, &moved[0] if item.looked else &grown[0]))
                item.idle = item.idle and not item.loose
            elif s.terms.k:             # for members of W, their own subset costs more, too
                lower(item, most_by(s, item.element, moved) * (
                    1 if s.exact and item.mine != W else 2
                ), False)
            if s.terms.groups.any:
                opened = groups_of_pair(&s.terms.groups, item.element, a, &priced, s.scale) == INFINITY
                if opened or priced > 0 or restless(s):
                    lower(item, 2 * priced, True)
    if s.base.any and s.bars:
        mark_freed(&s.base, a, s.label, U)
        for i in range(s.waiting):
            item = s.candidates + i
            if item.barred < item.delta and is_freed(&s.base, item.element):
                s.bars -= 1
                item.delta, item.barred, item.loose = item.barred, NONE, True
    if s.subset[U].size == 1 and s.place[s.subset[U].members] >= 0:
        loosen(s, s.subset[U].members, 0)
    if s.subset[W].size == 2 and s.place[s.subset[W].members ^ a] >= 0:
        loosen(s, s.subset[W].members ^ a, 0)
    if is_hub(s, a):
        return
    for k in range(row_begin(s, a), row_end(s, a)):
        b = s.neighbours[k]
        if s.base.any and s.place[b] == OUT:
            if not s.base.lifted[k]:
                loosen(s, b, NONE)
            continue
        if s.costs[k] == INFINITY or (s.base.any and not s.base.lifted[k] and s.label[b] != W):
            loosen(s, b, NONE)      # U or W may be open to b now
            continue
        c = fixed(s.costs[k], s.scale)
        if (plain or s.exact) and s.subset[s.label[b]].size > 1 + (s.label[b] == W):
            correct(s, b, c, U, W)
            if s.narrow and s.place[b] >= 0:
                item = s.candidates + s.place[b]
                item.idle = not concerns(s, item)
        elif s.label[b] == U:
            loosen(s, b, max(0, -2 * c))
        elif s.label[b] == W:
            loosen(s, b, max(0, 2 * c))
        else:
            loosen(s, b, max(c, -c))


cdef void move_back(State* s, element_t a, element_t U) noexcept nogil:
    """Undo the last move. O(1)"""
    cdef element_t W = s.label[a]
    if s.subset[U].size == 0:
        s.unuseds -= 1
    s.subset[W].size -= 1
    s.subset[W].members ^= a
    s.subset[U].size += 1
    s.subset[U].members ^= a
    s.label[a] = U
    if s.terms.any:
        terms_move(&s.terms, a, W, U)
        note_groups(s, a, -1)
        note_change(s, U, W)
    if s.subset[W].size == 0:
        s.unused[s.unuseds] = W
        s.unuseds += 1


cdef Candidate* best_candidate(State* s, fixed_t limit, double cost, Stopping stopping) noexcept nogil:
    """The candidate with the best move, looked at; NULL if no move changes the cost by at most the limit, or stopped.

    Quadratic in the number of candidates if all have to be looked at.
    """
    cdef Candidate* item
    cdef Candidate* first
    cdef Candidate* end = s.candidates + s.waiting
    while s.waiting:
        s.base.work += s.waiting
        if base_poll(&s.base, stopping, cost):
            return NULL
        first = NULL
        item = s.candidates
        while item < end:
            if not item.idle and (first == NULL or item.delta < first.delta or (
                item.delta == first.delta and item.element < first.element
            )):
                first = item
            item += 1
        if first == NULL or first.delta > limit:
            return NULL
        if not first.loose:
            if s.base.any and not may_leave(&s.base, first.element, s.label):
                first.barred, first.delta = first.delta, NONE
                s.bars += 1
                continue
            if s.narrow and not concerns(s, first):
                first.idle = True
                continue
            return first
        first.delta = look_at(s, first.element, &first.target, &first.others, &first.barred)
        first.loose, first.looked = False, True
    return NULL


# ------------------------------------------------------------------------------------------------------------ chains

cdef fixed_t height_at(State* s, element_t a) noexcept nogil:
    """The largest absolute cost of a pair of an element; unless chains are high, of those that attract."""
    cdef double c, largest = 0.0
    cdef offset_t k
    for k in range(row_begin(s, a), row_end(s, a)):
        c = fabs(s.costs[k]) if s.high else -s.costs[k]
        if c != INFINITY and c > largest:
            largest = c
    return fixed(largest, s.scale)


cdef inline void fetch_start(State* s, element_t far, element_t near) noexcept nogil:
    """Fetch what the next chains begin with."""
    prefetch(s.at + far)
    fetch_row(s, near)


cdef inline void fetch_next(State* s) noexcept nogil:
    cdef Py_ssize_t near = s.head + AHEAD, far = near + AHEAD
    if s.length > 2 * AHEAD:
        fetch_start(s, s.queue[far if far < s.n else far - s.n], s.queue[near if near < s.n else near - s.n])


cdef fixed_t improve_by_chain(
    State* s, element_t a, fixed_t tolerance, Py_ssize_t patience, Py_ssize_t longest, double cost, Stopping stopping
) noexcept nogil:
    """Apply the best prefix of a chain that starts with the best move of a; the change of cost, 0 if there is none."""
    cdef Element* first = s.at + a
    cdef Candidate* item
    cdef Py_ssize_t length = 0, kept = 0, i
    cdef fixed_t sum, smallest = 0, height, limit, priced = 0
    cdef element_t target
    cdef double moved[TERMS]
    cdef bint same = True
    s.chain += 1
    for i in range(s.terms.k):
        s.during[i] = s.left[i] = 0.0
        moved[i] = s.applied[i] - s.since[a * s.terms.k + i]
        same &= moved[i] == 0
    if not same and first.known:
        first.known = s.exact and is_as_it_was(s, a, s.label[a]) and is_as_it_was(s, a, first.target) and (
            first.delta < first.others - most_by(s, a, moved)
        )
    if s.terms.groups.any and (restless(s) or groups_moved(s, a, &priced)):
        first.known = False
    if not published(&first.known) or first.alone != (s.subset[s.label[a]].size == 1):
        learn(s, a)
    height = height_at(s, a)
    if first.delta > height:        # NONE, too
        return 0
    if s.base.any and not may_leave(&s.base, a, s.label):
        s.stuck[a] = first.delta < -tolerance
        return 0
    sum, target = first.delta, first.target
    s.waiting = s.bars = 0
    while True:
        s.moved[length] = a
        s.origin[length] = s.label[a]
        s.place[a] = DONE
        length += 1
        move(s, a, target, length)
        if sum < smallest - tolerance:
            smallest = sum
            kept = length
        if length - kept == patience or length == longest:
            break
        limit = smallest - sum + (height if length - kept < patience - 1 else -tolerance - 1)
        item = best_candidate(s, limit, cost, stopping)
        if item == NULL:
            break
        a, target = item.element, item.target
        sum += item.delta
        s.waiting -= 1
        item[0] = s.candidates[s.waiting]
        s.place[item.element] = <element_t>(item - s.candidates)
    for i in range(s.waiting):
        s.place[s.candidates[i].element] = OUT
    if s.half != NULL:
        note_prefix(s, length, kept, smallest)
    else:
        keep_prefix(s, length, kept)
    return smallest


cdef void note_prefix(State* s, Py_ssize_t length, Py_ssize_t kept, fixed_t change) noexcept nogil:
    """Undo a chain, and note its best prefix."""
    cdef Py_ssize_t i
    cdef element_t W
    cdef Step* steps = s.half.steps + s.half.written
    for i in range(length - 1, -1, -1):
        W = s.label[s.moved[i]]
        s.place[s.moved[i]] = OUT
        move_back(s, s.moved[i], s.origin[i])
        if i < kept:
            steps[i + 1].element = s.moved[i]
            steps[i + 1].target = W if s.subset[W].size else -1 - W
    if kept:
        steps.element, steps.change = <element_t>kept, change
        s.half.written += kept + 1


cdef void carry_out(State* s, const Step* steps, Py_ssize_t count) noexcept nogil:
    """Apply the noted steps of a chain. Elements that are alone from then on, or no more, have another best move."""
    cdef Py_ssize_t i, k
    cdef element_t U, W
    for i in range(count):
        U, W = s.label[steps[i].element], steps[i].target
        for k in range(i - 1 if W >= 0 else -1, -1, -1):
            if steps[k].target == -1 - W:           # this subset is new, and may have another number now
                W = s.label[steps[k].element]
                break
        W = shift(s, steps[i].element, max(W, EMPTY))
        if s.subset[U].size == 1:
            s.at[s.subset[U].members].known = False
        if s.subset[W].size == 2:
            s.at[s.subset[W].members ^ steps[i].element].known = False


cdef void keep_prefix(State* s, Py_ssize_t length, Py_ssize_t kept) noexcept nogil:
    """Undo the moves of a chain after its best prefix, and let chains start again around the kept moves."""
    cdef Py_ssize_t i, t
    for i in range(length - 1, -1, -1):
        s.place[s.moved[i]] = OUT
        if i >= kept:
            move_back(s, s.moved[i], s.origin[i])
    for i in range(kept):
        forget_around(s, s.moved[i])
        note_subsets(s, s.origin[i], s.label[s.moved[i]])
        for t in range(s.terms.k):
            s.applied[t] += fabs(<double>s.terms.weights[s.moved[i] * s.terms.k + t])


cdef fixed_t paid_by(State* s, element_t b) noexcept nogil:
    """The cost of an element in its own subset. O(degree) if that has changed"""
    cdef element_t mine = s.label[b]
    cdef offset_t k
    cdef fixed_t sum
    if s.paid_at[b] != s.version[mine]:
        sum = fixed_at(&s.terms, b, mine, True, s.scale)
        for k in range(row_begin(s, b), row_end(s, b)):
            if s.label[s.neighbours[k]] == mine:
                sum += fixed(s.costs[k], s.scale)
        s.paid[b] = sum
        s.paid_at[b] = s.version[mine]
    return s.paid[b]


cdef fixed_t improve_by_ejections(State* s, element_t a, fixed_t tolerance, Py_ssize_t longest) noexcept nogil:
    """Apply the best prefix of a chain of ejections from a; the change of cost, 0 if there is none.

    A step moves an element to a subset or the empty set, and removes the one element that forbids this, if there is
    one. It takes the step of least cost. No element moves twice, except when it is removed.
    """
    cdef Py_ssize_t length = 0, kept = 0, links, i
    cdef fixed_t sum = 0, smallest = 0, low, value, more, own, height = height_at(s, a)
    cdef element_t U, mine, target, out, b
    while length < longest:
        mine = s.label[a]
        own = paid_by(s, a)
        links = gather(s, a)
        low, target, out = NONE, EMPTY, -1
        if s.subset[mine].size > 1:
            low = -own
        for i in range(links):
            U = s.linked[i]
            if U == mine or s.subset[U].cost == NONE:
                continue
            value = s.subset[U].cost - own
            more = fixed_at(&s.terms, a, U, False, s.scale)
            b = -1
            if more == NONE:
                b = groups_holder(&s.terms.groups, a, U)
                if b < 0 or s.place[b] == DONE or s.subset[U].size == 1:
                    continue
                more = -paid_by(s, b)
            value += more
            if value < low or (value == low and U < target):
                low, target, out = value, U, b
        if low == NONE or sum + low > smallest + height:
            break
        if out >= 0:
            s.moved[length], s.origin[length] = out, target
            length += 1
            sum -= paid_by(s, out)
            shift(s, out, EMPTY)
            gather(s, a)                # compute the exact cost: the two may have a pair, and soft groups may count
            low = (s.subset[target].cost if s.subset[target].look == s.look else 0) - own + fixed_at(
                &s.terms, a, target, False, s.scale)
        s.moved[length], s.origin[length] = a, mine
        s.place[a] = DONE
        length += 1
        sum += low
        shift(s, a, target)
        if sum < smallest - tolerance:
            smallest = sum
            kept = length
        if out < 0:
            break
        a = out
    keep_prefix(s, length, kept)
    return smallest


cdef inline void enqueue(State* s, element_t a) noexcept nogil:
    """Let a chain start from an element again."""
    cdef Py_ssize_t at = s.head + s.length
    if not s.at[a].queued:
        s.at[a].queued = True
        s.queue[at if at < s.n else at - s.n] = a
        s.length += 1


cdef inline void forget(State* s, element_t a) noexcept nogil:
    """Forget the best move of an element, which may have changed: a chain starts there again."""
    s.at[a].known = False
    s.at[a].turn = s.turn
    enqueue(s, a)


cdef void forget_around(State* s, element_t a) noexcept nogil:
    cdef offset_t k
    forget(s, a)
    for k in range(row_begin(s, a), row_end(s, a)):
        forget(s, s.neighbours[k])


cdef class Chains:
    """A partition, and the arrays with which chains improve it.

    Parameters
    ----------
    starts, neighbours, costs : ndarray
        Compressed rows.
    labels : ndarray of int32, shape (n,)
        From 0 to n.
    magnitude, tolerance : float
        Of the problem.
    patience : int
        Number of moves without a new best prefix after which a chain ends.
    longest : int
        Largest number of moves in a chain.
    hub : int
        An element with more than `hub` stored pairs starts only chains of one move, and is no later move of a chain.
    terms : Terms, optional
        Of a background, groups and sizes, see `graphpart.partition.local_search.sums`.
    batch : int, optional
        Number of elements from which chains are found before they are applied, in two threads. With terms it is 1.
    often : int, optional
        If more than one of so many elements of a batch has moved, chains of the next one are applied at once.

    Attributes
    ----------
    labels : ndarray of int32
        Numbers of subsets, from 0 to n, as they are now.
    """
    cdef State s
    cdef list kept
    cdef readonly object labels
    cdef State twin                 # of the second thread
    cdef Half[2] halves
    cdef Py_ssize_t room            # of the steps of one half
    cdef Py_ssize_t moves           # that were applied in the last batch
    cdef bint two                   # whether the second thread works on the twin
    cdef fixed_t tolerance
    cdef Py_ssize_t patience, longest, batch, often

    def __cinit__(
        self,
        const offset_t[::1] starts,
        const element_t[::1] neighbours,
        const cost_t[::1] costs,
        labels,
        double magnitude,
        double tolerance,
        Py_ssize_t patience,
        Py_ssize_t longest,
        offset_t hub,
        terms=None,
        Py_ssize_t batch=1,
        Py_ssize_t often=4,
    ):
        cdef Py_ssize_t n = starts.shape[0] - 1, a
        cdef State* s = &self.s
        cdef char[::1] at = empty_int8((n + 1) * sizeof(Element) + LINE), stuck
        cdef element_t[::1] label, queue = empty_int32(n + 1)
        cdef double[::1] since
        cdef fixed_t[::1] barred
        cdef int64_t[::1] moves, known
        cdef int64_t[:, ::1] versions, counts
        self.labels = np.array(labels, np.int32)
        label = self.labels
        self.kept = [starts, neighbours, costs, label, at, queue]
        self.patience = patience
        self.longest = longest
        s.hub = hub
        s.n = n
        s.starts = &starts[0]
        s.neighbours = &neighbours[0] if neighbours.shape[0] else NULL
        s.costs = &costs[0] if costs.shape[0] else NULL
        # A move changes the cost by at most twice the magnitude; so the sum along a chain stays in range.
        s.scale = scale_for(min(2.0 * longest * magnitude, DBL_MAX))
        s.label, s.queue, s.at = &label[0], &queue[0], <Element*>begin_of_line(at)
        self.kept.append(take_terms(&s.terms, terms, n + 1))
        self.tolerance = fixed_tolerance(&s.terms, tolerance, s.scale)
        self.kept += take_base(&s.base, starts, neighbours, terms, n + 1)
        s.narrow = not s.base.any
        if s.base.any:
            stuck = zeros_int8(n + 1)
            self.kept.append(stuck)
            s.stuck = &stuck[0]
        if s.base.any or s.terms.groups.any:
            barred = zeros_int64(n + 1)
            self.kept.append(barred)
            s.barred = &barred[0]
        if s.terms.k:
            since = zeros_float64(n * s.terms.k)
            self.kept.append(since)
            s.since = &since[0]
            for a in range(s.terms.k):
                s.applied[a] = s.during[a] = s.left[a] = 0.0
            s.exact = terms.repels and not s.terms.groups.any and not s.base.any
        if s.exact:
            counts = np.zeros((2, n + 1), np.int64)
            self.kept.append(counts)
            s.last, s.seen = &counts[0, 0], &counts[1, 0]
        if s.terms.groups.entries:
            moves = zeros_int64(len(terms.groups))
            known = zeros_int64(s.terms.groups.entries)
            self.kept += [moves, known]
            s.moves, s.known = &moves[0], &known[0]
            s.ejects = terms.groups.is_hard and not restless(s)
        if s.ejects:
            versions = np.zeros((3, n + 1), np.int64)
            versions[1] = -1
            self.kept.append(versions)
            s.version, s.paid_at, s.paid = &versions[0, 0], &versions[1, 0], <fixed_t*>&versions[2, 0]
        s.high = s.terms.k == 0 or not terms.repels
        self.often = often
        self.batch = 1 if s.terms.any or s.base.any else batch
        with nogil:
            for a in range(n):
                s.at[a] = Element(0, 0, starts[a] << 16 | min(starts[a + 1] - starts[a], MANY), 0, 0, 0, True, 0)
                queue[a] = <element_t>a
                s.most = max(s.most, starts[a + 1] - starts[a])
                s.top = max(s.top, label[a] + 1)
        s.length = n
        self.kept += begin_thread(s, longest)
        self.count()

    cdef void count(self) noexcept nogil:
        """Compute sizes and members of all subsets, and list the free numbers."""
        cdef Py_ssize_t a, U
        cdef State* s = &self.s
        terms_clear(&s.terms, s.n + 1)
        for U in range(s.top):
            s.subset[U].size = s.subset[U].members = 0
        for U in range(s.n + 1 if s.ejects else 0):
            s.changes += 1
            s.version[U] = s.changes
        for a in range(s.n):
            s.subset[s.label[a]].size += 1
            s.subset[s.label[a]].members ^= <element_t>a
            terms_put(&s.terms, <element_t>a, s.label[a])
        self.find_unused()

    cdef void find_unused(self) noexcept nogil:
        """List the free numbers below the largest one in use; the smallest one comes first."""
        cdef Py_ssize_t U
        cdef State* s = &self.s
        s.unuseds = 0
        for U in range(s.top - 1, -1, -1):
            if s.subset[U].size == 0:
                s.unused[s.unuseds] = <element_t>U
                s.unuseds += 1

    def adopt(self, const element_t[::1] labels):
        """Take over a partition that uses the same numbers for most of its subsets."""
        cdef Py_ssize_t a, t
        cdef State* s = &self.s
        with nogil:
            for a in range(s.n):
                if s.label[a] != labels[a]:
                    note_subsets(s, s.label[a], labels[a])
                    forget_around(s, <element_t>a)
                    for t in range(s.terms.k):
                        s.applied[t] += fabs(<double>s.terms.weights[a * s.terms.k + t])
                    note_groups(s, <element_t>a, 1)
                    s.top = max(s.top, labels[a] + 1)
                    transfer(s, <element_t>a, labels[a])
                    if self.twin.label != NULL:
                        transfer(&self.twin, <element_t>a, labels[a])
            if s.terms.any:
                self.count()
            self.find_unused()
            if self.twin.label != NULL:
                self.copy_numbers()

    cdef void copy_numbers(self) noexcept nogil:
        """Let the second thread have the free numbers of the first."""
        self.twin.top, self.twin.unuseds = self.s.top, self.s.unuseds
        memcpy(self.twin.unused, self.s.unused, self.s.unuseds * sizeof(element_t))

    cdef bint find_moves(self, double cost, Stopping stopping) noexcept nogil:
        """Queue all elements whose best move lowers the cost; return whether there are any, and the run may go on."""
        cdef element_t a, target
        cdef fixed_t others, barred
        for a in range(<element_t>self.s.n):
            if self.s.base.any and not self.s.stuck[a]:
                continue
            if look_at(&self.s, a, &target, &others, &barred) < -self.tolerance:
                if not self.s.base.any or may_leave(&self.s.base, a, self.s.label):
                    forget(&self.s, a)
                elif base_poll(&self.s.base, stopping, cost):
                    return False
        return self.s.length > 0

    cdef bint rise(self, double before, double cost) noexcept nogil:
        """Let chains rise by as much as pairs repel, and start from all elements again, if others have gained much."""
        cdef element_t a
        if self.s.high or not before - cost > PAYS * fabs(before):
            return False
        self.s.high = True
        for a in range(<element_t>self.s.n):
            self.s.queue[a], self.s.at[a].queued = a, True
        self.s.head, self.s.length = 0, self.s.n
        return True

    cdef void begin_twin(self):
        """Give the second thread labels of its own, and what it needs to move elements."""
        cdef element_t[::1] label = np.array(self.labels)
        cdef State* s = &self.twin
        s[0] = self.s
        self.kept += [label, *begin_thread(s, self.longest)]
        s.label = &label[0]
        memcpy(s.subset, self.s.subset, s.top * sizeof(Subset))
        self.copy_numbers()

    cdef double improve_in_batches(self, double cost, Stopping stopping):
        """As `improve`, but find chains from many elements before those that do not touch each other are applied.

        Where the elements before moved often, chains are applied at once: many would be in vain.
        """
        cdef State* s = &self.s
        cdef Py_ssize_t room = 2 * (self.batch + self.longest), count, i
        cdef element_t[::1] taken = empty_int32(self.batch)
        cdef char[::1] steps = empty_int8(2 * room * sizeof(Step))
        cdef fixed_t change
        cdef double begun, spent = 0.0      # seconds for each element, as found in the last batch
        if self.twin.label == NULL and s.length > self.batch and processors() > 1:
            self.begin_twin()
        self.two = self.twin.label != NULL
        self.room = room
        self.moves = s.n
        for i in range(2):
            self.halves[i].steps = <Step*>&steps[0] + i * room
        while s.length:
            count = min(self.batch, s.length)
            for i in range(count):
                taken[i] = s.queue[s.head]
                s.head = s.head + 1 if s.head + 1 < s.n else 0
            s.length -= count
            self.halves[0].starts, self.halves[0].count = &taken[0], count // 2
            self.halves[1].starts, self.halves[1].count = &taken[0] + count // 2, count - count // 2
            if self.moves * self.often > count:
                with nogil:
                    change = self.one_by_one(&taken[0], count, cost, stopping)
            else:
                for i in range(count):
                    s.at[taken[i]].queued = False
                begun = seconds()
                side_by_side(
                    partial(self.search, False, cost, stopping), partial(self.search, True, cost, stopping.child()),
                    worth=self.two and spent * count > WORTH,
                )
                spent = (seconds() - begun) / count
                with nogil:
                    self.moves = 0
                    change = self.apply()
            cost += change / s.scale
            if stopping.poll(cost):
                break
        s.half = NULL
        return cost

    cdef fixed_t one_by_one(
        self, element_t* starts, Py_ssize_t count, double cost, Stopping stopping
    ) noexcept nogil:
        """Find a chain from each element, and apply it; the change of cost."""
        cdef Half* half = &self.halves[0]
        cdef Py_ssize_t i
        cdef fixed_t change = 0
        self.s.half = half
        self.halves[1].written = self.halves[1].count = self.halves[1].looked = 0
        half.count = half.looked = 0
        self.moves = 0
        for i in range(count):
            half.written = 0
            self.s.at[starts[i]].queued = False
            if i + 2 * AHEAD < count:
                fetch_start(&self.s, starts[i + 2 * AHEAD], starts[i + AHEAD])
            improve_by_chain(&self.s, starts[i], self.tolerance, self.patience, self.longest, cost, stopping)
            if half.written:
                change += self.apply()
            if base_poll(&self.s.base, stopping, cost + change / self.s.scale):
                break
        return change

    def search(self, bint second, double cost, Stopping stopping):
        """Find chains from one half of the elements that were taken from the queue."""
        cdef State* s = &self.twin if second and self.two else &self.s
        cdef Half* half = &self.halves[second]
        s.half = half
        half.written = half.looked = 0
        with nogil:
            while half.looked < half.count and half.written + self.longest < self.room:
                if half.looked + 2 * AHEAD < half.count:
                    fetch_start(s, half.starts[half.looked + 2 * AHEAD], half.starts[half.looked + AHEAD])
                improve_by_chain(
                    s, half.starts[half.looked], self.tolerance, self.patience, self.longest, cost, stopping)
                half.looked += 1
                if base_poll(&s.base, stopping, cost):
                    break

    cdef fixed_t apply(self) noexcept nogil:
        """Apply the chains that were found, but for those of which another one has moved an element or a neighbour."""
        cdef State* s = &self.s
        cdef Half* half
        cdef Step* steps
        cdef Py_ssize_t i, h, kept
        cdef fixed_t change = 0
        cdef bint fits
        if s.turn == TURNS:
            s.turn = 0
            for i in range(s.n):
                s.at[i].turn = 0
        s.turn += 1
        for h in range(2):
            half = &self.halves[h]
            steps = half.steps
            while steps < half.steps + half.written:
                kept = steps.element
                fits = True
                for i in range(1, kept + 1):
                    fits &= s.at[steps[i].element].turn != s.turn
                if fits:
                    change += steps.change
                    self.moves += kept
                    carry_out(s, steps + 1, kept)
                    if self.two:
                        carry_out(&self.twin, steps + 1, kept)
                    for i in range(1, kept + 1):
                        forget_around(s, steps[i].element)
                else:
                    enqueue(s, steps[1].element)
                steps += kept + 1
            for i in range(half.looked, half.count):
                enqueue(s, half.starts[i])
        return change

    def improve(self, double cost, Stopping stopping):
        """Apply chains until none helps: from all elements first, then where something changed. Returns the cost."""
        cdef element_t a
        cdef fixed_t change
        cdef State* s = &self.s
        cdef double before = cost
        if self.batch > 1:
            return self.improve_in_batches(cost, stopping)
        with nogil:
            while s.length or self.rise(before, cost) or (
                (s.terms.any or s.base.any) and self.find_moves(cost, stopping)
            ):
                a = s.queue[s.head]
                s.head = s.head + 1 if s.head + 1 < s.n else 0
                s.length -= 1
                s.at[a].queued = False
                fetch_next(s)
                change = improve_by_chain(s, a, self.tolerance, self.patience, self.longest, cost, stopping)
                if s.ejects and change == 0:
                    change = improve_by_ejections(s, a, self.tolerance, self.longest)
                cost += change / s.scale
                if base_poll(&s.base, stopping, cost):
                    break
        return cost
