"""Kernels of plans: which tables are summed in which node, and in which order. Plans need no costs.

A bucket holds the tables whose first variable in the order of elimination is the same. Its tables are summed and the
variable is minimised out, which leaves a table over the other variables, the message, for the bucket of the first of
these (Dechter 1999). Where a message would have more entries than allowed, the bucket is divided into mini-buckets
(Dechter & Rish 2003): tables, largest first, go into the first mini-bucket that they fit. Each bucket or mini-bucket is
one node of a forest, and its parent uses its message. `schedule` gives the order of the nodes, and the places of their
messages in memory.
"""

import numpy as np

from libc.stdint cimport uint64_t
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memcpy

from graphpart.crf.bucket_elimination.walks cimport BLOCK, LONG, SHORT
from graphpart.crf.problem._view cimport Factors, View
from graphpart.kernels._arrays cimport empty_int32, empty_int64, full_int32, zeros_int64, zeros_uint64
from graphpart.kernels.growing cimport grow
from graphpart.kernels.types cimport element_t, offset_t


cdef offset_t TOO_MANY = <offset_t>1 << 62

cdef enum:
    OPEN = 64           # most mini-buckets that a table may join; a mask has one bit for each

cdef struct Rows:       # compressed rows that grow
    offset_t* start
    element_t* value
    Py_ssize_t rows
    Py_ssize_t row_room
    Py_ssize_t used
    Py_ssize_t room

cdef struct Sized:
    offset_t size
    element_t table     # a factor, or ~node; in a schedule a node
    element_t place     # in the bucket, for ties


cdef inline bint push(Rows* r, element_t value) noexcept nogil:
    if not grow(<void**>&r.value, &r.room, r.used + 1, sizeof(element_t)):
        return False
    r.value[r.used] = value
    r.used += 1
    return True


cdef inline bint close(Rows* r) noexcept nogil:
    """End a row."""
    if not grow(<void**>&r.start, &r.row_room, r.rows + 2, sizeof(offset_t)):
        return False
    r.rows += 1
    r.start[r.rows] = r.used
    return True


cdef bint open_rows(Rows* r, Py_ssize_t rows, Py_ssize_t values) noexcept nogil:
    """Make no rows, with room for `rows` rows and `values` values in all."""
    if not (grow(<void**>&r.start, &r.row_room, rows + 1, sizeof(offset_t))
            and grow(<void**>&r.value, &r.room, values, sizeof(element_t))):
        return False
    r.start[0] = 0
    return True


cdef object rows_array(Rows* r):
    start, value = empty_int64(r.rows + 1), empty_int32(r.used)
    cdef offset_t[::1] s = start
    cdef element_t[::1] v = value
    memcpy(&s[0], r.start, (r.rows + 1) * sizeof(offset_t))
    if r.used:
        memcpy(&v[0], r.value, r.used * sizeof(element_t))
    return start, value


cdef inline offset_t times(offset_t size, element_t d) noexcept nogil:
    """The product, but at most 2^62."""
    return TOO_MANY if size > TOO_MANY // d else size * d


cdef int larger_first(const void* a, const void* b) noexcept nogil:
    cdef const Sized* x = <const Sized*>a
    cdef const Sized* y = <const Sized*>b
    if x.size != y.size:
        return -1 if x.size > y.size else 1
    return -1 if x.place < y.place else 1


cdef struct Maker:
    Factors g
    const element_t* position
    offset_t* stamp         # of each variable
    offset_t now
    uint64_t* mask          # of each variable: the mini-buckets that have it
    Rows axes               # of each node: the variables of its message, the last one first
    Rows tables             # of each node
    Rows variable           # one row: the variable of each node
    offset_t* size          # of each node's message; as much room as rows of axes
    Py_ssize_t size_room


cdef inline const element_t* members(Maker* m, element_t table, offset_t* count) noexcept nogil:
    """The scope of a table."""
    cdef offset_t begin
    if table >= 0:
        begin = m.g.scope_start[table]
        count[0] = m.g.scope_start[table + 1] - begin
        return &m.g.scope[begin]
    begin = m.axes.start[~table]
    count[0] = m.axes.start[~table + 1] - begin
    return &m.axes.value[begin]


cdef void sort_axes(Maker* m, element_t* axes, offset_t count) noexcept nogil:
    """Sort by insertion, the last eliminated first: at most 62 variables, or runs that are sorted already."""
    cdef offset_t i, j
    cdef element_t v
    for i in range(1, count):
        v = axes[i]
        j = i
        while j > 0 and m.position[axes[j - 1]] < m.position[v]:
            axes[j] = axes[j - 1]
            j -= 1
        axes[j] = v


cdef bint make_node(Maker* m, element_t v, const Sized* tables, offset_t count, offset_t limit, int* code) noexcept nogil:
    """Make a node that sums these tables and eliminates v. If its message exceeds the limit, only set code to 1."""
    cdef offset_t i, j, k, first = m.axes.used, size = 1
    cdef const element_t* scope
    cdef element_t u
    m.now += 1
    m.stamp[v] = m.now
    code[0] = 0
    for i in range(count):
        scope = members(m, tables[i].table, &k)
        for j in range(k):
            u = scope[j]
            if m.stamp[u] != m.now and m.g.domains[u] > 1:
                m.stamp[u] = m.now
                size = times(size, m.g.domains[u])
                if size > limit:
                    m.axes.used = first
                    code[0] = 1
                    return True
                if not push(&m.axes, u):
                    return False
                scope = members(m, tables[i].table, &k)     # the push may have moved it
    sort_axes(m, &m.axes.value[first], m.axes.used - first)
    if not grow(<void**>&m.size, &m.size_room, m.axes.rows + 1, sizeof(offset_t)):
        return False
    m.size[m.axes.rows] = size
    for i in range(count):
        if not push(&m.tables, tables[i].table):
            return False
    return close(&m.axes) and close(&m.tables) and push(&m.variable, v)


cdef offset_t divide(Maker* m, element_t v, Sized* tables, offset_t count, offset_t limit) noexcept nogil:
    """Sort tables into mini-buckets; `size` becomes each table's mini-bucket. Returns the number of mini-buckets."""
    cdef offset_t sizes[OPEN]
    cdef offset_t i, j, k, b, size = 0, groups = 0
    cdef const element_t* scope
    for i in range(count):
        scope = members(m, tables[i].table, &k)
        tables[i].size = 1
        tables[i].place = <element_t>i
        for j in range(k):
            tables[i].size = times(tables[i].size, m.g.domains[scope[j]])
            m.mask[scope[j]] = 0
    m.mask[v] = 0
    qsort(tables, count, sizeof(Sized), &larger_first)
    for i in range(count):
        scope = members(m, tables[i].table, &k)
        b = 0
        while b < groups and b < OPEN:
            size = sizes[b]
            for j in range(k):
                if scope[j] != v and not (m.mask[scope[j]] >> b) & 1:
                    size = times(size, m.g.domains[scope[j]])
            if size <= limit:
                break
            b += 1
        if b == groups or b == OPEN:        # none fits
            b = groups
            groups += 1
            size = 1
            for j in range(k):
                if scope[j] != v:
                    size = times(size, m.g.domains[scope[j]])
        if b < OPEN:
            sizes[b] = size
            for j in range(k):
                m.mask[scope[j]] |= <uint64_t>1 << b
        tables[i].size = b
    return groups


def make_plan(
    View view,
    const element_t[::1] order,
    offset_t limit,
    bint divisible,
):
    """(axes, tables, variables, sizes of messages, parents, divided buckets), or the variable at which the plan ends.

    `axes` and `tables` are compressed rows (starts, values). Unless `divisible`, the plan ends at the first bucket whose
    message would have more than `limit` entries.
    """
    cdef const Factors* g = &view.g
    cdef Py_ssize_t n = g.n, m = g.m, t, f
    cdef offset_t i, j, k, groups, count, divided = 0, one_size
    cdef element_t v, u, node
    cdef bint fine = True
    cdef int code = 0
    cdef Maker maker
    cdef Sized* bucket = NULL
    cdef Sized* group
    cdef element_t* next_node = NULL
    cdef Py_ssize_t room = 0, next_room = 0
    cdef element_t failed = -1
    cdef element_t[::1] position = empty_int32(n + 1)
    cdef element_t[::1] first = empty_int32(m + 1), sorted_factors = empty_int32(m + 1)
    cdef offset_t[::1] begin = zeros_int64(n + 2)
    cdef element_t[::1] head = full_int32(n + 1, -1)
    cdef offset_t[::1] stamp = zeros_int64(n + 1)
    cdef uint64_t[::1] mask = zeros_uint64(n + 1)
    maker.g = view.g
    maker.position = &position[0]
    maker.stamp = &stamp[0]
    maker.mask = &mask[0]
    maker.now = 0
    maker.size, maker.size_room = NULL, 0
    maker.axes = maker.tables = maker.variable = Rows(NULL, NULL, 0, 0, 0, 0)
    try:
        with nogil:
            fine = (open_rows(&maker.axes, n, 2 * n) and open_rows(&maker.tables, n, m + n)
                    and open_rows(&maker.variable, 1, n))
            if fine:
                for t in range(n):
                    position[order[t]] = <element_t>t
                # Factors by their first variable. A variable with one label is first only if all others have one label,
                # too.
                for f in range(m):
                    u = -1
                    for i in range(g.scope_start[f], g.scope_start[f + 1]):
                        v = g.scope[i]
                        if u < 0 or (g.domains[v] > 1) > (g.domains[u] > 1) or (
                                (g.domains[v] > 1) == (g.domains[u] > 1) and position[v] < position[u]):
                            u = v
                    first[f] = position[u]
                    begin[first[f] + 2] += 1
                for t in range(1, n + 2):
                    begin[t] += begin[t - 1]
                for f in range(m):
                    sorted_factors[begin[first[f] + 1]] = <element_t>f
                    begin[first[f] + 1] += 1
            t = 0
            while fine and t < n:
                v = order[t]
                count = begin[t + 1] - begin[t]
                node = head[v]
                while node >= 0:
                    count += 1
                    node = next_node[node]
                fine = grow(<void**>&bucket, &room, count, sizeof(Sized))
                if not fine:
                    break
                k = 0
                for i in range(begin[t], begin[t + 1]):
                    bucket[k].table = sorted_factors[i]
                    k += 1
                node = head[v]
                while node >= 0:
                    bucket[k].table = ~node
                    k += 1
                    node = next_node[node]
                groups = 1
                i = maker.axes.rows
                fine = make_node(&maker, v, bucket, count, limit, &code)
                if fine and code == 1:
                    if not divisible:
                        failed = v
                        break
                    divided += 1
                    groups = divide(&maker, v, bucket, count, limit)
                    # Put tables of one mini-bucket next to each other: sort by its number, then by the old order.
                    for j in range(count):
                        bucket[j].size = -bucket[j].size
                        bucket[j].place = <element_t>j
                    qsort(bucket, count, sizeof(Sized), &larger_first)
                    j = 0
                    while fine and j < count:
                        k = j
                        one_size = bucket[j].size
                        while k < count and bucket[k].size == one_size:
                            k += 1
                        group = &bucket[j]
                        fine = make_node(&maker, v, group, k - j, TOO_MANY, &code)
                        j = k
                fine = fine and grow(<void**>&next_node, &next_room, maker.axes.rows, sizeof(element_t))
                if not fine:
                    break
                for j in range(i, maker.axes.rows):
                    if maker.axes.start[j + 1] > maker.axes.start[j]:
                        u = maker.axes.value[maker.axes.start[j + 1] - 1]
                        next_node[j] = head[u]
                        head[u] = <element_t>j
                t += 1
        if not fine:
            raise MemoryError
        if failed >= 0:
            return failed
        axes, tables = rows_array(&maker.axes), rows_array(&maker.tables)
        close(&maker.variable)
        variable = rows_array(&maker.variable)[1]
        size_array = empty_int64(maker.axes.rows)
        parent_array = full_int32(maker.axes.rows, -1)
        if maker.axes.rows:
            fill_in(&maker, size_array, parent_array)
        return axes, tables, variable, size_array, parent_array, divided
    finally:
        free(bucket)
        free(next_node)
        free(maker.size)
        free(maker.axes.start)
        free(maker.axes.value)
        free(maker.tables.start)
        free(maker.tables.value)
        free(maker.variable.start)
        free(maker.variable.value)


cdef fill_in(Maker* maker, offset_t[::1] size, element_t[::1] parent):
    cdef offset_t i, j
    memcpy(&size[0], maker.size, maker.axes.rows * sizeof(offset_t))
    for i in range(maker.tables.rows):
        for j in range(maker.tables.start[i], maker.tables.start[i + 1]):
            if maker.tables.value[j] < 0:
                parent[~maker.tables.value[j]] = <element_t>i


cdef inline offset_t stored(const offset_t* size, element_t parent, element_t node) noexcept nogil:
    """Entries of a message in memory: a root has none."""
    return size[node] if parent >= 0 else 0


def schedule(const element_t[::1] parent, const offset_t[::1] size) -> tuple[NDArray[np.int32], NDArray[np.int64], int]:
    """(order of nodes, place of each message, entries needed): children before parents, with little memory at any time.

    Subtrees follow each other. Of siblings, the one that needs the most memory beyond its own message comes first (Liu
    1986). So the messages that a node uses are always the last ones made on its level. Those of even levels are a stack
    from the left end of one array, those of odd levels one from its right end.
    """
    cdef Py_ssize_t count = parent.shape[0], i, j, k, t = 0
    cdef offset_t held, most, left = 0, right = 0, highest = 0
    cdef element_t node, child, depth
    order_array, place_array = empty_int32(count), zeros_int64(count)
    cdef element_t[::1] order = order_array
    cdef offset_t[::1] place = place_array
    cdef offset_t[::1] begin = zeros_int64(count + 3), peak = zeros_int64(count + 1)
    cdef element_t[::1] children = empty_int32(count + 1), stack = empty_int32(count + 1)
    cdef offset_t[::1] done = zeros_int64(count + 1)
    cdef Sized* sibling = <Sized*>malloc((count + 1) * sizeof(Sized))
    if sibling == NULL:
        raise MemoryError
    with nogil:
        # Rows of children; that of the roots is the last one.
        for i in range(count):
            begin[(parent[i] if parent[i] >= 0 else count) + 2] += 1
        for i in range(1, count + 3):
            begin[i] += begin[i - 1]
        for i in range(count):
            j = parent[i] if parent[i] >= 0 else count
            children[begin[j + 1]] = <element_t>i
            begin[j + 1] += 1
        for i in range(count + 1):
            k = begin[i + 1] - begin[i]
            if k > 1:
                for j in range(k):
                    child = children[begin[i] + j]
                    sibling[j].table = child
                    sibling[j].place = <element_t>j
                    sibling[j].size = peak[child] - stored(&size[0], parent[child], child)
                qsort(sibling, k, sizeof(Sized), &larger_first)
                for j in range(k):
                    children[begin[i] + j] = sibling[j].table
            held = most = 0
            for j in range(begin[i], begin[i + 1]):
                child = children[j]
                most = max(most, held + peak[child])
                held += stored(&size[0], parent[child], child)
            if i < count:
                peak[i] = max(most, held + stored(&size[0], parent[i], <element_t>i))
            else:
                highest = most
        depth = 0
        stack[0] = <element_t>count
        done[0] = 0
        while True:
            node = stack[depth]
            if begin[node] + done[depth] < begin[node + 1]:
                child = children[begin[node] + done[depth]]
                done[depth] += 1
                depth += 1
                stack[depth] = child
                done[depth] = 0
                continue
            if depth == 0:
                break
            order[t] = node
            t += 1
            if depth & 1:
                right += stored(&size[0], parent[node], node)
                place[node] = highest - right
            else:
                place[node] = left
                left += stored(&size[0], parent[node], node)
            for j in range(begin[node], begin[node + 1]):
                if depth & 1:
                    left -= size[children[j]]
                else:
                    right -= size[children[j]]
            depth -= 1
    free(sibling)
    return order_array, place_array, highest


def measure(const element_t[::1] domains, const element_t[::1] variable, const offset_t[::1] axes_start,
            const element_t[::1] axes, const offset_t[::1] uses_start):
    """(most tables, most axes, most tables times axes, most entries of all levels) of a node."""
    cdef offset_t tables, count, block, i, t, inner, most_tables = 0, most_axes = 1, strides = 1, entries = 1
    cdef offset_t d
    with nogil:
        for t in range(variable.shape[0]):
            tables = uses_start[t + 1] - uses_start[t]
            count = axes_start[t + 1] - axes_start[t] + 1
            block = domains[variable[t]]
            inner = 1
            for i in range(axes_start[t + 1] - 1, axes_start[t] - 1, -1):
                d = domains[axes[i]]
                if block * d > BLOCK and not (block < SHORT and block * d <= LONG):
                    break
                block *= d
                inner += 1
            most_tables = max(most_tables, tables)
            most_axes = max(most_axes, count)
            strides = max(strides, tables * count)
            entries = max(entries, block * (1 + min(count - inner, tables)))
    return most_tables, most_axes, strides, entries
