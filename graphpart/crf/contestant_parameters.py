"""What the contestants of a hard component may take, and what their steps cost."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ContestantParameters"]


@dataclass(frozen=True)
class ContestantParameters:
    """Estimates in seconds for each entry of all tables, unless something else is said; limits; and shares of time.

    The estimates are those of a slow machine: what is not begun because of them would have been of no use.
    """

    nominal: float = 20.0  #: seconds that stand for those that are left where there is no limit
    preparing: float = 1e-8  #: to prepare message passing
    iteration: float = 1.2e-8  #: for an iteration of it, until one was measured
    certifying: float = 2e-8  #: for the bound in the end
    tightening: float = 5e-8  #: to tighten it once
    passed: float = 2.0**29  #: entries of all iterations, about, where there is no time limit,
    slice: int = 10  #: iterations after which these are counted
    move: float = 2e-8  #: for an expansion, until one was measured
    modelling: float = 5e-8  #: to prepare search
    sweeps: float = 400.0  #: sweeps of annealing that take as long as the first round of search
    first_round: float = 0.75  #: share of the time that is left, that this may take at most
    rounds: int = 40  #: rounds of search where there is no time limit,
    idle: int = 6  #: of which so many in a row may find nothing
    shrinking: float = 1.2e-7  #: to prepare branch and bound
    preparation: float = 0.1  #: share of the time that is left for message passing before branch and bound
    first_nodes: float = 0.15  #: share of the time that is left for the first nodes
    renewing: float = 0.4  #: share of the time that is left, in parts of which a better bound at the root is looked for
    nodes: int = 20_000  #: where there is no time limit, at most,
    branched_in_all: float = 2.0**32  #: and this many entries of all tables times nodes
    branched: float = 2.0**20  #: entries of all tables for each second that is left, up to which it is tried
    relaxed: float = 2.0**21  #: the same for mini-buckets
    relaxing: float = 0.1  #: share of the time that is left for mini-buckets
    memory: int = 2**29  #: bytes for them
