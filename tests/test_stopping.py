"""Stopping, the protocol of every long run, and Result, what every run returns."""

import dataclasses
import math
import pickle
import signal
import time

import numpy as np
import pytest

import graphpart as gp
from graphpart.stopping import interruptible


def test_iterations():
    stopping = gp.Stopping(max_iterations=3)
    assert [stopping.step(0.0) for _ in range(4)] == [False, False, True, True]
    assert (stopping.reason, stopping.iterations) == (gp.Status.ITERATION_LIMIT, 4)


def test_no_iterations_at_all():
    assert gp.Stopping(max_iterations=0).check(0.0)


def test_time():
    stopping = gp.Stopping(time_limit=0.05)
    assert not stopping.check(0.0)
    assert 0 < stopping.remaining <= 0.05
    time.sleep(0.06)
    assert stopping.check(0.0)
    assert (stopping.reason, stopping.remaining) == (gp.Status.TIME_LIMIT, 0)
    assert stopping.seconds >= 0.06


def test_without_limits_nothing_ends():
    stopping = gp.Stopping()
    assert not any(stopping.step(-1e300) for _ in range(1000))
    assert stopping.remaining is None


def test_target():
    stopping = gp.Stopping(target=-5)
    assert not stopping.check(-4.9)
    assert stopping.check(-5.0)
    assert stopping.reason is gp.Status.TARGET


def test_a_recorded_cost_may_reach_the_target():
    stopping = gp.Stopping(target=-5)
    stopping.record(-6.0)
    assert stopping.check(0.0)
    assert stopping.history[0][1] == -6


def test_the_first_reason_stays():
    stopping = gp.Stopping(target=0)
    stopping.stop(gp.Status.INTERRUPTED)
    assert stopping.check(-1.0)
    assert stopping.reason is gp.Status.INTERRUPTED


def test_callback_sees_recorded_costs_and_ends_the_run():
    seen = []
    stopping = gp.Stopping(callback=lambda seconds, cost: seen.append(cost) or len(seen) == 2)
    stopping.record(3.0)
    assert not stopping.check(3.0) or seen == [3.0, 3.0]
    stopping.record(2.0)
    assert stopping.check(2.0)
    assert stopping.reason is gp.Status.INTERRUPTED


def test_interrupts_are_noted_and_the_second_raises():
    @interruptible
    def method(times):
        stopping = gp.Stopping()
        for _ in range(times):
            signal.raise_signal(signal.SIGINT)
        assert stopping.check(0.0) == (times > 0)
        return dataclasses.replace(result(), status=stopping.reason or gp.Status.LOCAL_OPTIMUM)

    assert method(0).status == gp.Status.LOCAL_OPTIMUM
    assert method(1).status == gp.Status.INTERRUPTED
    with pytest.raises(KeyboardInterrupt):
        method(2)
    assert method(0).status == gp.Status.LOCAL_OPTIMUM
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_at_the_very_end_is_not_lost():
    @interruptible
    def method():
        signal.raise_signal(signal.SIGINT)
        return result()

    assert method().status == gp.Status.INTERRUPTED


def test_exception_of_the_callback_waits_for_reraise():
    def callback(seconds, cost):
        raise ZeroDivisionError

    stopping = gp.Stopping(callback=callback)
    stopping.record(1.0)
    assert stopping.check(1.0)
    with pytest.raises(ZeroDivisionError):
        stopping.reraise()
    stopping.reraise()  # once only


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"time_limit": -0.1}, "time_limit is -0.1: expected a number of at least 0"),
        ({"time_limit": "soon"}, "time_limit is 'soon': expected a number"),
        ({"max_iterations": -1}, "max_iterations is -1"),
        ({"max_iterations": 2.5}, "max_iterations is 2.5: expected a whole number"),
        ({"target": math.nan}, "target is nan: expected a number"),
        ({"callback": "call me"}, "callback is 'call me': expected a callable"),
    ],
)
def test_wrong_limits(options, message):
    with pytest.raises(gp.InvalidOption, match=message):
        gp.Stopping(**options)


def result(cost=-4.0, bound=-5.0):
    return gp.PartitionResult(
        labels=np.array([0, 1, 0], np.int32),
        cost=cost,
        objective=cost,
        lower_bound=bound,
        status=gp.Status.LOCAL_OPTIMUM,
        message="",
        iterations=1,
        seconds=0.0,
        method="test",
        nodes=["a", "b", "c"],
    )


def test_partition_of_a_result():
    assert result().partition == [{"a", "c"}, {"b"}]
    assert result().subsets == 2


@pytest.mark.parametrize(
    ("cost", "bound", "gap"), [(-4, -5, 0.25), (-5, -5, 0), (0, -1, math.inf), (0, 0, 0), (3, -math.inf, math.inf)]
)
def test_gap(cost, bound, gap):
    assert result(cost, bound).gap == gap


def test_results_are_frozen_and_pickle():
    with pytest.raises(dataclasses.FrozenInstanceError):
        result().cost = 0
    again = pickle.loads(pickle.dumps(result()))
    assert again.partition == result().partition
    assert str(again.status) == "local_optimum"
    with pytest.raises(ValueError, match="read-only"):
        gp.solve(gp.SetPartition.from_pairs(2, [(0, 1)], [1.0])).labels[0] = 3


def test_format_error_names_the_place_and_pickles():
    error = gp.FormatError("file.csv", 7, "cost is 'x':\n expected a number")
    assert str(error) == "file.csv:7: cost is 'x': expected a number"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert str(gp.FormatError("file.csv", None, "empty")) == "file.csv: empty"
