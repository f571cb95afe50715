"""Soft local consistency: costs are moved between factors and labels until the bound does not rise any more.

Node consistency leaves out a label if its cost plus the bound reaches the best known energy. In soft arc consistency,
each factor sends to each label the least cost of its entries with this label. In directional arc consistency, the
labels of variables of higher rank send their costs to the factor first. In existential arc consistency, each variable
has a label that costs nothing, by itself and with some label of each neighbour. If there is none, the bound is raised
(Larrosa & Schiex 2003; de Givry, Heras, Zytnicki & Larrosa 2005). In the end, variables with at most two neighbours are
eliminated (Larrosa 2000): two neighbours get a factor over both.
"""

from libc.stdint cimport int64_t

from graphpart.stopping cimport Stopping

cdef enum Outcome:
    CONSISTENT
    CONFLICT
    STOPPED

cdef enum:
    WORTH = 1024    # existential consistency ends after a round that raises the bound by less than 1 / WORTH of the gap


cdef void check_labels(Store* s, int i) noexcept nogil:
    """Move the least cost of a variable to the bound; leave out labels that cost too much."""
    cdef int64_t first = s.first[i], k, cost, least = 2 * s.forbidden, high = 0
    cdef int a
    for k in range(s.count[i]):
        cost = s.unary[first + s.live[first + k]] - s.base[i]
        if cost < least:
            least = cost
            if cost == 0:
                break
    if least >= s.forbidden:
        s.conflict = True
        return
    if least > 0:
        save(s, &s.base[i])
        s.base[i] += least
        save(s, &s.c0)
        s.c0 += least
        s.risen = True
        if s.c0 >= s.top:
            s.conflict = True
            return
    elif s.highest[i] + s.c0 < s.top:
        return
    for k in range(s.count[i] - 1, -1, -1):
        a = s.live[first + k]
        cost = s.unary[first + a] - s.base[i]
        if cost + s.c0 >= s.top:
            remove(s, i, a)
        elif cost > high:
            high = cost
    if high != s.highest[i]:
        save(s, &s.highest[i])
        s.highest[i] = high


cdef void look_at_all(Store* s) noexcept nogil:
    """Compare all labels with the bound, which has risen."""
    cdef int i
    for i in range(s.n):
        if s.count[i] > 1 and not s.gone[i] and s.highest[i] + s.c0 >= s.top:
            queue_nc(s, i)


cdef void end_factor(Store* s, int f) noexcept nogil:
    """Turn a factor with at most one undecided variable into costs of its labels."""
    cdef int64_t k, begin = s.scope_start[f], end = s.scope_start[f + 1], sent = 0, cost, at, place = s.place[end - 1]
    cdef int64_t stride = 1
    cdef int i, a, y = s.scope[end - 1]
    cdef const int64_t* table = s.table[f]
    for k in range(begin, end):
        i = s.scope[k]
        if s.count[i] > 1:
            y = i
    for k in range(begin, end):
        i = s.scope[k]
        if i == y:
            place, stride = s.place[k], s.stride[k]
        else:
            a = s.live[s.first[i]]
            table += a * s.stride[k]
            sent += s.delta[s.place[k] + a]
    s.current = f
    for at in range(s.count[y]):
        a = s.live[s.first[y] + at]
        cost = table[a * stride] - sent - s.delta[place + a]
        if cost + s.c0 >= s.top:
            forbid(s, y, a)
        elif cost > 0:
            send(s, place, a, cost)
            add_unary(s, y, a, cost)
    if s.count[y] > 1:
        queue_out(s, y)


cdef void both_ways(Store* s, int f) noexcept nogil:
    """Entries of a factor have risen: send the new minima to the labels, and move costs in its direction."""
    cdef int64_t k
    cdef int x = first_of(s, f)
    for k in range(s.scope_start[f], s.scope_start[f + 1]):
        if s.count[s.scope[k]] > 1:
            project(s, f, s.scope[k], False)
    project(s, f, x, True)


cdef void neighbours_eac(Store* s, int i) noexcept nogil:
    cdef int64_t k, j
    cdef int f, other
    for k in range(s.near_start[i], s.near_start[i] + s.near_count[i]):
        f = s.near[k]
        if s.free[f] >= 2:
            for j in range(s.scope_start[f], s.scope_start[f + 1]):
                other = s.scope[j]
                if other != i and s.count[other] > 1:
                    queue_eac(s, other)


cdef void arcs(Store* s, int y) noexcept nogil:
    """Labels of a variable were left out: the factors around it send the new minima."""
    cdef int64_t k, j
    cdef int f, x
    for k in range(s.near_start[y], s.near_start[y] + s.near_count[y]):
        f = s.near[k]
        if s.free[f] < 2:
            continue
        for j in range(s.scope_start[f], s.scope_start[f + 1]):
            x = s.scope[j]
            if x != y and s.count[x] > 1:
                project(s, f, x, False)
                if s.count[y] == 1:
                    queue_eac(s, x)
    neighbours_eac(s, y)


cdef void directed(Store* s, int y) noexcept nogil:
    """Costs of labels of a variable have risen: factors move them to their variable of the lowest rank."""
    cdef int64_t k
    cdef int f, x
    for k in range(s.near_start[y], s.near_start[y] + s.near_count[y]):
        f = s.near[k]
        if s.free[f] < 2:
            continue
        x = first_of(s, f)
        if x != y:
            project(s, f, x, True)
    neighbours_eac(s, y)


cdef bint supported(Store* s, int x, int a) noexcept nogil:
    """Whether a label costs nothing, in itself and in each factor with some labels of the others."""
    cdef int64_t k
    if cost_of(s, x, a):
        return False
    for k in range(s.near_start[x], s.near_start[x] + s.near_count[x]):
        if s.free[s.near[k]] >= 2 and not has_support(s, s.near[k], x, a):
            return False
    return True


cdef bint existential(Store* s, int x) noexcept nogil:
    """If no label of a variable is supported, move costs to the variable; return whether that was so."""
    cdef int64_t k
    cdef int a = s.eac[x]
    if is_live(s, x, a) and supported(s, x, a):
        return False
    for k in range(s.count[x]):
        a = s.live[s.first[x] + k]
        if supported(s, x, a):
            s.eac[x] = a
            return False
    for k in range(s.near_start[x], s.near_start[x] + s.near_count[x]):
        if s.free[s.near[k]] >= 2:
            project(s, s.near[k], x, True)
    queue_dac(s, x)
    return True


cdef void first_amounts(Store* s) noexcept nogil:
    """Make costs of any sign nonnegative, and queue everything; done once, at the start."""
    cdef int64_t k, at, size, cost, begin, end
    cdef int64_t labels[NARY]
    cdef int f, i, j, arity, a
    for f in range(s.m):
        begin, end = s.scope_start[f], s.scope_start[f + 1]
        arity = <int>(end - begin)
        size = s.stride[begin] * (s.first[s.scope[begin] + 1] - s.first[s.scope[begin]])
        for j in range(arity):
            labels[j] = 0
        for a in range(s.first[s.scope[begin] + 1] - s.first[s.scope[begin]]):
            s.least[a] = 2 * s.forbidden
        for at in range(size):
            cost = s.table[f][at]
            if cost < s.forbidden:
                for j in range(arity):
                    cost -= s.delta[s.place[begin + j] + labels[j]]
                if cost < s.least[labels[0]]:
                    s.least[labels[0]] = cost
            for j in range(arity - 1, -1, -1):
                labels[j] += 1
                if labels[j] < s.first[s.scope[begin + j] + 1] - s.first[s.scope[begin + j]]:
                    break
                labels[j] = 0
        i = s.scope[begin]
        for a in range(s.first[i + 1] - s.first[i]):
            if s.least[a] >= s.forbidden:
                s.unary[s.first[i] + a] = 2 * s.forbidden
            else:
                s.delta[s.place[begin] + a] += s.least[a]
                if s.unary[s.first[i] + a] < s.forbidden:
                    s.unary[s.first[i] + a] += s.least[a]
    for i in range(s.n):
        cost = 2 * s.forbidden
        for k in range(s.first[i], s.first[i + 1]):
            cost = min(cost, s.unary[k])
        if cost >= s.forbidden:
            s.conflict = True
            return
        s.base[i] = cost
        s.c0 += cost
        s.highest[i] = 4 * s.forbidden
    queue_all(s)


cdef void queue_all(Store* s) noexcept nogil:
    """Queue everything."""
    cdef int f, i
    for f in range(s.m):
        if 0 <= s.free[f] < 2:
            s.ending[s.ending_size] = f
            s.ending_size += 1
    for i in range(s.n):
        queue_nc(s, i)
        if s.count[i] > 1 and not s.gone[i]:
            queue_ac(s, i)
            queue_dac(s, i)
            queue_eac(s, i)
            queue_out(s, i)


cdef void blame(Store* s) noexcept nogil:
    """The variables of the factor that led to a conflict weigh more from now on (Boussemart et al. 2004)."""
    cdef int64_t k
    if s.current >= 0 and s.current < s.m:
        for k in range(s.scope_start[s.current], s.scope_start[s.current + 1]):
            s.weight[s.scope[k]] += s.bump


cdef Outcome propagate(Store* s, Stopping stopping, double cost) noexcept nogil:
    """Work until all queues are empty; CONFLICT if no labeling below `top` is left."""
    cdef int i, f, moved = 0
    cdef int64_t then = s.c0
    cdef bint useful = True
    while True:
        if s.failed:
            clear(s)
            return STOPPED
        if s.conflict or s.c0 >= s.top:
            blame(s)
            clear(s)
            return CONFLICT
        if s.nc_size:
            s.nc_size -= 1
            i = s.nc[s.nc_size]
            s.in_nc[i] = 0
            check_labels(s, i)
        elif s.ending_size:
            s.ending_size -= 1
            f = s.ending[s.ending_size]
            if s.free[f] == 2:
                f = join(s, f)
                if f >= 0:
                    both_ways(s, f)
            elif s.free[f] >= 0:
                end_factor(s, f)
        elif s.risen:
            s.risen = False
            look_at_all(s)
        elif stopping.poll(cost):
            clear(s)
            return STOPPED
        elif s.dac_highest >= 0:
            if s.in_dac[s.dac_highest]:
                s.in_dac[s.dac_highest] = 0
                i = s.dac_highest
                if s.count[i] > 1 and not s.gone[i]:
                    directed(s, i)
            else:
                s.dac_highest -= 1
        elif s.ac_size:
            i = s.ac[s.ac_begin]
            s.ac_begin = 0 if s.ac_begin + 1 == s.n else s.ac_begin + 1
            s.ac_size -= 1
            s.in_ac[i] = 0
            arcs(s, i)
        elif s.eac_size:
            i = s.eac_queue[s.eac_begin]
            s.eac_begin = 0 if s.eac_begin + 1 == s.n else s.eac_begin + 1
            s.eac_size -= 1
            s.in_eac[i] = 0
            if useful and s.count[i] > 1 and not s.gone[i] and existential(s, i):
                moved += 1
                if moved > 2 * s.n:
                    useful = (s.c0 - then) * WORTH > s.top - s.c0
                    then = s.c0
                    moved = 0
        elif s.out_size:
            s.out_size -= 1
            i = s.out[s.out_size]
            s.in_out[i] = 0
            if s.count[i] > 1 and not s.gone[i]:
                eliminate(s, i)
        else:
            return CONSISTENT
