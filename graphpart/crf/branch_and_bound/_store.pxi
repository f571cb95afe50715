"""The state of the search (see `_state.pxi`): memory, the trail, removal of labels, elimination of variables.

Variables with at most two neighbours are minimised out during the search; their labels are computed at its end. With
one neighbour, the minimum over the labels of the variable becomes a cost of each label of the neighbour. With two
neighbours, the minimum becomes a factor over both, and is added to the factor that they have already (Larrosa 2000).
Backtracking undoes this: new factors stand on a stack. In the same way, a factor with two undecided variables left is
added to another factor over these two, because consistency finds more in the sum.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from graphpart.kernels.growing cimport grow


# ------------------------------------------------------------------------------------------------ memory, trail, labels

cdef void lengthen(Store* s) noexcept nogil:
    """Enlarge the trail; sets `failed` if there is no memory."""
    if not grow(<void**>&s.trail, &s.trail_room, s.trail_size + 1, sizeof(Trail)):
        s.failed = True
        s.conflict = True


cdef bint view_of(Store* s, int f, View* v) noexcept nogil:
    """View a factor as a matrix over its two undecided variables; False if it does not have exactly two."""
    cdef int64_t k, begin = s.scope_start[f], end = s.scope_start[f + 1]
    cdef int i, a, found = 0
    if s.free[f] != 2:
        return False
    v.f = f
    v.table = s.table[f]
    v.sent = 0
    if end - begin == 2:
        v.x, v.y = s.scope[begin], s.scope[begin + 1]
        v.px, v.py = s.place[begin], s.place[begin + 1]
        v.sx, v.sy = s.stride[begin], 1
        return True
    for k in range(begin, end):
        i = s.scope[k]
        if s.count[i] == 1:
            a = s.live[s.first[i]]
            v.table += a * s.stride[k]
            v.sent += s.delta[s.place[k] + a]
        elif found == 0:
            v.x, v.px, v.sx = i, s.place[k], s.stride[k]
            found = 1
        else:
            v.y, v.py, v.sy = i, s.place[k], s.stride[k]
            found += 1
    return found == 2


cdef void remove(Store* s, int i, int a) noexcept nogil:
    """Leave out a label. If one is left, factors have one variable less."""
    cdef int64_t first = s.first[i], at = s.where[first + a], last = s.count[i] - 1, k
    cdef int other = s.live[first + last], f
    s.live[first + at] = other
    s.where[first + other] = <int32_t>at
    s.live[first + last] = a
    s.where[first + a] = <int32_t>last
    save(s, &s.count[i])
    s.count[i] = last
    if last == 0:
        s.conflict = True
        return
    if s.unary[first + a] == s.base[i]:
        queue_nc(s, i)
    queue_ac(s, i)
    if last > 1:
        return
    for k in range(s.near_start[i], s.near_start[i] + s.near_count[i]):
        f = s.near[k]
        if s.free[f] >= 2:
            save(s, &s.free[f])
            s.free[f] -= 1
            if s.free[f] <= 2:
                s.ending[s.ending_size] = f
                s.ending_size += 1
            if s.free[f] == 2:
                for at in range(s.scope_start[f], s.scope_start[f + 1]):
                    if s.count[s.scope[at]] > 1:
                        queue_out(s, s.scope[at])


cdef void clear(Store* s) noexcept nogil:
    """Empty all queues."""
    cdef int k
    for k in range(s.nc_size):
        s.in_nc[s.nc[k]] = 0
    for k in range(s.out_size):
        s.in_out[s.out[k]] = 0
    s.nc_size = s.out_size = s.ending_size = 0
    if s.ac_size:
        memset(s.in_ac, 0, s.n)
    if s.eac_size:
        memset(s.in_eac, 0, s.n)
    if s.dac_highest >= 0:
        memset(s.in_dac, 0, s.n)
    s.ac_begin = s.ac_size = s.eac_begin = s.eac_size = 0
    s.dac_highest = -1
    s.risen = s.conflict = False


cdef void* claim(Py_ssize_t count, Py_ssize_t size) except NULL:
    cdef void* p = calloc(count + 1, size)
    if p == NULL:
        raise MemoryError("no memory for the search")
    return p


cdef void allocate(Store* s, costs, const int64_t[::1] delta) except *:
    """Take over a problem: all factors have at least two variables, and the tables stay where they are.

    `costs` is a `Costs`; `delta` are the amounts sent so far, which its unary costs include. `release` must always
    follow.
    """
    cdef const int64_t[::1] scope_start = costs.scope_start, table_start = costs.table_start, unary = costs.unary
    cdef const int32_t[::1] domains = costs.domains, scope = costs.scope
    cdef int64_t[::1] tables = costs.tables
    cdef int64_t most_arena = min(1 << 20, max(tables.shape[0], 1 << 12))
    cdef int n = domains.shape[0], m = scope_start.shape[0] - 1, i, f, most = m + n
    cdef int64_t labels, k, j, size, places = scope.shape[0], amounts = delta.shape[0], made_amounts, widest = 2
    memset(s, 0, sizeof(Store))
    s.n, s.m, s.fixed, s.most = n, m, m, most
    s.forbidden = <int64_t>1 << 59
    s.top = s.forbidden
    s.current = -1
    s.dac_highest = -1
    s.bump = 1.0
    s.first = <int64_t*>claim(n + 1, 8)
    for i in range(n):
        s.first[i + 1] = s.first[i] + domains[i]
        s.largest = max(s.largest, domains[i])
    labels = s.first[n]
    for f in range(m):
        widest = max(widest, scope_start[f + 1] - scope_start[f])
    s.arena_room = most_arena
    s.delta_fixed = amounts
    made_amounts = 2 * <int64_t>min(s.largest, 64) * n
    s.scope_start = <int64_t*>claim(most + 1, 8)
    s.scope = <int32_t*>claim(places + 2 * n, 4)
    s.stride = <int64_t*>claim(places + 2 * n, 8)
    s.place = <int64_t*>claim(places + 2 * n, 8)
    s.table = <int64_t**>claim(most, sizeof(int64_t*))
    s.near_start = <int64_t*>claim(n + 1, 8)
    s.near_count = <int64_t*>claim(n, 8)
    s.unary = <int64_t*>claim(labels, 8)
    s.base = <int64_t*>claim(n, 8)
    s.highest = <int64_t*>claim(n, 8)
    s.count = <int64_t*>claim(n, 8)
    s.free = <int64_t*>claim(most, 8)
    s.gone = <int64_t*>claim(n, 8)
    s.delta = <int64_t*>claim(amounts + made_amounts, 8)
    s.support = <int32_t*>claim(amounts + made_amounts, 4)
    s.full = <int32_t*>claim(amounts + made_amounts, 4)
    s.live = <int32_t*>claim(labels, 4)
    s.where = <int32_t*>claim(labels, 4)
    s.eac = <int32_t*>claim(n, 4)
    s.in_nc = <uint8_t*>claim(n, 1)
    s.in_ac = <uint8_t*>claim(n, 1)
    s.in_dac = <uint8_t*>claim(n, 1)
    s.in_eac = <uint8_t*>claim(n, 1)
    s.in_out = <uint8_t*>claim(n, 1)
    s.nc = <int32_t*>claim(n, 4)
    s.ac = <int32_t*>claim(n, 4)
    s.eac_queue = <int32_t*>claim(n, 4)
    s.out = <int32_t*>claim(n, 4)
    s.ending = <int32_t*>claim(3 * <int64_t>most, 4)
    s.eliminated = <int32_t*>claim(n, 4)
    s.sides = <int*>claim(n, sizeof(int))
    s.views = <View*>claim(2 * n, sizeof(View))
    s.arena = <int64_t*>claim(most_arena, 8)
    s.cost_x = <int64_t*>claim(s.largest, 8)
    s.cost_y = <int64_t*>claim(s.largest, 8)
    s.least = <int64_t*>claim(s.largest, 8)
    s.chosen = <int*>claim(s.largest, sizeof(int))
    s.weight = <double*>claim(n, 8)
    s.paid = <int64_t*>claim(s.largest * widest, 8)
    for i in range(n):
        s.count[i] = domains[i]
        s.weight[i] = 1.0
        for k in range(domains[i]):
            s.live[s.first[i] + k] = <int32_t>k
            s.where[s.first[i] + k] = <int32_t>k
    for k in range(labels):
        s.unary[k] = unary[k]
    for k in range(amounts):
        s.delta[k] = delta[k]
    size = 0
    for f in range(m):
        s.scope_start[f + 1] = scope_start[f + 1]
        s.table[f] = &tables[0] + table_start[f]
        j = 1
        for k in range(scope_start[f + 1] - 1, scope_start[f] - 1, -1):
            i = scope[k]
            s.scope[k] = i
            s.stride[k] = j
            j *= domains[i]
            s.near_start[i + 1] += 1
        for k in range(scope_start[f], scope_start[f + 1]):
            s.place[k] = size
            size += domains[scope[k]]
            s.free[f] += domains[scope[k]] > 1
    for f in range(m, most):
        s.scope_start[f + 1] = s.scope_start[f] + 2
    for i in range(n):
        s.near_start[i + 1] = s.near_start[i] + 2 * s.near_start[i + 1] + 4  # room for factors to come
    s.near = <int32_t*>claim(s.near_start[n], 4)
    for f in range(m):
        for k in range(scope_start[f], scope_start[f + 1]):
            i = scope[k]
            s.near[s.near_start[i] + s.near_count[i]] = f
            s.near_count[i] += 1


cdef void release(Store* s) noexcept:
    """Free all memory."""
    for p in (
        <size_t>s.first, <size_t>s.scope_start, <size_t>s.scope, <size_t>s.stride, <size_t>s.place, <size_t>s.table,
        <size_t>s.near_start, <size_t>s.near, <size_t>s.near_count,
        <size_t>s.unary, <size_t>s.base, <size_t>s.highest, <size_t>s.count, <size_t>s.free, <size_t>s.gone,
        <size_t>s.delta, <size_t>s.support, <size_t>s.full, <size_t>s.live, <size_t>s.where, <size_t>s.eac,
        <size_t>s.in_nc, <size_t>s.in_ac, <size_t>s.in_dac, <size_t>s.in_eac, <size_t>s.in_out, <size_t>s.nc,
        <size_t>s.ac, <size_t>s.eac_queue, <size_t>s.out, <size_t>s.ending, <size_t>s.eliminated, <size_t>s.sides,
        <size_t>s.views, <size_t>s.arena, <size_t>s.cost_x, <size_t>s.cost_y, <size_t>s.least, <size_t>s.chosen, <size_t>s.paid, <size_t>s.weight,
        <size_t>s.trail,
    ):  # fmt: skip
        free(<void*><size_t>p)
    memset(s, 0, sizeof(Store))


# ---------------------------------------------------------------------------------------------------------- elimination

cdef enum:
    OPERATIONS = 1 << 16    # most operations for the elimination of one variable
    WIDEST = 64             # most labels of its neighbours


cdef void eliminate(Store* s, int x) noexcept nogil:
    """Minimise out a variable, if it has at most two factors, each with one other variable left."""
    cdef View views[2]
    cdef View v
    cdef int64_t k, at
    cdef int sides = 0, f
    for k in range(s.near_start[x], s.near_start[x] + s.near_count[x]):
        f = s.near[k]
        if s.free[f] < 2:
            continue
        if sides == 2 or not view_of(s, f, &v):
            return
        if v.x != x:
            turn(&v)
        views[sides] = v
        sides += 1
    if sides == 2 and views[0].y == views[1].y:
        if s.count[x] * s.count[views[0].y] > OPERATIONS:
            return
        to_labels(s, x, views, 2)
    elif sides == 2:
        if not to_factor(s, x, views):
            return
    elif sides == 1:
        if s.count[x] * s.count[views[0].y] > OPERATIONS:
            return
        to_labels(s, x, views, 1)
    save(s, &s.gone[x])
    s.gone[x] = 1
    at = s.eliminated_size
    save(s, &s.eliminated_size)
    s.eliminated_size += 1
    s.eliminated[at] = x
    s.sides[at] = sides
    for f in range(sides):
        s.views[2 * at + f] = views[f]
        save(s, &s.free[views[f].f])
        s.free[views[f].f] = -1
        queue_out(s, views[f].y)


cdef int join(Store* s, int f) noexcept nogil:
    """Add a factor with two undecided variables to another factor over the same two; return the other one, or -1."""
    cdef View v, w
    cdef int64_t k, l, cost
    cdef int64_t* row
    cdef int g = -1, b, c
    if not view_of(s, f, &v):
        return -1
    if s.near_count[v.y] < s.near_count[v.x]:
        turn(&v)
    for k in range(s.near_start[v.x], s.near_start[v.x] + s.near_count[v.x]):
        g = s.near[k]
        if g != f and s.free[g] == 2 and view_of(s, g, &w):
            if w.x != v.x:
                turn(&w)
            if w.y == v.y:
                break
        g = -1
    if g < 0:
        return -1
    for k in range(s.count[v.x]):
        b = s.live[s.first[v.x] + k]
        row = <int64_t*>w.table + b * w.sx
        for l in range(s.count[v.y]):
            c = s.live[s.first[v.y] + l]
            cost = entry(s, &v, b, c)
            if cost > 0 and row[c * w.sy] < s.forbidden:
                save(s, &row[c * w.sy])
                if cost >= s.forbidden >> 1:
                    row[c * w.sy] = 2 * s.forbidden
                else:
                    row[c * w.sy] += cost
    save(s, &s.free[f])
    s.free[f] = -1
    queue_eac(s, v.x)
    queue_eac(s, v.y)
    queue_out(s, v.x)
    queue_out(s, v.y)
    return g


cdef void to_labels(Store* s, int x, View* views, int sides) noexcept nogil:
    cdef int64_t k, l, cost, least
    cdef int a, b, y = views[0].y, j
    s.current = views[0].f
    for l in range(s.count[y]):
        b = s.live[s.first[y] + l]
        least = 2 * s.forbidden
        for k in range(s.count[x]):
            a = s.live[s.first[x] + k]
            cost = cost_of(s, x, a)
            for j in range(sides):
                cost += entry(s, &views[j], a, b)
            if cost < least:
                least = cost
        if least + s.c0 >= s.top:
            forbid(s, y, b)
        elif least > 0:
            add_unary(s, y, b, least)


cdef bint to_factor(Store* s, int x, View* views) noexcept nogil:
    cdef int y = views[0].y, z = views[1].y, f = s.m, g, a, b, c
    cdef int64_t wide = s.first[y + 1] - s.first[y], deep = s.first[z + 1] - s.first[z], k, l, j, cost, least, place
    cdef int64_t* table = s.arena + s.arena_used
    cdef int64_t* row
    cdef View v
    cdef bint joined = False
    if s.count[x] * s.count[y] * s.count[z] > OPERATIONS or wide > WIDEST or deep > WIDEST or f >= s.most:
        return False
    if s.arena_used + wide * deep > s.arena_room:
        return False
    if s.near_count[y] >= s.near_start[y + 1] - s.near_start[y]:
        return False
    if s.near_count[z] >= s.near_start[z + 1] - s.near_start[z]:
        return False
    for k in range(s.near_start[y], s.near_start[y] + s.near_count[y]):
        g = s.near[k]
        if s.free[g] == 2 and view_of(s, g, &v):
            if v.x != y:
                turn(&v)
            if v.y == z:
                joined = True
                break
    for k in range(s.count[y]):
        b = s.live[s.first[y] + k]
        row = table + b * deep
        for l in range(s.count[z]):
            c = s.live[s.first[z] + l]
            least = 2 * s.forbidden
            for j in range(s.count[x]):
                a = s.live[s.first[x] + j]
                cost = cost_of(s, x, a) + entry(s, &views[0], a, b) + entry(s, &views[1], a, c)
                if cost < least:
                    least = cost
            if joined:
                least += entry(s, &v, b, c)
            row[c] = 2 * s.forbidden if least >= s.forbidden else least
    if joined:
        save(s, &s.free[g])
        s.free[g] = -1
    place = s.delta_fixed + 2 * min(s.largest, WIDEST) * s.made
    save(s, &s.arena_used)
    s.arena_used += wide * deep
    save(s, &s.made)
    s.made += 1
    s.m += 1
    k = s.scope_start[f]
    s.scope[k], s.scope[k + 1] = y, z
    s.stride[k], s.stride[k + 1] = deep, 1
    s.place[k], s.place[k + 1] = place, place + wide
    memset(s.delta + place, 0, (wide + deep) * sizeof(int64_t))
    memset(s.support + place, 0, (wide + deep) * sizeof(int32_t))
    memset(s.full + place, 0, (wide + deep) * sizeof(int32_t))
    s.table[f] = table
    s.free[f] = 2
    for a in range(2):
        g = z if a else y
        s.near[s.near_start[g] + s.near_count[g]] = f
        save(s, &s.near_count[g])
        s.near_count[g] += 1
        queue_ac(s, g)
        queue_dac(s, g)
        queue_eac(s, g)
        queue_out(s, g)
    return True


cdef void last_labels(Store* s, int32_t* labels) noexcept nogil:
    """The labels of eliminated variables, given those of all others."""
    cdef int64_t e, k, cost, least
    cdef int x, a, j
    for e in range(s.eliminated_size - 1, -1, -1):
        x = s.eliminated[e]
        least = 4 * s.forbidden
        for k in range(s.count[x]):
            a = s.live[s.first[x] + k]
            cost = cost_of(s, x, a)
            for j in range(s.sides[e]):
                cost += entry(s, &s.views[2 * e + j], a, labels[s.views[2 * e + j].y])
            if cost < least:
                least = cost
                labels[x] = a
