"""The objective of training: the negative log-likelihood or log-pseudolikelihood of the labels, plus the prior.

    phi(theta) = - sum over structures of log P(y | x; theta)  +  ||theta||^2 / (2 sigma^2)

in natural logarithms (Lafferty, McCallum & Pereira 2001). Its gradient is the expected attributes minus those of the
labels. Exact expectations are computed by messages on forests (`_losses`), or by elimination if there are cycles and
the width is small. The pseudolikelihood (Besag 1975), a product of the probabilities of each label given its
neighbours, needs neither. Both functions are convex.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.bucket_elimination import elimination_order, marginals
from graphpart.crf.exact_solvers.min_sum import with_messages
from graphpart.crf.problem import FactorGraph
from graphpart.errors import InvalidOption
from graphpart.learn.random_fields import _losses
from graphpart.learn.random_fields.structures import Packed
from graphpart.learn.random_fields.templates import Template

__all__ = ["Likelihood", "Pseudolikelihood", "expectations"]

Array = NDArray[np.float64]
Labels = NDArray[np.int32]
SUMS = 2.0**30  # largest number of entries of the sums of elimination, times pairs of labels
MEMORY = 2**29  # largest number of bytes for the messages of elimination; its tables may take twice as many


class Likelihood:
    """The exact conditional likelihood."""

    def __init__(self, template: Template, data: Packed, labels: Labels, sigma: float) -> None:
        self.template, self.data, self.prior = template, data, 1.0 / (sigma * sigma)
        self.labels = labels
        self.numbers = template.tie[labels[data.pairs[:, 0]], labels[data.pairs[:, 1]]]
        self.rows, self.pair_rows = np.arange(data.n), np.arange(len(data.pairs))
        self.order = None if data.forest is not None else order_of(template, data)

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """phi and its gradient."""
        scores, numbers = self.template.scores(self.data, theta)
        # Sums without the BLAS, which would wake its threads for them.
        pair_rows = self.pair_rows if self.data.pair_features is not None else np.zeros_like(self.pair_rows)
        chosen = float(scores[self.rows, self.labels].sum()) + float(numbers[pair_rows, self.numbers].sum())
        log_z, probabilities, expected = expectations(self.template, self.data, scores, numbers, self.order)
        probabilities[self.rows, self.labels] -= 1.0
        np.subtract.at(expected, (pair_rows, self.numbers), 1.0)
        gradient = self.template.gradient(self.data, probabilities, expected)
        gradient += self.prior * theta
        return log_z - chosen + 0.5 * self.prior * float(theta @ theta), gradient


class Pseudolikelihood:
    """The likelihood of each label given those of its neighbours."""

    def __init__(self, template: Template, data: Packed, labels: Labels, sigma: float) -> None:
        self.template, self.data, self.labels, self.prior = template, data, labels, 1.0 / (sigma * sigma)

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """phi and its gradient."""
        scores, numbers = self.template.scores(self.data, theta)
        derivative = np.empty_like(numbers)
        loss = _losses.losses(scores, numbers, self.template.tie, self.data, self.labels, derivative)
        gradient = self.template.gradient(self.data, scores, derivative)
        gradient += self.prior * theta
        return loss + 0.5 * self.prior * float(theta @ theta), gradient


def expectations(
    template: Template, data: Packed, scores: Array, numbers: Array, order: list[int] | None = None, back: bool = True
) -> tuple[float, Array, Array]:
    """(log Z, probabilities of labels, expected counts of the numbers of pairs); `scores` are overwritten.

    Without `back`, only log Z has a meaning.
    """
    if data.forest is None:
        return _by_elimination(template, data, scores, numbers, order)
    if template.rules is not None:
        return by_messages(template, data, scores, numbers)
    expected = np.zeros_like(numbers)
    log_z, spread = _losses.shift(scores)
    if len(numbers) == 1:
        high = float(numbers[0, template.tie].max(initial=-math.inf))
        range_of_pair = high - float(numbers[0, template.tie].min(initial=math.inf)) if template.labels else 0.0
        if len(data.pairs):
            spread += range_of_pair * (1 + np.bincount(data.pairs.ravel(), minlength=data.n))
            log_z += high * len(data.pairs)
        shifted = numbers - high
    else:
        used = np.unique(template.tie)
        highs = numbers[:, used].max(axis=1)
        ranges = highs - numbers[:, used].min(axis=1)
        for end in (0, 1):
            spread += np.bincount(data.pairs[:, end], weights=ranges, minlength=data.n)
        spread += ranges.max(initial=0.0)
        log_z += math.fsum(highs.tolist())
        shifted = numbers - highs[:, None]
    # Without the last column if no pair of labels selects it: it may be large then.
    if spread.max(initial=0.0) >= 600.0:  # exponentials stay normal numbers, also after multiplications
        rest, probabilities, expected = by_messages(template, data, scores, shifted)
        return log_z + rest, probabilities, expected
    with np.errstate(over="ignore"):
        np.exp(scores, out=scores)
        np.exp(np.minimum(shifted, 0.0, out=shifted), out=shifted)
    log_z += _losses.sum_product(scores, shifted, template.tie, data, expected, back)
    return log_z, scores, expected


def by_messages(template: Template, data: Packed, scores: Array, numbers: Array) -> tuple[float, Array, Array]:
    """Expectations on forests for any scores: sum-product in logarithms, several times as slow."""
    L, n = template.labels, data.n
    tables = template.tables(numbers)  # one, or one for each pair
    costs = np.broadcast_to(-tables, (len(data.pairs), L, L))
    f = FactorGraph.from_arrays(np.full(n, L), [(np.arange(n)[:, None], -scores), (data.pairs, costs)])
    found, messages = with_messages(f)
    sent = -messages.to_factor.reshape(-1, L)[n:]  # by the ends of pairs, after those to unary factors
    together = tables + sent[::2, :, None] + sent[1::2, None, :]
    together = np.exp(together - together.max(axis=(1, 2), keepdims=True, initial=-math.inf))
    together /= together.sum(axis=(1, 2), keepdims=True)
    probabilities = found.probabilities.flat.reshape(n, L)
    return found.log_z, probabilities, _counts(template, together.reshape(-1, L * L), shared=len(numbers) == 1)


def _counts(template: Template, together: Array, shared: bool) -> Array:
    """The expected count of each number of pairs, from the probabilities of pairs of labels."""
    expected = np.zeros((len(together), template.numbers))
    for k, number in enumerate(template.tie.ravel().tolist()):
        expected[:, number] += together[:, k]
    return expected.sum(axis=0, keepdims=True) if shared else expected


def order_of(template: Template, data: Packed) -> list[int]:
    """An order of elimination in which pairs of labels come first; raises InvalidOption if it takes too much memory."""
    L, m = template.labels, len(data.pairs)
    if 8 * m * L**4 > 2 * MEMORY:
        raise InvalidOption(
            f"the structures have cycles, {m} pairs and {L} labels, too many for exact probabilities: "
            "expected training='pseudolikelihood' or 'max-margin'"
        )
    f = FactorGraph.from_arrays(np.full(data.n, L, np.int32), [(data.pairs, np.broadcast_to(0.0, (m, L, L)))])
    order = elimination_order(f)
    if not order.exact or order.entries * L * L > SUMS or order.memory_kept > MEMORY:
        raise InvalidOption(
            f"the structures have cycles that elimination cuts at width {order.width}, too much for exact "
            "probabilities: expected training='pseudolikelihood' or 'max-margin'"
        )
    return [*range(data.n, data.n + m), *order.indices.tolist()]


def _by_elimination(
    template: Template, data: Packed, scores: Array, numbers: Array, order: list[int] | None
) -> tuple[float, Array, Array]:
    """Expectations by elimination: each pair of labels is a variable, tied to both by a factor of 0 and inf."""
    L, m, n = template.labels, len(data.pairs), data.n
    costs = -template.tables(numbers).reshape(-1, L * L)  # one row, or one for each pair
    agree = np.full((L, L, L * L), np.inf)
    a, b = np.indices((L, L)).reshape(2, -1)
    agree[a, b, a * L + b] = 0.0
    both = np.arange(n, n + m)[:, None]
    f = FactorGraph.from_arrays(
        np.repeat([L, L * L], [n, m]),
        [
            (np.arange(n)[:, None], -scores),
            (both, np.broadcast_to(costs, (m, L * L))),
            (np.concatenate([data.pairs, both], axis=1), np.broadcast_to(agree, (m, *agree.shape))),
        ],
    )
    found = marginals(f, order=order)
    flat = found.probabilities.flat
    probabilities, together = flat[: n * L].reshape(n, L).copy(), flat[n * L :].reshape(m, L * L)
    return found.log_z, probabilities, _counts(template, together, shared=len(numbers) == 1)
