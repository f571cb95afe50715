"""What a relaxation does for the tree of `branch_and_cut`.

The tree knows nodes by their bounds only. What is decided in a node, and what its halves start from, is known to the
relaxation.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Protocol

from graphpart.maximum_cut.signed_graph import Sides
from graphpart.stopping import Stopping

__all__ = ["Bounding", "Step"]


class Step(Enum):
    """What follows from a round at a node whose bound is not enough."""

    GO_ON = "another round"
    DIVIDE = "division"
    CLOSE = "nothing: its sides of least cost are known"


class Bounding(Protocol):
    """A relaxation of the current node.

    Attributes
    ----------
    bound : float
        No sides that belong to the current node cost less.
    work : float
        All rounds so far, in iterations of the simplex method, or what takes about as long.
    needs : float
        Seconds of the next round, if it cannot be interrupted; else 0.
    dives : bool
        Whether the likelier half is next after a division, since the relaxation goes on from where it is with less
        work.
    """

    bound: float
    needs: float
    dives: bool

    @property
    def work(self) -> float: ...

    def limit(self, work: float) -> None:
        """Interrupt a round when `work` exceeds this."""

    def enter(self, start: Any, decision: Any) -> bool:
        """Make a half of a node the current one; False if no sides agree with what is decided there."""

    def solve(self) -> bool:
        """One round, which may raise the bound; whether there are values for `sides`."""

    def sides(self) -> Sides:
        """Sides that agree with the values of the last round, as far as sides can."""

    def advance(self, cost: float, stopping: Stopping) -> Step:
        """Prepare the next round, if better sides than those of a cost are wanted."""

    def halves(self) -> tuple[Any, Any, Any] | None:
        """What both halves start from, the decision of the likelier one, and that of the other; None if all is decided.

        The first is `start` of `enter`, the others are `decision`.
        """
