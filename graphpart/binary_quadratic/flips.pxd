# Shared by dense and sparse forms: the sweeps of annealing.
from libc.math cimport INFINITY
from libc.stdint cimport int8_t, int32_t, int64_t, uint64_t
from libc.string cimport memcpy

from graphpart.kernels.clones cimport GP_CLONED  # and its macros
from graphpart.kernels.random cimport random_below
from graphpart.stopping cimport Stopping

ctypedef fused gain_t:
    int32_t
    int64_t

ctypedef void (*flip_t)(void* form, Py_ssize_t k) noexcept nogil  # flips variable k, and changes all gains accordingly

cdef extern from *:
    """
    #define GP_FLIPS 16   /* variables looked at together when annealing */

    /* Whether a block has a variable that flips; thresholds stay below 2**31. */
    GP_CLONES
    static int32_t gp_any_flips(const int32_t *GP_RESTRICT gain, const float *GP_RESTRICT variates, float heat) {
        int32_t any = 0, k;
        for (k = 0; k < GP_FLIPS; k++) any |= gain[k] <= (int32_t)(heat * variates[k]);
        return any;
    }
    """
    int32_t any_flips "gp_any_flips" (const int32_t* gain, const float* variates, float heat) noexcept nogil
    enum:
        GP_FLIPS
        HOTTEST "(1 << 27)"  # variates stay below 2**4


cdef inline int64_t sweeps_of(
    Py_ssize_t n,
    gain_t* d,
    int8_t* s,
    int8_t* found,
    int64_t energy,
    const double[::1] temperatures,
    const float[::1] variates,
    uint64_t random,
    Py_ssize_t look,  # number of variables, a power of 2, between two polls of `stopping`
    flip_t flip,
    void* form,
    Stopping stopping,
) noexcept nogil:
    # One sweep at each temperature, then a descent. s becomes the best spins found, the start included; returns their
    # energy.
    cdef Py_ssize_t i, b, k, t
    cdef uint64_t mask = variates.shape[0] - GP_FLIPS, at = 0
    cdef const float* v = &variates[0]
    cdef int64_t best = energy
    cdef gain_t threshold
    cdef float heat
    cdef double warm
    cdef bint ended = False, moved
    memcpy(found, s, n)
    for t in range(temperatures.shape[0]):
        warm = temperatures[t]
        heat = <float>(warm if warm < HOTTEST else HOTTEST)
        for i in range((n + GP_FLIPS - 1) // GP_FLIPS):
            b = i * GP_FLIPS
            if b % 4096 == 0:
                at = random_below(&random, variates.shape[0])
            if not b & (look - 1) and stopping.poll(INFINITY):
                ended = True
                break
            at = (at + GP_FLIPS) & mask
            if gain_t is int32_t:
                if b + GP_FLIPS <= n and not any_flips(d + b, v + at, heat):
                    continue
            for k in range(b, min(b + GP_FLIPS, n)):
                if gain_t is int32_t:
                    threshold = <gain_t>(heat * v[at + k - b])
                else:
                    threshold = <gain_t>(warm * v[at + k - b])
                if d[k] <= threshold:
                    energy += d[k]
                    flip(form, k)
        if ended:
            break
        if energy < best:
            best = energy
            memcpy(found, s, n)
    moved = not ended
    while moved:
        moved = False
        for k in range(n):
            if d[k] < 0:
                energy += d[k]
                flip(form, k)
                moved = True
        if stopping.poll(INFINITY):
            break
    if energy < best:
        return energy
    memcpy(s, found, n)
    return best
