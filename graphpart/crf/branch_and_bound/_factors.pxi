"""The amounts that single factors send to the labels of their variables.

If two variables of a factor have several labels left, the factor is a matrix, for any number of other variables. For
each label, the cheapest label of the other variable is remembered: as long as this entry is 0, the row need not be read
again.
"""

from libc.stdint cimport int32_t, int64_t


cdef enum:
    LARGEST_PASSED = 1 << 14  # a factor with more than two undecided variables sends nothing if it has more entries


cdef int first_of(Store* s, int f) noexcept nogil:
    """The variable of lowest rank that has several labels."""
    cdef int64_t k
    cdef int i, x = -1
    for k in range(s.scope_start[f], s.scope_start[f + 1]):
        i = s.scope[k]
        if s.count[i] > 1 and (x < 0 or i < x):
            x = i
    return x


cdef void project(Store* s, int f, int x, bint paid) noexcept nogil:
    """Send the minimum of a factor for each label of x to it; if `paid`, with the costs of other labels added."""
    cdef View v
    s.current = f
    if view_of(s, f, &v):
        if v.x != x:
            turn(&v)
        if paid:
            project_paid(s, &v)
        else:
            project_least(s, &v)
    else:
        project_large(s, f, x, paid)


cdef inline int64_t row_least(Store* s, View* v, int a, int* partner) noexcept nogil:
    """The least entry in the row of a label; the search ends at an entry of 0."""
    cdef int64_t k, cost, least = 4 * s.forbidden, first = s.first[v.y], fixed = s.delta[v.px + a] + v.sent
    cdef const int64_t* row = v.table + a * v.sx
    cdef const int64_t* sent = s.delta + v.py
    cdef int b
    partner[0] = s.live[first]
    for k in range(s.count[v.y]):
        b = s.live[first + k]
        cost = row[b * v.sy] - sent[b]
        if cost < least:
            least = cost
            partner[0] = b
            if cost <= fixed:
                break
    return least - fixed


cdef inline int64_t row_paid(Store* s, View* v, int a, int* partner) noexcept nogil:
    """The same, with the costs of the labels of the other variable added."""
    cdef int64_t k, cost, least = 4 * s.forbidden, first = s.first[v.y]
    cdef int64_t fixed = s.delta[v.px + a] + v.sent + s.base[v.y]
    cdef const int64_t* row = v.table + a * v.sx
    cdef const int64_t* sent = s.delta + v.py
    cdef const int64_t* unary = s.unary + first
    cdef int b
    partner[0] = s.live[first]
    for k in range(s.count[v.y]):
        b = s.live[first + k]
        cost = row[b * v.sy] - sent[b] + unary[b]
        if cost < least:
            least = cost
            partner[0] = b
            if cost <= fixed:
                break
    return least - fixed


cdef void project_least(Store* s, View* v) noexcept nogil:
    cdef int64_t k, cost, domain = s.first[v.y + 1] - s.first[v.y], first = s.first[v.x]
    cdef int a, b
    for k in range(s.count[v.x]):
        a = s.live[first + k]
        b = s.support[v.px + a]
        if b < domain and is_live(s, v.y, b) and entry(s, v, a, b) == 0:
            continue
        cost = row_least(s, v, a, &b)
        s.support[v.px + a] = b
        if cost <= 0:
            continue
        if cost + s.c0 >= s.top:
            forbid(s, v.x, a)
        else:
            send(s, v.px, a, cost)
            add_unary(s, v.x, a, cost)


cdef void project_paid(Store* s, View* v) noexcept nogil:
    cdef int64_t k, l, cost, need, own, domain = s.first[v.y + 1] - s.first[v.y]
    cdef int64_t first_x = s.first[v.x], first_y = s.first[v.y], limit = s.top - s.c0
    cdef int64_t* wanted = s.cost_x
    cdef int a, b
    cdef int some = 0
    for k in range(s.count[v.x]):
        a = s.live[first_x + k]
        b = s.full[v.px + a]
        if b < domain and is_live(s, v.y, b) and entry(s, v, a, b) == 0 and cost_of(s, v.y, b) == 0:
            continue
        cost = row_paid(s, v, a, &b)
        s.full[v.px + a] = b
        if cost <= 0:
            continue
        if cost >= limit:
            forbid(s, v.x, a)
            continue
        wanted[some] = cost
        s.chosen[some] = a
        some += 1
    if not some:
        return
    for l in range(s.count[v.y]):
        b = s.live[first_y + l]
        own = s.unary[first_y + b] - s.base[v.y]
        if own == 0:
            continue
        need = 0
        for k in range(some):
            a = s.chosen[k]
            cost = wanted[k] - entry(s, v, a, b)
            if cost > need:
                need = cost
        if need > 0:
            send(s, v.py, b, -need)
            save(s, &s.unary[first_y + b])
            s.unary[first_y + b] -= need
    for k in range(some):
        send(s, v.px, s.chosen[k], wanted[k])
        add_unary(s, v.x, s.chosen[k], wanted[k])


cdef bint has_support(Store* s, int f, int x, int a) noexcept nogil:
    """Whether a label costs nothing in a factor, with labels of the others that cost nothing."""
    cdef View v
    cdef int b
    cdef int64_t k
    if view_of(s, f, &v):
        if v.x != x:
            turn(&v)
        b = s.full[v.px + a]
        if b < s.first[v.y + 1] - s.first[v.y] and is_live(s, v.y, b) and entry(s, &v, a, b) == 0:
            if cost_of(s, v.y, b) == 0:
                return True
        k = row_paid(s, &v, a, &b)
        s.full[v.px + a] = b
        return k <= 0
    k = place_of(s, f, x)
    if remembered(s, f, k, a, s.full[s.place[k] + a], True) or entries(s, f) > LARGEST_PASSED:
        return True
    return scan(s, f, k, a, True) <= 0


cdef int64_t place_of(Store* s, int f, int x) noexcept nogil:
    cdef int64_t k = s.scope_start[f]
    while s.scope[k] != x:
        k += 1
    return k


cdef int64_t entries(Store* s, int f) noexcept nogil:
    """The number of entries for the remaining labels."""
    cdef int64_t k, size = 1
    for k in range(s.scope_start[f], s.scope_start[f + 1]):
        size *= s.count[s.scope[k]]
        if size > LARGEST_PASSED:
            break
    return size


cdef bint remembered(Store* s, int f, int64_t target, int a, int at, bint paid) noexcept nogil:
    """Whether an entry costs nothing, all its labels remain, and its label at the target is the given one."""
    cdef int64_t k, cost = s.table[f][at], label
    cdef int i
    for k in range(s.scope_start[f], s.scope_start[f + 1]):
        i = s.scope[k]
        label = (at // s.stride[k]) % (s.first[i + 1] - s.first[i])
        if k == target:
            if label != a:
                return False
        else:
            if not is_live(s, i, <int>label):
                return False
            if paid:
                cost += s.unary[s.first[i] + label] - s.base[i]
        cost -= s.delta[s.place[k] + label]
    return cost == 0


cdef int64_t scan(Store* s, int f, int64_t target, int a, bint paid) noexcept nogil:
    """The least cost of a label in a factor with any number of undecided variables; remembers where it is."""
    cdef int64_t places[NARY]
    cdef int64_t digits[NARY]
    cdef int64_t at[NARY]
    cdef int64_t cost[NARY]
    cdef int64_t k, l, total, least = 4 * s.forbidden, entry_at
    cdef int32_t* memory = s.full if paid else s.support
    cdef int i, b, level, others = 0
    cdef const int64_t* table = s.table[f]
    cost[0] = -s.delta[s.place[target] + a]
    at[0] = a * s.stride[target]
    for k in range(s.scope_start[f], s.scope_start[f + 1]):
        if k == target:
            continue
        i = s.scope[k]
        if s.count[i] == 1:
            b = s.live[s.first[i]]
            cost[0] -= s.delta[s.place[k] + b]
            at[0] += b * s.stride[k]
        else:
            places[others] = k
            others += 1
    level = 0
    digits[0] = 0
    while level >= 0:
        k = places[level]
        i = s.scope[k]
        if level == others - 1:
            for l in range(s.count[i]):
                b = s.live[s.first[i] + l]
                entry_at = at[level] + b * s.stride[k]
                total = table[entry_at] + cost[level] - s.delta[s.place[k] + b]
                if paid:
                    total += s.unary[s.first[i] + b] - s.base[i]
                if total < least:
                    least = total
                    memory[s.place[target] + a] = <int32_t>entry_at
            if least <= 0:
                break
            level -= 1
            if level >= 0:
                digits[level] += 1
            continue
        if digits[level] >= s.count[i]:
            level -= 1
            if level >= 0:
                digits[level] += 1
            continue
        b = s.live[s.first[i] + digits[level]]
        at[level + 1] = at[level] + b * s.stride[k]
        cost[level + 1] = cost[level] - s.delta[s.place[k] + b]
        if paid:
            cost[level + 1] += s.unary[s.first[i] + b] - s.base[i]
        level += 1
        digits[level] = 0
    return least


cdef void project_large(Store* s, int f, int x, bint paid) noexcept nogil:
    """For three or more variables: the others pay all their costs, and get back what is left over.

    No variable gets back more than it had. So costs never move to a variable of higher rank, and this ends.
    """
    cdef int64_t target = place_of(s, f, x), k, l, cost, first = s.first[x], limit = s.top - s.c0, at = 0
    cdef int32_t* memory = s.full if paid else s.support
    cdef int a, i
    cdef int some = 0
    if entries(s, f) > LARGEST_PASSED:
        return
    for l in range(s.count[x]):
        a = s.live[first + l]
        if remembered(s, f, target, a, memory[s.place[target] + a], paid):
            continue
        cost = scan(s, f, target, a, paid)
        if cost <= 0:
            continue
        if cost >= limit:
            forbid(s, x, a)
            continue
        s.cost_x[some] = cost
        s.chosen[some] = a
        some += 1
    if not some:
        return
    if paid:
        for k in range(s.scope_start[f], s.scope_start[f + 1]):
            i = s.scope[k]
            if i == x or s.count[i] == 1:
                continue
            for l in range(s.count[i]):
                a = s.live[s.first[i] + l]
                cost = s.unary[s.first[i] + a] - s.base[i]
                s.paid[at] = 0
                if 0 < cost < s.forbidden:
                    s.paid[at] = cost
                    send(s, s.place[k], a, -cost)
                    save(s, &s.unary[s.first[i] + a])
                    s.unary[s.first[i] + a] = s.base[i]
                at += 1
    for l in range(some):
        send(s, s.place[target], s.chosen[l], s.cost_x[l])
        add_unary(s, x, s.chosen[l], s.cost_x[l])
    if not paid:
        return
    at = 0
    for k in range(s.scope_start[f], s.scope_start[f + 1]):
        i = s.scope[k]
        if i == x or s.count[i] == 1:
            continue
        for l in range(s.count[i]):
            a = s.live[s.first[i] + l]
            if s.paid[at] > 0:
                cost = min(s.paid[at], scan(s, f, k, a, False))
                if cost > 0:
                    send(s, s.place[k], a, cost)
                    s.unary[s.first[i] + a] += cost  # already saved on the trail when it was paid
            at += 1
