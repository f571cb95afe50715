"""From probabilities that pairs belong together to costs: log-odds, with a prior, a threshold, and clipping."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpart.errors import InvalidOption, InvalidProblem, known_arguments, warn
from graphpart.kernels.elementary import log
from graphpart.partition.inputs.arrays import float_array

__all__ = ["CLIP", "Meaning", "costs_from_probabilities"]

ROUNDING = 1e-6  # a value so little below 0 or above 1 is 0 or 1, as computed in single precision
CLIP = 1e-6  # a cost is then at most 20 bits: 20 pairs with a probability of 1/3 outweigh it
MANY = 0.01  # share of requirements that is worth a warning


@known_arguments
def costs_from_probabilities(
    probabilities: ArrayLike, *, threshold: float = 0.5, prior: float = 0.5, clip: float | None = None
) -> NDArray[np.float64]:
    """Costs of pairs from the probabilities that their two elements belong together.

    The cost of a pair with probability p is its log-odds of being apart, in bits:

        log2((1 - p) / p)  +  log2((1 - prior) / prior)  +  log2(threshold / (1 - threshold)).

    With the defaults only the first term is not 0: p = 1/2 costs 0, p = 2/3 costs -1, p = 4/5 costs -2. The partition
    of least cost is then the most probable one, if the decisions on pairs are independent given that they form a
    partition.

    Parameters
    ----------
    probabilities : array_like of float
        From 0 to 1, of any shape.
    threshold : float
        The probability with cost 0; pairs with a larger probability attract. Default 1/2. Raise it for fewer and more
        certain joins.
    prior : float
        The share of joins among the pairs of the problem, if `probabilities` come from a model that was trained on
        equally many joins and cuts. Default 1/2: probabilities are taken as they are.
    clip : float, optional
        Probabilities below `clip` are raised to `clip`, and those above ``1 - clip`` are lowered to it, so that no cost
        is infinite. Otherwise, probabilities that were rounded to 0 and 1 would become requirements, which no other
        evidence can overrule. For values with two decimals, use 0.005, since values below it were rounded to 0.
        Default: 1e-6, with a warning if a probability is 0 or 1. ``clip=0`` leaves probabilities unchanged: pairs with
        p = 1 are then required together, pairs with p = 0 apart.

    Returns
    -------
    ndarray of float64
        The costs, in the shape of `probabilities`. The costs of :class:`graphpart.learn.LogisticRegression` have the
        same unit.

    Raises
    ------
    InvalidProblem
        If a value is not a number from 0 to 1; the message names the first one.
    InvalidOption
        If `threshold` or `prior` is not between 0 and 1, or `clip` not from 0 to below 1/2.

    Warns
    -----
    GraphPartWarning
        If a 0 or 1 is clipped and `clip` was not given, or if, with ``clip=0``, more than 1% of all pairs become
        requirements.

    Examples
    --------
    >>> costs_from_probabilities([0.5, 0.8, 0.2]).round(9).tolist()
    [0.0, -2.0, 2.0]
    >>> costs_from_probabilities([0.5, 0.8, 0.2], threshold=0.8).round(9).tolist()
    [2.0, 0.0, 4.0]
    """
    return checked_costs(probabilities, threshold, prior, clip, "probability {0} is {1}".format)


def checked_costs(
    probabilities: ArrayLike, threshold: float, prior: float, clip: float | None, place: Any
) -> NDArray[np.float64]:
    """The costs; ``place(index, value)`` begins the message about a value that is no probability."""
    for name, value in (("threshold", threshold), ("prior", prior)):
        if not isinstance(value, Real) or not 0 < value < 1:
            raise InvalidOption(f"{name} is {value!r}: expected a probability between 0 and 1")
    given, clip = clip is not None, CLIP if clip is None else clip
    if not isinstance(clip, Real) or not 0 <= clip < 0.5:
        raise InvalidOption(f"clip is {clip!r}: expected a number from 0 to below 0.5")
    p = float_array("probabilities", probabilities, copy=True)
    least, most = p.min(initial=0.5), p.max(initial=0.5)
    if -ROUNDING <= least < 0 or 1 < most <= 1 + ROUNDING:
        p[(p < 0) & (p >= -ROUNDING)], p[(p > 1) & (p <= 1 + ROUNDING)] = 0.0, 1.0
        least, most = p.min(), p.max()
    if not (least >= 0 and most <= 1):  # also if one is NaN
        at = np.unravel_index(int(np.argmin((p >= 0) & (p <= 1))), p.shape)
        index = at[0] if len(at) == 1 else tuple(int(i) for i in at)
        hint = "; of percentages, divide by 100" if least >= 0 and 1 < most <= 100 else ""
        raise InvalidProblem(f"{place(index, p[at])}: expected a probability from 0 to 1{hint}")
    if (least == 0 or most == 1) and not (clip and given):
        zeros, ones = int(np.count_nonzero(p == 0)), int(np.count_nonzero(p == 1))
        _warn(zeros, ones, p.size, float(clip))
    if clip:
        np.clip(p, clip, 1 - clip, out=p)
    with np.errstate(divide="ignore"):
        odds = np.asarray((1 - p) / p)
    required = np.isinf(odds)
    odds[required] = 1.0
    costs: NDArray[np.float64] = log(odds)
    costs /= math.log(2)
    costs[required] = np.inf
    shift = _log_odds(threshold) - _log_odds(prior)
    if shift:
        costs += shift
    costs += 0.0  # no negative zeros
    return costs


def _log_odds(p: float) -> float:
    return float(log(p / (1 - p))) / math.log(2)


def _warn(zeros: int, ones: int, size: int, clip: float) -> None:
    found = f"probabilities that are exactly 1: {ones}, exactly 0: {zeros}"
    if clip:
        text = (
            f"{found}; taken as {1 - clip:.10g} and {clip:g}; if they were rounded, pass half of the last decimal as "
            "clip; clip=0 requires these pairs together and apart"
        )
    elif zeros + ones > MANY * size:
        text = f"{found}, of {size} pairs; as clip=0, these pairs are required together and apart"
    else:
        return
    warn(text)


@dataclass(frozen=True)
class Meaning:
    """The meaning of the numbers of pairs, and the costs made from them.

    Attributes
    ----------
    kind : {"cost", "weight", "similarity", "probability"}
    threshold, prior, clip : float or None
        Of similarities and probabilities, see :func:`costs_from_probabilities`; None where they are not given.
    """

    kind: str
    threshold: float | None = None
    prior: float | None = None
    clip: float | None = None

    @property
    def limit(self) -> float:
        """The threshold, by default 1/2."""
        return 0.5 if self.threshold is None else self.threshold

    @property
    def odds(self) -> float:
        """The prior, by default 1/2."""
        return 0.5 if self.prior is None else self.prior

    def costs(self, values: NDArray[np.float64], place: Any) -> NDArray[np.float64]:
        """The costs; ``place(index, value)`` begins the message about a value that is no probability.

        Raises
        ------
        InvalidOption
            If there is no such kind, or a threshold is missing, or something has no meaning for this kind.
        """
        if self.kind == "probability":
            return checked_costs(values, self.limit, self.odds, self.clip, place)
        if self.odds != 0.5 or self.clip is not None:
            raise InvalidOption(f"prior and clip are for probabilities: expected none with {self.kind}")
        limit = self.threshold
        if self.kind == "similarity":
            if limit is None:
                raise InvalidOption(
                    "similarity without threshold: expected the similarity from which on a pair attracts"
                )
            if not isinstance(limit, Real) or not math.isfinite(limit):
                raise InvalidOption(f"threshold is {limit!r}: expected a finite number")
            similar: NDArray[np.float64] = float(limit) - values
            return similar
        if self.kind not in ("cost", "weight"):
            raise InvalidOption(f"kind is {self.kind!r}: expected cost, weight, similarity or probability")
        if limit is not None:
            raise InvalidOption(f"threshold is for similarities and probabilities: expected none with {self.kind}")
        return values if self.kind == "cost" else 0.0 - values
