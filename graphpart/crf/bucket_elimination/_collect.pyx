"""The pass towards the roots: each node sums its tables and reduces the sum to a message over (min, +) or (+, *).

The least entry of each message is taken out and kept apart, so that precision does not depend on how much there is below.
Over (min, +) the label that attains each minimum can be kept, in as few bits as the domain needs. Over (+, *) a message
is ``-log sum exp -`` of the sums.
"""

import numpy as np

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int32_t

from graphpart.crf.bucket_elimination._blocks cimport LONG, Forest, Walk, following, start, view, workspace
from graphpart.kernels.memory cimport large_pages
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.stopping cimport Stopping


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


def choice_bytes(const element_t[::1] domains, const element_t[::1] variable, const offset_t[::1] size):
    """Where the choices of each node begin, in bytes, shape (nodes + 1,); multiples of 8. Sizes below 2^55."""
    cdef Py_ssize_t i
    begin_array = np.zeros(variable.shape[0] + 1, np.int64)
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
    """Four minima side by side, as each has to wait for the one before."""
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
    """Labels of the entries from the one numbered `first` on, in memory that was zero."""
    cdef offset_t i, at
    if bits == 8:
        for i in range(count):
            to[first + i] = pick[i]
        return
    for i in range(count):
        at = (first + i) * bits
        to[at >> 3] |= pick[i] << (at & 7)


def collect(
    problem,
    plan,
    const element_t[::1] schedule,
    cost_t[::1] messages,
    const offset_t[::1] choice_start,
    unsigned char[::1] choices,
    bint soft,
    bint normalise,
    Stopping stopping,
):
    """(what was taken out of each message, nodes done, node that leaves no label or -1).

    The value of a root is what is taken out of it. `choices`, filled if not empty, has to be zero.
    """
    cdef Forest f = view(problem, plan)
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
    taken_array = np.zeros(f.nodes)
    cdef cost_t[::1] taken = taken_array
    cdef unsigned char[::1] pick = np.empty(LONG + 1, np.uint8)
    cdef cost_t none = 0.0
    cdef cost_t* memory = &messages[0] if messages.shape[0] else &none
    with nogil:
        large_pages(memory, messages.shape[0] * sizeof(cost_t))
        if keep:
            large_pages(&choices[0], choices.shape[0])
        for t in range(schedule.shape[0]):
            node = schedule[t]
            d = f.domains[f.variable[node]]
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
            # A root keeps nothing else; where sums might overflow, nothing is taken out of the others.
            taken[node] = low if normalise or f.parent[node] < 0 else 0.0
            if stopping.poll(INFINITY):
                break
    return taken_array, done, failed
