"""Which of several ways to take next, by what each has gained for its work: a bandit without a clock."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Credit"]


class Credit:
    """What some ways have gained, and the work that they took, recent ones counting most.

    A way is chosen with a probability that grows with its gain per work; the floor is divided equally. As long as
    nothing has gained anything, all are alike. Everything follows from what was learned, in its order.

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
        """Take note of what a way has gained by so much work."""
        self.gain[way] = self.kept * self.gain[way] + gain
        self.work[way] = self.kept * self.work[way] + work

    def rates(self) -> NDArray[np.float64]:
        """Gain per work; of what was not tried yet, the best of the others."""
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
        """A way at random, by their shares."""
        shares = np.cumsum(self.shares())
        return int(min(np.searchsorted(shares, rng.random() * shares[-1], side="right"), len(shares) - 1))
