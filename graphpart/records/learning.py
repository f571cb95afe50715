"""Match weights learned from answers about pairs that were chosen, not drawn at random.

The weight of a candidate becomes linear in what is known of the pair (logistic regression, `graphpart.learn`): its
present weight and the parts of it that come from each column; three similarities of the whole records, by their words
(cosine of inverse document frequencies), by their letters (groups of three), and by the rarest word that both have; and
for the weight and each of these, by how much the pair is below the best candidate of either record.

Pairs that are asked about are those on which little else decides, so their answers alone say nothing about sure pairs.
Candidates of all weights stand beside them, each as two samples: together with its present probability, and apart with
the rest. Those of one bit of weight count as much as one answer. So the first answers change little, and weights that
no answer is about stay as they are. If people err, the weight of an answer is the probability that it is right, by the
model (expectation maximisation; Dempster, Laird & Rubin 1977). Whether an unsure pair is asked about depends on what
the regression knows of it, and then logistic regression needs no weights for the choice (Zadrozny 2004). Questions
about clusters depend on other pairs, too; nothing is learned from their answers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.answers.given import NOT_KNOWN, TOGETHER, Answers
from graphpart.learn import LogisticRegression
from graphpart.machine import CHUNK
from graphpart.partition.inputs.arrays import keys_of_pairs
from graphpart.partition.inputs.origin import chance_otherwise

__all__ = ["WIDER", "answered", "candidates_of", "learned_weights", "similarities", "spread"]

WIDER = 10.0  # standard deviation of the present weight and the constant: without answers, weights stay as they are
ROUNDS = 4  # of expectation maximisation

Floats = NDArray[np.float64]
Integers = NDArray[np.integer[Any]]


def learned_weights(u: Integers, v: Integers, weight: Floats, known: Floats, given: Answers, error: float) -> Floats:
    """The weights of candidates after answers, in bits.

    Parameters
    ----------
    u, v : ndarray of int, shape (m,)
        Candidates.
    weight : ndarray of float64, shape (m,)
        The present weights.
    known : ndarray of float64, shape (m, k)
        What else is known of the candidates.
    given : Answers
        Those about pairs that are no candidates are not used.
    error : float
        The probability that an answer is wrong.
    """
    n = int(max(u.max(initial=0), v.max(initial=0), given.pairs.max(initial=0))) + 1
    rows = np.column_stack([weight, known])
    rows = np.column_stack([rows, *(_below_best(u, v, x, n) for x in (weight, *known.T[-3:]))])
    scale = rows.std(axis=0)
    rows = (rows - rows.mean(axis=0)) / np.where(scale > 0, scale, 1.0)
    rows = np.column_stack([rows, np.ones(len(rows))])
    rows[:, [0, -1]] *= WIDER
    keys = keys_of_pairs(u, v, n)
    at, said = answered(keys, np.argsort(keys), n, given)
    at, same = at[said != NOT_KNOWN], said[said != NOT_KNOWN] == TOGETHER
    some, share = spread(weight)
    samples = np.concatenate([some, some, at, at])
    decisions = np.concatenate([np.repeat([1, 0], len(some)), same, ~same]).astype(np.int8)
    belief = share * chance_otherwise(-weight[some]), share * chance_otherwise(weight[some])
    right = np.full(len(at), 1 - error)
    model = LogisticRegression()
    for _ in range(ROUNDS if error > 0 else 1):
        model.fit(rows[samples], decisions, np.concatenate([*belief, right, 1 - right]))
        bits = np.where(same, 1, -1) * model.decision_function(rows[at])
        right = chance_otherwise(-bits - np.log2(1 - error) + np.log2(max(error, 1e-300)))
    return model.decision_function(rows)


def candidates_of(result: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats, Floats]:
    """The candidates of a result of `match`: elements u and v, weights, and their parts, shape (m, columns)."""
    scores, place = result.scores, {name: k for k, name in enumerate(result.nodes)}
    u, v = (np.array([place[name] for name in scores.column(side).to_pylist()], np.int64) for side in ("left", "right"))
    parts = [scores.column(name).to_numpy().astype(np.float64) for name in scores.column_names if name[:3] == "mw_"]
    every = np.column_stack([np.empty((len(u), 0)), *parts])
    return u, v, scores.column("match_weight").to_numpy(), np.nan_to_num(every)


def answered(keys: Integers, order: Integers, n: int, given: Answers) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """The candidates about which there are answers, and what these say; `keys` are those of candidates, by `order`."""
    asked = keys_of_pairs(given.pairs[:, 0], given.pairs[:, 1], n)
    at = order[np.minimum(np.searchsorted(keys, asked, sorter=order), len(keys) - 1)]
    listed = keys[at] == asked
    return at[listed], given.said[listed]


def similarities(texts: list[str], u: Integers, v: Integers) -> Floats:
    """Of candidates: the cosines by words and by letters, and the weight of the rarest word of both, shape (m, 3)."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(token_pattern=r"[^\W_]+", sublinear_tf=True)
    letters = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3), sublinear_tf=True)
    by_word, by_letters = words.fit_transform(texts), letters.fit_transform(texts)
    has = (by_word > 0).astype(np.float64)
    rare = has.multiply(words.idf_ / words.idf_.max()).tocsr()
    out = np.empty((len(u), 3))
    step = CHUNK // 100  # records have some hundred words and groups of letters
    for start in range(0, len(u), step):
        part = slice(start, start + step)
        a, b = u[part], v[part]
        for column, x in enumerate((by_word, by_letters)):
            out[part, column] = np.asarray(x[a].multiply(x[b]).sum(axis=1)).ravel()
        out[part, 2] = rare[a].multiply(has[b]).max(axis=1).toarray().ravel()
    return out


def _below_best(u: Integers, v: Integers, x: Floats, n: int) -> Floats:
    """The difference of each candidate to the best candidate of either element."""
    best = np.full(n, -np.inf)
    for side in (u, v):
        np.maximum.at(best, side, x)
    return np.asarray(x - np.maximum(best[u], best[v]))


def spread(weight: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Candidates of all weights, at most 40 of each bit from -12 to 12, and of those below and above; their shares."""
    order = np.argsort(weight, kind="stable")
    parts = np.split(order, np.searchsorted(weight[order], np.arange(-12, 13)))
    some = [part[np.linspace(0, len(part) - 1, min(40, len(part))).astype(np.int64)] for part in parts]
    return np.concatenate(some), np.concatenate([np.full(len(part), 1 / max(len(part), 1)) for part in some])
