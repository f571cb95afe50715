# The temperature of simulated annealing at which a given number of moves is expected to be accepted.
from libc.math cimport exp, sqrt


cdef inline double temperature_for(const double* deltas, Py_ssize_t count, double wanted) noexcept nogil:
    """Solve  sum of exp(-deltas[k] / temperature) = wanted  for positive deltas, to 2%, by bisection of the logarithm."""
    cdef double low, high = 1e-290, middle, sum
    cdef Py_ssize_t k
    for k in range(count):
        high = max(high, deltas[k])
    low = 1e-6 * high
    high *= 1e3
    while high > 1.02 * low:
        middle = sqrt(low) * sqrt(high)      # the product itself may overflow
        sum = 0.0
        for k in range(count):
            sum += exp(-deltas[k] / middle)
        if sum < wanted:
            low = middle
        else:
            high = middle
    return low
