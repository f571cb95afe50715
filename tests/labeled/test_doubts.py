"""Doubts of labelled partitions against an evaluation of every change; the set partition problem of given classes."""

import math

import numpy as np
import pytest
from labeled import random_problem

import graphpart as gp
from graphpart.errors import InfeasibleProblem


def rise(q, r, moved, to, kind):
    """By how much the cost rises if these elements get a cluster (-1: a new one) and a class (-1: as they are)."""
    labels, classes = np.where(moved, to if to >= 0 else q.n, r.labels), r.classes.copy()
    classes[moved] = kind if kind >= 0 else classes[moved]
    same = np.array_equal(q.labels(labels), r.labels) and np.array_equal(classes, r.classes)
    return math.inf if same else q.evaluate(labels, classes) - r.cost


def test_doubts_against_every_change():
    seen = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        try:
            q = gp.LabeledPartition.from_arrays(*random_problem(rng, 5))
            r = gp.labeled.brute_force(q) if seed % 2 else gp.labeled.greedy_joining(q)
        except InfeasibleProblem:
            continue
        if not math.isfinite(r.cost):
            continue
        seen += 1
        found = gp.labeled.doubts(q, r)
        for name, mine in (("elements", np.eye(q.n, dtype=bool)), ("clusters", r.labels == np.arange(9)[:, None])):
            table = getattr(found, name)
            keys = [q.index(one) for one in table["element"]] if name == "elements" else table["cluster"].tolist()
            assert sorted(keys) == list(range(q.n if name == "elements" else r.n_clusters))
            for key, to, kind, doubt in zip(keys, *(table[x].tolist() for x in ("to", "as", "doubt")), strict=True):
                moved = mine[key]
                kinds = range(-1, q.n_classes)
                reached = {-1, *r.labels[moved]} | {
                    r.labels[b]
                    for pair in zip(q.u.tolist(), q.v.tolist(), strict=True)
                    for a, b in (pair, pair[::-1])
                    if moved[a]
                }
                assert doubt == pytest.approx(min(rise(q, r, moved, c, k) for c in reached for k in kinds))
                assert doubt == math.inf or doubt == pytest.approx(rise(q, r, moved, to, kind))
    assert seen > 20


def test_clusters_of_given_classes():
    costs = [[[0.0, -3.0], [0.0, 1.0]], [[-1.0, 0.0], [math.inf, 0.5]]]
    q = gp.LabeledPartition.from_arrays(
        [[0.0, 2.0], [1.0, 0.0], [0.0, 0.0]], [(0, 1), (1, 2)], costs, [0.0, 2.0], ["a", "b", "c"]
    )
    r = gp.solve(q)
    p = q.with_classes(r)
    s = gp.solve(p)
    assert s.labels.tolist() == r.labels.tolist()
    for labels in ([0, 1, 2], [0, 0, 1], [0, 1, 1], [0, 0, 0]):
        here = q.evaluate(labels, r.classes)
        assert here == math.inf or here - r.cost == pytest.approx(p.evaluate(labels) - s.cost)
    assert "least sure" in repr(gp.partition.doubts(p, r.labels))
    assert len(gp.questions(p, r.labels)) == 2
    with pytest.raises(gp.InvalidProblem, match=r"got LabeledPartition: .*q\.with_classes\(r\) is one$"):
        gp.questions(q, r)
    with pytest.raises(gp.InvalidPartition, match="these classes are forbidden"):
        gp.LabeledPartition.from_arrays([[0.0, math.inf]], [], []).with_classes([1])
    with pytest.raises(gp.InvalidOption, match=r"q\.with_classes"):
        gp.report(q, r, "unused.html")
