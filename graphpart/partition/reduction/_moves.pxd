# Weighted means of three moves of a pair: a to the subset of b, b to the subset of a, both to a new subset. Weights are
# eighths, so that sums of them are exact. The statement is in `persistency.py`.

from libc.math cimport INFINITY

from graphpart.partition.reduction._criteria cimport EDGE, NEIGHBOURHOOD, PAIR, TRIANGLE

cdef extern from *:
    """
    #define GP_MOVES 8
    static const double gp_to_b[GP_MOVES] = {1, 0, 0.5, 0, 0.5, 0, 0.25, 0.375};
    static const double gp_to_a[GP_MOVES] = {0, 1, 0.5, 0, 0, 0.5, 0.25, 0.375};
    static const double gp_pair_out[GP_MOVES] = {0, 0, 0, 1, 0.5, 0.5, 0.5, 0.25};
    """
    const double* TO_B "gp_to_b"
    const double* TO_A "gp_to_a"
    const double* PAIR_OUT "gp_pair_out"

cdef enum:
    MOVES = 8


cdef inline int name_of_move(int l) noexcept nogil:
    """The criterion that move number l stands for."""
    return EDGE if l < 2 else PAIR if l == 3 else NEIGHBOURHOOD


cdef inline double most_lost(double x, double y, int l) noexcept nogil:
    """The largest loss of moves number l at an element with costs x to a and y to b, which is with a, b, or neither."""
    cdef double worst = 0.0, loss
    if x < INFINITY and not (y == INFINITY and TO_A[l] > 0):
        loss = (TO_A[l] * y if TO_A[l] > 0 else 0.0) - (TO_B[l] + PAIR_OUT[l]) * x
        worst = loss if loss > worst else worst
    if y < INFINITY and not (x == INFINITY and TO_B[l] > 0):
        loss = (TO_B[l] * x if TO_B[l] > 0 else 0.0) - (TO_A[l] + PAIR_OUT[l]) * y
        worst = loss if loss > worst else worst
    return worst


cdef inline int judge_third(
    const double* sums, Py_ssize_t common, const double* to_a, const double* to_b, double room
) noexcept nogil:
    """TRIANGLE if, for some common neighbour, some mean loses nothing in each of three cases; else 0.

    The cases are: the neighbour is with a, with b, or elsewhere. `sums` are the largest losses of each mean over all
    elements, `room` is the largest allowed loss.
    """
    cdef bint with_a, with_b, elsewhere
    cdef double x, y, worst
    cdef Py_ssize_t j
    cdef int l
    for j in range(common):
        x, y = to_a[j], to_b[j]
        with_a, with_b, elsewhere = x == INFINITY, y == INFINITY, False
        for l in range(MOVES):
            if sums[l] == INFINITY:
                continue
            worst = sums[l] - most_lost(x, y, l)
            elsewhere |= worst <= room
            if x < INFINITY:
                with_a |= worst - (TO_B[l] + PAIR_OUT[l]) * x + (TO_A[l] * y if TO_A[l] else 0.0) <= room
            if y < INFINITY:
                with_b |= worst - (TO_A[l] + PAIR_OUT[l]) * y + (TO_B[l] * x if TO_B[l] else 0.0) <= room
        if with_a and with_b and elsewhere:
            return TRIANGLE
    return 0
