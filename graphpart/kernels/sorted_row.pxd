# Binary search in a row of ascending elements.
from graphpart.kernels.types cimport element_t, offset_t


cdef inline offset_t first_not_below(const element_t* row, offset_t low, offset_t high, element_t x) noexcept nogil:
    """Position, from low to high, of the first entry that is not below x."""
    cdef offset_t middle
    while low < high:
        middle = (low + high) >> 1
        if row[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low
