"""Kernel of simulated annealing that runs LANES copies of a binary quadratic form side by side.

The spins of one variable in all copies are neighbours in memory, so that one vector instruction treats all copies. All
copies visit the variables in the same order, at the same temperatures. A variable flips in a copy where its gain is at
most the temperature times an exponential variate of this copy (see `_sparse`). Everything is in integers of 16 bits:
with spins ``s = 1`` or -1, twice the gain of variable i is ``-s[i] (f[i] + sum_j J[i, j] s[j])``. So a sweep takes no
branch that depends on a spin, and the result does not depend on the processor.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int16_t, uint16_t, uint64_t

from graphpart.kernels.clones cimport GP_CLONED  # and its macros
from graphpart.kernels.random cimport random_below
from graphpart.kernels.types cimport element_t, offset_t
from graphpart.stopping cimport Stopping

cdef extern from *:
    """
    #define GP_LANES 16
    #define GP_STRIDE 128   /* variables between two random places in the table of variates, a power of 2 */

    #if defined(__GNUC__)   /* compilers find this vector in loops only sometimes */
    typedef int16_t gp_lanes __attribute__((vector_size(2 * GP_LANES), aligned(2)));
    #define GP_SET(field, value) field = (gp_lanes){0} + (value)
    #define GP_ADD(field, coupling, other) field += *(const gp_lanes *)(other) * (coupling)
    #define GP_FLIP(own, field, thresholds) do {                                                             \\
        const gp_lanes s = *(const gp_lanes *)(own), flips = -s * field <= *(const gp_lanes *)(thresholds);  \\
        *(gp_lanes *)(own) = (s ^ flips) - flips;                                                            \\
    } while (0)
    #else
    typedef int16_t gp_lanes[GP_LANES];
    #define GP_SET(field, value) for (int r = 0; r < GP_LANES; r++) field[r] = (value)
    #define GP_ADD(field, coupling, other) for (int r = 0; r < GP_LANES; r++) field[r] += (coupling) * (other)[r]
    #define GP_FLIP(own, field, thresholds) for (int r = 0; r < GP_LANES; r++)                               \\
        if (-(own)[r] * field[r] <= (thresholds)[r]) (own)[r] = -(own)[r]
    #endif

    /* Variables from `begin` to `end`, at most GP_STRIDE, in all copies. Variates are in units of 2**-12, heat of 2**-4. */
    GP_CLONES
    static void gp_sweep_lanes(Py_ssize_t begin, Py_ssize_t end, const int64_t *GP_RESTRICT starts,
                               const int32_t *GP_RESTRICT neighbours, const int16_t *GP_RESTRICT couplings,
                               const int16_t *GP_RESTRICT fields, int16_t *GP_RESTRICT spins,
                               const uint16_t *GP_RESTRICT variates, uint16_t heat) {
        int16_t thresholds[GP_STRIDE * GP_LANES];
        Py_ssize_t i, e;
        for (i = 0; i < GP_STRIDE * GP_LANES; i++) thresholds[i] = (int16_t)(((uint32_t)variates[i] * heat) >> 16);
        for (i = begin; i < end; i++) {
            gp_lanes field;
            GP_SET(field, fields[i]);
            for (e = starts[i]; e < starts[i + 1]; e++)
                GP_ADD(field, couplings[e], spins + GP_LANES * (Py_ssize_t)neighbours[e]);
            GP_FLIP(spins + GP_LANES * i, field, thresholds + GP_LANES * (i - begin));
        }
    }
    """
    void sweep_lanes "gp_sweep_lanes" (
        Py_ssize_t begin, Py_ssize_t end, const offset_t* starts, const element_t* neighbours,
        const int16_t* couplings, const int16_t* fields, int16_t* spins, const uint16_t* variates, uint16_t heat
    ) noexcept nogil
    enum:
        GP_LANES
        GP_STRIDE

LANES = GP_LANES


def anneal(
    const offset_t[::1] starts,
    const element_t[::1] neighbours,
    const int16_t[::1] couplings,
    const int16_t[::1] fields,
    int16_t[:, ::1] spins,
    const uint16_t[::1] heats,
    const uint16_t[::1] variates,
    unsigned long long seed,
    Stopping stopping,
):
    """One sweep at each temperature, in units of 2**-4; the spins are left as they are at the end.

    The sum of the absolute numbers of a row is below 2**15, and the number of variates, in units of 2**-12, is a
    multiple of ``LANES * STRIDE``.
    """
    cdef Py_ssize_t n = fields.shape[0], places = variates.shape[0] - GP_LANES * GP_STRIDE, t, b
    cdef uint64_t random = seed
    cdef const uint16_t* v = NULL
    if n == 0:
        return
    cdef const element_t* to = &neighbours[0] if neighbours.shape[0] else NULL
    cdef const int16_t* w = &couplings[0] if couplings.shape[0] else NULL
    with nogil:
        for t in range(heats.shape[0]):
            b = 0
            while b < n and not stopping.poll(INFINITY):
                v = &variates[random_below(&random, places)]
                sweep_lanes(b, min(b + GP_STRIDE, n), &starts[0], to, w, &fields[0], &spins[0, 0], v, heats[t])
                b += GP_STRIDE
            if b < n:
                break
