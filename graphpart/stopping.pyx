"""One protocol by which every long run ends early, and one record of its costs and bounds.

`solve`, or a method that is called by name, makes one :class:`Stopping`, the root. An algorithm calls `step` once per
iteration, and `check` inside long iterations. It ends as soon as either returns True, and returns its best solution;
`Stopping.reason` then says why. A kernel calls the C methods `tick` and `poll` instead, without holding the GIL.

Each inner run gets a child (`Stopping.child`), which may have less time and other iterations. A child uses the clock,
the interruption and the callback of its root. The root keeps the record: the incumbent (the least cost so far) and the
bound (the largest lower bound so far), both of the whole problem. About every 50 ms the root serves signals and the
callback, which gets the incumbent. So the costs that it gets never rise. Only the thread that made the root serves and
records. Polls in other threads only learn that the run has to end.
"""

cimport cython
from libc.math cimport INFINITY
from cpython.exc cimport PyErr_CheckSignals

import functools
import math
import signal
import threading
from dataclasses import replace

from graphpart.errors import InvalidOption, argument_check, check_callback
from graphpart.kernels.clock cimport seconds as now
from graphpart.result import Result, Status

cdef extern from "Python.h" nogil:
    unsigned long PyThread_get_thread_ident()

cdef bint interrupted = False  # Ctrl-C came while an interruptible method ran

# A reason is a number, which threads may read and set at once, also in a Python without the global interpreter lock.
cdef tuple REASONS = (None, *Status)
cdef int RUNNING = 0
cdef int TIME_LIMIT = REASONS.index(Status.TIME_LIMIT)
cdef int ITERATION_LIMIT = REASONS.index(Status.ITERATION_LIMIT)
cdef int TARGET = REASONS.index(Status.TARGET)
cdef int INTERRUPTED = REASONS.index(Status.INTERRUPTED)

cdef double SERVICE = 0.05     # seconds between two looks at signals and callback
cdef double SELDOM = 5e-3      # seconds between two looks at the clock: above this fewer polls only count,
cdef double OFTEN = 1e-3       # below this more,
cdef long LONGEST = 4096       # at most this number
cdef double LONGER = 8.0       # times its seconds that patience may take where other threads of the process work


cdef class Stopping:
    """When to end a run early, and the record of its costs and bounds.

    Parameters
    ----------
    time_limit : float, optional
        Seconds from the creation of this object.
    max_iterations : int, optional
        Iterations, as the method counts them.
    target : float, optional
        End as soon as the cost is at most this.
    callback : callable, optional
        ``callback(seconds, cost)``, called about every 50 ms and after every better cost, with the least cost so far
        (inf if none is known); a true return value ends the run, an exception ends it and is raised to the caller. If
        it has an attribute `on_bound`, ``callback.on_bound(seconds, bound)`` is called after every better lower bound.

    Attributes
    ----------
    history : list of (float, float)
        (seconds, cost) pairs; the costs fall.
    bounds : list of (float, float)
        (seconds, lower bound) pairs; the bounds rise.
    incumbent, bound : float
        The last of each: inf and -inf if there is none.
    reason : Status or None
        Why the run has to end; None while it may go on.
    iterations : int
        Calls of `step`.

    Raises
    ------
    InvalidOption
        If a limit is negative or not a number.

    Examples
    --------
    >>> stopping = Stopping(max_iterations=2)
    >>> stopping.step(5.0), stopping.step(3.0), str(stopping.reason)
    (False, True, 'iteration_limit')

    A child for a part of the problem, the rest of which costs 10:

    >>> whole = Stopping()
    >>> part = whole.child(iterations=1, plus=10.0)
    >>> part.record(-4.0)
    >>> whole.incumbent, part.step(-4.0), whole.check(6.0)
    (6.0, True, False)
    """

    def __init__(self, time_limit=None, max_iterations=None, target=None, callback=None):
        self.started = self.looked = self.served = now()
        self.deadline = INFINITY
        if time_limit is not None:
            self.deadline = self.started + _limit("time_limit", time_limit)
        self.max_iterations = 2**62
        if max_iterations is not None:
            self.max_iterations = min(2**62, <object>_whole("max_iterations", max_iterations))
        self.target = -INFINITY
        if target is not None:
            self.target = _number("target", target)
        check_callback(callback)
        self.callback = callback
        self.thread = PyThread_get_thread_ident()
        self.plus = 0.0
        self.incumbent, self.bound = INFINITY, -INFINITY
        self.history, self.bounds = [], []

    def patient(self, double seconds):
        """A child that has so many seconds if no other thread of the process works: more where it is `delayed`."""
        cdef Stopping one = self.child(seconds)
        one.patience, one.began = seconds, one.looked
        return one

    def child(self, seconds=None, iterations=None, plus=0.0):
        """An object for an inner run: the same clock, interruption, callback and record, and narrower limits.

        Parameters
        ----------
        seconds : float, optional
            From now on; at most the remaining time of this object.
        iterations : int, optional
            Iterations of the child; it counts its own.
        plus : float
            Costs of this object minus costs of the child: the cost of all parts that the child does not know. With inf,
            the child's costs have no meaning for the whole (they have another unit, or belong to another problem). Then
            they are neither recorded nor compared with the target.

        Returns
        -------
        Stopping
            It ends when this object ends, for the same reason. When it ends by its own limits, this object goes on.
        """
        cdef Stopping one = Stopping.__new__(Stopping)
        one.parent, one.thread = self, self.thread
        one.started, one.served = self.started, self.served
        one.looked = now()
        one.deadline = INFINITY
        if seconds is not None:
            one.deadline = one.looked + max(0.0, <double>seconds)
        one.max_iterations = 2**62
        if iterations is not None:
            one.max_iterations = min(2**62, <object>iterations)
        one.plus = plus
        one.target = self.target - one.plus if self.target > -INFINITY and one.plus < INFINITY else -INFINITY
        one.incumbent, one.bound = INFINITY, -INFINITY
        root = self.root
        one.callback, one.history, one.bounds = root.callback, root.history, root.bounds
        one.why = self.why
        return one

    @property
    def root(self):
        """The object that the front door made."""
        cdef Stopping one = self
        while one.parent is not None:
            one = one.parent
        return one

    @property
    def reason(self):
        """Why the run has to end, a Status; None while it may go on."""
        return REASONS[self.why]

    @property
    def seconds(self):
        """Seconds since the whole run began."""
        return now() - self.started

    @property
    def remaining(self):
        """Seconds left, or None without a time limit; never negative."""
        cdef Stopping one = self
        cdef double least = INFINITY
        while one is not None:
            least = min(least, one.deadline)
            one = one.parent
        return None if least == INFINITY else max(0.0, least - now())

    def delayed(self, double seconds, double worked):
        """Tell that the process worked `seconds` meanwhile, `worked` of them for this run; move the end of patience.

        Of the objects from this one to the root, those with `patience` end later by as much as the process worked more.
        """
        cdef Stopping one = self
        while one is not None:
            if one.patience > 0.0:
                one.took += seconds
                one.worked += worked
                if one.worked > 0.0:
                    one.deadline = one.began + one.patience * min(LONGER, max(1.0, one.took / one.worked))
            one = one.parent

    def record(self, double cost):
        """Record a cost that was reached. If it is the least so far, add it to the history, and call the callback."""
        if cost <= self.target:
            self.end(TARGET)
        if self.parent is not None:
            self.parent.record(cost + self.plus)
        elif PyThread_get_thread_ident() == self.thread and cost < self.incumbent:
            self._note(cost)
            self._call(now() - self.started)

    def raise_bound(self, double bound):
        """Record that no solution of the whole problem costs less than `bound`. A better bound is added to `bounds`."""
        cdef Stopping root = self.root
        if PyThread_get_thread_ident() != root.thread or not bound > root.bound or bound == INFINITY:
            return
        root.bound = bound
        seconds = now() - root.started
        root.bounds.append((seconds, bound))
        tell = getattr(root.callback, "on_bound", None)
        if tell is not None:
            tell(seconds, bound)

    def check(self, double cost):
        """True once the run has to end. For Python code: looks at clock, signals and limits at every call.

        Raises what the callback has raised.
        """
        cdef Stopping one = self
        cdef bint ended
        while one is not None:
            one.countdown = 0
            one.served = -INFINITY
            one = one.parent
        with nogil:
            ended = self.look(cost)
        if ended:
            self.reraise()
        return ended

    def step(self, double cost):
        """Count one iteration, then `check`."""
        self.iterations += 1
        return self.check(cost)

    def stop(self, reason):
        """End the run for a given reason; the first reason stays."""
        self.end(REASONS.index(reason))

    def ended(self, double cost, double bound):
        """The history and the bounds of a run that ends with this cost and lower bound, which come last.

        By rounding, a running cost may be below the cost computed from the problem, and a running bound above the
        proven one. Both are clipped to the final values.
        """
        self.reraise()
        seconds = self.seconds
        return _monotone(self.history, seconds, cost, max), _monotone(self.bounds, seconds, bound, min)

    def reraise(self):
        """Raise the exception of the callback, if there is one. Called after the kernel has ended."""
        cdef Stopping root = self.root
        if root.pending is not None:
            error, root.pending = root.pending, None
            raise error

    cdef bint end(self, int why) noexcept nogil:
        if self.why == RUNNING:
            self.why = why
        self.countdown = 0
        return True

    cdef bint look(self, double cost) noexcept nogil:
        cdef double time, since
        if self.why != RUNNING:
            return True
        if self.parent is not None and self.parent.look(cost + self.plus):
            return self.end(self.parent.why)
        if interrupted:
            return self.end(INTERRUPTED)
        if cost <= self.target:
            return self.end(TARGET)
        if self.iterations >= self.max_iterations:
            return self.end(ITERATION_LIMIT)
        time = now()
        since = time - self.looked
        self.looked = time
        if since > SELDOM:
            self.quiet //= 2
        elif since < OFTEN and self.quiet < LONGEST:
            self.quiet = 2 * self.quiet + 1
        self.countdown = self.quiet
        if time >= self.deadline:
            return self.end(TIME_LIMIT)
        if self.parent is None and time - self.served >= SERVICE and PyThread_get_thread_ident() == self.thread:
            self.serve(time, cost)
        return self.why != RUNNING

    cdef void serve(self, double time, double cost) noexcept nogil:
        self.served = time
        with gil:
            try:
                PyErr_CheckSignals()
            except KeyboardInterrupt:
                self.end(INTERRUPTED)
            if cost < self.incumbent:
                self._note(cost)
            self._call(time - self.started)

    def _note(self, double cost):
        self.incumbent = cost
        self.history.append((now() - self.started, cost))

    def _call(self, double seconds):
        if self.callback is None:
            return
        try:
            if self.callback(seconds, self.incumbent):
                self.end(INTERRUPTED)
        except KeyboardInterrupt:
            self.end(INTERRUPTED)
        except BaseException as error:  # raised again by reraise, outside the kernel
            self.pending = error
            self.end(INTERRUPTED)


def _monotone(record, seconds, last, limit):
    """The record with its values clipped to the last one, without repetitions, and then the last one."""
    if not math.isfinite(last):
        return ()
    kept, before = [], None
    for when, value in record:
        value = limit(value, last)
        if value != before:
            kept.append((when, value))
            before = value
    return (*kept, (seconds, last))


def interruptible(method):
    """Let Ctrl-C end a method at any time, so that it returns its best solution; a second Ctrl-C raises.

    While a method runs, the interrupt is noted instead of raised, and all `Stopping` objects see it. A handler of other
    code stays installed, and nested methods use the handler of the outermost one. An unknown keyword argument is an
    InvalidOption.
    """

    check = argument_check(method)

    @functools.wraps(method)
    @cython.binding(True)  # what `wraps` sets: name, text and parameters of the method
    def wrapped(*args, **options):
        global interrupted
        check(options)
        mine = threading.current_thread() is threading.main_thread()
        if not mine or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            return method(*args, **options)
        interrupted = False
        signal.signal(signal.SIGINT, _note_interrupt)
        try:
            result = method(*args, **options)
            if interrupted and isinstance(result, Result) and result.status is not Status.INTERRUPTED:
                # The method had just ended by itself; Ctrl-C must still have an effect.
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
        number = math.nan if isinstance(value, str | bytes | bool) else float(value)  # which reads texts, too
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
