# Arrays that grow: memory from `malloc` or `realloc`, to be freed by whoever has it.
from libc.stdlib cimport realloc


cdef inline bint grow(void** array, Py_ssize_t* room, Py_ssize_t needed, size_t width) noexcept nogil:
    """Make room for `needed` items in all, and for half as many more, so that appending takes O(1) on average.

    NULL with room 0 is an array without items. False if there is no memory: then all is as before. `realloc` moves large
    arrays by their page table: nothing is copied, and pages not yet written take no memory.
    """
    cdef Py_ssize_t more
    cdef void* larger
    if needed <= room[0]:
        return True
    more = needed + (needed >> 1) + 16
    larger = realloc(array[0], more * width)
    if larger == NULL:
        return False
    array[0], room[0] = larger, more
    return True


cdef inline int reserve(void** array, Py_ssize_t* room, Py_ssize_t needed, size_t width) except -1:
    """The same where an exception can be raised: MemoryError."""
    if not grow(array, room, needed, width):
        raise MemoryError
    return 0
