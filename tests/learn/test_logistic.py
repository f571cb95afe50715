"""Logistic regression against its definition, finite differences, a general optimiser, and scikit-learn."""

import itertools
import json
import math
import tracemalloc

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from graphpart import FormatError, GraphPartWarning, InvalidOption, InvalidProblem, Status, Stopping
from graphpart.learn.descent import minimise_on_line
from graphpart.learn.logistic import LogisticRegression
from graphpart.learn.objective import Objective


def samples(seed, n=60, V=3, scale=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, V)) * scale
    y = (rng.random(n) < 1 / (1 + 2 ** -(X @ rng.normal(size=V)))).astype(int)
    return X, y


def phi(theta, X, y, sigma, w=1.0, mean=0.0):
    """The objective as it is written, for moderate arguments."""
    f = X @ theta
    return np.sum(w * (-y * f + np.log2(1 + 2.0**f))) + np.log2(np.e) / (2 * sigma**2) * np.sum((theta - mean) ** 2)


def objective(X, y, sigma=1.0, intercept=False, w=None, mean=0.0):
    part = (X, y) if w is None else (X, y, w)
    return Objective(lambda: iter([part]), X.shape[1], sigma, intercept, Stopping(), mean)


problems = st.builds(
    samples, st.integers(0, 10**6), st.integers(1, 30), st.integers(1, 5), st.sampled_from([1e-3, 1.0, 30.0])
)
sigmas = st.sampled_from([0.05, 1.0, 20.0])


@given(problems, sigmas, st.integers(0, 10**6))
def test_objective_gradient_and_hessian_are_those_of_the_definition(problem, sigma, seed):
    X, y = problem
    rng = np.random.default_rng(seed)
    w, theta, mean = rng.random(len(X)), rng.normal(size=X.shape[1]), rng.normal(size=X.shape[1])
    part = objective(X, y, sigma, w=w, mean=mean)
    value, gradient, hessian = part.hessian(theta)
    assert value == pytest.approx(phi(theta, X, y, sigma, w, mean), rel=1e-12)
    assert part.value(theta) == pytest.approx(value, rel=1e-14)
    assert part.gradient(theta)[1] == pytest.approx(gradient, rel=1e-12, abs=1e-12)
    h = 1e-5 / max(1.0, np.abs(X).max())
    for v, unit in enumerate(np.eye(len(theta))):
        slope = (part.value(theta + h * unit) - part.value(theta - h * unit)) / (2 * h)
        assert gradient[v] == pytest.approx(slope, rel=1e-4, abs=1e-4 * (1 + np.abs(X).sum()))
        bend = (part.gradient(theta + h * unit)[1] - part.gradient(theta - h * unit)[1]) / (2 * h)
        assert hessian[v] == pytest.approx(bend, rel=1e-4, abs=1e-4 * (1 + np.square(X).sum()))


@given(problems, sigmas, st.integers(0, 10**6), st.floats(0.01, 0.99))
def test_the_objective_is_convex(problem, sigma, seed, t):
    X, y = problem
    part = objective(X, y, sigma)
    a, b = np.random.default_rng(seed).normal(size=(2, X.shape[1])) * 5
    chord = t * part.value(a) + (1 - t) * part.value(b)
    assert part.value(t * a + (1 - t) * b) <= chord * (1 + 1e-12)
    assert np.linalg.eigvalsh(part.hessian(a)[2]).min() > 0


@given(problems, sigmas, st.integers(0, 10**6))
def test_the_line_search_is_exact(problem, sigma, seed):
    X, y = problem
    part = objective(X, y, sigma, mean=0.7)
    theta = np.random.default_rng(seed).normal(size=X.shape[1])
    _, d = part.gradient(theta)
    line = part.line(theta, d)
    assert line(0.0)[0] == pytest.approx(-(d @ d), rel=1e-9)
    eta = minimise_on_line(line)
    assert eta > 0 and abs(line(eta)[0]) <= 1e-9 * (d @ d)
    assert line(eta)[1] > 0
    best = part.value(theta - eta * d)
    for other in (0.0, 0.5 * eta, 0.99 * eta, 1.01 * eta, 2 * eta):
        assert best <= part.value(theta - other * d) * (1 + 1e-13)


@given(problems, sigmas)
def test_both_solvers_reach_the_minimum_of_a_general_optimiser(problem, sigma):
    X, y = problem
    newton = LogisticRegression(sigma, tol=1e-8).fit(X, y)
    assert newton.gradient_norm_ <= 1e-8 or newton.status_ is Status.FEASIBLE
    expected = minimize(lambda theta: objective(X, y, sigma).gradient(theta), 0 * newton.theta_, jac=True)
    assert newton.objective_ <= expected.fun * (1 + 1e-12)
    assert newton.objective_ == pytest.approx(phi(newton.theta_, X, y, sigma), rel=1e-9)
    values = [value for value, _ in newton.history_]
    assert all(a >= b * (1 - 1e-12) for a, b in itertools.pairwise(values))


@pytest.mark.parametrize("seed", range(5))
def test_steepest_descent_and_newton_agree(seed):
    X, y = samples(seed, n=200, V=4)
    newton = LogisticRegression(2.0, tol=1e-9).fit(X, y)
    steepest = LogisticRegression(2.0, tol=1e-7, solver="steepest-descent").fit(X, y)
    assert newton.status_ is steepest.status_ is Status.OPTIMAL
    assert steepest.theta_ == pytest.approx(newton.theta_, abs=1e-8)
    assert steepest.n_iter_ == len(steepest.history_) - 1
    values, norms = np.array(steepest.history_).T
    assert (np.diff(values) <= 1e-9).all()
    assert (norms[:-2] >= 1e-7).all() and norms[-2] < 1e-7 and math.isnan(norms[-1])


@pytest.mark.parametrize("sigma", [0.1, 1.0, 7.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_agreement_with_scikit_learn(sigma, weighted):
    linear_model = pytest.importorskip("sklearn.linear_model")
    X, y = samples(3, n=5000, V=20)
    w = np.random.default_rng(0).random(len(X)) if weighted else None
    theirs = linear_model.LogisticRegression(
        C=sigma**2 * math.log(2) ** 2, fit_intercept=False, tol=1e-10, solver="newton-cholesky", max_iter=1000
    ).fit(X, y, w)
    ours = LogisticRegression(sigma).fit(X, y, w)
    assert ours.theta_ * math.log(2) == pytest.approx(theirs.coef_[0], abs=1e-6)
    assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-6)
    assert (ours.predict(X) == theirs.predict(X)).all()


def test_weights_count_samples():
    X, y = samples(5)
    counts = np.arange(len(X)) % 4
    repeated = LogisticRegression().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    for solver in ("newton", "steepest-descent"):
        weighted = LogisticRegression(solver=solver).fit(X, y, sample_weight=counts)
        assert weighted.theta_ == pytest.approx(repeated.theta_, abs=1e-7)


def test_the_intercept_is_a_constant_attribute():
    X, y = samples(6)
    explicit = LogisticRegression().fit(np.hstack([X, np.ones((len(X), 1))]), y)
    for solver in ("newton", "steepest-descent"):
        model = LogisticRegression(intercept=True, solver=solver).fit(X, y)
        assert model.theta_ == pytest.approx(explicit.theta_, abs=1e-7)
        assert model.costs(X) == pytest.approx(-X @ model.theta_[:-1] - model.theta_[-1])


def test_no_samples_give_the_mode_of_the_prior():
    for solver in ("newton", "steepest-descent"):
        model = LogisticRegression(solver=solver).fit(np.zeros((0, 3)), [])
        assert (model.theta_ == 0).all() and model.status_ is Status.OPTIMAL and model.n_samples_ == 0


@pytest.mark.parametrize("decision", [0, 1])
def test_one_class(decision):
    model = LogisticRegression(3.0, intercept=True).fit(np.ones((50, 1)), np.full(50, decision))
    assert model.status_ is Status.OPTIMAL
    assert (model.predict(np.ones((3, 1))) == decision).all()
    assert model.theta_[0] == pytest.approx(model.theta_[1])  # the attribute equals the constant one


@pytest.mark.parametrize("sigma", [1.0, 1e3, 1e6])
def test_separable_samples_have_a_finite_minimiser(sigma):
    x = np.concatenate([np.linspace(-2, -1, 20), np.linspace(1, 2, 20)])[:, None]
    y = (x[:, 0] > 0).astype(int)
    model = LogisticRegression(sigma, tol=1e-15).fit(x, y)
    assert model.status_ is Status.OPTIMAL
    assert np.isfinite(model.theta_).all() and model.score(x, y) == 1.0
    line = [phi(model.theta_ * t, x, y, sigma) for t in (0.9, 1.0, 1.1)]
    assert min(line) == line[1]


def test_collinear_attributes_share_the_parameter():
    X, y = samples(7, V=1)
    model = LogisticRegression(1e3).fit(np.hstack([X, X, 0 * X]), y)
    assert model.theta_[0] == pytest.approx(model.theta_[1], rel=1e-6)
    assert model.theta_[2] == 0
    assert model.theta_[:2].sum() == pytest.approx(LogisticRegression(1e3 * math.sqrt(2)).fit(X, y).theta_[0], rel=1e-6)


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e8, 1e100])
def test_attributes_of_any_scale(scale):
    X, y = samples(8)
    model = LogisticRegression(1 / scale if scale < 1e100 else 1.0).fit(X * scale, y)
    assert np.isfinite(model.theta_).all() and np.isfinite(model.objective_)
    assert model.objective_ <= len(X) * (1 + 1e-12)  # what theta = 0 costs


def test_probabilities_far_from_the_boundary():
    model = LogisticRegression()
    model.theta_ = np.array([1.0])
    X = np.array([[-1e308], [-5000.0], [-1.0], [0.0], [1.0], [5000.0], [1e308]])
    p = model.predict_proba(X)
    assert p[:, 1] == pytest.approx([0, 0, 1 / 3, 0.5, 2 / 3, 1, 1])
    assert (p == p[::-1, ::-1]).all() and p.sum(axis=1) == pytest.approx(1)
    assert model.predict(X).tolist() == [0, 0, 0, 0, 1, 1, 1]


def test_blocks_types_and_layouts_do_not_matter(tmp_path):
    X, y = samples(9, n=20_000, V=5)
    X = X.astype(np.float32)
    w = np.linspace(0, 1, len(X))
    expected = LogisticRegression(intercept=True).fit(X.astype(np.float64), y, w).theta_
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    for other in (X, np.asfortranarray(X), mapped, X.astype(object)):
        assert LogisticRegression(intercept=True).fit(other, y.astype(bool), w).theta_ == pytest.approx(expected)
    starts = [0, 1, 7, 7, 9000, 20_000]

    def blocks():
        for i, j in itertools.pairwise(starts):
            yield X[i:j], y[i:j], w[i:j]

    for solver in ("newton", "steepest-descent"):
        model = LogisticRegression(intercept=True, solver=solver).fit_blocks(blocks, 5)
        assert model.theta_ == pytest.approx(expected, abs=1e-6)
        assert model.n_samples_ == 20_000
    assert model.predict(np.asfortranarray(X[:9])).tolist() == model.predict(X)[:9].tolist()


def test_many_attributes():
    X, y = samples(10, n=300, V=200)
    model = LogisticRegression(0.5).fit(X, y)
    _, gradient, hessian = objective(X, y, 0.5).hessian(model.theta_)
    assert np.linalg.norm(gradient) <= 1e-6
    assert hessian.shape == (200, 200)


def test_no_copy_of_the_data():
    X, y = samples(11, n=200_000, V=20)
    tracemalloc.start()
    LogisticRegression().fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.3 * X.nbytes


@pytest.mark.parametrize("kind", ["csr_array", "csc_matrix", "coo_array"])
def test_sparse_attributes(kind):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(20_000, 6)) * (rng.random((20_000, 6)) < 0.2)
    y, w = (rng.random(len(X)) < 0.4).astype(int), rng.random(len(X))
    dense = LogisticRegression(2.0, intercept=True).fit(X, y, w)
    sparse = getattr(scipy.sparse, kind)(X)
    model = LogisticRegression(2.0, intercept=True).fit(sparse, y, w)
    assert model.theta_ == pytest.approx(dense.theta_, abs=1e-9) and model.n_samples_ == len(X)
    assert model.costs(sparse) == pytest.approx(dense.costs(X))
    assert model.score(sparse, y) == dense.score(X, y)
    with pytest.raises(InvalidProblem, match=r"y has shape \(3,\): expected \(20000,\)"):
        LogisticRegression().fit(sparse, y[:3])
    wide = scipy.sparse.csr_array(([1.0, 2.0, np.nan], ([0, 2999, 2999], [0, 1999, 5])), shape=(3000, 2000))
    with pytest.raises(InvalidProblem, match="attribute 5 of sample 2999 is nan"):
        LogisticRegression().fit(wide, np.zeros(3000))


def test_data_frames_name_the_attributes():
    pandas = pytest.importorskip("pandas")
    X, y = samples(12, V=2)
    frame = pandas.DataFrame(X, columns=["width", "height"])
    model = LogisticRegression().fit(frame, pandas.Series(y))
    assert model.attributes_ == ("width", "height")
    assert model.theta_ == pytest.approx(LogisticRegression().fit(X, y).theta_)
    assert (model.costs(frame) == model.costs(X)).all()


# ------------------------------------------------------------------------------------------------- ending early


def test_limits_and_callback_end_the_run():
    X, y = samples(13, n=5000, V=10)
    with pytest.warns(GraphPartWarning, match="stopped after 2 iterations"):
        model = LogisticRegression(solver="steepest-descent", max_iterations=2).fit(X, y)
    assert model.status_ is Status.ITERATION_LIMIT and model.n_iter_ == 2
    model = LogisticRegression().fit(X, y, time_limit=0)
    assert model.status_ is Status.TIME_LIMIT and (model.theta_ == 0).all()
    seen = []
    model = LogisticRegression().fit(X, y, callback=lambda seconds, value: seen.append(value) or len(seen) > 1)
    assert model.status_ is Status.INTERRUPTED and len(seen) == 2 and seen[1] < seen[0]

    def fail(seconds, value):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        LogisticRegression().fit(X, y, callback=fail)


@pytest.mark.parametrize("solver", ["newton", "steepest-descent"])
def test_an_interrupt_in_a_pass_keeps_the_last_iterate(solver):
    X, y = samples(14)
    passes = []

    def blocks():
        passes.append(1)
        if len(passes) == 4:
            raise KeyboardInterrupt
        yield X, y

    model = LogisticRegression(solver=solver).fit_blocks(blocks, 3)
    assert model.status_ is Status.INTERRUPTED
    assert phi(model.theta_, X, y, 1.0) < len(X)


# ---------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X[0], y), r"X has shape \(3,\)"),
        (lambda X, y: (X[:, :0], y), "at least one attribute"),
        (lambda X, y: (X, y[:-1]), r"y has shape \(59,\): expected \(60,\)"),
        (lambda X, y: (np.where(np.arange(60)[:, None] == 17, np.nan, X), y), "attribute 0 of sample 17 is nan"),
        (lambda X, y: (np.where(np.arange(180).reshape(60, 3) == 5, np.inf, X), y), "attribute 2 of sample 1 is inf"),
        (lambda X, y: (X, np.where(np.arange(60) == 3, 2, y)), "decision 3 is 2: expected 0 or 1"),
        (lambda X, y: (X, np.where(np.arange(60) == 3, np.nan, y)), "decision 3 is nan"),
        (lambda X, y: (X, y.astype(str)), "decision 0 is '.': expected 0 or 1"),
        (lambda X, y: (X.astype(str), y), "expected real numbers"),
        (lambda X, y: (X + 1j, y), "expected real numbers"),
        (lambda X, y: (np.where(X > -9, "x", X.astype(object)), y), "attributes of samples from 0 on"),
        (lambda X, y: (X * 1e200, y), "sums over samples overflow"),
    ],
)
def test_bad_samples_are_named(change, message):
    X, y = samples(15)
    with pytest.raises(InvalidProblem, match=message):
        LogisticRegression().fit(*change(X, y))


@pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf])
def test_bad_weights_are_named(weight):
    X, y = samples(15)
    with pytest.raises(InvalidProblem, match="weight 4 is"):
        LogisticRegression().fit(X, y, np.where(np.arange(60) == 4, weight, 1.0))
    with pytest.raises(InvalidProblem, match=r"weights have shape \(5,\)"):
        LogisticRegression().fit(X, y, np.ones(5))


@pytest.mark.parametrize(
    "options",
    [{"sigma": 0}, {"sigma": math.inf}, {"sigma": math.nan}, {"sigma": -1}, {"tol": -1}, {"solver": "magic"}],
)
def test_bad_options(options):
    with pytest.raises(InvalidOption, match=f"{next(iter(options))} is"):
        LogisticRegression(**options).fit([[1.0]], [1])


def test_bad_uses():
    model = LogisticRegression()
    for use in (lambda: model.costs([[1.0]]), lambda: model.save("never.json")):
        with pytest.raises(InvalidOption, match="not fitted"):
            use()
    model.fit([[1.0, 2.0]], [1])
    with pytest.raises(InvalidProblem, match=r"X has shape \(1, 3\): expected \(pairs, 2\)"):
        model.predict(np.ones((1, 3)))
    with pytest.raises(InvalidProblem, match="3 names for 2 attributes"):
        model.fit([[1.0, 2.0]], [1], attributes="abc")


# -------------------------------------------------------------------------------------------------------- files


@given(problems, st.booleans())
def test_saved_models_are_the_same(tmp_path_factory, problem, intercept):
    X, y = problem
    path = tmp_path_factory.mktemp("models") / "model.json"
    model = LogisticRegression(0.3, intercept=intercept).fit(X, y, attributes=[f"ä{v}" for v in range(X.shape[1])])
    model.save(path)
    again = LogisticRegression.load(path)
    assert (again.theta_ == model.theta_).all() and again.attributes_ == model.attributes_
    assert (again.costs(X) == model.costs(X)).all() and again.sigma == 0.3
    assert [p.name for p in path.parent.iterdir()] == ["model.json"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, '"format"'),
        ({"version": 2}, "version is 2"),
        ({"theta": []}, "theta is not a list"),
        ({"theta": [1, "2"]}, "theta is not a list"),
        ({"theta": [1, True]}, "theta is not a list"),
        ({"theta": [math.nan, 1]}, "theta is not a list"),
        ({"theta": [1e400, 1]}, "theta is not a list"),
        ({"sigma": 0}, "sigma is 0"),
        ({"intercept": 1}, "intercept is 1"),
        ({"attributes": "ab"}, "neither null nor a list"),
        ({"attributes": ["a"]}, "1 attributes for 2 parameters"),
    ],
)
def test_wrong_model_files_are_named(tmp_path, change, message):
    path = tmp_path / "model.json"
    LogisticRegression().fit([[1.0, 2.0]], [1]).save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(FormatError, match=message) as error:
        LogisticRegression.load(path)
    assert str(path) in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"[1, 2]", b'{"format":\n 1,}', b"[" * 100_000, b"null"])
def test_files_that_are_no_models(tmp_path, content):
    path = tmp_path / "model.json"
    path.write_bytes(content)
    with pytest.raises(FormatError):
        LogisticRegression.load(path)
