"""Costs learned from whole partitions against enumeration, a general optimiser, and bounds made by other code."""

import json

import numpy as np
import pytest
from scipy.optimize import minimize as scipy_minimize
from trials import trials

import graphpart as gp
from graphpart import FormatError, InvalidOption, InvalidProblem, Status
from graphpart.learn import LogisticRegression, MaxMarginPartition, load_model, pairs
from graphpart.learn.max_margin.frank_wolfe import Machine
from graphpart.learn.max_margin.training import training_problems
from graphpart.stopping import Stopping


def partitions(n):
    """All label vectors of partitions of n elements."""
    out = [[]]
    for _ in range(n):
        out = [[*labels, k] for labels in out for k in range(max(labels, default=-1) + 2)]
    return [np.array(labels) for labels in out]


EVERY = {n: partitions(n) for n in range(1, 6)}


def tiny(seed, problems=3, V=2, noise=1.0, sparse=False):
    """Lists of attributes, decisions and pairs of small problems."""
    rng = np.random.default_rng(seed)
    X, same, P = [], [], []
    for _ in range(problems):
        n = int(rng.integers(2, 6))
        place, decisions = pairs.training_pairs(rng.integers(0, 3, n))
        if sparse:  # cuts left out leave the decisions those of a partition
            kept = (decisions == 1) | (rng.random(len(place)) < 0.6)
            kept[0] = True
            place, decisions = place[kept], decisions[kept]
        X.append(rng.normal(size=(len(place), V)) * noise + (2 * decisions - 1)[:, None])
        same.append(decisions)
        P.append(place)
    return X, same, P


def objective(theta, base, data, sigma, weights=(1.0, 1.0)):
    """The objective as it is written, by enumeration of all partitions."""
    hinges = []
    for X, same, P in zip(*data, strict=True):
        loss = np.where(same == 1, *weights)
        loss = loss / loss.sum()
        f = X @ theta / len(X)
        n = P.max() + 1
        worst = -np.inf
        for labels in EVERY[n]:
            z = (labels[P[:, 0]] == labels[P[:, 1]]).astype(float)
            worst = max(worst, loss @ np.abs(same - z) - f @ (same - z))
        hinges.append(worst)
    return np.mean(hinges) + ((theta - base) ** 2).sum() / (2 * sigma**2)


@pytest.mark.parametrize("seed", range(6))
def test_objective_and_bound_enclose_the_minimum(seed):
    data = tiny(seed, sparse=seed % 3 == 0)
    sigma, weights = (0.5, 2.0, 10.0)[seed % 3], ((1.0, 1.0), (3.0, 1.0))[seed % 2]
    base = np.zeros(2) if seed % 2 else np.array([0.3, -0.2])
    for oracle in ("exact", "local-search"):
        model = MaxMarginPartition(
            sigma, oracle=oracle, start=base, tol=1e-6, loss_weights=weights, certify=True, seed=0
        )
        model.fit(*data)
        assert model.status_ is Status.OPTIMAL and model.certified_ and model.gap_ <= 2e-6 + (oracle != "exact")
        here = objective(model.theta_, base, data, sigma, weights)
        assert model.bound_ - 1e-9 <= here <= model.objective_ + 1e-9
        if oracle == "exact":
            found = scipy_minimize(objective, model.theta_, (base, data, sigma, weights), method="Nelder-Mead")
            assert model.bound_ <= found.fun + 1e-9 and found.fun <= here + 1e-9
            assert here <= found.fun * (1 + 1e-5) + 1e-9
        rng = np.random.default_rng(seed)
        for _ in range(30):  # no parameters are below the bound
            other = model.theta_ + rng.normal(size=2) * rng.choice([0.01, 0.3, 3.0])
            assert objective(other, base, data, sigma, weights) >= model.bound_ - 1e-9


def test_hinge_and_its_gradient_are_those_of_enumeration():
    rng = np.random.default_rng(0)
    for seed in range(trials(60)):
        data = tiny(seed, 1)
        (problem,) = training_problems(*data, None, None, (1.0, 2.0), False)
        theta = rng.normal(size=2) * 3
        costs = problem.augmented(theta)
        least = min(float(costs @ problem.decisions(labels)) for labels in EVERY[problem.n])
        assert problem.hinge(theta, least) == pytest.approx(objective(theta, theta, data, 1.0, (1.0, 2.0)))
        labels = min(EVERY[problem.n], key=lambda labels: float(costs @ problem.decisions(labels)))
        psi, loss = problem.plane(problem.decisions(labels))
        assert loss - psi @ theta == pytest.approx(problem.hinge(theta, least))
        step = 1e-7  # the hinge is linear around almost every theta
        for v in range(2):
            at = [theta + sign * step * np.eye(2)[v] for sign in (1, -1)]
            up, down = (objective(t, t, data, 1.0, (1.0, 2.0)) for t in at)
            assert (up - down) / (2 * step) == pytest.approx(-psi[v], abs=1e-6)


def test_every_step_raises_the_dual():
    data = tiny(3, 5)
    parts = training_problems(*data, None, None, (1.0, 1.0), False)
    machine = Machine(parts, np.zeros(2), 3.0, "exact", Stopping())
    rng, before = np.random.default_rng(0), machine.dual()
    for _ in range(40):
        block = machine.blocks[int(rng.integers(len(parts)))]
        if rng.random() < 0.5:
            machine.towards(block, machine.ask(block))
        else:
            machine.pairwise(block)
        assert machine.dual() >= before - 1e-12
        assert block.weight.sum() == pytest.approx(1) and (block.weight >= 0).all()
        before = machine.dual()
    theta = machine.theta.copy()
    machine.refresh()
    assert machine.theta == pytest.approx(theta, abs=1e-10)


def test_the_relaxed_oracle_bounds_from_above():
    for seed in range(4):
        data = tiny(seed)
        exact, relaxed = (MaxMarginPartition(2.0, oracle=o, start=None, tol=1e-3, seed=0).fit(*data) for o in
                          ("exact", "relaxed"))  # fmt: skip
        assert relaxed.certified_
        assert objective(relaxed.theta_, np.zeros(2), data, 2.0) <= relaxed.objective_ + 1e-9
        assert relaxed.objective_ >= exact.bound_ - 1e-9


def larger(seed, problems=8, n=20, noise=1.0):
    rng = np.random.default_rng(seed)
    X, same, P = [], [], []
    for _ in range(problems):
        place, decisions = pairs.training_pairs(rng.integers(0, 4, n))
        signal = np.outer(2.0 * decisions - 1.0, [1.0, 0.0, -0.5])
        X.append(rng.normal(size=(len(place), 3)) * noise + signal)
        same.append(decisions)
        P.append(place)
    return X, same, P


def test_partitions_are_found_again():
    data = larger(0, noise=0.7)
    model = MaxMarginPartition(intercept=True, seed=0, certify=True).fit(*data)
    assert model.gap_ <= 0.011 and model.status_ is Status.OPTIMAL and model.n_problems_ == 8
    bounds = [bound for *_, bound in model.history_]
    assert bounds == sorted(bounds) and model.history_[-1][2] == model.bound_
    for X, same, P in zip(*larger(1, 3, noise=0.7), strict=True):
        labels = gp.partition.kernighan_lin(gp.SetPartition.from_pairs(20, P, model.costs(X))).labels
        assert ((labels[P[:, 0]] == labels[P[:, 1]]) == (same == 1)).mean() > 0.97


def test_forms_of_problems_are_the_same():
    X, same, P = larger(2, 3)
    model = MaxMarginPartition(intercept=True, seed=0).fit(X, same, P)
    number = np.repeat(["a", "b", "c"], [len(x) for x in X])
    moved = [p + 100 * i for i, p in enumerate(P)]  # numbers of elements mean nothing
    other = MaxMarginPartition(intercept=True, seed=0)
    other.fit(np.vstack(X), np.concatenate(same), np.concatenate(moved)[:, ::-1], number)
    assert other.theta_ == pytest.approx(model.theta_, rel=1e-12)
    again = MaxMarginPartition(intercept=True, seed=0).fit(X, same, P)
    assert (again.theta_ == model.theta_).all() and again.history_[-1][1:] == model.history_[-1][1:]
    weighted = MaxMarginPartition(intercept=True, seed=0, start=None)
    plain = MaxMarginPartition(intercept=True, seed=0, start=None).fit(X, same, P)
    weighted.fit(X, same, P, sample_weight=[np.full(len(x), 3.0) for x in X])
    assert weighted.theta_ == pytest.approx(plain.theta_)  # each problem's weights are shares


def test_weight_zero_is_like_a_pair_that_costs_nothing():
    X, same, P = tiny(5, 1)
    X, same, P = (np.vstack([X[0], [[9.0, 9.0]]]), np.append(same[0], 0), np.vstack([P[0], [90, 91]]))
    w = np.append(np.ones(len(X) - 1), 0.0)
    one = MaxMarginPartition(start=None, oracle="exact").fit(X, same, P, sample_weight=w)
    two = MaxMarginPartition(start=None, oracle="exact").fit(X[:-1], same[:-1], P[:-1])
    assert one.theta_ == pytest.approx(two.theta_)


def test_start_is_the_logistic_model_and_small_sigma_stays_there():
    X, same, P = larger(4, 4)
    model = MaxMarginPartition(1e-4, intercept=True, seed=0).fit(X, same, P)
    logistic = LogisticRegression(1e-4, intercept=True).fit(np.vstack(X), np.concatenate(same))
    assert model.start_ == pytest.approx(logistic.theta_, abs=1e-12)
    assert model.theta_ == pytest.approx(model.start_, abs=1e-6)


def test_perceptron():
    data = larger(6, noise=0.3)
    model = MaxMarginPartition(solver="perceptron", start=None, intercept=True, seed=0).fit(*data)
    assert model.status_ is Status.OPTIMAL and model.objective_ == 0.0  # all true partitions were found in one pass
    few = MaxMarginPartition(solver="perceptron", start=None, max_iterations=1, seed=0).fit(*larger(6, noise=3.0))
    assert few.status_ is Status.FEASIBLE and few.n_iter_ == 1 and few.n_oracles_ == 8
    assert few.bound_ != few.bound_  # it proves nothing
    problems = training_problems(*data, None, None, (1.0, 1.0), True)
    for problem in problems:
        costs = problem.problem(problem.costs(model.theta_))
        assert costs.evaluate(gp.partition.kernighan_lin(costs).labels) == pytest.approx(costs.evaluate(problem.labels))


def test_limits_and_callbacks():
    data = larger(7, 6, noise=3.0)
    stopped = MaxMarginPartition(seed=0, tol=0.0).fit(*data, time_limit=0.0)
    assert stopped.status_ is Status.TIME_LIMIT and not stopped.certified_ and np.isfinite(stopped.theta_).all()
    assert stopped.bound_ <= stopped.objective_ + 1e-9
    limited = MaxMarginPartition(seed=0, tol=0.0, max_iterations=2).fit(*data)
    assert limited.status_ is Status.ITERATION_LIMIT and limited.n_iter_ == 2 and limited.bound_ <= limited.objective_
    seen = []
    MaxMarginPartition(seed=0).fit(*data, callback=lambda seconds, cost: seen.append(cost) or len(seen) > 2)
    assert 3 <= len(seen) <= 5


def test_degenerate_problems():
    for y in ([0, 0, 0], [0, 1, 2], [0, 0], [0, 1]):
        P, same = pairs.training_pairs(y)
        model = MaxMarginPartition(intercept=True).fit(np.ones((len(P), 1)), same, P)
        assert np.isfinite(model.theta_).all() and model.gap_ <= 0.01
    empty = MaxMarginPartition(intercept=True).fit(np.zeros((0, 2)), [], np.zeros((0, 2), int))
    assert empty.theta_.tolist() == [0, 0, 0] and empty.objective_ == 0.0
    for scale in (1e-150, 1e100):
        X, same, P = tiny(1)
        model = MaxMarginPartition(start=None, max_iterations=20).fit([x * scale for x in X], same, P)
        assert np.isfinite(model.theta_).all() and model.bound_ <= model.objective_ * (1 + 1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": [1, 1, 0]}, r"pair \(1, 2\) of row 2 has decision 0, but other pairs join"),
        ({"y": [1, 1]}, "y has shape"),
        ({"y": [1, 1, 2]}, "decision 2 is 2"),
        ({"pairs": [[0, 1], [0, 2], [2, 2]]}, "pair 2 joins an element with itself"),
        ({"pairs": [[0, 1], [0, 2], [1, 0]]}, r"pair \(0, 1\) of row 2 is listed twice"),
        ({"pairs": [[0, 1], [0, 2]]}, "pairs have shape"),
        ({"problem": [0, 0]}, "problem has shape"),
        ({"X": [[0.0], [np.nan], [1.0]]}, "attribute 0 of sample 1 is nan"),
        ({"sample_weight": [1.0, -1.0, 1.0]}, "weight 1 is -1"),
        ({"attributes": ["a", "b"]}, "2 names for 1 attributes"),
    ],
)
def test_bad_input(change, message):
    given = {"X": [[0.0], [1.0], [1.0]], "y": [1, 0, 0], "pairs": [[0, 1], [0, 2], [1, 2]]} | change
    with pytest.raises(InvalidProblem, match=message):
        MaxMarginPartition().fit(np.array(given.pop("X")), **given)


@pytest.mark.parametrize(
    "options",
    [{"sigma": 0}, {"tol": -1}, {"solver": "x"}, {"oracle": "x"}, {"start": "x"}, {"start": [1.0]},
     {"loss_weights": "x"}, {"loss_weights": (0, 0)}, {"max_iterations": 0},
     {"seed": -1}, {"seed": 0.5}],
)  # fmt: skip
def test_bad_options(options):
    with pytest.raises(InvalidOption, match=next(iter(options))):
        MaxMarginPartition(**options).fit(*tiny(0))


def test_files(tmp_path):
    X, same, P = larger(8, 2)
    model = MaxMarginPartition(intercept=True, seed=0).fit(X, same, P, attributes=["a", "b", "c"])
    model.save(tmp_path / "model.json")
    for again in (MaxMarginPartition.load(tmp_path / "model.json"), load_model(tmp_path / "model.json")):
        assert isinstance(again, MaxMarginPartition)
        assert (again.theta_ == model.theta_).all() and again.attributes_ == ("a", "b", "c")
        assert (again.costs(X[0]) == model.costs(X[0])).all() and "4 parameters" in repr(again)
        again.save(tmp_path / "again.json")
    with pytest.raises(FormatError, match="logistic regression"):
        LogisticRegression.load(tmp_path / "model.json")
    content = json.loads((tmp_path / "model.json").read_text())
    (tmp_path / "model.json").write_text(json.dumps(content | {"theta": [1.0]}))
    with pytest.raises(FormatError, match="3 attributes for 0 parameters"):
        MaxMarginPartition.load(tmp_path / "model.json")
    with pytest.raises(InvalidOption, match="not fitted"):
        MaxMarginPartition().save(tmp_path / "model.json")


def test_samples_are_problems():
    y = np.array([0] * 30 + [1] * 20 + [2] * 5 + [-1] * 10)
    samples = pairs.cut_into_problems(y, 20, 12, seed=0)
    assert len(samples) == 20 and all(len(s) == 12 and (y[s] >= 0).all() and (np.diff(s) > 0).all() for s in samples)
    assert {len(set(y[s])) for s in samples} <= {1, 2, 3} and len({tuple(s) for s in samples}) > 15
    assert all(len(set(y[s])) == 1 for s in pairs.cut_into_problems(y, 5, 4, classes=1, seed=1))
    assert pairs.cut_into_problems([-1, 0], 5) == [] and pairs.cut_into_problems([], 5) == []
    with pytest.raises(InvalidOption, match="size is 1"):
        pairs.cut_into_problems(y, 1, 1)
