"""The origin of the costs of a problem: a column of scores, or a grid of affinities.

Doubts and reports show the rows of the frame that a problem was made from, to which the problem keeps a reference.
Where there is no frame, or no row, a score is computed from its cost, which is a monotone function of it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.columns import of_both

__all__ = ["Fields", "Origin", "chance_of", "chance_otherwise"]


@dataclass(frozen=True)
class Fields:
    """Columns of the elements, such as names and addresses, of which a pair shows those of both.

    Attributes
    ----------
    names : sequence of n hashables
    columns : mapping from str to sequence of n
    """

    names: Sequence[Hashable]
    columns: Mapping[str, Sequence[Any]]

    def of_pairs(self, pairs: Sequence[tuple[Hashable, Hashable]]) -> dict[str, NDArray[Any]]:
        """For each column, the values of the left and of the right elements. O(n + pairs)

        Examples
        --------
        >>> Fields(["a", "b"], {"town": ["Rome", "Oslo"]}).of_pairs([("b", "a")])
        {'town_left': array(['Oslo'], dtype=object), 'town_right': array(['Rome'], dtype=object)}
        """
        index = {name: k for k, name in enumerate(self.names)}
        places = np.array([(index[a], index[b]) for a, b in pairs], np.int64).reshape(-1, 2)
        return of_both(self.columns, places)


@dataclass(frozen=True)
class Origin:
    """The origin of costs.

    Attributes
    ----------
    kind : {"cost", "weight", "similarity", "probability"}
        The value that was given for each pair.
    column, left, right : hashable or None
        The columns of the frame: of the values, and of the two elements.
    threshold, prior : float
        Of similarities and probabilities.
    shape : tuple of int or None
        Of the grid of pixels or voxels.
    table : Table or None
        The frame, as it was given; left out when the problem is pickled.
    fields : Fields or None
        Of the elements, if these are records; left out when the problem is pickled.
    shared : bool
        Whether the scores of all pairs come from a comparison of the same records, so that those of the pairs of two
        clusters err together.
    """

    kind: str = "cost"
    column: Hashable = None
    left: Hashable = None
    right: Hashable = None
    threshold: float = 0.5
    prior: float = 0.5
    shape: tuple[int, ...] | None = None
    table: Any = field(default=None, repr=False, compare=False)
    fields: Fields | None = field(default=None, repr=False, compare=False)
    shared: bool = False

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "table": None, "fields": None}

    def scores(self, costs: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """The scores with these costs, None where costs were given; of pairs in several rows, that of the sum.

        Examples
        --------
        >>> Origin("probability").scores(np.array([-2.0, 0.0])).round(9).tolist()
        [0.8, 0.5]
        """
        if self.kind == "weight":
            return 0.0 - costs
        if self.kind == "similarity":
            return self.threshold - costs
        if self.kind != "probability":
            return None
        return chance_otherwise(costs - self.shift)

    @property
    def shift(self) -> float:
        """The constant that threshold and prior add to the cost of a probability, in bits."""
        return math.log2(self.threshold / (1 - self.threshold)) - math.log2(self.prior / (1 - self.prior))


def chance_of(origin: Any, doubt: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """The probability of a decision otherwise, if it is this or that; None unless costs are bits of evidence.

    It is above one half where the doubt is negative: the change is then more probable than what is.

    A rise of the cost by d bits is a partition that is 2**d times less probable. With a threshold other than 1/2, costs
    are no longer bits of evidence alone.
    """
    if origin is None or origin.kind != "probability" or origin.threshold != 0.5:
        return None
    return chance_otherwise(doubt)


def chance_otherwise(bits: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probability that a decision is wrong that has so many bits of evidence: 1 / (1 + 2**bits)."""
    with np.errstate(over="ignore"):
        return np.asarray(1.0 / (1.0 + np.exp2(bits)), np.float64)
