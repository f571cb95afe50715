"""The base of all certificates of lower bounds, which can be checked against a problem."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any

from graphpart.display import html_of, number, percent
from graphpart.errors import InvalidCertificate

__all__ = ["Proof"]


class Proof(ABC):
    """A lower bound with its proof.

    Attributes
    ----------
    bound : float
        The lower bound on the cost of every solution.
    n : int
        Number of elements or variables of the problem.
    problem : str
        Fingerprint of the problem.
    seal : str
        SHA-256 of all other fields.
    """

    bound: float
    n: int
    problem: str
    seal: str

    @abstractmethod
    def check(self, problem: Any, *, exact: bool = False) -> None:
        """Raise InvalidCertificate, with the reason, unless the certificate proves its bound for this problem."""

    def verify(self, problem: Any, *, exact: bool = False) -> bool:
        """Whether the certificate proves its bound for a problem; see `check`."""
        try:
            self.check(problem, exact=exact)
        except InvalidCertificate:
            return False
        return True

    def _repr_html_(self) -> str:
        """For notebooks."""
        cost = getattr(self, "cost", None)
        facts = {
            "method": getattr(self, "method", None),
            "elements or variables": self.n,
            "cost of the best known": cost,
        }
        if cost:
            facts["gap"] = percent(max(0.0, cost - self.bound) / abs(cost))
        return html_of(f"Certificate: lower bound {number(self.bound)}", facts | {"to check it": "verify(problem)"})

    def _identify(self, seal: str, n: int, problem: str) -> None:
        if self.seal != seal:
            raise InvalidCertificate("the certificate was altered after it was made: its seal does not fit")
        if self.n != n or self.problem != problem:
            raise InvalidCertificate("the certificate belongs to another problem")

    def _compare(self, proven: float | Fraction, what: str) -> None:
        if not proven >= self.bound:
            raise InvalidCertificate(f"the {what} prove {float(proven)!r} only: expected at least {self.bound!r}")
