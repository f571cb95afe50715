"""One protocol by which every long run ends early: time, iterations, target, Ctrl-C.

An algorithm receives one :class:`Stopping`, calls `step` once per iteration (and `check` inside long iterations), ends
in good order as soon as either says so, and returns the best it has; `Stopping.reason` then says why. A kernel calls
the C methods `tick` and `poll` instead, without holding the GIL; about every 50 ms they take the GIL to serve signals
and the callback.
"""

from libc.math cimport INFINITY
from cpython.exc cimport PyErr_CheckSignals

import functools
import math
import signal
import threading
from dataclasses import replace

from graphpart.errors import InvalidOption
from graphpart.kernels.clock cimport seconds as now
from graphpart.result import Result, Status

cdef bint interrupted = False  # Ctrl-C came while an interruptible method ran

cdef double SERVICE = 0.05     # seconds between two looks at signals and callback
cdef long QUIET = 256          # polls that only count


cdef class Stopping:
    """When to end a run early, and the record of its costs.

    Parameters
    ----------
    time_limit : float, optional
        Seconds from the creation of this object.
    max_iterations : int, optional
        Iterations, as the method counts them.
    target : float, optional
        End as soon as the cost is at most this.
    callback : callable, optional
        ``callback(seconds, cost)``, called about every 50 ms and after every recorded cost; a true return value
        ends the run, an exception ends it and is raised to the caller.

    Raises
    ------
    InvalidOption
        If a limit is negative or not a number.

    Examples
    --------
    >>> stopping = Stopping(max_iterations=2)
    >>> stopping.step(5.0), stopping.step(3.0), str(stopping.reason)
    (False, True, 'iteration_limit')
    """

    def __init__(self, time_limit=None, max_iterations=None, target=None, callback=None):
        self.started = now()
        self.deadline = INFINITY
        if time_limit is not None:
            self.deadline = self.started + _limit("time_limit", time_limit)
        self.max_iterations = 2**62
        if max_iterations is not None:
            self.max_iterations = min(2**62, <object>_whole("max_iterations", max_iterations))
        self.target = -INFINITY
        if target is not None:
            self.target = _number("target", target)
        if callback is not None and not callable(callback):
            raise InvalidOption(f"callback is {callback!r}: expected a callable taking (seconds, cost)")
        self.callback = callback
        self.history = []
        self.reason = None
        self.pending = None
        self.iterations = 0
        self.countdown = 0
        self.looked = self.started
        self.stopped = False

    @property
    def seconds(self):
        """Seconds since this object was created."""
        return now() - self.started

    @property
    def remaining(self):
        """Seconds left, or None without a time limit; never negative."""
        return None if self.deadline == INFINITY else max(0.0, self.deadline - now())

    def record(self, double cost):
        """Append (seconds, cost) to the history and tell the callback."""
        cdef double seconds = now() - self.started
        self.history.append((seconds, cost))
        if self.callback is not None:
            self._call(seconds, cost)
        if cost <= self.target:
            self.stop(Status.TARGET)

    def check(self, double cost):
        """True once the run has to end. For Python code: looks at clock, signals and limits at every call."""
        self.countdown = 0
        self.looked = -INFINITY
        cdef bint ended
        with nogil:
            ended = self.look(cost)
        return ended

    def step(self, double cost):
        """Count one iteration, then `check`."""
        self.iterations += 1
        return self.check(cost)

    def stop(self, reason):
        """End the run for a reason of the caller's; the first reason given stays."""
        if self.reason is None:
            self.reason = reason
        self.stopped = True
        self.countdown = 0

    def reraise(self):
        """Raise what the callback raised, if it did. Called once the kernel has ended in good order."""
        if self.pending is not None:
            error, self.pending = self.pending, None
            raise error

    cdef bint look(self, double cost) noexcept nogil:
        cdef double time
        if self.stopped:
            return True
        if interrupted:
            with gil:
                self.stop(Status.INTERRUPTED)
            return True
        self.countdown = QUIET
        if cost <= self.target or self.iterations >= self.max_iterations:
            with gil:
                self.stop(Status.TARGET if cost <= self.target else Status.ITERATION_LIMIT)
            return True
        time = now()
        if time >= self.deadline:
            with gil:
                self.stop(Status.TIME_LIMIT)
            return True
        if time - self.looked >= SERVICE:
            self.looked = time
            with gil:
                self._serve(time - self.started, cost)
        return self.stopped

    def _serve(self, double seconds, double cost):
        try:
            PyErr_CheckSignals()
        except KeyboardInterrupt:
            self.stop(Status.INTERRUPTED)
        if cost == INFINITY and self.history:    # a part that knows nothing of the whole
            cost = self.history[len(self.history) - 1][1]
        self.history.append((seconds, cost))
        if self.callback is not None:
            self._call(seconds, cost)

    def _call(self, double seconds, double cost):
        try:
            if self.callback(seconds, cost):
                self.stop(Status.INTERRUPTED)
        except KeyboardInterrupt:
            self.stop(Status.INTERRUPTED)
        except BaseException as error:  # raised again by reraise, outside the kernel
            self.pending = error
            self.stop(Status.INTERRUPTED)


def interruptible(method):
    """Let Ctrl-C end a method in good order wherever it is, so that it returns the best it has; the second one raises.

    While a method runs, the interrupt is noted instead of raised, and all `Stopping` objects see it. A handler that
    somebody else has installed stays in charge, and so does the outermost of nested methods.
    """

    @functools.wraps(method)
    def wrapped(*args, **options):
        global interrupted
        mine = threading.current_thread() is threading.main_thread()
        if not mine or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            return method(*args, **options)
        interrupted = False
        signal.signal(signal.SIGINT, _note_interrupt)
        try:
            result = method(*args, **options)
            if interrupted and isinstance(result, Result) and result.status is not Status.INTERRUPTED:
                # It had just ended by itself; whoever pressed Ctrl-C must learn that it was heard.
                result = replace(result, status=Status.INTERRUPTED, message=f"interrupted ({result.message})")
            return result
        finally:
            interrupted = False
            signal.signal(signal.SIGINT, signal.default_int_handler)

    return wrapped


def _note_interrupt(number, frame):
    global interrupted
    if interrupted:
        raise KeyboardInterrupt
    interrupted = True


def _number(name, value):
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        raise InvalidOption(f"{name} is {value!r}: expected a number")
    return number


def _limit(name, value):
    number = _number(name, value)
    if number < 0:
        raise InvalidOption(f"{name} is {value!r}: expected a number of at least 0")
    return number


def _whole(name, value):
    number = _limit(name, value)
    if number != math.inf and number != math.floor(number):
        raise InvalidOption(f"{name} is {value!r}: expected a whole number")
    return 2**62 if number == math.inf else int(number)
