"""Kernels of one-flip moves on a binary quadratic form whose couplings are a matrix of 16- or 32-bit integers.

The same moves as in `_sparse`, by the same random numbers: see there. Where nearly all variables are coupled, a flip
changes nearly all gains, and one pass over contiguous numbers both changes them and finds the least gain of each block.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint64_t
from libc.string cimport memcpy

import numpy as np

from graphpart.binary_quadratic.flips cimport GP_BLOCK, GP_SPREAD, next_flip, sweeps_of
from graphpart.kernels._arrays cimport empty_int32, empty_int8, zeros_int32
from graphpart.kernels.clones cimport GP_CLONED  # and its macros
from graphpart.kernels.random cimport random_below
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

    /* The same, and the least gains of each block, of variables that are free at this time and of all. */
    #define GP_STEP(NAME, ENTRY)                                                                                 \\
    GP_CLONES                                                                                                    \\
    static void NAME(Py_ssize_t n, const ENTRY *GP_RESTRICT row, const int8_t *GP_RESTRICT spins, int32_t spin,  \\
                     int32_t *GP_RESTRICT gain, const int32_t *GP_RESTRICT until, int32_t now,                   \\
                     int32_t *GP_RESTRICT least_free, int32_t *GP_RESTRICT least) {                              \\
        Py_ssize_t b, k;                                                                                         \\
        for (b = 0; b + GP_BLOCK <= n; b += GP_BLOCK) {                                                          \\
            int32_t free = INT32_MAX, all = INT32_MAX;                                                           \\
            for (k = b; k < b + GP_BLOCK; k++) {                                                                 \\
                const int32_t d = gain[k] + (ENTRY)(row[k] * (ENTRY)(spins[k] * spin));                          \\
                const int32_t bound = (now - until[k]) >> 31, f = (d & ~bound) | (INT32_MAX & bound);            \\
                gain[k] = d;                                                                                     \\
                all = d < all ? d : all;                                                                         \\
                free = f < free ? f : free;                                                                      \\
            }                                                                                                    \\
            least_free[b / GP_BLOCK] = free;                                                                     \\
            least[b / GP_BLOCK] = all;                                                                           \\
        }                                                                                                        \\
        if (b < n) {                                                                                             \\
            int32_t free = INT32_MAX, all = INT32_MAX;                                                           \\
            for (k = b; k < n; k++) {                                                                            \\
                const int32_t d = gain[k] + (ENTRY)(row[k] * (ENTRY)(spins[k] * spin));                          \\
                const int32_t bound = (now - until[k]) >> 31, f = (d & ~bound) | (INT32_MAX & bound);            \\
                gain[k] = d;                                                                                     \\
                all = d < all ? d : all;                                                                         \\
                free = f < free ? f : free;                                                                      \\
            }                                                                                                    \\
            least_free[b / GP_BLOCK] = free;                                                                     \\
            least[b / GP_BLOCK] = all;                                                                           \\
        }                                                                                                        \\
    }
    GP_STEP(gp_step_16, int16_t)
    GP_STEP(gp_step_32, int32_t)
    """
    int32_t sum_16 "gp_sum_16" (Py_ssize_t n, const int16_t* row, const int8_t* spins) noexcept nogil
    int32_t sum_32 "gp_sum_32" (Py_ssize_t n, const int32_t* row, const int8_t* spins) noexcept nogil
    void add_16 "gp_add_16" (
        Py_ssize_t n, const int16_t* row, const int8_t* spins, int32_t spin, int32_t* gain
    ) noexcept nogil
    void add_32 "gp_add_32" (
        Py_ssize_t n, const int32_t* row, const int8_t* spins, int32_t spin, int32_t* gain
    ) noexcept nogil
    void step_16 "gp_step_16" (
        Py_ssize_t n, const int16_t* row, const int8_t* spins, int32_t spin, int32_t* gain, const int32_t* until,
        int32_t now, int32_t* least_free, int32_t* least
    ) noexcept nogil
    void step_32 "gp_step_32" (
        Py_ssize_t n, const int32_t* row, const int8_t* spins, int32_t spin, int32_t* gain, const int32_t* until,
        int32_t now, int32_t* least_free, int32_t* least
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


def tabu(
    const entry_t[:, ::1] matrix,
    const int32_t[::1] linear,
    int8_t[::1] spins,
    int moves,
    int tenure,
    unsigned long long seed,
    Stopping stopping,
):
    """See `_sparse.tabu`."""
    cdef Py_ssize_t n = linear.shape[0], blocks = (n + GP_BLOCK - 1) // GP_BLOCK, k
    cdef uint64_t random = seed
    if n == 0:
        return 0, 0
    cdef int32_t[::1] until = zeros_int32(n), gains = empty_int32(n), frees = empty_int32(blocks)
    cdef int32_t[::1] leasts = empty_int32(blocks)
    cdef int8_t[::1] found = np.array(spins)
    cdef int32_t now = 0, gain
    cdef int64_t energy, best
    cdef bint fresh = False
    cdef int32_t* d = &gains[0]
    cdef int32_t* free = &frees[0]
    cdef int32_t* least = &leasts[0]
    cdef int32_t* tabu_until = &until[0]
    cdef int8_t* s = &spins[0]
    cdef const entry_t* rows = &matrix[0, 0]
    with nogil:
        energy = fill_gains(matrix, linear, spins, gains)
        best = energy
        if entry_t is int16_t:  # the spin is 0, so this only computes the least gains
            step_16(n, rows, s, 0, d, tabu_until, 1, free, least)
        else:
            step_32(n, rows, s, 0, d, tabu_until, 1, free, least)
        while now < moves:
            now += 1
            if stopping.poll(INFINITY):
                break
            k = next_flip(n, d, free, least, tabu_until, now, best - energy, &random)
            if k < 0:
                break  # all are tabu
            gain = d[k]
            if fresh and gain >= 0:  # about to leave the best
                memcpy(&found[0], s, n)
                fresh = False
            energy += gain
            tabu_until[k] = now + 1 + tenure + <int32_t>random_below(&random, GP_SPREAD)
            d[k] = -d[k]  # its row has 0 there
            if entry_t is int16_t:
                step_16(n, rows + k * n, s, s[k], d, tabu_until, now + 1, free, least)
            else:
                step_32(n, rows + k * n, s, s[k], d, tabu_until, now + 1, free, least)
            s[k] = -s[k]
            if energy < best:
                best = energy
                fresh = True
        if not fresh:
            memcpy(s, &found[0], n)
    return best, now
