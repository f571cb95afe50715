"""The two passes of messages, towards the roots and back from them, over (min, +) or (+, *).

Towards the roots, each node sums its tables and reduces the sum to a message. The least entry of each message is taken
out and kept apart, so that precision does not depend on the size of the subtree. Over (min, +) the label that attains
each minimum can be kept, in as few bits as the domain needs. Over (+, *) a message is ``-log sum exp -`` of the sums.

Back from the roots, each node receives a table over its separator that stands for the rest of its component. Over (min,
+) this is the *excess* of a labeling of the separator over the optimum if all other variables have their best labels.
Let s be the sum of the tables of a node, and low its minimum over the node's variable. The excess of a labeling of the
bucket is

    (s - low) + excess of the separator,

which is exactly 0 for optimal labels. Minima of it are the excesses of the labels of the variable, and of the
separators of the children. Over (+, *) there are probabilities in place of excesses, ``exp(low - s)`` normalised to sum
1 in place of differences, products in place of sums, and sums in place of minima. Each separator's table overwrites its
message.
"""

import numpy as np

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int32_t
from libc.string cimport memcpy

from graphpart.crf.bucket_elimination.walks cimport AXES, LONG, Forest, Walk, following, forest_of, start, workspace
from graphpart.crf.problem._view cimport View, place
from graphpart.kernels._arrays cimport empty_float64, empty_int64, empty_uint8, zeros_float64, zeros_int64
from graphpart.kernels.memory cimport large_pages
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.stopping cimport Stopping


# ---------------------------------------------------------------------------------------------------- towards the roots

cdef inline int bits_for(offset_t d) noexcept nogil:
    """Bits that hold a label."""
    if d == 1:
        return 0
    if d <= 2:
        return 1
    if d <= 4:
        return 2
    if d <= 16:
        return 4
    return 8 if d <= 256 else 32


def choice_bytes(
    const element_t[::1] domains, const element_t[::1] variable, const offset_t[::1] size
) -> NDArray[np.int64]:
    """The first byte of the choices of each node, shape (nodes + 1,): multiples of 8. Sizes are below 2^55."""
    cdef Py_ssize_t i
    begin_array = zeros_int64(variable.shape[0] + 1)
    cdef offset_t[::1] begin = begin_array
    for i in range(variable.shape[0]):
        begin[i + 1] = begin[i] + (size[i] * bits_for(domains[variable[i]]) + 63) // 64 * 8
    return begin_array


# ------------------------------------------------------------------------------------------------ one block of a message

cdef extern from *:
    """
    #include <stddef.h>
    #if defined(__SSE2__) || defined(_M_X64)
    #include <emmintrin.h>
    #endif
    /* Minima of pairs, ties to the first; eight at a time their choices as bits; the least of all, as far as `low`. */
    static inline double graphpart_pairs(const double *s, ptrdiff_t count, double *out, unsigned char *bits, double low) {
        ptrdiff_t i = 0;
        int k;
    #if defined(__SSE2__) || defined(_M_X64)
        __m128d least = _mm_set1_pd(low), other = least;
        for (; i + 8 <= count; i += 8, s += 16) {
            int byte = 0;
            for (k = 0; k < 4; k += 2) {
                __m128d a = _mm_loadu_pd(s + 4 * k), b = _mm_loadu_pd(s + 4 * k + 2);
                __m128d c = _mm_loadu_pd(s + 4 * k + 4), d = _mm_loadu_pd(s + 4 * k + 6);
                __m128d zero = _mm_unpacklo_pd(a, b), one = _mm_unpackhi_pd(a, b);
                __m128d two = _mm_unpacklo_pd(c, d), three = _mm_unpackhi_pd(c, d);
                __m128d x = _mm_min_pd(one, zero), y = _mm_min_pd(three, two);
                byte |= _mm_movemask_pd(_mm_cmplt_pd(one, zero)) << 2 * k;
                byte |= _mm_movemask_pd(_mm_cmplt_pd(three, two)) << (2 * k + 2);
                _mm_storeu_pd(out + i + 2 * k, x);
                _mm_storeu_pd(out + i + 2 * k + 2, y);
                least = _mm_min_pd(x, least);
                other = _mm_min_pd(y, other);
            }
            if (bits) *bits++ = (unsigned char)byte;
        }
        least = _mm_min_pd(least, other);
        least = _mm_min_sd(least, _mm_unpackhi_pd(least, least));
        low = _mm_cvtsd_f64(least);
    #else
        for (; i + 8 <= count; i += 8, s += 16) {
            int byte = 0;
            for (k = 0; k < 8; k++) {
                int one = s[2 * k + 1] < s[2 * k];
                double x = one ? s[2 * k + 1] : s[2 * k];
                byte |= one << k;
                out[i + k] = x;
                low = x < low ? x : low;
            }
            if (bits) *bits++ = (unsigned char)byte;
        }
    #endif
        for (; i < count; i++, s += 2) {
            out[i] = s[1] < s[0] ? s[1] : s[0];
            low = out[i] < low ? out[i] : low;
        }
        return low;
    }
    """
    cost_t least_of_pairs "graphpart_pairs" (
        const cost_t* s, offset_t count, cost_t* out, unsigned char* bits, cost_t low
    ) noexcept nogil


cdef inline void least_of_labels(const cost_t* s, offset_t d, offset_t count, cost_t* out, unsigned char* pick) noexcept nogil:
    cdef offset_t i, y, chosen
    cdef cost_t low, x
    for i in range(count):
        low = s[0]
        chosen = 0
        for y in range(1, d):
            x = s[y]
            chosen = y if x < low else chosen
            low = x if x < low else low
        out[i] = low
        pick[i] = <unsigned char>chosen
        s += d


cdef inline void least_of_many(const cost_t* s, offset_t d, offset_t count, cost_t* out, int32_t* pick) noexcept nogil:
    cdef offset_t i, y, chosen
    cdef cost_t low
    for i in range(count):
        low = s[0]
        chosen = 0
        for y in range(1, d):
            if s[y] < low:
                low = s[y]
                chosen = y
        out[i] = low
        if pick != NULL:
            pick[i] = <int32_t>chosen
        s += d


cdef inline void log_sums(const cost_t* s, offset_t d, offset_t count, cost_t* out) noexcept nogil:
    cdef offset_t i, y
    cdef cost_t low, high, total
    if d == 2:
        for i in range(count):
            low = s[1] if s[1] < s[0] else s[0]
            high = s[0] if s[1] < s[0] else s[1]
            out[i] = low - log(1.0 + exp(low - high)) if high < INFINITY else low
            s += 2
        return
    for i in range(count):
        low = INFINITY
        for y in range(d):
            low = s[y] if s[y] < low else low
        if low < INFINITY:
            total = 0.0
            for y in range(d):
                total += exp(low - s[y])
            low -= log(total)
        out[i] = low
        s += d


cdef inline cost_t least_entry(const cost_t* values, offset_t count) noexcept nogil:
    """The minimum, by four independent minima, so that comparisons overlap in time."""
    cdef cost_t a = INFINITY, b = INFINITY, c = INFINITY, d = INFINITY
    cdef offset_t i = 0
    while i + 4 <= count:
        a = values[i] if values[i] < a else a
        b = values[i + 1] if values[i + 1] < b else b
        c = values[i + 2] if values[i + 2] < c else c
        d = values[i + 3] if values[i + 3] < d else d
        i += 4
    while i < count:
        a = values[i] if values[i] < a else a
        i += 1
    a = b if b < a else a
    c = d if d < c else c
    return c if c < a else a


cdef inline void pack(const unsigned char* pick, offset_t count, int bits, offset_t first, unsigned char* to) noexcept nogil:
    """Write the labels of the entries from number `first` on, into memory that was zero."""
    cdef offset_t i, at
    if bits == 8:
        for i in range(count):
            to[first + i] = pick[i]
        return
    for i in range(count):
        at = (first + i) * bits
        to[at >> 3] |= pick[i] << (at & 7)


def collect(
    View view,
    plan,
    cost_t[::1] messages,
    unsigned char[::1] choices,
    bint soft,
    bint normalise,
    Stopping stopping,
):
    """(minimum taken out of each message, nodes done, node without an allowed label or -1).

    Nodes come in the order of ``plan.schedule``. The value of a root is its minimum. `choices` is filled if it is not
    empty; it must be zero before.
    """
    cdef const element_t[::1] schedule = plan.schedule
    cdef const offset_t[::1] choice_start = plan.choice_start if choices.shape[0] else zeros_int64(1)
    cdef Forest f = forest_of(view, plan)
    cdef Walk w
    cdef Py_ssize_t t, done = 0
    cdef element_t node, failed = -1
    cdef offset_t d, h, o
    cdef const cost_t* s
    cdef cost_t* out
    cdef cost_t low, one
    cdef cost_t root
    cdef bint keep = choices.shape[0] > 0, stopped = False
    cdef int bits
    cdef unsigned char* to
    held = workspace(&w, &f, plan)
    taken_array = zeros_float64(f.nodes)
    cdef cost_t[::1] taken = taken_array
    cdef unsigned char[::1] pick = empty_uint8(LONG + 1)
    cdef cost_t none = 0.0
    cdef cost_t* memory = &messages[0] if messages.shape[0] else &none
    with nogil:
        large_pages(memory, messages.shape[0] * sizeof(cost_t))
        if keep:
            large_pages(&choices[0], choices.shape[0])
        for t in range(schedule.shape[0]):
            node = schedule[t]
            d = f.g.domains[f.variable[node]]
            bits = bits_for(d) if keep else 0
            to = &choices[choice_start[node]] if bits else NULL
            out = &memory[f.place[node]] if f.parent[node] >= 0 else &root
            low = INFINITY
            o = 0
            s = start(&w, node, memory, &taken[0])
            h = w.block // d
            while s != NULL:
                if d == 2 and not soft and (bits == 0 or not (o & 7 or h & 7)):
                    low = least_of_pairs(s, h, out + o, to + (o >> 3) if bits else NULL, low)
                else:
                    if soft:
                        log_sums(s, d, h, out + o)
                    elif d <= 256:
                        least_of_labels(s, d, h, out + o, &pick[0])
                        if bits:
                            pack(&pick[0], h, bits, o, to)
                    else:
                        least_of_many(s, d, h, out + o, <int32_t*>to + o if bits else NULL)
                    one = least_entry(out + o, h)
                    low = one if one < low else low
                o += h
                s = following(&w)
                if s != NULL and stopping.poll(INFINITY):
                    stopped = True
                    break
            if stopped:
                break
            if low == INFINITY:
                failed = node
                break
            done += 1
            # A root keeps its minimum only. Where sums might overflow, no minimum is taken out of other messages.
            taken[node] = low if normalise or f.parent[node] < 0 else 0.0
            if stopping.poll(INFINITY):
                break
    return taken_array, done, failed


# -------------------------------------------------------------------------------------------------- back from the roots

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
    View view,
    plan,
    cost_t[::1] messages,
    const cost_t[::1] taken,
    bint soft,
    Stopping stopping,
) -> NDArray[np.float64] | None:
    """Excesses or probabilities of all labels, variable by variable; None if stopped early.

    The messages, those of `collect`, are overwritten.
    """
    cdef cost_t[::1] scratch = empty_float64(plan.scratch)   # room for all messages that one node uses
    cdef Forest f = forest_of(view, plan)
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
    vector_array = np.full(view.g.size, initial)
    cdef cost_t[::1] vector = vector_array
    cdef offset_t[::1] where = empty_int64(f.most_tables + 1)
    with nogil:
        for t in range(f.nodes - 1, -1, -1):
            d = f.g.domains[f.variable[t]]
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
                    probabilities(s, d, h, rest + o, &vector[place(&f.g, f.variable[t])])
                else:
                    excesses(s, d, h, rest + o, &vector[place(&f.g, f.variable[t])])
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
