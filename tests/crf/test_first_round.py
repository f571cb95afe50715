"""The first round of search in another thread: others have their turns meanwhile, and its labels are never lost."""

import time

import numpy as np
import pytest

import graphpart as gp
from graphpart.crf import contestants
from graphpart.crf.bounds.contestant import ContestantParameters, numbers_in
from graphpart.crf.hard_component import HardComponent
from graphpart.result import Status
from graphpart.stopping import Stopping


@pytest.mark.parametrize("end", ["by itself", "time limit", "interrupted"])
def test_others_have_turns_while_another_thread_searches(end, monkeypatch):
    rng = np.random.default_rng(3)
    n = 30
    pairs = np.array([(i, j) for i in range(n) for j in range(i)], np.int32)
    f = gp.FactorGraph.from_arrays([4] * n, [(pairs, rng.normal(size=(len(pairs), 4, 4)))])
    good = gp.crf.search(f, time_limit=None, max_iterations=3, seed=1)
    outer = Stopping(0.3 if end == "time limit" else 20.0)

    class Slow:
        def __init__(self, f, labels, seed, prepared):
            self.labels, self.cost, self.done = labels, f.evaluate_labels(labels), False

        def offer(self, labels, cost):
            pass

        def run(self, stopping, idle=None):
            if end == "interrupted":
                outer.stop(Status.INTERRUPTED)
            if end == "by itself":
                self.labels, self.cost = good.labels, good.cost
                time.sleep(0.01)
                collected.append(hard.searching.portfolio is self)
                if collected[-1]:
                    outer.stop(Status.INTERRUPTED)
                return
            while not stopping.check(np.inf):
                time.sleep(0.001)
            self.labels, self.cost = good.labels, good.cost

    collected: list[bool] = []
    monkeypatch.setattr(contestants, "Portfolio", Slow)
    monkeypatch.setattr(contestants, "processors", lambda: 2)
    monkeypatch.setattr(contestants.Searching, "_anneals_first", lambda self: True)
    parameters = ContestantParameters(first_round=0.0)
    hard = HardComponent(f, np.zeros(n, np.int32), outer, np.random.default_rng(0), lambda *_: None, parameters)
    hard.run(outer)
    assert not hard.searching.works_aside
    assert isinstance(hard.searching.portfolio, Slow) or hard.proven
    assert hard.cost <= good.cost
    assert f.evaluate_labels(hard.labels) == pytest.approx(hard.cost)
    if end == "by itself":
        assert collected[0] is False
        assert collected[-1] or hard.proven
    else:
        assert hard.race.spent()["search"] == 0.0  # all turns were those of others


def test_a_shared_table_counts_once():
    pairs, table = np.array([(0, 1), (1, 2), (2, 3)]), np.arange(64.0).reshape(8, 8)
    shared, copied = (
        gp.FactorGraph.from_arrays([8] * 4, [(pairs, t)])
        for t in (np.broadcast_to(table, (3, 8, 8)), np.stack([table] * 3))
    )
    assert (numbers_in(shared), numbers_in(copied)) == (64 + 6 * 8, 3 * 64)


def test_the_first_round_on_a_quadratic_form_with_many_neighbours_is_known_to_be_short():
    def seconds(f):
        labels = np.zeros(f.n, np.int32)
        return contestants.Searching(f, labels, f.evaluate_labels(labels), ContestantParameters(), 0).first_round()

    q = gp.generate.qubo(300, 0.5, seed=1).problem
    forbidden = gp.generate.qubo(300, 0.5, seed=1).problem
    forbidden.add_factor([0, 1], [[0.0, np.inf], [0.0, 0.0]])  # so it is no quadratic form
    assert 4 * seconds(q) < seconds(forbidden)
    grid = gp.generate.factor_grid(20, 20, "spin-glass", seed=1).problem  # few neighbours
    assert seconds(grid) > ContestantParameters().entry * numbers_in(grid) + 1e-9 * 700 * grid.n
