"""Chains: one chain, or chain of ejections, and what is kept of it."""

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


cdef inline bint is_renamed(State* s, Py_ssize_t length) noexcept nogil:
    """Whether a chain has moved all elements of one subset to one that was empty, so that the partition is the same."""
    cdef Py_ssize_t i
    if s.subset[s.origin[0]].size or s.subset[s.label[s.moved[0]]].size != length:
        return False
    for i in range(1, length):
        if s.origin[i] != s.origin[0] or s.label[s.moved[i]] != s.label[s.moved[0]]:
            return False
    return True


cdef fixed_t improve_by_chain(
    State* s, element_t a, fixed_t tolerance, Py_ssize_t patience, Py_ssize_t longest, double cost, Stopping stopping
) noexcept nogil:
    """Apply the best prefix of a chain that starts with the best move of a; the change of cost, 0 if there is none."""
    cdef Element* first = s.at + a
    cdef Element now
    cdef Candidate* item
    cdef Py_ssize_t length = 0, kept = 0, i
    cdef fixed_t sum, smallest = 0, height, limit, priced = 0
    cdef element_t target
    cdef double moved[TERMS]
    cdef bint same = True, is_known = published(&first.known)
    s.chain += 1
    for i in range(s.terms.k):
        s.during[i] = s.left[i] = 0.0
        moved[i] = s.applied[i] - s.since[a * s.terms.k + i]
        same &= moved[i] == 0
    if not same and is_known:
        is_known = s.exact and is_as_it_was(s, a, s.label[a]) and is_as_it_was(s, a, first.target) and (
            first.delta < first.others - most_by(s, a, moved)
        )
    if s.terms.groups.any and (restless(s) or groups_moved(s, a, &priced)):
        is_known = False
    if not is_known or first.alone != (s.subset[s.label[a]].size == 1):
        if s.shared and published(&first.known):
            first = &now
            find_best(s, a, first)
        else:
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
        if length - kept == patience or length == longest or is_renamed(s, length):
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


cdef bint meets(State* s, const Step* steps, Py_ssize_t count, int64_t since) noexcept nogil:
    """Whether the noted steps of a chain change a subset that others have changed since a move for good."""
    cdef Py_ssize_t i
    cdef bint found = False
    for i in range(count):
        found |= s.last[s.label[steps[i].element]] > since or (
            steps[i].target >= 0 and s.last[steps[i].target] > since)
    return found


cdef fixed_t change_by(State* s, element_t a, element_t W) noexcept nogil:
    """The change of cost by a move to a subset that is linked to the element, or to the empty set. O(degree)"""
    cdef element_t mine = s.label[a]
    cdef offset_t k
    cdef fixed_t sum = -fixed_at(&s.terms, a, mine, True, s.scale)
    if W != EMPTY:
        sum += fixed_at(&s.terms, a, W, False, s.scale)
    for k in range(row_begin(s, a), row_end(s, a)):
        if s.label[s.neighbours[k]] == mine:
            sum -= fixed(s.costs[k], s.scale)
        elif s.label[s.neighbours[k]] == W:
            sum += fixed(s.costs[k], s.scale)
    return sum


cdef fixed_t carry_out(State* s, const Step* steps, Py_ssize_t count, bint check, fixed_t tolerance) noexcept nogil:
    """Apply the noted steps of a chain, with `check` only if they still lower the cost; the change then, else 0.

    Elements that are alone from then on, or no more, have another best move.
    """
    cdef Py_ssize_t i, k, t
    cdef element_t a, U, W
    cdef fixed_t change = 0
    for i in range(count):
        a, W = steps[i].element, steps[i].target
        for k in range(i - 1 if W >= 0 else -1, -1, -1):
            if steps[k].target == -1 - W:           # this subset is new, and may have another number now
                W = s.label[steps[k].element]
                break
        W = max(W, EMPTY)
        if check:
            change += change_by(s, a, W)
        U = s.origin[i] = s.label[a]
        W = shift(s, a, W)
        if s.subset[U].size == 1:
            s.at[s.subset[U].members].known = False
        if s.subset[W].size == 2:
            s.at[s.subset[W].members ^ a].known = False
    if check and not change < -tolerance:
        for i in range(count - 1, -1, -1):
            move_back(s, steps[i].element, s.origin[i])
        return 0
    for i in range(count):
        a = steps[i].element
        note_subsets(s, s.origin[i], s.label[a])
        for t in range(s.terms.k):
            s.applied[t] += fabs(<double>s.terms.weights[a * s.terms.k + t])
    return change


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
