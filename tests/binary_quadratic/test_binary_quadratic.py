"""Binary quadratic forms: the form is the energy, kernels walk as naive ones do, search finds optima."""

import itertools
import math

import numpy as np
import pytest
from trials import trials

import graphpart as gp
from graphpart.binary_quadratic import _dense, _sparse
from graphpart.binary_quadratic.crossover import Contraction, better_parts
from graphpart.binary_quadratic.form import QuadraticForm
from graphpart.binary_quadratic.low_degree import Kernel
from graphpart.binary_quadratic.quadratic_search import STRATEGIES, BinarySearch
from graphpart.binary_quadratic.refining import Refining
from graphpart.binary_quadratic.walks import Walker, _narrow_variates, _variates
from graphpart.crf.anytime_search.portfolio import Portfolio
from graphpart.crf.problem.quadratic_form import quadratic_form
from graphpart.errors import InvalidOption
from graphpart.result import Status
from graphpart.stopping import Stopping

MASK = 2**64 - 1


def random_form(rng, n, density, kind="whole"):
    u, v = np.triu_indices(n, 1)
    kept = rng.random(len(u)) < density
    u, v = u[kept], v[kept]
    linear, couplings = rng.integers(-9, 10, n).astype(float), rng.integers(-9, 10, len(u)).astype(float)
    if kind == "real":
        linear, couplings = rng.standard_normal(n), rng.standard_normal(len(u))
    if kind == "wide":
        linear, couplings = linear + 1e-9 * rng.standard_normal(n), couplings * 10.0 ** rng.integers(-7, 7, len(u))
    return QuadraticForm.from_pairs(linear, u, v, couplings, float(rng.integers(-5, 6)))


def random_factor_graph(rng, n, m):
    scopes, tables = rng.integers(0, n, (m, 2)), rng.integers(-9, 10, (m, 2, 2)) / 4
    apart = scopes[:, 0] != scopes[:, 1]
    ones = rng.integers(0, n, (m // 2, 1))
    groups = [(scopes[apart], tables[apart]), (ones, rng.integers(-9, 10, (m // 2, 2)) / 4)]
    return gp.FactorGraph.from_arrays(np.full(n, 2), groups, constant=0.25)


def random_spins(rng, n):
    return np.where(rng.random(n) < 0.5, 1, -1).astype(np.int8)


def energies(q):
    return [q.energy(np.array(labels)) for labels in itertools.product((0, 1), repeat=q.n)]


# ------------------------------------------------------------------------------------------------------------- form


def test_form_equals_the_energy():
    for seed in range(trials(200)):
        rng = np.random.default_rng(seed)
        f = random_factor_graph(rng, int(rng.integers(1, 9)), int(rng.integers(0, 20)))
        q = quadratic_form(f)
        assert q.m == len(q.pairs()[0]) and (q.couplings != 0).all()
        for labels in rng.integers(0, 2, (8, f.n)):
            assert q.energy(labels) == f.evaluate(labels), seed
        walker = Walker(q)
        assert walker.exact
        for labels in rng.integers(0, 2, (4, f.n)):
            spins = (2 * labels - 1).astype(np.int8)
            assert walker.energy(spins) / walker.scale + q.constant == f.evaluate(labels), seed


def test_what_has_no_form():
    pair = np.zeros((2, 2))
    assert quadratic_form(gp.FactorGraph.from_arrays([2, 3], [])) is None
    assert quadratic_form(gp.FactorGraph.from_arrays([2] * 3, [([[0, 1, 2]], np.zeros((1, 2, 2, 2)))])) is None
    assert quadratic_form(gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [[[0, 0], [0, math.inf]]])])) is None
    huge = [[4e307, -4e307], [-4e307, 4e307]]
    assert quadratic_form(gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [huge])])) is None
    assert quadratic_form(gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [pair])])).m == 0


@pytest.mark.parametrize("magnitude", [1e-300, 1e-9, 1.0, 1e6, 1e300])
def test_any_magnitude_is_searched(magnitude):
    rng = np.random.default_rng(1)
    q = random_form(rng, 10, 0.5, "real")
    scaled = QuadraticForm.from_pairs(q.linear * magnitude, *q.pairs()[:2], q.pairs()[2] * magnitude)
    search = BinarySearch(scaled, seed=1)
    search.run(Stopping(max_iterations=3))
    assert search.cost == pytest.approx(min(energies(scaled)), rel=1e-9)


def test_integers():
    rng = np.random.default_rng(3)
    whole, real, wide = (random_form(rng, 30, 0.3, kind).integers for kind in ("whole", "real", "wide"))
    assert (whole.exact, whole.scale, whole.linear.dtype) == (True, 1.0, np.int32)
    assert (real.exact, real.linear.dtype) == (False, np.int32)
    assert (wide.exact, wide.linear.dtype) == (False, np.int64)
    big = QuadraticForm.from_pairs(np.array([2.0**40, 1.0]), np.array([0]), np.array([1]), np.array([3.0]))
    assert (big.integers.exact, big.integers.linear.tolist()) == (True, [2**40, 1])


# ---------------------------------------------------------------------------------------------------------- kernels


class Naive:
    """The same moves with gains recomputed at every step, and the same random numbers (SplitMix64)."""

    def __init__(self, walker, spins, seed):
        q = walker.q
        self.linear = q.integers.linear.astype(object)
        self.matrix = np.zeros((q.n, q.n), object)
        self.matrix[q.rows, q.neighbours] = q.integers.couplings.astype(object)
        self.spins, self.n, self.state = spins.copy(), q.n, seed

    def below(self, bound):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return (((z ^ (z >> 31)) >> 32) * bound) >> 32

    def energy(self):
        x = np.array((self.spins + 1) // 2, object)
        return int(self.linear @ x + x @ self.matrix @ x // 2) if self.n else 0

    def gain(self, i):
        x = np.array((self.spins + 1) // 2, object)
        return int((1 - 2 * x[i]) * (self.linear[i] + self.matrix[i] @ x))

    def anneal(self, temperatures, variates):
        best, found, at = self.energy(), self.spins.copy(), 0
        for t in temperatures:
            heat = np.float32(t)
            for b in range(0, self.n, 16):
                if b % 4096 == 0:
                    at = self.below(len(variates))
                at = (at + 16) & (len(variates) - 16)
                for k in range(b, min(b + 16, self.n)):
                    if self.gain(k) <= int(heat * variates[at + k - b]):
                        self.spins[k] *= -1
            if self.energy() < best:
                best, found = self.energy(), self.spins.copy()
        while any(self.gain(k) < 0 for k in range(self.n)):
            for k in range(self.n):
                if self.gain(k) < 0:
                    self.spins[k] *= -1
        return (self.energy(), self.spins) if self.energy() < best else (best, found)


def walkers(q):
    return [Walker(q, dense=False), Walker(q, dense=True)]


@pytest.mark.parametrize("kind", ["whole", "real", "wide"])
def test_gains_and_energies(kind):
    for seed in range(trials(60)):
        rng = np.random.default_rng(seed)
        q = random_form(rng, int(rng.integers(0, 40)), rng.random(), kind)
        spins = random_spins(rng, q.n)
        for walker in walkers(q):
            naive = Naive(walker, spins, 0)
            assert walker.energy(spins) == naive.energy(), seed
            assert walker.gains(spins).tolist() == [naive.gain(i) for i in range(q.n)], seed


@pytest.mark.parametrize("kind", ["whole", "real"])
def test_annealing_is_the_naive_walk(kind):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 50))
        q = random_form(rng, n, rng.random() ** 2, kind)
        start = random_spins(rng, n)
        for walker in walkers(q):
            temperatures = walker.unit * np.array([0.25, 0.1, 0.03])
            spins = start.copy()
            energy = walker.kernel.anneal(*walker.arrays, spins, temperatures, _variates(), seed, Stopping())
            naive = Naive(walker, start, seed).anneal(temperatures, _variates())
            assert (energy, spins.tolist()) == (naive[0], naive[1].tolist()), (seed, walker.dense)


def test_annealing_in_64_bits_ends_in_a_local_minimum():
    rng = np.random.default_rng(4)
    q = random_form(rng, 60, 0.2, "wide")
    walker = Walker(q)
    spins = walker.anneal(random_spins(rng, 60), 50, 0.25, 0.02, 1, Stopping())
    assert walker.arrays[-1].dtype == np.int64 and walker.gains(spins).min() >= 0


def naive_lanes(starts, neighbours, couplings, fields, spins, heats, variates, seed):
    state, stride, lanes = seed, 128, spins.shape[1]
    for heat in heats.tolist():
        for i in range(len(fields)):
            if i % stride == 0:
                state = (state + 0x9E3779B97F4A7C15) & MASK
                z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
                z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
                at = ((z ^ (z >> 31)) >> 32) * (len(variates) - lanes * stride) >> 32
            row = slice(starts[i], starts[i + 1])
            gain = -spins[i] * (fields[i] + couplings[row].astype(float) @ spins[neighbours[row]])
            threshold = variates[at : at + lanes] * np.float32(heat)
            if variates.dtype == np.uint16:
                threshold = variates[at : at + lanes].astype(np.int64) * heat >> 16
            spins[i] = np.where(gain <= threshold, -spins[i], spins[i])
            at += lanes


@pytest.mark.parametrize("real", [False, True])
def test_annealing_of_copies_is_the_naive_walk(real):
    for seed, n in enumerate([1, 2, 30, 128, 129, 300]):
        rng = np.random.default_rng(seed)
        walker = Walker(random_form(rng, n, min(1.0, 4 / n)), dense=False)
        arrays, scale = walker._lanes
        assert (arrays[2] == scale * walker.arrays[2]).all()
        spins = rng.choice(np.array([-1, 1], np.int16), (n, _sparse.LANES))
        heats, variates = 2 * scale * walker.unit * np.array([0.2, 0.1, 0.05]), _variates()
        if real:
            arrays, spins = (*arrays[:2], *(a.astype(np.float32) for a in arrays[2:])), spins.astype(np.float32)
        else:
            heats, variates = (16 * heats).astype(np.uint16), _narrow_variates()
        heats = heats.astype(variates.dtype)
        naive = spins.astype(float)
        naive_lanes(*arrays, naive, heats, variates, seed)
        _sparse.anneal_copies(*arrays, spins, heats, variates, seed, Stopping())
        assert (spins == naive).all(), seed


@pytest.mark.parametrize("kind", ["whole", "real", "wide"])
def test_copies_end_in_local_minima_best_first(kind):
    walker = Walker(random_form(np.random.default_rng(4), 60, 0.06, kind), dense=False)
    assert walker._lanes[0][2].dtype == (np.float32 if kind == "wide" else np.int16)
    for sweeps, start in ((50, None), (50, random_spins(np.random.default_rng(5), 60)), (0, None)):
        copies = walker.copies(start, sweeps, 0.2, 0.02, 1, Stopping())
        energy = [walker.energy(spins) for spins in copies]
        assert len(copies) == _sparse.LANES and energy == sorted(energy)
        assert all(walker.gains(spins).min() >= 0 for spins in copies)


@pytest.mark.parametrize("n", [500, 5000])
def test_hubs_do_not_overflow(n):
    hub, leaves = np.zeros(n - 1, np.int32), np.arange(1, n, dtype=np.int32)
    walker = Walker(QuadraticForm.from_pairs(np.zeros(n), hub, leaves, np.full(n - 1, -1.0)), dense=False)
    assert walker._lanes[0][2].dtype == (np.int16 if n < 2000 else np.float32)
    assert walker.energy(walker.copies(None, 50, 0.2, 0.02, 1, Stopping())[0]) == 1 - n


def test_lines_become_better_until_a_new_generation():
    q = random_form(np.random.default_rng(3), 300, 0.02)
    walker = Walker(q)
    plan = Refining(walker, 3, STRATEGIES)
    best, rng, kinds, sweeps = np.ones(q.n, np.int8), np.random.default_rng(1), [], []
    for _ in range(12):
        before = plan.lines
        tasks = plan.plan(best, math.inf, rng)
        found = [plan.perform(task, Stopping()) for task in tasks]
        plan.finish(tasks, found)
        kinds.append(["fresh" if task.start is None else "warm" for task in tasks])
        sweeps.append(tasks[0].sweeps)
        if kinds[-1][0] == "warm":
            assert all(walker.energy(a) <= walker.energy(b) for a, b in zip(found, before, strict=False))
        best = min([best, *found], key=walker.energy)
    assert kinds[0] == ["fresh"] * 3 and kinds[1] == ["warm"] * 3 and kinds.count(["fresh"] * 3) > 1
    assert max(sweeps) > 2 * sweeps[0]
    plan.idle = 99
    assert [task.start is best for task in plan.plan(best, 4, rng)] == [True] * 3  # no time for a generation


def test_thresholds_accept_as_metropolis_does():
    """A flip that costs d is taken if an exponential variate is at least d / T: with probability exp(-d / T)."""
    for d in (0.5, 1.0, 3.0):
        assert (_variates() >= d).mean() == pytest.approx(math.exp(-d), abs=0.01)
    assert 8 < _variates().max() < 16


# -------------------------------------------------------------------------------------------------------- crossover


def test_regions_are_the_best_combination():
    for seed in range(trials(150)):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 40))
        q = random_form(rng, n, 2.0 / n, "whole" if seed % 2 else "real")
        walker = Walker(q, dense=False)
        a, b = random_spins(rng, n), random_spins(rng, n)
        c = better_parts(walker, a, b)
        assert walker.energy(c) <= min(walker.energy(a), walker.energy(b))
        assert ((c == a) | (c == b)).all()
        assert better_parts(walker, c, b) is c and better_parts(walker, a, a) is a


@pytest.mark.parametrize("dense", [False, True])
def test_contraction_keeps_energies(dense):
    for seed in range(trials(100)):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 40))
        q = random_form(rng, n, 0.5 if dense or seed % 3 == 0 else 2.0 / n)
        walker = Walker(q, dense)
        first = random_spins(rng, n)
        elite = [first] + [np.where(rng.random(n) < 0.3, -first, first).astype(np.int8) for _ in range(2)]
        small = Contraction(walker, elite)
        assert small.walker.n <= n
        for _ in range(5):
            flips = random_spins(rng, small.walker.n)
            change = small.walker.energy(flips) / small.walker.scale
            assert walker.energy(small.lift(flips)) == walker.energy(first) + change, seed
        for other in elite:  # each can be written in what is left
            flips = np.full(small.walker.n + 1, -1, np.int8)
            flips[small.part[other != first]] = 1
            assert (small.lift(flips[:-1]) == other).all() or walker.symmetric


# ------------------------------------------------------------------------------ variables with at most three neighbours


def sparse_form(rng, n, m, kind):
    """Random couplings, among them repeated pairs; without fields, the energy is the same if all labels flip."""
    u, v = rng.integers(0, n, (2, m))
    kept = u != v
    u, v = u[kept], v[kept]
    couplings = rng.standard_normal(len(u)) if kind == "real" else rng.integers(-3, 4, len(u)).astype(float)
    linear = -(np.bincount(u, couplings, n) + np.bincount(v, couplings, n)) / 2
    if kind == "fields":
        linear += rng.integers(-2, 3, n)
    if kind == "huge":
        couplings, linear = couplings * 2.0**900, linear * 2.0**900
    return QuadraticForm.from_pairs(linear, u, v, couplings, 1.5)


@pytest.mark.parametrize("kind", ["whole", "fields", "real", "huge"])
def test_what_is_left_is_the_minimum_over_the_others(kind):
    left = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 10))
        q = sparse_form(rng, n, int(rng.integers(0, 4 * n)), kind)
        kernel = Kernel(q)
        left.append(kernel.q.n)
        labels = np.array(list(itertools.product((0, 1), repeat=n)))
        energy = np.array([q.energy(one) for one in labels])
        slack = 1e-12 * (abs(energy).max() + 1)
        for inner in itertools.product((0, 1), repeat=kernel.q.n):
            best = energy[(labels[:, kernel.left] == inner).all(1)].min()
            spins = 2 * np.array(inner, np.int8) - 1
            lifted = kernel.lift(spins)
            assert (kernel.project(lifted) == spins).all()
            assert abs(kernel.q.energy(np.array(inner, int)) - best) <= slack, seed
            assert abs(q.energy(lifted > 0) - best) <= slack, seed
        degrees = np.diff(kernel.q.starts)
        assert kernel.q.n == 0 or degrees.min() >= (3 if kind == "fields" else 4), seed
    assert max(left) >= 4 and left.count(0) > 10


def test_elimination_loses_no_small_costs_beside_large_ones():
    vanished = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(7))
        u, v = np.array(list(itertools.combinations(range(n), 2)), np.int32).reshape(-1, 2).T.copy()
        kept = rng.random(len(u)) < rng.random()
        u, v = u[kept], v[kept]
        couplings = (
            4.0 * rng.integers(-3, 4, len(u)) * 10.0 ** (rng.integers(2, size=len(u)) * rng.integers(14, size=len(u)))
        )
        linear = 2.0 * rng.integers(-1, 2, n)
        np.subtract.at(linear, u, couplings / 2)
        np.subtract.at(linear, v, couplings / 2)
        q = QuadraticForm.from_pairs(linear, u, v, couplings)
        kernel = Kernel(q)
        vanished += n > 0 and kernel.q.n == 0
        least = min(q.energy(np.array(labels)) for labels in itertools.product((0, 1), repeat=n))
        flips = itertools.product((-1, 1), repeat=kernel.q.n)
        assert min(q.energy(kernel.lift(np.array(spins, np.int8)) > 0) for spins in flips) == least, seed
    assert vanished > 100


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_elimination_of_costs_of_any_size(size):
    u, v = np.array([0, 0, 0, 1, 1, 2], np.int32), np.array([1, 2, 3, 2, 3, 3], np.int32)
    for signs in itertools.product((-4.0, 4.0), repeat=6):
        q = QuadraticForm.from_pairs(np.zeros(4), u, v, size * np.array(signs))
        energies = [q.energy(np.array(labels)) for labels in itertools.product((0, 1), repeat=4)]
        found = BinarySearch(q)
        found.run(Stopping(max_iterations=1))
        assert found.cost == pytest.approx(min(energies), abs=1e-12 * size)


@pytest.mark.parametrize("spokes", [1, 2, 3])
def test_hubs_take_linear_time(spokes):
    n = 30_000
    rng = np.random.default_rng(spokes)
    u = np.repeat(np.arange(spokes, n), spokes)
    v = np.tile(np.arange(spokes), n - spokes)
    couplings = rng.integers(1, 4, len(u)).astype(float)
    linear = -(np.bincount(u, couplings, n) + np.bincount(v, couplings, n)) / 2
    q = QuadraticForm.from_pairs(linear, u, v, couplings)
    kernel = Kernel(q)
    spins = kernel.lift(np.ones(kernel.q.n, np.int8))
    assert kernel.q.n == (0 if spokes == 1 else n)  # two hubs have too many edges to find the one between them
    assert kernel.q.energy(np.ones(kernel.q.n)) == q.energy(spins > 0)


# ----------------------------------------------------------------------------------------------------------- search


def test_small_problems_reach_the_optimum():
    for seed in range(25):
        rng = np.random.default_rng(seed)
        f = random_factor_graph(rng, int(rng.integers(1, 11)), int(rng.integers(0, 30)))
        search = BinarySearch(quadratic_form(f), seed=seed, threads=1)
        search.run(Stopping(max_iterations=3))
        assert search.cost == gp.crf.brute_force(f).cost == f.evaluate(search.labels), seed


@pytest.mark.parametrize("density", [0.06, 0.9])
def test_same_result_on_any_number_of_threads(density):
    q = random_form(np.random.default_rng(6), 150, density)
    found = []
    for threads in (1, 2, 4):
        search = BinarySearch(q, seed=7, threads=threads)
        search.run(Stopping(max_iterations=4))
        found.append((search.cost, search.labels.tolist()))
    assert found[0] == found[1] == found[2]
    sliced = BinarySearch(q, seed=7)
    for _ in range(2):
        sliced.run(Stopping(max_iterations=2))
    assert (sliced.cost, sliced.labels.tolist()) == found[0] and sliced.rounds == 4


def test_dense_and_sparse_kernels_walk_alike():
    rng = np.random.default_rng(8)
    q = random_form(rng, 100, 0.3)
    start = random_spins(rng, 100)
    one, other = (w.anneal(start, 50, 0.25, 0.02, 3, Stopping()) for w in walkers(q))
    assert (one == other).all()
    assert Walker(q, True).kernel is _dense


@pytest.mark.parametrize("n", [0, 1, 2, 40])
@pytest.mark.parametrize("cost", [0.0, -3.0])
def test_degenerate(n, cost):
    none = np.zeros(0, np.int32)
    q = QuadraticForm.from_pairs(np.full(n, cost), none, none, np.zeros(0), 1.5)
    search = BinarySearch(q)
    search.run(Stopping(max_iterations=3))
    assert search.cost == 1.5 + n * min(cost, 0.0) and search.labels.shape == (n,) and search.labels.dtype == np.int32


@pytest.mark.parametrize("field", [0.0, 0.5])
def test_ends_when_all_variables_are_eliminated(field):
    n = 40
    u = np.arange(n)
    pairs = np.concatenate([np.stack([u, (u + 1) % n], 1), np.stack([u[: n // 2], u[: n // 2] + n // 2], 1)])
    pairs = pairs[:n] if field else pairs[: n + 1]
    f = gp.FactorGraph.from_arrays(
        [2] * n,
        [(pairs, [[[1.0, 0.0], [0.0, 1.0]]] * len(pairs)), ([[k] for k in range(0, n, 3)], [[field, 0.0]] * 14)],
    )
    portfolio = Portfolio(f)
    assert portfolio.done and portfolio.binary.q.n == 0
    portfolio.run(Stopping(time_limit=60.0))
    assert portfolio.cost == gp.crf.elimination(f).cost


def test_offers_and_starts():
    q = random_form(np.random.default_rng(9), 200, 0.05)
    best = BinarySearch(q, seed=1)
    best.run(Stopping(max_iterations=8))
    given = best.labels
    search = BinarySearch(q, seed=2)
    assert search.cost == q.energy(search.labels) <= q.constant  # eliminated variables are at their best
    assert search.offer(given, best.cost) and search.cost <= best.cost and not search.offer(given)
    assert BinarySearch(q, given).cost == best.cost
    assert given.tolist() == best.labels.tolist()


def test_stopping():
    q = random_form(np.random.default_rng(10), 3000, 0.003)
    search = BinarySearch(q)
    stopping = Stopping(time_limit=0.1)
    search.run(stopping)
    assert stopping.reason == Status.TIME_LIMIT and search.cost < q.constant
    costs = [cost for _, cost in stopping.history]
    assert costs == sorted(costs, reverse=True) and costs[-1] == search.cost
    before = search.cost
    stopping = Stopping(target=0.5 * before)
    search.run(stopping)
    assert stopping.reason == Status.TARGET and search.cost == before
    stopping = Stopping(callback=lambda seconds, cost: seconds > 0.1)
    search.run(stopping)
    assert stopping.reason == Status.INTERRUPTED and search.cost <= before

    def fail(seconds, cost):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        search.run(Stopping(callback=fail))


@pytest.mark.parametrize(("option", "value"), [("seed", -1), ("seed", 0.5), ("threads", 0), ("threads", "two")])
def test_bad_options(option, value):
    with pytest.raises(InvalidOption, match=f"{option} is {value!r}: expected a whole number"):
        BinarySearch(quadratic_form(gp.FactorGraph.from_arrays([2], [])), **{option: value})
