"""The threads of the BLAS, which NumPy and SciPy call for matrices."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

__all__ = ["one_thread"]


def one_thread() -> AbstractContextManager[object]:
    """The BLAS in one thread, where threadpoolctl is installed, as it is with scikit-learn.

    On vectors and matrices with few hundred rows its threads gain little; on a busy machine, where they wait for each
    other, they cost many times the arithmetic. Takes half a millisecond.
    """
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return nullcontext()
    limits: AbstractContextManager[object] = threadpool_limits(limits=1)
    return limits
