# Telling the processor what will be read soon; nothing where the compiler knows no such instruction.
cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define GRAPHPART_PREFETCH(p) __builtin_prefetch(p)
    #else
    #define GRAPHPART_PREFETCH(p)
    #endif
    """
    void prefetch "GRAPHPART_PREFETCH" (const void*) noexcept nogil
