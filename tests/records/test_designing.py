"""From which answers most is learned, beside the definition: each candidate tried, with its own inverse; seed 0."""

from types import SimpleNamespace

import numpy as np
import pytest

from graphpart.answers.given import Answers
from graphpart.records.designing import Design

pyarrow = pytest.importorskip("pyarrow")


def test_the_unsure_candidates_become_surest():
    rng = np.random.default_rng(0)
    u, v = np.triu_indices(12, 1)
    parts = rng.normal(0, 2, (len(u), 2)).astype(np.float32)
    weight = parts.sum(axis=1) - 1.0
    scores = pyarrow.table({"left": u, "right": v, "match_weight": weight, "mw_a": parts[:, 0], "mw_b": parts[:, 1]})
    match = SimpleNamespace(nodes=range(12), scores=scores)
    design = Design(match, match)
    x, p = design._rows, 1 / (1 + np.exp2(weight))
    seen = p * (1 - p)  # what an answer that came tells
    chance = rng.uniform(0, 0.5, len(u))  # of a candidate to be wrong, which knows of other pairs
    w = chance * (1 - chance)
    given = Answers(np.array([[0, 1], [3, 7]], np.int32), np.array([1, -1], np.int8), np.arange(2))
    classes = np.arange(12)
    classes[5] = 4
    answered = np.flatnonzero((u == 0) & (v == 1))
    free = np.ones(len(u), bool)
    free[answered] = free[(u == 3) & (v == 7)] = free[(u == 4) & (v == 5)] = False
    precision = np.eye(4) + sum(
        s * seen[k] * np.outer(x[k], x[k]) for k, s in zip(design._some, design._share, strict=True)
    )
    precision += seen[answered[0]] * x[answered].T @ x[answered]

    def unsureness(precision):
        return (w * np.einsum("ij,ij->i", x @ np.linalg.inv(precision), x))[free].sum()

    near = design.near(classes, given)
    assert sorted(near) == np.flatnonzero(free).tolist() and (np.diff(np.abs(weight[near])) >= 0).all()
    places = design.worth_asking(near, chance[near], given, 3)
    assert sorted(places) == list(range(len(near)))
    rows = near[places]
    for k in rows[:3].tolist():
        left = {j: unsureness(precision + w[j] * np.outer(x[j], x[j])) for j in np.flatnonzero(free).tolist()}
        assert left[k] == pytest.approx(min(left.values()), rel=1e-9)
        precision += w[k] * np.outer(x[k], x[k])
    assert (np.diff(np.abs(weight[rows[6:]])) >= 0).all()  # then the least sure
