"""Parameters of the contestants of a hard component: estimated durations of their steps, and limits."""

from __future__ import annotations

from dataclasses import dataclass, field

from graphpart.crf.branch_and_bound.contestant import BranchingParameters

__all__ = ["ContestantParameters"]


@dataclass(frozen=True)
class ContestantParameters:
    """Estimated durations in seconds, limits, and shares of the time.

    The durations are those of a slow machine. They count until a step was measured. A step that is not begun because of
    its estimate would have been of little use.
    """

    entry: float = 2e-8  #: seconds per table entry for a step that reads all tables once
    operation: float = 5e-9  #: seconds per addition, for steps whose work grows with a third power
    late: float = 0.1  #: seconds that a proof at the end may take beyond twice the remaining time
    passed: float = 2.0**29  #: table entries of all iterations together, about, if there is no time limit
    relaxed: float = 2.0**20  #: largest number of table entries for mini-buckets and for mappings, per second left
    leading: float = 0.6  #: share of the time that strips may take before most others begin
    sweeps: float = 700.0  #: duration of the first round of search, in sweeps of annealing
    first_round: float = 0.1  #: share of the time above which the first round of search counts as long
    hard: float = 0.01  #: share of the first gap that has to be left by message passing before a long first round
    rounds: int = 40  #: largest number of rounds of search if there is no time limit
    idle: int = 6  #: rounds without gain in a row after which search ends, if there is no time limit
    branching: BranchingParameters = field(default_factory=BranchingParameters)  #: parameters of branch and bound
