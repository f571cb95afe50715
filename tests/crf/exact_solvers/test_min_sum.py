"""Min-sum and sum-product against enumeration, and against the equations of the messages."""

import numpy as np
import pytest
from hypothesis import given, settings
from reference_crf import all_energies
from strategies_crf import factor_graphs, random_factor_graph
from trials import trials

import graphpart as gp
from graphpart.crf import marginals, min_sum


@pytest.mark.parametrize("block", range(8))
def test_thousands_of_random_forests(block):
    rng = np.random.default_rng(block)
    for _ in range(trials(250)):
        f = random_factor_graph(
            rng, forest=True, forbidden=rng.choice([0, 0, 0.2]), whole=block % 2 == 0, max_domain=block % 4 + 1
        )
        energies = all_energies(f)
        if energies.min() == np.inf:
            with pytest.raises(gp.InfeasibleProblem, match="every labeling is forbidden"):
                min_sum(f)
            with pytest.raises(gp.InfeasibleProblem, match="every labeling"):
                marginals(f)
            continue
        r = min_sum(f, min_marginals=True)
        assert r.status == gp.Status.OPTIMAL and r.lower_bound == r.cost
        assert r.cost == pytest.approx(energies.min(), abs=1e-9)
        assert energies[tuple(r.labels)] == pytest.approx(r.cost, abs=1e-9)
        m = marginals(f)
        weights = np.exp(energies.min() - energies)
        assert m.log_z == pytest.approx(np.log(weights.sum()) - energies.min(), abs=1e-9)
        for i, name in enumerate(f.variables):
            others = tuple(j for j in range(f.n) if j != i)
            np.testing.assert_allclose(r.info["min_marginals"][name], energies.min(axis=others), atol=1e-9)
            np.testing.assert_allclose(
                m.probabilities[name], weights.sum(axis=others) / weights.sum(), rtol=1e-9, atol=1e-12
            )


@pytest.mark.parametrize("block", range(4))
def test_forests_of_binary_pairs_alone(block):
    """These have a shorter way: differences of beliefs."""
    rng = np.random.default_rng([1, block])
    for _ in range(trials(250)):
        n = int(rng.integers(1, 10))
        new = np.flatnonzero(rng.random(n - 1) < 0.9) + 1
        scopes = np.stack([rng.integers(0, new), new], 1)
        scopes = rng.permuted(rng.permutation(n)[scopes], axis=1)[rng.permutation(len(new))]
        tables = rng.integers(-3, 4, (len(new), 2, 2)) * (1.0 if block % 2 else 2.0**40)
        unary = rng.integers(-3, 4, (n, 2)) + rng.random((n, 2)) * (block == 3)
        groups = [(scopes, tables), (np.arange(n)[:, None], unary)][: 1 + block % 3]
        f = gp.FactorGraph.from_arrays(np.full(n, 2), groups[:: rng.choice([-1, 1])], constant=1.0)
        assert f._layout().pairs_only
        r = min_sum(f, min_marginals=True)
        assert r.status == gp.Status.OPTIMAL
        assert r.cost == pytest.approx(all_energies(f).min(), rel=1e-12, abs=1e-9)
        assert all(r.info["min_marginals"][i].min() == pytest.approx(r.cost, rel=1e-9) for i in range(n))


@given(factor_graphs(forest=True))
@settings(max_examples=trials(150))
def test_messages_satisfy_their_equations(f):
    try:
        messages = min_sum(f, messages=True).info["messages"]
    except gp.InfeasibleProblem:
        return
    factors = [f.factor(k) for k in range(f.m)]
    for k, (scope, table) in enumerate(factors):
        incoming = []
        for place, variable in enumerate(scope):
            to_variable, to_factor = messages.edge(int(f.scope_start[k]) + place)
            assert to_variable.shape == to_factor.shape == (f.domains[variable],)
            expected = np.zeros(f.domains[variable])
            for other, (members, _) in enumerate(factors):
                if other != k and variable in members:
                    expected += messages.edge(int(f.scope_start[other]) + members.index(variable))[0]
            np.testing.assert_allclose(to_factor, expected, atol=1e-9)
            incoming.append(to_factor)
        for place in range(len(scope)):
            total = table
            for other, message in enumerate(incoming):
                if other != place:
                    total = total + message.reshape([-1 if axis == other else 1 for axis in range(len(scope))])
            expected = total.min(axis=tuple(axis for axis in range(len(scope)) if axis != place))
            np.testing.assert_allclose(messages.edge(int(f.scope_start[k]) + place)[0], expected, atol=1e-9)


def test_ties_do_not_mix_optima():
    equal = np.array([[0.0, 1.0], [1.0, 0.0]])
    f = gp.FactorGraph.from_arrays(np.full(50, 2), [(np.stack([np.arange(49), np.arange(1, 50)], 1), [equal] * 49)])
    r = min_sum(f)
    assert r.cost == 0.0 and len(set(r.labels.tolist())) == 1


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("domain", [2, 3])
def test_deep_paths_do_not_recurse(domain, flipped, shuffled):
    n = 10**6 if domain == 2 else 10**5
    rng = np.random.default_rng(domain)
    scopes = np.stack([np.arange(n - 1), np.arange(1, n)], 1)
    if flipped:
        scopes = scopes[:, ::-1]
    truth = rng.integers(0, domain, n)
    if shuffled:
        scopes = rng.permutation(n)[scopes]
    tables = np.ones((n - 1, domain, domain))
    tables[np.arange(n - 1), truth[scopes[:, 0]], truth[scopes[:, 1]]] = 0.0  # the truth costs 0, all else more
    unary = np.zeros((1, domain))
    unary[0] = truth[0] != np.arange(domain)
    f = gp.FactorGraph.from_arrays(np.full(n, domain), [(scopes, tables), ([[0]], unary)])
    r = min_sum(f)
    assert r.cost == 0.0
    np.testing.assert_array_equal(r.labels, truth)


def test_long_chains_keep_precision():
    n = 300_000
    rng = np.random.default_rng(5)
    tables = 1e6 + rng.standard_normal((n - 1, 2, 2))
    scopes = np.stack([np.arange(n - 1), np.arange(1, n)], 1)
    small = gp.FactorGraph.from_arrays(np.full(n, 2), [(scopes, tables - 1e6)])
    large = gp.FactorGraph.from_arrays(np.full(n, 2), [(scopes, tables)])
    assert min_sum(large).cost - 1e6 * (n - 1) == pytest.approx(min_sum(small).cost, abs=1e-3)
    assert np.mean(min_sum(large).labels != min_sum(small).labels) < 1e-4


def test_log_z_of_a_long_chain_against_transfer_matrices():
    rng = np.random.default_rng(0)
    n, d = 2000, 3
    tables = rng.standard_normal((n - 1, d, d))
    f = gp.FactorGraph.from_arrays(np.full(n, d), [(np.stack([np.arange(n - 1), np.arange(1, n)], 1), tables)])
    vector, scale = np.ones(d), 0.0
    for table in tables:
        vector = vector @ np.exp(-table)
        scale += np.log(vector.sum())
        vector /= vector.sum()
    m = marginals(f)
    assert m.log_z == pytest.approx(scale + np.log(vector.sum()), rel=1e-12)
    np.testing.assert_allclose(m.probabilities[n - 1], vector, rtol=1e-9)


def test_a_cycle_is_named():
    f = gp.FactorGraph()
    for name in "abcde":
        f.add_variable(name)
    for scope in ("ab", "bc", "cd", "db", "de"):
        f.add_factor(tuple(scope), np.zeros((2, 2)))
    with pytest.raises(gp.CyclicGraph, match=r"a cycle through the variables '[bcd]' - '[bcd]' - '[bcd]' - '[bcd]'"):
        min_sum(f)
    assert marginals(f).log_z == pytest.approx(5 * np.log(2))  # by elimination, for small widths


def test_long_cycles_are_shortened_in_the_message():
    n = 10_000
    scopes = np.stack([np.arange(n), np.roll(np.arange(n), -1)], 1)
    f = gp.FactorGraph.from_arrays(np.full(n, 2), [(scopes, np.zeros((n, 2, 2)))])
    with pytest.raises(gp.CyclicGraph, match=r"\.\.\. \(10000 in all\)"):
        min_sum(f)


def test_two_factors_over_the_same_pair_are_a_cycle_until_simplified():
    f = gp.FactorGraph.from_arrays([2, 2], [([[0, 1], [1, 0]], np.arange(8.0).reshape(2, 2, 2))])
    with pytest.raises(gp.CyclicGraph, match="simplify"):
        min_sum(f)
    assert min_sum(f.simplify()).cost == all_energies(f).min()


def test_the_witness_of_infeasibility():
    f = gp.FactorGraph()
    f.add_variable("x")
    f.add_variable("y")
    f.add_factor(("x", "y"), [[np.inf, 0.0], [np.inf, np.inf]])
    f.add_factor(("x",), [np.inf, 0.0])
    with pytest.raises(gp.InfeasibleProblem, match=r"factor 0 over \('x', 'y'\)|variable '[xy]'"):
        min_sum(f)


def test_no_time_still_gives_a_labeling():
    rng = np.random.default_rng(0)
    n = 20_000
    parents = rng.integers(0, np.arange(1, n))
    groups = [(np.stack([parents, np.arange(1, n)], 1), rng.standard_normal((n - 1, 2, 2)))]
    f = gp.FactorGraph.from_arrays(np.full(n, 2), groups)
    r = min_sum(f, time_limit=0)
    assert r.status == gp.Status.TIME_LIMIT
    assert r.cost == f.evaluate(r.labels) and r.lower_bound < r.cost
    assert r.lower_bound > -np.inf
    full = min_sum(f, min_marginals=True)
    marginals_of_none = min_sum(f, min_marginals=True, time_limit=0).info["min_marginals"]
    np.testing.assert_allclose(marginals_of_none.flat, full.info["min_marginals"].flat, rtol=1e-9)


def test_auto_without_time_is_not_worse_than_its_start():
    rng = np.random.default_rng(0)
    n = 20_000
    scopes = np.stack([np.arange(n - 1), np.arange(1, n)], 1)
    f = gp.FactorGraph.from_arrays(np.full(n, 2), [(scopes, rng.standard_normal((n - 1, 2, 2)))])
    best = gp.solve(f)
    for evidence in ({}, {0: int(best.labels[0])}):
        r = gp.crf.solve_given(f, evidence, initial=best, time_limit=0)
        assert r.cost <= best.cost and r.status == gp.Status.TIME_LIMIT
        assert -np.inf < r.lower_bound <= best.cost
