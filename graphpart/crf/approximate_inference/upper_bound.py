"""An upper bound on log Z from any reweighted messages (Wainwright, Jaakkola & Willsky 2005).

log Z is convex in the energies. If the energies are an average of those of T forests of factors, it is at most the
average of their values of log Z, which two passes of messages give. Messages m and weights r_f, the shares of forests
that contain factor f, rewrite the energies without changing their sum,

    unary energies of i:  -B_i,      factor f:  h_f + r_f (sum over i of f of m_{f->i}),

and each forest gets all unary energies, and the energies of its factors divided by r_f. The average over the forests is
then the rewritten energies, for any m. Converged messages make the bound as small as the weights allow. Factors may
have any number of variables.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.exact_solvers import _kernels
from graphpart.crf.exact_solvers.min_sum import marginals
from graphpart.crf.problem import FactorGraph, _structure
from graphpart.crf.problem.shared_tables import rows_of
from graphpart.stopping import Stopping

__all__ = ["Reweighted", "forests_of", "upper_bound"]

FEWEST = 8  # smallest number of forests


@dataclass(frozen=True)
class Reweighted:
    """Reweighted messages: the weight of each factor, the messages, where those of each position of the scopes begin,
    and the beliefs of all variables."""

    weight: NDArray[np.float64]
    messages: NDArray[np.float64]
    start: NDArray[np.int64]
    beliefs: NDArray[np.float64]


def forests_of(f: FactorGraph, larger: NDArray[np.int64], seed: int | None) -> list[NDArray[np.int64]]:
    """Forests of factors. Each of the factors `larger`, which have several variables, is in at least one forest."""
    rng = np.random.default_rng(0 if seed is None else seed)
    times = np.zeros(f.m, np.int64)
    found: list[NDArray[np.int64]] = []
    while len(found) < FEWEST or times[larger].min(initial=1) == 0:
        # Factors that are in the fewest forests come first, in random order among equals.
        shuffled = rng.permutation(larger)
        order = shuffled[np.argsort(times[shuffled], kind="stable")]
        found.append(_kernels.forest(f._view(), order))
        times[found[-1]] += 1
        if len(found) == 1 and len(found[0]) == len(larger):  # it is a forest
            break
    return found


def upper_bound(
    f: FactorGraph,
    tables: NDArray[np.float64],
    forests: list[NDArray[np.int64]],
    found: Reweighted,
    stopping: Stopping,
) -> float:
    """An upper bound on log Z; ``inf`` if the time ends before. `tables` are those that are kept, made finite."""
    if stopping.check(math.inf):  # before tables are made, which takes long
        return math.inf
    domains, scope_start, scope, begins, _ = f._flat()
    table_start = f.table_start
    weight, messages, edge_first, beliefs = found.weight, found.messages, found.start, found.beliefs
    rewritten = _structure.gather(tables, begins, table_start)  # one for each factor
    arity = np.diff(scope_start)
    # For all factors at once: the message of position j stretches over the entries by its label there.
    used = np.unique(np.concatenate(forests)) if forests else np.zeros(0, np.int64)
    for k in range(int(arity[used].max(initial=0))):
        some = used[arity[used] > k]
        inner = np.ones(len(some), np.int64)
        for j in range(int(arity[some].max(initial=0)) - 1, k, -1):
            has = arity[some] > j
            inner[has] *= domains[scope[scope_start[some[has]] + j]]
        sizes = (table_start[some + 1] - table_start[some]).astype(np.int64)
        at = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        d = domains[scope[scope_start[some] + k]].astype(np.int64)
        label = at // np.repeat(inner, sizes) % np.repeat(d, sizes)
        entry = at + np.repeat(table_start[some], sizes)
        rewritten[entry] += (
            np.repeat(weight[some], sizes) * messages[np.repeat(edge_first[scope_start[some] + k], sizes) + label]
        )
    values, magnitude = [], [abs(f.constant), float(f.n + f.m)]
    magnitude += [float(np.abs(beliefs).sum())]
    unary_start = np.arange(f.n + 1, dtype=np.int64)
    for factors in forests:
        if stopping.check(math.inf):
            return math.inf
        sizes = table_start[factors + 1] - table_start[factors]
        entries = np.arange(int(sizes.sum())) + np.repeat(table_start[factors] - np.cumsum(sizes) + sizes, sizes)
        part = rewritten[entries] / np.repeat(weight[factors], sizes)
        starts, members = rows_of(scope_start, scope, factors.astype(np.int32))
        forest = FactorGraph.from_csr(
            domains,
            np.concatenate([unary_start, f.n + starts[1:]]),
            np.concatenate([np.arange(f.n, dtype=np.int32), members]),
            np.concatenate([-beliefs, part]),
        )
        magnitude.append(float(np.abs(part).sum()) / len(forests))
        values.append(marginals(forest).log_z)
    # Far more than the possible rounding error of these sums.
    return math.fsum(values) / len(values) - f.constant + 2.0**-44 * math.fsum(magnitude)
