# A sum with the rounding error of each addition carried along (Neumaier 1974): exact to the last digits also if huge
# and tiny numbers are added.
from libc.math cimport fabs, isfinite


cdef struct Sum:
    double total
    double error


cdef inline void add(Sum* s, double x) noexcept nogil:
    cdef double t = s.total + x
    if fabs(s.total) >= fabs(x):
        s.error += (s.total - t) + x
    else:
        s.error += (x - t) + s.total
    s.total = t


cdef inline double value(Sum* s) noexcept nogil:
    # An infinite total has a NaN error term.
    return s.total + s.error if isfinite(s.total) else s.total
