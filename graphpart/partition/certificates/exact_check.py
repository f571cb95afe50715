"""A check of certificates that shares no code with the modules that make them.

Plain Python in exact rational arithmetic: slow, short, and meant to be read.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, pairwise
from typing import Any

from graphpart.errors import InvalidCertificate

__all__ = ["check_certificate", "exact_bound"]


def check_certificate(problem: Any, certificate: Any, labels: Sequence[int] | None = None) -> Fraction:
    """Check a certificate for a problem, and labels if given, in exact rational arithmetic.

    Parameters
    ----------
    problem : SetPartition
        Read through `n`, `pairs()`, `lifted`, `must_join`, and the terms and groups of its `background` only.
    certificate : Certificate
        Read through `bound`, `step`, `n`, `cost`, `multipliers` and `inequalities` only.
    labels : sequence of n integers, optional
        A partition. The check fails if it is not feasible, if it costs less than the bound, or if the certificate
        states another cost.

    Returns
    -------
    Fraction
        The bound that the multipliers prove, at least that of the certificate.

    Raises
    ------
    InvalidCertificate
        If a part of the check fails.

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2), (0, 2)], [-2.0, -3.0, 4.0])
    >>> check_certificate(p, gp.partition.lower_bound(p, method="cycle-packing"), [0, 1, 1])
    Fraction(-3, 1)
    """
    if certificate.n != problem.n:
        raise InvalidCertificate(f"the certificate is for {certificate.n} elements: expected {problem.n}")
    proven = exact_bound(problem, certificate)
    if not proven >= Fraction(certificate.bound):
        raise InvalidCertificate(f"the multipliers prove {float(proven)!r} only: expected {certificate.bound!r}")
    if labels is not None:
        cost = _exact_cost(problem, labels)
        if cost < proven:
            raise InvalidCertificate(f"the labels cost {float(cost)!r}, less than the bound {float(proven)!r}")
        stated = certificate.cost
        if stated is not None and not math.isclose(float(cost), stated, rel_tol=1e-12, abs_tol=1e-300):
            slack = Fraction(2) ** -50 * sum(abs(Fraction(c)) for _, _, c in _finite_pairs(problem))
            if abs(cost - Fraction(stated)) > slack:
                raise InvalidCertificate(f"the labels cost {float(cost)!r}: expected {stated!r}, as stated")
    return proven


def exact_bound(problem: Any, certificate: Any) -> Fraction:
    """The bound that the multipliers of a certificate prove, rounded up to a multiple of its step."""
    class_of = _classes(problem)
    reduced: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
    bound = Fraction(0)
    cut = set()
    for a, b, cost in _all_pairs(problem):
        pair = _pair(class_of[a], class_of[b])
        if cost == math.inf:
            cut.add(pair)
        elif class_of[a] == class_of[b]:
            bound += Fraction(cost)
        else:
            reduced[pair] += Fraction(cost)
    kinds, starts, elements, splits = (
        getattr(certificate.inequalities, name).tolist() for name in ("kinds", "starts", "elements", "splits")
    )
    multipliers = certificate.multipliers.tolist()
    groups, price = _groups(problem)
    members = _members(class_of, groups)
    links = _links(problem, class_of, cut)
    general = []
    if not len(multipliers) == len(kinds) == len(splits) == len(starts) - 1:
        raise InvalidCertificate("arrays of different lengths")
    for k, multiplier in enumerate(multipliers):
        if not (math.isfinite(multiplier) and multiplier >= 0):
            raise InvalidCertificate(f"multiplier {k} is {multiplier!r}: expected a number of at least 0")
        some = elements[starts[k] : starts[k + 1]]
        if kinds[k] == 3:
            some, numbers = some[: splits[k]], some[splits[k] :]
            if len(some) != len(numbers):
                raise InvalidCertificate(f"inequality {k} has {len(some)} elements: expected a number for each")
        if not all(0 <= a < problem.n for a in some) or any(
            len({class_of[a] for a in part}) < len(part) for part in ([some] if kinds[k] != 5 else _pairs_of(some))
        ):
            raise InvalidCertificate(f"inequality {k} is over {some}: expected different elements of the problem")
        amount = Fraction(multiplier)
        if kinds[k] == 3:
            general.append((amount, [class_of[a] for a in some], numbers))
            bound -= amount * (sum(b * b for b in numbers) - abs(sum(numbers))) / 2
            continue
        if (
            kinds[k] == 4
            and len(some) > 2
            and not _share_a_group([members.get(class_of[a], {}) for a in some[1:]], price)
        ):
            raise InvalidCertificate(f"inequality {k} is over {some}: expected members of one group at price inf")
        bound -= amount * _right(kinds[k], splits[k], len(some))
        if kinds[k] == 5 and (links is None or _is_linked(links, [class_of[a] for a in some])):
            raise InvalidCertificate(f"inequality {k} is over {some}: expected what base pairs between {some[:2]} need")
        for sign, a, b in _left(kinds[k], splits[k], [class_of[a] for a in some]):
            reduced[_pair(a, b)] += sign * amount
    for pair, value in _general_terms(general):
        reduced[pair] += value
    if groups:
        bound += _paid(class_of, groups, price)
        for a, b in list(reduced):
            shared = [g for g in members.get(a, ()) if g in members.get(b, ())]
            if any(price[g] == math.inf for g in shared):
                cut.add((a, b))
            else:
                reduced[a, b] += sum((Fraction(price[g]) * members[a][g] * members[b][g] for g in shared), Fraction(0))
    terms = _background(problem)
    if terms:
        sums = [[_sums(class_of, weights) for weights in term[1:]] for term in terms]
        bound += sum((_within(class_of, term) for term in terms), Fraction(0))
        bound += sum((_negative(term[0], *each) for term, each in zip(terms, sums, strict=True)), Fraction(0))
        for a, b in {*reduced, *cut}:
            costs = [_product(term[0], each, a, b) for term, each in zip(terms, sums, strict=True)]
            reduced[a, b] += sum(map(sum, costs), Fraction(0))
            bound -= sum((part for parts in costs for part in parts if part < 0), Fraction(0))
    bound += sum((r for pair, r in reduced.items() if r < 0 and pair not in cut), Fraction(0))
    if certificate.step:
        step = Fraction(certificate.step)
        prices = ((0, 0, paid) for paid in set(price) if paid != math.inf)
        if any((Fraction(cost) / step).denominator != 1 for _, _, cost in chain(_finite_pairs(problem), prices)) or any(
            ((Fraction(x) * Fraction(y) * beta) / step).denominator != 1
            for beta, *weights in terms
            for x in _distinct(weights[0])
            for y in _distinct(weights[-1])
        ):
            raise InvalidCertificate(f"not all costs are multiples of {certificate.step!r}")
        bound = math.ceil(bound / step) * step
    return bound


def _general_terms(rows: list[tuple[Fraction, list[int], list[int]]]) -> Iterator[tuple[tuple[int, int], Fraction]]:
    """The terms (pair, coefficient) of general 2-partitions times their multipliers, in integers as far as possible."""
    unit = math.lcm(*(amount.denominator for amount, _, _ in rows))
    total: dict[tuple[int, int], int] = defaultdict(int)
    for amount, some, numbers in rows:
        weight = amount.numerator * (unit // amount.denominator)
        row = sorted(zip(some, numbers, strict=True))
        for i, (a, x) in enumerate(row):
            part = weight * x
            for b, y in row[i + 1 :]:
                total[a, b] += part * y
    for pair, value in total.items():
        yield pair, -Fraction(value, unit)


def _left(kind: int, split: int, some: list[int]) -> Iterator[tuple[int, int, int]]:
    """The terms (sign, a, b) of an inequality."""
    if kind == 0:
        yield from ((1, a, b) for a, b in pairwise(some))
        yield -1, some[0], some[-1]
    elif kind == 1:
        centre, rim = some[0], some[1:]
        for i, a in enumerate(rim):
            yield 1, centre, a
            yield -1, a, rim[i - 1]
    elif kind == 4:
        yield from ((1, some[0], b) for b in some[1:])
    elif kind == 5:
        yield from ((-1 if i else 1, a, b) for i, (a, b) in enumerate(_pairs_of(some)))
    else:
        for i in range(len(some)):
            for j in range(i):
                yield (1 if j < split <= i else -1), some[i], some[j]


def _right(kind: int, split: int, size: int) -> int:
    """The right-hand side of an inequality; InvalidCertificate if it is not of a known kind."""
    if kind == 0 and size >= 3 and split == 0:
        return size - 2
    if kind == 1 and size >= 4 and size % 2 == 0 and split == 1:
        return (size - 2) // 2
    if kind == 2 and 0 < split < size:
        return min(split, size - split)
    if kind == 4 and size >= 2 and split == 1:
        return 1
    if kind == 5 and split == 2 and size >= 2 and size % 2 == 0:
        return 0
    raise InvalidCertificate(
        f"kind {kind} with {size} elements and split {split}: expected a cycle, an odd wheel, a group star, a cut or a "
        "(general) 2-partition"
    )


def _classes(problem: Any) -> list[int]:
    """For each element, the representative of the set that required joins connect."""
    parent = list(range(problem.n))

    def find(a: int) -> int:
        while parent[a] != a:
            a = parent[a]
        return a

    for a, b in problem.must_join.tolist():
        parent[find(a)] = find(b)
    return [find(a) for a in range(problem.n)]


def _links(problem: Any, class_of: Sequence[int], cut: set[tuple[int, int]]) -> dict[int, set[int]] | None:
    """The representatives that base pairs link to each, unless they must be cut; None without connectedness."""
    if getattr(problem, "lifted", None) is None:
        return None
    links: dict[int, set[int]] = defaultdict(set)
    for (a, b, cost), is_lifted in zip(_all_pairs(problem), problem.lifted.tolist(), strict=True):
        a, b = class_of[a], class_of[b]
        if not is_lifted and cost != math.inf and _pair(a, b) not in cut:
            links[a].add(b)
            links[b].add(a)
    return links


def _pairs_of(some: Sequence[int]) -> list[tuple[int, int]]:
    """The pairs of a cut. The first one is the pair of separated elements; the others are the pairs of the cut."""
    return list(zip(some[::2], some[1::2], strict=False))


def _is_linked(links: dict[int, set[int]], some: list[int]) -> bool:
    """Whether base pairs link the first two elements without those of a cut and its elements."""
    pairs = _pairs_of(some[2:])
    barred = {pair for a, b in pairs for pair in ((a, b), (b, a))}
    out = {x for pair in pairs if not {*some[:2]}.isdisjoint(pair) for x in pair} - {*some[:2]}
    reached, waiting = ({some[0]}, {some[1]}), ([some[0]], [some[1]])
    side = 0
    while waiting[side]:  # from both sides in turns, so that the smaller one decides
        a = waiting[side].pop()
        for b in links[a]:
            if b in out or (a, b) in barred or b in reached[side]:
                continue
            if b in reached[1 - side]:
                return True
            reached[side].add(b)
            waiting[side].append(b)
        side = 1 - side
    return False


def _exact_cost(problem: Any, labels: Sequence[int]) -> Fraction:
    if len(labels) != problem.n:
        raise InvalidCertificate(f"{len(labels)} labels: expected {problem.n}")
    if any(labels[a] != labels[b] for a, b in problem.must_join.tolist()):
        raise InvalidCertificate("the labels separate a pair that must be joined")
    inside = [cost for a, b, cost in _all_pairs(problem) if labels[a] == labels[b]]
    if math.inf in inside:
        raise InvalidCertificate("the labels join a pair that must be cut")
    links = _links(problem, range(problem.n), set())
    if links is not None:
        first: dict[int, int] = {}
        reached: set[int] = set()
        for a, label in enumerate(labels):  # the first element of each subset reaches all others
            if first.setdefault(label, a) == a:
                waiting = [a]
                reached.add(a)
                while waiting:
                    more = {b for b in links[waiting.pop()] if labels[b] == label} - reached
                    reached |= more
                    waiting += more
            if a not in reached:
                raise InvalidCertificate(f"the labels join {first[label]} and {a}, which no base pairs connect there")
    background = sum((_within(labels, term) for term in _background(problem)), Fraction(0))
    background += _paid(labels, *_groups(problem))
    return sum(map(Fraction, inside), background)


# ----------------------------------------------------------------------------------- costs of pairs that are not listed


def _background(problem: Any) -> list[tuple[Any, ...]]:
    """The terms of the background: (beta, weights), or (beta, weights, other weights)."""
    if getattr(problem, "background", None) is None:
        return []
    return [(Fraction(beta), *(x.tolist() for x in weights)) for beta, *weights in problem.background.terms]


def _groups(problem: Any) -> tuple[list[dict[int, int]], list[float]]:
    """For each element, its groups and the number of members of each that it stands for; and the prices of groups."""
    groups = getattr(getattr(problem, "background", None), "groups", None)
    if groups is None:
        return [], []
    memberships = list(zip(groups.group.tolist(), groups.count.tolist(), strict=True))
    return [dict(memberships[i:j]) for i, j in pairwise(groups.starts.tolist())], groups.price.tolist()


def _share_a_group(memberships: Sequence[dict[int, int]], price: list[float]) -> bool:
    """Whether elements with these memberships have one group at price inf in common."""
    return any(price[g] == math.inf and all(g in others for others in memberships) for g in memberships[0])


def _members(labels: Sequence[int], groups: list[dict[int, int]]) -> dict[int, dict[int, int]]:
    """For each label, the number of its members of each group."""
    members: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for a, mine in enumerate(groups):
        for g, count in mine.items():
            members[labels[a]][g] += count
    return members


def _paid(labels: Sequence[int], groups: list[dict[int, int]], price: list[float]) -> Fraction:
    """The costs of groups that pairs of elements with the same label share."""
    members = _members(labels, groups)
    pairs: dict[int, int] = defaultdict(int)  # of members, twice each
    for mine in members.values():
        for g, count in mine.items():
            pairs[g] += count * count
    for mine in groups:
        for g, count in mine.items():
            pairs[g] -= count * count
    if any(count and price[g] == math.inf for g, count in pairs.items()):
        raise InvalidCertificate("the labels join two members of a group at price inf")
    return sum((Fraction(price[g]) * count for g, count in pairs.items() if count), Fraction(0)) / 2


def _distinct(weights: list[float]) -> list[Fraction]:
    """Numbers of which all weights are sums of multiples; few if the weights are integers."""
    values = {Fraction(x) for x in weights}
    if len(values) <= 30:
        return list(values)
    finest = max(value.denominator for value in values)
    return [Fraction(math.gcd(*(int(value * finest) for value in values)), finest)]


def _sums(class_of: list[int], weights: list[float]) -> dict[int, Fraction]:
    sums: dict[int, Fraction] = defaultdict(Fraction)
    for a, x in enumerate(weights):
        sums[class_of[a]] += Fraction(x)
    return sums


def _within(labels: Sequence[int], term: tuple[Any, ...]) -> Fraction:
    """The cost of a term, over the pairs of elements with the same label."""
    beta, x, y = term[0], term[1], term[-1]
    of_x, of_y = _sums(labels, x), _sums(labels, y)  # type: ignore[arg-type]
    total = sum((of_x[label] * of_y[label] for label in of_x), Fraction(0))
    total -= sum((Fraction(p) * Fraction(q) for p, q in zip(x, y, strict=True)), Fraction(0))
    return beta * total / (2 if len(term) == 2 else 1)  # type: ignore[no-any-return]


def _product(beta: Fraction, sums: list[dict[int, Fraction]], a: int, b: int) -> list[Fraction]:
    """The products that make up a term of a pair."""
    if len(sums) == 1:
        return [beta * sums[0][a] * sums[0][b]]
    return [beta * sums[0][a] * sums[1][b], beta * sums[0][b] * sums[1][a]]


def _negative(beta: Fraction, x: dict[int, Fraction], y: dict[int, Fraction] | None = None) -> Fraction:
    """The sum of all negative products of a term over all pairs."""
    total = Fraction(0)
    for sign in (1, -1):
        other = sign if beta < 0 else -sign
        first = [v for v in x.values() if v * sign > 0]
        second = [v for v in (x if y is None else y).values() if v * other > 0]
        products = sum(first, Fraction(0)) * sum(second, Fraction(0))
        if y is not None or beta > 0:
            diagonal = (p * y[a] for a, p in x.items() if p * sign > 0 and y[a] * other > 0) if y is not None else ()
            total += beta * (products - sum(diagonal, Fraction(0)))
        else:
            total += beta * (products - sum((v * v for v in first), Fraction(0)))
    return total if y is not None else total / 2


def _all_pairs(problem: Any) -> Iterator[tuple[int, int, float]]:
    u, v, cost = problem.pairs()
    return zip(u.tolist(), v.tolist(), cost.tolist(), strict=True)


def _finite_pairs(problem: Any) -> Iterator[tuple[int, int, float]]:
    return (pair for pair in _all_pairs(problem) if pair[2] != math.inf)


def _pair(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)
