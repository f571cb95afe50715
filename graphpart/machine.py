"""The memory and the processors of this machine, on each operating system."""

from __future__ import annotations

import contextlib
import os
import sys

__all__ = ["forget_peak", "memory", "peak", "processors"]


def memory() -> int:
    """Bytes of physical memory; ``sys.maxsize`` if the system does not report it.

    Examples
    --------
    >>> memory() > 2**20
    True
    """
    if sys.platform == "win32":
        import ctypes

        status = (ctypes.c_uint64 * 8)(64)  # MEMORYSTATUSEX: two numbers of 32 bits, its size first, then seven of 64
        known = ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))
        return int(status[1]) if known else sys.maxsize
    try:
        pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # no such function, no such name, no answer
        return sys.maxsize
    return pages * size if pages > 0 and size > 0 else sys.maxsize


def processors() -> int:
    """The number of processors that this process may use.

    Examples
    --------
    >>> processors() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def peak() -> int:
    """The largest memory of this process so far, in bytes; 0 where the system does not tell.

    Examples
    --------
    >>> peak() >= 0
    True
    """
    try:
        with open("/proc/self/status", "rb") as stream:
            return int(stream.read().split(b"VmHWM:")[1].split()[0]) << 10
    except (OSError, IndexError):
        pass
    try:
        import resource
    except ImportError:  # Windows
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def forget_peak() -> None:
    """Let `peak` begin anew with what is in use now, where the system can."""
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w") as stream:
        stream.write("5")
