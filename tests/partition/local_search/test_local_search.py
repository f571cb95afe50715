"""The three local searches: same trajectory as the naive references, and everything that a local search promises."""

import itertools
import math
import signal

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import is_close, partitions, problem_and_start
from trials import trials

import graphpart as gp
from graphpart.partition import greedy_joining, greedy_moving, kernighan_lin
from graphpart.partition.problem.derived import connected_subsets

SEARCHES = {"greedy_joining": greedy_joining, "greedy_moving": greedy_moving, "kernighan_lin": kernighan_lin}
each_search = pytest.mark.parametrize("name", SEARCHES)


def random_problem(seed, n=200, dense=True, share=1.0):
    rng = np.random.default_rng(seed)
    u, v = np.triu_indices(n, 1)
    kept = rng.random(len(u)) < share
    return gp.SetPartition.from_pairs(n, (u[kept], v[kept]), rng.normal(size=kept.sum()), dense=dense)


# Costs that fixed point holds exactly; below its resolution, ties are what the kernels and exact arithmetic may see
# differently.
EXACT = ("integer", "sign", "quarter", "huge", "tiny")


@each_search
@settings(max_examples=trials(400))
@given(case=problem_and_start(max_n=7, kinds=EXACT))
def test_same_trajectory_as_the_naive_reference(name, case):
    p, start = case
    start = p.labels(start).tolist()
    steps = [start, *itertools.islice(getattr(reference, name)(p, start), 12)]
    for k, expected in enumerate(steps):
        result = SEARCHES[name](p, start, max_iterations=k)
        # One that is not stopped before its end goes on if a subset comes apart there.
        assert result.labels.tolist() == pieces(p, expected) or k == len(steps) - 1
    if len(steps) <= 12:
        check_end(p, SEARCHES[name](p, start), steps[-1])


def pieces(p, labels):
    """Labels with subsets divided where no non-zero pair connects them."""
    return connected_subsets(p, np.array(labels, np.int32)).tolist()


def check_end(p, result, last):
    """A result ends where the naive reference does; where a subset comes apart there, it ends there or lower."""
    if pieces(p, last) == last:
        assert result.labels.tolist() == last
    else:
        assert result.cost <= p.evaluate(last) + p._tolerance * p.n


@each_search
@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("seed", range(trials(12)))
def test_same_end_as_the_naive_reference_on_larger_problems(name, dense, seed):
    p = random_problem(seed, n=24, dense=dense, share=1.0 if seed % 2 else 0.3)
    if dense and not seed % 2:
        p = gp.SetPartition.from_matrix(np.round(4 * p.matrix), dense=True)  # ties in plenty
    start = p.labels(np.random.default_rng(seed).integers(0, 5, p.n)).tolist()
    *_, last = [start, *getattr(reference, name)(p, start)]
    check_end(p, SEARCHES[name](p, start), last)


@pytest.mark.parametrize("name", ["greedy_moving", "kernighan_lin"])
def test_same_end_where_many_subsets_become_few(name):
    """Of more than 24 subsets of a matrix, the kernel keeps best moves; of fewer, it compares all."""
    p = random_problem(5, n=34, dense=True, share=1.0)
    start = list(range(p.n))
    *_, last = [start, *getattr(reference, name)(p, start)]
    assert len(set(last)) < 24
    check_end(p, SEARCHES[name](p, start), last)


@each_search
@settings(max_examples=trials(150))
@given(case=problem_and_start(max_n=9, kinds=("integer", "real", "huge", "tiny")))
def test_never_worse_than_the_start_and_cost_recomputed(name, case):
    p, start = case
    result = SEARCHES[name](p, start)
    assert result.cost <= p.evaluate(start)
    assert result.cost == p.evaluate(result.partition)
    assert result.status == "local_optimum"
    assert result.history[-1][1] == result.cost
    p._check_feasible(result.labels)


@settings(max_examples=trials(150))
@given(case=problem_and_start(max_n=8, requirements=False))
def test_fixed_point_of_joining_has_no_improving_join(case):
    p, start = case
    labels = greedy_joining(p, start).labels
    cost = p.evaluate(labels)
    for U, W in itertools.combinations(range(labels.max(initial=-1) + 1), 2):
        joined = p.evaluate(np.where(labels == W, U, labels))
        assert joined >= cost or is_close(joined, cost, p)


@pytest.mark.parametrize("search", [greedy_moving, kernighan_lin])
@settings(max_examples=trials(150))
@given(case=problem_and_start(max_n=8, requirements=False))
def test_fixed_point_of_moving_has_no_improving_move(search, case):
    p, start = case
    labels = search(p, start).labels
    cost = p.evaluate(labels)
    for a, U in itertools.product(range(p.n), range(p.n)):
        moved = labels.copy()
        moved[a] = U
        after = p.evaluate(moved)
        assert after >= cost or is_close(after, cost, p)


@settings(max_examples=trials(100))
@given(p=partitions(max_n=8, requirements=False, density=1.0))
def test_dense_and_sparse_storage_agree(p):
    other = gp.SetPartition.from_pairs(p.n, p.pairs()[:2], p.pairs()[2], p.nodes, dense=not p.is_dense)
    for search in SEARCHES.values():
        assert search(p).labels.tolist() == search(other).labels.tolist()


@each_search
def test_default_start(name):
    p = random_problem(3)
    assert greedy_joining(p).labels.tolist() == greedy_joining(p, np.arange(p.n)).labels.tolist()
    if name != "greedy_joining":
        expected = SEARCHES[name](p, greedy_joining(p)).labels
        assert SEARCHES[name](p).labels.tolist() == expected.tolist()


@each_search
@pytest.mark.parametrize("dense", [True, False])
def test_initial_partitions_in_every_form(name, dense):
    p = random_problem(5, n=12, dense=dense)
    labels = [i % 3 for i in range(12)]
    sets = [{i for i in range(12) if i % 3 == k} for k in range(3)]
    results = [SEARCHES[name](p, form) for form in (labels, sets, dict(enumerate(labels)), np.array(labels) + 70)]
    results.append(SEARCHES[name](p, greedy_joining(p, labels, max_iterations=0)))
    assert len({tuple(r.labels.tolist()) for r in results}) == 1


@each_search
@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("dense", [True, False])
def test_smallest_problems(name, n, dense):
    for cost in (-1.0, 0.0, 1.0, math.inf):
        pairs = [(0, 1)] if n == 2 else []
        p = gp.SetPartition.from_pairs(n, pairs, [cost] * len(pairs), dense=dense)
        result = SEARCHES[name](p)
        assert result.n_clusters == (1 if n == 2 and cost == -1 else n)
        assert result.cost == (-1 if n == 2 and cost == -1 else 0)


def test_a_sequence_escapes_where_moves_do_not():
    # Element 3 should take the place of element 2, which first has to leave, at a price.
    costs = {(0, 1): -10.0, (0, 2): -1.0, (1, 2): -1.0, (0, 3): -4.0, (1, 3): -4.0, (2, 3): 20.0}
    for dense in (True, False):
        p = gp.SetPartition.from_pairs(4, list(costs), list(costs.values()), dense=dense)
        start = [0, 0, 0, 1]
        assert greedy_moving(p, start).cost == -12
        assert kernighan_lin(p, start).cost == -18
        assert kernighan_lin(p, start).partition == [{0, 1, 3}, {2}]


def test_moving_towards_a_far_subset_when_everything_near_repels():
    # Within a sequence an element that is alone may have to go to a subset with which it shares no pair.
    p = gp.SetPartition.from_pairs(5, [(0, 1), (1, 2), (0, 2)], [1.0, 1.0, 1.0], dense=False)
    start = [0, 1, 2, 3, 4]
    assert list(reference.kernighan_lin(p, start)) == []
    assert kernighan_lin(p, start).labels.tolist() == start


@each_search
def test_required_pairs_are_honoured(name):
    p = gp.SetPartition.from_pairs(
        6, [(a, b) for a in range(6) for b in range(a)], [-1.0] * 15, must_join=[(0, 5)], must_cut=[(0, 1), (1, 2)]
    )
    result = SEARCHES[name](p)
    assert result.labels[0] == result.labels[5]
    assert result.labels[0] != result.labels[1] != result.labels[2]
    for start in ([0, 1, 0, 0, 0, 1], [0, 0, 1, 1, 1, 0]):  # which violate a required join, and a required cut
        p._check_feasible(SEARCHES[name](p, start).labels)


@each_search
@pytest.mark.parametrize("dense", [True, False])
def test_limits(name, dense):
    p = random_problem(1, dense=dense)
    start = np.arange(p.n)
    assert SEARCHES[name](p, start, time_limit=0).status == "time_limit"
    assert SEARCHES[name](p, start, max_iterations=1).iterations == 1
    assert SEARCHES[name](p, start, max_iterations=1).status == "iteration_limit"
    assert SEARCHES[name](p, start, target=-1e-6).status == "target"
    stopped = SEARCHES[name](p, start, callback=lambda seconds, cost: True)
    assert stopped.status == "interrupted"
    assert stopped.cost == p.evaluate(stopped.labels)


@each_search
def test_an_exception_of_the_callback_reaches_the_caller(name):
    def callback(seconds, cost):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        SEARCHES[name](random_problem(1), callback=callback)


@pytest.mark.parametrize("dense", [True, False])
def test_interrupt_returns_the_best_so_far(dense):
    p = random_problem(2, n=1500, dense=dense)
    result = kernighan_lin(p, np.arange(p.n), callback=lambda *_: signal.raise_signal(signal.SIGINT))
    assert result.status == "interrupted"
    assert result.cost == p.evaluate(result.labels)


@each_search
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"time_limit": -1}, "time_limit is -1: expected a number of at least 0"),
        ({"time_limit": math.nan}, "time_limit is nan: expected a number"),
        ({"max_iterations": 1.5}, "max_iterations is 1.5: expected a whole number"),
        ({"target": "low"}, "target is 'low': expected a number"),
        ({"callback": 3}, "callback is 3: expected a callable"),
    ],
)
def test_wrong_options(name, options, message):
    with pytest.raises(gp.InvalidOption, match=message):
        SEARCHES[name](random_problem(1, n=4), **options)


@each_search
def test_wrong_problems_and_partitions(name):
    with pytest.raises(gp.InvalidProblem, match="got str: expected a SetPartition or a networkx graph"):
        SEARCHES[name]("karate")
    p = random_problem(1, n=4)
    with pytest.raises(gp.InvalidPartition, match=r"labels have shape \(3,\): expected \(4,\)"):
        SEARCHES[name](p, [0, 0, 1])


@each_search
@pytest.mark.parametrize("dense", [True, False])
def test_inputs_are_not_changed(name, dense):
    p = random_problem(7, n=30, dense=dense)
    before = [x.copy() for x in p.pairs()]
    start = np.zeros(30, np.int64)
    SEARCHES[name](p, start)
    assert not start.any()
    for x, y in zip(before, p.pairs(), strict=True):
        np.testing.assert_array_equal(x, y)


@settings(max_examples=15)
@given(data=st.data())
def test_long_tables_of_neighbours(data):
    # Stars and hubs: tables that outgrow a list, are hashed, grow again, and lose entries.
    n = data.draw(st.integers(60, 160))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    hubs = data.draw(st.integers(1, 4))
    pairs = {(min(h, b), max(h, b)) for h in range(hubs) for b in range(n) if b != h}
    pairs |= {tuple(sorted(rng.choice(n, 2, replace=False).tolist())) for _ in range(2 * n)}
    pairs = sorted(pairs)
    p = gp.SetPartition.from_pairs(n, pairs, rng.integers(-4, 4, len(pairs)).astype(float), dense=False)
    *_, last = [list(range(n)), *reference.greedy_joining(p, list(range(n)))]
    assert greedy_joining(p).labels.tolist() == last


@each_search
@pytest.mark.parametrize("dense", [True, False])
def test_a_huge_cost_drowns_nothing(name, dense):
    """It once set the tolerance, and the resolution of fixed point: nothing was joined any more."""
    p = random_problem(11, n=40, dense=dense, share=1.0 if dense else 0.2)
    u, v, cost = p.pairs()
    for huge in (1e18, 1e300):
        results = []
        for worst in (huge, math.inf):
            costs = cost.copy()
            costs[np.argmax(cost)] = worst
            results.append(SEARCHES[name](gp.SetPartition.from_pairs(p.n, (u, v), costs, dense=dense)))
        assert results[0].labels.tolist() == results[1].labels.tolist()
        assert results[0].cost < -10
        costs[np.argmax(cost)] = huge
        q = gp.SetPartition.from_pairs(p.n, (u, v), costs, dense=dense)
        if name != "greedy_joining":  # which separates nothing
            assert SEARCHES[name](q, np.zeros(p.n, np.int64)).cost < -1


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("costs", ["signs", "five", "fractions", "last digits"])
def test_ties_go_the_same_way_in_matrices_and_pairs(costs, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(80, 200))  # more than one change of layout in both kernels
    u, v = np.triu_indices(n, 1)
    c = {
        "signs": rng.choice([-1.0, 1.0], len(u)),
        "five": rng.integers(-2, 3, len(u)).astype(float),
        "fractions": rng.integers(-(2**20), 2**20, len(u)) / 2**20,
        # The bits by which pairs are sorted first are the same for all; sums are exact.
        "last digits": rng.choice([-1.0, 1.0], len(u)) + rng.integers(0, 2**10, len(u)) / 2**40,
    }[costs]
    if costs == "last digits":
        c[rng.integers(len(u))] = -(2.0**-40)
    results = [greedy_joining(gp.SetPartition.from_pairs(n, (u, v), c, dense=dense)) for dense in (True, False)]
    assert results[0].labels.tolist() == results[1].labels.tolist()
    assert results[0].iterations == results[1].iterations


@pytest.mark.parametrize("seed", range(3))
def test_joining_on_a_matrix_of_which_much_is_dropped(seed):
    rng = np.random.default_rng(seed)
    n = 80
    costs = np.triu(rng.integers(-9, 10, (n, n)), 1).astype(float)
    subset = rng.integers(n if seed == 0 else 6, size=n)
    costs += np.triu(np.where(subset[:, None] == subset, -4.0, 2.0), 1)
    p = gp.SetPartition.from_matrix(costs + costs.T, dense=True)
    *_, last = [list(range(n)), *reference.greedy_joining(p, list(range(n)))]
    assert greedy_joining(p).labels.tolist() == last


@pytest.mark.parametrize("seed", range(4))
def test_the_cost_of_a_partition_is_exact_to_the_last_digits(seed):
    rng = np.random.default_rng(seed)
    n = 150
    costs = rng.normal(size=n * (n - 1) // 2) * 10.0 ** rng.integers(-8, 9, n * (n - 1) // 2)
    u, v = np.triu_indices(n, 1)
    labels = rng.integers(1 + 3 * seed, size=n)
    true = math.fsum(costs[labels[u] == labels[v]])
    for dense in (True, False):
        found = gp.SetPartition.from_pairs(n, (u, v), costs, dense=dense).evaluate(labels)
        assert found == pytest.approx(true, rel=1e-15, abs=0.0)


def test_ties_do_not_follow_the_numbering():
    """A path whose pairs all attract alike: joining along it would give one subset that grows at its end."""
    n = 1000
    p = gp.SetPartition.from_pairs(n, [(a, a + 1) for a in range(n - 1)], -np.ones(n - 1))
    r = greedy_joining(p, max_iterations=n // 4)
    sizes = np.bincount(r.labels)
    assert sizes.max() == 2  # small subsets first
    first = greedy_joining(p, max_iterations=20)
    joined = [min(subset) for subset in first.partition if len(subset) == 2]
    assert len(joined) == 20 and max(joined) - min(joined) > n // 2
