"""Chains: best moves of elements, bounds on those of candidates, and moves."""

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


cdef fixed_t find_best(State* s, element_t a, Element* best) noexcept nogil:
    """Find the best move of an element; returns a lower bound on those that are forbidden. O(degree)"""
    cdef fixed_t barred
    best.alone = s.subset[s.label[a]].size == 1
    best.delta = look_at(s, a, &best.target, &best.others, &barred)
    return barred


cdef void learn(State* s, element_t a) noexcept nogil:
    """Remember the best move of an element. O(degree)"""
    cdef Element* best = s.at + a
    cdef Py_ssize_t t
    cdef fixed_t barred = find_best(s, a, best)
    for t in range(s.terms.k):
        s.since[a * s.terms.k + t] = s.applied[t]
    if s.exact:
        s.seen[a] = s.kept
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
