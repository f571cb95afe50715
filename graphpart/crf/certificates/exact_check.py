"""A check of certificates of factor graphs that shares nothing with the code that makes them.

Plain Python in exact rational arithmetic: slow, short, and meant to be read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

from graphpart.errors import InvalidCertificate

__all__ = ["check_certificate", "exact_bound"]

Table = dict[tuple[int, ...], Fraction]  # labels to finite entries; what is forbidden is not in it


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
    """The bound that the messages of a certificate prove, rounded up to a multiple of its step."""
    domains = problem.domains.tolist()
    unary: list[Table] = [{(y,): Fraction(0) for y in range(d)} for d in domains]
    scopes: list[tuple[int, ...]] = []
    tables: list[Table] = []
    finite = [Fraction(problem.constant)]
    for g in range(problem.m):
        scope, entries = problem.factor(g)
        flat = entries.ravel().tolist()
        labels = product(*(range(domains[v]) for v in scope))
        table = {y: Fraction(x) for y, x in zip(labels, flat, strict=True) if x < math.inf}
        finite += table.values()
        if len(scope) == 1:
            own = unary[scope[0]]
            unary[scope[0]] = {y: own[y] + x for y, x in table.items() if y in own}
        else:
            scopes.append(scope)
            tables.append(table)
    start, members = certificate.extra.start.tolist(), certificate.extra.scope.tolist()
    if not start or start[0] != 0 or start[-1] != len(members):
        raise InvalidCertificate("the starts of the added factors do not fit their scopes")
    for a, b in pairwise(start):
        scope = tuple(members[a:b])
        if len(scope) < 2 or len(set(scope)) < len(scope) or not all(0 <= v < problem.n for v in scope):
            raise InvalidCertificate(f"an added factor has the scope {scope}: expected different variables")
        scopes.append(scope)
        tables.append({y: Fraction(0) for y in product(*(range(domains[v]) for v in scope))})
    if len(certificate.squares.weights):
        rest = _with_squares(problem.n, domains, unary, scopes, tables, certificate.squares)
        return _rounded_up(finite[0] + rest, certificate, finite)
    # What factors send to variables, then what they send to each other.
    amounts = iter(_finite(certificate.messages))
    for scope, table in zip(scopes, tables, strict=True):
        for place, v in enumerate(scope):
            sent = _take(amounts, domains[v])
            for y in table:
                table[y] -= sent[y[place]]
            for label in unary[v]:
                unary[v][label] += sent[label[0]]
    if next(amounts, None) is not None:
        raise InvalidCertificate("there are more messages than labels that they go to")
    amounts = iter(_finite(certificate.extra.messages))
    for small, large in certificate.extra.links.tolist():
        if not (0 <= small < len(scopes) and 0 <= large < len(scopes) and set(scopes[small]) < set(scopes[large])):
            raise InvalidCertificate(f"a link joins factors {small} and {large}: expected one within a larger one")
        every = list(product(*(range(domains[v]) for v in scopes[small])))
        table_sent = dict(zip(every, _take(amounts, len(every)), strict=True))
        places = [scopes[large].index(v) for v in scopes[small]]
        for y in tables[large]:
            tables[large][y] -= table_sent[tuple(y[i] for i in places)]
        for y in tables[small]:
            tables[small][y] += table_sent[y]
    if next(amounts, None) is not None:
        raise InvalidCertificate("there are more messages of links than entries that they go to")
    reduced = [*unary, *tables]
    if not all(reduced):
        return math.inf  # a variable without a label, or a table that forbids everything
    bound = sum((min(table.values()) for table in reduced), Fraction(problem.constant))
    return _rounded_up(bound, certificate, finite)


def _rounded_up(bound: Fraction, certificate: Any, finite: list[Fraction]) -> Fraction:
    """Rounded up to a multiple of the step, of which all finite costs have to be multiples."""
    if certificate.step:
        step = Fraction(certificate.step)
        if step < 0 or any((x / step).denominator != 1 for x in finite):
            raise InvalidCertificate(f"not all costs are multiples of {certificate.step!r}")
        bound = math.ceil(bound / step) * step
    return bound


def _with_squares(
    n: int, domains: list[int], unary: list[Table], scopes: list[tuple[int, ...]], tables: list[Table], squares: Any
) -> Fraction:
    """The bound that squares of sums of spins prove, without the constant: see `squares`."""
    if any(d != 2 for d in domains) or any(len(scope) > 2 for scope in scopes) or not all(map(len, unary)):
        raise InvalidCertificate("squares are for two labels and factors of at most two variables")
    if any(len(table) < 2 ** len(scope) for scope, table in zip(scopes, tables, strict=True)) or any(
        len(table) < 2 for table in unary
    ):
        raise InvalidCertificate("squares are for finite costs")
    product_of: dict[tuple[int, int], Fraction] = {}  # the coefficient of each product of two spins; spin n is 1
    total = Fraction(0)

    def add(i: int, j: int, amount: Fraction) -> None:
        key = min(i, j), max(i, j)
        product_of[key] = product_of.get(key, Fraction(0)) + amount

    for scope, table in [*zip([(v,) for v in range(n)], unary, strict=True), *zip(scopes, tables, strict=True)]:
        for y, x in table.items():
            x /= len(table)
            total += x
            spins = [2 * label - 1 for label in y]
            for v, s in zip(scope, spins, strict=True):
                add(v, n, s * x)
            if len(scope) == 2:
                add(*scope, spins[0] * spins[1] * x)
    start, members, numbers = squares.start.tolist(), squares.members.tolist(), squares.numbers.tolist()
    weights = _finite(squares.weights)
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
    return total - sum(map(abs, product_of.values()), Fraction(0))


def _finite(values: Any) -> list[Fraction]:
    listed = values.tolist()
    if not all(math.isfinite(x) for x in listed):
        raise InvalidCertificate("a message is not finite: expected finite numbers")
    return [Fraction(x) for x in listed]


def _take(amounts: Any, count: int) -> list[Fraction]:
    taken = [x for _, x in zip(range(count), amounts, strict=False)]
    if len(taken) < count:
        raise InvalidCertificate("there are fewer messages than labels that they go to")
    return taken


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
