cdef class Stopping:
    cdef readonly double started          # monotonic clock, seconds
    cdef readonly double deadline         # the same clock; inf without a time limit
    cdef readonly double target
    cdef readonly long long max_iterations
    cdef readonly object callback
    cdef readonly list history
    cdef readonly object reason           # a Status, or None while the run may go on
    cdef object pending                   # an exception that the callback raised
    cdef public long long iterations
    cdef long countdown
    cdef double looked                    # when signals and the callback were last served
    cdef bint stopped

    cdef bint look(self, double cost) noexcept nogil

    # True once the run has to end. Cheap enough for an inner loop: most calls only count down.
    cdef inline bint poll(self, double cost) noexcept nogil:
        if self.countdown > 0:
            self.countdown -= 1
            return False
        return self.look(cost)

    # Count one iteration; True once the run has to end.
    cdef inline bint tick(self, double cost) noexcept nogil:
        self.iterations += 1
        if self.iterations >= self.max_iterations or cost <= self.target:
            self.countdown = 0
        return self.poll(cost)
