"""What the contestants of a hard component may take, and what their steps cost."""

from __future__ import annotations

from dataclasses import dataclass, field

from graphpart.crf.branch_and_bound.contestant import BranchingParameters

__all__ = ["ContestantParameters"]


@dataclass(frozen=True)
class ContestantParameters:
    """Estimates in seconds for each entry of all tables, unless something else is said; limits; and shares of time.

    The estimates are those of a slow machine: what is not begun because of them would have been of no use.
    """

    nominal: float = 20.0  #: seconds that stand for those that are left where there is no limit
    preparing: float = 1e-8  #: to prepare message passing
    iteration: float = 1.2e-8  #: for an iteration of it, until one was measured
    certifying: float = 2e-8  #: for the bound in the end,
    late: float = 0.1  #: which may take so many seconds beyond the limit
    tightening: float = 5e-8  #: to tighten it once,
    cycle: float = 3e-9  #: for each path of two pairs, times labels^3,
    look: float = 0.01  #: and the seconds of iterations that may tighten it before the next look at the clock
    passed: float = 2.0**29  #: entries of all iterations, about, where there is no time limit,
    slice: int = 10  #: iterations after which these are counted
    pairs: float = 4.0  #: pairs for each variable from which on the semidefinite relaxation is tried
    rounding: float = 5e-9  #: for a round of it, for each cube of the number of variables, until one was measured
    leading: float = 0.6  #: share of the time that strips may have before others than message passing begin
    move: float = 2e-8  #: for an expansion, until one was measured
    modelling: float = 1.2e-8  #: to prepare search
    sweeps: float = 700.0  #: sweeps of annealing that take as long as the first round of search,
    short: float = 140.0  #: and as long as the least that it takes in a large factor graph
    first_round: float = 0.1  #: share of the time of the component that this may take without further ado,
    large_round: float = 0.75  #: and if message passing has come to rest
    hard: float = 0.01  #: with more than this share of the gap left
    rounds: int = 40  #: rounds of search where there is no time limit,
    idle: int = 6  #: of which so many in a row may find nothing
    relaxed: float = 2.0**21  #: the same for mini-buckets
    relaxing: float = 0.1  #: share of the time that is left for mini-buckets
    memory: int = 2**29  #: bytes for them
    branching: BranchingParameters = field(default_factory=BranchingParameters)  #: of branch and bound
