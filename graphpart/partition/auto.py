"""The default method for set partition problems: local search, then a proof where one is within reach.

1. Greedy joining and Kernighan-Lin in turn, until joining finds nothing more. No single move lowers the cost then
   either. (Greedy moving in between made costs neither lower nor higher on average over random problems; without it the
   result is never worse than that of Kernighan-Lin by name.)
2. The problem falls apart into the connected components of its non-zero pairs. Where the cost of a component equals
   the sum of its negative costs, it is optimal.
3. Other components, the smallest first: those with at most 14 elements are solved by brute force; larger ones by a
   short search (see search.py; a longer one where elements have few neighbours and a packing of conflicted cycles shows
   that a proof is far), then by branch and cut and search in turn: every now and then, branch and cut pauses
   for a search from the best partition known, and takes what that finds, on the problem that its reduction left. So it
   goes on until the component is proven or its share of the time is over. Components of very many pairs are only
   searched; a packing of conflicted cycles gives their bound, or, where no time is left, the sum of negative costs.
4. With a time limit, all of it is used until all is proven: what proofs leave over goes to the search.
5. A subset in which no non-zero pair connects one part with the rest is divided, which costs nothing, and 1 is repeated
   until no subset is (as all methods do, see problem/finish.py).
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from graphpart.common.finishing import MESSAGES
from graphpart.machine import processors
from graphpart.partition.anytime_search.checkpoint import saved
from graphpart.partition.anytime_search.search import better_start, search
from graphpart.partition.auto_background import auto_by_levels
from graphpart.partition.bounds.lower_bound import lower_bound
from graphpart.partition.bounds.trivial_bound import lowered, trivial_bound
from graphpart.partition.exact import Searcher, Told
from graphpart.partition.exact_solvers.brute_force import LARGEST, brute_force
from graphpart.partition.exact_solvers.exact import branch_and_cut
from graphpart.partition.exact_solvers.tree import REGIONS
from graphpart.partition.local_search.greedy_joining import greedy_joining
from graphpart.partition.local_search.kernighan_lin import kernighan_lin
from graphpart.partition.problem import Labels, SetPartition, as_problem, canonical
from graphpart.partition.problem.components import split
from graphpart.partition.problem.explicit import explicit
from graphpart.partition.problem.finish import finish, settled
from graphpart.result import PartitionResult, Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["auto"]

PATIENCE = 5.0  # seconds for proofs and search in all, without a time limit
LARGEST_EXACT = 100_000  # pairs with a cost in a component that is worth branch and cut,
LARGEST_SPARSE = 400_000  # or that many, where elements have few neighbours
FEW = 50  # neighbours on average
SEARCHED = 30  # elements from which on there is search beside branch and cut,
ROUNDS, LATER_ROUNDS = 2, 12  # with so many rounds at first, and later: more if the last of them still found something
SEARCH_SHARE = 0.2  # of the time of a component, for the search before the proof
SHORT_SHARE, LONG_SHARE = 0.05, 0.5  # of that of a large component with few pairs: near a proof, or far from it,
NEAR = 0.1  # which is: a packing of cycles leaves a gap of at most, or more than, such a share of the cost
BOUND_SHARE = 0.1  # of the time of a component that is too large for a proof, for its bound
TURN, LONGER = 0.5, 1.5  # seconds of branch and cut, after which it is the turn of the search for as long; grows
RARELY = 4.0  # times as long for branch and cut, while the search finds nothing


@interruptible
def auto(
    problem: Any,
    initial: Any = None,
    *,
    time_limit: float | None = None,
    target: float | None = None,
    seed: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> PartitionResult:
    """Solve a problem by local search, and prove the result optimal if that is within reach.

    Parameters
    ----------
    problem : SetPartition or networkx.Graph
        A graph has its costs in the edge attribute ``cost``.
    initial : Result, labels, mapping or list of sets, optional
        The partition to start from; the result is not worse. Elements that it leaves out start alone.
    time_limit : float, optional
        Seconds, all of which are used unless the result is proven before. Without a limit, local search runs to its
        end, and search and proofs take about 5 seconds in all.
    target : float, optional
        Stop as soon as the cost is at most this.
    seed : int, optional
        Of the random numbers of the search; default 0.
    checkpoint : str or path-like, optional
        A file of labels that the search keeps up to date, see :func:`~graphpart.partition.search`. If it exists, the
        result is not worse than it. At the end it holds the result, and ``checkpoint.bound`` beside it the best lower
        bound of all runs.
    callback : callable, optional
        ``callback(seconds, cost)``, about every 50 ms; a true return value stops the run.

    Returns
    -------
    PartitionResult
        With status ``optimal`` if all components are proven, else ``local_optimum``; the lower bound is the sum over
        the components. `message` says what was done and, if that is not all, how far the bound is away and what would
        help; `iterations` counts the rounds of local search.

    Raises
    ------
    InvalidProblem, InvalidPartition, InvalidOption
        If an argument is not as described.

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(5, [(0, 1), (1, 2), (0, 2), (3, 4)], [-2.0, -3.0, 4.0, -1.0])
    >>> r = auto(p)
    >>> r.partition, r.cost, r.message
    ([{0}, {1, 2}, {3, 4}], -4.0, 'proven optimal (2 components: 1 by negative costs, 1 by brute force)')
    """
    given = as_problem(problem, background=True)
    p = explicit(given)
    if p is None:
        return auto_by_levels(given, initial, time_limit, target, seed, checkpoint, callback)
    stopping = Stopping(time_limit, None, target, callback)
    found = improve_in_turn(p, better_start(p, initial, checkpoint), stopping)
    if stopping.reason is not None:
        result = finish(p, found, stopping, "auto", Status.LOCAL_OPTIMUM, lower_bound=trivial_bound(p))
        return saved(p, result, checkpoint)
    blocks = p.blocks()
    q = p.contract(blocks) if len(p.must_join) else p
    proof = Proof(q, canonical(found[np.unique(blocks, return_index=True)[1]]), stopping, seed)
    proof.run()
    labels = proof.labels[blocks]
    if proof.open and time_limit is not None and not stopping.check(p.evaluate_labels(labels)):
        started = stopping.seconds
        labels = _searched(p, labels, seed, checkpoint, stopping)
        proof.searching += stopping.seconds - started
    labels = settled(p, labels, lambda pieces: improve_in_turn(p, pieces, stopping), stopping)
    result = finish(p, labels, stopping, "auto", Status.LOCAL_OPTIMUM)
    status = Status.OPTIMAL if proof.open == 0 else result.status
    bound = p.evaluate_labels(blocks) + proof.bound
    result = replace(
        result,
        status=status,
        lower_bound=result.cost if status == Status.OPTIMAL else min(lowered(p, bound), result.cost),
        message=f"{MESSAGES[status]} ({proof.report()})",
    )
    if status != Status.OPTIMAL:
        result = replace(result, message=f"{result.message}; {_advice(result, proof, time_limit)}")
    return saved(p, result, checkpoint)


def _advice(result: PartitionResult, proof: Proof, time_limit: float | None) -> str:
    """How far the bound is away, what the time went into, and what would help."""
    share = (result.cost - result.lower_bound) / abs(result.cost) if result.cost else np.inf
    away = f"the bound is {100 * share:.2g}% below" if np.isfinite(share) else "the bound says little"
    spent = f"{proof.searching:.1f} s of search, {proof.proving:.1f} s of proofs"
    more = 10 * max(1.0, PATIENCE if time_limit is None else time_limit)
    return f"{away} after {spent}; more of both with time_limit={more:.0f}"


def _searched(
    p: SetPartition, labels: Labels, seed: int | None, checkpoint: str | os.PathLike[str] | None, stopping: Stopping
) -> Labels:
    """What the anytime search makes of labels in the time that is left."""
    offset, callback = stopping.seconds, stopping.callback
    found = search(
        p,
        labels,
        time_limit=stopping.remaining,
        target=stopping.target,
        seed=seed,
        checkpoint=checkpoint,
        callback=callback and (lambda seconds, cost: callback(offset + seconds, cost)),
    )
    stopping.history.extend((offset + seconds, cost) for seconds, cost in found.history)
    if found.status not in (Status.FEASIBLE, Status.OPTIMAL):
        stopping.stop(found.status)
    return found.labels


def improve_in_turn(p: SetPartition, initial: Any, stopping: Stopping) -> Labels:
    """The fixed point of joining and Kernighan-Lin in turn, hence of moving; the best so far if stopped."""
    labels, cost = p.blocks() if initial is None else initial, math.inf
    while True:
        for method in (greedy_joining, kernighan_lin):
            r = method(p, labels, time_limit=stopping.remaining, target=stopping.target, callback=stopping.callback)
            labels = r.labels
            if r.status != Status.LOCAL_OPTIMUM:
                stopping.stop(r.status)
                return labels
            if method is greedy_joining and not r.cost < cost:
                return labels
        cost = r.cost
        if stopping.step(cost):
            return labels


class Proof:
    """Components of a problem without required joins: better labels where search or proofs find them, and a bound."""

    def __init__(self, p: SetPartition, labels: Labels, stopping: Stopping, seed: int | None) -> None:
        self.p, self.seed = p, seed or 0
        self.labels = labels
        self.cost = p.evaluate_labels(labels)
        self.bound = 0.0
        self.stopping = stopping
        self.until = stopping.seconds + (PATIENCE if stopping.remaining is None else stopping.remaining)
        self.proven_by = {"negative costs": 0, "brute force": 0, "exact": 0}
        self.open = 0
        self.searching = self.proving = 0.0  # seconds
        self.searches = 0

    def run(self) -> None:
        """Prove what is within reach, the smallest components first."""
        parts = sorted(self._unproven(), key=lambda one: one[1].n)
        pairs = sum(part.m for _, part in parts)
        for elements, part in parts:
            share = part.m / max(1, pairs) * self._left()  # what the smaller ones leave over goes to the larger ones
            pairs -= part.m
            mine = canonical(self.labels[elements])
            better = mine
            bound: float | None = None
            if part.n >= SEARCHED:
                portion = SEARCH_SHARE
                if part.n >= REGIONS and not part.is_dense:
                    cost, bound = part.evaluate_labels(mine), self._bound(part, BOUND_SHARE * share)
                    portion = SHORT_SHARE if cost - bound <= NEAR * abs(cost) else LONG_SHARE
                better = self._search(part, mine, mine, min(portion * share, self._left()), ROUNDS)
            found = self._prove(part, better, share)
            if found is None:
                self.open += 1
                self.bound += self._bound(part, BOUND_SHARE * share) if bound is None else bound
            else:
                self.bound += found.lower_bound
                better = found.labels
                if found.status == Status.OPTIMAL:
                    self.proven_by[found.method.replace("-", " ")] += 1
                else:
                    self.open += 1
            before, cost = part.evaluate_labels(mine), part.evaluate_labels(better)
            if cost < before:
                self.cost += cost - before
                # A label that nobody has yet for each subset: the least element of the component in it, shifted.
                first = np.unique(better, return_index=True)[1]
                self.labels = self.labels.astype(np.int64)
                self.labels[elements] = self.p.n + elements[first][better]
        self.labels = canonical(self.labels)

    def _unproven(self) -> list[tuple[Any, SetPartition]]:
        """The components that cost more than their negative costs; the others are proven."""
        p, component = self.p, self.p.components()
        sizes = np.bincount(component, minlength=1)
        if p.is_dense:
            parts = split(p, component)
            tight = [
                part.evaluate_labels(self.labels[elements]) <= trivial_bound(part) + part.tolerance * part.n
                for elements, part in parts
            ]
            self.bound = sum(trivial_bound(part) for (_, part), is_tight in zip(parts, tight, strict=True) if is_tight)
            self.proven_by["negative costs"] = sum(tight)
            return [one for one, is_tight in zip(parts, tight, strict=True) if not is_tight]
        u, v, cost = p.pairs()
        negative = np.bincount(component[u], np.minimum(cost, 0.0), len(sizes))
        within = self.labels[u] == self.labels[v]
        paid = np.bincount(component[u[within]], cost[within], len(sizes))
        is_open = paid > negative + p.tolerance * sizes
        self.bound = float(negative[~is_open].sum())
        self.proven_by["negative costs"] = int(np.count_nonzero(~is_open & (sizes > 1)))
        return split(p, component, is_open)

    def _prove(self, part: SetPartition, labels: Labels, share: float) -> PartitionResult | None:
        """Brute force, or branch and cut with the search as its partner, in a share of the time."""
        if self.stopping.check(self.cost):
            return None
        remaining = self.stopping.remaining
        if part.n <= LARGEST:
            found = brute_force(part, time_limit=remaining)
            if found.status != Status.OPTIMAL:
                self.stopping.stop(found.status)
            return found
        pairs = np.count_nonzero(part.pairs()[2])
        until = min(self.stopping.seconds + share, self.until)
        few = 2 * pairs <= FEW * part.n
        if until <= self.stopping.seconds or pairs > (LARGEST_SPARSE if few else LARGEST_EXACT):
            return None
        started, searched = self.stopping.seconds, self.searching
        callback = self._callback(part, labels)
        told = callback and Told(callback)
        partner = None
        if few and part.n >= REGIONS:  # the proof finds better partitions itself, so the search has fewer turns
            partner = self._rare_partner(told, until)
        elif part.n >= SEARCHED:
            partner = self._partner(part, labels, until)
        limit = max(0.0, until - started)
        found = branch_and_cut(part, labels, limit, callback=told, partner=partner)
        self.proving += self.stopping.seconds - started - (self.searching - searched)
        if found.status == Status.INTERRUPTED:
            self.stopping.stop(found.status)
        return found

    def _partner(
        self, part: SetPartition, labels: Labels, until: float
    ) -> Callable[[SetPartition, Labels], Labels | None]:
        """What branch and cut asks after each round: nothing most times, a search when it is its turn."""
        turn, last, pause = TURN, self.stopping.seconds, 1.0

        def partner(q: SetPartition, best: Labels) -> Labels | None:
            nonlocal turn, last, pause
            if self.stopping.seconds < last + pause * turn or q.n < SEARCHED:
                return None
            limit = min(turn, until - self.stopping.seconds)
            better = self._search(q, best, labels, limit, LATER_ROUNDS, part) if limit > 0 else best
            is_better = q.evaluate_labels(better) < q.evaluate_labels(best)
            turn, last, pause = LONGER * turn, self.stopping.seconds, 1.0 if is_better else RARELY
            return better

        return partner

    def _rare_partner(self, told: Told | None, until: float) -> Callable[[SetPartition, Labels], Labels | None]:
        """What `exact` has as its partner, in the time of this component."""
        limit = max(0.0, until - self.stopping.seconds)
        searcher = Searcher(limit, processors(), told)

        def partner(q: SetPartition, best: Labels) -> Labels | None:
            started = self.stopping.seconds
            better = searcher(q, best)
            self.searching += self.stopping.seconds - started
            return better

        return partner

    def _search(
        self,
        part: SetPartition,
        labels: Labels,
        known: Labels,
        limit: float,
        rounds: int,
        of: SetPartition | None = None,
    ) -> Labels:
        """What a short search makes of labels. Each has random numbers of its own."""
        if limit <= 0 or self.stopping.check(self.cost):
            return labels
        started = self.stopping.seconds
        seed = self.seed + self.searches
        self.searches += 1
        callback = self._callback(of or part, known)
        while True:
            left = max(0.0, limit - (self.stopping.seconds - started))
            found = search(part, labels, max_iterations=rounds, time_limit=left, seed=seed, callback=callback)
            if found.status == Status.INTERRUPTED:
                self.stopping.stop(found.status)
            improved = found.cost < part.evaluate_labels(labels)
            labels, seed = found.labels, seed + 1000
            if not improved or found.status != Status.ITERATION_LIMIT:
                break
        self.searching += self.stopping.seconds - started
        return labels

    def _callback(self, part: SetPartition, labels: Labels) -> Callable[[float, float], object] | None:
        """The callback for what solves a component: it gets the cost of the whole."""
        others, callback = self.cost - part.evaluate_labels(labels), self.stopping.callback
        return callback and (lambda _, cost: callback(self.stopping.seconds, others + cost))

    def _left(self) -> float:
        return self.until - self.stopping.seconds

    def _bound(self, part: SetPartition, limit: float) -> float:
        """A lower bound for a component that is not solved."""
        left = min(limit, self._left())
        if left <= 0 or self.stopping.check(self.cost):
            return trivial_bound(part)
        callback = self.stopping.callback
        found = lower_bound(
            part,
            "cycle-packing",
            time_limit=left,
            callback=callback and (lambda *_: callback(self.stopping.seconds, self.cost)),
        )
        return found.bound

    def report(self) -> str:
        """What was proven and how, in a few words."""
        counts = [(number, f"by {how}") for how, number in self.proven_by.items()] + [(self.open, "not proven")]
        total = sum(number for number, _ in counts)
        what = ", ".join(f"{number} {how}" for number, how in counts if number)
        return f"{total} component{'s' * (total != 1)}: {what}" if total else "no pair has a cost"
