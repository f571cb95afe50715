# Prefetch memory that will be read soon; without effect if the compiler has no such instruction.
cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define GRAPHPART_PREFETCH(p) __builtin_prefetch(p)
    #else
    #define GRAPHPART_PREFETCH(p)
    #endif
    """
    void prefetch "GRAPHPART_PREFETCH" (const void*) noexcept nogil


# Request large pages for memory that was not yet written: fewer page faults, fewer misses of the address cache.
cdef extern from *:
    """
    #if defined(__linux__)
    #include <stdint.h>
    #include <sys/mman.h>
    #endif
    CYTHON_UNUSED static CYTHON_INLINE void graphpart_large_pages(void *p, size_t bytes) {
    #if defined(__linux__) && defined(MADV_HUGEPAGE)
        uintptr_t begin = ((uintptr_t)p + 4095) & ~(uintptr_t)4095;
        if ((uintptr_t)p + bytes >= begin + ((size_t)1 << 22))
            (void)madvise((void *)begin, (uintptr_t)p + bytes - begin, MADV_HUGEPAGE);
    #else
        (void)p;
        (void)bytes;
    #endif
    }
    """
    void large_pages "graphpart_large_pages" (void*, size_t) noexcept nogil


# A flag that one thread sets after it has written something, and others look at before they read that.
cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define GRAPHPART_PUBLISH(p) __atomic_store_n((p), 1, __ATOMIC_RELEASE)
    #define GRAPHPART_PUBLISHED(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
    #else
    #define GRAPHPART_PUBLISH(p) (*(volatile char *)(p) = 1)
    #define GRAPHPART_PUBLISHED(p) (*(const volatile char *)(p))
    #endif
    """
    void publish "GRAPHPART_PUBLISH" (char*) noexcept nogil
    bint published "GRAPHPART_PUBLISHED" (const char*) noexcept nogil
