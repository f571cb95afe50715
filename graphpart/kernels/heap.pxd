# Heaps with four children at each place: arrays of records of which the first comes before all others.
#
# The caller keeps the array and the number of its records. A `Heap` names the function that compares two records. The
# order must have no ties if results must not depend on the history of the heap. The functions are in C because they
# must be inlined: the compiler then knows the comparison and the width of the records, and the code is as fast as code
# that is written for these records. Each function takes O(log size) steps.
from graphpart.kernels.types cimport element_t

cdef extern from *:
    """
    #include <string.h>

    #if defined(__GNUC__)
    #define GP_INLINED static __inline__ __attribute__((always_inline, unused))
    #elif defined(_MSC_VER)
    #define GP_INLINED static __forceinline
    #else
    #define GP_INLINED CYTHON_UNUSED static CYTHON_INLINE
    #endif

    typedef struct {
        void *records;
        Py_ssize_t size;
        size_t width;
        int (*before)(void *, const void *, const void *);
        void (*moved)(void *, const void *, Py_ssize_t);
        void *context;
    } gp_heap;

    GP_INLINED char *gp_heap_at(gp_heap h, Py_ssize_t at) { return (char *)h.records + (size_t)at * h.width; }

    GP_INLINED void gp_heap_put(gp_heap h, Py_ssize_t at, const void *record) {
        memcpy(gp_heap_at(h, at), record, h.width);
        if (h.moved) h.moved(h.context, record, at);
    }

    GP_INLINED void gp_heap_rise(gp_heap h, Py_ssize_t at, const void *record) {
        while (at > 0) {
            const Py_ssize_t above = (at - 1) >> 2;
            if (!h.before(h.context, record, gp_heap_at(h, above))) break;
            gp_heap_put(h, at, gp_heap_at(h, above));
            at = above;
        }
        gp_heap_put(h, at, record);
    }

    GP_INLINED void gp_heap_sink(gp_heap h, Py_ssize_t at, const void *record) {
        for (;;) {
            const Py_ssize_t below = 4 * at + 1, end = below + 4 < h.size ? below + 4 : h.size;
            Py_ssize_t first = below, k;
            if (below >= h.size) break;
            for (k = below + 1; k < end; k++)
                if (h.before(h.context, gp_heap_at(h, k), gp_heap_at(h, first))) first = k;
            if (!h.before(h.context, gp_heap_at(h, first), record)) break;
            gp_heap_put(h, at, gp_heap_at(h, first));
            at = first;
        }
        gp_heap_put(h, at, record);
    }

    GP_INLINED void gp_heap_settle(gp_heap h, Py_ssize_t at, const void *record) {
        if (at > 0 && h.before(h.context, record, gp_heap_at(h, (at - 1) >> 2))) gp_heap_rise(h, at, record);
        else gp_heap_sink(h, at, record);
    }
    """
    ctypedef struct Heap "gp_heap":
        void* records
        Py_ssize_t size
        size_t width            # bytes of a record
        bint (*before)(void* context, const void* one, const void* other) noexcept nogil
        void (*moved)(void* context, const void* record, Py_ssize_t at) noexcept nogil  # for each new place; or NULL
        void* context
    # Put a record, which must not be part of the array, into the free place `at` or a place above it; below it; either.
    void heap_rise "gp_heap_rise" (Heap h, Py_ssize_t at, const void* record) noexcept nogil
    void heap_sink "gp_heap_sink" (Heap h, Py_ssize_t at, const void* record) noexcept nogil
    void heap_settle "gp_heap_settle" (Heap h, Py_ssize_t at, const void* record) noexcept nogil


# ------------------------------------------------------------------------------------------ elements with numbers as keys

cdef struct Keyed:
    double key
    element_t element

cdef struct Nearest:
    # Elements with their keys, the least key first and of equal keys the least element; arrays with room for all.
    Keyed* first
    element_t* place            # of each element, -1 if it is not in the heap
    Py_ssize_t size


cdef inline bint nearer(void* context, const void* one, const void* other) noexcept nogil:
    cdef const Keyed* a = <const Keyed*>one
    cdef const Keyed* b = <const Keyed*>other
    return a.key < b.key or (a.key == b.key and a.element < b.element)


cdef inline void note_place(void* context, const void* record, Py_ssize_t at) noexcept nogil:
    (<Nearest*>context).place[(<const Keyed*>record).element] = <element_t>at


cdef inline Heap heap_of_nearest(Nearest* n) noexcept nogil:
    return Heap(n.first, n.size, sizeof(Keyed), nearer, note_place, n)


cdef inline void nearest_offer(Nearest* n, double key, element_t element) noexcept nogil:
    """Insert an element, or lower its key."""
    cdef Keyed record = Keyed(key, element)
    cdef Py_ssize_t at = n.place[element]
    if at < 0:
        at = n.size
        n.size += 1
    heap_rise(heap_of_nearest(n), at, &record)


cdef inline element_t nearest_pop(Nearest* n) noexcept nogil:
    """Remove and return the first element of a heap that is not empty."""
    cdef element_t element = n.first.element
    cdef Keyed last
    n.place[element] = -1
    n.size -= 1
    if n.size:
        last = n.first[n.size]
        heap_sink(heap_of_nearest(n), 0, &last)
    return element
