"""Naive references of pairwise Kernighan-Lin with joins and of chains, which recompute every cost."""

from __future__ import annotations

import math
from collections import deque
from fractions import Fraction

import numpy as np
import pytest
import reference as naive

import graphpart as gp
from graphpart.partition.local_search._kernighan_lin_pairs import Pairs
from graphpart.partition.local_search._sparse_chains import Chains
from graphpart.partition.local_search.kernighan_lin_pairs import LONGEST, _pairs_of
from graphpart.partition.local_search.sums import terms_of
from graphpart.stopping import Stopping


def improve_pairs_alone(
    p: gp.SetPartition,
    labels: np.ndarray,
    stopping: Stopping,
    patience: int | None = None,
    divided: bool = False,
    parts: tuple[int, int] = (10**6, 8),
) -> np.ndarray:
    """The fixed point of pairs alone, without moves; `patience` replaces all rules about the ends of sequences."""
    if p.n == 0:
        return labels
    pairs = _pairs_of(p, labels, terms_of(p) if p.cost is not None else None)
    if patience is not None:
        rows, terms = (p._rows().arrays, terms_of(p)) if p.matrix is None else (None, None)
        cost = p._evaluate_labels(labels)
        pairs = Pairs(
            p.matrix, rows, labels, p._magnitude, p._tolerance, cost, patience, 0.0, 0, terms, divided, *parts
        )
    while pairs.round(stopping) or (pairs.owes and pairs.round(stopping, True)):
        if stopping.step(pairs.cost):
            break
    return pairs.labels


def cost_matrix(p: gp.SetPartition) -> tuple[np.ndarray, np.ndarray]:
    """All costs, and which pairs are stored."""
    if p.matrix is not None:
        return p.matrix, ~np.eye(p.n, dtype=bool)
    C, stored = np.zeros((p.n, p.n)), np.zeros((p.n, p.n), bool)
    C[p.u, p.v] = C[p.v, p.u] = p.cost
    stored[p.u, p.v] = stored[p.v, p.u] = True
    if p.background is not None:
        p.background.add_to(C)
    return C, stored


def total(C: np.ndarray, x: np.ndarray) -> float:
    return float(np.triu(np.where(x[:, None] == x[None, :], C, 0.0), 1).sum())


def groups_of(x: np.ndarray, divided: bool) -> dict[int, int]:
    """The group of each subset: the large ones are dealt out, back and forth, then a quarter of the others each."""
    size = {U: int((x == U).sum()) for U in sorted(set(x.tolist()))}
    if not divided:
        return dict.fromkeys(size, 0)
    large = sorted((U for U in size if 256 * size[U] > len(x)), key=lambda U: -size[U])
    place = {U: (0, 1, 2, 3, 3, 2, 1, 0)[k % 8] for k, U in enumerate(large)}
    small = [U for U in size if U not in place]
    before = 0
    for U in small:
        place[U] = 4 * before // sum(size[V] for V in small)
        before += size[U]
    return {U: (0, 2, 3, 1)[place[U]] for U in size}


def reference(
    p: gp.SetPartition,
    labels: np.ndarray,
    patience: int = 1000,
    height: float = 0.0,
    whole: int = 0,
    divided: bool = False,
    parts: tuple[int, int] = (10**6, 8),
) -> np.ndarray:
    """The statement of the module, literally."""
    C, stored = cost_matrix(p)
    n, x, tolerance = p.n, np.array(labels), p._tolerance
    base = naive.Base(p, range(n))
    if base.any:
        stored = np.array([[b in base.near.get(a, ()) for b in range(n)] for a in range(n)]).reshape(n, n)
    unused = [U for U in range(n, -1, -1) if U not in set(x.tolist())]

    def linked(a: int, W: int) -> bool:
        return bool((stored[a] & (x == W)).any())

    def improve(U: int, V: int, together: int, pairs: np.ndarray | None = None) -> bool:
        """With `pairs`, only their elements may switch at first."""
        start = x.copy()
        first = stored if pairs is None else pairs
        ends = [(a, V if x[a] == U else U) for a in range(n) if x[a] in (U, V)]
        waiting = [a for a, W in ends if (first[a] & (x == W)).any() or V not in start]
        joined = np.where((x == U) | (x == V), together, x)
        join = total(C, joined) - total(C, x) if pairs is None and (waiting or not base.any) else math.inf
        smallest, sum_, kept, sequence, done = 0.0, 0.0, 0, [], set()
        both = int(((x == U) | (x == V)).sum())
        most = max(patience, both // 2) if both <= whole else patience
        while waiting and (len(sequence) - kept < most or sum_ - smallest < height):
            deltas = []
            for a in waiting:
                far = not linked(a, V if x[a] == U else U) and (sequence or V in start)
                if base.any and (far or not base.may_leave(a, x.tolist())):
                    continue
                y = x.copy()
                y[a] = V if x[a] == U else U
                deltas.append((total(C, y) - total(C, x), a))
            delta, a = min(deltas, default=(math.inf, -1))
            if delta == math.inf:
                break
            old = x[a]
            x[a] = V if old == U else U
            sum_ += delta
            sequence.append(a)
            waiting.remove(a)
            done.add(a)
            waiting += [b for b in np.flatnonzero(stored[a] & (x == old)).tolist() if b not in done | set(waiting)]
            if sum_ < smallest - tolerance:
                smallest, kept = sum_, len(sequence)
        x[:] = start
        if V in start and join < -tolerance and join <= smallest:
            sequence, kept = np.flatnonzero(x != joined).tolist(), -1
            x[:] = joined
        elif kept:
            for a in sequence[:kept]:
                x[a] = V if x[a] == U else U
        else:
            return False
        for a in sequence[: kept if kept >= 0 else None]:
            now.update([a, *np.flatnonzero(stored[a]).tolist()])
        for W in (U, V):
            changed.discard(W)
            if W in x:
                changed.add(W)
            else:
                unused.append(W)
        return True

    changed, now, owed, wholly = set(range(n + 1)), set[int](), set[int](), True
    # rows of subsets, and the groups of those to pair them with, step by step
    steps = [((0, 1), (0, 1)), ((2, 3), (2, 3)), *(((a,), (b,)) for a, b in ((0, 2), (1, 3), (0, 3), (1, 2)))]
    while True:
        at_start, close, changed, now = changed, now, set(), set()
        size = {U: int((x == U).sum()) for U in set(x.tolist())}
        partly = {
            U for U in at_start
            if not wholly and size[U] >= parts[0] and parts[1] * sum(x[a] == U for a in close) <= size[U]
        }  # fmt: skip
        at_start = at_start - partly | (owed if wholly else set())
        owed = (owed | partly) - at_start
        moved = np.array([a in close for a in range(n)], bool)
        by_change = stored & (moved[:, None] | moved[None, :])
        group = groups_of(x, divided)
        for mine, others in steps:
            crosses = len(mine) == 1
            for U in range(n + 1):
                if group.get(U) not in mine or U not in x:
                    continue
                near = {int(x[b]) for b in np.flatnonzero(stored[x == U].any(axis=0))}
                close_to = {int(x[b]) for b in np.flatnonzero(by_change[x == U].any(axis=0))}
                for V in sorted(V for V in near if V != U and group[V] in others and (crosses or U < V)):
                    larger = crosses and (x == V).sum() > (x == U).sum()
                    if U not in x or V not in x:
                        continue
                    if U in at_start or V in at_start:
                        improve(U, V, V if larger else U)
                    elif V in close_to and (U in partly or V in partly):
                        improve(U, V, U, by_change)
        touched = at_start | {U for U in changed if wholly or (x == U).sum() < parts[0]}
        spare = [sum(int((x == U).sum()) - 1 for U in group if (group[U] > 1) == k and U in x) for k in range(2)]
        free, shared = unused[::-1], 2 * min(spare)  # numbers are dealt out to the first and the last two groups
        rest = free[shared:][::-1]
        dealt = [(rest if spare[k] > min(spare) else []) + free[k:shared:2][::-1] for k in range(2)]
        for U in sorted(set(x.tolist())):
            numbers = dealt[group[U] > 1]
            while U in touched and (x == U).sum() > 1:
                W = numbers.pop()
                if not improve(U, W, U):
                    numbers.append(W)
                    break
        unused = [U for U in unused if U not in x]
        if not changed and not (owed := owed & set(x.tolist())):
            return x
        wholly = not changed


def reference_chains(
    p: gp.SetPartition,
    labels: np.ndarray,
    patience: int,
    hub: int = 99,
    longest: int = LONGEST,
    batch: int = 1,
    often: int = 4,
) -> list[int]:
    """Chains from each element in turn, literally, in exact arithmetic on costs rounded to fixed point.

    All costs are integers here: multiples of one power of two, which takes a fifth of the time of fractions.
    With a larger `batch`, chains from so many elements are found before any of them is applied.
    """
    n, x, tolerance = p.n, labels.tolist(), Fraction(p._tolerance) * (1 if p.background is None else 64)
    background = np.zeros((n, n))
    if p.background is not None:
        p.background.add_to(background)
    cost: dict[int, dict[int, float | int]] = {a: {} for a in range(n)}
    # A sum along a chain is at most that of its moves, each at most twice the magnitude; it has 61 bits.
    unit = Fraction(2) ** (math.frexp(2.0 * longest * p._magnitude)[1] - 61)
    grain = Fraction(1, max([unit.denominator, *(c.as_integer_ratio()[1] for c in background.ravel().tolist())]))
    far = [[int(Fraction(c) / grain) for c in row] for row in background.tolist()]
    tolerance /= grain
    for a, b, c in zip(*(z.tolist() for z in p.pairs()), strict=True):
        cost[a][b] = cost[b][a] = c if math.isinf(c) else round(Fraction(c) / unit) * int(unit / grain)
    unused = sorted(set(range(n + 1)) - set(x), reverse=True)
    base = naive.Base(p, range(n))

    def best_move(a: int) -> tuple[float | int, int, int]:
        """Its change of cost, its subset, or n + 1 for the empty set, which comes last on ties."""
        sums: dict[int, float | int] = {}
        for b, c in cost[a].items():
            sums[x[b]] = sums.get(x[b], 0) + c
        sums.setdefault(x[a], 0)
        if p.background is not None:
            more = {U: sum(far[a][b] for b in range(n) if x[b] == U) for U in sums}
            sums = {U: c + more[U] for U, c in sums.items() if c < math.inf}
        own = sums.pop(x[a], 0)
        moves = [(c - own, U) for U, c in sums.items() if c != math.inf]
        if base.any:
            moves = [(c, U) for c, U in moves if base.link([a], [b for b in range(n) if x[b] == U])]
        if not base.may_leave(a, x):
            moves = []
        elif x.count(x[a]) > 1:
            moves.append((-own, n + 1))
        delta, U = min(moves, default=(math.inf, n + 1))
        return delta, a, U

    queue, gained = deque(range(n)), 0
    high = p.background is None or not p.background.repels  # else repelling pairs do not count at first

    def chain(a: int) -> tuple[int, list[tuple[int, int]]]:
        """What the best prefix of a chain changes, and its moves, to -1 - U if U is new; nothing is applied."""
        nonlocal x, unused
        start = list(x), list(unused)
        height = max((abs(c) for c in cost[a].values() if c < (math.inf if high else 0)), default=0)
        total = smallest = 0
        sequence: list[tuple[int, int]] = []
        kept = 0
        candidates, touched = {a}, set[int]()
        narrow = not base.any
        while len(sequence) - kept < patience and len(sequence) < longest:
            moves = [best_move(b) for b in candidates]
            if narrow and sequence:
                moves = [(delta, b, U) for delta, b, U in moves if x[b] in touched or U in touched]
            delta, b, U = min(moves, default=(math.inf, -1, -1))
            if total + delta > smallest + height:
                break
            total += delta
            old = x[b]
            x[b] = unused.pop() if n < U else U
            sequence.append((b, -1 - x[b] if n < U else U))
            if old not in x:
                unused.append(old)
            touched |= {old, x[b]}
            passed = [b for b, _ in sequence if len(cost[b]) <= hub]
            near = {d for b in passed for d in (base.near.get(b, ()) if base.any else cost[b])}
            candidates = {d for d in near if len(cost[d]) <= hub} - {b for b, _ in sequence}
            if total < smallest - tolerance:
                smallest, kept = total, len(sequence)
            origins, targets = ({y[b] for b, _ in sequence} for y in (start[0], x))
            if len(origins) == len(targets) == 1 and len(sequence) == x.count(x[b]) and not origins & set(x):
                break  # a subset has another number, and nothing else has changed
        x, unused = start
        return smallest, sequence[:kept]

    def apply(moves: list[tuple[int, int]]) -> set[int]:
        """Apply moves, let chains start again around them, and return from where."""
        number: dict[int, int] = {}  # of new subsets, as they are now
        for b, U in moves:
            old = x[b]
            x[b] = number.get(U, U) if U >= 0 else unused.pop()
            if U < 0:
                number[-1 - U] = x[b]
            if old not in x:
                unused.append(old)
        around = [d for b, _ in moves for d in (b, *sorted(cost[b]))]
        for d in around:
            if d not in queue:
                queue.append(d)
        return set(around)

    def paid() -> int:
        """The cost of all pairs within subsets."""
        together = [(a, b) for a in range(n) for b in range(a) if x[a] == x[b]]
        return sum((cost[a].get(b, 0) + far[a][b] for a, b in together), 0)

    moved = n
    if p.background is not None and not p.background.repels:
        batch = 1
    while queue:
        taken = [queue.popleft() for _ in range(min(batch, len(queue)))]
        if batch == 1 or often * moved > len(taken):
            moved = 0
            for k, a in enumerate(taken):
                queue.extendleft(reversed(taken[k + 1 :]))  # those still wait, and are not queued twice
                smallest, moves = chain(a)
                gained -= smallest
                apply(moves)
                for _ in taken[k + 1 :]:
                    queue.popleft()
                moved += len(moves)
        else:
            moved, around, changed = 0, set[int](), set[int]()  # the latter are subsets
            halves = taken[: len(taken) // 2], taken[len(taken) // 2 :]
            found = []
            for half in halves:
                written, chains = 0, []
                for a in half:
                    if written + longest >= 2 * (batch + longest):
                        break
                    chains.append((a, *chain(a)))
                    written += len(chains[-1][2]) + 1 if chains[-1][2] else 0
                found.append(chains)
            for half, chains in zip(halves, found, strict=True):
                for a, smallest, moves in chains:
                    fits = not around & {b for b, _ in moves}
                    before, old, free, waiting = paid(), list(x), list(unused), list(queue)
                    meets = changed & ({x[b] for b, _ in moves} | {U for _, U in moves})
                    near = apply(moves) if fits else set[int]()
                    if fits and p.background is not None and meets:
                        smallest = paid() - before
                        if not smallest < -tolerance:
                            x, unused, queue, fits = old, free, deque(waiting), False
                    if fits:
                        gained -= smallest
                        around |= near
                        changed |= {V for b, _ in moves for V in (old[b], x[b])}
                        moved += len(moves)
                    elif a not in queue:
                        queue.append(a)
                queue.extend(a for a in half[len(chains) :] if a not in queue)
        if not queue and not high and gained > 1e-4 * abs(p._evaluate_labels(labels)):
            high, queue = True, deque(range(n))
        if not queue and (p.background is not None or base.any):
            queue.extend(a for a in range(n) if best_move(a)[0] < -tolerance)
    return x


def chained(
    p: gp.SetPartition, labels: np.ndarray, patience: int, hub: int = 99, longest: int = LONGEST, *batches: int
) -> list[int]:
    """What chains make of labels; `batches`: the number of elements of a batch, and how often elements may move."""
    rows = p._rows().arrays
    chains = Chains(*rows, labels, p._magnitude, p._tolerance, patience, longest, hub, terms_of(p), *batches)
    cost = p._evaluate_labels(labels)
    after = chains.improve(cost, Stopping())
    assert after == pytest.approx(p.evaluate(chains.labels), rel=1e-9, abs=1e-9 * p._magnitude)
    return chains.labels.tolist()
