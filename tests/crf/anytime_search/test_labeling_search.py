"""The search on factor graphs: kernels against naive references, optimal where enumeration can tell, the same on any
number of threads, and it stops when told to."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_crf import all_energies
from strategies_crf import factor_graphs, random_factor_graph
from trials import trials

import graphpart as gp
from graphpart.common.variates import exponential_variates
from graphpart.crf import search as search_of_package
from graphpart.crf.anytime_search.labeling_search import LabelingSearch
from graphpart.crf.anytime_search.model import Model
from graphpart.crf.anytime_search.parameters import STRATEGIES, LabelingParameters
from graphpart.crf.anytime_search.portfolio import Portfolio
from graphpart.errors import InfeasibleProblem
from graphpart.stopping import Stopping

search = gp.crf.search
module = __import__("sys").modules["graphpart.crf.anytime_search.searching"]
NONE = np.zeros(0, np.int32)
MASK = 2**64 - 1


def start_of(model: Model, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.integers(0, model.domains, dtype=np.int32) if model.f.n else np.zeros(0, np.int32)


def test_is_a_function_of_the_package() -> None:
    assert search_of_package is search


# ------------------------------------------------------------------------------------------------------------ kernels


@given(factor_graphs(max_arity=4), st.integers(0, 2**32))
def test_model_has_the_energies_of_the_factor_graph(f: gp.FactorGraph, seed: int) -> None:
    try:
        model = Model(f)
    except InfeasibleProblem:  # a variable with a single label, which is forbidden
        assert (all_energies(f) == math.inf).all()
        return
    labels = start_of(model, seed)
    whole = np.zeros(f.n, np.int32)
    whole[model.open] = labels
    energy, exact = model.energy(labels) + model.f.constant, f.evaluate_labels(whole)
    if exact == math.inf:
        allowed = all_energies(f)[np.isfinite(all_energies(f))]
        assert energy > allowed.max(initial=-math.inf)
        assert model.measured(labels)[1] > 0
    else:
        assert energy == pytest.approx(exact, abs=1e-9) and model.measured(labels)[1] == 0


def test_variables_around_a_random_one_are_connected_and_the_nearest() -> None:
    f = gp.generate.factor_grid(12, 12, "mixed", seed=1).problem
    model = Model(f)
    near = [set(model.near[model.near_start[v] : model.near_start[v + 1]].tolist()) for v in range(model.f.n)]
    first = set()
    for seed in range(40):
        inside = model.around(1 + 4 * seed, seed).tolist()
        assert len(inside) == len(set(inside)) == min(1 + 4 * seed, 144)
        first.add(inside[0])
        distance = {inside[0]: 0}
        for k, v in enumerate(inside[1:], 1):
            distance[v] = 1 + min(distance[u] for u in near[v] & set(inside[:k]))
        assert list(distance.values()) == sorted(distance.values())
        assert model.around(1 + 4 * seed, seed).tolist() == inside
    assert len(first) > 20
    apart = Model(gp.FactorGraph.from_arrays([2] * 4, [([[0, 1], [2, 3]], np.zeros((2, 2, 2)))]))
    assert sorted(apart.around(4, 1).tolist()) in ([0, 1], [2, 3])


@pytest.mark.parametrize("name", ["blocks", "tabu search"])
def test_a_strategy_that_is_gone_warns(name: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"no {name} any more"):
        assert "annealing" in LabelingParameters(without=[name])


class NaiveAnnealing:
    """The same moves with the same random numbers, all sums computed anew."""

    def __init__(self, model: Model, labels: np.ndarray, weight: float, seed: int) -> None:
        self.model, self.labels, self.weight, self.state = model, labels.copy(), weight, seed

    def bits(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def energy(self, v: int, y: int) -> float:
        f, model = self.model.f, self.model
        labels = self.labels.copy()
        labels[v] = y
        total = model.unary[model.first[v] + y]
        for k in model.factors[model.rows[v] : model.rows[v + 1]].tolist():
            scope, table = f.factor(k)
            entry = table[tuple(labels[list(scope)])]
            total += self.weight if entry == math.inf else entry
        return float(total)

    def visit(self, v: int, threshold: float) -> float:
        own = self.labels[v]
        deltas = {y: self.energy(v, y) - self.energy(v, own) for y in range(self.model.domains[v]) if y != own}
        eligible = [y for y, delta in deltas.items() if delta <= threshold]
        target, binary = None, self.model.binary
        for count, y in enumerate(eligible, 1):
            if binary or count == 1 or ((self.bits() >> 32) * count) >> 32 == 0:
                target = y
        if target is None:
            return 0.0
        self.labels[v] = target
        return deltas[target]

    def run(self, inside, temperatures, variates, tolerance: float) -> np.ndarray:
        order = inside.tolist() if len(inside) else list(range(self.model.f.n))
        best, cost, kept = 0.0, 0.0, self.labels.copy()
        for temperature in temperatures:
            for k, v in enumerate(order):
                if k % 1024 == 0:
                    shift = self.bits()
                cost += self.visit(v, temperature * variates[(k + shift) % len(variates)])
            if cost < best - tolerance:
                best, kept = cost, self.labels.copy()
        while True:
            before = cost
            for v in order:
                cost += self.visit(v, -tolerance)
            if not cost < before - tolerance:
                break
        return self.labels if cost < best - tolerance else kept


@pytest.mark.parametrize("kind", ["binary", "pairs", "larger", "forbidden"])
def test_annealing_makes_the_moves_of_a_naive_reference(kind: str) -> None:
    rng = np.random.default_rng(7)
    variates = np.round(exponential_variates(64) * 8) / 8 + 0.0625  # never as large as a difference of whole costs
    for case in range(40):
        f = random_factor_graph(
            rng,
            n=6,
            max_domain=2 if kind == "binary" else 4,
            max_arity=2 if kind in ("binary", "pairs") else 4,
            forbidden=0.2 if kind == "forbidden" else 0.0,
            whole=True,
        )
        try:
            model = Model(f)
        except InfeasibleProblem:
            continue
        labels = start_of(model, case)
        if not model.f.n:
            continue
        inside = np.sort(rng.permutation(model.f.n)[:3]).astype(np.int32) if case % 2 else NONE
        temperatures = np.array([4.0, 2.0, 2.0, 1.0, 0.5])
        weight, tolerance = 5.0, 2.0**-10
        expected = NaiveAnnealing(model, labels, weight, case).run(inside, temperatures, variates, tolerance)
        arguments = (labels, inside, temperatures, weight, tolerance, case, Stopping())
        kernel = model.annealing(variates)
        assert kernel.run(*arguments)[0].tolist() == expected.tolist(), case
        assert kernel.run(*arguments)[0].tolist() == expected.tolist(), "a kernel remembers nothing"
        naive = NaiveAnnealing(model, labels, weight, 0)
        sums = [[naive.energy(v, y) for y in range(model.domains[v])] for v in range(model.f.n)]
        changes = [x - each[label] for each, label in zip(sums, labels, strict=True) for x in each]
        assert kernel.changes(labels, weight).tolist() == changes


@given(factor_graphs(max_arity=3), st.integers(0, 2**32))
def test_better_parts_takes_the_better_one_of_each(f: gp.FactorGraph, seed: int) -> None:
    try:
        model = Model(f)
    except InfeasibleProblem:
        return
    one, other = start_of(model, seed), start_of(model, seed + 1)
    found = model.better_parts(one, other)
    assert ((found == one) | (found == other)).all()
    assert model.energy(found) <= min(model.energy(one), model.energy(other)) + 1e-6
    assert model.better_parts(one, one).tolist() == one.tolist()


def test_regions_are_chosen_one_by_one() -> None:
    f = gp.FactorGraph.from_arrays([2] * 5, [(np.arange(5)[:, None], [[0.0, c] for c in (-1.0, 1.0, 5.0, -2.0, 1.0)])])
    pairs = ([[0, 1], [3, 4]], np.zeros((2, 2, 2)))
    g = gp.FactorGraph.from_arrays([2] * 5, [(f.scope[:, None], f.tables.reshape(5, 2)), pairs])
    zeros, ones = np.zeros(5, np.int32), np.ones(5, np.int32)
    assert Model(g).better_parts(zeros, ones).tolist() == [0, 0, 0, 1, 1]
    assert Model(f).better_parts(zeros, ones).tolist() == [1, 0, 0, 1, 0]


# ------------------------------------------------------------------------------------------------------------- search


def without_help(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search, not allowed to reduce or to enumerate."""
    monkeypatch.setattr(module, "reduced", lambda *_: None)
    monkeypatch.setattr(module, "FEW", 0)


@pytest.mark.parametrize("forbidden", [0.0, 0.3])
def test_optimal_on_small_random_problems(forbidden: float, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(11)
    for case in range(trials(60)):
        f = random_factor_graph(rng, max_arity=4, forbidden=forbidden, whole=bool(case % 2))
        optimum = all_energies(f).min() if f.n else f.constant
        if case == 40:
            without_help(monkeypatch)
        target = optimum + 1e-9 if optimum < math.inf else None
        try:
            r = search(f, max_iterations=2, threads=1, target=target)
        except InfeasibleProblem:
            assert optimum == math.inf
            continue
        assert r.cost == pytest.approx(optimum, abs=1e-9), case
        assert r.cost == f.evaluate(r.labels)
        assert r.lower_bound <= r.cost or r.cost == math.inf
        if optimum == math.inf:
            assert "forbidden" in r.message


def grid(seed: int = 1, size: int = 14, labels: int = 3) -> gp.FactorGraph:
    return gp.generate.factor_grid(size, size, "mixed", labels, strength=2.0, seed=seed).problem


def test_finds_what_elimination_proves() -> None:
    for labels, size in ((2, 16), (3, 9)):
        f = grid(3, size, labels)
        exact = gp.crf.elimination(f)
        assert exact.status == gp.Status.OPTIMAL
        r = search(f, target=exact.cost + 1e-6)
        assert r.cost == pytest.approx(exact.cost, abs=1e-6)


def test_finds_allowed_labelings_where_hardly_any_is() -> None:
    """Colourings of a random graph that was made to have one, which single changes do not find."""
    rng = np.random.default_rng(5)
    n, colours = 90, 4
    hidden = rng.integers(0, colours, n)
    pairs = [(a, b) for a, b in itertools.combinations(range(n), 2) if hidden[a] != hidden[b] and rng.random() < 0.1]
    differ = np.where(np.eye(colours, dtype=bool), np.inf, 0.0)
    costs = rng.random((n, colours))
    f = gp.FactorGraph.from_arrays(
        [colours] * n, [(np.arange(n)[:, None], costs), (pairs, np.broadcast_to(differ, (len(pairs), 4, 4)))]
    )
    assert gp.crf.icm(f).cost == math.inf
    r = search(f, max_iterations=6)
    assert r.cost < math.inf and all(r.labels[a] != r.labels[b] for a, b in pairs)


@pytest.mark.parametrize("family", ["pairs", "larger", "forbidden"])
def test_same_result_on_any_number_of_threads(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    without_help(monkeypatch)
    rng = np.random.default_rng(3)
    f = {
        "pairs": lambda: grid(),
        "larger": lambda: random_factor_graph(rng, n=40, max_arity=4),
        "forbidden": lambda: random_factor_graph(rng, n=40, forbidden=0.05, max_arity=3, max_domain=6),
    }[family]()
    results = [search(f, max_iterations=3, seed=11, threads=threads) for threads in (1, 2, 4)]
    assert all(r.labels.tolist() == results[0].labels.tolist() for r in results)
    assert results[0].iterations == 3 and results[0].status == gp.Status.ITERATION_LIMIT
    costs = [cost for _, cost in results[0].history]
    assert costs[-1] == results[0].cost == min(costs)
    assert results[0].cost <= gp.crf.icm(f).cost


def test_slices_are_as_good_as_the_whole() -> None:
    f = grid(4)
    whole, slices = (LabelingSearch(f, seed=3, threads=2) for _ in range(2))
    whole.run(Stopping(max_iterations=4))
    for _ in range(2):
        slices.run(Stopping(max_iterations=2))
    assert slices.labels.tolist() == whole.labels.tolist()
    assert slices.cost == whole.cost == f.evaluate(whole.labels) and slices.rounds == 4
    best = search(f, max_iterations=8).labels
    other = LabelingSearch(f)
    assert other.cost > f.evaluate(best)
    assert other.offer(best, f.evaluate(best)) and other.cost == f.evaluate(best)
    assert not other.offer(np.zeros(f.n, np.int32)) and not other.offer(best)


def test_never_worse_than_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    f = grid(6)
    best = search(f, max_iterations=4)
    for iterations in (0, 1):
        assert search(f, initial=best, max_iterations=iterations).cost <= best.cost
    without_help(monkeypatch)
    assert search(f, initial=best.labels, max_iterations=0).labels.tolist() == best.labels.tolist()
    with pytest.raises(gp.InvalidPartition):
        search(f, initial=[0, 1])


def degenerate() -> dict[str, gp.FactorGraph]:
    rng = np.random.default_rng(0)
    loop = [[a, (a + 1) % 12] for a in range(12)] + [[a, (a + 5) % 12] for a in range(12)]
    normal = rng.normal(size=(24, 3, 3))
    make, differ = gp.FactorGraph.from_arrays, [[np.inf, 0.0], [0.0, np.inf]]
    return {
        "nothing": make([], []),
        "no factors": make([3, 2], []),
        "single labels": make([1, 1, 1], [([[0, 1]], [[[2.0]]])]),
        "zero": make([3] * 12, [(loop, np.zeros((24, 3, 3)))]),
        "huge": make([3] * 12, [(loop, 1e300 * normal)]),
        "tiny": make([3] * 12, [(loop, 1e-300 * normal)]),
        "outlier": make([3] * 12, [(loop, normal), ([[0]], [[1e15, 0.0, 1.0]])]),
        "twice": make([3] * 12, [(loop, normal), ([edge[::-1] for edge in loop], normal)]),
        "some single": make([3] * 11 + [1], [(loop[:10], normal[:10]), ([[0, 11]], rng.normal(size=(1, 3, 1)))]),
        "nothing allowed": make([2] * 3, [([[0, 1], [1, 2], [0, 2]], np.tile(differ, (3, 1, 1)))]),
    }  # fmt: skip


@pytest.mark.parametrize("name", degenerate())
@pytest.mark.parametrize("alone", [True, False])
def test_degenerate_problems(name: str, alone: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    f = degenerate()[name]
    if alone:
        without_help(monkeypatch)
    try:
        r = search(f, max_iterations=2, seed=1)
    except InfeasibleProblem:
        assert name == "nothing allowed"
        return
    assert r.cost == f.evaluate(r.labels)
    if name == "nothing allowed":
        assert r.cost == math.inf and "no allowed labeling was found: factor 0" in r.message
    elif f.n:
        exact = gp.crf.elimination(f)
        assert r.cost <= exact.cost + 1e-9 * abs(exact.cost)


def test_checkpoint_is_written_and_resumed_from(tmp_path) -> None:
    f = grid(5)
    file = tmp_path / "best.txt"
    first = search(f, max_iterations=3, checkpoint=file)
    assert f.evaluate(gp.read_labels(str(file), f)) == first.cost
    again = search(f, max_iterations=0, checkpoint=file)
    assert again.cost <= first.cost
    assert search(f, initial=[0] * f.n, max_iterations=0, checkpoint=file).cost <= first.cost
    file.write_text("0\n1\n")
    with pytest.raises(gp.FormatError):
        search(f, checkpoint=file)
    assert file.read_text() == "0\n1\n"


def test_target_time_limit_callback_and_interrupt(ctrl_c) -> None:
    f = grid(8, 24, 4)
    icm = gp.crf.icm(f).cost
    r = search(f, target=icm)
    assert r.status == gp.Status.TARGET and r.cost <= icm
    assert search(f, time_limit=0.1).status == gp.Status.TIME_LIMIT
    seen: list[float] = []
    r = search(f, callback=lambda seconds, cost: seen.append(cost) or len(seen) >= 3)
    assert r.status == gp.Status.INTERRUPTED
    r = search(f, initial=gp.crf.icm(f), callback=ctrl_c)
    assert r.status == gp.Status.INTERRUPTED and r.cost <= icm
    with pytest.raises(ZeroDivisionError):
        search(f, callback=lambda seconds, cost: 1 / 0)


@pytest.mark.parametrize(("labels", "side"), [(2, 12), (3, 8)])
def test_a_target_is_met_to_the_last_digit(labels: int, side: int) -> None:
    """The energy that the result shows counts, not the one in the reduced problem plus a constant (0.1 + 0.2)."""
    rng = np.random.default_rng(labels)
    reduced = 0
    for seed in range(5):
        core = gp.generate.factor_grid(side, side, "mixed", labels, strength=2.0, seed=seed).problem
        domains, start, scope, _, tables = core._flat()
        lone = rng.choice([0.1, 0.2, 0.3, 0.7, 1e5 / 3, -1e5 / 3], size=9)
        f = gp.FactorGraph.from_csr(
            np.concatenate([[2] * 9, domains]),
            np.concatenate([np.arange(9), start + 9]),
            np.concatenate([np.arange(9), scope + 9]),
            np.concatenate([np.column_stack([lone, lone + 1.0]).ravel(), tables]),
        )
        best = search(f, max_iterations=2, threads=1)
        if best.status == gp.Status.OPTIMAL:  # by reduction
            continue
        small = gp.crf.reduce(f)
        inner = small.problem.evaluate_labels(small.project(best.labels)) + small.constant
        reduced += small.problem.n > 0 and inner != best.cost
        met = search(f, target=best.cost, max_iterations=4, threads=1)
        assert met.status == gp.Status.TARGET and met.cost <= best.cost, seed
        assert met.iterations <= best.iterations
        missed = search(f, target=np.nextafter(best.cost, -np.inf), max_iterations=2, threads=1)
        assert missed.status == gp.Status.ITERATION_LIMIT or missed.cost < best.cost
    assert reduced  # in some cases at least


@pytest.mark.parametrize("wrong", [{"seed": -1}, {"seed": "x"}, {"threads": 0}, {"threads": 1.5}, {"time_limit": -1}])
def test_wrong_options(wrong: dict[str, object]) -> None:
    with pytest.raises(gp.InvalidOption):
        search(grid(), **wrong)


def test_inputs_are_not_changed() -> None:
    f = grid(2, 8)
    before = [array.copy() for array in f._flat()]
    start = np.zeros(f.n, np.int32)
    search(f, initial=start, max_iterations=1)
    assert not start.any()
    assert all((a == b).all() for a, b in zip(before, f._flat(), strict=True))


def test_best_known_values_of_real_instances(shared_instances) -> None:
    for name, energy in (("grid20x20.f10", -3015.70), ("rus_50_100_6_1", -3081.09), ("pedigree37", 333.64)):
        f = gp.read(shared_instances / "uai" / f"{name}.uai.gz")
        if name.startswith("rus"):
            from graphpart.io.evidence import read_evidence

            f = f.condition(read_evidence(shared_instances / "uai" / f"{name}.uai.evid", f))
        assert search(f, time_limit=30, target=energy + 0.12).cost <= energy + 0.12


def test_reduction_ends_in_time():
    """It would take seconds here."""
    rng = np.random.default_rng(0)
    at = np.arange(200 * 200).reshape(200, 200)
    pairs = np.concatenate(
        [np.stack([a.ravel(), b.ravel()], 1) for a, b in ((at[1:], at[:-1]), (at[:, 1:], at[:, :-1]))]
    )
    unary = rng.normal(size=(at.size, 5))
    f = gp.FactorGraph.from_arrays(
        [5] * at.size, [(at.reshape(-1, 1), unary), (pairs, rng.normal(size=(len(pairs), 5, 5)))]
    )
    assert gp.crf.search(f, time_limit=0.2).status == "time_limit"
    calls = []
    r = gp.crf.search(f, callback=lambda seconds, cost: calls.append(cost) or True)
    assert 1 <= len(calls) <= 2 and r.status == "interrupted" and r.iterations == 0


def test_a_quadratic_form_is_searched_by_its_own_moves() -> None:
    """Message passing comes first, unless the energy stays the same when all labels flip."""
    for f, begun in (
        (gp.generate.max_cut(100, "torus", weights="signs", seed=1).problem, False),
        (gp.generate.factor_grid(12, 12, "mixed", 2, seed=1).problem, True),
    ):
        portfolio = Portfolio(f, threads=1)
        portfolio.run(Stopping(max_iterations=3))
        assert portfolio.binary.rounds == 3 and portfolio.labeling.rounds == 0
        assert portfolio.labeling.begun == begun and portfolio.cost == f.evaluate_labels(portfolio.labels)
        assert portfolio.cost <= portfolio.labeling.cost
        other = Portfolio(f, threads=1, parameters=LabelingParameters(without=set(STRATEGIES) - {"annealing"}))
        other.run(Stopping(max_iterations=2))
        assert other.binary is None and other.labeling.rounds == 2


@pytest.mark.parametrize("family", ["pairs", "larger", "forbidden", "quadratic"])
def test_any_strategy_may_be_left_out(family: str) -> None:
    rng = np.random.default_rng(3)
    f = {
        "pairs": lambda: grid(1, 8),
        "larger": lambda: random_factor_graph(rng, n=30, max_arity=4),
        "forbidden": lambda: random_factor_graph(rng, n=30, forbidden=0.05, max_arity=3, max_domain=6),
        "quadratic": lambda: gp.generate.qubo(60, density=0.1, seed=2).problem,
    }[family]()
    icm = gp.crf.icm(f).cost
    for name in STRATEGIES:
        r = search(f, max_iterations=2, seed=1, parameters=LabelingParameters(without=[name]))
        assert r.cost == f.evaluate(r.labels) <= icm + 1e-9, name
    with pytest.raises(gp.InvalidOption, match="expected one of"):
        LabelingParameters(without=["anneal"])
