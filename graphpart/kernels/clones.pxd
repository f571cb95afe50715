# GP_CLONES before a C function: compile another version for processors with wider registers. The loader chooses.
# GP_RESTRICT at a pointer: no other pointer of the function refers to the same memory.
cdef extern from *:
    """
    #if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__)
    #define GP_CLONES __attribute__((target_clones("avx2", "default")))
    #define GP_CLONED 1
    #else
    #define GP_CLONES
    #define GP_CLONED 0
    #endif
    #if defined(__GNUC__) || defined(_MSC_VER)
    #define GP_RESTRICT __restrict
    #else
    #define GP_RESTRICT restrict
    #endif
    """
    enum: GP_CLONED
