# Tables of pairs: which are structured, and which are equal.
from libc.math cimport INFINITY, fabs
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from graphpart.crf.bounds._visits cimport GP_ANTI_POTTS, GP_GENERAL, GP_LINEAR, GP_POTTS
from graphpart.kernels.types cimport element_t, offset_t

cdef enum:
    SHORTEST_LINEAR = 6             # from this number of labels on, two passes are faster than the whole table


cdef inline int recognise(const double* t, element_t rows, element_t columns, double* same,
                          double* other) noexcept nogil:
    """The kind of a table. Potts: one value on the diagonal, one off it. Linear: least + min(slope * |x - y|, most)."""
    cdef offset_t d = rows, i, j, k
    cdef double slope, most, largest
    if rows != columns or rows < 2:
        return GP_GENERAL
    same[0], other[0] = t[0], t[1]
    # mostly decided by the first two rows
    for j in range(2, d):
        if t[j] != t[1]:
            break
    else:
        for i in range(1, d):
            for j in range(d):
                if t[i * d + j] != (t[0] if i == j else t[1]):
                    return GP_GENERAL
        return GP_POTTS if t[1] >= t[0] else GP_ANTI_POTTS
    if d < SHORTEST_LINEAR or not t[1] >= t[0] or t[d - 1] == INFINITY or t[d] != t[1]:
        return GP_GENERAL
    slope, most = t[1] - t[0], t[d - 1] - t[0]
    largest = fabs(t[0]) + fabs(t[d - 1])
    for j in range(2, d):
        if fabs(t[j] - t[0] - min(slope * j, most)) > 2.0**-46 * largest:
            return GP_GENERAL
    for i in range(1, d):
        for j in range(d):
            k = i - j if i > j else j - i
            if t[i * d + j] != t[k]:
                return GP_GENERAL
    other[0] = slope
    return GP_LINEAR


cdef inline uint64_t hash_of(const double* t, offset_t size) noexcept nogil:
    cdef uint64_t h = <uint64_t>size, word
    cdef offset_t i
    for i in range(size):
        memcpy(&word, &t[i], 8)
        h = (h ^ word) * <uint64_t>0x9E3779B97F4A7C15
        h ^= h >> 29
    return h
