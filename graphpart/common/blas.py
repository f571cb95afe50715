"""The threads of the BLAS, which NumPy and SciPy call for matrices."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

__all__ = ["one_thread"]


def one_thread() -> AbstractContextManager[object]:
    """The BLAS in one thread, where threadpoolctl is installed, as it is with scikit-learn.

    On vectors and matrices with few hundred rows, threads gain little. On a busy machine, where threads wait for each
    other, they take many times as long as the arithmetic. Entering the context takes half a millisecond.
    """
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return nullcontext()
    limits: AbstractContextManager[object] = threadpool_limits(limits=1)
    return limits
