"""A multi-armed bandit: a choice between several ways to proceed, by the gain per work of each, without the clock."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Credit"]


class Credit:
    """The gain and the work of each way, where recent trials count most.

    A way is chosen with a probability that grows with its gain per work; a share `floor` of the probability is divided
    equally. As long as no way has gained anything, all have the same probability. The probabilities depend only on the
    recorded gains and work, in their order.

    Parameters
    ----------
    count : int
        Number of ways.
    kept : float
        Share of gain and work that is kept each time a way is tried.
    floor : float
        Share of the choices that does not depend on gains.

    Examples
    --------
    >>> credit = Credit(2, kept=0.9, floor=0.1)
    >>> credit.learn(0, gain=0.0, work=1.0)
    >>> credit.learn(1, gain=5.0, work=1.0)
    >>> [round(share, 3) for share in credit.shares().tolist()]
    [0.05, 0.95]
    """

    def __init__(self, count: int, kept: float, floor: float) -> None:
        self.kept, self.floor = kept, floor
        self.gain, self.work = np.zeros(count), np.zeros(count)

    def learn(self, way: int, gain: float, work: float) -> None:
        """Record the gain of a way and the work that it took."""
        self.gain[way] = self.kept * self.gain[way] + gain
        self.work[way] = self.kept * self.work[way] + work

    def rates(self) -> NDArray[np.float64]:
        """Gain per work; for ways that were not tried yet, the best rate of the others."""
        known = self.work > 0
        rates = np.divide(self.gain, self.work, out=np.zeros(len(self.gain)), where=known)
        rates[~known] = rates.max(initial=0.0) or 1.0
        return rates

    def shares(self) -> NDArray[np.float64]:
        """The probability of each way."""
        rates = self.rates()
        total = float(rates.sum())
        equal = np.full(len(rates), 1.0 / len(rates))
        return equal if total <= 0 else self.floor * equal + (1 - self.floor) * rates / total

    def choose(self, rng: np.random.Generator) -> int:
        """Draw a way at random, with the probabilities `shares`."""
        shares = np.cumsum(self.shares())
        return int(min(np.searchsorted(shares, rng.random() * shares[-1], side="right"), len(shares) - 1))
