"""A check of certificates of factor graphs that shares nothing with the code that makes them.

Plain Python with whole numbers, exact and meant to be read. Of a grid with 16 labels, a variable takes a millisecond.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from typing import Any

import numpy as np

from graphpart.errors import InvalidCertificate

__all__ = ["check_certificate", "exact_bound"]

Table = list[Any]  # whole numbers of units, the last label fastest; None for what is forbidden


def check_certificate(problem: Any, certificate: Any, labels: Sequence[int] | None = None) -> Fraction | float:
    """Check a certificate for a factor graph, and labels if given, in exact rational arithmetic.

    Parameters
    ----------
    problem : FactorGraph
        Read through `n`, `m`, `domains`, `constant` and `factor` only.
    certificate : Certificate
        Read through `bound`, `step`, `n`, `cost`, `messages`, `extra` and `squares` only.
    labels : sequence of n integers, optional
        A labeling. The check fails if it is forbidden, if it costs less than the bound, or if the certificate states
        another cost.

    Returns
    -------
    Fraction
        The bound that the messages prove, at least that of the certificate; inf if everything is forbidden.

    Raises
    ------
    InvalidCertificate
        If a part of the check fails.

    Examples
    --------
    >>> import graphpart as gp
    >>> from graphpart.crf.certificates.certificate import certify
    >>> f = gp.FactorGraph.from_arrays([2, 2], [([[0]], [[0.0, 1.0]]), ([[0, 1]], [[[2.0, 3.0], [0.0, 1.0]]])])
    >>> check_certificate(f, certify(f, [2.0, 0.0, 0.0, 0.0], "by hand"), [1, 0])
    Fraction(1, 1)
    """
    if certificate.n != problem.n:
        raise InvalidCertificate(f"the certificate is for {certificate.n} variables: expected {problem.n}")
    proven = exact_bound(problem, certificate)
    if not proven >= certificate.bound:
        raise InvalidCertificate(f"the messages prove {float(proven)!r} only: expected {certificate.bound!r}")
    if labels is not None:
        cost = _exact_cost(problem, labels)
        if cost < proven:
            raise InvalidCertificate(f"the labels cost {float(cost)!r}, less than the bound {float(proven)!r}")
        stated = certificate.cost
        if stated is not None and not math.isclose(float(cost), stated, rel_tol=1e-12, abs_tol=1e-300):
            every = (x for g in range(problem.m) for x in problem.factor(g)[1].ravel().tolist() if x < math.inf)
            slack = Fraction(2) ** -50 * (sum(abs(Fraction(x)) for x in every) + abs(Fraction(problem.constant)))
            if stated == math.inf or abs(cost - Fraction(stated)) > slack:
                raise InvalidCertificate(f"the labels cost {float(cost)!r}: expected {stated!r}, as stated")
    return proven


def exact_bound(problem: Any, certificate: Any) -> Fraction | float:
    """The bound that the messages of a certificate prove, rounded up to a multiple of its step.

    Numbers are counted in units of ``2**-digits``, of which all of them are whole multiples.
    """
    domains, extra, squares = problem.domains.tolist(), certificate.extra, certificate.squares
    given = (problem.factor(g)[1] for g in range(problem.m))
    digits = max(map(_digits, (problem.constant, certificate.step, certificate.messages, extra.messages, *given)))
    digits = max(digits, _digits(squares.weights)) + 2  # which are shares of up to four entries of a table
    step, constant = (_whole(x, digits)[0] for x in (certificate.step or 0.0, problem.constant))
    if step is None or step < 0 or (step and constant % step):
        raise InvalidCertificate(f"not all costs are multiples of {certificate.step!r}")
    unary: list[Table] = [[0] * d for d in domains]
    added = _added(problem.n, extra)
    tables: list[Any] = []
    scopes = [scope for g in range(problem.m) if len(scope := problem.factor(g)[0]) != 1] + added
    links = extra.links.tolist()
    kept = {k for link in links for k in link}
    amounts, total, k = _Amounts(certificate.messages, digits), constant, 0
    for g in range(problem.m + len(added)):
        scope, entries = problem.factor(g) if g < problem.m else (added[g - problem.m], None)
        shape = tuple(domains[v] for v in scope)
        table = [0] * math.prod(shape) if entries is None else _whole(entries, digits)
        if step and any(x is not None and x % step for x in table):
            raise InvalidCertificate(f"not all costs are multiples of {certificate.step!r}")
        if len(scope) == 1:
            unary[scope[0]] = _sum(unary[scope[0]], table)
            continue
        if not len(squares.weights):
            for v, labels in zip(scope, _labels(shape), strict=True):  # what the factor sends to its variables
                sent = amounts.take(domains[v])
                table = _sum(table, [-sent[y] for y in labels])
                unary[v] = _sum(unary[v], sent)
        if len(squares.weights) or k in kept:
            tables.append(table)
        else:
            tables.append(None)
            total = _plus_least(total, table)
        k += 1
    if len(squares.weights):
        rest = _with_squares(problem.n, domains, unary, scopes, tables, squares, digits)
        return _rounded_up(constant + rest, step, digits)
    amounts.end("there are more messages than labels that they go to")
    amounts = _Amounts(extra.messages, digits)
    for small, large in links:  # what factors send to each other
        if not (0 <= small < len(scopes) and 0 <= large < len(scopes) and set(scopes[small]) < set(scopes[large])):
            raise InvalidCertificate(f"a link joins factors {small} and {large}: expected one within a larger one")
        sent = amounts.take(len(tables[small]))
        tables[small] = _sum(tables[small], sent)
        within = dict(zip(scopes[large], _labels(tuple(domains[v] for v in scopes[large])), strict=True))
        at = [0] * len(tables[large])  # for each entry, that of the smaller table
        for v in scopes[small]:
            at = [domains[v] * i + y for i, y in zip(at, within[v], strict=True)]
        tables[large] = _sum(tables[large], [-sent[i] for i in at])
    amounts.end("there are more messages of links than entries that they go to")
    for table in (*unary, *(table for table in tables if table is not None)):
        total = _plus_least(total, table)
    return _rounded_up(total, step, digits)


def _added(n: int, extra: Any) -> list[tuple[int, ...]]:
    """The scopes of the factors that the proof adds."""
    start, members = extra.start.tolist(), extra.scope.tolist()
    if not start or start[0] != 0 or start[-1] != len(members):
        raise InvalidCertificate("the starts of the added factors do not fit their scopes")
    added = [tuple(members[a:b]) for a, b in pairwise(start)]
    for scope in added:
        if len(scope) < 2 or len(set(scope)) < len(scope) or not all(0 <= v < n for v in scope):
            raise InvalidCertificate(f"an added factor has the scope {scope}: expected different variables")
    return added


def _digits(values: Any) -> int:
    """Binary digits after the point that suffice for finite numbers, at least 0."""
    finite = np.array([0.0 if values is None else values], np.float64).ravel()
    exponents = np.frexp(finite[np.isfinite(finite) & (finite != 0.0)])[1]
    return max(0, 53 - int(exponents.min(initial=53)))


def _whole(values: Any, digits: int) -> Table:
    """Numbers in units of ``2**-digits``; None for inf."""
    listed = np.array(values, np.float64).ravel().tolist()
    ratios = (None if x == math.inf else x.as_integer_ratio() for x in listed)
    return [None if x is None else x[0] << digits - x[1].bit_length() + 1 for x in ratios]


@lru_cache(maxsize=64)
def _labels(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """For each variable of a table, its label at each entry."""
    return list(zip(*product(*map(range, shape)), strict=True))


def _sum(table: Table, amounts: Sequence[int]) -> Table:
    """A table plus finite amounts, entry by entry."""
    return [None if x is None or y is None else x + y for x, y in zip(table, amounts, strict=True)]


def _plus_least(total: Any, table: Table) -> Any:
    """The total plus the least entry that is allowed; inf if none is."""
    allowed = [x for x in table if x is not None]
    return math.inf if total == math.inf or not allowed else total + min(allowed)


def _rounded_up(total: Any, step: int, digits: int) -> Fraction | float:
    """A number of units, rounded up to a multiple of the step."""
    if total == math.inf:
        return math.inf
    return Fraction(-(-total // step) * step if step else total, 2**digits)


class _Amounts:
    """Messages, which are taken in turn."""

    def __init__(self, values: Any, digits: int) -> None:
        self._values, self._digits, self._next = values, digits, 0
        if not np.isfinite(values).all():
            raise InvalidCertificate("a message is not finite: expected finite numbers")

    def take(self, count: int) -> list[Any]:
        """The next ones."""
        taken = self._values[self._next : self._next + count]
        if len(taken) < count:
            raise InvalidCertificate("there are fewer messages than labels that they go to")
        self._next += count
        return _whole(taken, self._digits)

    def end(self, message: str) -> None:
        """Refuse what is left."""
        if self._next < len(self._values):
            raise InvalidCertificate(message)


def _with_squares(
    n: int, domains: list[int], unary: list[Table], scopes: list[tuple[int, ...]], tables: list[Table], squares: Any,
    digits: int,
) -> int:  # fmt: skip
    """The bound that squares of sums of spins prove, without the constant, in units: see `squares`."""
    if any(d != 2 for d in domains) or any(len(scope) > 2 for scope in scopes):
        raise InvalidCertificate("squares are for two labels and factors of at most two variables")
    if any(None in table for table in (*unary, *tables)):
        raise InvalidCertificate("squares are for finite costs")
    product_of: dict[tuple[int, int], int] = {}  # the coefficient of each product of two spins; spin n is 1
    total = 0

    def add(i: int, j: int, amount: int) -> None:
        key = min(i, j), max(i, j)
        product_of[key] = product_of.get(key, 0) + amount

    for scope, table in [*zip([(v,) for v in range(n)], unary, strict=True), *zip(scopes, tables, strict=True)]:
        for y, amount in zip(product((0, 1), repeat=len(scope)), table, strict=True):
            x = amount // len(table)  # which leaves nothing
            total += x
            spins = [2 * label - 1 for label in y]
            for v, s in zip(scope, spins, strict=True):
                add(v, n, s * x)
            if len(scope) == 2:
                add(*scope, spins[0] * spins[1] * x)
    start, members, numbers = squares.start.tolist(), squares.members.tolist(), squares.numbers.tolist()
    weights = _Amounts(squares.weights, digits).take(len(squares.weights))
    if len(start) != len(weights) + 1 or start[0] != 0 or not start[-1] == len(members) == len(numbers):
        raise InvalidCertificate("the starts of the squares do not fit")
    for (a, b), weight in zip(pairwise(start), weights, strict=True):
        row = dict(zip(members[a:b], numbers[a:b], strict=True))
        if not all(isinstance(x, int) for x in row.values()):
            raise InvalidCertificate("a square has a number that is not whole")
        if not a < b or weight < 0 or len(row) < b - a or not all(0 <= v <= n for v in row):
            raise InvalidCertificate("a square is damaged")
        total += weight * (sum(row.values()) % 2 - sum(x * x for x in row.values()))
        for v, x in row.items():
            for other, y in row.items():
                if v < other:
                    add(v, other, -2 * weight * x * y)
    return total - sum(map(abs, product_of.values()))


def _exact_cost(problem: Any, labels: Sequence[int]) -> Fraction:
    if len(labels) != problem.n or not all(0 <= y < d for y, d in zip(labels, problem.domains.tolist(), strict=True)):
        raise InvalidCertificate(
            f"the labels do not fit: expected one for each of {problem.n} variables, in its domain"
        )
    total = Fraction(problem.constant)
    for g in range(problem.m):
        scope, table = problem.factor(g)
        entry = float(table[tuple(labels[v] for v in scope)])
        if entry == math.inf:
            raise InvalidCertificate(f"the labels are forbidden by factor {g}")
        total += Fraction(entry)
    return total
