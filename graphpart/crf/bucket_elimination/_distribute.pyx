"""The pass back from the roots: each node gets a table about the rest of its component, each variable a vector.

Over (min, +) the rest is the *excess* of a labeling of the separator over the optimum, given that all else is best. With
s the sum of the tables of a node and low its minimum over the node's variable, the excess of a labeling of the bucket is

    (s - low) + excess of the separator,

which is exactly 0 for optimal labels; minima of it are the excesses of the labels of the variable, and of the separators
of the children. Over (+, *) probabilities stand in for excesses, ``exp(low - s)`` made to sum to 1 for the differences,
products for sums, and sums for minima. Each separator's table takes the place of the message that it belongs to.
"""

import numpy as np

from libc.math cimport INFINITY, exp
from libc.string cimport memcpy

from graphpart.crf.bucket_elimination._blocks cimport AXES, Forest, Walk, following, start, view, workspace
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.stopping cimport Stopping


cdef inline void run_min(cost_t* to, const cost_t* values, offset_t count, offset_t stride) noexcept nogil:
    cdef offset_t i
    cdef cost_t low
    if stride == 1:
        for i in range(count):
            to[i] = values[i] if values[i] < to[i] else to[i]
    elif stride == 0:
        low = to[0]
        for i in range(count):
            low = values[i] if values[i] < low else low
        to[0] = low
    else:
        for i in range(count):
            to[i * stride] = values[i] if values[i] < to[i * stride] else to[i * stride]


cdef inline void run_sum(cost_t* to, const cost_t* values, offset_t count, offset_t stride) noexcept nogil:
    cdef offset_t i
    cdef cost_t total
    if stride == 0:
        total = to[0]
        for i in range(count):
            total += values[i]
        to[0] = total
    else:
        for i in range(count):
            to[i * stride] += values[i]


cdef inline void reduce_block(Walk* w, offset_t j, cost_t* to, const cost_t* values, bint soft) noexcept nogil:
    """Reduce a block to the entries of table j; see `add_table`."""
    cdef const offset_t* size = &w.segment_size[j * w.axes]
    cdef const offset_t* stride = &w.segment_stride[j * w.axes]
    cdef offset_t[AXES] count
    cdef offset_t t = 0
    cdef int i, segments = w.segments[j]
    for i in range(segments):
        count[i] = 0
    while True:
        if soft:
            run_sum(to, values + t, size[0], stride[0])
        else:
            run_min(to, values + t, size[0], stride[0])
        t += size[0]
        if t == w.block:
            return
        i = 1
        count[1] += 1
        to += stride[1]
        while count[i] == size[i]:
            to -= size[i] * stride[i]
            count[i] = 0
            i += 1
            count[i] += 1
            to += stride[i]


cdef inline void excesses(cost_t* s, offset_t d, offset_t count, const cost_t* rest, cost_t* vector) noexcept nogil:
    """From sums to excesses over the optimum, in place, and their minima for each label."""
    cdef offset_t i, y
    cdef cost_t low
    for i in range(count):
        low = INFINITY
        for y in range(d):
            low = s[y] if s[y] < low else low
        for y in range(d):
            s[y] = s[y] - low + rest[i] if low < INFINITY else INFINITY
            vector[y] = s[y] if s[y] < vector[y] else vector[y]
        s += d


cdef inline void probabilities(cost_t* s, offset_t d, offset_t count, const cost_t* rest, cost_t* vector) noexcept nogil:
    cdef offset_t i, y
    cdef cost_t low, total
    for i in range(count):
        low = INFINITY
        total = 0.0
        for y in range(d):
            low = s[y] if s[y] < low else low
        for y in range(d):
            s[y] = 1.0 if s[y] == low else exp(low - s[y])
            total += s[y]
        total = rest[i] / total if low < INFINITY else 0.0
        for y in range(d):
            s[y] *= total
            vector[y] += s[y]
        s += d


def distribute(
    problem,
    plan,
    cost_t[::1] messages,
    const cost_t[::1] taken,
    cost_t[::1] scratch,
    const offset_t[::1] first,
    bint soft,
    Stopping stopping,
):
    """Excesses or probabilities of all labels, those of variable v from ``first[v]`` on; None if stopped early.

    The messages, those of `collect`, are overwritten. `scratch` has room for all messages that any one node uses.
    """
    cdef Forest f = view(problem, plan)
    cdef Walk w
    cdef offset_t o, h, d, i, j, used
    cdef Py_ssize_t t
    cdef element_t table
    cdef cost_t none = 0.0, root = 1.0 if soft else 0.0, initial = 0.0 if soft else INFINITY
    cdef cost_t* memory = &messages[0] if messages.shape[0] else &none
    cdef cost_t* spare = &scratch[0] if scratch.shape[0] else &none
    cdef cost_t* s
    cdef const cost_t* rest
    cdef bint stopped = False
    held = workspace(&w, &f, plan)
    vector_array = np.full(first[f.n], initial)
    cdef cost_t[::1] vector = vector_array
    cdef offset_t[::1] where = np.empty(f.most_tables + 1, np.int64)
    with nogil:
        for t in range(f.nodes - 1, -1, -1):
            d = f.domains[f.variable[t]]
            used = 0
            s = <cost_t*>start(&w, <element_t>t, memory, &taken[0])
            for j in range(w.tables):
                table = f.uses[f.uses_start[t] + j]
                if table < 0:
                    where[j] = used - f.place[~table]
                    used += f.size[~table]
            for i in range(used):
                spare[i] = initial
            rest = &memory[f.place[t]] if f.parent[t] >= 0 else &root
            h = w.block // d
            o = 0
            while s != NULL:
                # A block of the last level is not needed again, so it is changed in place.
                if soft:
                    probabilities(s, d, h, rest + o, &vector[first[f.variable[t]]])
                else:
                    excesses(s, d, h, rest + o, &vector[first[f.variable[t]]])
                for j in range(w.tables):
                    if f.uses[f.uses_start[t] + j] < 0:
                        reduce_block(&w, j, spare + where[j] + (w.at[j] - memory), s, soft)
                o += h
                s = <cost_t*>following(&w)
                if stopping.poll(INFINITY):
                    stopped = True
                    break
            if stopped:
                break
            for j in range(w.tables):
                table = f.uses[f.uses_start[t] + j]
                if table < 0:
                    memcpy(&memory[f.place[~table]], spare + where[j] + f.place[~table], f.size[~table] * sizeof(cost_t))
    return None if stopped else vector_array
