"""Groups and connected clusters in distributed problems: small ones, divided into parts of a few pairs, against brute
force."""

import math
import sys

import numpy as np
import pytest

import graphpart as gp

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
solve = gp.distributed.solve
MODULE = sys.modules["graphpart.distributed.run"]


@pytest.mark.filterwarnings("ignore::graphpart.GraphPartWarning")  # of few costs, all may be negative
@pytest.mark.parametrize("seed", range(6))
def test_groups_against_brute_force(seed, monkeypatch):
    monkeypatch.setattr(MODULE, "LEAST", 1)
    monkeypatch.setattr(MODULE, "BYTES_OF_PAIR", 5_000_000 // (3, 6, 1000)[seed % 3])
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(4, 11)), int(rng.integers(5, 30))
    u, v = rng.integers(0, n, (2, m))
    u, v = u[u != v], v[u != v]
    cost = np.round(rng.normal(size=len(u)) * 4 - 1) / 4
    source, price = rng.integers(-1, 3, n), float(rng.choice([0.5, 1.25, math.inf, math.inf]))
    names = np.array([f"record {k}" for k in range(n)])
    rows = pd.DataFrame({"u": names[u], "v": names[v], "cost": cost})
    table = pd.DataFrame({"id": names[source >= 0], "group": source[source >= 0]})
    of = dict(zip(names.tolist(), source.tolist(), strict=True))
    groups = table if seed % 2 else lambda ids: np.array([of[k] if of[k] >= 0 else 100 + int(k[7:]) for k in ids])
    p = gp.SetPartition.from_pairs(n, (u, v), cost, names.tolist(), groups=source, group_cost=price)
    best = gp.partition.brute_force(p).cost
    for method in ("kernighan-lin", "exact"):
        r = solve(
            rows, groups=groups, group_cost=price, method=method, bound="lp" if seed % 2 else "cycle-packing",
            workers=0, memory_limit="10MB",
        )  # fmt: skip
        found = r.to_frame()
        labels = dict.fromkeys(names.tolist(), -1) | dict(zip(found["id"], found["label"], strict=True))
        labels = {name: n + k if label < 0 else label for k, (name, label) in enumerate(labels.items())}
        assert p.evaluate(labels) == pytest.approx(r.cost)
        assert r.lower_bound <= best + 1e-9 <= r.cost + 2e-9
        assert r.status != "optimal" or r.cost == pytest.approx(best)


@pytest.mark.filterwarnings("ignore::graphpart.GraphPartWarning")
@pytest.mark.parametrize("seed", range(12))
def test_connected_clusters_against_brute_force(seed, monkeypatch):
    monkeypatch.setattr(MODULE, "LEAST", 1)
    monkeypatch.setattr(MODULE, "BYTES_OF_PAIR", 5_000_000 // (3, 6, 1000)[seed % 3])
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 10))
    names = np.array([f"place {k}" for k in range(n)] if seed % 2 else range(n))
    triples = []
    for m in rng.integers(4, 20, 2):
        u, v = rng.integers(0, n, (2, m))
        u, v = u[u != v], v[u != v]
        triples.append((u, v, np.where(rng.random(len(u)) < 0.2, 0.0, np.round(rng.normal(size=len(u)) * 8) / 4)))
    if seed % 4 == 0:
        triples[1] = tuple(x[:0] for x in triples[1])
    else:
        triples[1][2][:1] = np.inf
    near, far = (pd.DataFrame({"u": names[u], "v": names[v], "cost": cost}) for u, v, cost in triples)
    groups = rng.integers(0, 3, n) if seed % 3 == 0 else None
    (u, v, cost), (a, b, extra) = triples
    p = gp.SetPartition.from_pairs(n, (u, v), cost, names.tolist(), lifted=((a, b), extra), groups=groups)
    best = gp.partition.brute_force(p).cost
    options = {"connected": True} if not len(far) else {"lifted": far}
    if groups is not None:
        options["groups"] = pd.DataFrame({"id": names, "group": groups})
    for method in ("kernighan-lin", "exact"):
        r = solve(near, **options, method=method, workers=0, memory_limit="10MB")
        found = r.to_frame()
        labels = {name: n + k for k, name in enumerate(names.tolist())}
        labels |= dict(zip(found["id"], found["label"], strict=True))
        assert p.evaluate(labels) == pytest.approx(r.cost)
        assert r.lower_bound <= best + 1e-9 <= r.cost + 2e-9
        assert r.status != "optimal" or r.cost == pytest.approx(best)


def test_bad_groups_are_named():
    rows = pd.DataFrame({"u": [0, 1], "v": [1, 2], "cost": [-1.0, -1.0]})
    with pytest.raises(gp.InvalidOption, match="group_cost is -1: expected a price of at least 0"):
        solve(rows, groups=pd.DataFrame({"id": [0], "group": [1]}), group_cost=-1, workers=0)
    with pytest.raises(gp.GraphPartError, match="has no column 'group'"):
        solve(rows, groups=pd.DataFrame({"id": [0], "block": [1]}), workers=0)
    assert solve(rows, groups=pd.DataFrame({"id": [0, 2], "group": ["A", "A"]}), workers=0).cost == -1.0
    assert solve(rows, groups=pd.DataFrame({"id": [0, 2], "group": ["A", "A"]}), group_cost=0, workers=0).cost == -2.0


def test_groups_of_no_pairs():
    rows = pd.DataFrame({"u": np.zeros(0, np.int64), "v": np.zeros(0, np.int64), "cost": np.zeros(0)})
    result = solve(rows, groups=pd.DataFrame({"id": ["a", "b"], "group": ["x", "x"]}))
    assert (result.cost, result.elements, result.n_clusters) == (0.0, 0, 0)
