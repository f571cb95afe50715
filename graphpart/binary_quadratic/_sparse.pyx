"""Kernels of annealing on a binary quadratic form in compressed rows of integers.

A spin is +1 for label 1 and -1 for label 0. For each variable i its gain d[i] is kept: the change of energy if it
flips. Flipping k changes the gain of each neighbour j by ``J[j, k] s[j] s[k]`` and turns the sign of its own. All sums
are of integers, hence exact in any order.

`anneal` is simulated annealing (Kirkpatrick, Gelatt & Vecchi 1983): in each sweep, variables in order flip where the
gain is at most the temperature times an exponential variate, that is with the probability of Metropolis et al. (1953).
Blocks of variables are tested together first, since at low temperatures most blocks have no variable that flips. A
descent follows, which accepts only improvements.

`anneal_copies` is simulated annealing of LANES copies of a form side by side. The spins of one variable in all copies
are neighbours in memory, so that one vector instruction treats all copies. All copies visit the variables in the same
order, at the same temperatures. A variable flips in a copy where its gain is at most the temperature times an
exponential variate of this copy. Twice the gain of variable i is ``-s[i] (f[i] + sum_j J[i, j] s[j])``, so a sweep takes
no branch that depends on a spin. Numbers are integers of 16 bits, or floating-point numbers of 32 bits, which take twice
as long. Products and sums are computed in the same order on every processor.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint16_t, uint64_t

import numpy as np

from graphpart.binary_quadratic.flips cimport sweeps_of
from graphpart.kernels._arrays cimport empty_int8
from graphpart.kernels.clones cimport GP_CLONED  # and its macros
from graphpart.kernels.random cimport random_below
from graphpart.kernels.types cimport element_t, offset_t
from graphpart.stopping cimport Stopping

ctypedef fused value_t:
    int32_t
    int64_t


cdef int64_t fill_gains(
    const offset_t[::1] starts,
    const element_t[::1] neighbours,
    const value_t[::1] couplings,
    const value_t[::1] linear,
    const int8_t[::1] spins,
    value_t[::1] gains,
) noexcept nogil:
    """The change of energy by each flip; returns the energy."""
    cdef Py_ssize_t n = linear.shape[0], i
    cdef offset_t e
    cdef value_t g
    cdef int64_t twice = 0
    for i in range(n):
        g = 0
        for e in range(starts[i], starts[i + 1]):
            if spins[neighbours[e]] > 0:
                g += couplings[e]
        if spins[i] > 0:
            twice += 2 * <int64_t>linear[i] + g
        g += linear[i]
        gains[i] = -g if spins[i] > 0 else g
    return twice // 2


cdef inline void flip(
    const offset_t* starts,
    const element_t* neighbours,
    const value_t* couplings,
    value_t* gains,
    int8_t* spins,
    Py_ssize_t k,
) noexcept nogil:
    cdef offset_t e
    cdef element_t j
    cdef value_t s = spins[k]
    gains[k] = -gains[k]
    spins[k] = -spins[k]
    for e in range(starts[k], starts[k + 1]):
        j = neighbours[e]
        gains[j] += couplings[e] * (s * spins[j])


cdef struct Form:
    const offset_t* starts
    const element_t* neighbours
    const void* couplings
    void* gains
    int8_t* spins


# Inline, since calls would take a tenth of the time where rows are short.
cdef inline void flip_32(void* form, Py_ssize_t k) noexcept nogil:
    cdef Form* f = <Form*>form
    flip(f.starts, f.neighbours, <const int32_t*>f.couplings, <int32_t*>f.gains, f.spins, k)


cdef inline void flip_64(void* form, Py_ssize_t k) noexcept nogil:
    cdef Form* f = <Form*>form
    flip(f.starts, f.neighbours, <const int64_t*>f.couplings, <int64_t*>f.gains, f.spins, k)


def energy_and_gains(
    const offset_t[::1] starts,
    const element_t[::1] neighbours,
    const value_t[::1] couplings,
    const value_t[::1] linear,
    const int8_t[::1] spins,
):
    """The energy of spins, and the change by each flip. O(n + m)"""
    gains = np.empty(linear.shape[0], np.int32 if value_t is int32_t else np.int64)
    cdef value_t[::1] out = gains
    cdef int64_t energy
    with nogil:
        energy = fill_gains(starts, neighbours, couplings, linear, spins, out)
    return energy, gains


def anneal(
    const offset_t[::1] starts,
    const element_t[::1] neighbours,
    const value_t[::1] couplings,
    const value_t[::1] linear,
    int8_t[::1] spins,
    const double[::1] temperatures,
    const float[::1] variates,
    unsigned long long seed,
    Stopping stopping,
):
    """One sweep at each temperature, then a descent; `spins` become the best spins found. Returns their energy.

    The spins are compared with the best at the end of each sweep. The number of variates is a power of 2.
    """
    cdef Py_ssize_t n = linear.shape[0]
    cdef value_t[::1] gains = np.empty(n, np.int32 if value_t is int32_t else np.int64)
    cdef int8_t[::1] found = empty_int8(n)
    cdef Form f
    cdef int64_t best
    if n == 0:
        return 0
    f.starts, f.gains, f.spins = &starts[0], &gains[0], &spins[0]
    f.neighbours = &neighbours[0] if neighbours.shape[0] else NULL
    f.couplings = &couplings[0] if couplings.shape[0] else NULL
    with nogil:
        best = fill_gains(starts, neighbours, couplings, linear, spins, gains)
        if value_t is int32_t:
            best = sweeps_of(
                n, &gains[0], f.spins, &found[0], best, temperatures, variates, seed, 4096, flip_32, &f, stopping
            )
        else:
            best = sweeps_of(
                n, &gains[0], f.spins, &found[0], best, temperatures, variates, seed, 4096, flip_64, &f, stopping
            )
    return best


# ------------------------------------------------------------------------------------------------ copies side by side

ctypedef fused lane_t:
    int16_t
    float

ctypedef fused variate_t:
    uint16_t
    float

cdef extern from *:
    """
    #define GP_LANES 16
    #define GP_STRIDE 128   /* variables between two random places in the table of variates, a power of 2 */

    #if defined(__GNUC__)   /* compilers find these vectors in loops only sometimes */
    typedef int16_t gp_lanes_16 __attribute__((vector_size(2 * GP_LANES), aligned(2)));
    typedef int32_t gp_lanes_32 __attribute__((vector_size(2 * GP_LANES), aligned(4)));
    typedef float gp_lanes_real __attribute__((vector_size(2 * GP_LANES), aligned(4)));
    #define GP_SET(LANES, field, value) field = (LANES){0} + (value)
    #define GP_ADD(LANES, field, coupling, other) field += *(const LANES *)(other) * (coupling)
    #define GP_FLIP(LANES, BITS, own, field, thresholds) do {                                                \\
        const LANES s = *(const LANES *)(own);                                                               \\
        const BITS flips = -s * field <= *(const LANES *)(thresholds);                                       \\
        *(LANES *)(own) = (LANES)(((BITS)s & ~flips) | ((BITS)-s & flips));                                  \\
    } while (0)
    #else
    typedef int16_t gp_lanes_16[GP_LANES];
    typedef float gp_lanes_real[GP_LANES];
    #define GP_SET(LANES, field, value) for (int r = 0; r < GP_LANES; r++) field[r] = (value)
    #define GP_ADD(LANES, field, coupling, other) for (int r = 0; r < GP_LANES; r++) field[r] += (coupling) * (other)[r]
    #define GP_FLIP(LANES, BITS, own, field, thresholds) for (int r = 0; r < GP_LANES; r++)                  \\
        if (-(own)[r] * field[r] <= (thresholds)[r]) (own)[r] = -(own)[r]
    #endif

    /* Variables from `begin` to `end`, at most GP_STRIDE, in all copies. */
    #define GP_SWEEP(NAME, LANES, BITS, VALUE, VARIATE, THRESHOLD)                                           \\
    GP_CLONES                                                                                                \\
    static void NAME(Py_ssize_t begin, Py_ssize_t end, const int64_t *GP_RESTRICT starts,                    \\
                     const int32_t *GP_RESTRICT neighbours, const VALUE *GP_RESTRICT couplings,              \\
                     const VALUE *GP_RESTRICT fields, VALUE *GP_RESTRICT spins,                              \\
                     const VARIATE *GP_RESTRICT variates, VARIATE heat) {                                    \\
        VALUE thresholds[GP_STRIDE * GP_LANES];                                                              \\
        Py_ssize_t i, e;                                                                                     \\
        for (i = 0; i < GP_STRIDE * GP_LANES; i++) thresholds[i] = THRESHOLD(variates[i], heat);             \\
        for (i = begin; i < end; i++) {                                                                      \\
            enum {WIDTH = sizeof(LANES) / sizeof(VALUE), PARTS = GP_LANES / WIDTH};                          \\
            const VALUE *threshold = thresholds + GP_LANES * (i - begin);                                    \\
            VALUE *own = spins + GP_LANES * i;                                                               \\
            LANES field[PARTS];                                                                              \\
            int p;                                                                                           \\
            for (p = 0; p < PARTS; p++) GP_SET(LANES, field[p], fields[i]);                                  \\
            for (e = starts[i]; e < starts[i + 1]; e++) {                                                    \\
                const VALUE *other = spins + GP_LANES * (Py_ssize_t)neighbours[e];                           \\
                for (p = 0; p < PARTS; p++) GP_ADD(LANES, field[p], couplings[e], other + p * WIDTH);        \\
            }                                                                                                \\
            for (p = 0; p < PARTS; p++) GP_FLIP(LANES, BITS, own + p * WIDTH, field[p], threshold + p * WIDTH);\\
        }                                                                                                    \\
    }
    /* Integer variates are in units of 2**-12, heats of 2**-4. */
    #define GP_WHOLE(variate, heat) (int16_t)(((uint32_t)(variate) * (heat)) >> 16)
    #define GP_REAL(variate, heat) (variate) * (heat)
    GP_SWEEP(gp_sweep_16, gp_lanes_16, gp_lanes_16, int16_t, uint16_t, GP_WHOLE)
    GP_SWEEP(gp_sweep_real, gp_lanes_real, gp_lanes_32, float, float, GP_REAL)
    """
    void sweep_16 "gp_sweep_16" (
        Py_ssize_t begin, Py_ssize_t end, const offset_t* starts, const element_t* neighbours,
        const int16_t* couplings, const int16_t* fields, int16_t* spins, const uint16_t* variates, uint16_t heat
    ) noexcept nogil
    void sweep_real "gp_sweep_real" (
        Py_ssize_t begin, Py_ssize_t end, const offset_t* starts, const element_t* neighbours,
        const float* couplings, const float* fields, float* spins, const float* variates, float heat
    ) noexcept nogil
    enum:
        GP_LANES
        GP_STRIDE

LANES = GP_LANES


def anneal_copies(
    const offset_t[::1] starts,
    const element_t[::1] neighbours,
    const lane_t[::1] couplings,
    const lane_t[::1] fields,
    lane_t[:, ::1] spins,
    const variate_t[::1] heats,
    const variate_t[::1] variates,
    unsigned long long seed,
    Stopping stopping,
):
    """One sweep at each temperature; the spins are left as they are at the end.

    With integers, temperatures are in units of 2**-4, variates in units of 2**-12, and the sum of the absolute numbers
    of a row is below 2**15. There are more than ``LANES * 128`` variates.
    """
    cdef Py_ssize_t n = fields.shape[0], places = variates.shape[0] - GP_LANES * GP_STRIDE, t, b, end
    cdef uint64_t random = seed
    cdef const variate_t* v = NULL
    if n == 0:
        return
    cdef const element_t* to = &neighbours[0] if neighbours.shape[0] else NULL
    cdef const lane_t* w = &couplings[0] if couplings.shape[0] else NULL
    with nogil:
        for t in range(heats.shape[0]):
            b = 0
            while b < n and not stopping.poll(INFINITY):
                v = &variates[random_below(&random, places)]
                end = min(b + GP_STRIDE, n)
                if lane_t is int16_t and variate_t is uint16_t:
                    sweep_16(b, end, &starts[0], to, w, &fields[0], &spins[0, 0], v, heats[t])
                elif lane_t is float and variate_t is float:
                    sweep_real(b, end, &starts[0], to, w, &fields[0], &spins[0, 0], v, heats[t])
                b = end
            if b < n:
                break
