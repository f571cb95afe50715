"""Pairwise Kernighan-Lin: pairs of elements between two subsets, their sums, and bounds on what can be gained."""

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
    if s.base.any or (s.partial and not stays(s, a, other)):     # one that stays may have very many pairs
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
            s.border[s.borders] = Border(<uint32_t>k, a, linked.border)
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
