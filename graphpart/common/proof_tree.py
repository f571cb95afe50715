"""A proof that a solution is optimal, as a tree of decisions whose leaves are bounds.

`graphpart.check` describes the nodes and checks them, in exact arithmetic and by code that shares nothing with this
package. Branch and bound proves a bound in the same way: whoever solves a problem divides it and bounds the parts.
For integer programs, VIPR has such certificates (Cheung, Gleixner & Steffy 2017), for satisfiability DRAT (Wetzler,
Heule & Hunt 2014).
"""

from __future__ import annotations

import json
import math
import os
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphpart import check as checker
from graphpart.common.judge import Judge
from graphpart.common.proof import Proof
from graphpart.common.steps import decimal_step
from graphpart.display import number, plural
from graphpart.errors import FormatError, InvalidCertificate, InvalidOption
from graphpart.files.json_values import load
from graphpart.files.source import bare_name, opened, replacing

__all__ = [
    "NEAR", "ProofTree", "Unproven", "out_of_time", "precision", "require_room", "tolerance_of", "units", "whole",
]  # fmt: skip

KEPT = (6, 12, 20, 32, 48, 72)  # binary digits of multipliers below the scale of costs, tried in this order
NODES = 20_000  # most nodes of a tree: a file of some megabytes
DEPTH = 300  # most decisions on a path: the check follows a path by recursion
ROUNDED = 2e-10  # twice the share of the absolute costs by which all roundings of costs without a step may change them
NEAR = 1e-9  # share of the absolute costs that a bound may miss if costs have no common step


class Unproven(Exception):
    """No certificate could be made; the text says why, in one line."""


@dataclass(frozen=True, repr=False)
class ProofTree(Proof):
    """A proof of a lower bound that equals the cost of a solution.

    Attributes
    ----------
    bound : float
        No solution costs less, up to `tolerance`. The cost of the solution for which the certificate was made.
    tolerance : float
        0 if all costs are multiples of a decimal number; else a small share of the absolute costs: bounds of problems
        with any costs only come close.
    decimals : int or None
        Costs are rounded to this number of decimals before anything is computed, and the sum of all changes is
        subtracted from the bound. None if costs are taken as they are, as fractions.
    cost : float
        The cost of the solution.
    n : int
        Number of elements or variables.
    method : str
        The name of the method that found the solution.
    problem : str
        Fingerprint of the problem.
    nodes : list
        The nodes, each before its children: see `graphpart.check`.
    seal : str
        SHA-256 of all of the above.
    """

    bound: float
    tolerance: float
    decimals: int | None
    cost: float
    n: int
    method: str
    problem: str
    nodes: list[Any] = field(repr=False)
    seal: str = field(default="", repr=False)

    kind = ""

    @property
    def leaves(self) -> int:
        """The number of leaves."""
        return sum(node[0] not in ("branch", "parts") for node in self.nodes)

    @property
    def inequalities(self) -> int:
        """The number of inequalities in all leaves."""
        return sum(len(node[2]) for node in self.nodes if node[0] == "inequalities")

    def __repr__(self) -> str:
        what = plural(self.leaves, "leaf", "leaves")
        if self.inequalities:
            what += f", {plural(self.inequalities, 'inequality', 'inequalities')}"
        return f"<ProofTree: {what}, bound {number(self.bound)}>"

    def document(self) -> dict[str, Any]:
        """The fields as `graphpart.check` takes them."""
        fields = {"format": checker.FORMAT, "version": 1, "kind": self.kind}
        own = {name: getattr(self, name) for name in checker.HEADER if name not in fields}
        return fields | own | {"nodes": self.nodes, "seal": self.seal}

    def sealed(self) -> Self:
        """The same certificate with its seal."""
        return replace(self, seal=checker.seal_of(self.document()))

    @staticmethod
    @abstractmethod
    def plain(problem: Any, decimals: int | None, exact: bool) -> Any:
        """The problem as `graphpart.check` takes it, in plain Python, or with NumPy if it need not be `exact`."""

    @staticmethod
    @abstractmethod
    def identity(problem: Any) -> tuple[int, str]:
        """(number of elements or variables, fingerprint) of a problem."""

    def check(self, problem: Any, *, exact: bool = False) -> None:
        """Raise InvalidCertificate, with the reason, unless the certificate proves its bound for this problem.

        Parameters
        ----------
        problem
            The problem that was solved.
        exact : bool
            By plain Python only, and not with NumPy (`graphpart.common.fast_check`). Both compute without rounding.
        """
        self.report(problem, exact=exact)

    def report(self, problem: Any, labels: Sequence[int] | None = None, exact: bool = False) -> checker.Report:
        """What the check finds, also about labels of the problem; raise InvalidCertificate if it fails."""
        self._identify(self.seal, *self.identity(problem))  # whether the seal fits is checked below
        try:
            return checker.check(self.plain(problem, self.decimals, exact), self.document(), labels)
        except checker.Refused as error:
            raise InvalidCertificate(str(error)) from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the certificate to a file, JSON, compressed if the name ends in .gz or .xz.

        The file has the fields on its first line, then each node on a line of its own.

        Raises
        ------
        InvalidOption
            If the name does not end in .json, .json.gz or .json.xz.
        """
        name = os.fspath(path)
        if name != "-" and not bare_name(name).endswith(".json"):
            raise InvalidOption(f"{name!r} is no name of a proof tree: expected one that ends in .json or .json.gz")
        fields = self.document()
        nodes = fields.pop("nodes")
        with replacing(path) as stream:
            stream.write(f'{json.dumps(fields)[:-1]}, "nodes": [\n'.encode())
            for k, node in enumerate(nodes):
                stream.write((",\n" if k else "").encode() + json.dumps(node, separators=(",", ":")).encode())
            stream.write(b"\n]}\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a certificate from a file; raise FormatError if the file is not a certificate, or was altered."""
        with opened(path) as source:
            data = load(source, "a certificate")

        def wrong(text: str) -> FormatError:
            return source.error(None, text)

        if data.get("format") != checker.FORMAT or data.get("version") != 1:
            raise wrong(f'expected "format": "{checker.FORMAT}" and "version": 1')
        if data.get("kind") != cls.kind:
            raise wrong(f"the certificate is for a {str(data.get('kind'))[:40]}: expected one for a {cls.kind}")
        kinds: dict[str, Any] = {
            "n": int, "method": str, "bound": (int, float), "tolerance": (int, float), "decimals": (int, type(None)),
            "cost": (int, float), "problem": str, "seal": str, "nodes": list,
        }  # fmt: skip
        for name, kind in kinds.items():
            value = data.get(name)
            if name not in data or not isinstance(value, kind) or isinstance(value, bool):
                raise wrong(f"{name} is {str(value)[:40]}: expected a certificate")
            if isinstance(value, int | float) and not abs(value) < 1e300:
                raise wrong(f"{name} is {str(value)[:40]}: expected a finite number")
        tree = cls(**{name: data[name] for name in kinds})
        if tree.seal != checker.seal_of(tree.document()):
            raise wrong("the seal does not fit: the certificate was altered after it was made")
        return tree


def require_room(nodes: int, depth: int) -> None:
    """Raise Unproven unless a tree with this number of nodes may get one more, below this number of decisions."""
    for found, most, what in ((nodes + 1, NODES, "nodes"), (depth, DEPTH, "decisions on a path")):
        if found > most:
            raise Unproven(f"a proof would have more than {most} {what}")


def out_of_time(nodes: int, unfinished: int, why: str = "") -> Unproven:
    """The exception if the time is over before the tree is complete."""
    return Unproven(f"no proof when the time was over or Ctrl-C pressed: {nodes} nodes, {unfinished} open{why}")


def precision(
    costs: NDArray[np.float64], times: NDArray[np.float64] | float, step: float, tolerance: float
) -> tuple[int | None, Judge]:
    """The number of decimals to which a certificate rounds finite costs, and the judge of its bounds.

    Costs without a step are rounded, too, by a small share of the tolerance: a check is much faster with numbers of 64
    bits. The number is None if costs are too large or too small for that.

    Parameters
    ----------
    costs, times : ndarray of float64
        Finite costs, and how often each of them occurs.
    step : float
        All costs are exact multiples of it; 0 if they are not.
    tolerance : float
        What a bound may miss if there is no step.
    """
    size, count = float((np.abs(costs) * times).sum()), float((np.ones(len(costs)) * times).sum())
    tolerance = min(max(tolerance, NEAR * size), float(checker.SHARE) / 4 * size)
    if not size:
        return 0, Judge(step=1.0)
    found, error = decimal_step(costs, times)
    if found and 2 * error <= tolerance:
        decimals = next((k for k in range(9) if abs(found * 10.0**k - round(found * 10.0**k)) < 1e-6), None)
        if decimals is not None:
            return decimals, Judge(tolerance, step) if step else Judge(tolerance, found, error)
    if not 1e-20 < count / size < 1e10:
        return None, Judge(tolerance)
    decimals = max(0, math.ceil(math.log10(count / size / ROUNDED)))
    return decimals, Judge(tolerance, 0.0, count * 10.0**-decimals)


def tolerance_of(judge: Judge, cost: float, size: float, terms: int) -> float:
    """The tolerance of a certificate: what its bound may miss, and rounding errors, but not more than a check accepts.

    Parameters
    ----------
    judge : Judge
        Bounds of leaves are below the cost by at most its resolution.
    cost : float
        Of the solution.
    size : float
        The sum of all absolute costs.
    terms : int
        The most numbers that the cost is a sum of.
    """
    if judge.has_step and not judge.error:
        return 0.0  # sums of multiples of a step are exact
    allowed = 0.0 if judge.has_step else judge.resolution
    rounding = 2.0**-52 * (terms + 4) * size + math.ulp(cost)
    return min(2 * judge.error + rounding + allowed, float(checker.SHARE) * size * (1 - 2.0**-20))


def units(scale: float) -> list[int]:
    """Exponents e of units ``2**-e`` of multipliers, coarse ones first, for costs of this scale."""
    size = round(math.log2(scale)) if 0 < scale < math.inf else 0
    return [digits - size for digits in KEPT]


def whole(values: NDArray[np.float64], exponent: int) -> list[int]:
    """Numbers in units of ``2**-exponent``, rounded downwards."""
    with np.errstate(over="ignore"):
        scaled = np.floor(np.ldexp(values, exponent))
    return [int(x) for x in scaled.tolist()]
