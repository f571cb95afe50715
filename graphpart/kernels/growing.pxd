# Arrays that grow: memory from `malloc` or `realloc`, to be freed by its owner. NULL with room 0 is an empty array.
from libc.stdlib cimport realloc


cdef inline bint extend(void** array, Py_ssize_t* room, Py_ssize_t needed, size_t width) noexcept nogil:
    """Make room for `needed` items and half as many more; False if there is no memory."""
    cdef Py_ssize_t more = needed + (needed >> 1) + 16
    cdef void* larger = realloc(array[0], more * width)
    if larger == NULL:
        return False
    array[0], room[0] = larger, more
    return True


cdef inline bint grow(void** array, Py_ssize_t* room, Py_ssize_t needed, size_t width) noexcept nogil:
    """Make room for `needed` items in all, such that appending takes O(1) on average.

    False if there is no memory; the array is then unchanged.
    """
    return needed <= room[0] or extend(array, room, needed, width)


cdef inline int reserve(void** array, Py_ssize_t* room, Py_ssize_t needed, size_t width) except -1:
    """The same where an exception can be raised: MemoryError."""
    if not grow(array, room, needed, width):
        raise MemoryError
    return 0
