"""The one judge of proofs: whether a lower bound meets a cost, so that a solution is called optimal.

A bound meets the cost if no solution can cost less by more than a *resolution*.

- If all costs are multiples of a step, the costs of all solutions are, too, so a bound that is less than one step below
  the cost meets it. Decimal fractions are multiples of their step up to an error of rounding, which is subtracted.
- Otherwise the resolution is the tolerance: a share of the costs that a solution pays. Bounds are rounded downwards at
  every operation, and first-order methods only come close to the best bound. A smaller difference is no gap.

The components of a problem are judged one by one. A sum of bounds meets the sum of the costs if each bound meets its
cost. The page on numerical tolerance of the documentation says the same for users.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from graphpart.common.steps import round_up

__all__ = ["TOLERANCE", "Judge", "judge_of"]

TOLERANCE = 2.0**-34  # share of the absolute costs that a solution pays; a smaller gap is a rounding error


@dataclass(frozen=True)
class Judge:
    """Decides whether a lower bound meets a cost of one problem.

    Attributes
    ----------
    tolerance : float
        A gap of at most this counts as rounding error, unless there is a step.
    step : float
        The costs of all solutions are multiples of this number; 0 if there is no such number.
    error : float
        The largest distance of a cost from a multiple of the step.

    Examples
    --------
    >>> Judge(tolerance=1e-6).meets(-3.0000001, -3.0), Judge(tolerance=1e-6).meets(-3.1, -3.0)
    (True, False)
    >>> Judge(step=0.5).meets(-3.4, -3.0), Judge(step=0.5).meets(-3.5, -3.0)
    (True, False)
    """

    tolerance: float = 0.0
    step: float = 0.0
    error: float = 0.0

    @property
    def resolution(self) -> float:
        """A bound that is at most this below the cost of a solution shows that no solution costs notably less."""
        return self.step * (1 - 1e-6) - 4 * self.error if self.has_step else self.tolerance

    @property
    def has_step(self) -> bool:
        """Whether costs are so near to multiples of the step that it counts, and not the tolerance."""
        return 8 * self.error < self.step

    def meets(self, bound: float, cost: float) -> bool:
        """Whether a lower bound shows that no solution costs less than this one."""
        return bound >= self.goal(cost)

    def goal(self, cost: float, parts: int = 1) -> float:
        """The least bound that meets a cost; one of several parts has its share of the tolerance.

        If the cost is large, the nearest number to the difference of cost and resolution may be a whole step away.
        """
        share = self.resolution if self.has_step else self.resolution / parts
        goal = cost - share
        return goal if not cost - goal > share else math.nextafter(goal, math.inf)

    def rounded(self, bound: float) -> float:
        """The bound, rounded up to the next multiple of the step if all costs are exact multiples."""
        return bound if self.error else round_up(bound, self.step)

    def cautious(self, bound: float) -> float:
        """A bound that holds up to rounding only, less most of the possible rounding error.

        If it meets the cost, the bound that is proven in exact arithmetic will in general meet it, too.
        """
        return bound - 0.75 * self.tolerance


def judge_of(step: float, error: float, tolerance: float) -> Judge:
    """The judge of a problem whose costs are multiples of a step (0: of none) up to an error.

    A solution that is called optimal may cost twice the error more than another one. If this is more than the
    tolerance, the step is of no use.
    """
    return Judge(tolerance, step, error) if 2 * error <= tolerance else Judge(tolerance)
