"""Joining in rounds: a naive reference of the rounds, greedy joining of what they leave, any number of threads."""

import tracemalloc

import numpy as np
import pytest
from reference import greedy_joining
from trials import trials

import graphpart as gp
from graphpart.partition.local_search import join_in_rounds as rounds
from graphpart.partition.local_search._joining_rounds import Subsets
from graphpart.partition.problem import canonical
from graphpart.stopping import Stopping

MASK = 2**64 - 1


def problem(rng: np.random.Generator, n: int, share: float, ties: bool) -> gp.SetPartition:
    """Costs whose sums are exact; some are infinite."""
    u, v = np.triu_indices(n, 1)
    kept = rng.random(len(u)) < share
    kept[0] = True
    u, v = u[kept], v[kept]
    cost = rng.integers(-3, 3, len(u)).astype(float) if ties else np.round(rng.normal(size=len(u)) * 2**20) / 2**20
    cost[rng.random(len(u)) < 0.05] = rng.choice([np.inf, 0.0, -50.0])
    return gp.SetPartition.from_pairs(n, (u, v), cost, dense=False)


def scrambled(a: int, b: int) -> int:
    """SplitMix64 of the smaller number, then the larger one."""
    z = (((min(a, b) << 32) | max(a, b)) + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def one_round(p: gp.SetPartition, sets: list[set[int]]) -> list[set[int]]:
    """Each two sets that are the best of each other are joined."""
    of = {i: k for k, one in enumerate(sets) for i in one}
    sums: dict[tuple[int, int], float] = {}
    for i, j, c in zip(*(x.tolist() for x in p.pairs()), strict=True):
        if of[i] != of[j]:
            for key in ((of[i], of[j]), (of[j], of[i])):
                sums[key] = sums.get(key, 0.0) + c

    def order(a: int, b: int) -> tuple[float, int, int, int]:
        sizes = sorted((len(sets[a]), len(sets[b])))
        return sums[a, b], sizes[0], sizes[1], scrambled(min(sets[a]), min(sets[b]))

    best: dict[int, int] = {}
    for a, b in sums:
        if sums[a, b] < -p._tolerance and (a not in best or order(a, b) < order(a, best[a])):
            best[a] = b
    joined = [sets[a] | sets[b] for a, b in best.items() if a < b and best.get(b) == a]
    return joined + [sets[a] for a in range(len(sets)) if a not in best or best.get(best[a]) != a]


def subsets_of(p: gp.SetPartition) -> Subsets:
    starts, neighbours, costs = p._rows().arrays
    alone = np.ones(p.n, np.int32), np.arange(p.n, dtype=np.int32)
    subsets = Subsets(starts[:-1], starts[1:], neighbours, costs, *alone, p._tolerance)
    subsets.choose()
    return subsets


def labels_of(sets: list[set[int]], n: int) -> list[int]:
    labels = np.empty(n, np.int32)
    for k, one in enumerate(sets):
        labels[list(one)] = k
    found: list[int] = canonical(labels).tolist()
    return found


@pytest.mark.filterwarnings("ignore:.*infinite")
@pytest.mark.parametrize("ties", [False, True])
def test_each_round_is_that_of_the_reference(ties, monkeypatch):
    rng = np.random.default_rng(int(ties))
    most = 0
    for number in range(trials(2000)):
        monkeypatch.setenv("GRAPHPART_THREADS", str(1 + number % 3))
        p = problem(rng, int(rng.integers(2, 30)), rng.uniform(0.05, 1.0), ties)
        subsets, labels = subsets_of(p), np.arange(p.n, dtype=np.int32)
        sets = [{k} for k in range(p.n)]
        rooms = [None, None]
        count = 0
        while (after := subsets.joined(rooms.pop(0))) is not None:
            rooms.append(after.room)
            sets, count = one_round(p, sets), count + 1
            labels, subsets = subsets.to[labels], after
            assert canonical(labels).tolist() == labels_of(sets, p.n), number
            u, v, cost = subsets.pairs()
            q = p._contract(labels)
            expected = {(i, j): c for i, j, c in zip(*(x.tolist() for x in q.pairs()), strict=True)}
            assert {(i, j): c for i, j, c in zip(u.tolist(), v.tolist(), cost.tolist(), strict=True)} == expected
        assert len(one_round(p, sets)) == len(sets)
        most = max(most, count)
    assert most > 3


@pytest.mark.filterwarnings("ignore:.*infinite")
@pytest.mark.parametrize("few", [1, 20])
def test_what_the_rounds_leave_is_joined_greedily(few, monkeypatch):
    monkeypatch.setattr(rounds, "MANY", 1)
    monkeypatch.setattr(rounds, "PARALLEL", -1.0)
    monkeypatch.setattr(rounds, "FEW", few)
    rng = np.random.default_rng(few)
    used = 0
    for number in range(trials(1000)):
        p = problem(rng, int(rng.integers(2, 25)), rng.uniform(0.05, 1.0), number % 2 == 0)
        found = rounds.join_in_rounds(p, p._tolerance, Stopping())
        if found is None:
            attracting = p.pairs()[2][p.pairs()[2] < -p._tolerance]
            assert len(set(attracting.tolist())) <= 1, number
            continue
        sets, few_left = [{k} for k in range(p.n)], False
        while not few_left and len(after := one_round(p, sets)) < len(sets):
            few_left = few * (len(sets) - len(after)) < len(sets)
            sets = after
        start = np.asarray(labels_of(sets, p.n), np.int32)
        q = p._contract(start)
        *_, last = [np.arange(q.n).tolist(), *greedy_joining(q, np.arange(q.n))]
        end = canonical(np.asarray(last, np.int32)[start])
        # Which subset has which number decides further ties only.
        if number % 2:
            assert found.tolist() == end.tolist(), number
        assert next(greedy_joining(p, found.tolist()), None) is None, number
        used += bool(len(sets) < p.n)
    assert used > trials(1000) // 2


def grid(side: int, seed: int, whole: bool = False) -> gp.SetPartition:
    index, rng = np.arange(side * side).reshape(side, side), np.random.default_rng(seed)
    u = np.concatenate([index[:, :-1].ravel(), index[:-1].ravel()])
    v = np.concatenate([index[:, 1:].ravel(), index[1:].ravel()])
    cost = rng.integers(-9, 9, len(u)).astype(float) if whole else rng.standard_normal(len(u))
    return gp.SetPartition.from_pairs(side * side, (u, v), cost)


@pytest.mark.parametrize("whole", [False, True])
def test_the_same_on_any_number_of_threads(whole, monkeypatch):
    p = grid(100, 1, whole)
    monkeypatch.setattr(rounds, "MANY", p.m)
    found = []
    for threads in ("1", "2", "3", "9"):
        monkeypatch.setenv("GRAPHPART_THREADS", threads)
        labels = rounds.join_in_rounds(p, p._tolerance, Stopping())
        assert labels is not None
        found.append((labels.tolist(), gp.partition.kernighan_lin_pairs(p).labels.tolist()))
    assert found[0] == found[1] == found[2] == found[3]
    greedy = gp.partition.greedy_joining(p)
    assert found[0][0] != greedy.labels.tolist()  # the method of that name stays greedy
    assert p._evaluate_labels(labels) == pytest.approx(greedy.cost, rel=0.01)


def test_where_it_does_not_pay(monkeypatch):
    p = grid(60, 2)
    assert rounds.join_in_rounds(p, p._tolerance, Stopping()) is None  # few pairs
    monkeypatch.setattr(rounds, "MANY", 1)
    assert rounds.join_in_rounds(p, p._tolerance, Stopping()) is not None
    same = gp.SetPartition.from_pairs(p.n, (p.u, p.v), np.sign(p.cost))
    assert rounds.join_in_rounds(same, same._tolerance, Stopping()) is None  # one cost
    random = gp.generate.sparse_random(20_000, 60_000, seed=1).problem
    assert rounds.join_in_rounds(random, random._tolerance, Stopping()) is None  # pairs do not become parallel
    repelling = gp.SetPartition.from_pairs(p.n, (p.u, p.v), np.abs(p.cost) + 1.0)
    assert rounds.join_in_rounds(repelling, repelling._tolerance, Stopping()) is None


def test_a_time_limit_ends_the_rounds(monkeypatch):
    p = grid(60, 3)
    monkeypatch.setattr(rounds, "MANY", 1)
    monkeypatch.setattr(rounds, "join_sparse", None)  # which is not called
    stopping = Stopping(time_limit=0.0)
    labels = rounds.join_in_rounds(p, p._tolerance, stopping)
    assert labels is not None
    assert labels.tolist() == canonical(labels).tolist()
    assert labels.max() > gp.partition.greedy_joining(p).labels.max()


def large_grid():
    at = np.arange(740 * 740).reshape(740, 740)
    u, v = (np.concatenate([x.ravel(), y.ravel()]) for x, y in ((at[:, :-1], at[:-1]), (at[:, 1:], at[1:])))
    return gp.SetPartition.from_pairs(at.size, (u, v), np.random.default_rng(0).normal(size=len(u)), dense=False)


def test_rounds_take_the_memory_of_the_first_rows_again_and_keep_none():
    p = large_grid()
    assert p.m >= rounds.MANY
    tracemalloc.start()
    assert rounds.join_in_rounds(p, p._tolerance, Stopping()) is not None
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert p._neighbours is None
    assert peak < 90 * p.m  # 74; with rows that are kept, and two more of that size, 101


def test_rounds_leave_rows_that_the_problem_has_as_they_are():
    p = large_grid()
    before = [array.copy() for array in p._rows().arrays]
    rounds.join_in_rounds(p, p._tolerance, Stopping())
    assert all(np.array_equal(a, b) for a, b in zip(before, p._rows().arrays, strict=True))
