"""A proof of a lower bound: nonnegative multipliers of inequalities that every partition satisfies.

For multipliers l_k >= 0 of valid inequalities a_k y <= b_k, every partition y costs at least

    c y  >=  c y + sum_k l_k (a_k y - b_k)  =  r y - sum_k l_k b_k  >=  sum over pairs of min(0, r)  -  sum_k l_k b_k

where r = c + sum_k l_k a_k are the **reduced costs**. A pair that must be joined contributes r of any sign, and a pair
that must be cut contributes nothing. From the problem and the multipliers, anyone can compute this bound, in floating
point with every sum rounded towards minus infinity, or in exact rational arithmetic. If all costs are multiples of one
number, the cost of every partition is, too, and the bound is rounded up to such a multiple.

General 2-partitions have many terms each. With the numbers b as rows of a matrix B, all of them together add ``-(B'
diag(l) B)[i, j]`` to a pair. This is computed as a product of matrices, less a bound on the rounding error for any
order of the additions (Higham 2002, section 3.1).
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import distinct
from graphpart.common.proof import Proof
from graphpart.common.steps import are_multiples, round_up, step_of
from graphpart.errors import FormatError, GraphPartError, InvalidCertificate
from graphpart.kernels._pairs import adjacency
from graphpart.partition.certificates import _inequalities, certificate_file
from graphpart.partition.certificates.exact_check import exact_bound
from graphpart.partition.certificates.inequalities import CUT, GENERAL, GROUP_STAR, Inequalities
from graphpart.partition.certificates.weights import Weights, steps_of_background
from graphpart.partition.inputs.arrays import keys_of_pairs
from graphpart.partition.problem import SetPartition, as_problem
from graphpart.partition.problem.groups import Groups

__all__ = ["Certificate", "certify", "common_step", "fingerprint", "finite_costs", "proven_bound", "reduced_costs"]

Floats = NDArray[np.float64]
CHUNK = 1 << 19  # number of inequalities that are written out at a time
WIDEST = 1 << 14  # most elements in all general 2-partitions, which are added up in a matrix over them
TALL = 4096  # rows of a factor of that matrix that are processed at a time


@dataclass(frozen=True)
class Certificate(Proof):
    """A lower bound with its proof.

    Attributes
    ----------
    bound : float
        No partition costs less.
    method : str
        The method that found the bound.
    inequalities : Inequalities
        The inequalities with a multiplier other than 0.
    multipliers : ndarray of float64, shape (k,)
        At least 0.
    step : float
        A number of which all costs are multiples; the bound was rounded up to a multiple of it. 0 if it was not
        rounded.
    n : int
        Number of elements.
    problem : str
        Fingerprint of the problem (see `fingerprint`).
    cost : float or None
        The cost of the best partition that was known when the certificate was made.
    seal : str
        SHA-256 of all of the above.

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2), (0, 2)], [-2.0, -3.0, 4.0])
    >>> c = gp.partition.lower_bound(p, method="cycle-packing")
    >>> c.bound, c.verify(p), c.verify(p, exact=True)
    (-3.0, True, True)
    """

    bound: float
    method: str
    inequalities: Inequalities = field(repr=False)
    multipliers: Floats = field(repr=False)
    step: float
    n: int
    problem: str = field(repr=False)
    cost: float | None = None
    seal: str = field(default="", repr=False)

    def with_cost(self, cost: float | None) -> Certificate:
        """The same certificate, with the cost of a partition stated."""
        return sealed(replace(self, cost=cost))

    def check(self, problem: Any, *, exact: bool = False) -> None:
        """Raise InvalidCertificate, with the reason, unless the certificate proves its bound for this problem.

        Parameters
        ----------
        problem : SetPartition or networkx.Graph
        exact : bool
            Compute in rational numbers instead of floating point with directed rounding.

        Notes
        -----
        O(n + m), plus the number of terms of the inequalities, which are sorted if pairs have to be found.
        """
        p = as_problem(problem)
        self._identify(seal_of(self), p.n, fingerprint(p))
        if exact:
            proven: float | Fraction = exact_bound(p, self)
        else:
            costs = finite_costs(p)
            if self.step and (costs is None or not are_multiples(costs, self.step)):
                raise InvalidCertificate(f"not all costs are multiples of {self.step}")
            proven = round_up(proven_bound(p, self.inequalities, self.multipliers), self.step)
        self._compare(proven, "multipliers")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the certificate to a file: ``.json`` (for people and other programs) or ``.npz`` (small and fast).

        Raises InvalidOption for another name.
        """
        certificate_file.write(path, self, self.inequalities, self.multipliers)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Certificate:
        """Read a certificate from a file; raise FormatError if the file is not a certificate, or was altered."""
        header, inequalities, multipliers = certificate_file.read(path)
        certificate = Certificate(inequalities=inequalities, multipliers=multipliers, **header)
        if certificate.seal != seal_of(certificate):
            message = "the seal does not fit: the certificate was altered after it was made"
            raise FormatError(os.fspath(path), None, message)
        return certificate


def certify(
    p: SetPartition, method: str, inequalities: Inequalities, multipliers: Floats, step: float | None = None
) -> Certificate:
    """The certificate that consists of inequalities and multipliers, with the bound that they prove.

    Parameters
    ----------
    p : SetPartition
    method : str
    inequalities : Inequalities
    multipliers : ndarray of float64, shape (k,)
        At least 0; inequalities whose multiplier is 0 are left out.
    step : float, optional
        A number of which all costs are multiples; default: it is computed from the costs.
    """
    used = multipliers > 0
    if not used.all():
        inequalities, multipliers = inequalities.take(used), multipliers[used]
    step = common_step(p) if step is None else step
    bound = round_up(proven_bound(p, inequalities, multipliers), step)
    return sealed(Certificate(bound, method, inequalities, multipliers, step, p.n, fingerprint(p)))


def sealed(certificate: Certificate) -> Certificate:
    """The same certificate with read-only arrays and its seal."""
    parts = certificate.inequalities
    for array in (parts.kinds, parts.starts, parts.elements, parts.splits, certificate.multipliers):
        array.flags.writeable = False
    return replace(certificate, seal=seal_of(certificate))


def seal_of(certificate: Certificate) -> str:
    """SHA-256 of all fields but the seal."""
    c, parts = certificate, certificate.inequalities
    digest = hashlib.sha256(repr((c.bound, c.method, c.step, c.n, c.problem, c.cost)).encode())
    for array, kind in (
        (parts.kinds, "u1"),
        (parts.starts, "<i8"),
        (parts.elements, "<i4"),
        (parts.splits, "<i4"),
        (c.multipliers, "<f8"),
    ):
        digest.update(np.ascontiguousarray(array, kind).data)
    return digest.hexdigest()


def fingerprint(p: SetPartition) -> str:
    """SHA-256 of n, the pairs whose cost is not zero with their costs, the required joins, and a background. O(m)

    The same for a problem stored as a matrix and as pairs. If subsets have to be connected, also of all base pairs.
    """
    streams = [hashlib.sha256() for _ in range(3)]
    if p.matrix is not None:
        for a in range(p.n - 1):
            row = p.matrix[a, a + 1 :]
            at = np.flatnonzero(row)
            _feed(streams, np.full(len(at), a), at + a + 1, row[at])
    else:
        u, v, cost = p.pairs()
        used = np.flatnonzero(cost)
        _feed(streams, u[used], v[used], cost[used])
    whole = hashlib.sha256(str(p.n).encode())
    for stream in streams:
        whole.update(stream.digest())
    whole.update(np.ascontiguousarray(p.must_join, "<i4").data)
    if p.lifted is not None:
        for array in p._links():
            whole.update(np.ascontiguousarray(array, "<i4").data)
        whole.update(b"connected")
    if p.background is not None:
        for beta, *vectors in p.background.terms:
            whole.update(np.array([beta, len(vectors)], "<f8").data)
            for vector in vectors:
                whole.update(np.ascontiguousarray(vector, "<f8").data)
        if (groups := p.background.groups) is not None:
            arrays = groups.starts, groups.group, groups.count, groups.price
            for array, kind in zip(arrays, ("<i8", "<i4", "<i8", "<f8"), strict=True):
                whole.update(np.ascontiguousarray(array, kind).data)
    return whole.hexdigest()


def _feed(streams: list[Any], u: NDArray[Any], v: NDArray[Any], cost: Floats) -> None:
    for stream, array, kind in zip(streams, (u, v, cost), ("<i4", "<i4", "<f8"), strict=True):
        stream.update(np.ascontiguousarray(array, kind).data)


def proven_bound(p: SetPartition, inequalities: Inequalities, multipliers: Floats) -> float:
    """The bound that multipliers prove, before it is rounded to a step: every operation rounds towards minus infinity.

    Raises
    ------
    InvalidCertificate
        If a multiplier is negative or not finite, or an inequality is none of the known kinds.
    """
    low, constants = _reduced(p, inequalities, multipliers)
    parts = [*constants[:2], _inequalities.sum_down(low, True), *constants[2:]]
    return float(_inequalities.sum_down(np.array(parts), False))


def reduced_costs(p: SetPartition, inequalities: Inequalities, multipliers: Floats) -> tuple[Floats, float]:
    """Reduced costs and a constant that prove the same bound as the inequalities, for a problem without required joins.

    With the reduced costs and the constant, no partition costs more than in the problem, since all operations round
    towards minus infinity. So a lower bound for the problem with the reduced costs, plus the constant, is a lower bound
    for this problem.

    Returns
    -------
    costs : ndarray of float64
        In the order of ``p.pairs()``.
    constant : float

    Examples
    --------
    >>> from graphpart.partition import lower_bound
    >>> p = SetPartition.from_pairs(3, [(0, 1), (1, 2), (0, 2)], [-2.0, -3.0, 4.0], dense=False)
    >>> proof = lower_bound(p, "cycle-packing")
    >>> costs, constant = reduced_costs(p, proof.inequalities, proof.multipliers)
    >>> costs.tolist(), constant
    ([0.0, 2.0, -1.0], -2.0)
    """
    assert not len(p.must_join), "expected a problem without required joins"
    low, constants = _reduced(p, inequalities, multipliers)
    return low, float(_inequalities.sum_down(np.array(constants), False))


def _reduced(p: SetPartition, inequalities: Inequalities, multipliers: Floats) -> tuple[Floats, list[float]]:
    """Reduced costs of the pairs between required joins, and constants, all rounded downwards."""
    n = p.n
    if len(multipliers) != len(inequalities):
        raise InvalidCertificate(f"{len(multipliers)} multipliers: expected one for each of {len(inequalities)}")
    if len(multipliers) and not (np.isfinite(multipliers).all() and multipliers.min() >= 0):
        raise InvalidCertificate("a multiplier is negative or not finite: expected numbers of at least 0")
    classes = p._must_join_classes() if len(p.must_join) else None
    keys, low, within = _reduced_start(p, classes)
    weights, named = None, 0.0
    if p.background is not None:
        weights = Weights(p, classes)
        low, named = _with_background(weights, keys, low, n, classes)
    _check_group_stars(None if weights is None else weights.groups, inequalities, classes, n)
    _check_links(p, inequalities, classes)
    later_keys: list[NDArray[np.int64]] = []
    later_values: list[Floats] = []
    constant = 0.0
    is_general = inequalities.kinds == GENERAL
    if is_general.any():
        terms, values, constant = _general(p.n, inequalities.take(is_general), multipliers[is_general], classes)
        known, slots = _slots(keys, terms, n)
        _inequalities.add_values(slots[known], values[known], low)
        later_keys.append(terms[~known])
        later_values.append(values[~known])
        inequalities, multipliers = inequalities.take(~is_general), multipliers[~is_general]
    for first in range(0, len(multipliers), CHUNK):
        some = slice(first, first + CHUNK)
        part = inequalities if len(multipliers) <= CHUNK else inequalities.take(np.arange(len(multipliers))[some])
        try:
            starts, terms, signs, rhs = part.renamed(classes).terms(n) if classes is not None else part.terms(n)
        except GraphPartError as error:
            raise InvalidCertificate(str(error)) from None
        values = np.repeat(multipliers[some], np.diff(starts))
        constant = _inequalities.sum_down(np.array([constant, -_inequalities.dot_up(multipliers[some], rhs)]), False)
        known, slots = _slots(keys, terms, n)
        if known.all():
            _inequalities.add_terms(slots, signs, values, low)
        else:
            _inequalities.add_terms(slots[known], signs[known], values[known], low)
            later_keys.append(terms[~known])
            later_values.append((signs * values)[~known])
    parts = [constant, within]
    if later_keys:
        names, slots = np.unique(np.concatenate(later_keys), return_inverse=True)
        rest = np.zeros(len(names))
        if weights is not None:
            rest, more = _with_background(weights, names, rest, n, classes)
            named += more
        _inequalities.add_values(slots.ravel(), np.concatenate(later_values), rest)
        parts.append(_inequalities.sum_down(rest, True))
    if weights is not None:  # of all other pairs, the negative terms count
        parts += [weights.within, -math.nextafter(named, math.inf) if named else 0.0, weights.all_negative()]
    return low, parts


def _check_group_stars(
    groups: Groups | None, inequalities: Inequalities, classes: NDArray[np.int32] | None, n: int
) -> None:
    """Raise InvalidCertificate unless all leaves of each group star are members of one group at price inf.

    If there are required joins, `groups` are those of the sets that these connect: each leaf stands for its set.
    """
    sizes = np.diff(inequalities.starts)
    which = np.flatnonzero((inequalities.kinds == GROUP_STAR) & (sizes > 2))  # y <= 1 holds for any single pair
    if not len(which):
        return
    sizes = sizes[which] - 1
    star = np.repeat(np.arange(len(which)), sizes)
    at = inequalities.starts[which][star] + 1 + np.arange(len(star)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    leaf = inequalities.elements[at]
    shared = np.zeros(len(which), bool)
    if groups is not None and len(leaf) and 0 <= leaf.min() <= leaf.max() < n:
        leaf = leaf if classes is None else classes[leaf]
        memberships = np.diff(groups.starts)[leaf]
        star = np.repeat(star, memberships)
        at = np.repeat(groups.starts[leaf], memberships)
        at += np.arange(len(star)) - np.repeat(np.cumsum(memberships) - memberships, memberships)
        group = groups.group[at]
        hard = groups.hard[group]
        keys, leaves = np.unique(star[hard] * len(groups) + group[hard], return_counts=True)
        star = keys // len(groups)
        shared[star[leaves == sizes[star]]] = True
    if not shared.all():
        bad = which[np.argmin(shared)]
        some = inequalities.elements[inequalities.starts[bad] : inequalities.starts[bad + 1]].tolist()[:20]
        raise InvalidCertificate(f"group star {bad} over {some}: expected members of one group at price inf")


def _check_links(p: SetPartition, inequalities: Inequalities, classes: NDArray[np.int32] | None) -> None:
    """Raise InvalidCertificate unless each cut takes away all that links its first two elements."""
    which = np.flatnonzero(inequalities.kinds == CUT)
    if not len(which):
        return
    some = inequalities.take(which)
    *_, wrong = _inequalities.sizes(some.kinds, some.starts, some.splits, some.elements, p.n)
    bad, why = (wrong, "different elements") if wrong >= 0 else (-1, "what all base pairs between two elements need")
    if p.lifted is None:
        bad, why = 0, "none, since the problem does not ask for connected clusters"
    elif wrong < 0:
        u, v = p._links()
        if classes is not None:
            some = some.renamed(classes)
            keys = distinct(keys_of_pairs(classes[u], classes[v], p.n))
            apart = classes[p._must_cut]  # sets that must be cut are not linked by other pairs between them
            keys = np.setdiff1d(keys, keys_of_pairs(apart[:, 0], apart[:, 1], p.n), assume_unique=False)
            u, v = (keys // p.n).astype(np.int32), (keys % p.n).astype(np.int32)
        starts, neighbours, _ = adjacency(p.n, u, v).arrays
        bad = _inequalities.first_linked(starts, neighbours, some.starts, some.elements)
    if bad >= 0:
        elements = some.elements[some.starts[bad] : some.starts[bad + 1]].tolist()[:20]
        raise InvalidCertificate(f"cut {which[bad]} over {elements}: expected {why}")


def _slots(keys: NDArray[np.int64], terms: NDArray[np.int64], n: int) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """For each term, whether it is among ascending keys, and its position."""
    if len(keys) == n * (n - 1) // 2:  # all pairs
        a = terms // n
        return np.ones(len(terms), bool), terms - (a + 1) * (a + 2) // 2
    slots = np.searchsorted(keys, terms)
    known = slots < len(keys)
    known[known] = keys[slots[known]] == terms[known]
    return known, slots


def _general(
    n: int, rows: Inequalities, multipliers: Floats, classes: NDArray[np.int32] | None
) -> tuple[NDArray[np.int64], Floats, float]:
    """The terms that general 2-partitions add to pairs, as (keys, values), and to the bound, rounded down."""
    _, rhs, bad = _inequalities.sizes(rows.kinds, rows.starts, rows.splits, rows.elements, n)
    if classes is not None and bad < 0:
        rows = rows.renamed(classes)
        _, _, bad = _inequalities.sizes(rows.kinds, rows.starts, rows.splits, rows.elements, n)
    if bad >= 0:
        some = rows.elements[rows.starts[bad] : rows.starts[bad + 1]].tolist()[:20]
        raise InvalidCertificate(f"general 2-partition {bad} over {some}: expected different elements, then numbers")
    sizes, count = rows.splits.astype(np.int64), len(rows)
    inside = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    at = np.repeat(rows.starts[:-1], sizes) + inside
    names, columns = np.unique(rows.elements[at], return_inverse=True)
    if len(names) > WIDEST:
        raise InvalidCertificate(f"general 2-partitions over {len(names)} elements: expected at most {WIDEST}")
    row, number = np.repeat(np.arange(count), sizes), rows.elements[at + np.repeat(sizes, sizes)].astype(float)
    total, weight = np.zeros((len(names), len(names))), np.zeros((len(names), len(names)))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for first in range(0, count, TALL):
            some = slice(*np.searchsorted(row, (first, first + TALL)))
            numbers = np.zeros((min(TALL, count - first), len(names)))
            numbers[row[some] - first, columns.ravel()[some]] = number[some]
            weighted = numbers * multipliers[first : first + TALL, None]
            total += numbers.T @ weighted
            weight += np.abs(numbers.T) @ np.abs(weighted)
        slack = 2.0**-52 * (count + 16) * weight + count * 2.0**-1000
        upper = np.triu_indices(len(names), 1)
        values = -total[upper] - slack[upper]
        values -= 2.0**-52 * np.abs(values)
    constant = _inequalities.sum_down(np.array([-_inequalities.dot_up(multipliers, rhs)]), False)
    if not (np.isfinite(values).all() and np.isfinite(constant)):
        raise InvalidCertificate("the sums of general 2-partitions are beyond what floating point holds")
    return names[upper[0]].astype(np.int64) * n + names[upper[1]], values, float(constant)


def _reduced_start(p: SetPartition, classes: NDArray[np.int32] | None) -> tuple[NDArray[np.int64], Floats, float]:
    """Ascending keys ``a * n + b`` of the pairs, their costs as new array, and the cost of required joins."""
    u, v, cost = p.pairs()
    if classes is None:
        return u.astype(np.int64) * p.n + v, cost.copy() if cost is p.cost else cost, 0.0
    a, b = np.minimum(classes[u], classes[v]).astype(np.int64), np.maximum(classes[u], classes[v])
    inside = a == b
    keys, slots = np.unique((a * p.n + b)[~inside], return_inverse=True)
    low = np.zeros(len(keys))
    _inequalities.add_values(slots.ravel(), cost[~inside], low)
    return keys, low, float(_inequalities.sum_down(cost[inside], False))


def _with_background(
    weights: Weights, keys: NDArray[np.int64], start: Floats, n: int, classes: NDArray[np.int32] | None
) -> tuple[Floats, float]:
    """Lower bounds on the costs of pairs, given by keys, with the background, and on its negative terms."""
    if classes is not None and n == 0:
        return start, 0.0
    return weights.lowest(keys // max(n, 1), keys % max(n, 1), start)


def common_step(p: SetPartition) -> float:
    """The largest number of which all costs are multiples, if they are multiples of ``2**-20``; else 0.

    1 if all costs are zero; 0 if sums of costs may be too large to be exact.

    Examples
    --------
    >>> common_step(SetPartition.from_pairs(3, [(0, 1), (1, 2)], [1.5, -3.0]))
    1.5
    """
    if p._step is None:
        costs = finite_costs(p)
        p._step = 0.0 if costs is None else step_of(costs, p._magnitude * max(p.n, 1))
    return p._step


def finite_costs(p: SetPartition) -> Floats | None:
    """Numbers such that all costs are sums of multiples of them; None if there are none for the background."""
    costs = p.cost if p.matrix is None else p.matrix.ravel()
    assert costs is not None
    if p.background is not None:
        steps = steps_of_background(p)
        if steps is None:
            return None
        costs = np.concatenate([costs, steps])
    return costs[np.isfinite(costs)] if p._has_must_cut else costs


def tiles(p: SetPartition) -> Iterator[Floats]:
    """All costs, some at a time; those of a matrix twice."""
    if p.matrix is None:
        assert p.cost is not None
        yield p.cost
    else:
        for top in range(0, p.n, 256):
            yield p.matrix[top : top + 256]
