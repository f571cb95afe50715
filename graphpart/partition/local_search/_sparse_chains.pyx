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
from libc.limits cimport SHRT_MAX
from libc.math cimport INFINITY, fabs
from libc.stdint cimport INT64_MAX, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from graphpart.kernels._arrays cimport empty_int32, empty_int8, zeros_float64, zeros_int64, zeros_int8
from graphpart.kernels.clock cimport seconds
from graphpart.kernels.connected cimport Base, is_freed, mark_freed, may_leave, take_base
from graphpart.kernels.fixed cimport fixed, fixed_t, scale_for
from graphpart.kernels.groups cimport groups_holder, groups_of_pair
from graphpart.kernels.terms cimport (
    TERMS, Terms, fixed_at, fixed_tolerance, take_terms, terms_clear, terms_move, terms_put, terms_slope,
)
from graphpart.kernels.memory cimport large_pages, prefetch, publish, published
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


cdef struct Move:
    fixed_t delta               # change of cost
    fixed_t others              # lower bound on it by a move to another linked subset
    fixed_t barred              # lower bound on it by a move that is forbidden, NONE if none is
    element_t target
    char known
    char alone                  # the element was alone when this was computed, so that the empty set was no target
    short turn                  # of `State` when the element was last forgotten


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


cdef struct Sum:
    fixed_t cost
    int64_t look                # that computed it


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
    const offset_t* starts
    const element_t* neighbours
    const cost_t* costs
    double scale                # fixed-point units in a cost of 1
    offset_t hub                # elements with more pairs have chains of one move
    element_t* label            # subset of each element
    element_t* size
    int64_t* members            # sum of the elements of each subset: the element, if it is one
    element_t* unused           # numbers of subsets without elements
    Py_ssize_t unuseds
    Move* best                  # of each element in the partition between chains
    Sum* sums                   # cost of one element to each subset
    int64_t look
    element_t* linked           # subsets of its neighbours
    Candidate* candidates
    Py_ssize_t waiting
    element_t* place            # of each element among the candidates
    element_t* moved            # the chain
    element_t* origin
    element_t* queue            # a ring: elements from which a chain has to start
    char* queued
    Py_ssize_t head, length
    Half* half                  # where chains are noted, not applied; NULL if each is applied at once
    short turn                  # number of the last times that noted chains were applied
    Base base
    char* stuck                 # elements whose move was forbidden
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
    int64_t* visited            # for each subset: the last chain that changed it
    int64_t chain
    int64_t* moves              # for each group: number of moves of members, times the number that they stand for
    int64_t* known              # for each entry of the rows of groups: `moves` when the element was looked at
    bint ejects                 # whether there are hard groups, and no other constraints
    int64_t changes
    int64_t* version            # for each subset: number of its last change
    int64_t* paid_at            # for each element: the version of its subset for which `paid` is valid; -1 at first
    fixed_t* paid               # cost of each element in its own subset


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
    return U == EMPTY or (s.last[U] <= s.seen[b] and s.visited[U] != s.chain)


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
    s.base.work += s.starts[a + 1] - s.starts[a]
    s.look += 1
    for k in range(s.starts[a], s.starts[a + 1]):
        if based and s.base.lifted[k]:
            continue
        U = s.label[s.neighbours[k]]
        c = s.costs[k]
        old = s.sums[U].cost & -<fixed_t>(s.sums[U].look == s.look)     # without branches, which would be mispredicted
        s.linked[links] = U
        links += s.sums[U].look != s.look
        s.sums[U].look = s.look
        if c == INFINITY or old == NONE:
            s.sums[U].cost = NONE
        else:
            s.sums[U].cost = old + fixed(c, s.scale)
    if based:
        for k in range(s.starts[a], s.starts[a + 1]):
            U = s.label[s.neighbours[k]]
            if s.base.lifted[k] and s.sums[U].look == s.look:
                c = s.costs[k]
                if c == INFINITY:
                    s.sums[U].cost = NONE
                elif s.sums[U].cost != NONE:
                    s.sums[U].cost += fixed(c, s.scale)
    return links


cdef fixed_t look_at(State* s, element_t a, element_t* target, fixed_t* others, fixed_t* barred) noexcept nogil:
    """The change of cost by the best move of an element, to a subset that is linked to it or empty. O(degree)"""
    cdef element_t U, mine = s.label[a]
    cdef Py_ssize_t i, links = gather(s, a)
    cdef fixed_t low = NONE, second = NONE, own = 0, value, more
    target[0] = EMPTY
    if s.sums[mine].look == s.look:
        own = s.sums[mine].cost
    barred[0] = NONE
    if s.terms.any:
        own += fixed_at(&s.terms, a, mine, True, s.scale)
    for i in range(links):
        U = s.linked[i]
        value = s.sums[U].cost
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
    if s.size[mine] > 1 and low <= 0:
        second = min(second, 0)
    elif s.size[mine] > 1:
        if s.terms.groups.limited and s.n + 1 - s.unuseds >= s.terms.groups.most:
            barred[0] = min(barred[0], -own)
        else:
            second = low
            low = 0
            target[0] = EMPTY
    others[0] = second if second == NONE else second - own
    if low == NONE:
        return NONE
    if s.terms.groups.limited and s.size[mine] == 1 and s.n + 1 - s.unuseds <= s.terms.groups.least:
        barred[0] = min(barred[0], low - own)
        return NONE
    return low - own


cdef void learn(State* s, element_t a) noexcept nogil:
    """Remember the best move of an element. O(degree)"""
    cdef Move* best = s.best + a
    cdef Py_ssize_t t
    for t in range(s.terms.k):
        s.since[a * s.terms.k + t] = s.applied[t]
    if s.exact:
        s.seen[a] = s.kept
    best.alone = s.size[s.label[a]] == 1
    best.delta = look_at(s, a, &best.target, &best.others, &best.barred)
    publish(&best.known)
    note_groups(s, a, 0)


cdef inline bint is_hub(State* s, element_t a) noexcept nogil:
    return s.starts[a + 1] - s.starts[a] > s.hub


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
    cdef Move* known = s.best + b
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
    item.barred = known.barred
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
    return item.loose or s.visited[item.mine] == s.chain or (
        item.target != EMPTY and s.visited[item.target] == s.chain)


cdef void loosen(State* s, element_t b, fixed_t most) noexcept nogil:
    """Note that the delta of the best move of b may have fallen by at most `most`; b becomes a candidate."""
    cdef Candidate* item = candidate(s, b)
    if item == NULL:
        return
    item.loose, item.idle = True, False
    if item.delta == NONE or most == NONE:
        item.delta = -NONE                      # no bound is known, so it comes first and is looked at
    elif item.delta != -NONE:
        if s.size[s.label[b]] <= 2:             # the same if it was alone, or is alone now
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
        s.unuseds -= 1
        W = s.unused[s.unuseds]
    s.label[a] = W
    s.size[U] -= 1
    s.members[U] -= a
    s.size[W] += 1
    s.members[W] += a
    if s.terms.any:
        terms_move(&s.terms, a, U, W)
        note_groups(s, a, 1)
        note_change(s, U, W)
    if s.size[U] == 0:
        s.unused[s.unuseds] = U
        s.unuseds += 1
    return W


cdef inline void fetch_row(State* s, element_t b) noexcept nogil:
    """Fetch the stored pairs of an element, from all lines of the cache that they may take."""
    cdef offset_t k, end = min(s.starts[b + 1], s.starts[b] + FETCHED)
    for k in range(s.starts[b], end, 16):
        prefetch(s.neighbours + k)
    for k in range(s.starts[b], end, 8):
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
        for k in range(s.starts[a], s.starts[a + 1]):
            b = s.neighbours[k]
            prefetch(s.place + b)
            prefetch(s.best + b)
            prefetch(s.label + b)
            prefetch(s.starts + b)
        for k in range(s.starts[a], s.starts[a + 1]):
            b = s.neighbours[k]
            if s.place[b] == OUT and not published(&s.best[b].known):
                fetch_row(s, b)
    for k in range(s.starts[a], s.starts[a + 1] if (plain or (s.exact and length == 1)) and not is_hub(s, a) else 0):
        b = s.neighbours[k]
        if s.half != NULL and s.visited[s.label[b]] == s.chain and s.size[s.label[b]] <= length + 1:
            continue                    # what two threads learn has to be the same: what holds between chains
        if s.place[b] == OUT and not published(&s.best[b].known) and (
            s.starts[b + 1] - s.starts[b] > 2 and not is_hub(s, b)
        ):
            # No neighbour has moved in this chain, and with a background no element has, so the best move is valid in
            # later chains, too. On paths this saves no time.
            learn(s, b)
    W = shift(s, a, W)
    if s.narrow:
        s.visited[U] = s.visited[W] = s.chain
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
    if s.size[U] == 1 and s.place[s.members[U]] >= 0:
        loosen(s, <element_t>s.members[U], 0)
    if s.size[W] == 2 and s.place[s.members[W] - a] >= 0:
        loosen(s, <element_t>(s.members[W] - a), 0)
    if is_hub(s, a):
        return
    for k in range(s.starts[a], s.starts[a + 1]):
        b = s.neighbours[k]
        if s.base.any and s.place[b] == OUT:
            if not s.base.lifted[k]:
                loosen(s, b, NONE)
            continue
        if s.costs[k] == INFINITY or (s.base.any and not s.base.lifted[k] and s.label[b] != W):
            loosen(s, b, NONE)      # U or W may be open to b now
            continue
        c = fixed(s.costs[k], s.scale)
        if (plain or s.exact) and s.size[s.label[b]] > 1 + (s.label[b] == W):
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
    if s.size[U] == 0:
        s.unuseds -= 1
    s.size[W] -= 1
    s.members[W] -= a
    s.size[U] += 1
    s.members[U] += a
    s.label[a] = U
    if s.terms.any:
        terms_move(&s.terms, a, W, U)
        note_groups(s, a, -1)
        note_change(s, U, W)
    if s.size[W] == 0:
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
    for k in range(s.starts[a], s.starts[a + 1]):
        c = fabs(s.costs[k]) if s.high else -s.costs[k]
        if c != INFINITY and c > largest:
            largest = c
    return fixed(largest, s.scale)


cdef inline void fetch_start(State* s, element_t far, element_t near) noexcept nogil:
    """Fetch what the next chains begin with."""
    prefetch(s.best + far)
    prefetch(s.starts + far)
    fetch_row(s, near)


cdef inline void fetch_next(State* s) noexcept nogil:
    cdef Py_ssize_t near = s.head + AHEAD, far = near + AHEAD
    if s.length > 2 * AHEAD:
        fetch_start(s, s.queue[far if far < s.n else far - s.n], s.queue[near if near < s.n else near - s.n])


cdef fixed_t improve_by_chain(
    State* s, element_t a, fixed_t tolerance, Py_ssize_t patience, Py_ssize_t longest, double cost, Stopping stopping
) noexcept nogil:
    """Apply the best prefix of a chain that starts with the best move of a; the change of cost, 0 if there is none."""
    cdef Move* first = s.best + a
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
    if not published(&first.known) or first.alone != (s.size[s.label[a]] == 1):
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
            steps[i + 1].target = W if s.size[W] else -1 - W
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
        if s.size[U] == 1:
            s.best[s.members[U]].known = False
        if s.size[W] == 2:
            s.best[s.members[W] - steps[i].element].known = False


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
        for k in range(s.starts[b], s.starts[b + 1]):
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
        if s.size[mine] > 1:
            low = -own
        for i in range(links):
            U = s.linked[i]
            if U == mine or s.sums[U].cost == NONE:
                continue
            value = s.sums[U].cost - own
            more = fixed_at(&s.terms, a, U, False, s.scale)
            b = -1
            if more == NONE:
                b = groups_holder(&s.terms.groups, a, U)
                if b < 0 or s.place[b] == DONE or s.size[U] == 1:
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
            low = (s.sums[target].cost if s.sums[target].look == s.look else 0) - own + fixed_at(
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
    if not s.queued[a]:
        s.queued[a] = True
        s.queue[at if at < s.n else at - s.n] = a
        s.length += 1


cdef inline void forget(State* s, element_t a) noexcept nogil:
    """Forget the best move of an element, which may have changed: a chain starts there again."""
    s.best[a].known = False
    s.best[a].turn = s.turn
    enqueue(s, a)


cdef void forget_around(State* s, element_t a) noexcept nogil:
    cdef offset_t k
    forget(s, a)
    for k in range(s.starts[a], s.starts[a + 1]):
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
        cdef element_t[:, ::1] room = np.zeros((5, n + 1), np.int32)
        cdef element_t[:, ::1] chain = np.zeros((2, 2 * min(n, longest) + 2), np.int32)
        cdef int64_t[:, ::1] wide = np.zeros((3, n + 1), np.int64)
        cdef char[::1] queued = zeros_int8(n + 1), stuck = zeros_int8(n + 1)
        cdef element_t[::1] label
        cdef double[::1] since
        cdef int64_t[::1] moves, known
        cdef int64_t[:, ::1] versions, counts
        self.labels = np.array(labels, np.int32)
        label = self.labels
        self.kept = [starts, neighbours, costs, label, room, chain, wide, queued, stuck]
        self.patience = patience
        self.longest = longest
        self.s.hub = hub
        self.s.n = n
        self.s.starts = &starts[0]
        self.s.neighbours = &neighbours[0] if neighbours.shape[0] else NULL
        self.s.costs = &costs[0] if costs.shape[0] else NULL
        # A move changes the cost by at most twice the magnitude; so the sum along a chain stays in range.
        self.s.scale = scale_for(min(2.0 * longest * magnitude, DBL_MAX))
        self.s.label = &label[0]
        self.s.size = &room[0, 0]
        self.s.unused = &room[1, 0]
        self.s.linked = &room[2, 0]
        self.s.place = &room[3, 0]
        self.s.moved = &chain[0, 0]
        self.s.origin = &chain[1, 0]
        self.s.queue = &room[4, 0]
        self.s.members = &wide[0, 0]
        self.s.sums = <Sum*>&wide[1, 0]       # rows 1 and 2
        self.s.queued = &queued[0]
        self.s.stuck = &stuck[0]
        self.kept.append(take_terms(&self.s.terms, terms, n + 1))
        self.tolerance = fixed_tolerance(&self.s.terms, tolerance, self.s.scale)
        self.kept += take_base(&self.s.base, starts, neighbours, terms, n + 1)
        if self.s.terms.k:
            since = zeros_float64(n * self.s.terms.k)
            self.kept.append(since)
            self.s.since = &since[0]
            for a in range(self.s.terms.k):
                self.s.applied[a] = self.s.during[a] = self.s.left[a] = 0.0
            self.s.exact = terms.repels and not self.s.terms.groups.any and not self.s.base.any
        self.s.narrow = not self.s.base.any
        if self.s.narrow:
            counts = np.zeros((3 if self.s.exact else 1, n + 1), np.int64)
            self.kept.append(counts)
            self.s.visited = &counts[0, 0]
        if self.s.exact:
            self.s.last, self.s.seen = &counts[1, 0], &counts[2, 0]
        if self.s.terms.groups.entries:
            moves = zeros_int64(len(terms.groups))
            known = zeros_int64(self.s.terms.groups.entries)
            self.kept += [moves, known]
            self.s.moves, self.s.known = &moves[0], &known[0]
            self.s.ejects = terms.groups.is_hard and not restless(&self.s)
        if self.s.ejects:
            versions = np.zeros((3, n + 1), np.int64)
            versions[1] = -1
            self.kept.append(versions)
            self.s.version, self.s.paid_at, self.s.paid = &versions[0, 0], &versions[1, 0], <fixed_t*>&versions[2, 0]
        self.s.high = self.s.terms.k == 0 or not terms.repels
        self.s.look = self.s.head = self.s.length = 0
        self.s.half, self.s.turn = NULL, 0
        self.often = often
        self.batch = 1 if self.s.terms.any or self.s.base.any else batch
        self.s.best = <Move*>malloc((n + 1) * sizeof(Move))
        self.s.candidates = <Candidate*>malloc((min(n, longest * hub) + 1) * sizeof(Candidate))
        if self.s.best == NULL or self.s.candidates == NULL:
            raise MemoryError()
        large_pages(self.s.best, (n + 1) * sizeof(Move))
        for a in range(n):
            self.s.place[a] = OUT
            self.s.best[a].alone, self.s.best[a].turn = False, 0
            forget(&self.s, <element_t>a)
        self.count()

    def __dealloc__(self):
        free(self.s.best)
        free(self.s.candidates)

    cdef void count(self) noexcept nogil:
        """Compute sizes and members of all subsets, and list the free numbers; the smallest one comes first."""
        cdef Py_ssize_t a, U
        cdef State* s = &self.s
        terms_clear(&s.terms, s.n + 1)
        for U in range(s.n + 1):
            s.size[U] = 0
            s.members[U] = 0
            if s.ejects:
                s.changes += 1
                s.version[U] = s.changes
        for a in range(s.n):
            s.size[s.label[a]] += 1
            s.members[s.label[a]] += a
            terms_put(&s.terms, <element_t>a, s.label[a])
        s.unuseds = 0
        for U in range(s.n, -1, -1):
            if s.size[U] == 0:
                s.unused[s.unuseds] = <element_t>U
                s.unuseds += 1

    def adopt(self, const element_t[::1] labels):
        """Take over a partition that uses the same numbers for most of its subsets."""
        cdef Py_ssize_t a, t
        with nogil:
            for a in range(self.s.n):
                if self.s.label[a] != labels[a]:
                    note_subsets(&self.s, self.s.label[a], labels[a])
                    self.s.label[a] = labels[a]
                    forget_around(&self.s, <element_t>a)
                    for t in range(self.s.terms.k):
                        self.s.applied[t] += fabs(<double>self.s.terms.weights[a * self.s.terms.k + t])
                    note_groups(&self.s, <element_t>a, 1)
            self.count()

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
            self.s.queue[a], self.s.queued[a] = a, True
        self.s.head, self.s.length = 0, self.s.n
        return True

    cdef list begin_twin(self):
        """Give the second thread labels of its own, and what it needs to move elements."""
        cdef Py_ssize_t n = self.s.n + 1
        cdef element_t[:, ::1] room = np.empty((5, n), np.int32)
        cdef element_t[:, ::1] chain = np.empty((2, 2 * self.longest + 2), np.int32)
        cdef int64_t[:, ::1] wide = np.zeros((4, n), np.int64)
        cdef char[::1] candidates = np.empty((self.longest * self.s.hub + 1) * sizeof(Candidate), np.int8)
        cdef State* s = &self.twin
        s[0] = self.s
        s.label, s.size, s.unused, s.place, s.linked = (
            &room[0, 0], &room[1, 0], &room[2, 0], &room[3, 0], &room[4, 0])
        s.members, s.sums, s.visited = &wide[0, 0], <Sum*>&wide[1, 0], &wide[3, 0]
        s.moved, s.origin, s.candidates = &chain[0, 0], &chain[1, 0], <Candidate*>&candidates[0]
        s.look = s.chain = 0
        memcpy(s.label, self.s.label, self.s.n * sizeof(element_t))
        memcpy(s.size, self.s.size, n * sizeof(element_t))
        memcpy(s.unused, self.s.unused, n * sizeof(element_t))
        memcpy(s.place, self.s.place, n * sizeof(element_t))
        memcpy(s.members, self.s.members, n * sizeof(int64_t))
        return [room, chain, wide, candidates]

    cdef double improve_in_batches(self, double cost, Stopping stopping):
        """As `improve`, but find chains from many elements before those that do not touch each other are applied.

        Where the elements before moved often, chains are applied at once: many would be in vain.
        """
        cdef State* s = &self.s
        cdef Py_ssize_t room = 2 * (self.batch + self.longest), count, i
        cdef element_t[::1] taken = empty_int32(self.batch)
        cdef char[::1] steps = empty_int8(2 * room * sizeof(Step))
        cdef list twin = self.begin_twin() if s.length > self.batch and processors() > 1 else None
        cdef fixed_t change
        cdef double begun, spent = 0.0      # seconds for each element, as found in the last batch
        for i in range(s.n):
            s.best[i].known &= s.best[i].alone == (s.size[s.label[i]] == 1)
        self.two = twin is not None
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
                    s.queued[taken[i]] = False
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
            self.s.queued[starts[i]] = False
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
        if s.turn == SHRT_MAX:
            s.turn = 0
            for i in range(s.n):
                s.best[i].turn = 0
        s.turn += 1
        for h in range(2):
            half = &self.halves[h]
            steps = half.steps
            while steps < half.steps + half.written:
                kept = steps.element
                fits = True
                for i in range(1, kept + 1):
                    fits &= s.best[steps[i].element].turn != s.turn
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
                s.queued[a] = False
                fetch_next(s)
                change = improve_by_chain(s, a, self.tolerance, self.patience, self.longest, cost, stopping)
                if s.ejects and change == 0:
                    change = improve_by_ejections(s, a, self.tolerance, self.longest)
                cost += change / s.scale
                if base_poll(&s.base, stopping, cost):
                    break
        return cost
