"""Tightening: cycles on which pairs contradict each other are added as factors over three variables.

Messages between pairs and variables cannot raise the bound above the optimum of the relaxation over pairs. If the
cheapest entries of the pairs around a cycle contradict each other, a factor over all variables of the cycle can raise
the bound further. A cycle of three variables is one triplet. A longer cycle is divided into triplets by chords, which
are pairs with tables of zeros (Sontag et al. 2008; Batra, Nowozin & Kohli 2011). Candidates are

1. all triangles and chordless cycles of four,
2. if none of these raises the bound, cycles with an odd number of negative edges in the following graph (Sontag, Choe &
   Li 2012): a node stands for a variable and one of its labels; the weight of an edge is how much more it costs that
   exactly one of both variables has the label of its node than that both have it or neither has,
3. if none of these raises the bound, a shortest cycle through each pair.

After a pass, costs are concentrated where the pass ended, and contradictions elsewhere cannot be seen. To look for
cycles, costs are therefore first spread evenly. A candidate is judged by the rise of the bound that it guarantees: the
least sum of the remaining costs around the cycle, less the sum of the least remaining costs. All candidates that raise
it are added, the best first, and message passing continues from the present messages, now also between pairs and
triplets (Kolmogorov 2015). Only the messages of a triplet to its pairs are kept: its table is minus their sum.
Chords count as pairs in later rounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.bounds import _kernels
from graphpart.crf.bounds.passes import PROVING, Passes, sent
from graphpart.stopping import Stopping

__all__ = ["tighten"]

Elements = NDArray[np.int32]
Offsets = NDArray[np.int64]
Floats = NDArray[np.float64]
Cycles = tuple[Offsets, Elements, Elements]  # starts, variables, pairs: each pair leads to the next variable
Chosen = tuple[Offsets, Offsets, Elements]  # of each cycle where it begins and its length; the variables of all
Rows = tuple[Offsets, Elements, Elements]  # starts, neighbours ascending, pairs
ROOM = 1 << 26  # entries of all tables of pairs, and of what all triplets send, that are kept at most: 0.5 GB each
CANDIDATES = 1_000_000  # triangles and cycles of four that are looked at
BUSY = 64  # degree from which no cycles of four through a variable are sought
LONGEST, REACH, ALL = 24, 4096, 10_000_000  # shortest cycles: their length, variables seen for each, length of all
MOST = 20_000  # largest number of self-contradicting cycles examined in one round
SPREAD = 6  # number of sweeps that spread costs evenly before cycles are evaluated


def tighten(passes: Passes, cost: float, stopping: Stopping) -> bool:
    """Add the cycles that raise the bound most; return False if no cycle does, or if the memory is used up.

    O(sizes of the tables of pairs + lengths of candidates times labels^3).
    """
    f, s = passes.f, passes.structure
    if passes.narrow:
        return False
    domains, scope_start, scope, _, _ = f._flat()
    arity = np.diff(scope_start)[passes.several]
    own = passes.several[arity == 2]
    ends = np.concatenate([scope[scope_start[own][:, None] + np.arange(2)], s.pairs])
    if len(ends) < 3 or int(domains[ends].astype(np.int64).prod(axis=1).sum()) > ROOM:
        return False
    number = np.concatenate([np.flatnonzero(arity == 2), len(arity) + np.arange(len(s.pairs))])
    factor = np.concatenate([own, f.m + np.arange(len(s.pairs))]).astype(np.int32)
    passes.straighten()
    messages, _ = passes.messages()
    start, tables = passes.network.reduced(messages, factor, passes.own())
    unary = passes.remaining(messages)
    rows = _neighbours(f.n, ends)
    if stopping.check(cost):
        return False
    left = _kernels.PairCosts(domains, passes.first, unary, start, tables)
    _kernels.spread(left, *rows, SPREAD)
    gap = max(cost - passes.bound, 0.0) if cost < np.inf else abs(passes.bound)
    least = float(np.ldexp(1e-9 * gap, -passes.exponent))  # smaller gains are rounding
    keys, at = np.unique(_keys(f.n, *np.sort(ends, axis=1).T), return_index=True)
    index = keys, number[at]  # of several pairs over the same variables the first one

    def frustrated(rows: Rows) -> Cycles:
        return _frustrated(ends, domains, start, tables, least)

    for kinds in ((_triangles, _squares), (frustrated,), (_shortest,)):
        listed: list[tuple[Cycles, Floats]] = []
        for kind in kinds:
            if stopping.check(cost):
                return False
            cycles = kind(rows)
            gains = _kernels.gains(left, *cycles, cost, stopping)
            listed.append((cycles, gains))
        seconds = stopping.remaining
        room = ROOM if seconds is None else min(ROOM, int(0.5 * seconds / PROVING))
        if not stopping.check(cost) and _add(passes, _best(listed, least), index, room):
            return True
    return False


def _best(listed: list[tuple[Cycles, Floats]], least: float) -> Chosen:
    """The cycles that raise the bound most, in descending order."""
    gains = np.concatenate([part for _, part in listed])
    good = np.count_nonzero(gains > least)
    chosen = np.argsort(-gains, kind="stable")[:good]
    before = np.cumsum([0, *(len(scopes) for (_, scopes, _), _ in listed)])
    starts = [cycles[0] for cycles, _ in listed]
    begin = np.concatenate([start[:-1] + first for start, first in zip(starts, before[:-1], strict=True)])
    length = np.concatenate([np.diff(start) for start in starts])
    return begin[chosen], length[chosen], np.concatenate([scopes for (_, scopes, _), _ in listed])


def _add(passes: Passes, found: Chosen, index: tuple[Offsets, Offsets], room: int) -> bool:
    """Add the triplets of cycles, the best first, as far as all send at most `room` entries; whether any was new.

    `index` has the keys of all pairs, ascending, and their numbers.
    """
    s, domains, n = passes.structure, passes.f.domains, passes.f.n
    every = np.concatenate([s.scopes, _triplets(*found)])
    i, j, k = every.astype(np.int64).T
    _, pair = np.unique(_keys(n, i, j), return_inverse=True)
    new = np.sort(np.unique(pair * n + k, return_index=True)[1])
    new = new[new >= len(s.scopes)]
    new = new[np.cumsum(sent(domains, every[new])) <= room - int(sent(domains, s.scopes).sum())]
    if not len(new):
        return False
    i, j, k = i[new], j[new], k[new]
    keys, numbers = index
    wanted = np.stack([_keys(n, i, j), _keys(n, i, k), _keys(n, j, k)], axis=1).ravel()
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    three, lacking = numbers[place], np.flatnonzero(keys[place] != wanted)
    chords, first, at = np.unique(wanted[lacking], return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.argsort(order)
    three[lacking] = len(passes.several) + len(s.pairs) + rank[at]
    passes.add(
        np.stack(np.divmod(chords[order], n), axis=1).astype(np.int32),
        three.reshape(-1, 3).astype(np.int32),
        every[new],
    )
    return True


def _keys(n: int, low: NDArray[Any], high: NDArray[Any]) -> Offsets:
    return np.asarray(low.astype(np.int64) * n + high)


def _triplets(begin: Offsets, lengths: Offsets, variables: Elements) -> Elements:
    """The triplets of cycles, variables ascending, those of the best cycle first; equal cycles count once."""
    parts, ranks = [np.zeros((0, 3), np.int32)], [np.zeros(0, np.int64)]
    for length in np.unique(lengths).tolist():
        rank = np.flatnonzero(lengths == length)
        cycles = variables[begin[rank, None] + np.arange(length)]
        once = np.sort(np.unique(_key_of_each(np.sort(cycles, axis=1)), return_index=True)[1])
        corners = np.array(list(_cut(list(range(length)))))
        parts.append(np.sort(cycles[once][:, corners], axis=2).reshape(-1, 3))
        ranks.append(np.repeat(rank[once], len(corners)))
    return np.concatenate(parts)[np.argsort(np.concatenate(ranks), kind="stable")]


def _key_of_each(sets: Elements) -> Offsets:
    """A number for each row, the same for equal rows only. Rows that are too long for one number are sorted."""
    most = int(sets.max(initial=0)) + 1
    if most ** sets.shape[1] < 2**63:
        return np.asarray(sets.astype(np.int64) @ np.array([most**k for k in range(sets.shape[1])], np.int64))
    return np.unique(sets, axis=0, return_inverse=True)[1].ravel()


def _cut(cycle: list[int]) -> Iterator[tuple[int, int, int]]:
    """The triplets into which a zigzag of chords divides a cycle."""
    low, high, turn = 0, len(cycle) - 1, False
    while high - low >= 2:
        middle = high - 1 if turn else low + 1
        i, j, k = sorted((cycle[low], cycle[middle], cycle[high]))
        yield i, j, k
        low, high, turn = (low, high - 1, False) if turn else (low + 1, high, True)


def _triangles(rows: Rows) -> Cycles:
    scopes, pairs = _kernels.triangles(*rows, CANDIDATES)
    return 3 * np.arange(len(scopes) + 1), scopes.ravel(), pairs.ravel()


def _squares(rows: Rows) -> Cycles:
    scopes, pairs = _kernels.squares(*rows, CANDIDATES, BUSY)
    return 4 * np.arange(len(scopes) + 1), scopes.ravel(), pairs.ravel()


def _shortest(rows: Rows) -> Cycles:
    return _kernels.shortest(*rows, LONGEST, REACH, ALL)


def _frustrated(ends: Elements, domains: Elements, start: Offsets, tables: Floats, least: float) -> Cycles:
    """Cycles of the graph of labels that contradict themselves (Sontag, Choe & Li 2012)."""
    counts = np.where(domains > 2, domains, domains - 1).astype(np.int64)
    node = np.cumsum(counts) - counts
    edge_start = np.zeros(len(ends) + 1, np.int64)
    np.cumsum(counts[ends].prod(axis=1), out=edge_start[1:])
    nothing = (np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32))
    if edge_start[-1] > ROOM // 4:
        return nothing
    u, v, pair, value = _kernels.agreements(np.ascontiguousarray(ends), domains, node, start, tables, edge_start)
    order = np.argsort(-np.abs(value), kind="stable")
    order = order[: np.count_nonzero(np.abs(value) > least)]
    starts, nodes, pairs = _kernels.frustrated(
        u[order], v[order], pair[order], value[order], int(counts.sum()), LONGEST, MOST
    )
    variable = np.repeat(np.arange(len(domains)), counts)[nodes].tolist()
    by, bounds = pairs.tolist(), starts.tolist()
    lengths, scopes, members = [0], [], []
    for begin, end in pairwise(bounds):
        # A variable met again, maybe with another label, closes a cycle of its own.
        path: list[int] = []
        sides: list[int] = []
        for k in (*range(begin, end), begin):
            at = variable[k]
            if at in path:
                place = path.index(at)
                if len(path) - place > 2:
                    scopes += path[place:]
                    members += sides[place:]
                    lengths.append(len(scopes))
                del path[place:], sides[place:]
            path.append(at)
            sides.append(by[k])
    return np.array(lengths, np.int64), np.array(scopes, np.int32), np.array(members, np.int32)


def _neighbours(n: int, ends: Elements) -> Rows:
    """Of several pairs over the same variables the first counts."""
    low, high = ends.min(axis=1).astype(np.int64), ends.max(axis=1).astype(np.int64)
    _, first = np.unique(low * n + high, return_index=True)
    u = np.concatenate([low[first], high[first]])
    v = np.concatenate([high[first], low[first]])
    pair = np.concatenate([first, first])
    order = np.lexsort((v, u))
    rows = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(u, minlength=n), out=rows[1:])
    return rows, v[order].astype(np.int32), pair[order].astype(np.int32)
