# Shared by dense and sparse forms: the sweeps of annealing, and the choice of the next flip in tabu search.
from libc.math cimport INFINITY
from libc.stdint cimport INT32_MAX, INT64_MAX, int8_t, int32_t, int64_t, uint64_t
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
    #define GP_BLOCK 32   /* variables of which the least gain is kept */
    #define GP_SPREAD 10  /* moves of tabu search: how much the time that a variable is tabu varies */

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
        GP_BLOCK
        GP_SPREAD
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


cdef inline Py_ssize_t next_flip(
    Py_ssize_t n,
    const gain_t* gains,
    const gain_t* least_free,  # of each block, among variables that are not tabu; the largest number if there is none
    const gain_t* least,  # of each block
    const int32_t* until,  # variables are tabu for moves before
    int32_t now,
    int64_t reach,  # a tabu variable may flip if its gain is below this
    uint64_t* random,
) noexcept nogil:
    # The variable of least gain; of several, the first one from a random place on. -1 if all are tabu.
    cdef Py_ssize_t blocks = (n + GP_BLOCK - 1) // GP_BLOCK, b, i, j, turn, count
    cdef gain_t most, chosen, any_least
    cdef bint aspire
    if gain_t is int32_t:
        most = INT32_MAX
    else:
        most = INT64_MAX
    chosen = any_least = most
    for b in range(blocks):
        if least_free[b] < chosen:
            chosen = least_free[b]
        if least[b] < any_least:
            any_least = least[b]
    aspire = any_least < chosen and any_least < reach
    if aspire:
        chosen = any_least
    elif chosen == most:
        return -1
    i = 0
    turn = <Py_ssize_t>random_below(random, blocks)
    for b in range(blocks):
        i = b + turn - (blocks if b + turn >= blocks else 0)
        if (least[i] if aspire else least_free[i]) == chosen:
            break
    b = i * GP_BLOCK
    count = min(<Py_ssize_t>GP_BLOCK, n - b)
    turn = <Py_ssize_t>random_below(random, count)
    for j in range(count):
        i = b + j + turn - (count if j + turn >= count else 0)
        if gains[i] == chosen and (aspire or until[i] <= now):
            return i
    return -1
