"""Conditional random fields: likelihoods by enumeration, gradients by differences, training, inference, files."""

import itertools
import json
import math
import warnings

import numpy as np
import pytest
from trials import trials

import graphpart as gp
from graphpart.learn import ConditionalRandomField, Structure, chain, grid
from graphpart.learn.frank_wolfe import block_frank_wolfe
from graphpart.learn.random_fields import _losses, max_margin
from graphpart.learn.random_fields.objective import Likelihood, Pseudolikelihood, by_messages, expectations
from graphpart.learn.random_fields.structures import pack
from graphpart.learn.random_fields.templates import Template, tie_of
from graphpart.stopping import Stopping


def random_structure(rng, n, columns, pair_columns, forest):
    """Edges in both orientations; a forest, or also cycles and pairs that occur twice."""
    pairs = [(int(rng.integers(i)), i) for i in range(1, n) if rng.random() < 0.85]
    if not forest and n > 1:
        pairs += [tuple(rng.choice(n, 2, replace=False).tolist()) for _ in range(rng.integers(0, 3))]
    pairs = [tuple(int(v) for v in rng.permutation(p)) for p in pairs]
    names = rng.permutation(n)  # so that the order of variables is not that of the tree
    pairs = names[np.array(pairs, int).reshape(-1, 2)]
    features = rng.normal(size=(n, columns))
    return Structure(features, pairs, rng.normal(size=(len(pairs), pair_columns)) if pair_columns else None)


def random_model(rng, forest, scale=1.0):
    columns, pair_columns, labels = int(rng.integers(1, 4)), int(rng.integers(0, 3)), int(rng.integers(1, 4))
    sizes = rng.integers(0 if forest else 1, 5, size=rng.integers(1, 4))
    data = pack([random_structure(rng, int(n), columns, pair_columns, forest) for n in sizes], columns)
    kind = rng.choice(["table", "symmetric", "potts", "array"])
    tie, count = tie_of(rng.integers(-1, 3, size=(labels, labels)) if kind == "array" else str(kind), labels)
    attributes = 0 if data.pair_features is None else pair_columns
    template = Template(labels, columns, attributes, tie, count, bool(rng.integers(2)))
    y = rng.integers(labels, size=data.n).astype(np.int32)
    return template, data, y, scale * rng.normal(size=template.size)


def naive_score(template, data, theta, y):
    """The score of a labeling, as the docstring of templates has it, by loops."""
    unary, pair = template.parts(theta)
    total = 0.0
    for v in range(data.n):
        x = [*data.features[v], *([1.0] if template.intercept else [])]
        total += sum(w * a for w, a in zip(unary[:, y[v]], x, strict=True))
    for e, (a, b) in enumerate(data.pairs.tolist()):
        k = template.tie[y[a], y[b]]
        if k < template.count:
            g = [1.0] if data.pair_features is None else data.pair_features[e]
            total += sum(u * a for u, a in zip(pair[:, k], g, strict=True))
    return total


def log_sum(values):
    high = max(values)
    return high + math.log(math.fsum(math.exp(v - high) for v in values))


@pytest.mark.parametrize(("forest", "scale", "count"), [(True, 1.0, 150), (True, 400.0, 80), (False, 1.0, 60)])
def test_likelihood_is_that_of_enumeration(forest, scale, count):
    rng = np.random.default_rng(4)
    for k in range(count):
        template, data, y, theta = random_model(rng, forest, scale)
        if template.labels**data.n > 3000:
            continue
        every = list(itertools.product(range(template.labels), repeat=data.n))
        scores = [naive_score(template, data, theta, labels) for labels in every]
        sigma = float(rng.choice([0.5, 2.0]))
        expected = log_sum(scores) - naive_score(template, data, theta, y) + theta @ theta / (2 * sigma**2)
        value, _ = Likelihood(template, data, y, sigma)(theta)
        assert value == pytest.approx(expected, rel=1e-9, abs=1e-8), k
        p = np.exp(np.array(scores) - log_sum(scores))
        found = expectations(template, data, *template.scores(data, theta),
                             Likelihood(template, data, y, 1.0).order)[1]  # fmt: skip
        for v in range(data.n):
            marginal = np.bincount([labels[v] for labels in every], weights=p, minlength=template.labels)
            np.testing.assert_allclose(found[v], marginal, atol=1e-9, err_msg=str(k))


def test_pseudolikelihood_is_that_of_enumeration():
    rng = np.random.default_rng(5)
    for k in range(150):
        template, data, y, theta = random_model(rng, forest=bool(k % 2), scale=float(rng.choice([1.0, 300.0])))
        expected = float(theta @ theta) / 2
        for v in range(data.n):
            others = [[*y[:v], label, *y[v + 1 :]] for label in range(template.labels)]
            scores = [naive_score(template, data, theta, labels) for labels in others]
            expected += log_sum(scores) - scores[y[v]]
        assert Pseudolikelihood(template, data, y, 1.0)(theta)[0] == pytest.approx(expected, rel=1e-9, abs=1e-8), k


@pytest.mark.parametrize("kind", [Likelihood, Pseudolikelihood])
def test_gradients_are_those_of_differences(kind):
    rng = np.random.default_rng(6)
    for k in range(80):
        template, data, y, theta = random_model(rng, forest=k % 4 > 0)
        objective = kind(template, data, y, 1.5)
        _, gradient = objective(theta)
        for j in range(template.size):
            step = np.zeros(template.size)
            step[j] = 1e-5
            slope = (objective(theta + step)[0] - objective(theta - step)[0]) / 2e-5
            assert gradient[j] == pytest.approx(slope, rel=1e-5, abs=1e-6), (k, j)


def test_both_ways_to_sum_agree_where_both_can():
    rng = np.random.default_rng(7)
    for _ in range(50):
        template, data, _, theta = random_model(rng, forest=True)
        scores, numbers = template.scores(data, theta)
        p, expected = np.exp(scores), np.zeros_like(numbers)
        log_z = _losses.sum_product(p, np.exp(numbers), template.tie, data, expected, True)
        for a, b in zip((log_z, p, expected), by_messages(template, data, scores, numbers), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)


def test_schedule_finds_cycles_and_roots():
    rng = np.random.default_rng(8)
    import networkx as nx

    for _ in range(trials(300)):
        n = int(rng.integers(1, 9))
        s = random_structure(rng, n, 1, 0, forest=bool(rng.integers(2)))
        G = nx.MultiGraph(s.pairs.tolist())
        G.add_nodes_from(range(n))
        found = _losses.schedule(n, s.pairs)
        assert (found is not None) == nx.is_forest(G)
        if found is not None:
            edge, child, parent, roots = found
            assert len(roots) == nx.number_connected_components(G) and sorted(edge.tolist()) == list(
                range(len(s.pairs))
            )
            assert sorted([*child.tolist(), *roots.tolist()]) == list(range(n))
            for t, (e, c, p) in enumerate(zip(edge, child, parent, strict=True)):
                assert {c, p} == set(s.pairs[e].tolist())
                assert c not in parent[t:]


def drawn(count, seed, length=12, labels=("a", "b", "c")):
    """Sequences with labels that tend to stay."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(count):
        at = [int(rng.integers(len(labels)))]
        while len(at) < length:
            at.append(at[-1] if rng.random() < 0.8 else int(rng.integers(len(labels))))
        X.append(chain(np.eye(len(labels))[at] + rng.normal(size=(length, len(labels)))))
        y.append(np.array(labels)[at])
    return X, y


@pytest.mark.parametrize("training", ["likelihood", "pseudolikelihood", "max-margin"])
def test_learned_chains_beat_single_elements(training):
    X, y = drawn(30, 0)
    new, truth = drawn(60, 1)
    options = {"training": training, "intercept": True, "seed": 0}
    if training == "max-margin":
        options |= {"tol": 0.1, "sigma": 0.3}
    model = ConditionalRandomField(**options).fit(X, y)
    alone = [Structure(s.features, []) for s in X], [Structure(s.features, []) for s in new]
    single = ConditionalRandomField(**options).fit(alone[0], y)
    assert model.score(new, truth) > single.score(alone[1], truth) + 0.03
    assert model.status_ == gp.Status.OPTIMAL and model.training_ == training
    values = [value for value, _ in model.history_]
    assert values[-1] == model.objective_ and all(b <= a + 1e-9 * abs(a) for a, b in itertools.pairwise(values))


def test_the_optimum_of_the_likelihood_is_one():
    X, y = drawn(20, 2)
    model = ConditionalRandomField(tol=1e-9).fit(X, y)
    data = pack(X)
    index = np.searchsorted(model.classes_, np.concatenate(y)).astype(np.int32)
    value, gradient = Likelihood(model._template, data, index, 1.0)(model.theta_)
    assert value == model.objective_ and np.abs(gradient).max() < 1e-5
    assert model.log_likelihood(X, y) == pytest.approx(-value + model.theta_ @ model.theta_ / 2)


def test_predictions_are_the_best_of_all_labelings():
    rng = np.random.default_rng(9)
    X, y = drawn(10, 3, length=5)
    model = ConditionalRandomField().fit(X, y)
    for s in X[:5]:
        f = model.factor_graph(s)
        best = min(itertools.product(range(3), repeat=5), key=lambda labels: f.evaluate(list(labels)))
        assert model.predict([s])[0].tolist() == model.classes_[list(best)].tolist()
        exact, p = gp.crf.marginals(f), model.predict_marginals([s])[0]
        np.testing.assert_allclose(p.ravel(), exact.probabilities.flat, atol=1e-12)
    square = grid(rng.normal(size=(3, 3, 3)))
    assert model.marginals(square, method="exact").log_z == pytest.approx(
        gp.crf.log_partition(model.factor_graph(square))
    )
    assert model.marginals(square, method="tree-reweighted").upper_bound >= model.marginals(square).log_z


def test_max_margin_by_enumeration():
    """The gap holds: no parameters have a smaller objective than the dual, and the objective is what it says."""
    rng = np.random.default_rng(10)
    X, y = drawn(6, 4, length=4)
    tie, count = tie_of("table", 3)
    template = Template(3, 3, 0, tie, count, False)
    parts = [pack([s]) for s in X]
    labels = [np.searchsorted(["a", "b", "c"], v).astype(np.int32) for v in y]

    def objective(w, sigma):
        total = w @ w / (2 * sigma**2)
        for data, true in zip(parts, labels, strict=True):
            every = itertools.product(range(3), repeat=4)
            total += max(naive_score(template, data, w, z) + sum(np.array(z) != true) for z in every)
            total -= naive_score(template, data, w, true)
        return total

    for sigma in (0.2, 0.7):
        answers = max_margin.oracle(template, parts, labels, "auto")
        s = block_frank_wolfe(len(parts), np.zeros(template.size), answers, sigma, 0.02, Stopping(max_iterations=300))
        assert s.status == gp.Status.OPTIMAL and s.gap <= 0.02
        assert s.primal == pytest.approx(objective(s.w, sigma))
        for _ in range(20):
            assert objective(s.w + rng.normal(scale=0.1, size=len(s.w)), sigma) >= s.dual
    for solver in ("icm", "message-passing"):
        other = ConditionalRandomField(training="max-margin", solver=solver, sigma=0.2, tol=0.3).fit(X, y)
        assert other.objective_ < len(X) * 4


def test_frank_wolfe_on_a_binary_machine():
    """Two answers for each block: the ordinary support vector machine, whose optimum is known here."""

    def oracle(i, w):
        psi = np.array([2.0])
        return (psi, 1.0) if 1.0 - psi @ w > 0 else (0 * psi, 0.0)

    # min w^2 / 2 + 3 max(0, 1 - 2 w): the optimum is w = 1/2
    s = block_frank_wolfe(3, np.zeros(1), oracle, 1.0, 1e-6, Stopping(max_iterations=1000))
    assert s.w[0] == pytest.approx(0.5, abs=1e-3) and s.primal == pytest.approx(0.125, abs=1e-3)
    assert block_frank_wolfe(3, np.zeros(1), oracle, 1.0, 0.0, Stopping(time_limit=0)).status == gp.Status.TIME_LIMIT
    assert block_frank_wolfe(0, np.zeros(2), oracle, 1.0, 0.01, Stopping()).w.tolist() == [0.0, 0.0]


def test_graph_cut_as_oracle():
    rng = np.random.default_rng(11)
    truth = [np.kron(rng.integers(2, size=(3, 3)), np.ones((4, 4), int)) for _ in range(3)]
    X = [grid(t + rng.normal(scale=0.8, size=t.shape)) for t in truth]
    model = ConditionalRandomField("potts", training="max-margin", intercept=True, sigma=0.3, seed=1, tol=0.05)
    model.fit(X, [t.ravel() for t in truth])
    assert model.gap_ <= 0.05 and model.pairwise_[0, 0, 0] > 0
    cut = ConditionalRandomField("potts", solver="graph-cut")
    cut.__dict__.update({k: v for k, v in model.__dict__.items() if k != "solver"})
    assert all((a == b).all() for a, b in zip(cut.predict(X), model.predict(X), strict=True))


def test_stopping_and_seeds():
    X, y = drawn(20, 5)
    calls = []
    model = ConditionalRandomField().fit(X, y, callback=lambda s, value: calls.append(value) or len(calls) == 3)
    assert model.status_ == gp.Status.INTERRUPTED and calls == sorted(calls, reverse=True)
    with pytest.warns(gp.GraphPartWarning, match="stopped at the time limit, after 0 iterations"):
        assert ConditionalRandomField().fit(X, y, time_limit=0).status_ == gp.Status.TIME_LIMIT
    with pytest.warns(gp.GraphPartWarning, match="stopped after 2 iterations"):
        assert ConditionalRandomField(max_iterations=2).fit(X, y).n_iter_ == 2
    with pytest.raises(ZeroDivisionError):
        ConditionalRandomField().fit(X, y, callback=lambda *_: 1 / 0)
    a, b = (
        ConditionalRandomField(training="max-margin", seed=3, sigma=0.2, tol=0.2).fit(X[:8], y[:8]) for _ in range(2)
    )
    assert (a.theta_ == b.theta_).all()


@pytest.mark.parametrize("classes", [("a", "b", "c"), (1, 5, 7), (0.5, 1.5, 2.5), (False, True)])
def test_files(tmp_path, classes):
    X, y = drawn(5, 6, labels=classes)
    tie = np.eye(len(classes), dtype=int) - 1
    for pairwise in ("symmetric", tie):
        model = ConditionalRandomField(pairwise, intercept=True).fit(X, y)
        model.save(tmp_path / "model.json")
        other = ConditionalRandomField.load(tmp_path / "model.json")
        assert (other.theta_ == model.theta_).all() and other.classes_.dtype == model.classes_.dtype
        assert other.score(X, y) == model.score(X, y)
    for text in ("{", "[]", '{"format": "graphpart conditional random field", "version": 2}',
                 '{"format": "graphpart conditional random field", "version": 1}'):  # fmt: skip
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(gp.FormatError, match=r"bad\.json"):
            ConditionalRandomField.load(tmp_path / "bad.json")
    content = json.loads((tmp_path / "model.json").read_text())
    for key, value in (("intercept", "x"), ("attributes", math.inf), ("pair_attributes", -3), ("theta", [None])):
        (tmp_path / "bad.json").write_text(json.dumps(content | {key: value}))
        with pytest.raises(gp.FormatError, match=r"bad\.json"):
            ConditionalRandomField.load(tmp_path / "bad.json")


@pytest.mark.parametrize(
    ("structures", "labels", "message"),
    [
        ([], [], "no labels"),
        ([chain([[0.0]])], [], "0 arrays of labels for 1 structures"),
        ([chain([[0.0]])], [[1, 2]], r"structure 0: labels have shape \(2,\): expected \(1,\)"),
        ([chain([[0.0]]), chain([[0.0, 1.0]])], [[1], [1]], "structure 1: features have 2 columns: expected 1"),
        ([([[0.0]], [[0, 1]])], [[1]], r"structure 0: pair 0 is \(0, 1\): expected two different variables"),
        ([([[math.nan]], [])], [[1]], "structure 0: features: attribute 0 in row 0 is nan"),
        ([([[0.0]] * 2, [[0, 1]], [[1.0]] * 3)], [[1, 1]], "pair_features have 3 rows for 1 pairs"),
        ([([[0.0]] * 2, [[0.5, 1]])], [[1, 1]], "of integers"),
        ([([[0.0], [0.0, 1.0]], [])], [[1, 1]], "rows of real numbers"),
        ([5], [[1]], "structure 0 is int: expected a Structure"),
        ([chain([[0.0], [1.0]])], [[1, "a"]], "labels of the types int, str cannot be sorted"),
        ([chain([[0.0], [1.0]])], [[1, math.nan]], "structure 0: label 1 is nan"),
        ([chain([[1.7e308]] * 8)], [[1] * 7 + [2]], "rescale"),
    ],
)
def test_bad_input(structures, labels, message):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(gp.InvalidProblem, match=message):
            ConditionalRandomField().fit(structures, labels)


def test_bad_options():
    X, y = drawn(2, 7)
    for name, value in (("sigma", 0.0), ("sigma", "1"), ("tol", -1.0), ("training", "exact"), ("solver", "cplex"),
                        ("pairwise", "Potts"), ("pairwise", [[0, 1], [1, -2]])):  # fmt: skip
        with pytest.raises(gp.InvalidOption, match=f"{name} is"):
            ConditionalRandomField(**{name: value}).fit(X, y)
    with pytest.raises(gp.InvalidOption, match="not fitted"):
        ConditionalRandomField().predict(X)
    big = grid(np.zeros((40, 40)))
    with pytest.raises(gp.InvalidOption, match="pseudolikelihood"):
        ConditionalRandomField(training="likelihood").fit([big], [np.arange(1600) % 2])
    with pytest.raises(gp.InvalidProblem, match="unknown label 'z': expected one of 'a', 'b', 'c'"):
        ConditionalRandomField().fit(X, y).score(X[:1], [["z"] * 12])


def test_degenerate():
    one = ConditionalRandomField(intercept=True).fit([chain([[1.0]])], [["only"]])
    assert one.predict([chain(np.zeros((3, 1)))])[0].tolist() == ["only"] * 3
    assert one.predict_marginals([chain(np.zeros((3, 1)))])[0].tolist() == [[1.0]] * 3
    empty = chain(np.zeros((0, 1)))
    model = ConditionalRandomField().fit([empty, chain([[0.0], [1.0]]), empty], [[], [0, 1], []])
    assert [len(y) for y in model.predict([empty, chain([[0.0]])])] == [0, 1] and model.predict([]) == []
    huge = ConditionalRandomField(max_iterations=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gp.GraphPartWarning)
        huge.fit([chain([[1e100], [-1e100]])], [[0, 1]])
    assert np.isfinite(huge.theta_).all()
    given = np.zeros((4, 1))
    ConditionalRandomField().fit([chain(given)], [[0, 1, 0, 1]])
    assert not given.any()
