"""Tightening: cycles on which pairs contradict each other are added as factors over three variables.

Messages among pairs and variables cannot raise the bound above that of the relaxation over pairs. Where the cheapest
entries of the pairs around a cycle do not fit together, a factor over all its variables can: a cycle of three is one
triplet, a cycle of four is cut by a chord, a pair with a table of zeros, into two (Sontag et al. 2008; Batra, Nowozin &
Kohli 2011; Sontag, Choe & Li 2012). Each candidate is judged by the rise of the bound that it guarantees: the least sum
around the cycle of what remains of all costs, less the sum of the least costs. The best are added, and message passing
goes on from the present messages, between pairs and triplets as well (Kolmogorov 2015). Chords count as pairs in later
rounds, so that longer cycles come within reach.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.bounds import _tightening
from graphpart.crf.bounds.passes import Passes
from graphpart.stopping import Stopping

__all__ = ["tighten"]

Elements = NDArray[np.int32]
ROOM = 1 << 26  # entries of all tables of pairs, and of all triplets, that are kept at most: 0.5 GB each
CANDIDATES = 2_000_000  # triangles and cycles of four that are looked at
BUSY = 64  # degree of a variable from which on no cycle of four is looked for through it
SHARE = 0.2  # of the candidates that would gain, added in one round
FEWEST = 500  # or at least so many
SPREAD = 6  # sweeps that spread costs evenly before cycles are judged
CRUMB = 1e-7  # share of the gap that a cycle must gain


def tighten(passes: Passes, cost: float, stopping: Stopping) -> bool:
    """Add the cycles that raise the bound most; False if none does, or memory is used up.

    O(sizes of the tables of pairs + number of candidates times labels^3).
    """
    f, s = passes.f, passes.structure
    domains, scope_start, scope, table_start, _ = f._flat()
    several = passes.several
    own = several[np.diff(scope_start)[several] == 2]
    sizes = domains[scope[scope_start[own]]].astype(np.int64) * domains[scope[scope_start[own] + 1]]
    if len(own) + len(s.pairs) < 3 or int(sizes.sum()) > ROOM:
        return False
    ends = np.concatenate([scope[scope_start[own][:, None] + np.arange(2)], s.pairs])
    number = np.concatenate(
        [np.flatnonzero(np.diff(scope_start)[several] == 2), len(several) + np.arange(len(s.pairs))]
    )
    factor = np.concatenate([own, f.m + np.arange(len(s.pairs))]).astype(np.int32)
    messages, _ = passes.messages()
    start, tables = passes.network.reduced(messages, factor)
    unary = passes.remaining(messages)
    rows, neighbours, pairs = _neighbours(f.n, ends)
    _tightening.spread(rows, neighbours, pairs, domains, passes.first, unary, start, tables, SPREAD)
    if stopping.check(cost):
        return False
    gap = max(cost - passes.bound, 0.0) if cost < np.inf else abs(passes.bound)
    least = np.ldexp(CRUMB * gap / max(1, f.n) ** 0.5, -passes.exponent)
    known = {tuple(t) for t in s.scopes.tolist()}
    found: list[tuple[float, list[tuple[int, ...]]]] = []
    for length in (3, 4):
        if length == 3:
            scopes, members = _tightening.triangles(rows, neighbours, pairs, CANDIDATES)
        else:
            scopes, members = _tightening.squares(rows, neighbours, pairs, CANDIDATES, BUSY)
        gains = _tightening.gains(scopes, members, domains, passes.first, unary, start, tables)
        good = np.flatnonzero(gains > least)
        for gain, cycle in zip(gains[good].tolist(), scopes[good].tolist(), strict=True):
            found.append((gain, _cut(cycle)))
        if stopping.check(cost):
            return False
    found.sort(key=lambda item: -item[0])
    index = {(min(a, b), max(a, b)): int(k) for (a, b), k in zip(ends.tolist()[::-1], number[::-1], strict=True)}
    room = ROOM - int(domains[s.scopes].astype(np.int64).prod(axis=1).sum())
    chords: list[tuple[int, int]] = []
    triplets: list[list[int]] = []
    added: list[tuple[int, ...]] = []
    most = max(FEWEST, int(SHARE * len(found)))
    for _, parts in found:
        if len(added) >= most:
            break
        for part in parts:
            entries = int(domains[list(part)].astype(np.int64).prod())
            if part in known or entries > room:
                continue
            room -= entries
            known.add(part)
            i, j, k = part
            three = []
            for pair in ((i, j), (i, k), (j, k)):
                if pair not in index:
                    index[pair] = len(several) + len(s.pairs) + len(chords)
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


def _cut(cycle: list[int]) -> list[tuple[int, ...]]:
    """The triplets of a cycle of three or four."""
    if len(cycle) == 3:
        return [tuple(cycle)]
    i, j, k, m = cycle
    return [tuple(sorted((i, j, k))), tuple(sorted((i, m, k)))]


def _neighbours(n: int, ends: Elements) -> tuple[NDArray[np.int64], Elements, Elements]:
    """Compressed rows (starts, neighbours ascending, pairs); of several pairs over the same variables the first."""
    low, high = ends.min(axis=1).astype(np.int64), ends.max(axis=1).astype(np.int64)
    _, first = np.unique(low * n + high, return_index=True)
    u = np.concatenate([low[first], high[first]])
    v = np.concatenate([high[first], low[first]])
    pair = np.concatenate([first, first])
    order = np.lexsort((v, u))
    rows = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(u, minlength=n), out=rows[1:])
    return rows, v[order].astype(np.int32), pair[order].astype(np.int32)
