"""Attributes and costs of pairs against their definitions, pair by pair."""

import itertools

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from graphpart import InvalidOption, InvalidPartition, InvalidProblem
from graphpart.learn import LogisticRegression, pairs

KINDS = ["absolute-difference", "squared-difference", "product", "concatenated", "cosine"]


def definition(kind, x, z):
    """The attributes of one pair, as the table in the documentation states them."""
    if callable(kind):
        return kind(x[None], z[None])[0].tolist()
    if not isinstance(kind, str):
        return [value for part in kind for value in definition(part, x, z)]
    if kind == "cosine":
        norms = np.sqrt(x @ x) * np.sqrt(z @ z)
        return [x @ z / norms if norms else 0.0]
    if kind == "concatenated":
        return [min(p, q) for p, q in zip(x, z, strict=True)] + [max(p, q) for p, q in zip(x, z, strict=True)]
    of_one = {
        "absolute-difference": lambda p, q: abs(p - q),
        "squared-difference": lambda p, q: (p - q) ** 2,
        "product": lambda p, q: p * q,
    }[kind]
    return [of_one(p, q) for p, q in zip(x, z, strict=True)]


def largest_difference(x, z):
    return np.abs(x - z).max(axis=1, keepdims=True) if x.shape[1] else np.zeros((len(x), 1))


kinds = st.one_of(
    st.sampled_from([*KINDS, largest_difference]),
    st.lists(st.sampled_from([*KINDS, largest_difference]), min_size=1, max_size=3),
)


def elements(seed, n, V):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, V)).round(2) * rng.integers(0, 2, size=(n, 1))  # some rows are 0


@given(kinds, st.integers(0, 10**6), st.sampled_from([0, 1, 2, 3, 9, 70, 130]), st.sampled_from([1, 2, 7, 8, 9, 17]))
def test_attributes_and_costs_are_those_of_the_definition(kind, seed, n, V):
    rng = np.random.default_rng(seed)
    X = elements(seed, n, V)
    every = np.array(list(itertools.combinations(range(n), 2)), np.int64).reshape(-1, 2)
    shuffled = rng.permutation(every) if len(every) else every
    some = np.where(rng.random((len(every), 1)) < 0.5, shuffled, shuffled[:, ::-1])[:60]
    W = pairs.pair_attributes(X, [], kind).shape[1]
    expected = np.array([definition(kind, X[a], X[b]) for a, b in some]).reshape(-1, W)
    assert pairs.pair_attributes(X, some, kind) == pytest.approx(expected, abs=1e-12)

    model = LogisticRegression(intercept=bool(seed % 2))
    model.theta_ = rng.normal(size=W + model.intercept) * rng.integers(0, 2, size=W + model.intercept)
    costs = -expected @ model.theta_[:W] - (model.theta_[W] if model.intercept else 0)
    assert pairs.pair_costs(X, some, model, kind) == pytest.approx(costs, abs=1e-12)
    C = pairs.cost_matrix(X, model, kind)
    assert C.shape == (n, n) and (C == C.T).all() and (np.diagonal(C) == 0).all()
    assert C[some[:, 0], some[:, 1]] == pytest.approx(costs, abs=1e-12)

    labels = rng.integers(0, 3, size=n)
    dense, sparse = (pairs.problem(X, model, kind, pairs=p) for p in (None, every))
    same = labels[every[:, 0]] == labels[every[:, 1]] if n else []
    total = sum(pairs.pair_costs(X, every, model, kind)[same])
    assert dense.evaluate(labels) == pytest.approx(total, abs=1e-9)
    assert sparse.evaluate(labels) == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_larger_matrices_do_not_depend_on_threads_or_strips(kind, monkeypatch):
    X = np.random.default_rng(0).normal(size=(600, 11))
    theta = np.random.default_rng(1).normal(size=pairs.pair_attributes(X, [], kind).shape[1])
    C = pairs.cost_matrix(X, theta, kind)
    u, v = np.triu_indices(600, 1)
    assert C[u, v] == pytest.approx(pairs.pair_costs(X, np.stack([u, v], axis=1), theta, kind), abs=1e-11)
    monkeypatch.setattr(pairs, "processors", lambda: 1)
    assert (pairs.cost_matrix(X, theta, kind) == C).all()


def test_small_differences_of_large_numbers_keep_their_digits():
    X = np.array([[1e8], [1e8 + 1e-3], [1e8 + 1.0]])
    C = pairs.cost_matrix(X, [-1.0], "squared-difference")
    assert C[0, 1] == pytest.approx((X[1, 0] - X[0, 0]) ** 2, rel=1e-12)


def test_training_from_blocks_is_training_from_attributes():
    X = np.random.default_rng(2).normal(size=(80, 6))
    train, same = pairs.training_pairs(np.arange(80) % 4)
    blocks = pairs.sample_blocks(X, train, same, ["product", "cosine"])
    streamed = LogisticRegression(intercept=True).fit_blocks(blocks, 7)
    stored = LogisticRegression(intercept=True).fit(pairs.pair_attributes(X, train, ["product", "cosine"]), same)
    assert streamed.theta_ == pytest.approx(stored.theta_, abs=1e-9)


def test_names():
    assert pairs.attribute_names(["absolute-difference", "cosine"], ["x", "y"]) == ["|x - x'|", "|y - y'|", "cosine"]
    assert pairs.attribute_names("concatenated", ["x", "y"])[1:3] == ["min(y, y')", "max(x, x')"]
    assert pairs.attribute_names(["product", largest_difference], ["x"]) is None
    for kind in KINDS:
        assert len(pairs.attribute_names(kind, "abc")) == pairs.pair_attributes(np.ones((2, 3)), [], kind).shape[1]


# ------------------------------------------------------------------------------------------------ which pairs


@given(st.lists(st.integers(-1, 4), max_size=25))
def test_all_training_pairs(y):
    found, same = pairs.training_pairs(y)
    known = [i for i, label in enumerate(y) if label != -1]
    expected = [(a, b, y[a] == y[b]) for a, b in itertools.combinations(known, 2)]
    assert [(a, b, s) for (a, b), s in zip(found.tolist(), same.tolist(), strict=True)] == expected


@given(st.lists(st.integers(0, 4), max_size=25), st.integers(0, 60), st.booleans(), st.integers(0, 9))
def test_drawn_training_pairs(y, size, balanced, seed):
    found, same = pairs.training_pairs(y, size, balanced=balanced, seed=seed)
    every, same_of_every = pairs.training_pairs(y)
    truth = dict(zip(map(tuple, every.tolist()), same_of_every.tolist(), strict=True))
    assert [truth[tuple(pair)] for pair in found.tolist()] == same.tolist()
    assert len({tuple(pair) for pair in found.tolist()}) == len(found)
    joins, cuts = int(same_of_every.sum()), int((1 - same_of_every).sum())
    if balanced:
        assert (same.sum(), (1 - same).sum()) == (min(size // 2, joins), min(size // 2, cuts))
    else:
        assert len(found) == min(size, len(every))
    again, _ = pairs.training_pairs(y, size, balanced=balanced, seed=seed)
    assert (again == found).all()


def test_draws_are_uniform():
    y = [0, 0, 0, 1, 1, 2]
    counts = {}
    for seed in range(2000):
        for pair in pairs.training_pairs(y, 2, seed=seed)[0].tolist():
            counts[tuple(pair)] = counts.get(tuple(pair), 0) + 1
    every, same = pairs.training_pairs(y)
    for kind, number in ((1, 4), (0, 11)):
        share = np.array([counts[tuple(pair)] for pair in every[same == kind].tolist()]) / 2000
        assert len(share) == number and share == pytest.approx(1 / number, abs=4 * np.sqrt(1 / number / 2000))


def test_draws_from_many_elements_list_no_pairs():
    found, same = pairs.training_pairs(np.arange(10**6) % 1000, 100, seed=0)
    assert len(found) == 100 and same.sum() == 50
    assert (((found[:, 0] - found[:, 1]) % 1000 == 0) == same).all()


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from([1, 2, None])), max_size=20), st.integers(1, 6))
def test_pairs_with_equal_keys(keys, largest):
    first, second = [k for k, _ in keys], [k for _, k in keys]

    def share(values, a, b):
        return values[a] is not None and values[a] == values[b] and values.count(values[a]) <= largest

    expected = [
        [a, b]
        for a, b in itertools.combinations(range(len(keys)), 2)
        if share(first, a, b) or share(second, a, b)
    ]  # fmt: skip
    assert pairs.equal_keys(first, second, largest=largest).tolist() == expected


@given(st.integers(0, 99), st.integers(0, 12), st.integers(1, 15))
def test_nearest_neighbours(seed, n, k):
    pytest.importorskip("sklearn")
    X = np.random.default_rng(seed).normal(size=(n, 2))
    distance = np.square(X[:, None] - X[None]).sum(axis=2)
    near = [set(np.argsort(distance[a])[: min(k, n - 1) + 1].tolist()) - {a} for a in range(n)]
    expected = [[a, b] for a, b in itertools.combinations(range(n), 2) if b in near[a] or a in near[b]]
    assert pairs.nearest_neighbors(X, k).tolist() == expected
    assert pairs.nearest_neighbors(scipy.sparse.csr_array(X), k).tolist() == expected


# -------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda: pairs.pair_attributes([1.0], []), InvalidProblem, r"X has shape \(1,\)"),
        (lambda: pairs.pair_attributes([[np.nan]], []), InvalidProblem, "attribute 0 of sample 0 is nan"),
        (lambda: pairs.pair_attributes([[1.0]], [(0, 1)]), InvalidProblem, r"pair 0 is \(0, 1\): .* 0 to 0"),
        (lambda: pairs.pair_attributes([[1.0]], [(0.0, 1.0)]), InvalidProblem, "float64: expected"),
        (lambda: pairs.pair_attributes([[1.0]], [(0, 1, 2)]), InvalidProblem, r"shape \(1, 3\)"),
        (lambda: pairs.pair_attributes([[1.0]], [], "manhattan"), InvalidOption, "'manhattan': expected"),
        (lambda: pairs.pair_attributes([[1.0]], [], []), InvalidOption, "empty"),
        (lambda: pairs.pair_attributes([[1.0]] * 2, [(0, 1)], lambda x, z: x[0]), InvalidProblem, "callable returned"),
        (lambda: pairs.cost_matrix([[1.0]], [1.0, 2.0]), InvalidProblem, "2 parameters for 1 attributes"),
        (lambda: pairs.cost_matrix([[1.0]], LogisticRegression()), InvalidOption, "not fitted"),
        (lambda: pairs.cost_matrix([[0.0], [1e308]], [1e10]), InvalidProblem, r"cost \(0, 1\) is -inf"),
        (lambda: pairs.pair_costs([[0.0], [1e308]], [(0, 1)], [1e10]), InvalidProblem, r"cost \(0,\) is -inf"),
        (lambda: pairs.sample_blocks([[0.0], [1.0]], [(0, 1)], []), InvalidProblem, "1 pairs but decisions"),
        (lambda: pairs.training_pairs([[1]]), InvalidPartition, "unhashable"),
        (lambda: pairs.training_pairs([1], -1), InvalidOption, "size is -1"),
        (lambda: pairs.equal_keys([1], [1, 2]), InvalidProblem, "for 1 and for 2 elements"),
        (lambda: pairs.nearest_neighbors([[1.0]], 0), InvalidOption, "k is 0"),
    ],
)
def test_bad_input_is_named(use, error, message):
    with pytest.raises(error, match=message):
        use()


def test_a_matrix_that_does_not_fit_is_refused_before_it_is_made():
    with pytest.raises(InvalidProblem, match="GB"):
        pairs.cost_matrix(np.zeros((10**6, 1)), [1.0])
