"""Strips of a grid: bounds, labels and moves against enumeration, and which factor graphs are grids."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from reference_crf import all_energies
from scipy.optimize import linprog

import graphpart as gp
from graphpart.crf.bounds.contestant import ContestantParameters
from graphpart.crf.bounds.passes import Passes
from graphpart.crf.contestants import Passing
from graphpart.crf.exact_solvers.local_polytope import program_of
from graphpart.crf.hard_component import HardComponent
from graphpart.crf.strips._strips import Strips
from graphpart.crf.strips.contestant import Stripping
from graphpart.crf.strips.grid import costs_left, costs_of, grid_of
from graphpart.stopping import Stopping

KINDS = ("normal", "ties", "forbidden", "magnitudes")


def small_grid(seed, kind="normal", rows=None, labels=3, whole=False):
    """A grid of up to 3 x 4 cells with up to so many labels each, some factors missing, scopes in any order."""
    rng = np.random.default_rng(seed)
    height, width = rows or int(rng.integers(2, 4)), int(rng.integers(2, 5))
    sizes = rng.integers(2 if whole else 1, labels + 1, size=height * width).tolist()

    def table(*shape):
        if kind == "ties":
            return rng.integers(0, 3, size=shape).astype(float)
        t = rng.standard_normal(shape)
        if kind == "forbidden":
            t[rng.random(shape) < 0.15] = np.inf
        return t * 10.0 ** rng.integers(-8, 9) if kind == "magnitudes" else t

    f = gp.FactorGraph()
    for i, size in enumerate(sizes):
        f.add_variable(i, domain=size)
    for i in range(height * width):
        for _ in range(rng.integers(3)):
            f.add_factor((i,), table(sizes[i]))
        neighbours = ([i + 1] if (i + 1) % width else []) + ([i + width] if i + width < height * width else [])
        for j in neighbours:
            if whole or rng.random() < 0.95:
                u, v = (i, j) if rng.random() < 0.5 else (j, i)
                f.add_factor((u, v), table(sizes[u], sizes[v]))
    return f


def strips_of(f, width=2, cap=1e300, transposed=False):
    grid = grid_of(f)
    grid = grid.transposed() if transposed else grid
    return grid, Strips(*grid.shape, *grid.arrays(costs_of(f)), cap, width)


def allowed_size(f):
    return 1e-9 * max(1.0, float(np.abs(f.tables[np.isfinite(f.tables)]).sum()))


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_labels_and_moves(kind):
    """Bounds never fall and are below the optimum; where the grid is one strip, bound and labels are optimal."""
    tight = []
    for seed in range(100):
        f = small_grid(seed, kind, labels=3 if seed % 5 else 2)
        if grid_of(f) is None:  # too many factors are missing
            continue
        width, best, stop = 2 + seed % 2, all_energies(f).min(), Stopping()
        grid, strips = strips_of(f, width, 1e5 if kind == "forbidden" else 1e300)
        slack, before = allowed_size(f), -np.inf
        for k in range(12):
            assert strips.half(k % 2 == 0, 0.5, np.inf, stop)
            assert before - slack <= strips.bound <= best + slack, seed
            before = strips.bound
        least, error = strips.proven()
        assert abs(least.sum() - strips.bound) <= slack and least.sum() - error <= best, seed
        tight += [before >= best - slack] if best < np.inf else []
        cells = np.zeros(len(grid.variable), np.int32)
        strips.round(cells)
        labels = grid.of_cells(cells)
        if grid.shape[0] <= width and best < np.inf:
            assert f.evaluate_labels(labels) == pytest.approx(best, abs=slack) and before >= best - slack, seed
        for transposed in (False, True):
            other, moved = strips_of(f, 9, transposed=transposed)
            cells = other.to_cells(labels)
            assert moved.move(cells, 2, seed % 2, 1, np.inf, stop)
            after = other.of_cells(cells)
            assert f.evaluate_labels(after) <= f.evaluate_labels(labels) + slack, seed
            labels = after
    assert len(tight) > 30 and np.mean(tight) > 0.7


def test_costs_that_message_passing_leaves_have_the_same_energies():
    """A strip of all rows is minimised over exactly, also where tables send costs to their variables."""
    for seed in range(40):
        f = small_grid(seed, "magnitudes" if seed % 4 == 0 else "normal")
        grid = grid_of(f)
        if grid is None:
            continue
        passes = Passes(f)
        for _ in range(2):
            passes.iterate(np.inf, Stopping())
        costs, moved = costs_left(passes)
        assert moved > 0
        for one in (grid, grid.transposed()):
            strips = Strips(*one.shape, *one.arrays(costs), 1e300, one.shape[0])
            assert strips.proven()[0].sum() == pytest.approx(all_energies(f).min(), abs=allowed_size(f)), seed


def test_messages_prove_the_bound():
    """The minimum of each strip by enumeration in fractions; what one strip gets another one gives."""
    for seed in range(12):
        f = small_grid(seed, "normal", rows=3, labels=2)
        grid = grid_of(f)
        if grid is None or grid.shape[0] != 3:
            continue
        (height, width), strips, stop = grid.shape, strips_of(f)[1], Stopping()
        for k in range(5):
            strips.half(k % 2 == 0, 0.5, np.inf, stop)
        start, messages = strips.export()
        least, error = strips.proven()
        cell_of = {int(v): c for c, v in enumerate(grid.variable) if v >= 0}
        for number, rows in enumerate(((0, 1), (1, 2))):
            cells = [c for c in range(height * width) if c // width in rows]
            factors = []
            for k in range(f.m):
                scope, table = f.factor(k)
                of = [cell_of[v] for v in scope]
                lowest = max(c // width for c in of)  # costs of the common row are those of the upper strip
                if (number == 0 and lowest <= 1) or (number == 1 and lowest == 2):
                    factors.append((of, table, 1))
            for c in range(width, 2 * width - 1):
                shape = int(grid.domains[c]), int(grid.domains[c + 1])
                own = messages[start[c] : start[c] + shape[0] * shape[1]].reshape(shape)
                factors.append(([c, c + 1], own, 1 if number else -1))
            energies = []
            for labels in itertools.product(*(range(int(grid.domains[c])) for c in cells)):
                at = dict(zip(cells, labels, strict=True))
                entries = (sign * Fraction(float(table[tuple(at[c] for c in of)])) for of, table, sign in factors)
                energies.append(sum(entries, Fraction(0)))
            assert abs(min(energies) - Fraction(float(least[number]))) <= Fraction(error), seed


def test_at_least_the_bound_of_the_local_polytope():
    for seed in range(10):
        f = small_grid(seed, "normal", rows=3, whole=True)
        _, strips = strips_of(f)
        stop = Stopping()
        for k in range(60):
            strips.half(k % 2 == 0, 0.5, np.inf, stop)
        costs, matrix, right, base, _ = program_of(f)
        assert strips.bound >= base + linprog(costs, A_eq=matrix, b_eq=right).fun - 1e-6, seed


def test_a_pass_that_was_stopped_goes_on():
    f = gp.generate.factor_grid(12, 9, "mixed", 3, seed=4).problem
    whole, parts = strips_of(f)[1], strips_of(f)[1]
    stopped = Stopping(callback=lambda seconds, cost: True)
    stopped.check(0.0)
    for k in range(4):
        whole.half(k % 2 == 0, 0.5, np.inf, Stopping())
        turns = 0
        while not parts.half(k % 2 == 0, 0.5, np.inf, stopped):
            turns += 1
        assert turns == 3  # one strip of each half
    assert parts.bound == whole.bound
    labels = np.zeros(108, np.int32)
    assert not whole.move(labels, 2, 0, 1, np.inf, stopped)


def test_halves_are_the_same_on_any_number_of_threads(monkeypatch):
    rng = np.random.default_rng(0)
    f = gp.FactorGraph.pairwise(unary=rng.normal(size=(128, 128, 8)), pairwise=rng.normal(size=(8, 8)))
    found = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("GRAPHPART_THREADS", threads)
        strips, bounds, cells = strips_of(f)[1], [], np.zeros(f.n, np.int32)
        for k in range(4):
            assert strips.half(k % 2 == 0, 0.5, np.inf, Stopping())
            bounds.append(strips.bound)
        strips.round(cells)
        costs = [f.evaluate_labels(cells)]
        assert strips.move(cells, 2, 1, 1, np.inf, Stopping())
        costs.append(f.evaluate_labels(cells))
        assert strips.move(cells, 3, 1, 2, np.inf, Stopping())
        found.append((bounds, costs, cells.tolist()))
    assert found[0] == found[1] == found[2]
    assert bounds == sorted(bounds) and bounds[-1] < costs[1] < costs[0]


@pytest.mark.parametrize(("width", "step"), [(4, 3), (3, 2), (3, 4)])
def test_strips_of_two_halves_do_not_meet(width, step, monkeypatch):
    rng = np.random.default_rng(1)
    f = gp.FactorGraph.pairwise(unary=rng.normal(size=(132, 132, 4)), pairwise=rng.normal(size=(4, 4)))
    begin, found = rng.integers(0, 4, f.n).astype(np.int32), []
    for threads in ("1", "2"):
        monkeypatch.setenv("GRAPHPART_THREADS", threads)
        strips, cells = strips_of(f, 3)[1], begin.copy()
        assert strips.move(cells, width, 0, step, np.inf, Stopping())
        assert f.evaluate_labels(cells) < f.evaluate_labels(begin)
        found.append(cells.tolist())
    assert found[0] == found[1]


def test_grids_are_recognised():
    f = gp.generate.factor_grid(4, 6, "mixed", 3, seed=1).problem
    assert grid_of(f).shape == (4, 6)
    assert grid_of(gp.generate.factor_grid(6, 4, "mixed", 3, seed=1).problem).shape == (4, 6)
    at = {i: divmod(i, 6) for i in range(24)}
    pairs = list(at.values())
    numpy_pairs = [(np.int64(i), np.int32(j)) for i, j in pairs]
    for names in (pairs, numpy_pairs, [f"x{i}" for i in at], [i + 60 for i in at], [np.int64(i) - 5 for i in at]):
        renamed = gp.FactorGraph.from_csr(f.domains, f.scope_start, f.scope, f.tables, names)
        assert grid_of(renamed).shape == (4, 6)
    far = [10**20 + i for i in at], [(i - 2**63, j) for i, j in pairs], [np.timedelta64(i, "s") for i in at]
    for names in ([(10**20 + i, j) for i, j in pairs], *far):
        renamed = gp.FactorGraph.from_csr(f.domains, f.scope_start, f.scope, f.tables, names)
        assert grid_of(renamed).shape == (4, 6)  # by the order
    order = np.random.default_rng(0).permutation(24)
    scattered = order[f.scope].astype(np.int32)
    names = [at[int(i)] for i in np.argsort(order)]
    assert grid_of(gp.FactorGraph.from_csr(f.domains, f.scope_start, scattered, f.tables)) is None
    found = grid_of(gp.FactorGraph.from_csr(f.domains, f.scope_start, scattered, f.tables, names))
    assert found.shape == (4, 6) and (found.variable == order).all()
    names = [(np.int64(i), np.int64(j)) for i, j in names]
    found = grid_of(gp.FactorGraph.from_csr(f.domains, f.scope_start, scattered, f.tables, names))
    assert found.shape == (4, 6) and (found.variable == order).all()
    rest = grid_of(f.condition({7: 0, 8: 1}))  # two cells are missing
    assert rest.shape == (4, 6) and np.flatnonzero(rest.variable < 0).tolist() == [7, 8]
    zero = np.zeros((3, 3))
    for pair in ((0, 7), (0, 5), (5, 6), (0, 23), (0, 1)):  # a diagonal, a torus, rows that follow, far away, twice
        g = gp.FactorGraph.from_csr(f.domains, f.scope_start, f.scope, f.tables)
        g.add_factor(pair, zero)
        assert grid_of(g) is None, pair
    assert grid_of(gp.generate.spin_glass(4, 3, seed=1).problem) is None


@pytest.mark.parametrize("kind", KINDS)
def test_certified_bounds_are_below_the_optimum(kind):
    """Also from the messages of message passing, and with forbidden entries."""
    proven = []
    for seed in range(40):
        f = small_grid(seed, kind, rows=3)
        best = all_energies(f).min()
        if grid_of(f) is None or best == np.inf:
            continue
        labels = np.zeros(f.n, np.int32)
        cost = f.evaluate_labels(labels)
        passing = Passing(f, labels, cost, ContestantParameters())
        if seed % 2:
            passing.run(Stopping(max_iterations=2), None)
        contestant = Stripping(f, labels, cost, 20.0, lambda passing=passing: passing.passes)
        contestant.run(Stopping(), None)
        contestant.certify()
        assert contestant.done
        assert contestant.certified <= best <= contestant.cost + allowed_size(f), seed
        assert contestant.cost == f.evaluate_labels(contestant.labels), seed
        proven.append(contestant.cost <= best + allowed_size(f) and contestant.bound >= best - allowed_size(f))
    assert len(proven) > 10 and np.mean(proven) > 0.7


def test_takes_part_where_it_pays():
    f = gp.generate.factor_grid(20, 20, "mixed", 4, seed=2).problem
    labels, rng = np.zeros(f.n, np.int32), np.random.default_rng(0)
    cost = f.evaluate_labels(labels)
    assert Stripping(f, labels, cost, 1e-6, lambda: None).done  # a pass takes longer
    hard = HardComponent(f, labels, Stopping(), rng, lambda *_: None)
    assert not hard.stripping.done and not hard.passing.tightening
    hard.run(Stopping())
    assert hard.proven and hard.race.prover == "strips"
    assert f.evaluate_labels(hard.labels) == hard.cost
    huge = gp.FactorGraph.from_csr(f.domains, f.scope_start, f.scope, f.tables * (1.7e308 / np.abs(f.tables).sum()))
    assert Stripping(huge, labels, 0.0, 20.0, lambda: None).done  # sums would overflow


def test_a_better_labeling_is_improved():
    f = gp.generate.factor_grid(15, 15, "mixed", 5, strength=2.0, seed=3).problem
    labels = np.zeros(f.n, np.int32)
    contestant = Stripping(f, labels, f.evaluate_labels(labels), 20.0, lambda: None)
    contestant.run(Stopping(), None)
    best, cost = contestant.labels, contestant.cost
    fresh = Stripping(f, labels, f.evaluate_labels(labels), 20.0, lambda: None)
    worse = best.copy()
    worse[::7] = (worse[::7] + 1) % 5
    fresh.offer(worse, f.evaluate_labels(worse))
    fresh.run(Stopping(time_limit=60), 60.0)
    assert fresh.done and fresh.cost <= cost + 1e-9
