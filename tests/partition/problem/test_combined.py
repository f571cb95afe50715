"""Two requirements at once, all pairs of them, against an enumeration by definition."""

import itertools
import math
import pickle

import numpy as np
import pytest
from combined import KINDS, combined, cost_of, every_partition

import graphpart as gp
from graphpart.methods import methods_for
from graphpart.partition import within_limits

N = 5
EXACT = ("auto", "exact", "ilp", "brute-force")
PAIRS = [pair for pair in itertools.combinations(KINDS, 2) if pair != ("together", "apart")]


def case(kinds, seed=0):
    """A problem with these requirements that does not contradict itself."""
    rng = np.random.default_rng([seed, *map(KINDS.index, kinds)])
    while True:
        c = combined(rng, N, kinds, ties=seed % 2 == 0)
        try:
            return c, c.problem(), rng
        except gp.InvalidProblem as error:  # a path of base pairs would have to be named
            if "must be joined, but no path of base pairs" not in str(error):
                raise


@pytest.mark.filterwarnings("ignore::graphpart.GraphPartWarning")  # costs of one sign
@pytest.mark.parametrize("kinds", PAIRS, ids="+".join)
def test_all_methods_obey_both(kinds, monkeypatch):
    c, p, rng = case(kinds, rng_seed := PAIRS.index(kinds) % 2)
    if rng_seed:
        monkeypatch.setattr(within_limits, "ENUMERATED_ELEMENTS", 0)  # so that there is a race
    for method in methods_for("partition"):
        if not method.takes(p):
            assert method.name == "mutex-watershed"
            continue
        r = gp.solve(p, method.name, **({"max_iterations": 2} if method.anytime else {}))
        assert r.cost == pytest.approx(cost_of(r.labels, c.base, c.options)) and math.isfinite(r.cost)
        assert r.lower_bound <= c.least + 1e-9 <= r.cost + 2e-9, method.name
        if method.name in EXACT:
            assert r.cost == pytest.approx(c.least) and r.status == "optimal", method.name
        if "initial" in method.options:
            start = gp.solve(p, method.name, initial=r, **({"max_iterations": 1} if method.anytime else {}))
            assert start.cost <= r.cost + 1e-9
    near = gp.solve(p, "greedy-moving", initial=rng.integers(0, 3, N))  # which is repaired
    assert math.isfinite(cost_of(near.labels, c.base, c.options))


@pytest.mark.filterwarnings("ignore::graphpart.GraphPartWarning")
@pytest.mark.parametrize("kinds", PAIRS, ids="+".join)
def test_files_and_problems_made_from_both(kinds, tmp_path):
    c, p, rng = case(kinds, 2)
    copies = [pickle.loads(pickle.dumps(p)), gp.SetPartition(p.graph)]
    for name in ("p.npz", "p.json"):
        gp.write(p, tmp_path / name)
        copies.append(gp.read(tmp_path / name))
    if not {"lifted", "missing"} <= set(kinds):  # in one constructor, lifted costs are in place of missing=
        data = {name: c.options[name] for name in ("missing", "background") if name in c.options}
        rest = {name: value for name, value in c.options.items() if name not in data}
        plain = gp.SetPartition.from_pairs(N, list(c.base), list(c.base.values()), **data)
        copies.append(plain.require(**rest))
        copies.append(plain.require(**{name: rest[name] for name in reversed(rest)}))
        for name in ("groups", "max_size", "n_clusters", "together", "apart", "connected", "lifted"):
            if name in rest and name != "together":  # whose path of base pairs has to be there first
                more = {name: rest[name]} | ({"group_cost": rest["group_cost"]} if name == "groups" else {})
                plain = plain.require(**more)
        copies.append(plain.require(together=rest.get("together", ())))
    for q in copies:
        assert gp.partition.brute_force(q).cost == pytest.approx(c.least)
    r = gp.solve(p)
    d = gp.partition.doubts(p, r, [(0, 1), (2, 4)], method="exact")
    for a, b, doubt in zip(*(d.pairs[name].tolist() for name in ("left", "right", "doubt")), strict=True):
        other = min(
            cost_of(x, c.base, c.options) for x in every_partition(N) if (x[a] == x[b]) != (r.labels[a] == r.labels[b])
        )
        assert doubt == pytest.approx(other - r.cost)
    old = np.where(np.arange(N) == rng.integers(N), -1, r.labels)
    known = [a for a in range(N) if old[a] >= 0]
    frozen = min(
        cost_of(x, c.base, c.options)
        for x in every_partition(N)
        if all((x[a] == x[b]) == (old[a] == old[b]) for a, b in itertools.combinations(known, 2))
    )
    if frozen == math.inf:
        with pytest.raises((gp.InvalidPartition, gp.InfeasibleProblem), match="frozen"):
            gp.partition.extend(p, old)
    else:
        s = gp.partition.extend(p, old)
        assert s.cost == pytest.approx(frozen) == pytest.approx(cost_of(s.labels, c.base, c.options))
    loose = gp.partition.extend(p, old, freeze=False, before=p)
    assert cost_of(loose.labels, c.base, c.options) <= frozen + 1e-9


def test_too_many_pairs_are_named(monkeypatch):
    from graphpart.partition.problem import connectedness

    monkeypatch.setattr(connectedness, "LISTED", 2)
    path = 3, [(0, 1), (1, 2)], [1.0, 1.0]
    for options, name in (({"groups": ["x"] * 3}, "groups"), ({"missing": 1.0}, "missing or background")):
        with pytest.raises(gp.InvalidProblem, match=f"clusters with {name} list more than 2 pairs"):
            gp.SetPartition.from_pairs(*path, connected=True, **options)


def test_starts_far_from_the_allowed_number_are_repaired():
    """Also where required joins connect elements."""
    side = 6
    pairs = [(a, a + 1) for a in range(side * side) if (a + 1) % side] + [(a, a + side) for a in range(side * 5)]
    p = gp.SetPartition.from_pairs(side * side, pairs, np.linspace(-1, 1, len(pairs)), connected=True)
    for limits in ({"n_clusters": 4}, {"n_clusters": 30}, {"max_size": 5, "n_clusters": (1, 11)}):
        q = p.require(together=[(0, 1), (7, 13)], **limits)
        for start in (np.zeros(q.n, int), np.arange(q.n), np.arange(q.n) % 7):
            r = gp.solve(q, "greedy-moving", initial=start)
            q._check_feasible(r.labels)
    for most, size in ((6, 6), (7, 6), (3, 12)):  # full clusters
        r = gp.solve(p, "kernighan-lin", n_clusters=most, max_size=size)
        assert r.n_clusters == most and np.bincount(r.labels).max() <= size and math.isfinite(r.cost)
    with pytest.raises(gp.InfeasibleProblem, match="no base pair leads from one of 2 parts to another"):
        gp.SetPartition.from_pairs(3, [(0, 1)], [1.0], connected=True, n_clusters=1)
