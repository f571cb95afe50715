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
least sum of the remaining costs around the cycle, less the sum of the least remaining costs. The best candidates are
added, and message passing continues from the present messages, now also between pairs and triplets (Kolmogorov 2015).
Chords count as pairs in later rounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.bounds import _tightening
from graphpart.crf.bounds.passes import Passes
from graphpart.stopping import Stopping

__all__ = ["tighten"]

Elements = NDArray[np.int32]
Offsets = NDArray[np.int64]
Floats = NDArray[np.float64]
Cycles = tuple[Offsets, Elements, Elements]  # starts, variables, pairs: each pair leads to the next variable
Rows = tuple[Offsets, Elements, Elements]  # starts, neighbours ascending, pairs
ROOM = 1 << 26  # entries of all tables of pairs, and of all triplets, that are kept at most: 0.5 GB each
CANDIDATES = 1_000_000  # triangles and cycles of four that are looked at
BUSY = 64  # degree of a variable from which on no cycle of four is looked for through it
LONGEST, REACH, ALL = 24, 4096, 10_000_000  # shortest cycles: their length, variables seen for each, length of all
MOST = 20_000  # cycles that contradict themselves, looked at in one round, and cycles added in one
SPREAD = 6  # sweeps that spread costs evenly before cycles are judged
SHARE = 0.2  # of the candidates that would gain, added in one round
FEWEST = 250  # or at least so many
CRUMB = 1e-9  # share of the gap that a cycle must gain


def tighten(passes: Passes, cost: float, stopping: Stopping) -> bool:
    """Add the cycles that raise the bound most; return False if no cycle does, or if the memory is used up.

    O(sizes of the tables of pairs + lengths of candidates times labels^3).
    """
    f, s = passes.f, passes.structure
    domains, scope_start, scope, _, _ = f._flat()
    arity = np.diff(scope_start)[passes.several]
    own = passes.several[arity == 2]
    ends = np.concatenate([scope[scope_start[own][:, None] + np.arange(2)], s.pairs])
    if len(ends) < 3 or int(domains[ends].astype(np.int64).prod(axis=1).sum()) > ROOM:
        return False
    number = np.concatenate([np.flatnonzero(arity == 2), len(arity) + np.arange(len(s.pairs))])
    factor = np.concatenate([own, f.m + np.arange(len(s.pairs))]).astype(np.int32)
    messages, _ = passes.messages()
    start, tables = passes.network.reduced(messages, factor)
    unary = passes.remaining(messages)
    rows = _neighbours(f.n, ends)
    if stopping.check(cost):
        return False
    _tightening.spread(*rows, domains, passes.first, unary, start, tables, SPREAD)
    gap = max(cost - passes.bound, 0.0) if cost < np.inf else abs(passes.bound)
    least = float(np.ldexp(CRUMB * gap, -passes.exponent))
    index = {(min(a, b), max(a, b)): int(k) for (a, b), k in zip(ends.tolist()[::-1], number[::-1], strict=True)}

    def frustrated(rows: Rows) -> Cycles:
        return _frustrated(ends, domains, start, tables, least)

    for kinds in ((_triangles, _squares), (frustrated,), (_shortest,)):
        listed: list[tuple[Cycles, Floats]] = []
        for kind in kinds:
            if stopping.check(cost):
                return False
            cycles = kind(rows)
            gains = _tightening.gains(*cycles, domains, passes.first, unary, start, tables, cost, stopping)
            listed.append((cycles, gains))
        if not stopping.check(cost) and _add(passes, _best(listed, least), index):
            return True
    return False


def _best(listed: list[tuple[Cycles, Floats]], least: float) -> list[list[int]]:
    """The cycles that raise the bound most, in descending order."""
    gains = np.concatenate([part for _, part in listed])
    good = np.count_nonzero(gains > least)
    chosen = np.argsort(-gains, kind="stable")[: min(good, max(FEWEST, min(MOST, int(SHARE * good))))]
    first = np.cumsum([0, *(len(part) for _, part in listed)])
    cycles = []
    for c in chosen.tolist():
        part = int(np.searchsorted(first, c, side="right")) - 1
        starts, scopes, _ = listed[part][0]
        at = c - first[part]
        cycles.append(scopes[starts[at] : starts[at + 1]].tolist())
    return cycles


def _add(passes: Passes, found: list[list[int]], index: dict[tuple[int, int], int]) -> bool:
    """Add the triplets of cycles, the best first; whether there were any that are new."""
    s, domains = passes.structure, passes.f.domains
    known = {tuple(t) for t in s.scopes.tolist()}
    room = ROOM - int(domains[s.scopes].astype(np.int64).prod(axis=1).sum())
    chords: list[tuple[int, int]] = []
    triplets: list[list[int]] = []
    added: list[tuple[int, int, int]] = []
    seen: set[frozenset[int]] = set()
    for cycle in found:
        if frozenset(cycle) in seen:  # the same one, found from elsewhere
            continue
        seen.add(frozenset(cycle))
        for part in _cut(cycle):
            entries = int(domains[list(part)].astype(np.int64).prod())
            if part in known or entries > room:
                continue
            room -= entries
            known.add(part)
            i, j, k = part
            three = []
            for pair in ((i, j), (i, k), (j, k)):
                if pair not in index:
                    index[pair] = len(passes.several) + len(s.pairs) + len(chords)
                    chords.append(pair)
                three.append(index[pair])
            triplets.append(three)
            added.append(part)
    if not added:
        return False
    passes.add(
        np.array(chords, np.int32).reshape(-1, 2),
        np.array(triplets, np.int32).reshape(-1, 3),
        np.array(added, np.int32).reshape(-1, 3),
    )
    return True


def _cut(cycle: list[int]) -> Iterator[tuple[int, int, int]]:
    """The triplets into which a zigzag of chords divides a cycle."""
    low, high, turn = 0, len(cycle) - 1, False
    while high - low >= 2:
        middle = high - 1 if turn else low + 1
        i, j, k = sorted((cycle[low], cycle[middle], cycle[high]))
        yield i, j, k
        low, high, turn = (low, high - 1, False) if turn else (low + 1, high, True)


def _triangles(rows: Rows) -> Cycles:
    scopes, pairs = _tightening.triangles(*rows, CANDIDATES)
    return 3 * np.arange(len(scopes) + 1), scopes.ravel(), pairs.ravel()


def _squares(rows: Rows) -> Cycles:
    scopes, pairs = _tightening.squares(*rows, CANDIDATES, BUSY)
    return 4 * np.arange(len(scopes) + 1), scopes.ravel(), pairs.ravel()


def _shortest(rows: Rows) -> Cycles:
    return _tightening.shortest(*rows, LONGEST, REACH, ALL)


def _frustrated(ends: Elements, domains: Elements, start: Offsets, tables: Floats, least: float) -> Cycles:
    """Cycles of the graph of labels that contradict themselves (Sontag, Choe & Li 2012)."""
    counts = np.where(domains > 2, domains, domains - 1).astype(np.int64)
    node = np.cumsum(counts) - counts
    edge_start = np.zeros(len(ends) + 1, np.int64)
    np.cumsum(counts[ends].prod(axis=1), out=edge_start[1:])
    nothing = (np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32))
    if edge_start[-1] > ROOM // 4:
        return nothing
    u, v, pair, value = _tightening.agreements(np.ascontiguousarray(ends), domains, node, start, tables, edge_start)
    order = np.argsort(-np.abs(value), kind="stable")
    order = order[: np.count_nonzero(np.abs(value) > least)]
    starts, nodes, pairs = _tightening.frustrated(
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
