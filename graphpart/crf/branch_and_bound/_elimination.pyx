"""Elimination of variables with at most two neighbours during the search; their labels are determined at its end.

If a variable has one neighbour, its least cost for each label of the neighbour is added to the cost of that label. If
it has two neighbours, its least cost for each pair of their labels becomes a factor over both, added to a factor that
they have already (Larrosa 2000). Backtracking undoes this: new factors are kept on a stack. In the same way, if all but
two variables of a factor have one label left, the factor is added to another factor over these two variables, since
consistency finds more in the sum.
"""

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from graphpart.crf.branch_and_bound._store cimport (
    Store, View, add_unary, cost_of, entry, forbid, queue_ac, queue_dac, queue_eac, queue_out, save, turn, view_of,
)

cdef enum:
    OPERATIONS = 1 << 16    # for the elimination of one variable, at most
    WIDEST = 64             # labels of its neighbours


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
    """Add a factor that has just two variables left to another one of the same two; that one, or -1 without any."""
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
    cdef int i, x, a, j
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
