"""Levels of multilevel moves: rows against contracted problems, and the same on any number of threads."""

import numpy as np
import pytest

import graphpart as gp
from graphpart.partition.local_search._levels import Level
from graphpart.partition.local_search.sums import terms_of
from graphpart.partition.problem import canonical
from graphpart.stopping import Stopping


def problem(kind: str, n: int, m: int) -> gp.SetPartition:
    rng = np.random.default_rng(1)
    u = rng.integers(0, n, m)
    pairs, costs = (u, (u + rng.integers(1, n, m)) % n), rng.normal(size=m) - 0.3
    if kind == "lifted":
        return gp.SetPartition.from_pairs(n, pairs, costs, lifted=([(0, 1), (1, 2)], [1.0, -1.0]))
    return gp.SetPartition.from_pairs(n, pairs, costs, missing=0.01 if kind == "missing" else 0.0)


@pytest.mark.parametrize("kind", ["plain", "missing", "lifted"])
@pytest.mark.parametrize("shares", [(0.5, 0.1, 0.4), (0.01, 0.98, 0.01)])
def test_the_same_on_any_number_of_threads(kind, shares, monkeypatch):
    p = problem(kind, 30_000, 150_000)
    rng = np.random.default_rng(2)
    labels = canonical(rng.choice(3, p.n, p=shares).astype(np.int32))
    found = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("GRAPHPART_THREADS", threads)
        level = Level(*p._rows().arrays, terms_of(p))
        fine = canonical(level.refine(labels, 7))
        count = int(fine.max()) + 1
        assert 3 < count < p.n and (canonical(fine.astype(np.int64) * 3 + labels) == fine).all()
        above = level.coarsen(fine, count)
        end = above.rows[0][-1]
        found.append([fine.tobytes(), *(a[:end].tobytes() for a in above.rows[1:]), above.rows[0].tobytes()])
        again = level.coarsen(fine, count, above.rows)
        assert [again.rows[k] is above.rows[k] for k in (1, 2)] == [True, True]
        assert [*(a[:end].tobytes() for a in again.rows[1:]), again.rows[0].tobytes()] == found[-1][1:]
    assert found[0] == found[1] == found[2]
    starts, to, costs = above.rows
    expected = p._contract(fine)._rows().arrays
    assert starts.tolist() == expected[0].tolist()
    at = np.lexsort((to[:end], np.repeat(np.arange(count), np.diff(starts))))
    assert to[at].tolist() == expected[1].tolist()
    assert np.allclose(costs[at], expected[2], rtol=0, atol=1e-9)


@pytest.mark.parametrize("alone", [True, False])
def test_moves_are_those_of_one_thread(alone, monkeypatch):
    """More than one batch of the queue, with elements whose neighbours move in the same batch."""
    p = problem("plain", 60_000, 400_000)
    start = np.arange(p.n, dtype=np.int32)
    if not alone:
        start = gp.partition.greedy_joining(p).labels.astype(np.int32)
    waiting = [None, np.random.default_rng(3).permutation(p.n)[: p.n - 5].astype(np.int32)]
    found = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("GRAPHPART_THREADS", threads)
        level = Level(*p._rows().arrays, terms_of(p))
        for first in waiting:
            labels = start.copy()
            change = level.move(labels, 0.0, Stopping(), first)
            assert (
                change == pytest.approx(p._evaluate_labels(canonical(labels)) - p._evaluate_labels(start))
                and change < 0
            )
            found.append((change, labels.tobytes()))
    assert found[:2] == found[2:4] == found[4:]


def test_touched_elements_are_those_whose_neighbourhood_changed():
    rng, seen = np.random.default_rng(4), 0
    for n in [4, 9, 40] * 20:
        u = rng.integers(0, n, 2 * n)
        p = gp.SetPartition.from_pairs(n, (u, (u + rng.integers(1, n, 2 * n)) % n), rng.normal(size=2 * n))
        level = Level(*p._rows().arrays, terms_of(p))
        old = rng.integers(0, 3, n).astype(np.int32)
        moved = rng.random(n) < 0.1
        new = np.where(moved, rng.integers(0, 3, n), old).astype(np.int32)
        a, b, _ = p.pairs()
        expected = (old != new) | np.isin(np.arange(n), np.r_[a[(old != new)[b]], b[(old != new)[a]]])
        touched = np.isin(np.arange(n), level.touched(old, rng.permutation(4).astype(np.int32)[new]))
        sizes = [((old == k).sum(), (new == k).sum(), ((old == k) & (new == k)).sum()) for k in range(3)]
        most = all(2 * both > max(before, after) or not before + after for before, after, both in sizes)
        assert not most or (touched == expected).all()
        seen += most and touched.any() and not touched.all()
        assert level.touched(old, old).size == 0
    assert seen > 5


def test_the_smallest_levels():
    for n in (1, 2, 3):
        p = gp.SetPartition.from_pairs(n, np.zeros((0, 2), int), [])
        level = Level(*p._rows().arrays, terms_of(p))
        assert level.refine(np.zeros(n, np.int32)).tolist() == list(range(n))
        assert level.coarsen(np.zeros(n, np.int32), 1).rows[0].tolist() == [0, 0]
        above = level.coarsen(np.arange(n, dtype=np.int32), n)
        assert above.n == n and not above.rows[0].any()
