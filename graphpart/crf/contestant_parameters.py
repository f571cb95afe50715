"""Parameters of the contestants of a hard component: estimated durations of their steps, and limits."""

from __future__ import annotations

from dataclasses import dataclass, field

from graphpart.crf.branch_and_bound.contestant import BranchingParameters

__all__ = ["ContestantParameters"]


@dataclass(frozen=True)
class ContestantParameters:
    """Estimated durations in seconds, limits, and shares of the time.

    The durations are those of a slow machine. A step that is not begun because of its estimate would have been of
    little use.
    """

    nominal: float = 20.0  #: seconds that are assumed to be left if there is no time limit
    preparing: float = 1e-8  #: seconds per table entry to prepare message passing
    iteration: float = 1.2e-8  #: seconds per table entry for an iteration of message passing, until one is measured
    certifying: float = 2e-8  #: seconds per table entry to certify the bound of message passing at the end
    late: float = 0.1  #: seconds that a proof at the end may take beyond twice the remaining time
    tightening: float = 5e-8  #: seconds per table entry to look for cycles that tighten message passing
    cycle: float = 3e-9  #: seconds per path of two pairs to look for cycles, divided by labels^3
    look: float = 0.01  #: seconds of tightening iterations between two looks at the clock
    passed: float = 2.0**29  #: table entries of all iterations together, about, if there is no time limit
    slice: int = 10  #: iterations of message passing after which their table entries are counted, without a time limit
    pairs: float = 4.0  #: smallest number of pairs per variable for which the semidefinite relaxation is tried
    rounding: float = 5e-9  #: seconds for a semidefinite round, divided by variables^3, until one is measured
    leading: float = 0.6  #: share of the time that odd cycles or strips may take before most others begin
    move: float = 2e-8  #: seconds per table entry for an expansion, until one is measured
    modelling: float = 1.2e-8  #: seconds per table entry to prepare search
    sweeps: float = 700.0  #: duration of the first round of search, in sweeps of annealing
    short: float = 140.0  #: shortest first round of search in a large factor graph, in sweeps of annealing
    first_round: float = 0.1  #: share of the time above which the first round of search counts as long
    large_round: float = 0.75  #: largest share of the time for a first round; a longer one is not begun
    hard: float = 0.01  #: share of the first gap that has to be left by message passing before a long first round
    rounds: int = 40  #: largest number of rounds of search if there is no time limit
    idle: int = 6  #: rounds without gain in a row after which search ends, if there is no time limit
    relaxed: float = 2.0**21  #: largest number of table entries for mini-buckets, per second that is left
    relaxing: float = 0.1  #: share of the remaining time for mini-buckets
    memory: int = 2**29  #: bytes for elimination by mini-buckets
    branching: BranchingParameters = field(default_factory=BranchingParameters)  #: parameters of branch and bound
