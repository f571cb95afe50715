"""Pairwise Kernighan-Lin: sequences of switches, and moves for good."""

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
