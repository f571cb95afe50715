"""Sums of absolute or squared differences of all pairs of elements, in the upper triangle of a matrix.

For columns x_v scaled so that each has the weight +1 (the first `positive` ones) or -1 (the others), adds

    sum over v of  +-|x_v[a] - x_v[b]|     or     sum over v of  +-(x_v[a] - x_v[b])^2

to C[a, b] for a < b. A strip of 64 elements b with all its columns stays in the cache during a loop over all elements
a. Eight columns are added in one sweep, so each entry of C is loaded and stored V / 8 times in the cache and once in
memory. Each entry is summed in the order of columns, for any number of threads.
"""

from graphpart.kernels.clones cimport GP_CLONED  # and its macros

cdef extern from *:
    """
    #include <math.h>

    #define GP_SWEEP(TERM)                                                                                     \\
        for (; v + 8 <= columns; v += 8) {                                                                     \\
            const double *x = strip + v * stride;                                                              \\
            const double a0 = at[v], a1 = at[v + 1], a2 = at[v + 2], a3 = at[v + 3];                           \\
            const double a4 = at[v + 4], a5 = at[v + 5], a6 = at[v + 6], a7 = at[v + 7];                       \\
            for (b = 0; b < width; b++) {                                                                      \\
                double s = TERM(a0 - x[b]);                                                                    \\
                s += TERM(a1 - x[b + stride]);                                                                 \\
                s += TERM(a2 - x[b + 2 * stride]);                                                             \\
                s += TERM(a3 - x[b + 3 * stride]);                                                             \\
                s += TERM(a4 - x[b + 4 * stride]);                                                             \\
                s += TERM(a5 - x[b + 5 * stride]);                                                             \\
                s += TERM(a6 - x[b + 6 * stride]);                                                             \\
                s += TERM(a7 - x[b + 7 * stride]);                                                             \\
                sums[b] += s;                                                                                  \\
            }                                                                                                  \\
        }                                                                                                      \\
        for (; v < columns; v++)                                                                               \\
            for (b = 0; b < width; b++) sums[b] += TERM(at[v] - strip[v * stride + b]);

    #define GP_ABS(d) fabs(d)
    #define GP_SQUARE(d) ((d) * (d))

    GP_CLONES
    static void gp_add_differences(const double *GP_RESTRICT at, const double *GP_RESTRICT strip, Py_ssize_t columns,
                                   Py_ssize_t stride, Py_ssize_t width, int squared, double *GP_RESTRICT sums) {
        Py_ssize_t v = 0, b;
        if (squared) { GP_SWEEP(GP_SQUARE) } else { GP_SWEEP(GP_ABS) }
    }
    """
    void gp_add_differences(const double *at, const double *strip, Py_ssize_t columns, Py_ssize_t stride,
                            Py_ssize_t width, int squared, double *sums) noexcept nogil

cdef enum:
    STRIP = 64


def add_differences(const double[:, ::1] rows, const double[:, ::1] columns, Py_ssize_t positive, bint squared,
                    Py_ssize_t first, Py_ssize_t last, double[:, ::1] C):
    """Add to C[a, b] for all b in first..last-1 and a < b.

    `rows` has shape (n, V), `columns` is its transpose.
    """
    cdef Py_ssize_t V = rows.shape[1], n = rows.shape[0]
    cdef Py_ssize_t start, width, a, b, k, begin
    cdef double plus[STRIP]
    cdef double minus[STRIP]
    if not V:
        return
    with nogil:
        start = first
        while start < last:
            width = min(STRIP, last - start)
            for a in range(start + width - 1):
                begin = max(start, a + 1)
                for b in range(width):
                    plus[b] = 0.0
                    minus[b] = 0.0
                k = start + width - begin
                gp_add_differences(&rows[a, 0], &columns[0, begin], positive, n, k, squared, plus)
                if positive < V:
                    gp_add_differences(&rows[a, 0] + positive, &columns[0, begin] + positive * n, V - positive, n, k,
                                       squared, minus)
                for b in range(k):
                    C[a, begin + b] += plus[b] - minus[b]
            start += STRIP
