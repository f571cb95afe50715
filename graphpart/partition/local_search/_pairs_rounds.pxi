"""Pairwise Kernighan-Lin: what changed before a round, groups of subsets, and their numbers in two threads."""

cdef void find_weights(State* s) noexcept nogil:
    """The smallest and the largest weight for each term, and the background of a pair if it is always the same."""
    cdef Py_ssize_t t, a
    cdef double weight
    s.uniform = True
    for t in range(s.terms.k):
        s.low[t], s.high[t] = INFINITY, -INFINITY
        for a in range(s.n):
            weight = <double>s.terms.weights[a * s.terms.k + t]
            s.low[t], s.high[t] = min(s.low[t], weight), max(s.high[t], weight)
            s.uniform &= s.terms.weights[a * s.terms.k + t] == s.terms.weights[t]
    s.each = fixed_between(&s.terms, s.terms.weights, s.terms.weights, s.scale)


cdef void find_unused(State* s) noexcept nogil:
    """List the free numbers below the largest one in use; the smallest one comes first."""
    cdef Py_ssize_t U
    s.unuseds = 0
    for U in range(s.top - 1, -1, -1):
        if s.size[U] == 0:
            s.unused[s.unuseds] = <element_t>U
            s.unuseds += 1


cdef void divide(State* s, element_t* large) noexcept nogil:
    """Divide all subsets into groups; `large` is room for numbers of subsets."""
    cdef Py_ssize_t U, i, larges = 0, smalls = 0, before = 0    # elements of small subsets
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


cdef void part(State* s, State* twin, element_t* free, int other, bint splits) noexcept nogil:
    """Give the first thread group 0 and another one, the second thread the rest; `free`: room for its free numbers."""
    cdef element_t* inside = twin.inside
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
    twin[0] = s[0]
    twin.change, twin.mine, twin.inside, twin.odd = 0, 15 - s.mine, inside, True
    twin.border += s.room
    twin.heap[0] += first
    twin.switched += first
    twin.touched += first
    twin.barred += first
    twin.order += first
    twin.close += first
    if not splits:
        twin.unused, twin.unuseds = free, 0


cdef void unite(State* s, const State* twin, bint splits) noexcept nogil:
    """Take over what the second thread has changed."""
    s.change += twin.change
    s.room *= 2
    if not splits:
        memcpy(s.unused + s.unuseds, twin.unused, twin.unuseds * sizeof(element_t))
        s.unuseds += twin.unuseds


cdef void take_numbers(State* s, State* twin, element_t* left) noexcept nogil:
    """Remove the numbers of new subsets from the free ones; `left` is room for numbers."""
    cdef State* of
    cdef Py_ssize_t at, k, most = 0, kept = 0, taken = s.taken + twin.taken
    if taken == 0:
        return
    for k in range(2):                      # all free numbers up to the last one that was taken
        of = twin if k else s
        if of.taken:
            most = max(most, place_of_number(of, of.taken - 1) + 1)
    for at in range(most):
        of = twin if at < 2 * s.shared and at & 1 else s
        k = at // 2 if at < 2 * s.shared else at - s.shared
        if k >= (of.taken if at < 2 * s.shared else max(s.taken, twin.taken)):
            left[kept] = free_number(s, at)
            kept += 1
    s.top += max(0, most - s.unuseds)
    s.unuseds = max(0, s.unuseds - most)
    for at in range(kept - 1, -1, -1):
        s.unused[s.unuseds] = left[at]
        s.unuseds += 1
    s.taken = s.shared = twin.taken = 0


cdef void find_near(State* s) noexcept nogil:
    """Mark the subsets near changes of this round: when `move` did, another thread may have changed labels."""
    cdef Py_ssize_t a
    for a in range(s.n):
        if s.near[a] & NOW:
            s.near_change[s.label[a]] = True


cdef void find_pending(
    State* s, element_t* close, Py_ssize_t large, Py_ssize_t few, bint wholly
) noexcept nogil:
    """Find the subsets that changed before this round, and elements near them. Only these have pairs to improve.

    `close`: room for the number of elements of each subset that are near a change.
    """
    cdef Py_ssize_t U
    cdef element_t a
    cdef offset_t k
    cdef bint partly = False
    memset(close, 0, s.top * sizeof(element_t))
    for a in range(0 if wholly else <element_t>s.n):
        close[s.label[a]] += s.near[a] & NOW
    for U in range(s.top):
        s.pending[U] = WHOLLY if s.changed[U] or (wholly and s.owed[U]) else 0
        if s.changed[U] and not wholly and s.size[U] >= large and close[U] * few <= NOW * s.size[U]:
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
