"""The components of a problem, each solved by a race of search and proof, in `auto` and `exact`.

1. The problem falls apart into the connected components of its non-zero pairs. Where the cost of a component equals
   the sum of its negative costs, it is optimal.
2. Of the other components, `auto` enumerates the smallest. Other small components are solved together by branch and
   cut, which separates them itself.
3. Each larger component has a race (see `graphpart.common.race`). The contestants are the search and branch and cut. If
   there are too many pairs or too little time for branch and cut, quicker bounds take its place (see `bounding`). The
   components come one after the other, the smallest first, each with a share of the time.
4. The remaining time is distributed among unfinished races in the same way. Branch and cut joins a race later, as soon
   as the share of time is large enough.

If pairs that are not listed have a cost, elements that some optimal partition joins are merged first, and components
are those of pairs that attract. The pairs of a component are listed, unless there are too many; those of groups only
for branch and cut, which works on a matrix if a tenth of all pairs are listed and some must be cut. Components whose
elements all belong to two groups are solved as matchings (see `assignment`), without a race.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from graphpart.common.components import share_out
from graphpart.common.groups import first_of
from graphpart.common.race import Contestant, Race, RaceParameters
from graphpart.common.rounds import Saver
from graphpart.common.steps import RunningSum
from graphpart.machine import processors
from graphpart.methods import ENUMERATED_ELEMENTS
from graphpart.partition.anytime_search.levels import has_small_subsets
from graphpart.partition.anytime_search.parameters import SearchParameters
from graphpart.partition.anytime_search.searcher import Searcher
from graphpart.partition.bounds.assignment import Assignment
from graphpart.partition.bounds.bounding import Bounding
from graphpart.partition.bounds.trivial_bound import lowered, trivial_bound
from graphpart.partition.certificates.judging import judge_of_partition
from graphpart.partition.certificates.kept import Kept, tell
from graphpart.partition.exact_solvers.branch_and_cut import BranchAndCut, Smaller
from graphpart.partition.exact_solvers.brute_force import enumerated
from graphpart.partition.exact_solvers.whole import TreeParameters
from graphpart.partition.local_search.improve import repels
from graphpart.partition.pieces.components import split
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.partition.problem.background import SMALL
from graphpart.partition.problem.derived import pairs_with_cost
from graphpart.partition.problem.forms import ELEMENTS, PAIRS, listed_within, to_dense
from graphpart.partition.problem.labels import agreement
from graphpart.stopping import Stopping

__all__ = ["PATIENCE", "PROVING", "Races", "RacesParameters"]

Elements = NDArray[np.int64]
PATIENCE = 5.0  # seconds for search and proofs together, if there is no time limit
PROVING = RaceParameters(first=0.5, far=0.85, near=0.9)  # in the method `exact`
TOGETHER_SHARE = 0.25  # most of the time left for the small components that are solved together, whose pairs are few
LEAST_WORK = 1e6  # nanoseconds of a task in the first rounds of a search that has a short share of the time
LISTED = 4_000_000  # most pairs of groups that are listed for branch and cut
TOGETHER = 400  # most elements of a component with a background that is solved together with others


@dataclass(frozen=True)
class RacesParameters:
    """Which algorithms take part in the races of a method, and how each race divides its time."""

    enumerated: int = ENUMERATED_ELEMENTS  #: most elements of a component that is enumerated
    searched: int = 30  #: least number of elements of a component for which a search always runs beside the proof
    pairs: float = 100_000  #: most pairs with a cost of a component that branch and cut works on
    sparse: float = 400_000  #: the same limit for a component with at most `few` neighbours per element
    few: int = 50  #: average number of neighbours per element up to which `sparse` is the limit
    helped: float = math.inf  #: least number of elements for a search beside a proof that generates columns
    hopeless: float = 0.5  #: largest share of a component's time that the beginning of branch and cut may take
    race: RaceParameters = field(default_factory=RaceParameters)
    tree: TreeParameters = field(default_factory=TreeParameters)
    search: SearchParameters = field(default_factory=SearchParameters)

    def with_groups_listed(self, p: SetPartition) -> SetPartition:
        """The problem with the pairs of its groups listed for branch and cut; itself if there are too many, or none."""
        if p.background is None or len(p.background.beta):
            return p
        return listed_within(p, most=int(min(self.sparse, LISTED))) or p

    def fits(self, p: SetPartition) -> bool:
        """Whether branch and cut works on a component with so many pairs."""
        used = pairs_with_cost(p)
        return used <= (self.sparse if 2 * used <= self.few * p.n else self.pairs)


@dataclass
class _Part:
    """One component, or some small ones, and its race once it has begun."""

    elements: Elements
    problem: SetPartition
    bound: float
    count: int  # number of components
    enumerated: bool = False
    race: Race | None = None
    prover: BranchAndCut | None = None
    late: SetPartition | None = None  # the problem, if branch and cut waits for a larger share of the time
    stopping: Stopping | None = None
    cost: float = math.inf  # cost of the labels of these elements that the whole uses

    @property
    def size(self) -> int:
        """The number of its pairs."""
        return max(1, self.problem.m)

    @property
    def is_open(self) -> bool:
        """Whether something is left to do."""
        if self.enumerated or self.race is None:
            return not self.enumerated
        return not self.race.proven and not (self.race.done and self.late is None)


class Races:
    """The components of a problem without required joins.

    Parameters
    ----------
    p : SetPartition
    labels : ndarray of int32, shape (n,)
        Canonical labels of the partition to start from.
    stopping : Stopping
        Of the whole problem, with the limits that races obey.
    parameters : RacesParameters
    constant : float
        The cost in the whole problem minus the cost in p.
    improved : bool
        Whether local search has improved the labels.
    assigned : Assignment, optional
        The optimum of some components, for which there is no race.
    seed, threads : int
    saver : Saver, optional
        Writes labels of p to a checkpoint.

    Attributes
    ----------
    labels, cost, bound
        The best partition of p, its cost and the lower bound, without the constant.
    whole : ndarray of int, optional
        For each element of p one of the problem from which p was made, for `known`.
    """

    def __init__(
        self,
        p: SetPartition,
        labels: Labels,
        stopping: Stopping,
        parameters: RacesParameters,
        constant: float,
        *,
        improved: bool = True,
        assigned: Assignment | None = None,
        seed: int = 0,
        threads: int | None = None,
        saver: Saver | None = None,
    ) -> None:
        self.p, self.improved, self.constant, self.stopping = p, improved, constant, stopping
        self.whole: Elements | None = None
        self.parameters, self.seed, self.threads, self.saver = parameters, seed, threads or processors(), saver
        self._component = p._components()
        labels = agreement(labels, self._component)  # no optimum joins components, and parts know their own costs only
        self.cost = p._evaluate_labels(labels)
        self._labels = first_of(labels)[labels]  # by the least element of each subset, so that parts can change theirs
        self._slack: float | None = None  # largest rounding error of a sum of bounds
        self._closed = 0.0  # the bounds of components that are proven
        self._tight = 0  # components that are proven by their negative costs
        self.assigned = assigned
        if assigned is not None:
            _put(self._labels, assigned.elements, canonical(assigned.labels[assigned.elements]))
            self.cost = p._evaluate_labels(self.labels)
            self._closed = assigned.cost - assigned.allowance
        self._parts = sorted(self._open_parts(), key=lambda part: part.problem.n)
        self._bounds = RunningSum(part.bound for part in self._parts)
        self._tell()

    @property
    def labels(self) -> Labels:
        """The best partition."""
        return canonical(self._labels)

    @property
    def bound(self) -> float:
        """No partition of p costs less."""
        if len(self._parts) == 1 and not self._tight and self.assigned is None:
            return self._parts[0].bound
        if self._slack is None:
            self._slack = 0.0 if self.p.background is not None else -lowered(self.p, 0.0)
        return self._closed + self._bounds.value - self._slack

    @property
    def proven(self) -> bool:
        """Whether the best partition is optimal."""
        return self.open == 0

    @property
    def open(self) -> int:
        """Components that are not proven."""
        return sum(self._open_within(part) for part in self._parts)

    @property
    def provers(self) -> list[BranchAndCut]:
        """Branch and cut, where it took part."""
        return [part.prover for part in self._parts if part.prover is not None]

    @property
    def allowance(self) -> float:
        """The largest amount by which a partition may cost less than the best one, if that is proven."""
        matched = 0.0 if self.assigned is None else self.assigned.allowance
        return math.fsum([matched, *(one.allowance for one in self.provers)])

    def known(self) -> list[Kept]:
        """What branch and cut has proven so far, if that is wanted, over elements of the whole problem."""
        if self.whole is None:
            return []
        parts = [(self.whole[part.elements], part.prover) for part in self._parts if part.prover is not None]
        return [one._replace(elements=of[one.elements]) for of, prover in parts for one in prover.kept()]

    def proving(self) -> float:
        """Seconds of proofs."""
        spent = [part.race.spent() for part in self._parts if part.race is not None]
        return sum(seconds for one in spent for what, seconds in one.items() if what != "search")

    def run(self, is_limited: bool) -> None:
        """Solve all components in turn: within the time there is, or each in one turn of all contestants.

        If there is no limit but some seconds of patience, the searches of all components come first. So proofs of some
        cannot take the time for searches of others. Proofs share the rest, or what parameters leave them of it, as long
        as they are near. Both go on in turns as long as one of them finds better partitions.
        """
        if is_limited or self.stopping.remaining is None:
            self._share_out(self._solve, is_limited)
        else:
            self._search_all()
            most = self.parameters.search.proofs * self.stopping.seconds
            if most < math.inf:
                self.stopping = self.stopping.child(seconds=most)
                for part in self._parts:
                    part.stopping = None if part.stopping is None else part.stopping.child(seconds=most)
            while True:
                before = self.cost
                self._prove_all()
                self._search_all()
                if not self.cost < before:  # searches find nothing better: proofs need not wait for them
                    self._prove_all()
                if not self.cost < before or self.stopping.check(self.cost):
                    break

    def _search_all(self) -> None:
        self._share_out(lambda part, share: self._solve(part, share, searching=True), False)

    def _prove_all(self) -> None:
        self._share_out(lambda part, share: self._solve(part, share, hopeful=True), True)

    def _share_out(self, solve: Callable[[_Part, float | None], bool], is_limited: bool) -> None:
        share_out(self._parts, solve, self.stopping, lambda: self.cost + self.constant, is_limited)

    # ---------------------------------------------------------------------------------------------------- components

    def _open_parts(self) -> list[_Part]:
        """The components that are not known to be solved optimally; small components together."""
        p, component = self.p, self._component
        sizes = np.bincount(component, minlength=1)
        if p.background is not None:
            open_ = sizes > 1
            if self.assigned is not None:
                open_[component[self.assigned.elements]] = False
            return [
                _Part(elements, part, trivial_bound(part), count)
                for elements, part, count in _of_background(p, component, open_)
            ]
        is_open = sizes > 1
        if p.matrix is None:
            u, v, cost = p.pairs()
            if p.lifted is not None:  # of lifted pairs, some are between components, and are cut
                inside = component[u] == component[v]
                u, v, cost = u[inside], v[inside], cost[inside]
            negative = np.bincount(component[u], np.minimum(cost, 0.0), len(sizes))
            within = self._labels[u] == self._labels[v]
            paid = np.bincount(component[u[within]], cost[within], len(sizes))
            is_open &= paid > negative + p._tolerance * sizes
            self._closed = float(negative[~is_open].sum())
            self._tight = int(np.count_nonzero(~is_open & (sizes > 1)))
        parts, small = [], []
        for elements, part in split(p, component, is_open):
            bound = trivial_bound(part)
            if part._evaluate_labels(canonical(self._labels[elements])) <= bound + part._tolerance * part.n:
                self._closed += bound
                self._tight += 1
            elif self.parameters.enumerated < part.n < self.parameters.searched:
                small.append(elements)
            else:
                parts.append(_Part(elements, part, bound, 1))
        if small:
            elements = np.sort(np.concatenate(small))
            part = p._restrict(elements)
            parts.append(_Part(elements, part, trivial_bound(part), len(small)))
        return parts

    def _open_within(self, part: _Part) -> int:
        """The number of components of a part that are not proven."""
        if part.enumerated or (part.race is not None and part.race.proven):
            return 0
        if part.prover is None or part.count == 1:
            return part.count
        return len(np.unique(self._component[part.elements[part.prover.open_elements()]]))

    # --------------------------------------------------------------------------------------------------------- races

    def _solve(self, part: _Part, seconds: float | None, *, searching: bool = False, hopeful: bool = False) -> bool:
        """Continue the race of a part; return whether any contestant made a step."""
        p = part.problem
        if part.race is None and p.background is None and p.n <= self.parameters.enumerated:
            others = self.cost - p._evaluate_labels(canonical(self._labels[part.elements]))
            inner = self.stopping.child(plus=self.constant + others)
            labels = enumerated(p, inner)
            self._take(part, labels, others + p._evaluate_labels(labels))
            if inner.reason is None:
                part.enumerated = True
                self._raise(part, p._evaluate_labels(labels))
            return True
        if part.race is None or part.stopping is None:
            if seconds is not None and p.background is None and p.n < self.parameters.searched * part.count:
                # Nothing else finds partitions of these; their share by pairs may be too short for the beginning.
                most = TOGETHER_SHARE * (self.stopping.remaining or 0.0)
                seconds = max(seconds, min(most, 1.1 / self.parameters.hopeless * BranchAndCut.needed(p)))
            part.race, part.stopping = self._begin(part, None if searching else seconds)
        race, stopping = part.race, part.stopping
        if part.late is not None and self._affords(part.late, seconds):
            race.join(self._branch_and_cut(part, part.late, race.labels, race.bound))
        if seconds is None or searching:
            turns = race.once(stopping if seconds is None else stopping.child(seconds), searching)
        else:
            turns = race.run(stopping, seconds, hopeful)
        if race.cost < part.cost:
            self._take(part, race.labels, self.cost + race.cost - part.cost)
            part.cost = race.cost
        bound = race.bound
        if race.proven and part.prover is not None:  # up to its allowance
            bound -= part.prover.allowance
        self._raise(part, bound)
        return turns

    def _begin(self, part: _Part, seconds: float | None) -> tuple[Race, Stopping]:
        """The race of a part, and its `Stopping`."""
        p, a = part.problem, self.parameters
        labels = canonical(self._labels[part.elements])
        part.cost = p._evaluate_labels(labels)
        stopping = self.stopping.child(plus=self.constant + self.cost - part.cost)
        listed = p
        if p.background is not None and (part.count > 1 or p.n <= ELEMENTS or a.pairs == math.inf):
            if len(p.background.beta):
                listed = p = listed_within(p) or p
            else:  # the search is faster on groups
                listed = a.with_groups_listed(p)
                p = listed if part.count > 1 else p
        many = a.searched <= listed.n <= SMALL and 20 * listed.m > listed.n * listed.n
        if many and listed.background is None and listed.lifted is None and listed._has_must_cut:
            listed = to_dense(listed)  # pairs that cost nothing help to prove
        judge = judge_of_partition(p)
        contestants: list[Contestant] = []
        prover: Contestant | None = None
        if listed.background is None:
            if a.fits(listed):
                part.late = listed
            if part.late is not None and self._affords(listed, seconds):
                prover = self._branch_and_cut(part, listed, labels, part.bound)
        grouped = p.background is not None and p.background.groups is not None
        if prover is None and (p.background is None or (repels(p) and (grouped or has_small_subsets(labels)))):
            time = self.stopping.remaining if seconds is None else seconds
            time = math.inf if time is None else time
            prover = Bounding(p, labels, part.bound, lambda bound: self._raise(part, bound), time, judge)
        if p.n >= a.searched and (part.count == 1 or p.background is not None):
            contestants.append(self._searcher(part, p, labels, seconds))
        elif part.prover is not None and seconds is not None and p.n >= a.helped:
            # Roundings of the proof are as good as a search, but for columns, and where clusters have to be connected.
            wanted = part.prover.generates_columns if p.lifted is None else lambda: True
            contestants.append(self._searcher(part, p, labels, seconds, wanted))
        elif part.late is not None and seconds is not None:  # too little time for the proof
            contestants.append(self._searcher(part, p, labels, seconds))
        if prover is not None:
            contestants.append(prover)
        return Race(contestants, labels, part.cost, part.bound, lambda _: judge, a.race), stopping

    def _affords(self, p: SetPartition, seconds: float | None) -> bool:
        """Whether branch and cut begins early enough if it has `seconds` seconds."""
        seconds = self.stopping.remaining if seconds is None else seconds
        return seconds is None or BranchAndCut.needed(p) <= self.parameters.hopeless * seconds

    def _branch_and_cut(self, part: _Part, p: SetPartition, labels: Labels, bound: float) -> BranchAndCut:
        part.late = None
        part.prover = BranchAndCut(
            p, labels, bound, self.improved, self.threads, lambda bound: self._raise(part, bound), self.parameters.tree
        )
        return part.prover

    def _searcher(
        self,
        part: _Part,
        p: SetPartition,
        labels: Labels,
        seconds: float | None,
        wanted: Callable[[], bool] = lambda: True,
    ) -> Searcher:
        def smaller() -> Smaller | None:
            return None if part.prover is None else part.prover.smaller

        saver = None
        if (whole := self.saver) is not None:
            saver = Saver(whole.path, lambda labels, path: whole.write(self._with(part, labels), path))
        search = self.parameters.search
        most = math.inf if seconds is None else 0.5e9 * seconds * min(self.threads, search.tasks) / search.tasks
        if most < search.work:  # a first round takes no more than half of the time of a small component
            search = replace(search, work=min(search.work, max(LEAST_WORK, most)))
        return Searcher(p, labels, self.improved, self.seed, self.threads, smaller, wanted, saver, search)

    def _with(self, part: _Part, labels: Labels) -> Labels:
        """All labels, with other ones of a part."""
        found = self._labels.copy()
        _put(found, part.elements, labels)
        return canonical(found)

    def _take(self, part: _Part, labels: Labels, cost: float) -> None:
        """Take over labels of a part if the cost of the whole with them is lower."""
        if cost < self.cost:
            self.cost = cost
            _put(self._labels, part.elements, labels)

    def _raise(self, part: _Part, bound: float) -> None:
        """Take over a better bound of a part, and report the sum of the bounds of all parts."""
        if bound > part.bound:
            self._bounds.replace(part.bound, bound)
            part.bound = bound
            self._tell()

    def _tell(self) -> None:
        self.stopping.raise_bound(self.constant + self.bound)
        tell(self.known)

    # ------------------------------------------------------------------------------------------------------- message

    def report(self) -> str:
        """The proofs, in a few words."""
        matched = 0 if self.assigned is None else self.assigned.components
        counts = {"by negative costs": self._tight, "by brute force": 0, "by matching": matched}
        for part in self._parts:
            left = self._open_within(part)
            how = "brute force" if part.enumerated else (part.race and part.race.prover) or "branch and cut"
            counts[f"by {how}"] = counts.get(f"by {how}", 0) + part.count - left
        counts["not proven"] = self.open
        total, what = sum(counts.values()), ", ".join(f"{number} {how}" for how, number in counts.items() if number)
        return f"{total} component{'s' * (total != 1)}: {what}" if total else "no pair has a cost"


def _put(found: Elements, elements: Elements, labels: Labels) -> None:
    """Give elements, which share no subset with others, canonical labels: the least element of each subset."""
    found[elements] = elements[first_of(labels)][labels]


def _of_background(
    p: SetPartition, component: Labels, wanted: NDArray[np.bool_]
) -> Iterator[tuple[Elements, SetPartition, int]]:
    """(elements, the problem over them, number of components) of parts of wanted components that are solved together.

    The small components first, in batches of at most `PAIRS` pairs.
    """
    sizes = np.bincount(component, minlength=1).astype(np.int64)
    order = np.argsort(sizes, kind="stable")
    order = order[wanted[order]]
    pairs = np.cumsum(sizes[order] * (sizes[order] - 1) // 2)
    at, few = 0, int(np.count_nonzero(sizes[order] <= TOGETHER))
    while at < len(order):
        before = pairs[at - 1] if at else 0
        end = max(at + 1, min(few, int(np.searchsorted(pairs, before + PAIRS, "right"))))
        chosen = np.zeros(len(sizes), bool)
        chosen[order[at:end]] = True
        elements = np.flatnonzero(chosen[component])
        yield elements, (p if len(elements) == p.n else p._restrict(elements)), end - at
        at = end
