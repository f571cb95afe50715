# The seconds of a monotonic clock.
cdef extern from *:
    """
    #if defined(_WIN32)
    #ifndef WIN32_LEAN_AND_MEAN
    #define WIN32_LEAN_AND_MEAN
    #endif
    #ifndef NOMINMAX
    #define NOMINMAX
    #endif
    #include <windows.h>
    CYTHON_UNUSED static double gp_seconds(void) {
        LARGE_INTEGER count, each_second;
        QueryPerformanceFrequency(&each_second);
        QueryPerformanceCounter(&count);
        return (double)count.QuadPart / (double)each_second.QuadPart;
    }
    #else
    #include <time.h>
    CYTHON_UNUSED static double gp_seconds(void) {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    }
    #endif
    """
    double seconds "gp_seconds" () noexcept nogil
