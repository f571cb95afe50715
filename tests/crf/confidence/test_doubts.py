"""Doubts of labelings against brute force over all labelings."""

import itertools
import math

import numpy as np
import pytest

import graphpart as gp
from graphpart.crf import doubts


def graph(rng: np.random.Generator, n: int, forbidden: bool = False, share: float = 0.5) -> gp.FactorGraph:
    f = gp.FactorGraph()
    domains = rng.integers(1, 4, n)
    whole = rng.random() < 0.5
    for i in range(n):
        f.add_variable(f"v{i}", domain=int(domains[i]))
    for k in (1, 2, 3):
        for scope in itertools.combinations(range(n), k):
            if rng.random() < (share if k < 3 else share / 5):
                shape = domains[list(scope)]
                table = rng.integers(-3, 4, shape).astype(float) if whole else rng.normal(0, 1, shape)
                if forbidden and rng.random() < 0.4:
                    table[tuple(rng.integers(0, shape))] = math.inf
                f.add_factor([f"v{i}" for i in scope], table)
    return f


def all_labelings(f: gp.FactorGraph) -> tuple[np.ndarray, np.ndarray]:
    labels = np.array(list(itertools.product(*(range(d) for d in f.domains.tolist()))), np.int32).reshape(-1, f.n)
    return labels, np.array([f.evaluate(row) for row in labels])


def gaps(d: gp.crf.LabelDoubts) -> dict[tuple[str, int], float]:
    rows = zip(*(d.labels[k].tolist() for k in ("variable", "label", "doubt")), strict=True)
    return {(name, label): doubt for name, label, doubt in rows}


def test_equal_to_brute_force_and_local_search_is_an_upper_bound() -> None:
    rng = np.random.default_rng(31)
    equal = total = 0
    for case in range(350):
        f = graph(rng, int(rng.integers(1, 6)), forbidden=bool(rng.random() < 0.4))
        labels, cost = all_labelings(f)
        feasible = np.flatnonzero(cost < math.inf)
        if not len(feasible):
            continue
        optimal = bool(rng.random() < 0.6) or f.components().max(initial=0) > 0
        at = int(np.argmin(cost)) if optimal else int(rng.choice(feasible))
        d = doubts(f, labels[at])
        assert d.status == gp.Status.OPTIMAL and (d.variables["method"] == "exact").all(), case
        assert d.labels.rows == int((f.domains - 1).sum()) and d.variables.rows == f.n
        found = gaps(d)
        for i, name in enumerate(f.variables):
            expected = {}
            for y in range(int(f.domains[i])):
                if y != labels[at, i]:
                    expected[y] = cost[labels[:, i] == y].min() - cost[at]
                    assert found[name, y] == pytest.approx(expected[y], abs=1e-9), (case, name, y)
            row = d.variables["variable"].tolist().index(name)
            least = min(expected.values(), default=math.inf)
            assert d.variables["doubt"][row] == pytest.approx(least, abs=1e-9)
            assert d.variables["label"][row] == labels[at, i]
            other = int(d.variables["other"][row])
            assert other == -1 if not expected else expected[other] == pytest.approx(least, abs=1e-9)
        assert d.gain == pytest.approx(cost[at] - cost.min(), abs=1e-9), case
        if optimal:
            local = doubts(f, labels[at], method="local-search")
            assert local.gain == 0 and (local.labels["method"] == "local search").all()
            for key, gap in gaps(local).items():
                assert gap >= found[key] - 1e-9 and gap >= 0, (case, key)
                total += 1
                equal += gap <= found[key] + 1e-9
        for table in (d.labels, d.variables):
            assert np.array_equal(np.sort(table["doubt"]), table["doubt"])
    assert equal > 0.8 * total, (equal, total)


def test_what_is_gained_in_another_component_does_not_count() -> None:
    f = gp.FactorGraph.from_arrays([2, 2], [([[0], [1]], [[0.0, 5.0], [2.0, 0.0]])], constant=3.0)
    d = doubts(f, [0, 0])
    assert gaps(d) == {(0, 1): 5.0, (1, 1): -2.0} and d.gain == 2.0
    assert "a change lowers the energy by 2" in repr(d)


def test_components_that_do_not_fit_are_looked_at_by_local_search() -> None:
    rng = np.random.default_rng(32)
    n = 9
    f = gp.FactorGraph()
    for i in range(n + 3):
        f.add_variable(f"v{i}", domain=3)
        f.add_factor((f"v{i}",), rng.normal(0, 1, 3))
    for a, b in itertools.combinations(range(n), 2):
        f.add_factor((f"v{a}", f"v{b}"), rng.normal(0, 1, (3, 3)))
    f.add_factor((f"v{n}", f"v{n + 1}"), rng.normal(0, 1, (3, 3)))
    r = gp.solve(f, "icm")
    d = doubts(f, r, memory_limit=20000)
    method = dict(zip(d.variables["variable"].tolist(), d.variables["method"].tolist(), strict=True))
    assert {name for name, how in method.items() if how == "exact"} == {f"v{n}", f"v{n + 1}", f"v{n + 2}"}
    assert d.status == gp.Status.LOCAL_OPTIMUM
    exact = gaps(doubts(f, r, method="exact", memory_limit="4GB"))
    for key, gap in gaps(d).items():
        assert gap >= exact[key] - 1e-9
        if method[key[0]] == "exact":
            assert gap == pytest.approx(exact[key], abs=1e-9)
    with pytest.raises(gp.InvalidOption, match="memory_limit is"):
        doubts(f, r, method="exact", memory_limit=20000)
    short = doubts(f, r, memory_limit=20000, time_limit=0.0)
    assert short.status == gp.Status.TIME_LIMIT and np.isfinite(short.labels["doubt"]).all()
    for key, gap in gaps(short).items():
        assert gap >= gaps(d)[key] - 1e-9


def test_labels_that_hard_factors_forbid() -> None:
    differ = [[math.inf, 0.0], [0.0, math.inf]]
    f = gp.FactorGraph.from_arrays([2] * 3, [([[0, 1], [1, 2]], [differ] * 2), ([[0]], [[0.0, math.inf]])])
    for method in ("auto", "local-search"):
        d = doubts(f, [0, 1, 0], method=method)
        assert (d.variables["doubt"] == math.inf).all() and d.gain == 0
    g = gp.FactorGraph.from_arrays([2] * 3, [([[0, 1], [1, 2]], [differ] * 2), ([[0]], [[0.0, 4.0]])])
    d = doubts(g, [0, 1, 0], method="local-search")
    assert (d.variables["doubt"] == 4.0).all()  # the two others follow


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_huge_and_tiny_costs(scale: float) -> None:
    f = gp.FactorGraph.from_arrays([2, 2], [([[0]], [[0.0, scale]]), ([[0, 1]], [[[0.0, scale], [scale, 0.0]]])])
    for method in ("auto", "local-search"):
        assert doubts(f, [0, 0], method=method).variables["doubt"].tolist() == [scale, scale]


def test_degenerate() -> None:
    assert doubts(gp.FactorGraph(), []).variables.rows == 0
    f = gp.FactorGraph.from_arrays([1, 2], [])
    d = doubts(f, [0, 1])
    assert d.variables["doubt"].tolist() == [0.0, math.inf] and d.variables["other"].tolist() == [0, -1]
    assert len(repr(d).splitlines()) == 2


def test_frames_and_wrong_calls() -> None:
    f = graph(np.random.default_rng(0), 3)
    r = gp.solve(f)
    d = doubts(f, r)
    assert list(d.to_frame("labels", "dict")) == ["variable", "label", "doubt", "method"]
    assert list(d.to_frame(library="dict")) == ["variable", "label", "other", "doubt", "method"]
    with pytest.raises(gp.InvalidOption, match="expected one of variables, labels"):
        d.to_frame("pairs")
    with pytest.raises(gp.InvalidOption, match="expected one of auto, exact, local-search"):
        doubts(f, r, method="quick")
    with pytest.raises(gp.InvalidPartition, match="has no label"):
        doubts(f, {"v0": 0})
    g = gp.FactorGraph.from_arrays([2], [([[0]], [[0.0, math.inf]])])
    with pytest.raises(gp.InvalidPartition, match="forbidden by factor 0"):
        doubts(g, [1])


def test_ties_of_a_proven_labeling_are_exact_and_counted() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        picture = rng.integers(0, 2, (3, 4))
        f = gp.crf.potts(unary=np.stack([(picture != k) * 1.0 for k in (0, 1)], -1), weight=0.5)
        labels, cost = all_labelings(f)
        r = gp.solve(f)
        d, without = (doubts(f, one, method="local-search") for one in (r, r.labels))
        ties = {k for k in range(f.n) if cost[labels[:, k] != r.labels[k]].min() == r.cost}
        found = d.variables["variable"][d.variables["doubt"] == 0].tolist()
        assert d.undecided == len(found) and {f.index(name) for name in found} <= ties
        assert set(d.variables["method"][: len(found)]) <= {"exact"}
        assert set(d.variables["method"][len(found) :]) <= {"local search"}
        assert set(without.variables["method"]) == {"local search"}
        assert len(found) < 2 or f"{len(found)} variables have another label at the same energy" in repr(d)
