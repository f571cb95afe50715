"""The semidefinite bound: squares that prove it, on problems that brute force solves, and where it is far better."""

import math
from dataclasses import replace

import numpy as np
import pytest
from trials import trials

import graphpart as gp
from graphpart.crf.bounds.cutting import Cutting
from graphpart.crf.certificates.certificate import Certificate, certify
from graphpart.crf.certificates.exact_check import check_certificate
from graphpart.crf.certificates.squares import Squares
from graphpart.crf.hard_component import HardComponent
from graphpart.errors import InfeasibleProblem, InvalidCertificate, InvalidProblem
from graphpart.maximum_cut import square_bounding
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


def test_in_a_race(monkeypatch):
    """Dense problems have the semidefinite relaxation, if there is time for a round of it; sparse ones have cycles."""
    rng = np.random.default_rng(8)
    n = 20
    pairs = np.array([(i, j) for i in range(n) for j in range(i)], np.int32)
    f = gp.FactorGraph.from_arrays([2] * n, [(pairs, rng.integers(-9, 10, (len(pairs), 2, 2)))])
    hard = HardComponent(f, np.zeros(n, np.int32), Stopping(), np.random.default_rng(0), lambda *_: None)
    hard.cutting.run(Stopping(), None)
    assert hard.cutting.dense and hard.cutting.done and hard.passing.ascent is None
    assert hard.cutting.certified <= hard.cutting.bound <= gp.crf.search(f, max_iterations=20, seed=1).cost + 1e-9
    sparse = gp.FactorGraph.from_arrays([2] * 9, [([[i, i + 1] for i in range(8)], np.ones((8, 2, 2)))])
    assert not Cutting(sparse, np.zeros(9, np.int32), 8.0).dense
    monkeypatch.setattr(square_bounding, "OPERATION", 1.0)
    stopping = Stopping(0.5)
    hard = HardComponent(f, np.zeros(n, np.int32), stopping, np.random.default_rng(0), lambda *_: None)
    hard.run(stopping)
    assert hard.cutting.solver.rounds == 0 and hard.cutting.needs > 1000
    assert hard.bound >= hard.passing.certified > hard.least
