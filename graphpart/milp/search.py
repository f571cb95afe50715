"""A solution of least cost and its proof, also where large costs drown small ones.

Solvers do not tell costs apart that differ by less than `RESOLUTION` times the largest. If this is more than the
allowed error of the solution, the costs are divided into large ones and small ones, and the program is solved in turns:

1. The whole program gives a solution. The claim of the solver counts less its resolution.
2. Variables with a large cost are fixed as in this solution. Among the small costs, the solver tells more apart.
3. A row forbids these values of the variables with a large cost. Unless the next solution, or the bound, shows that
   all others cost more, it begins again.

Variables are also fixed by reduced costs (`Program.fix`), so that there are often no large costs left.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

if TYPE_CHECKING:
    from graphpart.milp.program import Program

__all__ = ["EXACT", "UNPROVEN", "Search"]

Vector = NDArray[np.float64]

EXACT = 2.0**-50  # relative to the largest cost: the possible error of sums of costs
UNPROVEN = "the solver stopped at a limit of its own, or costs differ by more than it tells apart"


class Search(ABC):
    """A program, the cost of the best solution known, and the bound proven so far.

    Attributes
    ----------
    program : Program
    cost : float
        Of the best solution known, without `base`; ``inf`` if there is none.
    bound : float
        No better solution costs less.
    least : float
        An easy lower bound.
    base : float
        The additional cost of each solution.
    others : float
        The additional cost of other programs and constants.
    """

    program: Program
    stopping: Stopping
    cost: float
    bound: float
    least = 0.0
    base = others = 0.0

    @abstractmethod
    def solve_rounds(self) -> Vector | None:
        """Improve solution and bound within the bounds of the variables, until the bound is proven.

        Returns the last solution of an integer program; None if there is none, or the run was stopped.
        """

    @property
    def tolerance(self) -> float:
        """The largest allowed difference of the bound and the cost of an optimal solution.

        This is relative to the smallest of three numbers: the whole cost, the cost of the program, and its excess over
        `least`.
        """
        if self.program.step:
            return self.program.step / 2
        if not math.isfinite(self.cost):
            return 0.0
        own = self.cost + self.base
        scale = min(abs(own), abs(own + self.others), self.cost - self.least)
        return max(1e-7 * scale, EXACT * max(self.program.largest, abs(self.base)))

    @property
    def proven(self) -> bool:
        """Whether the bound shows that no solution is better than the one known."""
        return self.bound >= self.cost - self.tolerance

    def fix(self) -> None:
        """Fix variables that no better solution has otherwise."""
        if math.isfinite(self.cost):
            self.program.fix(self.cost + self.tolerance)

    def settle(self) -> None:
        """Search until the bound is proven, the run is stopped, or the solver is at its limits."""
        program, others = self.program, math.inf
        solution = self.solve_rounds()
        for _ in range(20):  # choices of values for large costs; then the search ends without a proof
            if self.proven or solution is None:
                break
            drowned = program.resolution > self.tolerance
            self.fix()
            large = program.drowning(self.tolerance)
            if not large.any():
                if not drowned:
                    break
                solution = self.solve_rounds()  # those with a large cost are fixed by now
                continue
            lower, upper, bound = program.lower.copy(), program.upper.copy(), self.bound
            chosen = np.round(solution)
            program.lower[large] = program.upper[large] = chosen[large]
            self.solve_rounds()
            program.lower[:], program.upper[:] = lower, upper
            others, self.bound = min(others, self.bound), bound
            if not others >= self.cost - self.tolerance:
                break
            program.exclude(chosen, large)
            solution = self.solve_rounds()
        self.bound = min(self.bound, others)
