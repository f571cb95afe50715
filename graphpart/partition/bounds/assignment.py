"""Components in which two groups at price inf have all elements: the optimum is a matching, found with a proof.

No subset has two members of a group, so every subset has at most two elements, and the attraction within a partition is
the weight of a matching between the two groups. A matching of greatest weight is found by the Hungarian method in its
sparse form: elements bid for each other, then shortest augmenting paths follow (Jonker & Volgenant 1987; kernel
`_matching`). Its dual prices are the multipliers of group stars (see `group_stars`), which prove the optimum. Weights
are whole numbers; costs that are no multiples of one number are rounded at the 50th binary digit of the largest.

O(m log n) for each augmenting path at worst, and much less on average: for two groups of 100,000 elements with a
million pairs of random costs, some seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import group as grouped
from graphpart.common.steps import LARGEST_WHOLE, round_up
from graphpart.partition.bounds import _kernels
from graphpart.partition.certificates.certificate import common_step, proven_bound
from graphpart.partition.certificates.inequalities import GROUP_STAR, Inequalities
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.partition.problem.groups import Groups
from graphpart.stopping import Stopping

__all__ = ["Assignment", "assign", "sides_of"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Assignment:
    """The optimum of the components in which two groups have all elements.

    Attributes
    ----------
    elements : ndarray of int64
        The elements of these components, ascending.
    labels : ndarray of int32, shape (n,)
        Canonical labels: matched pairs are together, and all others alone.
    rows, multipliers : Inequalities, ndarray of float64
        Group stars that prove the optimum.
    cost, bound : float
        Of these elements: the cost of the matching, and the bound that the multipliers prove.
    allowance : float
        The largest amount by which another matching may cost less, since weights are rounded; 0 if they are not.
    components : int
        The number of these components, without single elements.
    is_all : bool
        Whether these are all components with several elements.
    """

    elements: NDArray[np.int64] = field(repr=False)
    labels: Labels = field(repr=False)
    rows: Inequalities = field(repr=False)
    multipliers: Floats = field(repr=False)
    cost: float
    bound: float
    allowance: float
    components: int
    is_all: bool


def sides_of(groups: Groups, component: Labels) -> NDArray[np.int8]:
    """For each element 0 or 1, its group, if two groups at price inf have all elements of its component; else -1.

    The first of the two groups is the one with most elements of the component; the other one has to have the rest.
    Elements that are components by themselves have -1.
    """
    n, count = groups.n, int(component.max(initial=-1)) + 1
    element, group = groups.element, groups.group.astype(np.int64)
    hard = groups.hard[group]
    element, group = element[hard], group[hard]
    left = np.bincount(component, minlength=count)
    side = np.full(n, -1, np.int8)
    alone = left == 1
    for which in (0, 1):
        rest = side[element] < 0
        element, group = element[rest], group[rest]
        keys, sizes = np.unique(component[element] * np.int64(max(1, len(groups))) + group, return_counts=True)
        order = np.lexsort((keys, -sizes))
        owner = keys[order] // max(1, len(groups))
        _, first = np.unique(owner, return_index=True)
        chosen = np.isin(component[element] * np.int64(max(1, len(groups))) + group, keys[order[first]])
        side[element[chosen]] = which
        left -= np.bincount(component[element[chosen]], minlength=count)
    side[(left > 0)[component] | alone[component]] = -1
    return side


def assign(p: SetPartition, stopping: Stopping) -> Assignment | None:
    """Solve the components of a problem in which two groups have all elements; None if there are none, or if stopped.

    Parameters
    ----------
    p : SetPartition
        Without required joins, with groups, and a background that repels.
    """
    background = p.background
    if background is None or background.groups is None or not background.groups.is_hard or not background.repels:
        return None
    component = p._components()
    side = sides_of(background.groups, component)
    if not (side >= 0).any():
        return None
    u, v, cost = p._listed()
    used = np.flatnonzero((cost < 0) & (side[u] >= 0))
    u, v, weight = u[used], v[used], -cost[used]
    left, right = np.where(side[u] == 0, u, v), np.where(side[u] == 0, v, u)
    step = common_step(p)
    largest = float(weight.max())
    unit = step if step and largest / step < LARGEST_WHOLE else float(np.ldexp(1 / LARGEST_WHOLE, np.frexp(largest)[1]))
    order, starts = grouped(left, p.n)
    found = _kernels.matching(starts, right[order].astype(np.int32), np.rint(weight[order] / unit), p.n, stopping)
    if found is None:
        return None
    mate, prices, others = found
    labels = np.arange(p.n, dtype=np.int32)
    matched = np.flatnonzero(mate >= 0)
    labels[mate[matched]] = matched
    elements = np.flatnonzero(side >= 0)
    rows, multipliers = _stars(p.n, left, right, (prices + others) * unit)
    part = p if len(elements) == p.n else p._restrict(elements)
    place = np.empty(p.n, np.int32)
    place[elements] = np.arange(len(elements))
    bound = round_up(proven_bound(part, rows.renamed(place), multipliers), common_step(part))
    paid = part._evaluate_labels(canonical(labels[elements]))
    count = len(np.unique(component[elements]))
    several = int(np.count_nonzero(np.bincount(component) > 1))
    allowance = 0.0 if unit == step else unit * len(elements)
    return Assignment(
        elements, canonical(labels), rows, multipliers, paid, min(bound, paid), allowance, count, count == several
    )


def _stars(n: int, left: NDArray[np.int32], right: NDArray[np.int32], prices: Floats) -> tuple[Inequalities, Floats]:
    """The group stars of all elements with a price: of each, all elements that it attracts."""
    centre, leaf = np.concatenate([left, right]), np.concatenate([right, left])
    wanted = prices[centre] > 0
    centre, leaf = centre[wanted], leaf[wanted]
    order, starts = grouped(centre, n)
    priced = np.flatnonzero(prices > 0)
    lengths = np.diff(starts)[priced] + 1
    begins = np.concatenate([[0], np.cumsum(lengths)])
    elements = np.empty(begins[-1], np.int32)
    elements[begins[:-1]] = priced
    leaves = np.ones(len(elements), bool)
    leaves[begins[:-1]] = False
    elements[leaves] = leaf[order]
    count = len(priced)
    return Inequalities(np.full(count, GROUP_STAR, np.uint8), begins, elements, np.ones(count, np.int32)), prices[
        priced
    ]
