"""Pairwise Kernighan-Lin with joins (Keuper et al. 2015), in turn with sequences of moves over all subsets.

Pairs. One round goes through the subsets in the order of their numbers. It pairs each subset with every subset of
larger number that a stored pair links to it, if one of the two changed since the last round began. For two subsets U
and V, a sequence of switches is built. At first, the elements that a stored pair links to the other subset may switch.
In each step, of all elements that may switch, the one whose switch changes the cost least (lowers it most, or raises it
least) switches to the other subset. It may not switch again. Its neighbours in the subset that it left may switch from
then on. The sequence ends when no element may switch, or after SWITCHES switches without a new best prefix if the cost
is then above that of the best prefix by more than HEIGHT times the mean, over all elements, of the sum of the absolute
costs of their pairs. The best prefix of the sequence is compared with joining U and V. The better of the two is applied
if it lowers the cost; if they tie, U and V are joined. After the pairs, every subset that changed is split in the same
way, with the empty set as V and with all elements allowed to switch, as long as splitting lowers the cost. The rounds
end when a round changes nothing, or lowers the cost by less than a tenth of what the best of them did: moves do more
in the same time then, and the next rounds come after them.

A subset with PARTLY or more elements has changed partly if at most one of FEW of its elements has moved, or has a
stored pair with one that has moved, since the last round began. Such a subset is not split. If one of two subsets has
changed partly and none wholly, they are not joined, and their sequence begins at those stored pairs between them of
which an element, or one that a stored pair links to it, has moved. When nothing else helps, a round looks wholly at all
subsets that have changed partly. It also splits subsets with PARTLY or more elements that change in this round, as the
first round does; others split smaller ones only. With a matrix, a background that attracts, groups or limits, or if
subsets have to be connected, subsets always change wholly.

From DIVIDED elements on, unless there is a matrix, groups of elements, limits, or subsets have to be connected, a round
has another order, in which two threads may work. It divides the subsets into four groups, 0 to 3: subsets with more
than a 256th of all elements are dealt out, the largest first, to the groups 0, 2, 3, 1, 1, 3, 2, 0, 0, 2 and so on. Of
the others, in the order of their numbers, 0, 2, 3 and 1 get those that have a quarter of their elements. First come the
pairs within 0 and 1, and within 2 and 3; then each subset of 0 with those of 2, and of 1 with those of 3; then of 0
with those of 3, and of 1 with those of 2. Subsets that are joined after the first step get the number of the larger
one. Then subsets of 0 and 1, and of 2 and 3 are split. Of the free numbers, the former may take the first, third and so
on, the latter the second, fourth and so on, as long as both may need one more.

Moves. A chain starts with the best move of one element, to a subset that a stored pair links to it or to the empty set.
It continues with the best move of an element that a stored pair links to an element that has moved; each element moves
once. Unless subsets have to be connected, only moves from or to a subset that the chain has changed count, since the
cost of others does not depend on the chain. The chain ends after CHAIN moves without a new best prefix, after LONGEST
moves, when all elements of one subset, and no others, have moved to the empty set, so that the partition is that of its
start, or when its cost is above that of the best prefix by more than the largest absolute cost of a pair of its first
element. With a background that repels, only pairs that attract count in this at first. If such chains lower the cost by
more than a ten-thousandth, chains start from all elements again, and all pairs count from then on. The best prefix is
applied if it lowers the cost. Chains start from all elements in turn, then again from the elements that moved and their
neighbours, until no chain lowers the cost. An element with more than 100 stored pairs, and with more than ten times the
average, moves in chains of its own, of one move; it does not switch between two subsets, which would take time for all
its pairs, for each subset. If no subset can have more than two elements, because each element belongs to one of two
groups at price inf, all chains end after the first move. If a group has the price inf and a chain finds nothing, a
chain of ejections follows: an element moves to the subset with which it costs least, also if a member of its group has
to leave that to be alone, which is then the next to move. Such a chain ends where nothing has to leave, after LONGEST
moves, or at the same height. On a matrix, where each element is linked to all others, one long sequence takes the place
of chains. Each step is the best move of all, but an element that has moved rests for n / 10 + REST moves. The sequence
ends after LONG n moves without a new best prefix, and the next sequence starts from its best prefix, until a sequence
does not lower the cost.

From LARGE elements on, unless unlisted pairs attract, there are groups or limits, or subsets have to be connected,
chains start from a batch of elements at once, a 256th of all: each is found as if there were no others. Then they are
applied in the order of their first elements. One that would move an element that has moved since, or a neighbour of
one, is not; its first element waits again. With a background, this is also so if others have changed one of its subsets
and it does not lower the cost any more. So two threads may find chains, one from each half of a batch. In the first
batch, and after one in which more than one of four elements has moved, chains are applied as soon as they are found.

Where subsets have to be connected, only base pairs link, and make an element a neighbour; all pairs count in costs. An
element only moves or switches if its own subset stays connected without it. So subsets are connected at each step, and
each prefix of a sequence is a partition that is allowed.

Moves come first, then pairs. If pairs lower the cost, both are repeated, for the elements and subsets that changed. In
the end, a subset that consists of pieces without stored pairs between them is divided into these pieces. If a move,
chain or join then lowers the cost, all starts again. If elements have more than MANY stored pairs on average, moves of
single elements soon find nothing more, and whole parts of subsets have to change sides. In this case pairs come before
moves, and in two subsets with at most WHOLE elements, half of the elements may switch without a new best prefix; after
that a sequence would only mirror its beginning. Why one sequence over the whole partition is not enough is said in
docs/explanation/tried.md.

Ties are broken in favour of the smallest element, and among its moves in favour of the subset of smallest number, the
empty set last. Subsets are numbered in the order of their smallest elements at the start. When two subsets are joined,
the result has the smaller number. A new subset takes the number that became free last, at first the smallest free one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphpart.partition.local_search import _kernels
from graphpart.partition.local_search._kernighan_lin_pairs import Pairs
from graphpart.partition.local_search._sparse_chains import Chains
from graphpart.partition.local_search.attracting import any_subset_attracts, is_native, join_any, move_to_any
from graphpart.partition.local_search.improve import improve
from graphpart.partition.local_search.multilevel import start_of_sequences
from graphpart.partition.local_search.sums import Terms, neighbours_of, terms_of
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.partition.problem.derived import connected_subsets
from graphpart.partition.problem.forms import as_pairs
from graphpart.partition.results.finish import joins_help
from graphpart.result import PartitionResult
from graphpart.stopping import Stopping, interruptible

__all__ = ["kernighan_lin_pairs"]

# What other values do: docs/explanation/tried.md.
SWITCHES = 20  # switches without a new best prefix after which a sequence may end
HEIGHT = 0.75  # largest rise of a sequence above its best prefix, in mean absolute costs of the pairs of an element
MANY, WHOLE = 8, 400  # mean stored pairs per element above which pairs come first; most elements of two small subsets
CHAIN = 7  # moves without a new best prefix after which a chain ends
DIVIDED = 2**15  # number of elements from which rounds have an order for two threads
PARTLY, FEW = 1000, 8  # elements of a subset that is looked at partly if less than one of FEW is near a change
LARGE, BATCHES = 2**18, 256  # elements from which chains start in batches; the number of batches of all elements
LONGEST = 256  # most moves of a chain, whose time is quadratic in its length; the next one goes on from there
REST, LONG = 5, 5  # on small problems, n / 10 is too little


@interruptible
def kernighan_lin_pairs(
    problem: Any,
    initial: Any = None,
    *,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    target: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> PartitionResult:
    """Improve a partition by chains of moves, sequences of switches between two clusters, joins and splits.

    Also known as Kernighan-Lin with joins, ``klj`` or ``kernighan-lin-joins``.

    Parameters
    ----------
    problem : SetPartition or networkx.Graph
        A graph has its costs in the edge attribute ``cost``. Elements that must be joined move together.
    initial : Result, labels, mapping or list of sets, optional
        The partition to start from; default: the fixed point of greedy joining (of joining at many places at once, if
        there are more than 10^6 pairs, as of large grids), or, for more than 1000 elements whose unlisted pairs cost
        something, what one iteration of :func:`~graphpart.partition.multilevel` reaches. Elements that it leaves out
        start alone.
    time_limit, target, callback
        As for :func:`~graphpart.partition.greedy_joining`.
    max_iterations : int, optional
        Number of rounds over pairs of clusters, and of turns of moves.

    Returns
    -------
    PartitionResult
        With status ``local_optimum``: no join of two clusters and no described sequence lowers the cost; `iterations`
        counts rounds and turns.

    Raises
    ------
    InvalidProblem, InvalidPartition, InvalidOption
        If an argument is not as described.

    Notes
    -----
    Groups and limits are obeyed, and clusters stay connected if they have to be. If there are as many clusters as
    allowed, an element only moves to a cluster that a stored pair links to it; :func:`~graphpart.partition.search` also
    tries the others.

    In the worst case, a round over pairs takes O(m log n) time for each neighbour of a cluster. If most clusters have
    few neighbours, it takes about O(m log n) in all; on dense problems, O(n^2). A chain takes O(d^2) time if elements
    have d neighbours; a move on a matrix takes O(n). With a background whose weights differ, and with groups or limits,
    a switch takes time in proportion to the number of elements that may still switch. If a background attracts some
    pairs, the problem is converted to a matrix. Above 20,000 elements, moves to clusters and joins with clusters that
    no stored pair links follow, in turn, until none of all these changes lowers the cost.

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3), (0, 3)], [-2.0, 1.0, -2.0, 0.5])
    >>> kernighan_lin_pairs(p, initial=[0, 1, 0, 1]).partition
    [{0, 1}, {2, 3}]
    """
    stopping = Stopping(time_limit, max_iterations, target, callback)
    return improve(problem, initial, start_of_sequences, improve_by_pairs, "kernighan-lin-pairs", stopping, is_native)


def improve_by_pairs(p: SetPartition, labels: Labels, stopping: Stopping) -> Labels:
    """The fixed point of pairwise Kernighan-Lin from canonical labels."""
    p = as_pairs(p)
    while any_subset_attracts(p) and p.n:
        before = p._evaluate_labels(labels)
        labels = canonical(_improve_linked(p, labels, stopping))
        for other in (move_to_any, join_any):
            if stopping.reason is None:
                labels = other(p, labels, p._evaluate_labels(labels), stopping)
        if stopping.reason is not None or not p._evaluate_labels(labels) < before - p._tolerance:
            return labels
    return _improve_linked(p, labels, stopping)


def _improve_linked(p: SetPartition, labels: Labels, stopping: Stopping) -> Labels:
    """The fixed point of pairwise Kernighan-Lin over subsets that stored pairs link."""
    if p.n == 0:
        return labels
    terms = None if p.cost is None else terms_of(p)
    pairs = _pairs_of(p, labels, terms)
    _improve_in_turn(p, pairs, terms, stopping)
    improved: Labels = pairs.labels
    return improved


def _improve_in_turn(p: SetPartition, pairs: Pairs, terms: Terms | None, stopping: Stopping) -> None:
    """Pairs of subsets and sequences over all of them, in turn, until neither improves."""
    if not p.is_dense:
        if neighbours_of(p) > MANY:
            _improve_pairs(pairs, stopping)
            if stopping.reason is not None:
                return
        chains = Chains(
            *p._rows().arrays, pairs.labels, p._magnitude, p._tolerance, _patience(p), LONGEST, pairs.hub, terms,
            p.n // BATCHES if p.n >= LARGE else 1,
        )  # fmt: skip
    divided = False
    while True:
        before = pairs.cost
        if p.is_dense:
            moved = _kernels.kernighan_lin(
                p.matrix, pairs.labels, p._magnitude, p._tolerance, p._has_must_cut, before, stopping,
                p.n // 10 + REST, LONG * p.n,
            )  # fmt: skip
            cost = p._evaluate_labels(moved)
            if cost < before - p._tolerance:
                pairs.adopt(moved, cost)
        else:
            chains.adopt(pairs.labels)
            cost = chains.improve(before, stopping)
            pairs.adopt(chains.labels, cost)
        if stopping.step(pairs.cost):
            return
        if (
            divided
            and not pairs.cost < before
            and not (pairs.joins_help() if pairs.bounded else joins_help(p, canonical(pairs.labels)))
        ):
            if not _improve_wholly(pairs, stopping):
                return
            divided = False
            continue
        before = pairs.cost
        _improve_pairs(pairs, stopping)
        if stopping.reason is not None:
            return
        divided = not pairs.cost < before
        if not divided:
            stopping.record(pairs.cost)
            continue
        labels = canonical(pairs.labels)
        pieces = labels if p.is_dense or p.background is not None else connected_subsets(p, labels)
        if pieces.max() > labels.max():
            pairs.adopt(pieces, pairs.cost)
        elif _improve_wholly(pairs, stopping):
            divided = False
        else:
            return


def _patience(p: SetPartition) -> int:
    """The number of moves without a new best prefix, after which a chain ends."""
    groups = p.groups
    if groups is None or not groups.is_hard:
        return CHAIN
    members = np.bincount(groups.element[groups.hard[groups.group]], minlength=p.n)
    return 1 if np.count_nonzero(groups.hard) <= 2 and members.all() else CHAIN


def _pairs_of(p: SetPartition, labels: Labels, terms: Terms | None) -> Pairs:
    cost = p._evaluate_labels(labels)
    if p.cost is None:
        return Pairs(p.matrix, None, labels, p._magnitude, p._tolerance, cost, SWITCHES)
    mean = 2.0 * _sum_of_sizes(p) / p.n
    whole = WHOLE if neighbours_of(p) > MANY else 0
    return Pairs(
        None, p._rows().arrays, labels, p._magnitude, p._tolerance, cost, SWITCHES, HEIGHT * mean, whole, terms,
        p.n >= DIVIDED, PARTLY, FEW,
    )  # fmt: skip


def _sum_of_sizes(p: SetPartition) -> float:
    """The sum of the absolute costs of the stored pairs that need not be cut."""
    sizes = np.abs(np.asarray(p.cost))
    return float(sizes.sum(where=sizes < np.inf) if p._has_must_cut else sizes.sum())


def _improve_pairs(pairs: Pairs, stopping: Stopping) -> None:
    """Rounds until one changes nothing, or little."""
    before, least = pairs.cost, 0.0
    while pairs.round(stopping):
        gain = before - pairs.cost
        if stopping.step(pairs.cost):
            return
        stopping.record(pairs.cost)
        if gain < least:
            return
        before, least = pairs.cost, max(least, 0.1 * gain)


def _improve_wholly(pairs: Pairs, stopping: Stopping) -> bool:
    """A round over subsets that so far were looked at partly; whether it helped, and the run may go on."""
    if not pairs.owes or not pairs.round(stopping, True) or stopping.step(pairs.cost):
        return False
    stopping.record(pairs.cost)
    return True
