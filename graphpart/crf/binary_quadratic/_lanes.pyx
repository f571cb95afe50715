"""Kernel of simulated annealing that runs LANES copies of a binary quadratic form side by side.

The spins of one variable in all copies are neighbours in memory, so that one vector instruction treats all copies. All
copies visit the variables in the same order, at the same temperatures. A variable flips in a copy where its gain is at
most the temperature times an exponential variate of this copy (see `_sparse`). With spins ``s = 1`` or -1, twice the
gain of variable i is ``-s[i] (f[i] + sum_j J[i, j] s[j])``. So a sweep takes no branch that depends on a spin.

Numbers are integers of 16 bits, or floating-point numbers of 32 bits, which take twice as long. Products and sums are
computed in the same order on every processor.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int16_t, uint16_t, uint64_t

from graphpart.kernels.clones cimport GP_CLONED  # and its macros
from graphpart.kernels.random cimport random_below
from graphpart.kernels.types cimport element_t, offset_t
from graphpart.stopping cimport Stopping

ctypedef fused value_t:
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


def anneal(
    const offset_t[::1] starts,
    const element_t[::1] neighbours,
    const value_t[::1] couplings,
    const value_t[::1] fields,
    value_t[:, ::1] spins,
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
    cdef const value_t* w = &couplings[0] if couplings.shape[0] else NULL
    with nogil:
        for t in range(heats.shape[0]):
            b = 0
            while b < n and not stopping.poll(INFINITY):
                v = &variates[random_below(&random, places)]
                end = min(b + GP_STRIDE, n)
                if value_t is int16_t and variate_t is uint16_t:
                    sweep_16(b, end, &starts[0], to, w, &fields[0], &spins[0, 0], v, heats[t])
                elif value_t is float and variate_t is float:
                    sweep_real(b, end, &starts[0], to, w, &fields[0], &spins[0, 0], v, heats[t])
                b = end
            if b < n:
                break
