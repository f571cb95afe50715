"""Stopping, the protocol of every long run, and Result, what every run returns."""

import dataclasses
import importlib
import math
import pickle
import signal
import time

import numpy as np
import pytest

import graphpart as gp
from graphpart.stopping import Stopping, interruptible


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
    assert stopping.reason is gp.Status.INTERRUPTED
    with pytest.raises(ZeroDivisionError):
        stopping.check(1.0)
    stopping.reraise()  # once only


def test_a_child_has_the_clock_the_callback_and_the_record_of_its_root():
    seen = []
    root = gp.Stopping(callback=lambda seconds, cost: seen.append((seconds, cost)))
    part = root.child(plus=10.0)
    inner = part.child(plus=-3.0)
    inner.record(5.0)  # 12 for the whole
    inner.record(6.0)  # worse: nobody hears of it
    part.record(1.5)
    root.child(plus=math.inf).record(-1e9)  # says nothing about the whole
    assert [cost for _, cost in seen] == [cost for _, cost in root.history] == [12.0, 11.5]
    assert root.incumbent == 11.5 and inner.history is root.history
    assert abs(inner.seconds - root.seconds) < 1.0 and inner.root is root


def test_a_child_ends_with_its_root_and_not_the_other_way():
    root = gp.Stopping(target=-5)
    part = root.child(iterations=1, plus=2.0)
    assert part.step(0.0) and part.reason is gp.Status.ITERATION_LIMIT
    assert root.reason is None and not root.check(0.0)
    part = root.child(seconds=0.0)
    assert part.check(0.0) and part.reason is gp.Status.TIME_LIMIT
    part, other = root.child(plus=2.0), root.child()
    assert part.target == -7.0
    assert part.check(-7.0)  # -5 for the whole
    assert root.reason is other.root.reason is gp.Status.TARGET
    assert other.check(0.0) and other.reason is gp.Status.TARGET
    assert root.child().check(0.0)


def test_a_child_has_no_more_time_than_its_root():
    root = gp.Stopping(time_limit=100)
    assert root.child().remaining <= 100 and root.child(1000.0).child(2000.0).remaining <= 100
    assert root.child(1.0).remaining <= 1.0 and gp.Stopping().child().remaining is None
    assert root.child(-1.0).remaining == 0


def test_patience_lasts_longer_where_tasks_share_processors():
    whole = Stopping(time_limit=1000.0)
    part = whole.patient(5.0)
    inner, short = part.child(plus=1.0), part.child(seconds=0.5)
    inner.delayed(3.0, 1.0)
    inner.delayed(3.0, 1.0)
    assert 14.9 < part.remaining <= 15.0 and 14.9 < inner.remaining <= 15.0 and short.remaining <= 0.5
    inner.delayed(100.0, 1.0)
    assert 39.9 < inner.remaining <= 40.0  # at most eight times as long
    assert whole.remaining > 999.0  # a time limit is not
    fast = whole.patient(5.0)
    fast.delayed(1.0, 2.0)
    assert 4.9 < fast.remaining <= 5.0
    short = Stopping(time_limit=1.0).patient(5.0)
    short.delayed(8.0, 1.0)
    assert short.remaining <= 1.0


@pytest.mark.parametrize("others", [0.0, 7.0])
def test_patience_lasts_longer_only_where_other_threads_of_the_process_work(monkeypatch, others):
    """Each task sleeps for as long as it works, as if another program used the processor: that is no reason."""
    from graphpart.common.rounds import RoundSearch

    patience, timed, clock = [], RoundSearch._timed, time.process_time

    def slow(self, task, stopping):
        found, worked = timed(self, task, stopping)
        time.sleep(worked)
        return found, worked

    class Kept(Stopping):
        def patient(self, seconds):
            patience.append(super().patient(seconds))
            return patience[-1]

    monkeypatch.setattr(RoundSearch, "_timed", slow)
    monkeypatch.setattr(time, "process_time", lambda: (1.0 + others) * clock())
    monkeypatch.setattr(importlib.import_module("graphpart.partition.default"), "Stopping", Kept)
    rng = np.random.default_rng(0)
    u, v = np.triu_indices(40, 1)
    gp.solve(gp.SetPartition.from_pairs(40, np.stack([u, v], 1), rng.normal(size=len(u))))
    seconds = patience[0].deadline - patience[0].started
    assert seconds < 6.0 if others == 0.0 else seconds > 7.0


def test_other_threads_end_runs_and_record_nothing():
    from concurrent.futures import ThreadPoolExecutor

    seen = []
    root = gp.Stopping(target=-5, callback=lambda seconds, cost: seen.append(cost))
    part = root.child()
    with ThreadPoolExecutor(1) as executor:
        executor.submit(part.record, -4.0).result()
        executor.submit(root.raise_bound, -9.0).result()
        assert executor.submit(part.check, -5.0).result()
    assert root.reason is gp.Status.TARGET
    assert seen == root.history == root.bounds == []


def test_bounds_rise_and_a_callback_may_hear_of_them():
    class Listener(list):
        def __call__(self, seconds, cost):
            pass

        def on_bound(self, seconds, bound):
            self.append(bound)

    listener = Listener()
    root = gp.Stopping(callback=listener)
    for bound in (-9.0, -11.0, -math.inf, -8.0, math.inf):
        root.child(plus=1.0).raise_bound(bound)
    assert listener == [bound for _, bound in root.bounds] == [-9.0, -8.0]
    assert root.bound == -8.0


def test_the_record_ends_with_the_result():
    root = gp.Stopping()
    for cost in (3.0, 1.0, 0.5):
        root.record(cost)
    for bound in (-3.0, 0.75, 0.8):
        root.raise_bound(bound)
    history, bounds = root.ended(0.75, 0.7)  # rounding had made the one smaller and the other larger
    assert [cost for _, cost in history] == [3.0, 1.0, 0.75, 0.75]
    assert [bound for _, bound in bounds] == [-3.0, 0.7, 0.7]
    assert history[-1][0] == bounds[-1][0] >= history[-2][0]
    assert root.ended(0.75, -math.inf)[1] == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"time_limit": -0.1}, "time_limit is -0.1: expected a number of at least 0"),
        ({"time_limit": "soon"}, "time_limit is 'soon': expected a number"),
        ({"max_iterations": -1}, "max_iterations is -1"),
        ({"max_iterations": 2.5}, "max_iterations is 2.5: expected a whole number"),
        ({"target": math.nan}, "target is nan: expected a number"),
        ({"time_limit": "10"}, "time_limit is '10': expected a number"),
        ({"callback": lambda cost: True}, r"callback takes \(cost\): expected a callable taking \(seconds, cost\)"),
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
    assert result().n_clusters == 2


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
