"""Localised evolution and label propagation against naive forms of them, and what these and reheating promise."""

import networkx as nx
import numpy as np
import pytest
from backgrounds import background_problem
from trials import trials

import graphpart as gp
from graphpart.generate.networks import clustered_network
from graphpart.partition.anytime_search._kernels import Annealing
from graphpart.partition.anytime_search.annealing import Annealer, has_plateaus
from graphpart.partition.anytime_search.drifting import PropagationRounds, ReheatingRounds
from graphpart.partition.anytime_search.evolution import EvolutionRounds, by_neighbourhood
from graphpart.partition.anytime_search.parameters import (
    DriftingParameters,
    SearchParameters,
)
from graphpart.partition.anytime_search.pool import Pool
from graphpart.partition.anytime_search.portfolio import Portfolio
from graphpart.partition.anytime_search.strategy import Turn
from graphpart.partition.local_search.sums import terms_of
from graphpart.partition.pieces.contraction import Contraction
from graphpart.partition.problem import canonical
from graphpart.partition.problem.forms import without_usual
from graphpart.stopping import Stopping

STEPS, MUTATED, NEAR, SWEEPS, FOLLOWS = 8, 12, 16, 5, 154  # of the kernel


class Naive:
    """The trials, with sums over a matrix; costs are integers, so that equal sums are equal numbers."""

    def __init__(self, p, labels, seed):
        self.starts, self.neighbours, _ = p._rows().arrays
        self.matrix, self.n, self.state = p._to_dense().matrix, p.n, seed
        self.label, self.steps, self.cost = labels.copy(), 0, 0.0
        used = set(labels.tolist())
        self.unused = [U for U in range(p.n, -1, -1) if U not in used]
        self.remembered = {}  # the change by the best move, less what the element pays in its own subset

    def bits(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return z ^ (z >> 31)

    def below(self, bound):
        return ((self.bits() >> 32) * bound) >> 32

    def around(self, a):
        return self.neighbours[self.starts[a] : self.starts[a + 1]].tolist()

    def pays(self, a, U):
        others = (self.label == U) & (np.arange(self.n) != a)
        return self.matrix[a, others].sum()

    def background(self, a):
        """Of an element in its own subset: what it pays for pairs that are not listed, and of listed ones the same."""
        return ((self.label == self.label[a]).sum() - 1) * 1.0

    def wanted(self, a, wanted):
        mine = self.label[a]
        self.steps += STEPS + len(self.around(a))
        own = self.pays(a, mine)
        options = [] if wanted == "alone" else [U for U in dict.fromkeys(self.label[self.around(a)]) if mine != U]
        values = [(U, self.pays(a, U) - own) for U in options]
        if (self.label == mine).sum() > 1:
            values.append((self.unused[-1], -own))
        if wanted != "alone":
            self.remembered[a] = min((value for _, value in values), default=np.inf) + self.background(a)
        target, low, ties = (mine, 0.0, 1) if wanted == "best" else (mine, np.inf, 0)
        delta = 0.0
        for U, value in values:
            if wanted != "any other" and value > low:
                continue
            if wanted != "any other" and value < low:
                ties = 0
            ties += 1
            if ties == 1 or self.below(ties) == 0:
                target, delta, low = U, value, min(low, value)
        return target, delta

    def move(self, a, target, delta):
        mine = self.label[a]
        self.cost += delta
        self.label[a] = target
        if (self.label == target).sum() == 1:
            assert self.unused.pop() == target
        if not (self.label == mine).any():
            self.unused.append(mine)
        for b in (a, *self.around(a)):
            self.remembered.pop(b, None)

    def moved(self, a, wanted, done):
        target, delta = self.wanted(a, wanted)
        if target == self.label[a]:
            return False
        done.append((a, self.label[a]))
        self.move(a, target, delta)
        return True

    def trial(self, centers, limit):
        most, a = 1 + self.below(MUTATED), int(centers[self.below(len(centers))])
        before, done, near = self.cost, [], []
        while True:
            draw = self.bits() >> 32
            if a not in near:
                near.append(a)
                alone = (self.label == self.label[a]).sum() > 1 and draw & 1
                self.moved(a, "alone" if alone else "best other" if draw & 2 else "any other", done)
            if len(near) == most or not self.around(a) or (draw >> 2) & 255 >= FOLLOWS:
                break
            b = self.around(a)[self.below(len(self.around(a)))]
            if self.below(len(self.around(b))) < NEAR:
                a = b
        if not done:
            return
        for a in near.copy():
            around = self.around(a)
            for k in range(min(len(around), NEAR)):
                b = around[k if len(around) <= NEAR else self.below(len(around))]
                if b not in near and self.below(len(self.around(b))) < NEAR:
                    near.append(b)
        for _ in range(SWEEPS):
            changed = False
            for i in range(len(near) - 1, -1, -1):
                k = self.below(i + 1)
                near[i], near[k] = near[k], near[i]
                a = near[i]
                if a not in self.remembered or self.remembered[a] - self.background(a) <= 0:
                    changed |= self.moved(a, "best", done)
            if not changed:
                break
        if self.cost > limit:
            for a, U in reversed(done):
                self.move(a, U, 0.0)
            self.cost = before

    def evolve(self, centers, steps):
        best = 0.0
        while self.steps < steps:
            self.steps += STEPS
            self.trial(centers, best)
            best = min(best, self.cost)
        return self.label, self.cost

    def propagate(self, elements, share, sweeps):
        wanted = "alone" if self.bits() >> 63 else "any other"
        for a in elements.tolist() if share else ():
            if self.bits() >> 32 < int(share * 2**32) and (
                wanted != "alone" or (self.label == self.label[a]).sum() > 1
            ):
                self.moved(a, wanted, [])
        for _ in range(sweeps):
            changed = False
            for a in elements.tolist():
                if a not in self.remembered or self.remembered[a] - self.background(a) <= 0:
                    changed |= self.moved(a, "best", [])
            if not changed:
                break
        return self.label


@pytest.mark.parametrize("seed", range(6))
def test_trials_go_as_their_naive_form_does(seed):
    rng = np.random.default_rng(seed)
    n = (30, 40, 60)[seed % 3]
    u, v = np.triu_indices(n, 1)
    some = rng.random(len(u)) < (0.1, 0.7)[seed % 2]  # more neighbours than are repaired, too
    cost = rng.integers(-3, 2, int(some.sum())) if seed > 3 else -np.ones(int(some.sum()))
    p = gp.SetPartition.from_pairs(n, np.stack([u[some], v[some]], 1), cost, missing=1.0, dense=False)
    labels = canonical(rng.integers(0, n, n).astype(np.int32))
    centers = np.sort(rng.permutation(n)[: n // 2]).astype(np.int32)
    kernel = Annealing(*p._rows().arrays, p._tolerance, terms_of(p))
    for steps in (1, 200, 5000):
        found, change = kernel.evolve(labels, centers, steps, seed + 10, 0.0, Stopping())
        expected, cost_of = Naive(p, labels, seed + 10).evolve(centers, steps)
        assert found.tolist() == expected.tolist() and change == cost_of
    assert change == p.evaluate(found) - p.evaluate(labels) < 0


@pytest.mark.parametrize("seed", range(6))
def test_labels_propagate_as_in_the_naive_form(seed):
    rng = np.random.default_rng(seed)
    n = (30, 45)[seed % 2]
    u, v = np.triu_indices(n, 1)
    some = rng.random(len(u)) < (0.1, 0.5)[seed % 2]
    cost = rng.integers(-3, 2, int(some.sum())) if seed > 3 else -np.ones(int(some.sum()))
    p = gp.SetPartition.from_pairs(n, np.stack([u[some], v[some]], 1), cost, missing=1.0, dense=False)
    labels = canonical(rng.integers(0, n, n).astype(np.int32))
    elements = np.sort(rng.permutation(n)[: n - seed]).astype(np.int32)
    kernel = Annealing(*p._rows().arrays, p._tolerance, terms_of(p))
    for share, sweeps in ((0.0, 1), (0.5, 0), (0.2, 10), (1.0, 3)):
        naive = Naive(p, labels, seed + 10)
        found, _ = kernel.propagate(labels, elements, share, sweeps, seed + 10, 0.0, Stopping())
        assert found.tolist() == naive.propagate(elements, share, sweeps).tolist()


def test_propagated_labels_obey_requirements_and_no_element_wants_to_leave():
    rng, ended = np.random.default_rng(6), 0
    for number in range(300):
        p = background_problem(rng, repels=bool(number % 4))
        p = p._contract(p._must_join_classes())
        x = canonical(rng.integers(0, 4, p.n).astype(np.int32))
        if p.n < 2 or not np.isfinite(p.evaluate(x)):
            continue
        elements = np.arange(p.n, dtype=np.int32)
        y = Annealer(p).propagate(x, elements, number % 3 / 3, 200, number, Stopping())
        assert np.isfinite(p.evaluate(y))
        once = Annealer(p).propagate(y, elements, 0.0, 1, number, Stopping())
        assert p.evaluate(once) <= p.evaluate(y) + 1e-9
        ended += p.evaluate(once) >= p.evaluate(y) - 1e-9
    assert ended > 150  # others have elements that the background alone attracts


def test_it_knows_what_it_changed_and_obeys_requirements():
    rng, better = np.random.default_rng(5), 0
    for number in range(200):
        p = background_problem(rng, repels=bool(number % 4))
        p = p._contract(p._must_join_classes())
        x = canonical(rng.integers(0, 4, p.n).astype(np.int32))
        if p.n < 2 or not np.isfinite(p.evaluate(x)):
            continue
        kernel = Annealing(*p._rows().arrays, p._tolerance, terms_of(p))
        labels, change = kernel.evolve(x, np.arange(p.n, dtype=np.int32), 3000, number, p.evaluate(x), Stopping())
        assert change == pytest.approx(p.evaluate(labels) - p.evaluate(x), abs=1e-9) and change <= p._tolerance
        better += change < -1e-6
    assert better > 60


def test_rounds_go_on_from_changes_without_gain_and_from_the_pool():
    edges = clustered_network(900, 4000, seed=2).edges
    p = gp.SetPartition.from_pairs(900, edges, np.full(len(edges), -1.0), missing=1.0, dense=False)
    start = gp.partition.greedy_joining(p).labels
    pool, costs = Pool(p, canonical(start), 5), []
    turn = Turn(pool, Annealer(p), 0, 0, 0, 0.0, [1, 2, 3, 4], np.random.default_rng(0), 1e6)
    rounds = EvolutionRounds(turn, DriftingParameters(), 1.0)
    for _ in range(6):
        tasks = rounds.plan(turn)
        assert np.array_equal(np.sort(np.concatenate([task.elements for task in tasks])), np.sort(rounds.elements))
        assert p.evaluate(tasks[0].start) <= pool.cost
        for task in tasks:
            found = rounds.perform(task, Stopping())
            rounds.learn(found, pool.take(found.labels))
        costs.append(pool.cost)
        assert p.evaluate(rounds.labels) <= p.evaluate(tasks[0].start)
    assert costs == sorted(costs, reverse=True) and costs[-1] < p.evaluate(start)
    assert not np.array_equal(rounds.labels, pool.labels)


@pytest.mark.parametrize(
    ("strategy", "parameters"),
    [
        (PropagationRounds, DriftingParameters()),
        (ReheatingRounds, DriftingParameters(reheated=(10, 30))),
    ],
)
def test_rounds_lower_the_cost_and_begin_where_the_last_one_ended(strategy, parameters):
    edges = clustered_network(900, 4000, seed=2).edges
    p = gp.SetPartition.from_pairs(900, edges, np.full(len(edges), -1.0), missing=1.0, dense=False)
    pool, costs = Pool(p, np.arange(900, dtype=np.int32), 5), []
    turn = Turn(pool, Annealer(p), 0, 0, 0, 0.0, [1, 2, 3, 4], np.random.default_rng(0), 1e5)
    rounds = strategy(turn, parameters, 1.0)
    for _ in range(4):
        tasks = rounds.plan(turn)
        assert p.evaluate(tasks[0].start) <= pool.cost
        for task in tasks:
            found = rounds.perform(task, Stopping())
            again = rounds.perform(task, Stopping())
            assert np.array_equal(found.labels, again.labels) and found.work == again.work > 1e5
            rounds.learn(found, pool.take(found.labels))
        costs.append(pool.cost)
        assert p.evaluate(rounds.labels) <= p.evaluate(tasks[0].start)
    assert costs == sorted(costs, reverse=True) and costs[-1] < p.evaluate(gp.partition.kernighan_lin(p).labels)


def test_many_moves_change_nothing_in_cluster_editing_and_not_in_modularity():
    edges = clustered_network(900, 4000, seed=2).edges
    graph = nx.Graph(edges.tolist())

    def of(costs, missing=1.0):
        return gp.SetPartition.from_pairs(900, edges, np.broadcast_to(costs, len(edges)), missing=missing, dense=False)

    p = of(-1.0)
    assert (
        has_plateaus(p)
        and has_plateaus(of(-0.1, 0.1))
        and has_plateaus(gp.SetPartition.from_editing(graph, dense=False))
    )
    halves = Contraction(p, canonical(np.arange(900) // 2)).problem
    assert halves.background is not None and has_plateaus(halves)
    assert not any(map(has_plateaus, (p._to_dense(), of(-9.0), of(-1.0, 0.0), of(-1.0, -0.5), of(-0.7))))
    assert not any(has_plateaus(gp.SetPartition.from_modularity(graph, resolution=r, dense=False)) for r in (1.0, 40.0))
    t = Annealer(p).temperatures(canonical(np.arange(900) // 3), 0.1)
    assert 0 < 4 * t[1] < t[0]


def test_a_matrix_in_which_most_pairs_cost_the_same_is_searched_as_pairs():
    rng = np.random.default_rng(8)
    for number in range(40):
        n = int(rng.integers(2, 60))
        usual, one = (1.0, -2.0, 0.0, 0.5)[number % 4], rng.integers(-3, 4, (n, n)).astype(float)
        drawn = np.triu(rng.random((n, n)) < rng.choice([0.0, 0.02, 0.5]), 1)
        matrix = np.where(drawn, one, usual)
        matrix = np.triu(matrix, 1) + np.triu(matrix, 1).T
        p = gp.SetPartition.from_matrix(matrix, dense=True, offset=3.0)
        q = without_usual(p)
        few = (np.triu(matrix, 1) != np.triu(np.full((n, n), usual), 1)).sum() <= 0.05 * n * (n - 1) / 2
        assert q is p if usual in (0.0, 0.5) or not few else q.matrix is None
        for _ in range(5):
            labels = rng.integers(0, 5, n)
            assert p.evaluate(labels) == q.evaluate(labels)
            assert p.objective(p.evaluate(labels)) == q.objective(q.evaluate(labels))
    matrix[0, 1] = matrix[1, 0] = np.inf
    p = gp.SetPartition.from_matrix(matrix, dense=True)
    assert without_usual(p) is p
    matrix = np.ones((60, 60))
    matrix[0, 1:4] = matrix[1:4, 0] = 2.0**53 + 2  # sums are not exact, and each form rounds them in its own way
    p = gp.SetPartition.from_matrix(matrix, dense=True)
    assert without_usual(p) is p
    u, v = clustered_network(300, 1200, seed=3).edges.T
    p = gp.SetPartition.from_pairs(300, np.stack([u, v], 1), np.full(len(u), -1.0), missing=1.0, dense=True)
    state = Portfolio(p, np.arange(300, dtype=np.int32), 0.0, 0, 1, Stopping(max_iterations=3), SearchParameters())
    state.run()
    assert state.p.matrix is None and state.cost == p.evaluate(state.labels)


def test_the_order_has_neighbours_near_each_other():
    rng = np.random.default_rng(1)
    n, path = 500, np.random.default_rng(2).permutation(500)
    p = gp.SetPartition.from_pairs(
        n + 3, np.stack([path[:-1], path[1:]], 1), -rng.random(n - 1), missing=1.0, dense=False
    )
    order = by_neighbourhood(p)
    assert sorted(order.tolist()) == list(range(n))  # without those that have no neighbours
    assert (np.abs(np.diff(np.argsort(path)[order])) == 1).all()


def test_the_order_goes_through_one_component_after_the_other():
    rng = np.random.default_rng(3)
    part = rng.integers(0, 7, 200)
    pairs = np.array([(a, b) for a in range(200) for b in range(a) if part[a] == part[b] and rng.random() < 0.15])
    p = gp.SetPartition.from_pairs(200, pairs, -np.ones(len(pairs)), missing=1.0, dense=False)
    order = by_neighbourhood(p)
    assert sorted(order.tolist()) == np.unique(pairs).tolist()
    assert (np.diff(part[order]) != 0).sum() == 6
    assert by_neighbourhood(gp.SetPartition.from_pairs(5, [], [], missing=1.0, dense=False)).tolist() == []


def test_the_order_is_that_of_breadth_first_search_from_an_element_of_fewest_neighbours():
    rng = np.random.default_rng(5)
    for _ in range(trials(100)):
        n = int(rng.integers(2, 30))
        graph = nx.gnm_random_graph(n, int(rng.integers(0, 2 * n)), seed=int(rng.integers(2**31)))
        p = gp.SetPartition.from_pairs(n, list(graph.edges), -np.ones(len(graph.edges)), missing=1.0, dense=False)
        expected = []
        for part in sorted(nx.connected_components(graph), key=min):
            waiting = [min(part, key=lambda a: (graph.degree(a), a))] if len(part) > 1 else []
            for a in waiting:  # which grows
                waiting += sorted(set(graph[a]) - set(waiting))
            expected += waiting
        assert by_neighbourhood(p).tolist() == expected


def test_the_order_takes_no_quadratic_time_on_a_star():
    # Ordering the neighbours of the centre by insertion would take 10^10 steps.
    n, rng = 300_000, np.random.default_rng(4)
    others = rng.integers(1, n, (2, n))
    pairs = np.concatenate([np.stack([np.zeros(n - 1, int), np.arange(1, n)], 1), others[:, others[0] != others[1]].T])
    keys = np.unique(pairs.min(axis=1) * n + pairs.max(axis=1))
    p = gp.SetPartition.from_pairs(n, np.stack([keys // n, keys % n], 1), -np.ones(len(keys)), missing=1.0, dense=False)
    assert sorted(by_neighbourhood(p).tolist()) == list(range(n))


def test_a_run_that_is_stopped_has_what_was_found():
    p = gp.SetPartition.from_pairs(40, [(k, k + 1) for k in range(39)], [-1.0] * 39, missing=1.0, dense=False)
    stopping = Stopping(target=0.0)
    labels = Annealer(p).evolve(np.arange(40, dtype=np.int32), np.arange(40, dtype=np.int32), 1e12, 1, stopping)
    assert p.evaluate(labels) <= 0.0
