"""Separation kernels: what they find is valid for all partitions and violated by as much as they say."""

import itertools

import numpy as np
import pytest
from trials import trials

from graphpart.partition.bounds import _cuts
from graphpart.partition.bounds.rows import Rows
from graphpart.partition.certificates.inequalities import CYCLE, TWO_PARTITION, WHEEL, Inequalities
from graphpart.stopping import Stopping

TOLERANCE = 1e-3


def all_partitions(n):
    """The matrices y of all partitions of n elements."""
    labels = [[]]
    for _ in range(n):
        labels = [[*some, k] for some in labels for k in range(max(some, default=-1) + 2)]
    labels = np.array(labels).reshape(len(labels), n)
    return (labels[:, :, None] == labels[:, None, :]).astype(float)


PARTITIONS = {n: all_partitions(n) for n in range(8)}


def matrix_of(values, n):
    y = np.zeros((n, n))
    y[np.triu_indices(n, 1)] = values
    return y + y.T


def random_points(count, seed, metric=False):
    """Points in the unit cube; with `metric`, of those that violate no triangle inequality."""
    rng = np.random.default_rng(seed)
    for case in range(count):
        n = int(rng.integers(0, 8))
        pairs = n * (n - 1) // 2
        kinds = (
            rng.random(pairs),
            rng.integers(0, 3, pairs) / 2,
            rng.integers(0, 2, pairs) * rng.choice([0.3, 0.5, 0.7]),
        )
        y = matrix_of(kinds[case % 3], n)
        if metric:
            d = 1 - y
            np.fill_diagonal(d, 0)
            for a in range(n):
                d = np.minimum(d, d[:, a, None] + d[None, a, :])
            y = np.maximum(1 - d, 0)
            np.fill_diagonal(y, 0)
        yield np.ascontiguousarray(y)


def separate(y, tolerance=TOLERANCE, largest=12):
    """Everything that the kernels find: inequalities and violations."""
    stopping = Stopping()
    triangles, amounts = _cuts.triangles(y, tolerance, stopping)
    out = [(CYCLE, 0, row, amount) for row, amount in zip(triangles.tolist(), amounts, strict=True)]
    starts, splits, elements, amounts = _cuts.two_partitions(y, tolerance, largest, stopping)
    parts = [elements[starts[k] : starts[k + 1]].tolist() for k in range(len(splits))]
    out += [(TWO_PARTITION, *row) for row in zip(splits.tolist(), parts, amounts, strict=True)]
    starts, elements, amounts = _cuts.odd_wheels(y, tolerance, stopping)
    parts = [elements[starts[k] : starts[k + 1]].tolist() for k in range(len(amounts))]
    out += [(WHEEL, 1, *row) for row in zip(parts, amounts, strict=True)]
    return out


@pytest.mark.parametrize("metric", [False, True])
def test_what_is_found_is_valid_and_violated(metric):
    count = dict.fromkeys((CYCLE, TWO_PARTITION, WHEEL), 0)
    for y in random_points(1500, seed=1, metric=metric):
        n = len(y)
        for kind, split, elements, amount in separate(y):
            count[kind] += 1
            starts, keys, signs, rhs = Inequalities.of([(kind, split, elements)]).terms(n)  # refuses what is none
            left = (signs * PARTITIONS[n][:, keys // n, keys % n]).sum(axis=1)
            assert (left <= rhs[0]).all() and starts[1] == len(keys)
            excess = float((signs * y[keys // n, keys % n]).sum() - rhs[0])
            assert excess > TOLERANCE - 1e-9 and excess == pytest.approx(amount, abs=1e-9)
    assert count[TWO_PARTITION] > 100 and count[WHEEL] > 100 and (count[CYCLE] > 100) != metric


def test_nothing_is_found_in_the_polytope():
    rng = np.random.default_rng(2)
    for _ in range(trials(300)):
        n = int(rng.integers(2, 8))
        some = PARTITIONS[n][rng.integers(0, len(PARTITIONS[n]), 4)]
        y = np.tensordot(rng.dirichlet(np.ones(4)), some, 1)
        np.fill_diagonal(y, 0)
        assert separate(y) == []


def test_triangles_are_the_most_violated_of_each_pair():
    for y in random_points(300, seed=3):
        n = len(y)
        found = {(row[0], row[2]): amount for kind, _, row, amount in separate(y) if kind == CYCLE}
        for b, c in itertools.combinations(range(n), 2):
            best = max((y[a, b] + y[a, c] - y[b, c] - 1 for a in range(n) if a not in (b, c)), default=-1.0)
            if best > TOLERANCE:
                assert found[b, c] == pytest.approx(best)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -1e9, -3.0, 3.0])
@pytest.mark.parametrize("n", [2, 3, 31, 32, 33, 65])
def test_points_that_are_none_name_no_elements_beyond_the_last(n, value):
    """Rows are padded with zeros, which -3 would exceed, and whole numbers cannot hold nan or inf."""
    y = np.full((n, n), 0.5)
    np.fill_diagonal(y, 0)
    y[0, 1] = y[1, 0] = y[n - 2, n - 1] = y[n - 1, n - 2] = value
    for kind, _, elements, amount in separate(y):
        assert amount > TOLERANCE and max(elements) < n and len(set(elements)) == len(elements), kind
    np.fill_diagonal(y, 1)
    given = np.array([0, 2]), np.array([1], np.int32), np.array([0, 1], np.int32)
    starts, _, elements, amounts = _cuts.near_two_partitions(y, *given, TOLERANCE, 12, 20, Stopping())
    assert starts[-1] == len(elements) and elements.max(initial=0) < n and (amounts > TOLERANCE).all()


def wheels_of(n):
    """All odd wheels of n elements: hub and rim."""
    for w in range(n):
        others = [a for a in range(n) if a != w]
        for k in range(3, n, 2):
            for rim in itertools.permutations(others, k):
                if rim[0] == min(rim) and rim[1] < rim[-1]:
                    yield w, rim


def test_a_hub_has_an_odd_wheel_exactly_if_one_is_found():
    for y in random_points(150, seed=4, metric=True):
        n = len(y)
        starts, elements, amounts = _cuts.odd_wheels(y, TOLERANCE, Stopping())
        best, found = np.full(n, -1.0), np.full(n, -1.0)
        for w, rim in wheels_of(n):
            value = sum(y[w, a] for a in rim) - sum(y[rim[i - 1], rim[i]] for i in range(len(rim))) - len(rim) // 2
            best[w] = max(best[w], value)
        hubs = elements[starts[:-1]] if len(amounts) else np.zeros(0, int)
        np.maximum.at(found, hubs, amounts)
        assert found[best > TOLERANCE + 1e-9] == pytest.approx(best[best > TOLERANCE + 1e-9])
        assert (found[best < TOLERANCE - 1e-9] == -1).all()


def test_two_partitions_with_several_elements_on_both_sides():
    # 6 * 0.7 between the sides, nothing within: more than 2
    y = np.zeros((6, 6))
    y[:2, 2:5] = y[2:5, :2] = 0.7
    found = [(split, elements) for kind, split, elements, _ in separate(y) if kind == TWO_PARTITION]
    assert (2, [0, 1, 2, 3, 4]) in found
    assert all(len(elements) <= 4 for *_, elements, _ in separate(y, largest=4))


def test_degenerate_points():
    for n in range(4):
        for value in (0.0, 1.0):
            assert separate(matrix_of(np.full(n * (n - 1) // 2, value), n)) == []


def rows_for(n):
    def positions(keys):
        a, b = keys // n, keys % n
        return a * (2 * n - a - 1) // 2 + b - a - 1

    return Rows(n, n * (n - 1) // 2, positions)


def test_rows_hold_each_inequality_once_and_add_prices_up():
    rows = rows_for(5)
    # a triangle is the same as the 2-partition of its centre and the other two; an odd wheel of 3, as a star
    given = [(CYCLE, 0, [0, 1, 2]), (TWO_PARTITION, 1, [1, 0, 2]), (CYCLE, 0, [2, 1, 0]), (CYCLE, 0, [1, 0, 2])]
    given += [(WHEEL, 1, [4, 0, 1, 2]), (TWO_PARTITION, 1, [4, 2, 1, 0])]
    assert rows.add(Inequalities.of(given), np.arange(1.0, 7.0)) == 3
    assert sorted(rows.multipliers) == [4.0, 6.0, 11.0]
    assert rows.add(Inequalities.of(given)) == 0 and len(rows) == 3


def test_rows_are_what_the_inequalities_say():
    rng = np.random.default_rng(5)
    n, m = 7, 21
    rows = rows_for(n)
    u, v = np.triu_indices(n, 1)
    for _ in range(40):
        some = rng.permutation(n)[: rng.integers(3, 7)].tolist()
        odd_rim = len(some) >= 4 and len(some) % 2 == 0
        given = [(CYCLE, 0, some), (TWO_PARTITION, int(rng.integers(1, len(some))), some)]
        rows.add(Inequalities.of(given + [(WHEEL, 1, some)] * odd_rim))
        rows.keep(rng.random(len(rows)) < 0.9)
        rows.multipliers = rng.random(len(rows))
        y, cost = rng.random(m), rng.normal(size=m)
        starts, keys, signs, rhs = rows.inequalities.terms(n)
        matrix = np.zeros((len(rhs), m))
        for k in range(len(rhs)):
            part = slice(starts[k], starts[k + 1])
            matrix[k, np.searchsorted(u * n + v, keys[part])] = signs[part]
        assert np.array_equal(rows.rhs, rhs) and np.allclose(rows.left(y), matrix @ y)
        assert np.allclose(rows.reduced(cost, rows.multipliers), cost + rows.multipliers @ matrix)
        assert np.array_equal(rows.counts, (matrix != 0).sum(axis=0))
        dense = np.zeros_like(matrix)
        dense[np.repeat(np.arange(len(rows)), rows.lengths), rows.pairs] = rows.signs()
        assert np.array_equal(dense, matrix)
    assert len(rows) > 10
