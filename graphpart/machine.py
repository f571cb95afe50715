"""The memory and the processors of this machine, on each operating system."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar, cast

from graphpart.errors import InvalidOption

__all__ = [
    "CHUNK", "can_limit", "forget_peak", "give_back", "limited", "memory", "peak", "processors", "scarce",
    "side_by_side",
]  # fmt: skip

T = TypeVar("T")

CHUNK = 2**22  # numbers held at a time, where a whole array would be too large: 32 MB
STACK = 2**24  # bytes, more than a thread needs to start


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
    """The number of threads to use: ``GRAPHPART_THREADS`` of the environment, or all processors of this process.

    In a process or thread that another one has started, as workers of joblib and Dask are, the default is 1.

    Examples
    --------
    >>> processors() >= 1
    True
    """
    given = os.environ.get("GRAPHPART_THREADS", "")
    if given:
        if not given.isdecimal() or not int(given):
            raise InvalidOption(f"GRAPHPART_THREADS is {given!r}: expected a whole number of at least 1")
        return int(given)
    started = sys.modules.get("multiprocessing.process")
    if threading.current_thread() is not threading.main_thread() or (started and started.parent_process()):
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def side_by_side(*calls: Callable[[], T], worth: bool = True) -> list[T]:
    """What functions return, called at once in threads if there are as many processors, else one after the other.

    To start a thread takes about 0.1 ms; `worth` says whether the calls take far longer.

    Examples
    --------
    >>> side_by_side(lambda: 1, lambda: 2)
    [1, 2]
    """
    if not worth or len(calls) < 2 or processors() < len(calls):
        return [call() for call in calls]
    found: list[T | None] = [None] * len(calls)
    failed: list[BaseException] = []

    def call(k: int) -> None:
        try:
            found[k] = calls[k]()
        except BaseException as error:  # raised again below
            failed.append(error)

    others = [threading.Thread(target=call, args=(k,)) for k in range(1, len(calls))]  # a pool starts more slowly
    for other in others:
        other.start()
    call(0)
    for other in others:
        other.join()
    if failed:
        raise failed[0]
    return cast("list[T]", found)


def peak() -> int:
    """The largest memory of this process so far, in bytes; 0 if the system does not report it.

    Examples
    --------
    >>> peak() >= 0
    True
    """
    with contextlib.suppress(OSError, IndexError):
        return _status(b"VmHWM")
    try:
        import resource
    except ImportError:  # Windows
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def forget_peak() -> None:
    """Reset `peak` to the memory in use now, if the system can."""
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w") as stream:
        stream.write("5")


def give_back() -> None:
    """Give freed memory back to the system, of which Arrow and the C library of Linux keep much.

    Examples
    --------
    >>> give_back()
    """
    if (arrow := sys.modules.get("pyarrow")) is not None:
        arrow.default_memory_pool().release_unused()
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)


def can_limit() -> bool:
    """Whether `limited` can limit the memory of a process: on Linux, if it states what a process has allocated."""
    try:
        return sys.platform == "linux" and _status(b"VmData") + _status(b"RssAnon") > 0
    except (OSError, IndexError):  # other systems that run programs of Linux do not state all
        return False


@contextlib.contextmanager
def limited(size: int) -> Iterator[None]:
    """Let an allocation raise MemoryError if this process would then use more than `size` bytes.

    Mapped files do not count, since the system drops their pages when it needs the memory. Allocated memory counts,
    also before it is used. A lower limit that the process has already stays. Has no effect where `can_limit` is false,
    or with a size of 0.

    Examples
    --------
    >>> with limited(0):
    ...     pass
    """
    if not size or not can_limit():
        yield
        return
    import resource

    before, hard = resource.getrlimit(resource.RLIMIT_DATA)
    unused = _status(b"VmData") - _status(b"RssAnon")  # stacks of threads, for example
    limits = [size + max(0, unused), *(limit for limit in (before, hard) if limit != resource.RLIM_INFINITY)]
    resource.setrlimit(resource.RLIMIT_DATA, (min(limits), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, hard))


def scarce() -> bool:
    """Whether the limit of memory leaves less than STACK bytes: allocations may fail, and threads do not start.

    Libraries report this by errors of various types.

    Examples
    --------
    >>> with limited(1):
    ...     scarce() is can_limit()
    True
    """
    if not can_limit():
        return False
    import resource

    limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
    return limit != resource.RLIM_INFINITY and limit - _status(b"VmData") < STACK


def _status(name: bytes) -> int:
    """A number of bytes that Linux states of this process."""
    with open("/proc/self/status", "rb") as stream:
        return int(stream.read().split(name + b":")[1].split()[0]) << 10
