"""A proof of a lower bound on the energy of a factor graph: a reparametrisation.

Let each factor of at least two variables send an amount to each label of each of its variables. The amount is
subtracted from the entries of the table with this label, and added to the unary cost of the label. This does not change
the energy of any labeling. So every labeling costs at least

    constant + sum over variables of the smallest unary cost, with what was sent to the variable
             + sum over factors of at least two variables of the smallest entry of the table, less what it sent,

for any amounts (Schlesinger 1976; Wainwright, Jaakkola & Willsky 2005; Werner 2007). Larger factors, whose
tables are zero, may be added, and a factor may also send a table of amounts to a factor over some of its variables
(Sontag et al. 2008; Kolmogorov 2015). From the problem and the amounts, anyone can compute this bound, in floating
point with every sum rounded towards minus infinity, or in exact rational arithmetic. If all costs are multiples of one
number, every energy is, too, and the bound is rounded up to such a multiple.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.proof import Proof
from graphpart.common.steps import are_multiples, round_up, step_of
from graphpart.crf.certificates import _certificate
from graphpart.crf.certificates.exact_check import exact_bound
from graphpart.crf.certificates.squares import Squares, bound_of_squares
from graphpart.crf.problem import FactorGraph, _structure, as_factor_graph
from graphpart.crf.problem.shared_tables import absolute_costs, blocks, times
from graphpart.errors import FormatError, InfeasibleProblem, InvalidCertificate
from graphpart.files.certificates import Form, read_certificate, write_certificate

__all__ = [
    "Certificate",
    "Extra",
    "certify",
    "common_step",
    "counted_costs",
    "fingerprint",
    "finite_costs",
    "later",
    "message_starts",
    "proven_bound",
]

ROUNDED = 2.0**-46  # largest error of a sum of a unary cost and messages, beside all absolute costs, for each message
LARGE = 256  # entries of a table from which on its own SHA-256 takes no longer than they do
SECOND = "2:"  # before a fingerprint in which large tables count by their own
LATER = ("messages", "problem", "seal")  # what `later` leaves open

Floats = NDArray[np.float64]
Offsets = NDArray[np.int64]
Elements = NDArray[np.int32]
FORM = Form(
    "graphpart-factor-graph-certificate",
    {
        "messages": np.float64,
        "extra_start": np.int64,
        "extra_scope": np.int32,
        "links": np.int32,
        "link_messages": np.float64,
        "square_start": np.int64,
        "square_members": np.int32,
        "square_numbers": np.int64,
        "square_weights": np.float64,
    },
    optional="square_",
)


@dataclass(frozen=True)
class Extra:
    """Factors that are added with a table of zeros, and tables of amounts that factors send to smaller ones.

    Factors of at least two variables are numbered: those of the factor graph in its order, then those added here.

    Attributes
    ----------
    start : ndarray of int64, shape (k + 1,)
    scope : ndarray of int32
        The variables of added factor i are ``scope[start[i]:start[i + 1]]``, at least two.
    links : ndarray of int32, shape (l, 2)
        Pairs (smaller, larger) of factors; the scope of the smaller one is part of that of the larger one.
    messages : ndarray of float64
        For each link the amounts sent from the larger to the smaller factor, one for each entry of the table of the
        smaller one.
    """

    start: Offsets
    scope: Elements
    links: Elements
    messages: Floats

    @staticmethod
    def none() -> Extra:
        """No factor and no link."""
        return Extra(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros((0, 2), np.int32), np.zeros(0))


@dataclass(frozen=True)
class Certificate(Proof):
    """A lower bound with its proof.

    Attributes
    ----------
    bound : float
        No labeling has a smaller energy.
    method : str
        The method that found the bound.
    messages : ndarray of float64
        For each factor of at least two variables in the order of the factor graph, then for each of those in `extra`,
        for each variable of its scope in order: the amount sent to each label of the variable.
    extra : Extra
        Larger factors, and the messages between factors.
    squares : Squares
        If there are any, they prove the bound, and messages prove nothing.
    step : float
        A number of which the constant and all costs are multiples; the bound was rounded up to a multiple of it. 0 if
        it was not rounded.
    n : int
        Number of variables.
    problem : str
        Fingerprint of the problem (see `fingerprint`).
    cost : float or None
        The energy of the best labeling that was known when the certificate was made.
    seal : str
        SHA-256 of all of the above.

    Notes
    -----
    Where the bound is known before messages are written out, `messages`, `problem` and `seal` are made when one of them
    is first read. Of a grid with 15 * 10^6 labels, this takes about as long as an iteration of message passing.

    Examples
    --------
    >>> import graphpart as gp
    >>> f = gp.FactorGraph.from_arrays([2, 2], [([[0]], [[0.0, 1.0]]), ([[0, 1]], [[[2.0, 3.0], [0.0, 1.0]]])])
    >>> c = certify(f, [2.0, 0.0, 0.0, 0.0], "by hand")
    >>> c.bound, c.verify(f), c.verify(f, exact=True)
    (1.0, True, True)
    """

    bound: float
    method: str
    messages: Floats = field(repr=False)
    extra: Extra = field(repr=False)
    step: float
    n: int
    problem: str = field(repr=False)
    cost: float | None = None
    seal: str = field(default_factory=str, repr=False)
    squares: Squares = field(default_factory=Squares.none, repr=False)

    def __getattr__(self, name: str) -> Any:
        """What is made when it is first read; see `later`."""
        made = self.__dict__.get("_make") if name in LATER else None
        if made is not None:
            self.__dict__.update({key: value for key, value in made().__dict__.items() if key in LATER})
            self.__dict__.pop("_make", None)
        if name not in self.__dict__:  # else another thread has just made it
            raise AttributeError(f"a certificate has no attribute {name!r}")
        return self.__dict__[name]

    def __getstate__(self) -> dict[str, Any]:
        seal = self.seal
        return {**self.__dict__, "seal": seal}

    def with_cost(self, cost: float | None) -> Certificate:
        """The same certificate, with the energy of a labeling stated."""
        return sealed(replace(self, cost=cost))

    def check(self, problem: Any, *, exact: bool = False) -> None:
        """Raise InvalidCertificate, with the reason, unless the certificate proves its bound for this problem.

        Parameters
        ----------
        problem : FactorGraph or bipartite networkx.Graph
        exact : bool
            Compute in whole numbers of Python instead of floating point with directed rounding.

        Notes
        -----
        O(sum over factors of arity times size of the table). Of a grid with 16 labels, ``exact=True`` takes about a
        millisecond for each variable, some hundred times as long as without.
        """
        f = as_factor_graph(problem)
        self._identify(seal_of(self), f.n, fingerprint(f, self.problem))
        if exact:
            proven: float | Fraction = exact_bound(f, self)
        else:
            if self.step and not are_multiples(finite_costs(f), self.step):
                raise InvalidCertificate(f"not all costs are multiples of {self.step}")
            proven = round_up(_proven(f, self.messages, self.extra, self.squares), self.step)
        self._compare(proven, "squares" if len(self.squares) else "messages")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the certificate to a file: ``.json`` (for people and other programs) or ``.npz`` (small and fast).

        Raises InvalidOption for another name.
        """
        write_certificate(path, FORM, self, {name: array.ravel() for name, array in _arrays(self).items()})

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Certificate:
        """Read a certificate from a file; raise FormatError if the file is not a certificate, or was altered."""
        header, arrays = read_certificate(path, FORM)
        if len(arrays["links"]) % 2:
            raise FormatError(path, None, f"links has {len(arrays['links'])} numbers: expected pairs of factors")
        links = arrays["links"].reshape(-1, 2)
        extra = Extra(arrays["extra_start"], arrays["extra_scope"], links, arrays["link_messages"])
        squares = Squares(*(arrays[f"square_{name}"] for name in ("start", "members", "numbers", "weights")))
        squares = squares if len(squares) else Squares.none()
        certificate = _frozen(Certificate(messages=arrays["messages"], extra=extra, squares=squares, **header))
        if certificate.seal != seal_of(certificate):
            problem = "the seal does not fit: the certificate was altered after it was made"
            raise FormatError(path, None, problem)
        return certificate


def certify(
    f: FactorGraph,
    messages: Any,
    method: str,
    *,
    extra: Extra | None = None,
    squares: Squares | None = None,
    cost: float | None = None,
    step: float | None = None,
    copy: bool = True,
) -> Certificate:
    """The certificate that consists of these messages, with the bound that they prove.

    Parameters
    ----------
    f : FactorGraph
    messages : array_like of float64
        Finite; see `Certificate` for their order and `message_starts` for their places.
    method : str
    extra : Extra, optional
        Larger factors, and the messages between factors; default: none.
    squares : Squares, optional
        The squares that prove the bound in place of messages; default: none.
    cost : float, optional
        The energy of the best labeling known.
    step : float, optional
        A number of which all costs are multiples; default: it is computed from the costs.
    copy : bool
        Without, the certificate takes over an array of messages, which nothing may change any more.

    Raises
    ------
    InvalidCertificate
        If messages are not finite, or do not fit the factor graph.
    InfeasibleProblem
        If the messages prove that every labeling is forbidden.

    Examples
    --------
    >>> import graphpart as gp
    >>> f = gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [[[0.0, 1.0], [2.0, 0.5]]])], constant=3.0)
    >>> certify(f, [0.0, 0.0, 0.0, 0.0], "nothing").bound
    3.0
    """
    own = np.array(messages, np.float64, order="C") if copy else np.ascontiguousarray(messages, np.float64)
    own = own.reshape(-1)
    extra = Extra.none() if extra is None else extra
    step = common_step(f) if step is None else step
    squares = Squares.none() if squares is None else squares
    bound = round_up(_proven(f, own, extra, squares), step)
    if bound == math.inf or (f.has_forbidden and bound > _largest_energy(f)):
        raise InfeasibleProblem("every labeling is forbidden: messages prove a bound above all finite energies")
    return sealed(Certificate(bound, method, own, extra, step, f.n, fingerprint(f), cost, squares=squares))


def later(
    f: FactorGraph, bound: float, method: str, messages: Callable[[], Floats], cost: float | None = None
) -> Certificate:
    """The certificate of a bound that messages are known to prove in exact arithmetic. They are made when first read.

    What `check` may lose by rounding is taken from the bound.
    """
    degree = int(np.bincount(f._flat()[2]).max(initial=0))
    step = common_step(f)
    bound = math.nextafter(bound - ROUNDED * (1 + degree) * (absolute_costs(f) + abs(f.constant)), -math.inf)
    certificate = Certificate(round_up(bound, step), method, np.zeros(0), Extra.none(), step, f.n, "", cost)
    own, f = replace(certificate), f._now()  # factors may be added to it before the messages are read
    certificate.__dict__["_make"] = lambda: sealed(replace(own, messages=messages(), problem=fingerprint(f)))
    for name in LATER:
        del certificate.__dict__[name]
    return certificate


def _proven(f: FactorGraph, messages: Floats, extra: Extra, squares: Squares) -> float:
    return bound_of_squares(f, squares) if len(squares) else proven_bound(f, messages, extra)


def sealed(certificate: Certificate) -> Certificate:
    """The same certificate with read-only arrays and its seal."""
    return replace(_frozen(certificate), seal=seal_of(certificate))


def seal_of(certificate: Certificate) -> str:
    """SHA-256 of all fields but the seal."""
    c = certificate
    digest = hashlib.sha256(repr((c.bound, c.method, c.step, c.n, c.problem, c.cost)).encode())
    for name, array in _arrays(c).items():
        digest.update(f"{name}{np.shape(array)}".encode())
        digest.update(np.ascontiguousarray(array, np.dtype(FORM.arrays[name]).newbyteorder("<")).data)
    return digest.hexdigest()


def _arrays(c: Certificate) -> dict[str, NDArray[Any]]:
    e, s = c.extra, c.squares
    parts = (c.messages, e.start, e.scope, e.links, e.messages, s.start, s.members, s.numbers, s.weights)
    count = len(parts) if len(s) else 5
    return dict(zip(tuple(FORM.arrays)[:count], parts[:count], strict=True))


def _frozen(certificate: Certificate) -> Certificate:
    for array in _arrays(certificate).values():
        array.flags.writeable = False
    return certificate


def fingerprint(f: FactorGraph, like: str = "") -> str:
    """SHA-256 of the constant, the domains, the scopes and the tables, kept once made. O(size of all tables)

    A table of `LARGE` entries or more counts by its own SHA-256, so that one that many factors share is read once. With
    `like`, a fingerprint without a prefix, as graphpart 0.2 made them, all entries count.
    """
    former = bool(like) and not like.startswith(SECOND)
    key = "former fingerprint" if former else "fingerprint"
    kept = f._cache.get(key)
    if kept is None or kept[0] != f.constant:  # the constant may be assigned to
        digest = hashlib.sha256(repr((f.n, f.m, float(f.constant))).encode())
        starts = f.table_start
        arrays = (f.domains, f.scope_start, f.scope, starts)
        for array, kind in zip(arrays, ("<i4", "<i8", "<i4", "<i8"), strict=True):
            digest.update(np.ascontiguousarray(array, kind).data)
        large = np.diff(starts) >= (np.inf if former else LARGE)
        for block in blocks(f, np.flatnonzero(~large)):
            digest.update(np.ascontiguousarray(block, "<f8").data)
        digest.update(_digests(f, np.flatnonzero(large)))
        kept = f._cache[key] = (f.constant, digest.hexdigest() if former else SECOND + digest.hexdigest())
    text: str = kept[1]
    return text


def _digests(f: FactorGraph, factors: NDArray[np.int64]) -> bytes:
    """The SHA-256 of the tables of some factors, one after the other."""
    starts, begins, tables = f.table_start, f._flat()[3][factors], f._flat()[4]
    entries, sha = np.ascontiguousarray(tables, "<f8").data, hashlib.sha256
    first, which = np.unique(begins, return_index=True, return_inverse=True)[1:]
    ends = begins + starts[factors + 1] - starts[factors]
    digests = [sha(entries[a:b]).digest() for a, b in zip(begins[first].tolist(), ends[first].tolist(), strict=True)]
    return b"".join([digests[k] for k in which.ravel().tolist()])


def message_starts(f: FactorGraph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(factors of at least two variables, starts): where the messages of a `Certificate` stand.

    Messages of the k-th of these factors begin at ``starts[k]``; those to the first variable of its scope come first.
    ``starts[-1]`` is the number of all messages without those of `Extra`.
    """
    domains, scope_start, scope, _, _ = f._flat()
    several = np.flatnonzero(np.diff(scope_start) > 1)
    ends = np.zeros(len(scope) + 1, np.int64)
    np.cumsum(domains[scope], out=ends[1:])
    starts = np.zeros(len(several) + 1, np.int64)
    np.cumsum(ends[scope_start[several + 1]] - ends[scope_start[several]], out=starts[1:])
    return several, starts


def proven_bound(f: FactorGraph, messages: Floats, extra: Extra) -> float:
    """The bound that messages prove, before it is rounded to a step: every operation rounds towards minus infinity.

    Raises
    ------
    InvalidCertificate
        If a message is not finite, or the arrays do not fit the factor graph or each other.
    """
    domains, scope_start, scope, begins, _ = f._flat()
    arity = np.diff(scope_start)
    several = np.flatnonzero(arity > 1)
    own = np.repeat(arity > 1, arity)
    _check_extra(f, extra)
    all_scope = np.concatenate([scope[own], extra.scope])
    all_start = np.concatenate([[0], np.cumsum(np.concatenate([arity[several], np.diff(extra.start)]))])
    expected = int(domains[all_scope].sum(dtype=np.int64))
    if messages.shape != (expected,):
        raise InvalidCertificate(f"{len(messages)} messages: expected {expected}, one for each label they go to")
    if any(at >= 0 or infinite for at, infinite, _ in map(_structure.measure, (messages, extra.messages))):
        raise InvalidCertificate("a message is not finite: expected finite numbers")
    each = domains[extra.scope].astype(np.float64)
    entries: Floats = np.multiply.reduceat(each, extra.start[:-1]) if len(each) else each
    if np.max(entries, initial=0.0) > 2.0**40:
        raise InvalidCertificate("an added factor has a table larger than any memory")
    extra_sizes = np.array(entries, np.int64)
    sizes = np.concatenate([np.diff(f.table_start)[several], extra_sizes])
    at = np.concatenate([begins[:-1][several], np.full(len(extra_sizes), -1)])
    links = extra.links
    if links.size and (links.min() < 0 or links.max() >= len(sizes)):
        raise InvalidCertificate(f"a link names factor {links.min()} or {links.max()}: expected 0 to {len(sizes) - 1}")
    small = links[:, 0]
    place_start = np.concatenate([[0], np.cumsum(np.diff(all_start)[small])])
    place = np.zeros(int(place_start[-1]), np.int32)
    bad = _certificate.places(all_start, all_scope, np.ascontiguousarray(links), place)
    if bad >= 0:
        raise InvalidCertificate(f"link {bad} joins {tuple(links[bad].tolist())}: expected one within a larger one")
    link_start = np.concatenate([[0], np.cumsum(sizes[small])])
    if extra.messages.shape != (link_start[-1],):
        raise InvalidCertificate(f"links have {len(extra.messages)} messages: expected {link_start[-1]}")
    ends = np.argsort(links.ravel(), kind="stable") // 2
    rows = np.concatenate([[0], np.cumsum(np.bincount(links.ravel(), minlength=len(sizes)))])
    sent = _certificate.Links(links, rows, ends, place_start, place, link_start, extra.messages)
    unary = _certificate.unary_minima(f._view(), messages, extra.scope)
    rest = _certificate.factor_minima(f._view(), all_start, all_scope, at, messages, sent)
    return _certificate.sum_down(float(f.constant), np.concatenate([unary, rest]))


def _check_extra(f: FactorGraph, extra: Extra) -> None:
    start, scope = extra.start, extra.scope
    if not (start.ndim == scope.ndim == extra.messages.ndim == 1 and extra.links.ndim == 2 == extra.links.shape[1]):
        raise InvalidCertificate("the arrays of added factors have a wrong shape")
    if not len(start) or start[0] != 0 or start[-1] != len(scope) or (np.diff(start) < 2).any():
        raise InvalidCertificate("the added factors are damaged: expected starts of scopes of at least two variables")
    if len(scope) and not (scope.min() >= 0 and scope.max() < f.n):
        raise InvalidCertificate(
            f"an added factor has variable {scope.min()} or {scope.max()}: expected 0 to {f.n - 1}"
        )
    factor = np.repeat(np.arange(len(start) - 1), np.diff(start))
    keys = np.sort(factor * max(f.n, 1) + scope)
    if (keys[1:] == keys[:-1]).any():
        raise InvalidCertificate("an added factor repeats a variable")


def common_step(f: FactorGraph) -> float:
    """The largest number of which the constant and all finite costs are multiples, if multiples of ``2**-20``; else 0.

    1 if all are zero; 0 if sums of costs may be too large to be exact.

    Examples
    --------
    >>> common_step(FactorGraph.from_arrays([2], [([[0]], [[1.5, -3.0]])]))
    1.5
    """
    costs = finite_costs(f)
    magnitude = max(-float(costs.min(initial=0.0)), float(costs.max(initial=0.0)))
    return step_of(costs, magnitude * (f.entries + 1))


def finite_costs(f: FactorGraph) -> Floats:
    """The finite entries of the tables that are kept, and the constant."""
    costs = f._flat()[4]
    costs = costs[np.isfinite(costs)] if f.has_forbidden else costs
    return np.append(costs, f.constant) if f.constant else costs


def counted_costs(f: FactorGraph) -> tuple[Floats, Floats | float]:
    """The same, and how often each of them occurs."""
    costs, count = f._flat()[4], times(f)
    if isinstance(count, np.ndarray):
        count = count[np.isfinite(costs)] if f.has_forbidden else count
        count = np.append(count, 1.0) if f.constant else count
    return finite_costs(f), count


def _largest_energy(f: FactorGraph) -> float:
    """An upper bound on every finite energy."""
    return abs(float(f.constant)) + absolute_costs(f) * (1 + 2.0**-30)
