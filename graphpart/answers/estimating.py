"""How good a result is, from answers about pairs at random: expected F1 of joins, with an interval, without the truth.

The pairs that count are those that the problem lists and those that the result has together; pairs that are required
together or apart are known. The others are divided into strata by what the result says and by the cost of the pair
(`EDGES`, in bits), and each stratum is sampled without replacement: stratified random sampling (Cochran 1977, chapter
5). The number of pairs from each stratum is proportional to its size times the standard deviation that its costs let
expect (Neyman allocation), and at least `LEAST`, so that many of the few doubtful pairs are asked.

Of the N pairs of a stratum, n are answered and s of them belong together. The share of the stratum has the posterior
distribution Beta(s + m, n - s + 1 - m), where m is the share that costs let expect: this prior weighs as much as one
answer. Draws from all strata give draws of the numbers of pairs that are rightly together, t, and wrongly apart, and so
of F1 = 2 t / (together in the result + together in truth), whose quantiles are the interval. Pairs that are not known
count as if they had not been drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.answers.bits import bit_of
from graphpart.answers.given import NOT_KNOWN, TOGETHER, answers_of, problem_of
from graphpart.answers.sides import record_columns, sides_of
from graphpart.common.columns import Columns
from graphpart.display import plural
from graphpart.errors import InvalidOption, InvalidProblem, known_arguments
from graphpart.partition.inputs.arrays import keys_of_pairs
from graphpart.partition.inputs.frames import table_of
from graphpart.partition.inputs.origin import chance_otherwise
from graphpart.partition.problem import Labels, SetPartition
from graphpart.partition.problem.forms import pairs_within, source_of

__all__ = ["Quality", "expected_f1", "random_pairs"]

EDGES = (-4.0, 0.0, 4.0, 10.0)  # bits of cost between strata
LEAST = 4  # pairs from each stratum, as long as it has them
SMALLEST = 0.03  # least standard deviation that is expected of a stratum: costs may be wrong
TOGETHER_EXPECTED = 0.9  # expected share of true joins where a pair within a cluster is not listed
MOST = 20_000_000  # pairs within clusters, at most
DRAWS = 4000  # from the posterior distribution; the quantiles then vary by less than a tenth of the interval

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Quality:
    """Expected scores of the joins of a result.

    Attributes
    ----------
    f1, precision, recall : float
        Their means.
    low, high : float
        The interval of F1: it contains F1 with the probability `level`.
    level : float
    answers : int
        The answers that it rests on.
    """

    f1: float
    low: float
    high: float
    precision: float
    recall: float
    level: float
    answers: int

    def __str__(self) -> str:
        scores = f"precision {self.precision:.3f}, recall {self.recall:.3f}"
        return (
            f"F1 {self.f1:.3f} ({self.low:.3f} to {self.high:.3f}, {self.level:.0%}; "
            f"{plural(self.answers, 'answer')}), {scores}"
        )


@known_arguments
def random_pairs(
    problem: Any,
    result: Any,
    n: int = 100,
    *,
    seed: int = 0,
    records: Any = None,
    id: str | None = None,
    library: str | None = None,
) -> Any:
    """Pairs at random, from whose answers :func:`expected_f1` estimates how good a result is.

    Parameters
    ----------
    problem, result, records, id, library
        As for :func:`graphpart.questions`. If chosen questions have been answered, take the problem with these answers.
    n : int
        The number of pairs; a few more if there are many strata.
    seed : int

    Returns
    -------
    DataFrame
        `left`, `right`, the columns of the records, `decision` (what the result says), and `weight`: how many pairs of
        the problem each of them stands for. The order is random.

    Raises
    ------
    InvalidProblem
        If there are no pairs, or more than 20 million within clusters.

    Notes
    -----
    O(m log m) for m pairs that are listed or together.

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3)], [-2.0, 0.5, -3.0])
    >>> len(random_pairs(p, gp.solve(p), 3)["left"])
    3
    """
    p = problem_of(problem)
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InvalidOption(f"n is {n!r}: expected a number of pairs of at least 1")
    strata = _Strata(p, p.labels(result))
    rng = np.random.default_rng(seed)
    some = []
    for k, size in enumerate(strata.allocation(int(n)).tolist()):
        some.append(rng.choice(np.flatnonzero(strata.stratum == k), size, replace=False))
    at = rng.permutation(np.concatenate(some)).astype(np.int64)
    if not len(at):
        raise InvalidProblem("there is no pair to ask about: all pairs that the problem lists are decided beforehand")
    drawn = np.bincount(strata.stratum[at], minlength=len(strata.sizes))
    pairs = strata.pairs[at]
    columns = sides_of(p, pairs, record_columns(p, problem, result, records, id))
    columns["decision"] = np.where(strata.together[at], "together", "apart")
    return Columns(columns | {"weight": (strata.sizes / np.maximum(drawn, 1))[strata.stratum[at]]}).to_frame(library)


@known_arguments
def expected_f1(problem: Any, result: Any, answers: Any, *, level: float = 0.9, seed: int = 0) -> Quality:
    """The expected F1 of the joins of a result, with an interval, from answers about pairs at random.

    Parameters
    ----------
    problem, result
        Those that :func:`random_pairs` was called with. The result must not have been made with these answers: it would
        be right about them. Take them for the next result.
    answers : DataFrame or mapping
        The pairs of :func:`random_pairs`, with a column `answer`. No other answers: pairs that were chosen
        are not representative, and belong into the problem.
    level : float
        The probability of the interval.
    seed : int
        Of the draws from the posterior distribution.

    Returns
    -------
    Quality

    Raises
    ------
    InvalidProblem
        If the table is not as described, has a pair that cannot be drawn, or is one of chosen questions.
    InvalidOption
        If the level is not between 0 and 1.

    Notes
    -----
    O(m log m) for m pairs that are listed or together. Pairs that are neither are not looked at: the recall is that
    among pairs that were compared. On six tables of 2,000 generated people, with 15 draws of about 120 pairs each, the
    intervals of 90% contained the F1 of these pairs in 88 of 100, that of all pairs in 87; their mean width was 0.10.

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3)], [-2.0, 0.5, -3.0])
    >>> said = {"left": [0, 2, 1], "right": [1, 3, 2], "answer": ["together", "together", "apart"]}
    >>> print(expected_f1(p, gp.solve(p), said))
    F1 1.000 (1.000 to 1.000, 90%; 3 answers), precision 1.000, recall 1.000
    """
    if not 0 < level < 1:
        raise InvalidOption(f"level is {level!r}: expected a probability between 0 and 1")
    p = problem_of(problem)
    given, named = answers_of(p, answers), table_of(answers).columns
    if "chance" in named and "weight" not in named:
        raise InvalidProblem(
            "answers are about questions that were chosen, since they have a chance: expected pairs at random, "
            "gp.answers.random_pairs(problem, result), answered"
        )
    strata = _Strata(p, p.labels(result))
    keys = keys_of_pairs(given.pairs[:, 0], given.pairs[:, 1], p.n)
    known = keys_of_pairs(strata.pairs[:, 0], strata.pairs[:, 1], p.n)
    missing = ~np.isin(keys, known)
    if missing.any():
        a, b = given.pairs[int(np.argmax(missing))].tolist()
        raise InvalidProblem(
            f"answers has {p.nodes[a]!r} and {p.nodes[b]!r}, which is decided beforehand or was not compared: expected "
            "the pairs of random_pairs for this problem and result"
        )
    order = np.argsort(known)
    at = order[np.searchsorted(known, keys, sorter=order)]
    said = given.said != NOT_KNOWN
    if not said.any():
        raise InvalidProblem("answers has no answer that is together or apart: expected some")
    stratum, same = strata.stratum[at[said]], given.said[said] == TOGETHER
    count = np.bincount(stratum, minlength=len(strata.sizes))
    joined = np.bincount(stratum, same, len(strata.sizes))
    rng = np.random.default_rng(seed)
    expected = np.clip(strata.expected, 1e-6, 1 - 1e-6)
    share = rng.beta(joined + expected, count - joined + 1 - expected, (DRAWS, len(count)))
    belong = joined + share * (strata.sizes - count)  # those that were not asked are uncertain
    right = belong[:, strata.of_joins].sum(axis=1) + strata.known_joins
    true = belong.sum(axis=1) + strata.known_joins
    found = float(strata.sizes[strata.of_joins].sum()) + strata.known_joins
    f1 = 2 * right / np.maximum(found + true, 1e-300)
    low, high = np.quantile(f1, [(1 - level) / 2, (1 + level) / 2])
    precision, recall = right / max(found, 1e-300), right / np.maximum(true, 1e-300)
    return Quality(
        float(f1.mean()),
        float(low),
        float(high),
        float(precision.mean()),
        float(recall.mean()),
        float(level),
        int(np.count_nonzero(said)),
    )


class _Strata:
    """The pairs that count, their strata, and what costs let expect of these.

    Attributes
    ----------
    pairs : ndarray of int64, shape (k, 2)
    together : ndarray of bool, shape (k,)
    stratum : ndarray of int64, shape (k,)
    sizes : ndarray of int64; expected : ndarray of float64
        Of each stratum, the number of pairs, and the expected share of pairs that belong together.
    of_joins : ndarray of bool
        Which strata have pairs that the result has together.
    known_joins : int
        Pairs that are required together.
    """

    def __init__(self, p: SetPartition, labels: Labels) -> None:
        u, v, cost = source_of(p)._listed()
        classes = p._must_join_classes()
        within = pairs_within(labels, None, MOST)
        if within is None:
            raise InvalidProblem(f"there are more than {MOST} pairs within clusters: expected fewer")
        listed, inside = keys_of_pairs(u, v, p.n), keys_of_pairs(*within, p.n)
        more = ~np.isin(inside, listed)
        unlisted = int(more.sum())
        left = np.concatenate([u, within[0][more]]).astype(np.int64)
        right = np.concatenate([v, within[1][more]]).astype(np.int64)
        bits = np.concatenate([cost / bit_of(p), np.full(unlisted, np.nan)])
        together = labels[left] == labels[right]
        required = classes[left] == classes[right]
        self.known_joins = int(required.sum())
        free = ~required & ~np.isposinf(bits)
        left, right, bits, self.together = left[free], right[free], bits[free], together[free]
        self.pairs = np.stack([left, right], 1)
        interval = np.where(np.isnan(bits), len(EDGES) + 1, np.digitize(bits, EDGES))
        self.stratum: Integers = interval + np.where(self.together, len(EDGES) + 2, 0)
        count = 2 * (len(EDGES) + 2)
        self.sizes: Integers = np.bincount(self.stratum, minlength=count)
        self.of_joins = np.arange(count) >= len(EDGES) + 2
        likely = np.where(np.isnan(bits), TOGETHER_EXPECTED, chance_otherwise(bits))
        likely = np.where(self.together, (likely + TOGETHER_EXPECTED) / 2, likely / 2)
        self.expected: Floats = np.bincount(self.stratum, likely, count) / np.maximum(self.sizes, 1)

    def allocation(self, n: int) -> Integers:
        """How many pairs of each stratum are drawn."""
        spread = self.sizes * np.maximum(np.sqrt(self.expected * (1 - self.expected)), SMALLEST)
        wanted = np.maximum(np.round(n * spread / max(float(spread.sum()), 1e-300)), LEAST).astype(np.int64)
        return np.asarray(np.minimum(wanted, self.sizes), np.int64)
