"""Kernels of annealing on a binary quadratic form whose couplings are a matrix of 16- or 32-bit integers.

The same moves as in `_sparse`, by the same random numbers: see there. Where nearly all variables are coupled, a flip
changes nearly all gains, in one pass over contiguous numbers.
"""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t

from graphpart.binary_quadratic.flips cimport sweeps_of
from graphpart.kernels._arrays cimport empty_int32, empty_int8
from graphpart.kernels.clones cimport GP_CLONED  # and its macros
from graphpart.stopping cimport Stopping

ctypedef fused entry_t:
    int16_t
    int32_t

cdef extern from *:
    """
    /* The sum of a row over variables with label 1. */
    #define GP_SUM(NAME, ENTRY)                                                                                  \\
    GP_CLONES                                                                                                    \\
    static int32_t NAME(Py_ssize_t n, const ENTRY *GP_RESTRICT row, const int8_t *GP_RESTRICT spins) {           \\
        int32_t sum = 0;                                                                                         \\
        Py_ssize_t k;                                                                                            \\
        for (k = 0; k < n; k++) sum += row[k] & -(int32_t)(spins[k] > 0);                                        \\
        return sum;                                                                                              \\
    }
    GP_SUM(gp_sum_16, int16_t)
    GP_SUM(gp_sum_32, int32_t)

    /* A flip of a variable with this spin: what it does to all gains. */
    #define GP_ADD(NAME, ENTRY)                                                                                  \\
    GP_CLONES                                                                                                    \\
    static void NAME(Py_ssize_t n, const ENTRY *GP_RESTRICT row, const int8_t *GP_RESTRICT spins, int32_t spin,  \\
                     int32_t *GP_RESTRICT gain) {                                                                \\
        Py_ssize_t k;                                                                                            \\
        for (k = 0; k < n; k++) gain[k] += (ENTRY)(row[k] * (ENTRY)(spins[k] * spin));                           \\
    }
    GP_ADD(gp_add_16, int16_t)
    GP_ADD(gp_add_32, int32_t)
    """
    int32_t sum_16 "gp_sum_16" (Py_ssize_t n, const int16_t* row, const int8_t* spins) noexcept nogil
    int32_t sum_32 "gp_sum_32" (Py_ssize_t n, const int32_t* row, const int8_t* spins) noexcept nogil
    void add_16 "gp_add_16" (
        Py_ssize_t n, const int16_t* row, const int8_t* spins, int32_t spin, int32_t* gain
    ) noexcept nogil
    void add_32 "gp_add_32" (
        Py_ssize_t n, const int32_t* row, const int8_t* spins, int32_t spin, int32_t* gain
    ) noexcept nogil


cdef int64_t fill_gains(
    const entry_t[:, ::1] matrix, const int32_t[::1] linear, const int8_t[::1] spins, int32_t[::1] gains
) noexcept nogil:
    """The change of energy by each flip; returns the energy."""
    cdef Py_ssize_t n = linear.shape[0], i
    cdef int32_t g
    cdef int64_t twice = 0
    for i in range(n):
        if entry_t is int16_t:
            g = sum_16(n, &matrix[i, 0], &spins[0])
        else:
            g = sum_32(n, &matrix[i, 0], &spins[0])
        if spins[i] > 0:
            twice += 2 * <int64_t>linear[i] + g
        g += linear[i]
        gains[i] = -g if spins[i] > 0 else g
    return twice // 2


cdef struct Form:
    Py_ssize_t n
    const void* rows
    int32_t* gains
    int8_t* spins


cdef void flip_16(void* form, Py_ssize_t k) noexcept nogil:
    cdef Form* f = <Form*>form
    cdef int32_t gain = f.gains[k]
    add_16(f.n, <const int16_t*>f.rows + k * f.n, f.spins, f.spins[k], f.gains)
    f.gains[k] = -gain
    f.spins[k] = -f.spins[k]


cdef void flip_32(void* form, Py_ssize_t k) noexcept nogil:
    cdef Form* f = <Form*>form
    cdef int32_t gain = f.gains[k]
    add_32(f.n, <const int32_t*>f.rows + k * f.n, f.spins, f.spins[k], f.gains)
    f.gains[k] = -gain
    f.spins[k] = -f.spins[k]


def energy_and_gains(const entry_t[:, ::1] matrix, const int32_t[::1] linear, const int8_t[::1] spins):
    """The energy of spins, and the change by each flip. O(n^2)"""
    gains = empty_int32(linear.shape[0])
    cdef int32_t[::1] out = gains
    cdef int64_t energy
    with nogil:
        energy = fill_gains(matrix, linear, spins, out)
    return energy, gains


def anneal(
    const entry_t[:, ::1] matrix,
    const int32_t[::1] linear,
    int8_t[::1] spins,
    const double[::1] temperatures,
    const float[::1] variates,
    unsigned long long seed,
    Stopping stopping,
):
    """See `_sparse.anneal`."""
    cdef Py_ssize_t n = linear.shape[0]
    cdef int32_t[::1] gains = empty_int32(n)
    cdef int8_t[::1] found = empty_int8(n)
    cdef Form f
    cdef int64_t best
    if n == 0:
        return 0
    f.n, f.rows, f.gains, f.spins = n, &matrix[0, 0], &gains[0], &spins[0]
    with nogil:
        best = fill_gains(matrix, linear, spins, gains)
        if entry_t is int16_t:
            best = sweeps_of(n, f.gains, f.spins, &found[0], best, temperatures, variates, seed, 64, flip_16, &f, stopping)
        else:
            best = sweeps_of(n, f.gains, f.spins, &found[0], best, temperatures, variates, seed, 64, flip_32, &f, stopping)
    return best
