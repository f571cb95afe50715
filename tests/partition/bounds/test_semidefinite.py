"""General 2-partitions, the semidefinite bound that is made of them, and the search for 2-partitions near others."""

import dataclasses
import itertools

import numpy as np
import pytest
from trials import trials

import graphpart as gp
from graphpart.partition.bounds import _cuts, _kernels
from graphpart.partition.bounds.relaxation import Relaxation
from graphpart.partition.bounds.rows import Rows
from graphpart.partition.bounds.semidefinite import Semidefinite, factor, project, whole_numbers
from graphpart.partition.certificates.certificate import Certificate, certify, proven_bound, sealed
from graphpart.partition.certificates.exact_check import exact_bound
from graphpart.partition.certificates.inequalities import GENERAL, LARGEST_COEFFICIENT, TWO_PARTITION, Inequalities
from graphpart.stopping import Stopping
from graphpart.testing import check_certificate


def stopping(limit=None):
    return Stopping(limit, None, None, None)


def partitions_of(n):
    """All partitions as labels."""
    labels = [[0]]
    for _ in range(1, n):
        labels = [[*some, k] for some in labels for k in range(max(some) + 2)]
    return np.array(labels)


def random_problem(rng, n, joins=False):
    cost = np.triu(rng.integers(-9, 10, (n, n)), 1).astype(float)
    u, v = np.triu_indices(n, 1)
    required = [(0, n - 1)] if joins else []
    return gp.SetPartition.from_pairs(n, (u, v), cost[u, v], must_join=required)


def test_general_2_partitions_hold_for_every_partition():
    rng = np.random.default_rng(1)
    labels = partitions_of(7)
    tight = 0
    for scale in (1, 2, 3, 1000):
        numbers = rng.integers(-scale, scale + 1, (60, 7)).astype(np.int32)
        for numbers_of_one in numbers:
            rows = Inequalities.general(numbers_of_one[None])
            if not len(rows):
                continue
            together = labels[:, :, None] == labels[:, None, :]
            b = numbers_of_one.astype(np.int64)
            upper = np.triu_indices(7, 1)
            left = -(together[:, upper[0], upper[1]] * (b[upper[0]] * b[upper[1]])).sum(axis=1)
            right = ((b * b).sum() - abs(b.sum())) / 2
            assert (left <= right).all()
            tight += (left == right).any()
    assert tight > 60


def test_their_terms_are_repeated_by_their_coefficients():
    rows = Inequalities.general(np.array([[2, 0, -1, 1], [0, 0, 3, 0], [1, -1, 1, 0]], np.int32))
    assert [rows.item(k) for k in range(len(rows))] == [
        (GENERAL, 3, [0, 2, 3, 2, -1, 1]),
        (GENERAL, 3, [0, 1, 2, 1, -1, 1]),
    ]
    starts, keys, signs, rhs = rows.terms(4)
    total = np.zeros(16)
    np.add.at(total, keys[: starts[1]], signs[: starts[1]])
    assert total[[0 * 4 + 2, 0 * 4 + 3, 2 * 4 + 3]].tolist() == [2, -2, 1]
    assert rhs.tolist() == [(4 + 1 + 1 - 2) / 2, 1.0]
    same = Inequalities.of([(TWO_PARTITION, 1, [1, 0, 2])]).terms(4)
    assert sorted(zip(keys[starts[1] :], signs[starts[1] :], strict=True)) == sorted(zip(same[1], same[2], strict=True))
    assert rows.renamed(np.array([3, 2, 1, 0])).item(0) == (GENERAL, 3, [3, 1, 0, 2, -1, 1])


@pytest.mark.parametrize("joins", [False, True])
def test_bounds_in_floating_point_are_below_the_exact_ones(joins):
    rng = np.random.default_rng(2)
    for case in range(trials(300)):
        n = int(rng.integers(3, 9))
        p = random_problem(rng, n, joins)
        free = n - joins  # the last element stands for the first one
        numbers = np.zeros((4, n), np.int32)
        numbers[:, :free] = rng.integers(-1, 2, (4, free)) * 10.0 ** rng.integers(0, 7, (4, 1))
        rows = Inequalities.general(numbers) + Inequalities.of([(TWO_PARTITION, 1, [0, 1])])
        multipliers = rng.random(len(rows)) * 10.0 ** -rng.integers(0, 13)
        certificate = certify(p, "some", rows, multipliers, step=0.0)
        best = gp.partition.brute_force(p)
        assert certificate.bound <= best.cost, case
        assert certificate.bound <= exact_bound(p, certificate) <= best.cost, case
        exact = float(exact_bound(p, certificate))
        assert certificate.bound == pytest.approx(exact, rel=1e-9, abs=1e-9), case
        check_certificate(p, certificate, best.labels.tolist())


@pytest.mark.parametrize(
    "row",
    [(GENERAL, 2, [0, 1, 1]), (GENERAL, 1, [0, 1]), (GENERAL, 2, [0, 0, 1, 1]), (GENERAL, 2, [0, 9, 1, 1]),
     (GENERAL, 2, [0, 1, LARGEST_COEFFICIENT + 1, 1]), (GENERAL, 2, [0, 1, 1, -LARGEST_COEFFICIENT - 1]),
     (GENERAL, -2, [0, 1, 1, 1])],
)  # fmt: skip
def test_what_is_no_general_2_partition_proves_nothing(row):
    p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (0, 2)], [-2.0, -3.0, 4.0])
    with pytest.raises(gp.InvalidCertificate):
        certify(p, "wrong", Inequalities.of([row]), np.array([1.0]))


def test_sums_beyond_floating_point_prove_nothing():
    p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2), (0, 2)], [-2.0, -3.0, 4.0])
    rows = Inequalities.of([(GENERAL, 2, [0, 1, LARGEST_COEFFICIENT, -LARGEST_COEFFICIENT])])
    with pytest.raises(gp.InvalidCertificate):
        proven_bound(p, rows, np.array([1e305]))
    assert proven_bound(p, rows, np.array([1e-320])) <= -3.0  # subnormal multipliers change nothing, and break nothing


@pytest.mark.parametrize("name", ["c.json", "c.npz", "c.json.gz"])
def test_files_keep_them_and_alterations_fail(tmp_path, name):
    rng = np.random.default_rng(3)
    p = random_problem(rng, 12)
    relaxation = Relaxation(p, stopping(), complete=True)
    semidefinite = Semidefinite(relaxation)
    for _ in range(20):
        semidefinite.round()
    good = certify(p, "semidefinite", *relaxation.best)
    assert (good.inequalities.kinds == GENERAL).any() and good.verify(p) and good.verify(p, exact=True)
    assert good.bound >= relaxation.bound - 1e-6 * abs(relaxation.bound)
    good.save(tmp_path / name)
    again = Certificate.load(tmp_path / name)
    assert again.verify(p) and again.seal == good.seal
    loose = certify(p, "semidefinite", *relaxation.best, step=0.0)  # not rounded up: every change of a number shows
    worse = better = 0
    for k in range(len(good.inequalities.elements)):
        elements = loose.inequalities.elements.copy()
        elements[k] += 1 << 20
        altered = dataclasses.replace(loose, inequalities=dataclasses.replace(loose.inequalities, elements=elements))
        assert not altered.verify(p)
        resealed = sealed(altered)
        outcome = resealed.verify(p), resealed.verify(p, exact=True)
        worse += outcome == (False, False)
        better += outcome == (True, True)
        assert outcome[0] <= outcome[1]
    assert worse > better  # a change may prove a little more, but most prove less, or are no inequality


def test_bounds_are_at_most_the_optimum_and_not_below_the_linear_ones():
    rng = np.random.default_rng(4)
    for case in range(12):
        n = int(rng.integers(8, 13))
        p = random_problem(rng, n)
        best = gp.partition.brute_force(p).cost
        lp, semidefinite = (gp.partition.lower_bound(p, method).bound for method in ("lp", "semidefinite"))
        assert semidefinite <= best, case
        assert semidefinite >= lp - 1.0, case  # whole costs: the last unit may be a matter of convergence


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_few_elements(n):
    values = (-1.0, 0.0, 1e300, -1e-300, np.inf)
    for costs in itertools.combinations_with_replacement(values, n * (n - 1) // 2):  # any two of three pairs are alike
        p = gp.SetPartition.from_pairs(n, tuple(np.triu_indices(n, 1)), list(costs))
        certificate = gp.partition.lower_bound(p, "semidefinite", time_limit=0.05)
        assert certificate.bound <= gp.partition.brute_force(p).cost and certificate.verify(p, exact=True)


def test_the_factor_is_that_of_the_nearest_positive_semidefinite_matrix():
    rng = np.random.default_rng(5)
    A = rng.normal(size=(9, 9))
    A += A.T
    F = factor(A.copy())
    values, vectors = np.linalg.eigh(A)
    assert np.allclose(F @ F.T, (vectors * np.maximum(values, 0)) @ vectors.T)
    numbers, multiplier = whole_numbers(F)
    assert np.allclose(0.5 * multiplier * numbers.T @ numbers.astype(float), F @ F.T, atol=1e-5)
    assert np.abs(numbers).max() <= LARGEST_COEFFICIENT
    assert len(whole_numbers(np.zeros((4, 0)))[0]) == 0


def test_a_matrix_is_the_difference_of_two_positive_semidefinite_ones():
    rng = np.random.default_rng(8)
    for n in (1, 2, 5, 12):
        for shift in (-9.0, 0.0, 0.5, 9.0):
            A = rng.normal(size=(n, n))
            A = A + A.T + shift * np.eye(n)
            Y, added = project(A)
            assert np.allclose(Y - added, A) and np.allclose(Y @ added, 0.0, atol=1e-10)
            assert np.linalg.eigvalsh(Y).min() > -1e-10 and np.linalg.eigvalsh(added).min() > -1e-10


def test_sweeps_end_at_the_projection():
    rng = np.random.default_rng(9)
    for case in range(40):
        n, step = int(rng.integers(4, 9)), float(10.0 ** rng.integers(-2, 3))
        m = n * (n - 1) // 2
        rows = Rows(n, m, lambda keys, n=n: keys // n * (2 * n - keys // n - 1) // 2 + keys % n - keys // n - 1)
        sizes = rng.integers(2, n + 1, 12)
        rows.add(Inequalities.of([(TWO_PARTITION, 1, rng.permutation(n)[:k].tolist()) for k in sizes]))
        given = 3.0 * rng.normal(size=m)
        point, multipliers, rest = given.copy(), np.zeros(len(rows)), np.zeros(len(rows), np.uint8)
        lower, upper = np.zeros(m), (rng.random(m) < 0.9).astype(float)
        program = _kernels.Program(rows.starts, rows.middles, rows.pairs, rows.rhs, lower, upper)
        for _ in range(2000):
            program.project(step, point, multipliers, rest)
        y = np.clip(point, lower, upper)
        room = rows.rhs - rows.left(y)
        # The conditions for the nearest point: it is feasible, rows with a multiplier are tight, the rest is the box's.
        assert room.min() > -1e-7 and multipliers.min() >= 0.0 and np.abs(room * multipliers * step).max() < 1e-6, case
        assert np.allclose(point, given - step * rows.reduced(np.zeros(m), multipliers)), case
    assert (multipliers > 0).any()


def test_point_and_bound_meet_without_inequalities():
    rng = np.random.default_rng(10)
    for case in range(6):
        n = int(rng.integers(2, 25))
        p = random_problem(rng, n)
        relaxation = Relaxation(p, stopping(), complete=True)
        semidefinite = Semidefinite(relaxation)
        semidefinite.round(800)
        Y = relaxation._matrix() + np.eye(n)
        cost, scale = float(relaxation.given @ relaxation.y), float(np.abs(relaxation.given).sum())
        assert np.linalg.eigvalsh(Y).min() > -1e-4, case  # a feasible point, and a bound: nothing is left between them
        assert abs(cost - relaxation.bound) < 1e-4 * scale, case


@pytest.mark.parametrize("sigma", [0.5, 1.0, 1.5])
def test_tight_problems_are_proven(sigma):
    p = gp.generate.planted_partition(40, subsets=4, sigma=sigma, decimals=2, seed=3).problem
    best = gp.partition.exact(p)
    certificate = gp.partition.lower_bound(p, "semidefinite")
    assert best.status == "optimal" and certificate.bound == pytest.approx(best.cost, abs=0.011)
    assert certificate.bound <= best.cost + 1e-9
    assert check_certificate(p, certificate, best.labels.tolist()) <= best.cost + 1e-9


def test_noise_leaves_more_to_gain_than_the_linear_relaxation():
    p = gp.generate.uniform_integers(30, largest=100, seed=7).problem
    lp = gp.partition.lower_bound(p, "lp").bound
    relaxation = Relaxation(p, stopping(), complete=True)
    semidefinite = Semidefinite(relaxation)
    for _ in range(80):
        semidefinite.round()
        relaxation.separate()
    certificate = certify(p, "semidefinite", *relaxation.best)
    assert lp < certificate.bound <= gp.partition.search(p, max_iterations=4).cost and certificate.verify(p)


def test_auto_takes_it_where_costs_are_dense():
    dense = gp.generate.planted_partition(41, subsets=4, sigma=0.5, decimals=2, seed=3).problem
    sparse = gp.generate.grid(8, 8, seed=1).problem
    for p, name in ((dense, "semidefinite"), (sparse, "lp")):
        auto, same = (gp.partition.lower_bound(p, method) for method in ("auto", name))
        assert auto.bound == same.bound and np.array_equal(auto.multipliers, same.multipliers)


def test_components_joins_and_forbidden_pairs():
    rng = np.random.default_rng(11)
    for case in range(12):
        n = 9
        cost = np.where(rng.random((n, n)) < 0.4, 0.0, rng.integers(-9, 10, (n, n)).astype(float))
        cost[:4, 4:] = 0.0  # two components
        cost[0, 1] = np.inf if case % 2 else 1e9
        u, v = np.triu_indices(n, 1)
        p = gp.SetPartition.from_pairs(n, (u, v), cost[u, v], must_join=[(5, 8)] if case % 3 == 0 else [])
        certificate = gp.partition.lower_bound(p, "semidefinite")
        best = gp.partition.brute_force(p)
        check_certificate(p, certificate, best.labels.tolist())
        assert best.cost - 3.0 <= certificate.bound <= best.cost, case


def test_callbacks_end_the_work():
    p = gp.generate.uniform_integers(50, largest=100, seed=2).problem
    calls = []
    certificate = gp.partition.lower_bound(p, "semidefinite", callback=lambda *at: calls.append(at) or len(calls) > 3)
    assert len(calls) <= 6 and certificate.verify(p)


def test_searches_from_larger_2_partitions_than_are_wanted():
    rng = np.random.default_rng(12)
    n = 20
    Y = rng.random((n, n)) ** 2
    Y = np.ascontiguousarray((Y + Y.T) / 2)
    np.fill_diagonal(Y, 1.0)
    rows = Inequalities.of([(TWO_PARTITION, 5, rng.permutation(n)[:14].tolist()) for _ in range(50)])
    found = _cuts.near_two_partitions(Y, rows.starts, rows.splits, rows.elements, 0.01, 6, 40, stopping())
    assert len(found[1]) and np.diff(found[0]).max() <= 6


def test_2_partitions_near_others_are_violated_as_stated():
    rng = np.random.default_rng(6)
    found = 0
    for _ in range(30):
        n = 14
        Y = rng.random((n, n)) ** 2
        Y = np.ascontiguousarray((Y + Y.T) / 2)
        np.fill_diagonal(Y, 1.0)
        rows = Inequalities.of([(TWO_PARTITION, 1, rng.permutation(n)[:4].tolist()) for _ in range(10)])
        starts, splits, elements, amounts = _cuts.near_two_partitions(
            Y, rows.starts, rows.splits, rows.elements, 0.01, 8, 12, stopping()
        )
        near = Inequalities(np.full(len(splits), TWO_PARTITION, np.uint8), starts, elements, splits)
        at, keys, signs, rhs = near.terms(n)
        values = np.repeat(np.arange(len(near)), np.diff(at))
        left = np.bincount(values, signs * Y[keys // n, keys % n], len(near))
        assert np.allclose(left - rhs, amounts) and (amounts > 0.01).all()
        assert (np.diff(starts) <= 8).all() and (np.diff(starts) > 3).all()
        found += len(splits)
    assert found > 100


def test_rows_by_length_are_the_same_rows():
    rng = np.random.default_rng(7)
    rows = Rows(10, 45, lambda keys: keys // 10 * (19 - keys // 10) // 2 + keys % 10 - keys // 10 - 1)
    sizes = rng.integers(3, 8, 40)
    rows.add(Inequalities.of([(TWO_PARTITION, 1, rng.permutation(10)[:k].tolist()) for k in sizes]))
    rows.multipliers = rng.integers(0, 2, len(rows)).astype(float)
    order, starts, middles, pairs = rows.by_length()
    assert sorted(order.tolist()) == list(range(len(rows)))
    for k, i in enumerate(order):
        assert pairs[starts[k] : starts[k + 1]].tolist() == rows.pairs[rows.starts[i] : rows.starts[i + 1]].tolist()
        assert middles[k] - starts[k] == rows.middles[i] - rows.starts[i]
    assert (np.diff(rows.multipliers[order]) <= 0).all()


def test_sizes_that_are_refused():
    p = gp.SetPartition.from_pairs(2001, [(0, 1)], [-1.0], dense=False)
    with pytest.raises(gp.InvalidOption, match="the problem has 2001 elements: expected at most 2000"):
        gp.partition.lower_bound(p, "semidefinite")
    q = gp.SetPartition.from_pairs(600, [(0, 1), (1, 2)], [-1.0, -1.0], missing=0.5, dense=False)
    assert gp.partition.lower_bound(q, "semidefinite", time_limit=0.1).bound <= -1.5
