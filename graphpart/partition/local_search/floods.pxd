# Polls between the floods of kernels/connected.pxd, which take long in large subsets.
from graphpart.kernels.connected cimport Base
from graphpart.stopping cimport Stopping


cdef inline bint base_poll(Base* s, Stopping stopping, double cost) noexcept nogil:
    """True once the run has to end. After long floods, look at the clock even if polls were frequent before."""
    if s.work > 1 << 18:
        s.work = 0
        stopping.countdown = 0
    return stopping.poll(cost)
