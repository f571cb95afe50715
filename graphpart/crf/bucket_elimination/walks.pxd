# The sum of the tables of one node, block by block, for the kernels over (min, +) and (+, *).
#
# Axis 0 of a node is the variable that it eliminates. The other axes are the variables of its message, in the order of
# elimination. Axis 0 runs fastest. A block has all labels of the leading axes, so it is a contiguous part of the
# message. Within a block a table is read in segments: leading axes over which it has a single stride. A large message
# is usually one segment of stride 1. The part of a table that is added to a block changes only with the table's outer
# axes. Tables are sorted into levels by the fastest of their outer axes, and each level holds the sum so far. A step to
# the next block recomputes only the levels from the first changed one on, so small tables take little time.

import numpy as np

from graphpart.crf.problem._view cimport Factors, View
from graphpart.kernels._arrays cimport empty_float64, empty_int32
from graphpart.kernels.types cimport cost_t, element_t, offset_t

cdef enum:
    AXES = 64               # a message has less than 2^62 entries, and its variables have at least two labels
    BLOCK = 2048            # entries, unless the first axes are longer
    SHORT = 256             # blocks below this take one more axis, if they stay within BLOCK
    LONG = 16384

cdef struct Forest:         # a factor graph and a plan
    Factors g
    Py_ssize_t nodes
    const element_t* variable
    const offset_t* axes_start
    const element_t* axes           # last eliminated first
    const offset_t* uses_start
    const element_t* uses           # tables: a factor, or ~node
    const offset_t* size
    const element_t* parent
    const offset_t* place           # of messages in memory
    offset_t most_tables            # of a node
    offset_t most_axes              # of a node, its variable included
    offset_t most_strides           # tables times axes of a node

cdef struct Walk:
    Forest* f
    element_t node
    int axes
    int inner
    offset_t block                  # entries
    offset_t tables
    int levels
    offset_t[AXES] dim
    offset_t[AXES] count
    int[AXES] level_axis
    offset_t[AXES + 1] level_start
    element_t* axis                 # of each variable
    element_t* sorted               # tables by level
    element_t* level                # of each table, while sorting
    const cost_t** at               # of each table: its first entry in this block
    offset_t* stride                # of each table along each axis
    int* segments                   # of each table
    offset_t* segment_size          # at most as many as axes
    offset_t* segment_stride
    cost_t* sums                    # of each level


cdef inline const element_t* integers(object array):
    cdef const element_t[::1] a = array
    return &a[0] if a.shape[0] else NULL


cdef inline const offset_t* offsets(object array):
    cdef const offset_t[::1] a = array
    return &a[0] if a.shape[0] else NULL


cdef inline Forest forest_of(View view, object plan):
    """Pointers into the arrays of both, which must outlive the result."""
    cdef Forest f
    f.g = view.g
    f.nodes = plan.variable.shape[0]
    f.variable, f.axes_start, f.axes = integers(plan.variable), offsets(plan.axes_start), integers(plan.axes)
    f.uses_start, f.uses, f.size = offsets(plan.uses_start), integers(plan.uses), offsets(plan.size)
    f.parent, f.place = integers(plan.parent), offsets(plan.place)
    f.most_tables, f.most_axes, f.most_strides = plan.most_tables, plan.most_axes, plan.most_strides
    return f


cdef inline object workspace(Walk* w, Forest* f, object plan):
    """Take memory for walking over any node; the returned object must stay alive."""
    axis, order = empty_int32(f.g.n + 1), np.empty((2, f.most_tables + 1), np.int32)
    cdef element_t[::1] a = axis
    cdef element_t[:, ::1] o = order
    at, segments = np.empty(f.most_tables + 1, np.uintp), np.empty(f.most_tables + 1, np.intc)
    cdef size_t[::1] p = at
    cdef int[::1] s = segments
    strides = np.empty((3, f.most_strides + 1), np.int64)
    cdef offset_t[:, ::1] t = strides
    sums = empty_float64(plan.workspace)
    cdef cost_t[::1] b = sums
    w.f = f
    w.axis, w.sorted, w.level = &a[0], &o[0, 0], &o[1, 0]
    w.at, w.segments = <const cost_t**>&p[0], &s[0]
    w.stride, w.segment_size, w.segment_stride = &t[0, 0], &t[1, 0], &t[2, 0]
    w.sums = &b[0]
    return axis, order, at, segments, strides, sums


# ------------------------------------------------------------------------------------------------------------ one table

cdef inline void add_run(cost_t* to, const cost_t* base, const cost_t* table, offset_t count, offset_t stride) noexcept nogil:
    cdef offset_t i
    cdef cost_t x
    if stride == 1:
        for i in range(count):
            to[i] = base[i] + table[i]
    elif stride == 0:
        x = table[0]
        for i in range(count):
            to[i] = base[i] + x
    else:
        for i in range(count):
            to[i] = base[i] + table[i * stride]


cdef inline void add_table(Walk* w, cost_t* to, const cost_t* base, offset_t j) noexcept nogil:
    """A block of sums with table j added."""
    cdef const offset_t* size = &w.segment_size[j * w.axes]
    cdef const offset_t* stride = &w.segment_stride[j * w.axes]
    cdef const cost_t* table = w.at[j]
    cdef offset_t[AXES] count
    cdef offset_t t = 0
    cdef int i, segments = w.segments[j]
    if segments == 1:
        add_run(to, base, table, w.block, stride[0])
        return
    for i in range(segments):
        count[i] = 0
    while True:
        add_run(to + t, base + t, table, size[0], stride[0])
        t += size[0]
        if t == w.block:
            return
        i = 1
        count[1] += 1
        table += stride[1]
        while count[i] == size[i]:
            table -= size[i] * stride[i]
            count[i] = 0
            i += 1
            count[i] += 1
            table += stride[i]


# -------------------------------------------------------------------------------------------------------------- one node

cdef inline void find_axes(Walk* w, element_t node) noexcept nogil:
    cdef Forest* f = w.f
    cdef offset_t i, begin = f.axes_start[node], end = f.axes_start[node + 1]
    cdef element_t v = f.variable[node]
    w.node = node
    w.axes = <int>(end - begin) + 1
    w.dim[0] = f.g.domains[v]
    w.axis[v] = 0
    for i in range(begin, end):
        v = f.axes[i]
        w.axis[v] = <element_t>(end - i)
        w.dim[end - i] = f.g.domains[v]
    w.inner = 1
    w.block = w.dim[0]
    while w.inner < w.axes and (w.block * w.dim[w.inner] <= BLOCK
                                or (w.block < SHORT and w.block * w.dim[w.inner] <= LONG)):
        w.block *= w.dim[w.inner]
        w.inner += 1


cdef inline void find_strides(Walk* w, offset_t j, element_t table) noexcept nogil:
    """Strides and segments of table j of the node, and its level: 0, or the number of axes minus its fastest outer axis."""
    cdef Forest* f = w.f
    cdef offset_t* stride = &w.stride[j * w.axes]
    cdef offset_t* size = &w.segment_size[j * w.axes]
    cdef offset_t* step = &w.segment_stride[j * w.axes]
    cdef offset_t i, begin, end, along = 1
    cdef element_t v
    cdef int a, last = 0
    for a in range(w.axes):
        stride[a] = 0
    if table >= 0:
        begin, end = f.g.scope_start[table], f.g.scope_start[table + 1]
        for i in range(end - 1, begin - 1, -1):
            v = f.g.scope[i]
            if f.g.domains[v] > 1:
                stride[w.axis[v]] = along
                along *= f.g.domains[v]
    else:
        begin, end = f.axes_start[~table], f.axes_start[~table + 1]
        for i in range(end - 1, begin - 1, -1):
            v = f.axes[i]
            stride[w.axis[v]] = along
            along *= f.g.domains[v]
    size[0] = w.dim[0]
    step[0] = stride[0]
    for a in range(1, w.inner):
        if stride[a] == step[last] * size[last] or size[last] == 1:
            if size[last] == 1:
                step[last] = stride[a]
            size[last] *= w.dim[a]
        else:
            last += 1
            size[last] = w.dim[a]
            step[last] = stride[a]
    w.segments[j] = last + 1
    w.level[j] = 0
    for a in range(w.inner, w.axes):
        if stride[a] != 0:
            w.level[j] = <element_t>(w.axes - a)
            break


cdef inline void sort_levels(Walk* w) noexcept nogil:
    cdef offset_t[AXES + 1] place
    cdef offset_t j
    cdef int a
    if w.inner == w.axes:
        w.levels = 1
        w.level_start[0] = 0
        w.level_start[1] = w.tables
        for j in range(w.tables):
            w.sorted[j] = <element_t>j
        return
    for a in range(w.axes - w.inner + 2):
        place[a] = 0
    for j in range(w.tables):
        place[w.level[j] + 1] += 1
    w.levels = 0
    for a in range(w.axes - w.inner + 1):
        if a == 0 or place[a + 1] > 0:
            w.level_axis[w.levels] = w.axes - a
            w.level_start[w.levels] = place[a]
            w.levels += 1
        place[a + 1] += place[a]
    w.level_start[w.levels] = w.tables
    for j in range(w.tables):
        w.sorted[place[w.level[j]]] = <element_t>j
        place[w.level[j]] += 1


cdef inline void form(Walk* w, int level) noexcept nogil:
    """Compute the sums of all levels from this one on; level 0 begins with its present content."""
    cdef cost_t* to
    cdef const cost_t* base
    cdef offset_t i
    while level < w.levels:
        to = &w.sums[level * w.block]
        base = to if level == 0 else to - w.block
        for i in range(w.level_start[level], w.level_start[level + 1]):
            add_table(w, to, base, w.sorted[i])
            base = to
        level += 1


cdef inline const cost_t* start(Walk* w, element_t node, const cost_t* messages, const cost_t* taken) noexcept nogil:
    """The sums of the first block of a node, less the minima taken out of the messages that it uses."""
    cdef Forest* f = w.f
    cdef offset_t begin = f.uses_start[node], j
    cdef element_t table
    cdef cost_t constant = 0.0
    cdef int a
    find_axes(w, node)
    w.tables = f.uses_start[node + 1] - begin
    for j in range(w.tables):
        table = f.uses[begin + j]
        find_strides(w, j, table)
        if table >= 0:
            w.at[j] = &f.g.tables[f.g.table_start[table]]
        else:
            w.at[j] = &messages[f.place[~table]]
            constant -= taken[~table]
    sort_levels(w)
    for j in range(w.block):
        w.sums[j] = constant
    for a in range(w.inner, w.axes):
        w.count[a] = 0
    form(w, 0)
    return &w.sums[(w.levels - 1) * w.block]


cdef inline const cost_t* following(Walk* w) noexcept nogil:
    """The sums of the next block, or NULL."""
    cdef int a = w.inner, level = w.levels
    cdef offset_t j, stride
    if a == w.axes:
        return NULL
    while True:
        w.count[a] += 1
        for j in range(w.tables):
            w.at[j] += w.stride[j * w.axes + a]
        if w.count[a] < w.dim[a]:
            break
        for j in range(w.tables):
            w.at[j] -= w.dim[a] * w.stride[j * w.axes + a]
        w.count[a] = 0
        a += 1
        if a == w.axes:
            return NULL
    while level > 1 and w.level_axis[level - 1] <= a:
        level -= 1
    form(w, level)
    return &w.sums[(w.levels - 1) * w.block]
