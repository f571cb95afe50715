"""The parameters of the strategies of the search.

They were chosen on generated instances of other seeds than those that benchmarks measure. No value depends on the name
or the family of a problem.
"""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = [
    "AnnealingParameters",
    "EvolutionParameters",
    "FusionParameters",
    "PopulationParameters",
    "PortfolioParameters",
    "PropagationParameters",
    "ReheatingParameters",
    "RestartParameters",
    "SearchParameters",
    "SlowParameters",
    "StartParameters",
    "TabuParameters",
    "TemperingParameters",
]


@dataclass(frozen=True)
class AnnealingParameters:
    """Parameters of rounds of annealing; a heat is the moves to a worse partition per element in the first sweep."""

    work: float = 2e7  #: nanoseconds of work of a task at first
    sweeps: tuple[int, int] = (100, 1000)  #: fewest and most sweeps of a task at first
    fewest: int = 30  #: fewest sweeps, if more would take `longest`
    longest: float = 5e9  #: nanoseconds of a task, see `fewest`
    shortest: int = 60  #: fewest sweeps of each run if a task is several runs
    heats: tuple[float, ...] = (0.3, 1.0, 0.1, 5.0)  #: heats of tasks in turn; the best one depends on the costs
    few: int = 300  #: up to so many sweeps, annealing does not recover from a high heat or another start
    few_heats: tuple[float, ...] = (0.1, 0.3, 0.03, 0.01)  #: heats up to `few` sweeps
    cool_heats: tuple[float, ...] = (
        0.01,
        0.03,
        0.01,
        0.1,
    )  #: heats up to `few` sweeps, if elements have few neighbours
    cool: float = 0.05  #: heat of annealing after recombination


@dataclass(frozen=True)
class PopulationParameters:
    """Parameters of rounds of populations."""

    young: int = 3  #: sweeps per element for each of the first members
    most_young: int = 3000  #: most sweeps for each of the first members
    heat: float = 0.3  #: heat of these sweeps
    largest: float = 1e10  #: nanoseconds of these sweeps, up to which there are populations
    members: int = 16  #: most members of the first population
    fewest: int = 4  #: fewest members
    share: float = 1 / 16  #: members per element, within these limits
    children: int = 6  #: estimated children per member before a population ends
    independent: int = 8  #: new partitions, of restarts or populations, before a round of populations, with restarts


@dataclass(frozen=True)
class FusionParameters:
    """Parameters of rounds of fusion."""

    least: int = 200  #: fewest elements of a problem for fusion
    noises: tuple[float, ...] = (0.1, 0.3, 0.03)  #: standard deviations of noise, in mean absolute costs
    sweeps: tuple[int, ...] = (50,)  #: sweeps of annealing from all elements apart
    heats: tuple[float, ...] = (0.3, 1.0)  #: heats of this annealing
    small_sweeps: int = 100  #: sweeps of annealing the contracted problem of two partitions
    small_heats: tuple[float, ...] = (0.1, 0.3, 1.0)  #: heats of this annealing
    work: float = 1e8  #: nanoseconds of work of a task at first
    steps: int = 8  #: most steps of a task
    members: int = 2  #: members of the pool that a task fuses first
    region: int = 20_000  #: most elements of a task
    kept: float = 0.7  #: share of the credit of a kind of proposal that is kept at each trial
    floor: float = 0.1  #: share of the trials that is divided equally between the kinds


@dataclass(frozen=True)
class EvolutionParameters:
    """Parameters of rounds of localised evolution."""

    work: float = 2e7  #: nanoseconds of work of a task at first, at least,
    each: float = 2e3  #: and for each of its elements


@dataclass(frozen=True)
class PropagationParameters:
    """Parameters of rounds of iterated label propagation."""

    work: float = 2e7  #: nanoseconds of work of a task at first; at least one step is made
    shares: tuple[float, float] = (0.01, 0.3)  #: smallest and largest share of the elements that a step mutates
    sweeps: int = 20  #: sweeps of a step, at most


@dataclass(frozen=True)
class ReheatingParameters:
    """Parameters of rounds of reheating."""

    work: float = 5e7  #: nanoseconds of work of a task at first; at least one step is made
    sweeps: tuple[int, int] = (30, 300)  #: fewest and most sweeps of a step at first
    heats: tuple[float, ...] = (0.003, 0.01, 0.001, 0.03)  #: heats at which steps begin, drawn at random


@dataclass(frozen=True)
class SlowParameters:
    """Parameters of rounds of slow annealing."""

    sweeps: int = 50  #: sweeps of the first round; each later round has twice as many
    most: int = 2**20  #: most sweeps of a round
    heats: tuple[float, ...] = (0.1, 0.3, 0.1, 0.03)  #: heats of tasks in turn
    part: float = 0.25  #: largest share of all work so far that a round may take
    ahead: float = 3.0  #: rounds in which the extrapolated cost has to reach that of the best partition


@dataclass(frozen=True)
class TabuParameters:
    """Parameters of rounds of tabu search."""

    largest: int = 120  #: most elements of a problem for a table of moves
    work: float = 1e7  #: nanoseconds of work of a task at first
    tenures: tuple[float, float] = (0.1, 0.3)  #: moves for which an element may not move back, per element,
    least: int = 4  #: and so many moves in addition
    patience: tuple[float, float] = (8, 30)  #: moves without a new best partition before a new start, per element
    apart: float = 0.25  #: share of starts with all elements apart, except the first of a round
    levels: tuple[float, ...] = (0.5, 0.7, 1.0, 1.5)  #: limits of the costs of guides, in average gains of an element


@dataclass(frozen=True)
class TemperingParameters:
    """Parameters of rounds of replica exchange."""

    work: float = 1e8  #: nanoseconds of work of a task at first
    hot: tuple[float, ...] = (0.08, 0.17)  #: heats of the hottest replica, of chains in turn
    cold: float = 0.03  #: heat of the coldest replica
    share: float = 0.1  #: of all moves to worse partitions, accepted at most
    most: int = 32  #: most replicas of a chain
    cooling: float = 4.0  #: sweeps per element of the annealing that the first chain begins with,
    longest: float = 3e9  #: or so many nanoseconds of work
    patience: float = 8.0  #: work without a better partition, in that of this annealing, before a chain begins anew,
    slower: float = 2.0  #: with so many times as many sweeps


@dataclass(frozen=True)
class RestartParameters:
    """Parameters of rounds of short annealings and their children."""

    largest: int = 2000  #: most elements of a problem
    work: float = 16e9  #: nanoseconds of work of the annealings of a task, at most,
    first: float = 1 / 32  #: this share of it in the first round, and twice as much in each one that follows
    sweeps: float = 8.0  #: sweeps per element of an annealing, at most,
    longest: float = 3e9  #: or so many nanoseconds of work
    hot: tuple[float, ...] = (0.08, 0.08, 0.08, 0.17)  #: heats at which annealings begin, in turn
    cold: float = 0.006  #: heat at which they end
    share: float = 0.1  #: of all moves to worse partitions, accepted at most
    chosen: int = 4  #: annealings for each one that children are made from
    low: tuple[float, ...] = (0.003, 0.01, 0.02, 0.04)  #: heats of the runs afterwards, in turn; all end at the first
    again: float = 0.2  #: sweeps of each of these, as a share of those of an annealing


@dataclass(frozen=True)
class PortfolioParameters:
    """Parameters of the distribution of rounds to strategies."""

    tasks: int = 4  #: tasks of a round; not the number of threads, on which the result must not depend
    pool: int = 12  #: most partitions in the pool;
    large: int = 100_000  #: with more elements than this, at most as many as there are pairs per element
    patience: int = 12  #: rounds without improvement, after which a run without any limit ends
    unusual: float = 0.05  #: share of pairs in a matrix with another cost than most, up to which they are listed
    whole: int = 300_000  #: most elements for annealing of the whole problem, if elements have few neighbours
    polish: float = 8.0  #: average neighbours below which pairwise Kernighan-Lin improves results of annealing
    slower: int = 4  #: rounds in a row without improvement after which all strategies work longer;
    slower_later: int = 16  #: the same if there are populations
    alone: int = 16  #: rounds of annealing before other strategies begin, unless two in a row find nothing better
    wait: float = 0.5  #: work of others before a strategy begins, as a share of its first round
    longer: float = 6.0  #: the same with a background, except for evolution, label propagation and reheating, until
    unlucky: int = 4  #: so many rounds in a row find nothing better; one round, if none of these takes part
    fade: float = 0.8  #: share of the recorded gain of a strategy that is kept at each of its rounds
    earned: float = 0.8  #: share of the time that is distributed by gains; the rest is distributed by fixed shares
    doubt: float = 0.5  #: part of `earned` that is left when no strategy has gained anything for long


@dataclass(frozen=True)
class StartParameters:
    """Of the local search before the first round."""

    chains: float = 12.0  #: neighbours on average, up to which pairwise Kernighan-Lin is the stronger start
    dense: int = 400  #: elements of a matrix, above which Kernighan-Lin has
    share: float = 0.15  #: such a share of the time: annealing, which follows, gains more in as much time
    sequences: int = 3  #: iterations of Kernighan-Lin, which gain nearly all that it would


@dataclass(frozen=True)
class SearchParameters:
    """All parameters of the search."""

    start: StartParameters = field(default_factory=StartParameters)
    portfolio: PortfolioParameters = field(default_factory=PortfolioParameters)
    annealing: AnnealingParameters = field(default_factory=AnnealingParameters)
    population: PopulationParameters = field(default_factory=PopulationParameters)
    evolution: EvolutionParameters = field(default_factory=EvolutionParameters)
    propagation: PropagationParameters = field(default_factory=PropagationParameters)
    reheating: ReheatingParameters = field(default_factory=ReheatingParameters)
    fusion: FusionParameters = field(default_factory=FusionParameters)
    slow: SlowParameters = field(default_factory=SlowParameters)
    tabu: TabuParameters = field(default_factory=TabuParameters)
    tempering: TemperingParameters = field(default_factory=TemperingParameters)
    restarts: RestartParameters = field(default_factory=RestartParameters)
