"""One form of a problem from another: a matrix, listed pairs, or listed pairs and a background.

A problem is rows of listed pairs or a matrix, a background (constants, products of weights, groups), and rules. Every
function here returns a problem with the same elements, the same rules and the same optima. What each costs, for n
elements and m listed pairs:

======================  ================================================  =====================================
function                result                                            time, memory
======================  ================================================  =====================================
`to_dense`              a matrix, the background included                 O(n^2), n^2 numbers
`without_background`    a matrix or listed pairs, or an error             that of `explicit`, or a matrix
`explicit`              the same, or None if it would be too large        O(n + m + listed pairs)
`listed_within`         all pairs within components of attracting pairs   O(n + m + listed pairs)
`fitting`               `as_pairs`, or `to_dense` up to 1000 elements     that of these
`with_matrix`           `to_dense`, for code that knows no background     that of `to_dense`
`as_pairs`              pairs in place of a matrix, if it has limits      O(n^2), or O(1) if the pairs were kept
`without_zeros`         pairs in place of a matrix, without zeros         O(n^2)
`with_groups_apart`     listed pairs and groups, of a matrix with groups  O(1): the pairs were kept
`without_usual`         a background, if most pairs of a matrix cost      O(n^2), O(1) if many costs differ
                        the same
`with_missing`          a background, a cost of all pairs not listed      O(m log m)
`without_limits`        no limits, a relaxation                           O(1), shares all arrays
`without_largest_size`  no largest size of clusters, a relaxation         O(1), shares all arrays
`cut_huge`              required cuts in place of huge costs              O(m), O(1) if no cost is huge
`in_fitting_unit`       costs divided by a power of 2, if extreme         O(m), O(1) if no cost is extreme
======================  ================================================  =====================================

A form whose costs or rules may differ from those of the problem it is made from, outside of what any optimum does,
keeps that problem as its *source* (``PairCosts._source``). The source has all costs and all requirements; labels are
evaluated by it. No other module but that of the arrays reads or writes it: `source_of` returns it.

If a background repels, no optimum joins elements that no path of attracting pairs connects. So only pairs within the
components of attracting pairs are listed; of groups, only pairs of one group within one component.
"""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidProblem
from graphpart.kernels import _pairs
from graphpart.partition.inputs.arrays import check_matrix_fits
from graphpart.partition.problem.background import SMALL, Background, background_of, pairs_within
from graphpart.partition.problem.derived import components
from graphpart.partition.problem.groups import Groups
from graphpart.partition.problem.pair_costs import Labels, PairCosts

__all__ = [
    "as_pairs",
    "cut_huge",
    "explicit",
    "fitting",
    "in_fitting_unit",
    "is_form",
    "listed_within",
    "matrix_of",
    "source_of",
    "to_dense",
    "with_groups_apart",
    "with_matrix",
    "with_missing",
    "with_two_groups",
    "without_background",
    "without_connectedness",
    "without_largest_size",
    "without_limits",
    "without_usual",
    "without_zeros",
]

Problem = TypeVar("Problem", bound=PairCosts)
UNUSUAL = 0.05  # largest share of pairs of a matrix with an unusual cost for which only these pairs are listed
SAMPLES = 10_000  # pairs of a matrix that are looked at to find the cost that most have
PAIRS, TIMES = 1_000_000, 2  # listed pairs of an explicit form: at most PAIRS more, and TIMES those of the problem
FEW, MORE = 5_000, 0.4  # the same if only groups are unlisted: with more pairs, search and bounds work on groups
ELEMENTS = 3000  # up to which a matrix is as good
LARGEST_EXPLICIT = 5000  # elements of a problem that becomes a matrix where one is needed: 200 MB, and work takes more
LARGEST_DENSE = 20_000  # elements of a problem with a background that is made a matrix for methods that need one: 3 GB

# ----------------------------------------------------------------------------------------------------------- the source


def source_of(p: Problem) -> Problem:
    """The problem of which this one is a form, with all costs and requirements; the problem itself if it is no form."""
    return p if p._source is None else p._source  # type: ignore[return-value]


def is_form(p: PairCosts) -> bool:
    """Whether the problem is a form of another one, so that it may not list all pairs with a cost."""
    return p._source is not None


def _form(q: Problem, p: Problem) -> Problem:
    """`q` as a form of `p`."""
    q._source = p
    return q._as(p)


# ------------------------------------------------------------------------------------------------- without a background


def to_dense(p: Problem) -> Problem:
    """See `SetPartition._to_dense`."""
    if p.matrix is not None:
        return p
    if p.lifted is not None:
        raise InvalidProblem("clusters have to be connected, and a matrix does not tell base pairs from lifted ones")
    check_matrix_fits(p.n)
    return _form(p._of_matrix(p.nodes, matrix_of(p), p._rules), p)


def with_matrix(p: Problem) -> Problem:
    """The problem itself, or, if it has a background, as a matrix, for code that knows no background.

    Raises
    ------
    InvalidProblem
        If it has more than 20,000 elements.
    """
    if p.background is None:
        return p
    if p.n > LARGEST_DENSE:
        raise InvalidProblem(
            f"this needs the costs of all pairs as a matrix, which has {p.n} rows because unlisted pairs "
            f"cost something: expected at most {LARGEST_DENSE} elements, or method search"
        )
    return to_dense(p)


def fitting(p: Problem) -> Problem:
    """The problem for search: as pairs if it limits clusters, else as a matrix if it is small and has a background."""
    if p._limits is not None:
        return as_pairs(p)
    return to_dense(p) if p.background is not None and p.n <= SMALL else p


def explicit(p: Problem) -> Problem | None:
    """A problem with the same elements and optima that has no background; None if it would be too large.

    Partitions that join no elements of different components of attracting pairs cost the same in both problems, and all
    others are evaluated as in the given problem, too. Pairs between components are not listed, even if they must be
    cut. O(n + m + pairs within components)
    """
    background = p.background
    if background is None:
        return p
    if len(background.beta) and p.n <= ELEMENTS:
        return to_dense(p)
    return listed_within(p) if background.repels or not len(background.beta) else None


def listed_within(p: Problem, component: Labels | None = None, most: int | None = None) -> Problem | None:
    """The problem with all pairs within components of attracting pairs listed, for a background that repels.

    `component`: canonical labels of sets that consist of such components, within which all pairs are listed. `most`:
    how many pairs may be listed in addition; None is returned if there are more.

    No pair between components is listed, not even one that must be cut. Otherwise it would connect elements whose
    other pairs, which repel, are not listed, and a proof for these elements would be wrong.
    """
    background = p.background
    assert background is not None and p.u is not None and p.v is not None and p.cost is not None
    component = components(p) if component is None else component
    if most is None:
        most = PAIRS + TIMES * p.m if len(background.beta) else FEW + int(MORE * p.m)
    made = pairs_within(component, background.groups if not len(background.beta) else None, most)
    if made is None:
        return None
    inner = component[p.u] == component[p.v]
    low, high = np.concatenate([p.u[inner], made[0]]), np.concatenate([p.v[inner], made[1]])
    costs = np.concatenate([p.cost[inner], background.of_pairs(*made)])
    return _form(p._of_pairs(p.nodes, low, high, costs, rules=p._rules), p)


def with_two_groups(p: Problem) -> Problem | None:
    """A problem whose required cuts are those of two groups in each component, with these groups in place of the cuts.

    Attracting pairs of each component divide its elements in two sides in one way, if any. None is returned unless
    each component has two sides, and all pairs within a side must be cut. Finite costs of pairs are the same.
    O(n + m)
    """
    if p.background is not None or p.lifted is not None or p._limits is not None or len(p.must_join):
        return None
    if not p._has_must_cut:
        return None
    u, v, cost = p.pairs()
    attracts = cost < 0
    u, v = u[attracts], v[attracts]
    # Each element has two copies, and pairs are between copies of different kinds: sides are apart if copies are.
    copies = _pairs.connected_components(2 * p.n, np.concatenate([u, u + p.n]), np.concatenate([v + p.n, v]))
    component = _pairs.connected_components(p.n, u, v)
    several = np.bincount(component, minlength=p.n)[component] > 1
    if (copies[: p.n] == copies[p.n :])[several].any():
        return None
    cell = 2 * component.astype(np.int64) + (copies[: p.n] < copies[p.n :])
    u, v, cost = p.pairs()
    within = (cell[u] == cell[v]) & several[u]
    sizes = np.bincount(cell[several], minlength=2 * p.n)
    if np.count_nonzero(np.isinf(cost[within])) < int((sizes * (sizes - 1) // 2).sum()):
        return None
    kept = ~within & np.isfinite(cost)
    members = np.flatnonzero(several)
    names, group = np.unique(cell[members], return_inverse=True)
    groups = Groups(p.n, members, group.ravel(), np.ones(len(members)), np.full(len(names), np.inf))
    return _form(p._of_pairs(p.nodes, u[kept], v[kept], cost[kept], Background([], groups), dense=False), p)


def without_background(p: Problem, what: str) -> Problem:
    """The problem with the same optima and no background, for `what`, which needs the costs of pairs.

    O(n + m + listed pairs); at most a matrix of 5000 elements, 200 MB.

    Raises
    ------
    InvalidProblem
        If that would take too much memory.
    """
    if p.background is None:
        return p
    found = explicit(p)
    if found is None and p.n <= LARGEST_EXPLICIT:
        found = to_dense(p)
    if found is None:
        size = np.bincount(components(p)).max(initial=0)
        if p.background.repels:
            why = f"{size} elements hang together by pairs that attract"
        else:
            why = "the background attracts some pairs"
        raise InvalidProblem(
            f"{what} needs the costs of all pairs of elements in one piece, too many here as unlisted pairs cost "
            f"something: {why}; expected at most {LARGEST_EXPLICIT} elements, or smaller pieces"
        )
    return found


# ------------------------------------------------------------------------------------------------ with or without terms


def as_pairs(p: Problem) -> Problem:
    """The problem with pairs in place of a matrix, if it limits clusters."""
    if p.matrix is None or p._limits is None:
        return p
    if p._source is not None and p._source.matrix is None:
        return source_of(p)
    return _form(p._of_pairs(p.nodes, *p.pairs(), rules=p._rules, dense=False), p)


def without_zeros(p: Problem) -> Problem:
    """The problem with pairs in place of a matrix, without those that cost nothing."""
    return p if p.matrix is None else _form(p._of_pairs(p.nodes, *p._listed(), rules=p._rules, dense=False), p)


def with_groups_apart(p: Problem) -> Problem:
    """The problem as pairs and groups, if this is a matrix that includes the prices of groups; else itself."""
    return p if p.matrix is None or p.groups is None else source_of(p)


def without_connectedness(p: Problem) -> Problem:
    """The same problem without connectedness, if only base pairs have a finite cost; else the problem itself.

    A subset that base pairs do not connect then falls into pieces at no cost, as it does in every result.
    """
    if p.lifted is None or p.background is not None or p._limits is not None or len(p.must_join):
        return p
    assert p.u is not None and p.v is not None and p.cost is not None
    if np.isfinite(p.cost[p.lifted]).any():
        return p
    return _form(p._of_pairs(p.nodes, p.u, p.v, p.cost), p)


def without_limits(p: Problem) -> Problem:
    """The problem without limits of sizes and numbers, whose optimum is a lower bound."""
    free = copy.copy(p)
    free._limits = free._source = None
    return free


def without_largest_size(p: Problem) -> Problem:
    """The problem without the largest size of clusters, whose optimum is a lower bound; their number remains."""
    free, limits = without_limits(p), p._limits
    if limits is not None and limits.number:
        free._limits = replace(limits, max_size=None)
    return free


def without_usual(p: Problem) -> Problem:
    """The same problem with a background, where nearly all pairs of a matrix cost the same, but not 0.

    Only where all costs are integers, and so small that their sums are exact in both forms; else the problem itself.
    O(n^2), but O(1) where many costs differ. It is made once and kept.
    """
    if p.matrix is None or p.n < 2 or p._limits is not None or len(p.must_join):
        return p
    if p.groups is not None:
        return p
    if p._unusual is not None:
        return p._unusual  # type: ignore[return-value]
    rng = np.random.default_rng(p.n)
    a, b = rng.integers(0, p.n, (2, SAMPLES))
    sample = p.matrix[a[a != b], b[a != b]]
    usual = float(np.median(sample))
    if usual == 0 or not np.isfinite(usual) or np.mean(sample != usual) > 2 * UNUSUAL:
        return p
    u, v = np.nonzero(np.triu(p.matrix != usual, 1))
    costs = p.matrix[u, v]
    whole = np.isfinite(costs).all() and (costs == np.rint(costs)).all() and usual == np.rint(usual)
    pairs = p.n * (p.n - 1) / 2
    if not whole or len(u) > UNUSUAL * pairs or np.abs(costs).sum() + abs(usual) * (pairs + len(u)) > 2**53:
        return p
    p._unusual = q = p._of_pairs(p.nodes, u, v, costs, background_of(p.nodes, usual), dense=False)._as(p)
    return q


def with_missing(p: Problem, missing: float) -> Problem:
    """The same listed pairs and requirements, with a cost for each pair that is not listed.

    Raises
    ------
    InvalidProblem
        If the problem has a background other than groups, or all pairs are listed.
    """
    groups = p.groups
    p = with_groups_apart(p)
    if p.background is not None and len(p.background.beta):
        raise InvalidProblem(f"the problem has a background already: {p.background!r}")
    u, v, cost = p._listed() if groups is None else p.pairs()
    if len(u) == p.n * (p.n - 1) // 2 > 0:
        raise InvalidProblem("all pairs are listed: expected a problem that lists some")
    background = background_of(p.nodes, missing, None, groups)
    return p._of_pairs(p.nodes, u, v, cost, background, p._rules)._as(p)


# ------------------------------------------------------------------------------------------------------ extreme costs

HUGE = 2.0**20  # ratio of a cost to all attraction of an element, from which on tolerances would be useless


def cut_huge(p: Problem) -> Problem:
    """The same problem, with pairs of a huge cost required to be cut instead; for problems without required joins.

    If a pair costs more than the sum of all attraction of one of its elements, it is cut in every optimum, so optima
    stay the same. Tolerances, which grow with the largest costs, are then not affected by a cost that is never paid.
    """
    limit = HUGE * p._attraction
    if limit == 0.0 or p._magnitude <= limit or (p._limits is not None and p._limits.most is not None):
        return p  # if there is a largest number of subsets, elements cannot always leave theirs
    if p.lifted is not None and p.n > HUGE:
        return p  # an element cannot always leave its subset alone, but all of its elements can
    if p.background is not None:
        return _cut_huge_groups(p, limit)
    u, v, cost = p.pairs()
    huge = (cost > limit) & (cost < np.inf)
    if not huge.any():
        return p
    cost = np.where(huge, np.inf, cost)
    return p._of_pairs(range(p.n), u, v, cost, rules=p._rules, dense=p.is_dense)


def _cut_huge_groups(p: Problem, limit: float) -> Problem:
    """The same problem with the price inf in place of prices above a limit."""
    assert p.background is not None and p.u is not None and p.v is not None and p.cost is not None
    groups = p.background.groups
    if groups is None or not ((groups.price > limit) & ~groups.hard).any():
        return p
    from graphpart.partition.problem.groups import Groups

    price = np.where(groups.price > limit, np.inf, groups.price)
    harder = Groups(p.n, groups.element, groups.group, groups.count, price, groups.names)
    background = Background(p.background.terms, harder)
    return p._of_pairs(range(p.n), p.u, p.v, p.cost, background, p._rules, dense=False)


def in_fitting_unit(p: Problem) -> tuple[Problem, int]:
    """The same problem with costs divided by ``2**exponent``, and the exponent; itself and 0 unless costs are extreme.

    For problems without required joins.
    """
    assert p.background is None
    exponent = min(math.frexp(p._magnitude)[1], 1000)
    if abs(exponent) < 300:  # products of a few costs are far from the ends of float64
        return p, 0
    u, v, cost = p.pairs()
    with np.errstate(under="ignore"):
        scaled = np.ldexp(cost, -exponent)
    return p._of_pairs(range(p.n), u, v, scaled, rules=p._rules, dense=p.is_dense), exponent


def matrix_of(p: PairCosts) -> NDArray[np.float64]:
    """The costs as a symmetric matrix, also where the problem stores pairs. O(n^2)"""
    if p.matrix is not None:
        return p.matrix
    u, v, cost = p.pairs()
    matrix = np.zeros((p.n, p.n))
    matrix[u, v] = cost
    matrix[v, u] = cost
    if p.background is not None:
        p.background.add_to(matrix)
    return matrix
