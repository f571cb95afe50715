"""The time of a run is shared out among components: the smallest first, what is left over to those still open."""

import math

import pytest

from graphpart.common.components import share_out
from graphpart.result import Status
from graphpart.stopping import Stopping


class Part:
    def __init__(self, size, turns=1):
        self.size, self.turns, self.shares = size, turns, []

    @property
    def is_open(self):
        return self.turns > 0


def shared(parts, solve=lambda one: None, limit=100.0, stopping=None):
    order = []

    def go_on(one, share):
        one.shares.append(share)
        order.append(one.size)
        solve(one)
        one.turns -= 1
        return True

    share_out(parts, go_on, stopping or Stopping(limit), lambda: math.inf, limit is not None)
    return order


def test_the_smallest_come_first_and_open_ones_again():
    parts = [Part(30, 2), Part(10), Part(60, 3)]
    assert shared(parts) == [10, 30, 60, 30, 60, 60]
    assert parts[1].shares == pytest.approx([10.0], rel=0.01)
    assert parts[2].shares == pytest.approx([100.0, 100.0, 100.0], rel=0.01)  # nothing took any time
    assert parts[0].shares == pytest.approx([100 * 30 / 90, 100 * 30 / 90], rel=0.01)


def test_without_a_limit_each_comes_once():
    parts = [Part(2, 5), Part(1, 5)]
    assert shared(parts, limit=None) == [1, 2] and parts[0].shares == [None]


def test_what_a_component_falls_into_comes_next():
    parts = [Part(1), Part(9)]
    shared_order = shared(parts, lambda one: parts.extend([Part(5), Part(3)]) if one.size == 1 else None)
    assert shared_order == [1, 3, 5, 9]


def test_nothing_more_once_the_run_was_stopped_or_nobody_can_go_on():
    stopping = Stopping(100.0)
    parts = [Part(k) for k in range(1, 200)]
    assert shared(parts, lambda one: stopping.stop(Status.INTERRUPTED), stopping=stopping) == [1]
    share_out(parts, lambda one, share: False, Stopping(100.0), lambda: math.inf, True)
