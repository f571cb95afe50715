"""Loopy and tree-reweighted sum-product against enumeration."""

import math

import numpy as np
import pytest
from reference_crf import all_energies
from strategies_crf import random_factor_graph

import graphpart as gp
from graphpart.crf import approximate_marginals
from graphpart.crf.approximate_inference import loopy


def by_enumeration(f):
    """(log Z, flat probabilities)"""
    energies = all_energies(f)
    low = energies.min()
    p = np.exp(low - energies)
    log_z = math.log(p.sum()) - low
    p /= p.sum()
    axes = range(f.n)
    return log_z, np.concatenate([p.sum(axis=tuple(a for a in axes if a != v)) for v in axes])


def graphs(count, seed, **options):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        f = random_factor_graph(rng, **options)
        if f.n and math.isfinite(all_energies(f).min()):
            yield f


def test_forests_are_exact():
    for k, f in enumerate(graphs(150, 1, forest=True)):
        log_z, p = by_enumeration(f)
        for method in ("sum-product", "tree-reweighted"):
            m = approximate_marginals(f, method, tol=1e-10)
            assert m.converged and m.status == gp.Status.OPTIMAL, k
            assert m.log_z == pytest.approx(log_z, abs=1e-7, rel=1e-9), k
            np.testing.assert_allclose(m.probabilities.flat, p, atol=1e-7)
        assert m.upper_bound == pytest.approx(log_z, abs=1e-6, rel=1e-9)


@pytest.mark.parametrize("forbidden", [0.0, 0.15])
def test_upper_bound_holds_whatever_the_messages_are(forbidden):
    loose, converged = [], 0
    for k, f in enumerate(graphs(250, 2, forbidden=forbidden)):
        log_z, _ = by_enumeration(f)
        for passes in (1, 2, 1000):
            try:
                m = approximate_marginals(f, "tree-reweighted", max_iterations=passes, seed=k)
            except gp.InfeasibleProblem:
                pytest.fail(f"{k}: an allowed labeling exists")
            assert m.upper_bound >= log_z, (k, passes)
            assert m.probabilities.flat.min() >= 0
        converged += m.converged
        loose.append(m.upper_bound - log_z)
        if m.converged and not forbidden:  # the dual meets the primal
            assert m.log_z == pytest.approx(m.upper_bound, abs=1e-3, rel=1e-4), k
    assert converged > 150 and np.median(loose) < 1.0


def test_close_to_the_truth_where_couplings_are_weak():
    rng = np.random.default_rng(3)
    for k in range(20):
        pairs = [(a, b) for a in range(3) for b in range(3)]
        edges = [[3 * a + b, 3 * a + b + 1] for a, b in pairs if b < 2] + [
            [3 * a + b, 3 * a + b + 3] for a, b in pairs if a < 2
        ]
        f = gp.FactorGraph.from_arrays(
            [2] * 9, [(np.arange(9)[:, None], rng.normal(size=(9, 2))), (edges, 0.4 * rng.normal(size=(12, 2, 2)))]
        )
        log_z, p = by_enumeration(f)
        loopy, reweighted = approximate_marginals(f), approximate_marginals(f, "tree-reweighted")
        assert loopy.converged and abs(loopy.log_z - log_z) < 0.02, k
        assert np.abs(loopy.probabilities.flat - p).max() < 0.03
        assert log_z <= reweighted.upper_bound < log_z + 0.3


def test_degenerate():
    empty = approximate_marginals(gp.FactorGraph())
    assert empty.log_z == 0.0 and empty.converged
    alone = approximate_marginals(gp.FactorGraph.from_arrays([3, 1], [([[0]], [[0.0, math.inf, 0.0]])], constant=2.0))
    assert alone.log_z == pytest.approx(math.log(2) - 2) and alone.probabilities[0].tolist() == [0.5, 0.0, 0.5]
    same = gp.FactorGraph.from_arrays([2, 2], [([[0, 1]] * 3, np.ones((3, 2, 2)))])  # several over the same variables
    m = approximate_marginals(same, "tree-reweighted")
    assert m.upper_bound == pytest.approx(math.log(4) - 3, abs=1e-9)
    for scale in (1e-300, 1e300):
        f = gp.FactorGraph.from_arrays(
            [2] * 3, [([[0, 1], [1, 2], [0, 2]], scale * np.array([[[0.0, 1], [1, 0]]] * 3))]
        )
        m = approximate_marginals(f, "tree-reweighted", max_iterations=20)
        assert np.isfinite(m.probabilities.flat).all() and m.upper_bound >= math.log(2)
    with pytest.raises(gp.InfeasibleProblem, match="no label of variable 0"):
        approximate_marginals(gp.FactorGraph.from_arrays([2], [([[0], [0]], [[0.0, math.inf], [math.inf, 0.0]])]))


@pytest.mark.parametrize("method", ["sum-product", "tree-reweighted"])
def test_tables_that_factors_share(method):
    """Two tables, each of several factors: the same as with a table for each factor."""
    rng = np.random.default_rng(0)
    for forbidden in (False, True):
        tables = rng.normal(size=(2, 3, 3))
        if forbidden:
            tables[1, 0, 2] = np.inf
        groups = [(np.arange(6)[:, None], rng.normal(size=(6, 3)))]
        scopes = [[[0, 1], [1, 2], [2, 3], [3, 4]], [[0, 5], [1, 5], [2, 5]]]
        shared = [(s, np.broadcast_to(t, (len(s), 3, 3))) for s, t in zip(scopes, tables, strict=True)]
        f = gp.FactorGraph.from_arrays([3] * 6, groups + shared)
        g = gp.FactorGraph.from_arrays([3] * 6, groups + [(s, t.copy()) for s, t in shared])
        assert f.entries == g.entries and len(f._flat()[4]) < len(g._flat()[4])
        one, other = approximate_marginals(f, method), approximate_marginals(g, method)
        assert one.log_z == other.log_z and one.upper_bound == other.upper_bound
        assert one.probabilities.flat.tolist() == other.probabilities.flat.tolist()
        assert one.log_z == pytest.approx(gp.crf.marginals(f).log_z, abs=0.3)


def test_the_estimate_of_log_z_is_within_the_time(monkeypatch):
    """It takes as long as a pass, which is kept for it; without time for it, it is not a number."""
    rng = np.random.default_rng(1)
    f = gp.FactorGraph.pairwise(unary=rng.normal(size=(5, 5, 3)), pairwise=rng.normal(size=(3, 3)))
    whole = approximate_marginals(f, tol=0.0, max_iterations=9)
    limited = approximate_marginals(f, tol=0.0, max_iterations=9, time_limit=60)
    assert whole.iterations == limited.iterations == 9 and whole.log_z == limited.log_z
    monkeypatch.setattr(loopy, "LATE", 0.0)
    ended = approximate_marginals(f, time_limit=0)
    assert np.isnan(ended.log_z) and not np.isnan(ended.probabilities.flat).any()


def test_the_change_is_that_of_the_last_whole_pass(monkeypatch):
    class Stopped(loopy._kernels.LoopyMessages):
        """Messages whose third pass is stopped."""

        runs = 0

        def run(self, *options):
            self.runs += 1
            return super().run(*options) if self.runs == 1 else math.inf

    f = gp.generate.factor_grid(5, 5, "mixed", seed=0).problem
    two = approximate_marginals(f, max_iterations=2)
    monkeypatch.setattr(loopy._kernels, "LoopyMessages", Stopped)
    stopped = approximate_marginals(f, max_iterations=9)
    assert stopped.iterations == 2 and stopped.change == two.change < math.inf


def test_no_tables_are_made_for_an_upper_bound_that_is_out_of_time(monkeypatch):
    f = gp.generate.factor_grid(5, 5, "mixed", seed=0).problem
    monkeypatch.setattr("graphpart.crf.approximate_inference.upper_bound._structure.gather", None)
    assert approximate_marginals(f, "tree-reweighted", time_limit=0).upper_bound == math.inf


def test_says_how_it_ended():
    f = gp.generate.factor_grid(12, 12, "mixed", strength=3.0, seed=0).problem
    m = approximate_marginals(f, damping=0.0, max_iterations=5)
    assert not m.converged and m.iterations == 5 and m.status == gp.Status.ITERATION_LIMIT
    assert "converged" in repr(m) and m.upper_bound == math.inf
    assert approximate_marginals(f, time_limit=0).status == gp.Status.TIME_LIMIT
    calls = []
    stopped = approximate_marginals(f, callback=lambda s, change: calls.append(change) or True, max_iterations=10**6)
    assert stopped.converged or stopped.status == gp.Status.INTERRUPTED
    again = [approximate_marginals(f, "tree-reweighted", seed=1, max_iterations=30) for _ in range(2)]
    assert again[0].upper_bound == again[1].upper_bound
    assert (again[0].probabilities.flat == again[1].probabilities.flat).all()


@pytest.mark.parametrize(
    "options", [{"method": "exact"}, {"damping": 1.0}, {"damping": -0.1}, {"tol": math.nan}, {"max_iterations": -1}]
)
def test_wrong_options(options):
    with pytest.raises(gp.InvalidOption, match=f"{next(iter(options))} is"):
        approximate_marginals(gp.FactorGraph(), **options)
