cdef class Stopping:
    cdef readonly double started          # monotonic clock, seconds; of the whole run
    cdef readonly double deadline         # the same clock, its own, not that of its parents; inf without a time limit
    cdef readonly double target
    cdef readonly double plus             # cost of the parts that a child does not know; inf if its costs do not count
    cdef readonly double incumbent        # the least cost so far, of the whole problem; the root's
    cdef readonly double bound            # the largest lower bound so far, of the whole problem; the root's
    cdef readonly long long max_iterations
    cdef readonly object callback
    cdef readonly list history
    cdef readonly list bounds
    cdef readonly Stopping parent         # None for the root
    cdef object pending                   # an exception that the callback raised
    cdef public long long iterations
    cdef unsigned long thread             # the thread of the root, which serves signals and the callback
    cdef long countdown, quiet            # polls that only count down: left until the next look, and between two looks
    cdef double looked                    # when the clock was last looked at,
    cdef double patience, began           # seconds of patience if it has any, and when they began
    cdef double took, worked              # seconds that the process worked since, and that this run did
    cdef double served                    # when signals and the callback were last served
    cdef int why                          # the reason to end, as a number; 0 while the run may go on

    cdef bint end(self, int why) noexcept nogil
    cdef bint look(self, double cost) noexcept nogil
    cdef void serve(self, double time, double cost) noexcept nogil

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
