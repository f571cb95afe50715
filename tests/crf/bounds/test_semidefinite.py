"""The semidefinite bound: squares that prove it, on problems that brute force solves, and where it is far better."""

import math
from dataclasses import replace

import numpy as np
import pytest
from trials import trials

import graphpart as gp
from graphpart.crf.bounds import _odd_squares
from graphpart.crf.bounds.contestant import ContestantParameters
from graphpart.crf.bounds.semidefinite import Semidefinite, spin_costs
from graphpart.crf.bounds.squaring import Squaring
from graphpart.crf.certificates.certificate import Certificate, certify
from graphpart.crf.certificates.exact_check import check_certificate
from graphpart.crf.certificates.squares import Squares
from graphpart.crf.hard_component import HardComponent
from graphpart.crf.problem.quadratic_form import quadratic_form
from graphpart.errors import InfeasibleProblem, InvalidCertificate, InvalidProblem
from graphpart.stopping import Stopping


def random_problem(rng: np.random.Generator, n: int, kind: str) -> gp.FactorGraph:
    """Tables of single variables and of most pairs, some of them twice and in reverse; costs of several kinds."""
    pairs = np.array([(i, j) for i in range(n) for j in range(i + 1, n) if rng.random() < 0.8], np.int32).reshape(-1, 2)
    again = pairs[rng.random(len(pairs)) < 0.2][:, ::-1]
    draw = {
        "normal": lambda *shape: rng.normal(size=shape),
        "whole": lambda *shape: rng.integers(-5, 6, shape).astype(float),
        "ties": lambda *shape: rng.integers(0, 2, shape).astype(float),
        "huge": lambda *shape: rng.normal(size=shape) * 1e12,
        "mixed": lambda *shape: rng.normal(size=shape) * 10.0 ** rng.integers(-6, 7, shape),
        "tiny": lambda *shape: rng.normal(size=shape) * 1e-200,
        "zero": lambda *shape: np.zeros(shape),
    }[kind]
    few = np.flatnonzero(rng.random(n) < 0.7)[:, None].astype(np.int32)
    groups = [(few, draw(len(few), 2)), (pairs, draw(len(pairs), 2, 2)), (again, draw(len(again), 2, 2))]
    return gp.FactorGraph.from_arrays([2] * n, groups, constant=float(draw(1)[0]))


@pytest.mark.parametrize("kind", ["normal", "whole", "ties", "huge", "mixed", "tiny", "zero"])
def test_the_bound_holds_and_is_proven(kind):
    for seed in range(trials(40)):
        rng = np.random.default_rng(seed)
        f = random_problem(rng, int(rng.integers(0, 9)), kind)
        optimum = gp.crf.brute_force(f)
        c = gp.crf.lower_bound(f, "semidefinite", max_iterations=int(rng.integers(1, 40)))
        assert c.bound <= optimum.cost, seed
        c.check(f)
        assert check_certificate(f, c, optimum.labels) >= c.bound, seed


def test_the_bound_is_that_of_the_relaxation():
    """On six variables of a complete graph nearly always the optimum; on five of cost 1 each, pentagons are missing."""
    closed = 0
    for seed in range(10):
        f = random_problem(np.random.default_rng(seed), 6, "normal")
        bound, cost = gp.crf.lower_bound(f, "semidefinite", max_iterations=100).bound, gp.crf.brute_force(f).cost
        closed += cost - bound < 1e-2 * abs(cost)
    assert closed >= 9
    pairs = np.array([(i, j) for i in range(5) for j in range(i)], np.int32)
    same = np.tile(np.eye(2), (10, 1, 1))
    f = gp.FactorGraph.from_arrays([2] * 5, [(pairs, same)])
    q = quadratic_form(f)
    relaxation = Semidefinite(*spin_costs(q))
    for _ in range(200):
        relaxation.round(4.0)
    # With all entries X the relaxation's value is 5 + 5 X, and triangles allow X = -1/4 at least by semidefiniteness.
    assert relaxation.bound == pytest.approx(5 - 5 / 4, abs=1e-2)


def test_far_better_than_message_passing_where_pairs_are_dense():
    rng = np.random.default_rng(7)
    n = 40
    pairs = np.array([(i, j) for i in range(n) for j in range(i)], np.int32)
    w = rng.integers(-100, 101, len(pairs)).astype(float)
    tables = np.zeros((len(pairs), 2, 2))
    tables[:, 1, 1] = w
    f = gp.FactorGraph.from_arrays([2] * n, [(pairs, tables)])
    cost = gp.crf.search(f, time_limit=None, max_iterations=20, seed=1).cost
    bound = gp.crf.lower_bound(f, "semidefinite", max_iterations=60).bound
    other = gp.crf.lower_bound(f, max_iterations=60).bound
    assert cost - bound < 0.2 * (cost - other)


def test_what_a_certificate_may_be(tmp_path):
    f = random_problem(np.random.default_rng(3), 7, "whole")
    c = gp.crf.lower_bound(f, "semidefinite", max_iterations=20)
    assert len(c.squares) and c.step == 1.0
    for name in ("c.json", "c.npz"):
        c.save(tmp_path / name)
        assert Certificate.load(tmp_path / name).verify(f, exact=True)
    plain = gp.crf.lower_bound(f)  # files without squares are as they were
    plain.save(tmp_path / "plain.json")
    assert "square" not in (tmp_path / "plain.json").read_text()
    assert Certificate.load(tmp_path / "plain.json").verify(f)
    s = c.squares
    broken = [
        replace(s, weights=-s.weights),
        replace(s, weights=np.full(len(s), math.inf)),
        replace(s, weights=s.weights[1:]),
        replace(s, members=s.members + 1),
        replace(s, members=s.members[::-1].copy()),
        replace(s, start=s.start + 1),
        replace(s, numbers=s.numbers << 40),
        replace(s, numbers=np.full(len(s.numbers), -(2**63))),
        replace(s, numbers=s.numbers / 2),
    ]
    for squares in broken:
        with pytest.raises(InvalidCertificate):
            certify(f, [], "by hand", squares=squares)
    halves = replace(c, squares=replace(s, numbers=s.numbers / 2))
    with pytest.raises(InvalidCertificate, match="whole"):
        check_certificate(f, halves)
    better = replace(c, bound=c.bound + 1000.0)
    assert not gp.crf.lower_bound(f).verify(random_problem(np.random.default_rng(4), 7, "whole"))
    with pytest.raises(InvalidCertificate):
        check_certificate(f, better)


def test_squares_by_hand():
    """Three variables that all want to differ: (s1 + s2 + s3)^2 >= 1, so one pair agrees."""
    pairs = np.array([[0, 1], [1, 2], [0, 2]], np.int32)
    f = gp.FactorGraph.from_arrays([2] * 3, [(pairs, np.tile(np.eye(2), (3, 1, 1)))])
    one = Squares(np.array([0, 3]), np.array([0, 1, 2], np.int32), np.array([1, 1, 1]), np.array([0.25]))
    assert certify(f, [], "by hand", squares=one).bound == 1.0
    even = Squares(np.array([0, 2]), np.array([0, 1], np.int32), np.array([1, 1]), np.array([0.25]))
    assert certify(f, [], "by hand", squares=even).bound == 0.0  # s1 + s2 may be 0


def test_what_it_is_not_for():
    three = gp.FactorGraph.from_arrays([3, 2], [([[0, 1]], np.ones((1, 3, 2)))])
    forbidden = gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [[[0.0, math.inf], [1.0, 0.0]]])])
    large = gp.FactorGraph.from_arrays([2] * 601, [([[0, 1]], np.ones((1, 2, 2)))])
    for f in (three, forbidden, large):
        with pytest.raises(InvalidProblem, match="message-passing"):
            gp.crf.lower_bound(f, "semidefinite")
    squares = Squares(np.array([0, 1]), np.zeros(1, np.int32), np.ones(1, np.int64), np.ones(1))
    for f in (three, forbidden):
        with pytest.raises(InvalidCertificate):
            certify(f, [], "by hand", squares=squares)
    with pytest.raises(InfeasibleProblem):
        gp.crf.lower_bound(gp.FactorGraph.from_arrays([2], [([[0]], [[math.inf, math.inf]])]), "semidefinite")


def test_ascent_keeps_the_inverse():
    rng = np.random.default_rng(5)
    n = 8
    A = rng.normal(size=(n, n))
    C = A + A.T
    starts = np.array([*range(n + 1), n + 3, n + 6], np.int64)
    members = np.array([*range(n), 0, 2, 5, 1, 2, 7], np.int32)
    signs = np.array([1] * n + [1, -1, 1, 1, 1, -1], np.int8)
    m = np.concatenate([np.full(n, -30.0), [0.0, 0.5]])

    def rest() -> np.ndarray:
        V = np.zeros((len(m), n))
        for r in range(len(m)):
            V[r, members[starts[r] : starts[r + 1]]] = signs[starts[r] : starts[r + 1]]
        Z = np.zeros((n, n))
        _odd_squares.add_squares(starts, members, signs, m, Z)
        np.testing.assert_allclose(Z, V.T @ (m[:, None] * V))
        return C - Z

    W = np.linalg.inv(rest())
    for mu in (3.0, 1.0, 0.5):
        before = m.sum() + mu * np.linalg.slogdet(rest())[1]
        _odd_squares.ascend(W, starts, members, signs, m, n, mu, 0.0)
        assert m.sum() + mu * np.linalg.slogdet(rest())[1] >= before
        np.testing.assert_allclose(np.triu(W), np.triu(np.linalg.inv(rest())), rtol=1e-6, atol=1e-9)
        assert (m[n:] >= 0).all()


def test_the_most_violated_triangles():
    rng = np.random.default_rng(6)
    for n in (1, 2, 3, 4, 11, 20):
        X = rng.uniform(-1, 1, (n, n)).astype(np.float32)
        X = np.triu(X, 1) + np.triu(X, 1).T
        members, signs, sums = _odd_squares.triangles(X, -1.0)
        found = {(i, j): x for (i, j, _), x in zip(members.tolist(), sums.tolist(), strict=True)}
        for (i, j, k), (r, s, t), x in zip(members.tolist(), signs.tolist(), sums.tolist(), strict=True):
            assert i < j < k and r == 1
            assert s * X[i, j] + t * X[i, k] + s * t * X[j, k] == pytest.approx(x, abs=1e-6)
        for i in range(n):
            for j in range(i + 1, n - 1):
                least = min(
                    s * X[i, j] + t * X[i, k] + s * t * X[j, k]
                    for k in range(j + 1, n) for s in (1, -1) for t in (1, -1)
                )  # fmt: skip
                assert found.get((i, j), 0.0) == pytest.approx(least if least <= -1.0 else 0.0, abs=1e-6)


def test_in_a_race():
    rng = np.random.default_rng(8)
    n = 40
    pairs = np.array([(i, j) for i in range(n) for j in range(i)], np.int32)
    f = gp.FactorGraph.from_arrays([2] * n, [(pairs, rng.normal(size=(len(pairs), 2, 2)))])
    hard = HardComponent(f, np.zeros(n, np.int32), Stopping(), np.random.default_rng(0), lambda *_: None)
    squaring = hard.squaring
    squaring.run(Stopping(), None)
    squaring.certify()
    assert squaring.done and hard.passing.ascent is None
    assert squaring.certified <= squaring.bound <= gp.crf.search(f, max_iterations=20, seed=1).cost + 1e-9
    sparse = gp.FactorGraph.from_arrays([2] * 9, [([[i, i + 1] for i in range(8)], np.ones((8, 2, 2)))])
    assert Squaring(sparse, np.zeros(9, np.int32), 8.0).done


def test_message_passing_is_certified_where_there_is_no_time_for_squares():
    rng = np.random.default_rng(8)
    n = 40
    pairs = np.array([(i, j) for i in range(n) for j in range(i)], np.int32)
    f = gp.FactorGraph.from_arrays([2] * n, [(pairs, rng.normal(size=(len(pairs), 2, 2)))])
    slow = ContestantParameters(operation=1.0)
    stopping = Stopping(0.5)
    hard = HardComponent(f, np.zeros(n, np.int32), stopping, np.random.default_rng(0), lambda *_: None, slow)
    assert not hard.squaring.begins(stopping.remaining)
    hard.run(stopping)
    assert hard.squaring.certified == -math.inf
    assert hard.bound >= hard.passing.certified > hard.least
