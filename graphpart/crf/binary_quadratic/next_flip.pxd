# The next flip of one-flip tabu search, for dense and sparse forms alike.
from libc.stdint cimport INT32_MAX, INT64_MAX, int32_t, int64_t, uint64_t

from graphpart.kernels.random cimport random_below

ctypedef fused gain_t:
    int32_t
    int64_t


cdef inline Py_ssize_t next_flip(
    Py_ssize_t n,
    Py_ssize_t size,  # of a block
    const gain_t* gains,
    const gain_t* least_free,  # of each block, among variables that are not tabu; the largest number if there is none
    const gain_t* least,  # of each block
    const int32_t* until,  # variables are tabu for moves before
    int32_t now,
    bint aspiring,  # whether a tabu variable may flip,
    int64_t reach,  # if its gain is below this
    uint64_t* random,
) noexcept nogil:
    # The variable of least gain; of several, the first one from a random place on. -1 if all are tabu.
    cdef Py_ssize_t blocks = (n + size - 1) // size, b, i, j, turn, count
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
    aspire = aspiring and any_least < chosen and any_least < reach
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
    b = i * size
    count = min(size, n - b)
    turn = <Py_ssize_t>random_below(random, count)
    for j in range(count):
        i = b + j + turn - (count if j + turn >= count else 0)
        if gains[i] == chosen and (aspire or until[i] <= now):
            return i
    return -1
