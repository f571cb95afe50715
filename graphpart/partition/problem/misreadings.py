"""Warnings for numbers that probably have another meaning than assumed.

Warnings are issued where users pass data (constructors, `gp.solve`, the command line, estimators with given costs),
never within algorithms, and not by readers of formats that define the meaning of their numbers. `turned_signs` does it
for costs of both signs.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.display import plural
from graphpart.errors import warn
from graphpart.partition.problem.derived import components
from graphpart.partition.problem.pair_costs import PairCosts

__all__ = ["check_kind", "check_lifted", "check_name", "check_requirements", "check_unread_signs", "check_values"]

WORDS = {
    "affinities", "affinity", "confidence", "likelihood", "prob", "proba", "probabilities", "probability", "probs",
    "score", "scores", "sign", "signs", "sim", "similarities", "similarity", "sims", "weight", "weights",
}  # fmt: skip
FEWEST = 3  # pairs whose costs are worth a look: with fewer, all of one sign means nothing
SHARE, FEWEST_INFINITE = 0.01, 10  # share of the costs above which infinite costs are probably a mistake


def check_name(name: Hashable, what: str) -> None:
    """Warn if an attribute that is read as a cost is called a weight, sign, similarity, score or probability.

    Parameters
    ----------
    name : hashable
        The name of an attribute or column.
    what : str
        "attribute" or "column".
    """
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", str(name))
    if any(word.lower() in WORDS for word in words):
        other = "SetPartition.from_similarity" if what == "attribute" else "weight=, similarity= or probability="
        warn(
            f"{what} {name!r} is read as a cost, so large values keep elements apart: if large values join, say {other}"
        )


def check_kind(values: NDArray[np.float64], similarity: bool) -> None:
    """Warn if a symmetric matrix of distances looks like one of similarities, or the other way round.

    Of three distances between three elements, the two largest are mostly near each other: two elements near a third one
    are near each other. Of similarities, the two smallest are. The differences of ranks are compared in 20,000 triples.
    Matrices of fewer than 12 elements or of few different values are not looked at.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=50)
    >>> check_kind(np.abs(x[:, None] - x), similarity=False)
    """
    n = len(values)
    if n < 12:
        return
    a, b, c = np.random.default_rng(0).integers(n, size=(3, 20_000))
    different = (a != b) & (a != c) & (b != c)
    a, b, c = a[different], b[different], c[different]
    sides = np.stack([values[a, b], values[a, c], values[b, c]], 1)
    distinct, ranks = np.unique(sides, return_inverse=True)
    if len(distinct) < 10:
        return
    counts = np.bincount(ranks.ravel())
    low, middle, high = np.sort((np.cumsum(counts) - 0.5 * counts)[ranks.reshape(sides.shape)], axis=1).T
    more = np.sign((middle - low) - (high - middle)).mean()  # above 0: the two largest are nearer to each other
    if (more if similarity else -more) < (0.06 if n >= 30 else 2.5 / n):  # chance alone is below 1.8 / n
        return
    if similarity:
        warn(
            "the similarities look like distances: of three elements, mostly two values are large and one is small; if "
            "small values join, give them as distances, or negated"
        )
    else:
        warn(
            "the distances look like similarities: of three elements, mostly two values are small and one is large; if "
            "large values join, say kind='similarity'"
        )


def check_values(p: PairCosts) -> None:
    """Warn if all costs are in [0, 1], as probabilities are, or have one sign.

    Costs of 0 do not count, nor do required pairs, nor problems with fewer than 3 costs. O(n^2) or O(m)
    """
    if "far from" in p._told.get("threshold", ""):  # warned of already
        return
    if p._origin is not None and p._origin.fields is not None:  # of records, whose costs were not given
        return
    costs = p.cost if p.matrix is None else p.matrix
    assert costs is not None
    if p.background is not None:  # a background repels or attracts by itself, so listed costs of one sign are usual
        costs = np.append(p._listed()[2], 1.0 if p.background.repels else -1.0)
    if not costs.size:
        return
    # The diagonal of a matrix is 0 and each cost stands there twice, which changes neither extreme.
    low, high = float(costs.min()), float(costs.max())
    if low < 0 < high and high < np.inf:
        return
    finite = costs[np.isfinite(costs) & (costs != 0)]
    m = len(finite) // (1 if p.matrix is None else 2)
    if m < FEWEST or finite.min() < 0 < finite.max():
        return
    if finite.min() > 0:
        found = f"all {m} costs other than 0 are positive"
        if costs.max() <= 1:
            found = "all costs lie in [0, 1], as similarities and probabilities do"
        few = p._limits is not None and p._limits.most is not None
        if known := _beside_threshold(p, float(finite.min()), "largest"):
            warn(f"all {known}, so {'pairs join only because of limits' if few else 'nothing joins'}")
            return
        so = "pairs join only because the number of clusters is limited" if few else "nothing joins"
        warn(
            f"{found}; a positive cost keeps a pair apart, so {so}: if large values shall join, read them as "
            "similarity with a threshold, or as probability"
        )
    elif p._limits is None and p.groups is None and not np.isposinf(costs).any():  # these keep apart what attracts
        if np.count_nonzero(np.bincount(components(p)) > 1) > 1:  # clusters, all the same
            return
        if known := _beside_threshold(p, float(finite.max()), "smallest"):
            warn(f"all {known}, so all that they connect joins")
            return
        warn(
            f"all {m} costs other than 0 are negative, so all that they connect joins: what shall stay apart needs a "
            "positive cost; for similarities a threshold makes both"
        )


def _beside_threshold(p: PairCosts, cost: float, which: str) -> str:
    """On which side of their threshold all scores are, if costs come from scores; the one with this cost is nearest."""
    origin = p._origin
    scores = None if origin is None else origin.scores(np.array([cost]))
    if origin is None or scores is None or origin.kind not in ("similarity", "probability"):
        return ""
    side = "below" if cost > 0 else "above"
    if origin.kind == "probability":
        return f"probabilities are {side} that at which a pair joins (the {which} is {scores[0]:.4g})"
    return f"similarities are {side} the threshold {origin.threshold:g} (the {which} is {scores[0]:.4g})"


def check_unread_signs(graph: Any, weight: Hashable) -> None:
    """Warn if edges of a graph of networkx or igraph have signs of both kinds, and another attribute is the weight."""
    if weight == "sign" or not hasattr(graph, "is_directed"):
        return
    if hasattr(graph, "es"):
        signs = list(graph.es["sign"]) if "sign" in graph.es.attributes() else []
    else:
        signs = [value for *_, value in graph.edges(data="sign")]
    known = [float(value) for value in signs if isinstance(value, Real)]
    if known and min(known) < 0 < max(known):
        warn(
            "the attribute 'sign' of edges is not read, so enemies count as friends: weight='sign' reads it; "
            "SetPartition.from_similarity(G, 'sign', threshold=0) keeps enemies apart; gp.frustration(G) finds two "
            "sides"
        )


def check_lifted(p: PairCosts, lifted: tuple[NDArray[Any], NDArray[Any], Any] | None) -> None:
    """Warn if lifted pairs of a graph are edges of it, too."""
    if lifted is None or p.lifted is None:
        return
    ends = np.sort(np.stack(lifted[:2]), axis=0)
    both = len(np.unique(ends, axis=1).T) - int(p.lifted.sum())
    if both > 0:
        warn(
            f"{plural(both, 'lifted pair')} {'is an edge' if both == 1 else 'are edges'} of the graph, too: the costs "
            "are added up, and such a pair connects"
        )


def check_requirements(p: PairCosts, costs: Any) -> None:
    """Warn if more than 1% of the given costs, and at least ten, are infinite, and the others are no whole numbers.

    Such costs are probably log-odds of probabilities that were rounded to 0 and 1.

    Parameters
    ----------
    p : PairCosts
        The problem that was made of them.
    costs : ndarray
        The costs as given, of pairs or as a matrix.
    """
    if not len(p.must_join) and not p._has_must_cut:
        return
    costs = np.asarray(costs)
    if costs.ndim == 2:
        costs = costs[~np.eye(len(costs), dtype=bool)]
    joins, cuts = int(np.count_nonzero(costs == -np.inf)), int(np.count_nonzero(costs == np.inf))
    if joins + cuts < FEWEST_INFINITE or joins + cuts <= SHARE * len(costs):
        return
    finite = costs[np.isfinite(costs)]
    if (finite == np.rint(finite)).all():
        return
    times = 2 if p.matrix is not None and len(costs) == p.n * (p.n - 1) else 1
    warn(
        f"{(joins + cuts) // times} of {len(costs) // times} costs are infinite, which requires {joins // times} pairs "
        f"together and {cuts // times} apart: if they are log-odds, costs_from_probabilities clips probabilities that "
        "were rounded to 0 and 1"
    )
