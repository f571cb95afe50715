"""Kernels that find subsets of small reduced cost, for column generation (see `column_generation`).

The reduced cost of a subset is the sum of the costs of its pairs and of the prices of its elements. `descend` is a tabu
search from given subsets. `examine` finds all subsets below a limit, by branch and bound: each element is in, out or
free. The cost of a pair is at least ``weight[a] * weight[b]`` minus its attraction. Let X be the sum of the weights of
the free elements in a subset. The weights contribute ``(X**2 - sum of weight**2) / 2``, and ``X**2 >= 2 X t - t**2``
for every t. So for each t the remaining costs are linear except for the attractions, and their minimum is a minimum
cut. The maximum flow is a division of each attraction among the two ends of its pair. Each element then has a linear
cost, and the sum of the negative ones is a bound for any division. The division is kept from node to node, so flows
need few steps. A few t are tried, towards the X of the minimum. An element is out if its linear cost lifts the bound to
the limit.

A triple has a penalty s, which a subset pays if it takes two or three of {i, j, k} (see `subset_rows`). In 0/1 variables
this is ``s (x_i x_j + x_j x_k + x_i x_k - 2 x_i x_j x_k)``. Once i is in, it is ``s (x_j + x_k - x_j x_k)``: a cost s
of j and of k, and an attraction s between them. Once two are in, it is s. So branch and bound counts it exactly as soon
as one of the three is in. Before, it subtracts shares of s, at most s together, from the attractions of pairs of the
three. This is valid, since ``s x_i x_j`` is at most the penalty.
"""

import numpy as np

from libc.math cimport INFINITY

from graphpart.kernels._arrays cimport (
    empty_float64, empty_uint8, full_float64, zeros_float64, zeros_int32, zeros_int64, zeros_uint8,
)
from graphpart.kernels._pairs cimport CompressedRows, RowView
from graphpart.kernels.types cimport element_t, offset_t
from graphpart.stopping cimport Stopping

cdef enum:
    FREE = 0
    IN = 1
    OUT = 2
    TENURE = 6
    TANGENTS = 8        # most values of t that are tried in one node


cdef inline void toggle(Py_ssize_t chosen, double sign, const RowView* triples, const element_t* right,
                        const unsigned char* now, double* h) noexcept nogil:
    """Update the costs of adding elements, after one enters (sign 1) or leaves (-1), by penalties of triples."""
    cdef offset_t i
    cdef element_t l, r
    for i in range(triples.starts[chosen], triples.starts[chosen + 1]):
        l, r = triples.neighbours[i], right[i]
        h[l] += -sign * triples.costs[i] if now[r] else sign * triples.costs[i]
        h[r] += -sign * triples.costs[i] if now[l] else sign * triples.costs[i]


def descend(const double[:, ::1] cost, const double[::1] price, CompressedRows triples not None,
            const element_t[::1] right, unsigned char[:, ::1] subsets, int steps, Stopping stopping):
    """Tabu search from each row of `subsets`; the row becomes the best subset found. Returns the reduced costs.

    The triples of element a are row a of `triples`, which has one of the other two elements, and the penalty as its
    cost. `right` has the third element.
    """
    cdef Py_ssize_t n = price.shape[0], k, i, chosen
    cdef int step, size
    cdef double value, best, least, gain
    cdef const double* row
    cdef double[::1] h = empty_float64(n)
    cdef int[::1] free_at = np.empty(n, np.intc)
    cdef unsigned char[::1] now = empty_uint8(n)
    out_array = full_float64(subsets.shape[0], INFINITY)
    cdef double[::1] out = out_array
    cdef RowView rows = triples.view
    with nogil:
        for k in range(subsets.shape[0]):
            if stopping.poll(INFINITY):
                break
            size = 0
            value = 0.0
            for i in range(n):
                h[i], free_at[i], now[i] = price[i], 0, 0
            for i in range(n):
                if subsets[k, i]:
                    value += h[i]
                    now[i] = 1
                    size += 1
                    row = &cost[i, 0]
                    for chosen in range(n):
                        h[chosen] += row[chosen]
                    toggle(i, 1.0, &rows, &right[0], &now[0], &h[0])
            best = value if size else INFINITY
            for step in range(1, steps + 1):
                least, chosen = INFINITY, -1
                for i in range(n):
                    gain = -h[i] if now[i] else h[i]
                    if gain < least and free_at[i] <= step and (not now[i] or size > 1):
                        least, chosen = gain, i
                if chosen < 0 or least == INFINITY:
                    break
                value += least
                free_at[chosen] = step + TENURE
                row = &cost[chosen, 0]
                if now[chosen]:
                    now[chosen] = 0
                    size -= 1
                    for i in range(n):
                        h[i] -= row[i]
                    toggle(chosen, -1.0, &rows, &right[0], &now[0], &h[0])
                else:
                    now[chosen] = 1
                    size += 1
                    for i in range(n):
                        h[i] += row[i]
                    toggle(chosen, 1.0, &rows, &right[0], &now[0], &h[0])
                if value < best:
                    best = value
                    for i in range(n):
                        subsets[k, i] = now[i]
            out[k] = best
    return out_array


cdef struct Node:
    Py_ssize_t chosen       # the element that divides the node,
    Py_ssize_t trail        # the length of the trail before it was decided
    Py_ssize_t raised       # the number of attractions that triples had raised before
    Py_ssize_t depth        # the row of h before
    double base, tangent
    bint is_in              # whether the element is in


cdef struct State:
    Py_ssize_t n
    const offset_t* starts
    const element_t* heads
    const offset_t* mate
    double* attraction          # of the pair of each arc,
    double* share               # the part of the attraction that counts for the tail
    unsigned char* status
    double* linear              # costs of free elements without the shares,
    double* rest                # costs of free elements with the shares
    element_t* level
    element_t* queue
    offset_t* current
    offset_t* path


cdef bint layered(State* s) noexcept nogil:
    """Distances of free elements to elements with a negative rest; whether an element with a positive rest has one."""
    cdef Py_ssize_t n = s.n, a, b, head = 0, tail = 0
    cdef offset_t i
    cdef bint found = False
    for a in range(n):
        s.level[a] = -1
        if s.status[a] == FREE and s.rest[a] < 0:
            s.level[a] = 0
            s.queue[tail] = <element_t>a
            tail += 1
    while head < tail:
        a = s.queue[head]
        head += 1
        for i in range(s.starts[a], s.starts[a + 1]):
            b = s.heads[i]
            if s.level[b] < 0 and s.status[b] == FREE and s.share[i] > 0:   # b may take over the share of a
                s.level[b] = s.level[a] + 1
                s.queue[tail] = <element_t>b
                tail += 1
                found = found or s.rest[b] > 0
    return found


cdef void take_shares(State* s) noexcept nogil:
    """Compute the rest of each free element."""
    cdef Py_ssize_t a
    cdef offset_t i
    cdef double value
    for a in range(s.n):
        if s.status[a] == FREE:
            value = s.linear[a]
            for i in range(s.starts[a], s.starts[a + 1]):
                if s.status[s.heads[i]] == FREE:
                    value -= s.share[i]
            s.rest[a] = value


cdef double negative(State* s) noexcept nogil:
    """The sum of the negative rests of free elements."""
    cdef Py_ssize_t a
    cdef double found = 0.0
    for a in range(s.n):
        if s.status[a] == FREE and s.rest[a] < 0:
            found += s.rest[a]
    return found


cdef bint flow(State* s) noexcept nogil:
    """Divide attractions among the ends of pairs so that the sum of the negative rests is largest (Dinic 1970).

    Returns whether anything changed.
    """
    cdef Py_ssize_t n = s.n, a, b, x, length
    cdef offset_t i
    cdef double amount
    cdef bint ahead, changed = False
    while layered(s):
        changed = True
        for a in range(n):
            s.current[a] = s.starts[a]
        for a in range(n):
            if s.level[a] <= 0:
                continue
            while s.rest[a] > 0 and s.status[a] == FREE:
                x, length = a, 0
                while s.level[x] > 0 or s.rest[x] >= 0:     # towards an element with a negative rest
                    ahead = False
                    while s.current[x] < s.starts[x + 1]:
                        i = s.current[x]
                        b = s.heads[i]
                        if s.level[b] >= 0 and s.level[b] == s.level[x] - 1 and s.share[s.mate[i]] > 0:
                            ahead = True
                            break
                        s.current[x] += 1
                    if ahead:
                        s.path[length] = i
                        length += 1
                        x = b
                    else:
                        s.level[x] = <element_t>(n + 1)                  # leads nowhere
                        if length == 0:
                            break
                        length -= 1
                        x = s.heads[s.mate[s.path[length]]]
                        s.current[x] += 1
                if length == 0:
                    break
                amount = min(s.rest[a], -s.rest[x])
                for b in range(length):
                    amount = min(amount, s.share[s.mate[s.path[b]]])
                for b in range(length):
                    i = s.path[b]
                    s.share[s.mate[i]] -= amount
                    s.share[i] = s.attraction[i] - s.share[s.mate[i]]   # so that rounding errors do not add up
                s.rest[a] -= amount
                s.rest[x] += amount
    return changed


def examine(
    const double[:, ::1] cost, const double[::1] weight, const double[::1] price, const offset_t[::1] starts,
    const element_t[::1] heads, const offset_t[::1] mate, double[::1] attraction, double[::1] share,
    const offset_t[::1] first, const element_t[::1] left, const element_t[::1] right, const double[::1] penalty,
    const offset_t[::1] between, const double[::1] rise, double limit, Py_ssize_t room, double target, Py_ssize_t few,
    offset_t work, Stopping stopping
) -> tuple[NDArray[np.uint8], bool]:
    """Subsets whose reduced cost is below `limit`: (subsets as rows, whether the search is complete).

    The search ends after more than `room` subsets, `few` subsets below `target`, or `work` nodes. Attractive pairs and
    pairs of triples are arcs: ``starts[a]`` to ``starts[a + 1]`` lead from a to ``heads[i]``, and ``mate[i]`` is the
    arc in the other direction. `attraction` is the attraction of each pair, less its shares of penalties. `share` is
    any division of it among the two arcs. Both are overwritten. The costs are symmetric, with 0 on the diagonal; they
    may be inf. The triples of element a are ``first[a]`` to ``first[a + 1]``: the other two elements and the penalty.
    These arrays have one entry more than there are triples. ``between`` is the arc between the other two elements, and
    ``rise`` the increase of its attraction once a is in.
    """
    cdef Py_ssize_t n = price.shape[0], a, count = 0, below = 0, top = 0, trail = 0, depth = 0, raised = 0, chosen
    cdef offset_t i, arc
    cdef element_t l, r
    cdef offset_t nodes = 0
    cdef double base = 0.0, tangent = 0.0, bound, low, high, small, large, value, best
    cdef int turn
    cdef bint pruned, complete = True
    cdef State s
    cdef Node* node
    cdef unsigned char[::1] memory = np.zeros((n + 1) * sizeof(Node), np.uint8), status = zeros_uint8(n + 1)
    cdef Node* stack = <Node*>&memory[0]
    cdef double[:, ::1] h = np.zeros((n + 1, n + 1))     # the cost of adding each element, by the number that are in
    cdef double[::1] linear = zeros_float64(n + 1), rest = zeros_float64(n + 1)
    cdef element_t[::1] level = zeros_int32(n + 1), queue = zeros_int32(n + 1)
    cdef element_t[::1] decided = zeros_int32(n + 1)
    cdef offset_t[::1] current = zeros_int64(n + 1), path = zeros_int64(n + 1)
    cdef offset_t[::1] arcs = zeros_int64(penalty.shape[0])      # arcs whose attraction was raised,
    cdef double[::1] before = zeros_float64(penalty.shape[0])                # and the former attractions
    subsets = []
    s.n, s.status, s.linear, s.rest, s.level = n, &status[0], &linear[0], &rest[0], &level[0]
    s.current, s.queue, s.path, s.starts = &current[0], &queue[0], &path[0], &starts[0]
    if heads.shape[0]:
        s.heads, s.mate, s.attraction, s.share = &heads[0], &mate[0], &attraction[0], &share[0]
    for a in range(n):
        h[0, a] = price[a]
    while True:
        nodes += 1
        if nodes > work or stopping.poll(INFINITY):
            complete = False
            break
        with nogil:
            pruned = False
            low, high = 0.0, 0.0
            for a in range(n):
                if status[a] == FREE:
                    high += weight[a]
            tangent = min(tangent, high)
            chosen = -1
            for turn in range(TANGENTS):
                bound = base - 0.5 * tangent * tangent
                for a in range(n):
                    linear[a] = h[depth, a] + weight[a] * (tangent - 0.5 * weight[a])
                take_shares(&s)
                value = negative(&s)
                if bound + value < limit and flow(&s):
                    take_shares(&s)
                    value = negative(&s)
                bound += value
                if bound >= limit:
                    pruned = True
                    break
                # The flow has marked the elements that reach a negative rest: the smallest minimum. The largest minimum
                # also has all elements whose rest is 0.
                small = large = 0.0
                for a in range(n):
                    if status[a] == FREE and rest[a] > 0 and bound + rest[a] >= limit:
                        status[a] = OUT
                        decided[trail] = <element_t>a
                        trail += 1
                    if status[a] == FREE:
                        if level[a] >= 0:
                            small += weight[a]
                        elif rest[a] <= 0:
                            large += weight[a]
                large += small
                if small > tangent:
                    low = tangent
                    value = min(small, high)
                elif large < tangent:
                    high = tangent
                    value = max(large, low)
                else:
                    break
                if high - low <= 1e-9 * (1e-300 + high):
                    break
                if not low < value < high:
                    value = 0.5 * (low + high)
                tangent = value
            if not pruned:
                best = -1.0     # branch on a heavy element that attracts many free elements, if it may be in
                for a in range(n):
                    if status[a] == FREE:
                        value = 1e-300
                        for i in range(starts[a], starts[a + 1]):
                            if status[heads[i]] == FREE:
                                value += attraction[i]
                        value *= weight[a] + 1e-300
                        if level[a] < 0 and rest[a] > 0:
                            value *= 1e-6
                        if value > best:
                            best, chosen = value, a
        if not pruned and chosen < 0 and depth and base < limit:     # a complete subset
            subsets.append(np.asarray(status)[:n] == IN)
            count += 1
            below += base < target
            if count > room or below >= few:
                complete = False
                break
        if pruned or chosen < 0:
            # back to the last element whose other branch is open
            while top and not stack[top - 1].is_in:
                top -= 1
            if not top:
                break
            node = &stack[top - 1]
            while trail > node.trail:
                trail -= 1
                status[decided[trail]] = FREE
            while raised > node.raised:
                raised -= 1
                arc = arcs[raised]
                attraction[arc] = attraction[mate[arc]] = before[raised]
                share[arc] = min(share[arc], before[raised])
                share[mate[arc]] = before[raised] - share[arc]
            depth, base, tangent = node.depth, node.base, node.tangent
            node.is_in = False
            status[node.chosen] = OUT
            decided[trail] = <element_t>node.chosen
            trail += 1
        else:
            node = &stack[top]
            top += 1
            node.chosen, node.trail, node.raised, node.depth = chosen, trail, raised, depth
            node.base, node.tangent, node.is_in = base, tangent, True
            status[chosen] = IN
            decided[trail] = <element_t>chosen
            trail += 1
            base += h[depth, chosen]
            for a in range(n):
                h[depth + 1, a] = h[depth, a] + cost[chosen, a]
            for i in range(first[chosen], first[chosen + 1]):
                l, r = left[i], right[i]
                if status[l] == IN:
                    h[depth + 1, r] -= 0.0 if status[r] == IN else penalty[i]
                elif status[r] == IN:
                    h[depth + 1, l] -= penalty[i]
                else:
                    h[depth + 1, l] += penalty[i]
                    h[depth + 1, r] += penalty[i]
                    if status[l] == FREE and status[r] == FREE:
                        arc = between[i]
                        arcs[raised], before[raised] = arc, attraction[arc]
                        raised += 1
                        attraction[arc] = attraction[mate[arc]] = attraction[arc] + rise[i]
                        share[arc] += 0.5 * rise[i]
                        share[mate[arc]] = attraction[arc] - share[arc]
            for a in range(n):
                if status[a] == FREE and h[depth + 1, a] == INFINITY:
                    status[a] = OUT
                    decided[trail] = <element_t>a
                    trail += 1
            depth += 1
            tangent = max(0.0, tangent - weight[chosen])
    return np.array(subsets, np.uint8).reshape(-1, n), complete
