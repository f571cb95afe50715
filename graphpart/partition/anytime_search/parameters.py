"""What the strategies of the search are tuned by. Each was chosen on generated instances of other seeds than those that
are measured; no value depends on the name or the family of a problem.
"""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = [
    "AnnealingParameters",
    "FusionParameters",
    "PopulationParameters",
    "PortfolioParameters",
    "SearchParameters",
    "SlowParameters",
    "StartParameters",
    "TabuParameters",
]


@dataclass(frozen=True)
class AnnealingParameters:
    """Of rounds of annealing; heats are in moves to a worse partition per element in the first sweep."""

    work: float = 2e7  #: nanoseconds of a task at first
    sweeps: tuple[int, int] = (100, 1000)  #: fewest and most at first
    fewest: int = 30  #: sweeps, where more would take `longest`
    longest: float = 5e9  #: nanoseconds
    shortest: int = 60  #: sweeps of each run where a task is many
    heats: tuple[float, ...] = (0.3, 1.0, 0.1, 5.0)  #: in turn; which is best depends on the costs
    few: int = 300  #: sweeps up to which more heat, or another start, cannot be got rid of
    few_heats: tuple[float, ...] = (0.1, 0.3, 0.03, 0.01)  #: then
    cool_heats: tuple[float, ...] = (0.01, 0.03, 0.01, 0.1)  #: then, where elements have few neighbours
    cool: float = 0.05  #: heat after recombination


@dataclass(frozen=True)
class PopulationParameters:
    """Of rounds of populations."""

    young: int = 3  #: sweeps for each element, of each of the first members
    most_young: int = 3000  #: sweeps at most
    heat: float = 0.3  #: of these
    largest: float = 1e10  #: nanoseconds of these, up to which there are populations
    members: int = 16  #: at most, at first
    fewest: int = 4  #: at least
    share: float = 1 / 16  #: of the elements, as many members
    children: int = 6  #: of each member, about, before a population ends


@dataclass(frozen=True)
class FusionParameters:
    """Of rounds of fusion."""

    least: int = 200  #: elements from which on there is fusion
    noises: tuple[float, ...] = (0.1, 0.3, 0.03)  #: standard deviations, in mean absolute costs
    sweeps: tuple[int, ...] = (50,)  #: of annealing from all elements apart
    heats: tuple[float, ...] = (0.3, 1.0)  #: of it
    small_sweeps: int = 100  #: of annealing what two partitions agree on
    small_heats: tuple[float, ...] = (0.1, 0.3, 1.0)  #: of it
    work: float = 1e8  #: nanoseconds of a task at first
    steps: int = 8  #: of a task at most
    members: int = 2  #: of the pool, that a task fuses first
    region: int = 20_000  #: elements of a task at most
    kept: float = 0.7  #: of the credit of a proposal, each time it is tried
    floor: float = 0.1  #: share of the tries that each proposal gets


@dataclass(frozen=True)
class SlowParameters:
    """Of rounds of slow annealing."""

    sweeps: int = 50  #: of the first round; twice as many in each one that follows
    most: int = 2**20  #: sweeps
    heats: tuple[float, ...] = (0.1, 0.3, 0.1, 0.03)  #: in turn
    part: float = 0.25  #: of all work so far, that a round takes at most
    ahead: float = 3.0  #: rounds in which it has to come as low as the best partition, at the rate of the last


@dataclass(frozen=True)
class TabuParameters:
    """Of rounds of tabu search."""

    largest: int = 120  #: elements up to which there is a table of moves
    work: float = 1e7  #: nanoseconds of a task at first
    tenures: tuple[float, float] = (0.1, 0.3)  #: moves during which an element may not go back, for each element,
    least: int = 4  #: and in addition
    patience: tuple[float, float] = (8, 30)  #: moves without a new best partition, for each element, before a new start
    apart: float = 0.25  #: of the starts, but for the first of a round, with all elements apart
    levels: tuple[float, ...] = (0.5, 0.7, 1.0, 1.5)  #: that costs are limited to, in gains of an element


@dataclass(frozen=True)
class PortfolioParameters:
    """How rounds are given to strategies."""

    tasks: int = 4  #: of a round; not the number of threads, on which the result must not depend
    pool: int = 12  #: partitions kept,
    large: int = 100_000  #: and no more than there are pairs for each element, if there are more elements than this
    patience: int = 12  #: rounds without improvement, after which a run without any limit ends
    whole: int = (
        300_000  #: elements, beyond which there is annealing of regions only, where elements have few neighbours
    )
    polish: float = 8.0  #: and below which it improves what annealing finds
    slower: int = 4  #: rounds in a row without improvement, after which all takes longer,
    slower_later: int = 16  #: where there are populations
    alone: int = 16  #: rounds of annealing before others begin, unless two in a row find nothing better before
    wait: float = 0.5  #: of what its first round takes, as much work of others before a strategy begins
    fade: float = 0.8  #: of what a strategy has gained, for each of its rounds
    earned: float = 0.8  #: share of the time that goes by what strategies have gained; the rest by their shares;
    doubt: float = 0.5  #: how much of this is left when nothing has gained anything for long


@dataclass(frozen=True)
class StartParameters:
    """Of the local search before the first round."""

    chains: float = 12.0  #: neighbours on average, up to which pairwise Kernighan-Lin is the stronger start
    dense: int = 400  #: elements of a matrix, above which annealing takes the place of Kernighan-Lin
    sequences: int = 3  #: iterations of Kernighan-Lin, which gain nearly all that it would


@dataclass(frozen=True)
class SearchParameters:
    """All parameters of the search."""

    start: StartParameters = field(default_factory=StartParameters)
    portfolio: PortfolioParameters = field(default_factory=PortfolioParameters)
    annealing: AnnealingParameters = field(default_factory=AnnealingParameters)
    population: PopulationParameters = field(default_factory=PopulationParameters)
    fusion: FusionParameters = field(default_factory=FusionParameters)
    slow: SlowParameters = field(default_factory=SlowParameters)
    tabu: TabuParameters = field(default_factory=TabuParameters)
