"""The strategies of a search for labelings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from graphpart.errors import deprecated, unknown

__all__ = ["STRATEGIES", "LabelingParameters"]

#: The strategies of the search, by name.
STRATEGIES = {
    "reduction": "labels that are not needed for an optimal labeling are left out first",
    "message passing": "the labeling that message passing rounds to is an early one",
    "expansion": "expansions improve labelings where factors have at most two variables",
    "first annealing": "a large factor graph is annealed once as a whole",
    "annealing": "simulated annealing over single labels",
    "fresh starts": "some annealing starts from random labels",
    "regions": "branch and bound minimises over one region after the other",
    "parts": "the best labeling takes over the parts in which another one is better",
    "quadratic form": "binary factor graphs of pairs are searched by moves of their own, with the strategies below",
    "low degree": "variables with few neighbours or one strong one are eliminated from a quadratic form",
    "contraction": "what labelings of a sparse quadratic form have in common is contracted",
    "lines": "good labelings of a sparse quadratic form are heated a little, again and again",
    "families": "labelings of a dense quadratic form are combined",
}
GONE = frozenset({"blocks", "tabu search"})  # former strategies


@dataclass(frozen=True)
class LabelingParameters:
    """The strategies of the search for labelings; ``name in parameters`` says whether a strategy is used.

    Parameters
    ----------
    without : iterable of str
        Names in `STRATEGIES` that are left out. Annealing is used if no other strategy fits a factor graph.

    Raises
    ------
    InvalidOption
        If a name is unknown.
    """

    without: Iterable[str] = ()  #: names of strategies that take no part

    def __post_init__(self) -> None:
        without = frozenset(self.without)
        for name in sorted(GONE & without):
            deprecated(f"the name {name!r} of a strategy", f"none instead, since the search has no {name} any more")
        object.__setattr__(self, "without", without - GONE)
        for name in self.without:
            if name not in STRATEGIES:
                raise unknown("strategy", name, STRATEGIES)

    def __contains__(self, name: object) -> bool:
        return name in STRATEGIES and name not in self.without
