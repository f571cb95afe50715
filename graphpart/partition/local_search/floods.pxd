# Polls between steps of very different lengths, such as the floods of kernels/connected.pxd and chains around hubs.
from graphpart.kernels.connected cimport Base
from graphpart.stopping cimport Stopping


cdef inline bint base_poll(Base* s, Stopping stopping, double cost) noexcept nogil:
    """True once the run has to end. After much work, look at the clock even if polls were frequent before."""
    if s.work > 1 << 18:
        s.work = 0
        stopping.countdown = 0
    return stopping.poll(cost)
