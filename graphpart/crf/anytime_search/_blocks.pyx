"""Kernel of blocks: many variables get the labels that are best together, given the labels of all others.

A block begins as a set of variables: all, or those around a random one. One after the other, the variable whose
elimination makes the smallest table is eliminated (see `bucket_elimination/`). Where even that table would have more
entries than allowed, other variables leave the block and keep their labels, until it has not: those that would
make the largest tables themselves (cutset conditioning with bounded width, Dechter 1990; Bidyuk & Dechter 2007). With
tables for two variables only, a block is a forest (Hamze & de Freitas 2004); with larger ones, strips and balls of a
grid, or stars of any number of leaves with several centres.

Then the tables are summed and minimised in that order, and labels are read off against it, by looking at the same
tables again, random ones of equals. Axes of a table are in the order of elimination, so that what a message adds for
one label of the variable is one stretch of memory.

Exact minima may be perturbed by random numbers added to the cost of each label: that is sampling, nearly, at the
temperature that they have (perturb and MAP, Papandreou & Yuille 2011).

A forbidden entry counts as `penalty`.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint64_t

from graphpart.kernels.random cimport random_below, random_bits
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.stopping cimport Stopping

from graphpart.kernels.clones cimport GP_CLONED

cdef extern from *:
    """
    #include <stddef.h>
    GP_CLONES static void gp_add(double *GP_RESTRICT to, const double *GP_RESTRICT from, ptrdiff_t count) {
        ptrdiff_t i;
        for (i = 0; i < count; i++) to[i] += from[i];
    }
    GP_CLONES static void gp_add_one(double *to, double x, ptrdiff_t count) {
        ptrdiff_t i;
        for (i = 0; i < count; i++) to[i] += x;
    }
    GP_CLONES static void gp_least(double *GP_RESTRICT to, const double *GP_RESTRICT from, ptrdiff_t count) {
        ptrdiff_t i;
        for (i = 0; i < count; i++) to[i] = from[i] < to[i] ? from[i] : to[i];
    }
    """
    void add_all "gp_add" (double*, const double*, Py_ssize_t) noexcept nogil
    void add_one "gp_add_one" (double*, double, Py_ssize_t) noexcept nogil
    void keep_least "gp_least" (double*, const double*, Py_ssize_t) noexcept nogil

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
    Py_ssize_t n, m
    const element_t* domains
    const offset_t* first
    const cost_t* unary
    const offset_t* scope_start
    const element_t* scope
    const offset_t* table_start
    const cost_t* tables
    const offset_t* rows            # factors of each variable
    const element_t* factors
    const offset_t* near_start      # its neighbours, each once
    const element_t* near
    double penalty
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


cdef double measure(State* s, element_t v) noexcept nogil:
    """Entries of the table that eliminates v now, and its other axes; infinite if these are too many."""
    cdef double size = s.domains[v]
    cdef offset_t i
    cdef element_t u, link, t
    cdef int k = 0
    s.union_ += 1
    s.stamp[v] = s.union_
    for i in range(s.near_start[v], s.near_start[v + 1]):
        u = s.near[i]
        if s.state[u] == LIVE and s.stamp[u] != s.union_:
            s.stamp[u] = s.union_
            size *= s.domains[u]
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
                    size *= s.domains[u]
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

cdef Py_ssize_t grow(State* s, element_t* found, Py_ssize_t size) noexcept nogil:
    """Variables around a random one, the nearest first; they become LIVE."""
    cdef Py_ssize_t count = 1, at = 0
    cdef offset_t i, begin, length, shift
    cdef element_t v = <element_t>random_below(&s.random, s.n), u
    found[0] = v
    s.state[v] = LIVE
    while at < count and count < size:
        v = found[at]
        at += 1
        begin = s.near_start[v]
        length = s.near_start[v + 1] - begin
        if length == 0:
            continue
        shift = random_below(&s.random, length)
        for i in range(length):
            u = s.near[begin + (i + shift) % length]
            if s.state[u] == OUT:
                s.state[u] = LIVE
                found[count] = u
                count += 1
                if count == size:
                    break
    return count


cdef Py_ssize_t plan(State* s, element_t* found, Py_ssize_t count, double limit, double most) noexcept nogil:
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
            size = s.domains[v]
            for k in range(s.axes):
                size *= s.domains[s.union_members[k]]
        total += size / s.domains[v]
        if not total <= most or scopes + s.axes > s.members_room or (s.axes == 0 and size > limit):
            s.state[v] = OUT
            total -= size / s.domains[v]
            continue
        s.state[v] = DONE
        s.place[v] = <element_t>steps
        s.order[steps] = v
        for a in range(s.rows[v], s.rows[v + 1]):
            f = s.factors[a]
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


# --------------------------------------------------------------------------------------------------- sums of tables

cdef inline double entry(State* s, offset_t at) noexcept nogil:
    cdef double x = s.tables[at]
    return s.penalty if x == INFINITY else x


cdef inline offset_t selected(State* s, element_t f, element_t v, offset_t* stride) noexcept nogil:
    """The entry of a factor at the labels around v, if v had label 0, and the stride of v."""
    cdef offset_t at = 0, step = 1, i
    cdef element_t u
    for i in range(s.scope_start[f + 1] - 1, s.scope_start[f] - 1, -1):
        u = s.scope[i]
        if u == v:
            stride[0] = step
        else:
            at += step * s.label[u]
        step *= s.domains[u]
    return s.table_start[f] + at


cdef void add_strided(State* s, double* to, const cost_t* table, Axis* axes, int k, bint replace) noexcept nogil:
    """Add a table, read along axes of which the last runs fastest, to contiguous sums."""
    cdef Axis[AXES] merged
    cdef offset_t[AXES] count
    cdef int i, used = 0
    cdef offset_t j, length, stride
    cdef double x
    # From the fastest axis on, and neighbours joined where one continues the other.
    for i in range(k - 1, -1, -1):
        if used and axes[i].stride == merged[used - 1].stride * merged[used - 1].count:
            merged[used - 1].count *= axes[i].count
        else:
            merged[used] = axes[i]
            used += 1
    if used == 0:
        x = table[0]
        to[0] += s.penalty if replace and x == INFINITY else x
        return
    length, stride = merged[0].count, merged[0].stride
    for i in range(1, used):
        count[i] = 0
    while True:
        if replace:
            for j in range(length):
                x = table[j * stride]
                to[j] += s.penalty if x == INFINITY else x
        elif stride == 0:
            x = table[0]
            if length < 8:
                for j in range(length):
                    to[j] += x
            else:
                add_one(to, x, length)
        elif stride == 1:
            if length < 8:
                for j in range(length):
                    to[j] += table[j]
            else:
                add_all(to, table, length)
        else:
            for j in range(length):
                to[j] += table[j * stride]
        to += length
        i = 1
        while i < used:
            count[i] += 1
            table += merged[i].stride
            if count[i] < merged[i].count:
                break
            table -= merged[i].stride * merged[i].count
            count[i] = 0
            i += 1
        if i >= used:
            return


cdef offset_t settle(State* s, Py_ssize_t t) noexcept nogil:
    """Drop from the message of a step who has left the block, and sort the rest by their places; its size."""
    cdef offset_t begin = s.step_scope[t], i, j, kept = begin, size = 1
    cdef element_t u
    for i in range(begin, s.step_scope[t + 1]):
        u = s.members[i]
        if s.state[u] != DONE:
            continue
        j = kept
        while j > begin and s.place[s.members[j - 1]] > s.place[u]:
            s.members[j] = s.members[j - 1]
            j -= 1
        s.members[j] = u
        kept += 1
        size *= s.domains[u]
    for i in range(kept, s.step_scope[t + 1]):
        s.members[i] = -1
    return size


cdef void collect(
    State* s, Py_ssize_t t, offset_t size, const double* noise, uint64_t mask, double heat, double* before
) noexcept nogil:
    """Sum the tables of a step, and minimise over its variable."""
    cdef element_t v = s.order[t], u, f, c
    cdef offset_t begin = s.step_scope[t], end = s.step_scope[t + 1], i, j, step, stride = 0, base, d = s.domains[v], y
    cdef cost_t* local = &s.local[s.first[v]]
    cdef cost_t* message = &s.arena[s.message[t]]
    cdef double* sums
    cdef Axis[AXES] axes
    cdef int k = 0, a
    cdef bint alone
    while end > begin and s.members[end - 1] < 0:
        end -= 1
    k = <int>(end - begin)
    for y in range(d):
        local[y] = s.unary[s.first[v] + y]
    before[0] += local[s.label[v]]
    if heat > 0.0:
        for y in range(d):
            local[y] += heat * noise[random_bits(&s.random) & mask]
    # Factors of which only this variable is in the block.
    for i in range(s.step_factors[t], s.step_factors[t + 1]):
        f = s.taken[i]
        alone = True
        for j in range(s.scope_start[f], s.scope_start[f + 1]):
            u = s.scope[j]
            if u != v and s.state[u] == DONE:
                alone = False
                break
        base = selected(s, f, v, &stride)
        before[0] += entry(s, base + s.label[v] * stride)
        if alone:
            for y in range(d):
                local[y] += entry(s, base + y * stride)
            s.taken[i] = -1 - f
    for y in range(d):
        sums = message if y == 0 else s.sums
        for i in range(size):
            sums[i] = local[y]
        for i in range(s.step_factors[t], s.step_factors[t + 1]):
            f = s.taken[i]
            if f < 0:
                continue
            for a in range(k):
                axes[a].count = s.domains[s.members[begin + a]]
                axes[a].stride = 0
            base = s.table_start[f]
            step = 1
            for j in range(s.scope_start[f + 1] - 1, s.scope_start[f] - 1, -1):
                u = s.scope[j]
                if u == v:
                    base += y * step
                elif s.state[u] == DONE:
                    for a in range(k):
                        if s.members[begin + a] == u:
                            axes[a].stride = step
                            break
                else:
                    base += s.label[u] * step
                step *= s.domains[u]
            add_strided(s, sums, &s.tables[base], axes, k, True)
            s.work += size
        c = s.child[t]
        while c >= 0:
            # The first axis of its message is v; the others stand in the same order as here.
            for a in range(k):
                axes[a].count = s.domains[s.members[begin + a]]
                axes[a].stride = 0
            step = 1
            a = k - 1
            for j in range(s.step_scope[c + 1] - 1, s.step_scope[c] - 1, -1):
                u = s.members[j]
                if u < 0:
                    continue
                if u == v:
                    break
                while s.members[begin + a] != u:
                    a -= 1
                axes[a].stride = step
                step *= s.domains[u]
            add_strided(s, sums, &s.arena[s.message[c] + y * step], axes, k, False)
            s.work += size
            c = s.sibling[c]
        if y:
            keep_least(message, sums, size)


cdef void descend(State* s, Py_ssize_t t, double* after) noexcept nogil:
    """Give the variable of a step its best label, those of all later steps being given."""
    cdef element_t v = s.order[t], f, c, u, label = 0
    cdef offset_t d = s.domains[v], y, i, j, base, stride = 0, step
    cdef cost_t* local = &s.local[s.first[v]]
    cdef double least = INFINITY
    cdef uint64_t shift
    for i in range(s.step_factors[t], s.step_factors[t + 1]):
        f = s.taken[i]
        if f >= 0:
            base = selected(s, f, v, &stride)
            for y in range(d):
                local[y] += entry(s, base + y * stride)
    c = s.child[t]
    while c >= 0:
        base = s.message[c]
        step = 1
        for j in range(s.step_scope[c + 1] - 1, s.step_scope[c] - 1, -1):
            u = s.members[j]
            if u < 0:
                continue
            if u == v:
                break
            base += step * s.label[u]
            step *= s.domains[u]
        for y in range(d):
            local[y] += s.arena[base + y * step]
        c = s.sibling[c]
    shift = random_below(&s.random, d)
    for i in range(d):
        y = i + shift
        y -= d if y >= d else 0
        if local[y] < least:
            least = local[y]
            label = <element_t>y
    s.label[v] = label
    after[0] += s.unary[s.first[v] + label]
    for i in range(s.step_factors[t], s.step_factors[t + 1]):
        f = s.taken[i]
        if f < 0:
            f = -1 - f
        base = selected(s, f, v, &stride)
        after[0] += entry(s, base + label * stride)


cdef class Blocks:
    """Blocks of one model, for one thread.

    Parameters
    ----------
    domains, first, unary, scope_start, scope, table_start, tables, rows, factors, near_start, near
        The arrays of a `Model`.
    penalty : float
        What a forbidden entry costs.
    room : int
        Entries of all messages of a block.
    """
    cdef State s
    cdef list kept
    cdef element_t[::1] label
    cdef Py_ssize_t steps

    def __cinit__(
        self, const element_t[::1] domains, const offset_t[::1] first, const cost_t[::1] unary,
        const offset_t[::1] scope_start, const element_t[::1] scope, const offset_t[::1] table_start,
        const cost_t[::1] tables, const offset_t[::1] rows, const element_t[::1] factors,
        const offset_t[::1] near_start, const element_t[::1] near, double penalty, offset_t room,
    ):
        cdef State* s = &self.s
        cdef Py_ssize_t n = domains.shape[0], m = scope_start.shape[0] - 1
        self.kept = [domains, first, unary, scope_start, scope, table_start, tables, rows, factors, near_start, near]
        s.n, s.m = n, m
        s.domains = &domains[0] if n else NULL
        s.first = &first[0]
        s.unary = &unary[0] if n else NULL
        s.scope_start = &scope_start[0]
        s.scope = &scope[0] if m else NULL
        s.table_start = &table_start[0]
        s.tables = &tables[0] if m else NULL
        s.rows = &rows[0]
        s.factors = &factors[0] if factors.shape[0] else NULL
        s.near_start = &near_start[0]
        s.near = &near[0] if near.shape[0] else NULL
        s.penalty = penalty
        s.members_room = 16 * n + 1024
        s.arena_room = room
        cdef element_t[::1] ints
        cdef offset_t[::1] longs
        cdef cost_t[::1] costs
        cdef char[::1] chars
        cdef short[::1] shorts
        self.label = np.zeros(n + 1, np.int32)
        s.label = &self.label[0]
        ints = np.zeros(9 * (n + 1) + 2 * (m + 1) + 3 * s.members_room + KEYS, np.int32)
        s.place, s.order, s.stamp, s.next = &ints[0], &ints[n + 1], &ints[2 * (n + 1)], &ints[3 * (n + 1)]
        s.before, s.touching, s.child = &ints[4 * (n + 1)], &ints[5 * (n + 1)], &ints[6 * (n + 1)]
        s.sibling = &ints[7 * (n + 1)]
        s.used, s.taken = &ints[9 * (n + 1)], &ints[9 * (n + 1) + m + 1]
        s.link_message = &ints[9 * (n + 1) + 2 * (m + 1)]
        s.link_next = s.link_message + s.members_room
        s.members = s.link_next + s.members_room
        s.head = s.members + s.members_room
        longs = np.zeros(3 * (n + 2), np.int64)
        s.step_factors, s.step_scope, s.message = &longs[0], &longs[n + 2], &longs[2 * (n + 2)]
        costs = np.empty(first[n] + 1)
        self.kept += [ints, longs, costs]
        s.local = &costs[0]
        chars = np.zeros(2 * (n + 1), np.int8)
        s.state, s.alive = &chars[0], &chars[n + 1]
        shorts = np.zeros(n + 1, np.int16)
        s.key = &shorts[0]
        self.kept += [chars, shorts]
        costs = np.empty(2 * room + 64)
        self.kept.append(costs)
        s.arena, s.sums = &costs[0], &costs[room + 32]

    @property
    def work(self):
        """Entries of all tables summed so far."""
        return self.s.work

    def members(self):
        """The variables of the last block, in the order of elimination."""
        cdef Py_ssize_t t
        return np.array([self.s.order[t] for t in range(self.steps)], np.int32)

    def around(self, Py_ssize_t size, unsigned long long seed):
        """So many variables around a random one, the nearest first; fewer if its component has fewer."""
        cdef State* s = &self.s
        cdef Py_ssize_t i, count
        cdef element_t[::1] found = np.empty(s.n, np.int32)
        s.random = seed
        for i in range(s.n):
            s.state[i] = OUT
        with nogil:
            count = grow(s, &found[0], min(size, s.n))
        return np.array(found[:count])

    def run(
        self, const element_t[::1] labels, const element_t[::1] inside, Py_ssize_t size, double limit, Py_ssize_t count,
        const double[::1] noise, double heat, unsigned long long seed, double cost, Stopping stopping,
    ):
        """Labels after so many blocks, and by how much their penalised energy differs from that of the start.

        Parameters
        ----------
        labels : ndarray of int32, shape (n,)
        inside : ndarray of int32
            Variables that blocks begin with; if there are none, `size` variables around random ones.
        size : int
        limit : float
            Entries of a table.
        count : int
            Number of blocks.
        noise : ndarray of float64
            Random numbers, a power of 2 of them, which are added to costs after multiplication with `heat`, if that is
            not 0.
        seed : int
        cost : float
            Of the start, for `stopping`.
        """
        cdef State* s = &self.s
        cdef Py_ssize_t n = s.n, steps, k, i, t, found_count
        cdef double before, after, delta = 0.0
        cdef uint64_t mask = noise.shape[0] - 1
        cdef offset_t at, length
        cdef bint ended = False
        if n == 0:
            return np.zeros(0, np.int32), 0.0
        cdef element_t* kept
        cdef element_t[::1] chosen = np.empty(n, np.int32)
        cdef element_t[::1] old = np.empty(n, np.int32)
        kept = &chosen[0]
        with nogil:
            self.label[:n] = labels
            s.random = seed
            for k in range(count):
                if stopping.poll(cost + delta):
                    break
                for i in range(n):
                    s.state[i] = OUT
                if inside.shape[0]:
                    found_count = inside.shape[0]
                    for i in range(found_count):
                        kept[i] = inside[i]
                        s.state[inside[i]] = LIVE
                elif size >= n:
                    found_count = n
                    for i in range(n):
                        kept[i] = <element_t>i
                        s.state[i] = LIVE
                else:
                    found_count = grow(s, kept, size)
                if s.union_ > 2000000000:
                    s.union_ = 0
                    for i in range(n):
                        s.stamp[i] = 0
                steps = plan(s, kept, found_count, limit, <double>s.arena_room)
                self.steps = steps
                before = after = 0.0
                at = 0
                for t in range(steps):
                    length = settle(s, t)
                    s.message[t] = at
                    at += length
                    s.work += length * s.domains[s.order[t]]
                for t in range(steps):
                    collect(s, t, (s.message[t + 1] if t + 1 < steps else at) - s.message[t], &noise[0], mask, heat,
                            &before)
                    if stopping.poll(cost + delta):
                        ended = True
                        break
                if ended:
                    break
                for t in range(steps):
                    old[t] = s.label[s.order[t]]
                for t in range(steps - 1, -1, -1):
                    descend(s, t, &after)
                if heat == 0.0 and after > before:      # by rounding
                    for t in range(steps):
                        s.label[s.order[t]] = old[t]
                else:
                    delta += after - before
        return np.array(self.label[:n]), delta
