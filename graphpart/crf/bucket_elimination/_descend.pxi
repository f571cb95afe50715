"""Labels, variable by variable against the order of elimination: traced back, greedy, sampled, and the m best.

When a variable's turn comes, all other variables of its bucket have labels. The *line* of a node is the sum of its tables
with these labels, for each label of the variable: up to a constant the least energy that is left to attain.
"""

from libc.math cimport INFINITY, exp
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memcpy

from graphpart.crf.bucket_elimination.walks cimport Forest, forest_of
from graphpart.crf.problem._view cimport View
from graphpart.kernels._arrays cimport zeros_float64
from graphpart.kernels.heap cimport Heap, heap_rise, heap_sink
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.stopping cimport Stopping

cdef enum:
    MESSAGE = 1         # bits of `there`: a node has a message, a kept choice
    CHOICES = 2


cdef inline void add_line(
    Forest* f, offset_t node, const cost_t* messages, const unsigned char* there, const element_t* labels, cost_t* out
) noexcept nogil:
    cdef element_t v = f.variable[node], table, u
    cdef offset_t d = f.g.domains[v], i, j, at, along, step, begin, end, y
    cdef const element_t* scope
    cdef const cost_t* values
    for i in range(f.uses_start[node], f.uses_start[node + 1]):
        table = f.uses[i]
        if table >= 0:
            begin, end = f.g.scope_start[table], f.g.scope_start[table + 1]
            scope = f.g.scope
            values = &f.g.tables[f.g.table_start[table]]
        else:
            if there != NULL and not there[~table] & MESSAGE:
                continue
            begin, end = f.axes_start[~table], f.axes_start[~table + 1]
            scope = f.axes
            values = &messages[f.place[~table]]
        at = step = 0
        along = 1
        for j in range(end - 1, begin - 1, -1):
            u = scope[j]
            if u == v:
                step = along
            else:
                at += labels[u] * along
            along *= f.g.domains[u]
        for y in range(d):
            out[y] += values[at + y * step]


cdef inline element_t least(const cost_t* line, offset_t d) noexcept nogil:
    cdef offset_t y, best = 0
    for y in range(1, d):
        if line[y] < line[best]:
            best = y
    return <element_t>best


cdef inline element_t chosen(Forest* f, offset_t node, const element_t* labels, const unsigned char* from_) noexcept nogil:
    cdef offset_t d = f.g.domains[f.variable[node]], i, at = 0, along = 1
    cdef element_t u
    for i in range(f.axes_start[node + 1] - 1, f.axes_start[node] - 1, -1):
        u = f.axes[i]
        at += labels[u] * along
        along *= f.g.domains[u]
    if d == 1:
        return 0
    if d <= 2:
        return from_[at >> 3] >> (at & 7) & 1
    if d <= 4:
        return from_[at >> 2] >> 2 * (at & 3) & 3
    if d <= 16:
        return from_[at >> 1] >> 4 * (at & 1) & 15
    if d <= 256:
        return from_[at]
    return (<const element_t*>from_)[at]


def descend(
    View view,
    plan,
    const cost_t[::1] messages,
    const unsigned char[::1] there,
    const offset_t[::1] choice_start,
    const unsigned char[::1] choices,
    element_t[::1] labels,
):
    """Fill in labels: the choice kept for a node, where ``there[node] & 2``, else the least entry of the variable's lines.

    Only messages with ``there[node] & 1`` count. With all messages of a plan without mini-buckets the labels are optimal.
    """
    cdef Forest f = forest_of(view, plan)
    cdef cost_t none = 0.0
    cdef const cost_t* memory = &messages[0] if messages.shape[0] else &none
    cdef offset_t t, y
    cdef element_t v
    cdef cost_t[::1] line = zeros_float64(f.g.largest_domain)
    with nogil:
        t = f.nodes - 1
        while t >= 0:
            v = f.variable[t]
            if there[t] & CHOICES:
                labels[v] = chosen(&f, t, &labels[0], &choices[choice_start[t]] if choices.shape[0] else NULL)
                t -= 1
                continue
            for y in range(f.g.domains[v]):
                line[y] = 0.0
            while t >= 0 and f.variable[t] == v:
                add_line(&f, t, memory, &there[0], &labels[0], &line[0])
                t -= 1
            labels[v] = least(&line[0], f.g.domains[v])


def sample(
    View view, plan, const cost_t[::1] messages, const cost_t[:, ::1] uniform, element_t[:, ::1] labels, Stopping stopping
):
    """Fill rows of labels with independent samples, from a number in [0, 1) for each node; the number of rows."""
    cdef Forest f = forest_of(view, plan)
    cdef cost_t none = 0.0, low, total
    cdef const cost_t* memory = &messages[0] if messages.shape[0] else &none
    cdef offset_t t, y, d, chosen_label
    cdef Py_ssize_t i, rows = labels.shape[0]
    cdef element_t v
    cdef cost_t[::1] line = zeros_float64(f.g.largest_domain)
    if f.g.n == 0:
        return rows
    with nogil:
        for i in range(rows):
            for t in range(f.nodes - 1, -1, -1):
                v = f.variable[t]
                d = f.g.domains[v]
                for y in range(d):
                    line[y] = 0.0
                add_line(&f, t, memory, NULL, &labels[i, 0], &line[0])
                low = line[least(&line[0], d)]
                total = 0.0
                for y in range(d):
                    line[y] = exp(low - line[y])
                    total += line[y]
                # If rounding leaves no label, the last label of positive weight is taken.
                total *= uniform[i, t]
                chosen_label = 0
                for y in range(d):
                    if line[y] > 0.0:
                        chosen_label = y
                        total -= line[y]
                        if total < 0.0:
                            break
                labels[i, v] = <element_t>chosen_label
                if stopping.poll(INFINITY):
                    rows = i
                    break
            if rows == i:
                break
    return rows


# --------------------------------------------------------------------------------------------------------- the m best

cdef struct Deviation:      # the best labeling that agrees with a row up to a node, where it has another label
    cost_t cost
    offset_t number         # for ties: first come, first served
    element_t row
    element_t node
    element_t label

cdef struct Deviations:     # a heap, the best first
    Deviation* entry
    offset_t size
    offset_t room
    offset_t wanted         # no more than these are needed
    offset_t numbers
    cost_t limit            # deviations of at least this cost are not needed


cdef int by_cost(const void* a, const void* b) noexcept nogil:
    cdef const Deviation* x = <const Deviation*>a
    cdef const Deviation* y = <const Deviation*>b
    if x.cost != y.cost:
        return -1 if x.cost < y.cost else 1
    return -1 if x.number < y.number else 1


cdef inline bint comes_first(void* context, const void* one, const void* other) noexcept nogil:
    return by_cost(one, other) < 0


cdef inline Heap heap_of_deviations(Deviations* h) noexcept nogil:
    return Heap(h.entry, h.size, sizeof(Deviation), comes_first, NULL, NULL)


cdef inline void enter(Deviations* h, Deviation* new) noexcept nogil:
    if new.cost >= h.limit:
        return
    if h.size == h.room:
        # A sorted array is a heap, too.
        qsort(h.entry, h.size, sizeof(Deviation), &by_cost)
        h.size = h.wanted
        h.limit = h.entry[h.size - 1].cost
        if new.cost >= h.limit:
            return
    new.number = h.numbers
    h.numbers += 1
    heap_rise(heap_of_deviations(h), h.size, new)
    h.size += 1


cdef inline Deviation leave(Deviations* h) noexcept nogil:
    cdef Deviation first = h.entry[0], last
    h.size -= 1
    if h.size:
        last = h.entry[h.size]
        heap_sink(heap_of_deviations(h), 0, &last)
    return first


def best(View view, plan, const cost_t[::1] messages, cost_t optimum, element_t[:, ::1] labels, Stopping stopping):
    """Fill rows of labels with the best labelings, in order; returns the number of rows filled.

    Each other labeling agrees with the best one up to some variable in the order of descent, where they differ. This
    divides the other labelings into disjoint sets, one for each variable and other label. The lines tell the cost of
    the best labeling of each set. The cheapest of these is the next labeling, and its set is divided in the same way
    (Lawler 1972, with the costs to go of Dechter, Flerova & Marinescu 2012).
    """
    cdef Forest f = forest_of(view, plan)
    cdef cost_t none = 0.0, cost = optimum
    cdef const cost_t* memory = &messages[0] if messages.shape[0] else &none
    cdef offset_t t, y, d
    cdef Py_ssize_t row = 0, rows = labels.shape[0]
    cdef element_t v
    cdef Deviation one
    cdef Deviations h
    cdef bint stopped = False
    cdef cost_t[::1] line = zeros_float64(f.g.largest_domain)
    if f.g.n == 0 or rows == 0:
        return rows
    h.wanted = rows
    h.room = 2 * rows + 1024
    h.size = h.numbers = 0
    h.limit = INFINITY
    h.entry = <Deviation*>malloc(h.room * sizeof(Deviation))
    if h.entry == NULL:
        raise MemoryError
    with nogil:
        t = f.nodes
        while True:
            t -= 1
            while t >= 0:
                v = f.variable[t]
                d = f.g.domains[v]
                for y in range(d):
                    line[y] = 0.0
                add_line(&f, t, memory, NULL, &labels[row, 0], &line[0])
                labels[row, v] = least(&line[0], d)
                one.row = <element_t>row
                one.node = <element_t>t
                for y in range(d):
                    if y != labels[row, v]:
                        one.label = <element_t>y
                        one.cost = cost + (line[y] - line[labels[row, v]])
                        enter(&h, &one)
                if stopping.poll(optimum):
                    stopped = True
                    break
                t -= 1
            if stopped:
                break
            row += 1
            if row == rows or h.size == 0:
                break
            one = leave(&h)
            cost = one.cost
            t = one.node
            memcpy(&labels[row, 0], &labels[one.row, 0], f.g.n * sizeof(element_t))
            labels[row, f.variable[t]] = one.label
    free(h.entry)
    return row
