"""Improving mappings: an optimal labeling remains, more is known than without them, limits are kept."""

import math
import os
from itertools import pairwise

import numpy as np
import pytest
from reference_crf import all_energies
from strategies_crf import random_factor_graph
from trials import trials

import graphpart as gp
from graphpart.crf.reduction import _kernels
from graphpart.crf.reduction import persistency as module
from graphpart.crf.reduction.improving_mapping import improving_mapping
from graphpart.crf.reduction.persistency import improving_mapping_step, reduce
from graphpart.errors import InfeasibleProblem
from graphpart.stopping import Stopping

TRIALS = int(os.environ.get("GRAPHPART_TRIALS", trials(3000)))  # 10^5 were run once


def energies_of(f):
    return np.atleast_1d(all_energies(f))


@pytest.mark.parametrize("max_domain", [3, 5])
def test_sound_against_enumeration(max_domain):
    rng = np.random.default_rng([31, max_domain])
    proven = left_out = 0
    for trial in range(TRIALS // 2):
        whole = bool(trial % 2)
        forbidden = (0.0, 0.0, 0.15, 0.4)[trial // 6 % 4]
        n = int(rng.integers(1, 7))
        f = random_factor_graph(
            rng, n=n, max_domain=max_domain, max_arity=2 if trial % 3 else 3, whole=whole, forbidden=forbidden
        )
        energies = energies_of(f)
        least = energies.min()
        try:
            alive = improving_mapping(f, Stopping())
        except InfeasibleProblem:
            assert least == math.inf, trial
            continue
        if alive is None:
            continue
        start = np.cumsum(f.domains) - f.domains
        kept = [np.flatnonzero(alive[a : a + d]) for a, d in zip(start, f.domains.tolist(), strict=True)]
        assert all(len(labels) for labels in kept), trial
        inside = energies[np.ix_(*kept)].min()
        assert inside == least if whole else inside <= least + 1e-12, trial
        proven += 1
        left_out += int((alive == 0).sum())
    assert proven > 0.4 * TRIALS // 2 and left_out > 2 * proven


def test_differences_by_definition():
    """The tables of f(x) - f(p(x)), labels that are not mapped as one."""
    rng = np.random.default_rng(32)
    seen = 0
    for trial in range(300):
        f = random_factor_graph(rng, n=4, max_domain=4, whole=trial % 2 == 0, forbidden=(0.0, 0.2)[trial // 2 % 2])
        labels = rng.integers(0, f.domains).astype(np.int32)
        first = np.concatenate([[0], np.cumsum(f.domains)]).astype(np.int64)
        mapped = (rng.random(first[-1]) < (1.0 if trial % 4 == 0 else 0.6)).astype(np.uint8)
        mapped[first[:-1] + labels] = 0
        stays = np.zeros_like(mapped)
        slack = 0.25 if trial % 3 else 0.0
        domains, start, scope, tables, _, amiss = _kernels.differences(f._view(), labels, mapped, stays, slack)
        count = np.add.reduceat(mapped, first[:-1]) + 1
        members = np.flatnonzero(count > 1)
        assert domains.tolist() == count[members].tolist()
        energies, shape = energies_of(f), tuple(f.domains.tolist())
        place = [np.where(mapped[a:b], np.cumsum(mapped[a:b]), 0) for a, b in pairwise(first)]
        bad = False
        g = None if amiss else gp.FactorGraph.from_csr(domains, start, scope, tables)
        for x in np.ndindex(shape):
            image = tuple(int(labels[v]) if mapped[first[v] + x[v]] else x[v] for v in range(4))
            if energies[x] == math.inf:
                continue
            bad |= energies[image] == math.inf
            if g is not None:
                number = sum(image[v] != x[v] or mapped[first[v] + x[v]] for v in range(4))
                below = g.evaluate([int(place[v][x[v]]) for v in members])
                assert below <= energies[x] - energies[image] - number * slack + 1e-9, trial
        assert amiss == bool(stays.any()) and (amiss or not bad), trial
        assert not (stays & ~mapped).any()
        # where all labels but those of the labeling are mapped, nothing is lost
        if g is not None and (count == f.domains).all() and energies[tuple(labels)] < math.inf:
            wanted = energies - energies[tuple(labels)]
            seen += 1
            for x in np.ndindex(shape):
                below = g.evaluate([int(place[v][x[v]]) for v in members])
                number = sum(x[v] != labels[v] for v in range(4))
                assert below == pytest.approx(float(wanted[x]) - number * slack, abs=1e-9)
    assert seen > 5


def grid(height, width, labels, unary, difference):
    index = np.arange(height * width).reshape(height, width)
    pairs = np.concatenate(
        [
            np.stack([index[:, :-1], index[:, 1:]], -1).reshape(-1, 2),
            np.stack([index[:-1], index[1:]], -1).reshape(-1, 2),
        ]
    )
    table = difference * (1.0 - np.eye(labels))
    tables = np.broadcast_to(table, (len(pairs), labels, labels))
    return gp.FactorGraph.from_arrays([labels] * index.size, [(index.reshape(-1, 1), unary), (pairs, tables)])


@pytest.mark.parametrize("whole", [False, True])
def test_knows_much_more_of_a_grid(whole, monkeypatch):
    rng = np.random.default_rng(33)
    unary, difference = 2.0 * rng.normal(size=(900, 6)), 0.9
    if whole:
        unary, difference = np.round(10 * unary), 9.0
    f = grid(30, 30, 6, unary, difference)
    more = reduce(f)
    monkeypatch.setattr(module, "STEPS", tuple(step for step in module.STEPS if step is not improving_mapping_step))
    less = reduce(f)
    assert (less.labels >= 0).mean() < 0.6 and (more.labels >= 0).mean() > 0.9
    assert (more.persistency.strong == less.persistency.strong).all()
    # what is known is part of a labeling that is as good as that of the problem with less left out
    best = gp.crf.elimination(less.problem) if less.problem.n else None
    cost = less.constant + (best.cost if best is not None else 0.0)
    inner = gp.crf.elimination(more.problem).labels if more.problem.n else np.zeros(0, np.int32)
    assert f.evaluate(more.lift(inner)) == pytest.approx(cost, abs=1e-8)


def test_is_not_tried_where_it_is_not_for():
    f = grid(3, 3, 3, np.arange(27.0).reshape(9, 3) % 5, 1.0)
    assert improving_mapping_step(f, False, Stopping()) is None
    assert improving_mapping_step(grid(3, 3, 2, np.zeros((9, 2)), 1.0), True, Stopping()) is None  # roof duality is
    assert improving_mapping(f, Stopping(0.0)) is None
    unused = improving_mapping(gp.FactorGraph.from_arrays([3, 2], []), Stopping())
    assert unused.tolist() == [1, 0, 0, 1, 0]
    nothing = improving_mapping(f, Stopping(callback=lambda seconds, cost: True))
    assert nothing is None or (nothing == 0).any()


@pytest.mark.parametrize("magnitude", [1e-300, 1e-150, 1e100, 1e297])
def test_huge_and_tiny_costs(magnitude):
    rng = np.random.default_rng(34)
    for _ in range(40):
        f = random_factor_graph(rng, n=4, max_domain=4, whole=False)
        g = gp.FactorGraph.from_csr(f.domains, f.scope_start, f.scope, f.tables * magnitude)
        alive = improving_mapping(g, Stopping())
        if alive is None:
            continue
        first = np.cumsum(g.domains) - g.domains
        kept = [np.flatnonzero(alive[a : a + d]) for a, d in zip(first, g.domains.tolist(), strict=True)]
        energies = energies_of(g)
        assert energies[np.ix_(*kept)].min() == pytest.approx(energies.min(), rel=1e-9)
