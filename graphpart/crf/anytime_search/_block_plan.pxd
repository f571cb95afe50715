# Which variables a block has, and in which order they are eliminated: what `_block_moves` begins with.
from libc.math cimport INFINITY
from libc.stdint cimport uint64_t

from graphpart.crf.anytime_search._parts cimport Graph
from graphpart.kernels.random cimport random_below, random_bits
from graphpart.kernels.types cimport cost_t, element_t, offset_t

cdef enum:
    AXES = 48                   # of a table; each has two labels at least
    KEYS = 128                  # classes of sizes: four for each power of 2
    OUT = 0                     # states of variables: keeps its label
    LIVE = 1
    DONE = 2                    # eliminated

cdef struct Axis:
    offset_t count
    offset_t stride


cdef struct State:
    Graph g
    element_t* label
    char* state
    element_t* place                # in the order of elimination
    element_t* order                # variables, in that order
    element_t* used                 # factor: the last block that used it
    element_t* stamp                # variable: the last union that it was in
    element_t block, union_
    element_t* head                 # KEYS lists of live variables
    element_t* next
    element_t* before
    short* key
    element_t* touching             # variable: the last link of its messages
    element_t* link_message         # links
    element_t* link_next
    Py_ssize_t links
    offset_t* step_factors          # of each step, in `taken`
    element_t* taken
    offset_t* step_scope            # and the variables of its message, in `members`
    element_t* members
    offset_t members_room
    element_t* child                # its first message
    element_t* sibling              # of a message, the next of the same step
    char* alive                     # a message that no step has used
    offset_t* message               # where it stands
    cost_t* arena
    offset_t arena_room
    cost_t* local                   # unary costs with what the labels around add
    cost_t* sums                    # room for one table
    element_t[AXES] union_members
    int axes
    double work
    uint64_t random


# ------------------------------------------------------------------------------------------ lists of variables by size

cdef inline void unlist(State* s, element_t v) noexcept nogil:
    if s.before[v] >= 0:
        s.next[s.before[v]] = s.next[v]
    else:
        s.head[s.key[v]] = s.next[v]
    if s.next[v] >= 0:
        s.before[s.next[v]] = s.before[v]


cdef inline void enlist(State* s, element_t v, int key) noexcept nogil:
    s.key[v] = key
    s.before[v] = -1
    s.next[v] = s.head[key]
    if s.head[key] >= 0:
        s.before[s.head[key]] = v
    s.head[key] = v


cdef inline int key_of(double size) noexcept nogil:
    """Four times the binary logarithm, about, from a size of at least 1."""
    cdef int key = 0
    while size >= 2.0 and key < KEYS:
        size *= 0.5
        key += 4
    if key >= KEYS - 4:
        return KEYS - 1
    key += (size >= 1.19) + (size >= 1.42) + (size >= 1.69)
    return min(key, KEYS - 1)


cdef inline double measure(State* s, element_t v) noexcept nogil:
    """Entries of the table that eliminates v now, and its other axes; infinite if these are too many."""
    cdef double size = s.g.domains[v]
    cdef offset_t i
    cdef element_t u, link, t
    cdef int k = 0
    s.union_ += 1
    s.stamp[v] = s.union_
    for i in range(s.g.near_start[v], s.g.near_start[v + 1]):
        u = s.g.near[i]
        if s.state[u] == LIVE and s.stamp[u] != s.union_:
            s.stamp[u] = s.union_
            size *= s.g.domains[u]
            if k < AXES:
                s.union_members[k] = u
                k += 1
            else:
                s.axes = k
                return INFINITY
    link = s.touching[v]
    while link >= 0:
        t = s.link_message[link]
        if s.alive[t]:
            for i in range(s.step_scope[t], s.step_scope[t + 1]):
                u = s.members[i]
                if s.state[u] == LIVE and s.stamp[u] != s.union_:
                    s.stamp[u] = s.union_
                    size *= s.g.domains[u]
                    if k < AXES:
                        s.union_members[k] = u
                        k += 1
                    else:
                        s.axes = k
                        return INFINITY
        link = s.link_next[link]
    s.axes = k
    return size


# ------------------------------------------------------------------------------------------------------ what is a block

cdef inline Py_ssize_t grow(State* s, element_t* found, Py_ssize_t size) noexcept nogil:
    """Variables around a random one, the nearest first; they become LIVE."""
    cdef Py_ssize_t count = 1, at = 0
    cdef offset_t i, begin, length, shift
    cdef element_t v = <element_t>random_below(&s.random, s.g.n), u
    found[0] = v
    s.state[v] = LIVE
    while at < count and count < size:
        v = found[at]
        at += 1
        begin = s.g.near_start[v]
        length = s.g.near_start[v + 1] - begin
        if length == 0:
            continue
        shift = random_below(&s.random, length)
        for i in range(length):
            u = s.g.near[begin + (i + shift) % length]
            if s.state[u] == OUT:
                s.state[u] = LIVE
                found[count] = u
                count += 1
                if count == size:
                    break
    return count


cdef inline Py_ssize_t plan(State* s, element_t* found, Py_ssize_t count, double limit, double most) noexcept nogil:
    """Choose the order of elimination, and who leaves the block; the number of steps.

    Tables have at most `limit` entries, all messages together at most `most`.
    """
    cdef Py_ssize_t steps = 0, i, j
    cdef element_t v, u, worst, link, f
    cdef double size, total = 0.0
    cdef int key, now, lowest = 0, k
    cdef bint crowded
    cdef offset_t a, b, scopes = 0, taken = 0
    for i in range(KEYS):
        s.head[i] = -1
    for i in range(count - 1, 0, -1):       # in random order
        j = random_below(&s.random, i + 1)
        found[i], found[j] = found[j], found[i]
    s.links = 0
    s.block += 1
    for i in range(count):
        s.touching[found[i]] = -1
    for i in range(count):
        enlist(s, found[i], key_of(measure(s, found[i])))
    s.step_factors[0] = 0
    s.step_scope[0] = 0
    while True:
        while lowest < KEYS and s.head[lowest] < 0:
            lowest += 1
        if lowest == KEYS:
            break
        v = s.head[lowest]
        unlist(s, v)
        size = measure(s, v)
        now = key_of(size)
        if now > lowest and size <= limit:
            enlist(s, v, now)
            continue
        crowded = size == INFINITY
        while size > limit:
            if s.axes == 0:
                break
            worst = 0
            for k in range(1, s.axes):
                now = s.key[s.union_members[k]] - s.key[s.union_members[worst]]
                if now > 0 or (now == 0 and random_bits(&s.random) & 1):
                    worst = k
            u = s.union_members[worst]
            s.state[u] = OUT
            unlist(s, u)
            s.axes -= 1
            s.union_members[worst] = s.union_members[s.axes]
            if crowded:
                if s.axes < AXES / 2:
                    size = measure(s, v)
                    crowded = size == INFINITY
                continue
            size = s.g.domains[v]
            for k in range(s.axes):
                size *= s.g.domains[s.union_members[k]]
        total += size / s.g.domains[v]
        if not total <= most or scopes + s.axes > s.members_room or (s.axes == 0 and size > limit):
            s.state[v] = OUT
            total -= size / s.g.domains[v]
            continue
        s.state[v] = DONE
        s.place[v] = <element_t>steps
        s.order[steps] = v
        for a in range(s.g.rows[v], s.g.rows[v + 1]):
            f = s.g.factors[a]
            if s.used[f] != s.block:
                s.used[f] = s.block
                s.taken[taken] = f
                taken += 1
        s.child[steps] = -1
        link = s.touching[v]
        while link >= 0:
            u = s.link_message[link]
            if s.alive[u]:
                s.alive[u] = False
                s.sibling[u] = s.child[steps]
                s.child[steps] = u
            link = s.link_next[link]
        for k in range(s.axes):
            u = s.union_members[k]
            s.members[scopes] = u
            scopes += 1
            s.link_message[s.links] = <element_t>steps
            s.link_next[s.links] = s.touching[u]
            s.touching[u] = <element_t>s.links
            s.links += 1
        s.alive[steps] = True
        steps += 1
        s.step_factors[steps] = taken
        s.step_scope[steps] = scopes
        b = s.step_scope[steps - 1]
        for a in range(b, scopes):
            u = s.members[a]
            key = key_of(measure(s, u))
            if key != s.key[u]:
                unlist(s, u)
                enlist(s, u, key)
            if key < lowest:
                lowest = key
    return steps
