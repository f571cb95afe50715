# The tables of a block: summed and minimised in the order of elimination, and looked at again to read off labels.
from libc.math cimport INFINITY
from libc.stdint cimport uint64_t

from graphpart.crf.anytime_search._block_plan cimport AXES, DONE, Axis, State
from graphpart.kernels.clones cimport GP_CLONED
from graphpart.kernels.random cimport random_below
from graphpart.kernels.types cimport cost_t, element_t, offset_t


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

# --------------------------------------------------------------------------------------------------- sums of tables

cdef inline double entry(State* s, offset_t at) noexcept nogil:
    cdef double x = s.g.tables[at]
    return s.g.penalty if x == INFINITY else x


cdef inline offset_t selected(State* s, element_t f, element_t v, offset_t* stride) noexcept nogil:
    """The entry of a factor at the labels around v, if v had label 0, and the stride of v."""
    cdef offset_t at = 0, step = 1, i
    cdef element_t u
    for i in range(s.g.scope_start[f + 1] - 1, s.g.scope_start[f] - 1, -1):
        u = s.g.scope[i]
        if u == v:
            stride[0] = step
        else:
            at += step * s.label[u]
        step *= s.g.domains[u]
    return s.g.table_start[f] + at


cdef inline void add_strided(State* s, double* to, const cost_t* table, Axis* axes, int k, bint replace) noexcept nogil:
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
        to[0] += s.g.penalty if replace and x == INFINITY else x
        return
    length, stride = merged[0].count, merged[0].stride
    for i in range(1, used):
        count[i] = 0
    while True:
        if replace:
            for j in range(length):
                x = table[j * stride]
                to[j] += s.g.penalty if x == INFINITY else x
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


cdef inline offset_t settle(State* s, Py_ssize_t t) noexcept nogil:
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
        size *= s.g.domains[u]
    for i in range(kept, s.step_scope[t + 1]):
        s.members[i] = -1
    return size


cdef inline void collect(State* s, Py_ssize_t t, offset_t size, double* before) noexcept nogil:
    """Sum the tables of a step, and minimise over its variable."""
    cdef element_t v = s.order[t], u, f, c
    cdef offset_t begin = s.step_scope[t], end = s.step_scope[t + 1], i, j, step, stride = 0, base, d = s.g.domains[v], y
    cdef cost_t* local = &s.local[s.g.first[v]]
    cdef cost_t* message = &s.arena[s.message[t]]
    cdef double* sums
    cdef Axis[AXES] axes
    cdef int k = 0, a
    cdef bint alone
    while end > begin and s.members[end - 1] < 0:
        end -= 1
    k = <int>(end - begin)
    for y in range(d):
        local[y] = s.g.unary[s.g.first[v] + y]
    before[0] += local[s.label[v]]
    # Factors of which only this variable is in the block.
    for i in range(s.step_factors[t], s.step_factors[t + 1]):
        f = s.taken[i]
        alone = True
        for j in range(s.g.scope_start[f], s.g.scope_start[f + 1]):
            u = s.g.scope[j]
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
                axes[a].count = s.g.domains[s.members[begin + a]]
                axes[a].stride = 0
            base = s.g.table_start[f]
            step = 1
            for j in range(s.g.scope_start[f + 1] - 1, s.g.scope_start[f] - 1, -1):
                u = s.g.scope[j]
                if u == v:
                    base += y * step
                elif s.state[u] == DONE:
                    for a in range(k):
                        if s.members[begin + a] == u:
                            axes[a].stride = step
                            break
                else:
                    base += s.label[u] * step
                step *= s.g.domains[u]
            add_strided(s, sums, &s.g.tables[base], axes, k, True)
            s.work += size
        c = s.child[t]
        while c >= 0:
            # The first axis of its message is v; the others stand in the same order as here.
            for a in range(k):
                axes[a].count = s.g.domains[s.members[begin + a]]
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
                step *= s.g.domains[u]
            add_strided(s, sums, &s.arena[s.message[c] + y * step], axes, k, False)
            s.work += size
            c = s.sibling[c]
        if y:
            keep_least(message, sums, size)


cdef inline void descend(State* s, Py_ssize_t t, double* after) noexcept nogil:
    """Give the variable of a step its best label, those of all later steps being given."""
    cdef element_t v = s.order[t], f, c, u, label = 0
    cdef offset_t d = s.g.domains[v], y, i, j, base, stride = 0, step
    cdef cost_t* local = &s.local[s.g.first[v]]
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
            step *= s.g.domains[u]
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
    after[0] += s.g.unary[s.g.first[v] + label]
    for i in range(s.step_factors[t], s.step_factors[t + 1]):
        f = s.taken[i]
        if f < 0:
            f = -1 - f
        base = selected(s, f, v, &stride)
        after[0] += entry(s, base + label * stride)
