"""The file of ``--certificate``, which always has the best proof so far.

1. Before a method begins, the file gets a quick lower bound with its proof.
2. While branch and cut runs, its multipliers prove more and more. When their bound is higher, a new certificate
   replaces that of the file at once. So a run that is killed leaves a certificate of a valid bound. This takes at most
   about a twentieth of the time.
3. The whole proof of an optimal result comes last. If there is none, the best lower bound stays in the file.

A certificate appears under the name of the file only when it is complete.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from graphpart.cli.console import say
from graphpart.cli.files import find_certificate, writing
from graphpart.display import number
from graphpart.result import Status
from graphpart.solve import problem_kind, with_certificate

__all__ = ["ProofFile"]

SHARE = 0.05  # of the time may be spent on certificates while a method runs
FIRST = 2.0  # most seconds for the first bound


class ProofFile:
    """The file of the certificate of one run.

    Parameters
    ----------
    problem : SetPartition, FactorGraph or LabeledPartition
    file : str
        A name; nothing is written during the run to ``-``, standard output.
    time_limit : float, optional
        Of the method, in seconds.
    """

    def __init__(self, problem: Any, file: str, time_limit: float | None) -> None:
        self.problem, self.file, self.time_limit = problem, file, time_limit
        self.known: list[Any] = []
        self.best: Any = None  # the certificate in the file
        self.spent, self.started = 0.0, 0.0  # seconds of writing; when the method began

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Within this context, what methods prove reaches the file."""
        from graphpart.partition.certificates.kept import keeping

        told = None
        if problem_kind(self.problem) != "labeled" and self.file != "-":
            seconds = FIRST if self.time_limit is None else min(FIRST, SHARE * self.time_limit)
            self._take(lambda: find_certificate(self.problem, seconds, quickly=True))
            self.spent, self.started, told = 0.0, time.monotonic(), self._tell
        with keeping(told=told) as self.known:
            yield

    def _tell(self, some: Callable[[], list[Any]]) -> None:
        """Take over what a method has proven so far, unless too much time was spent on this already."""
        if self.spent <= SHARE * (time.monotonic() - self.started):
            self._take(lambda: self._certificate(some()))

    def _certificate(self, known: list[Any]) -> Any:
        """The certificate of the lower bound that multipliers prove for the whole problem."""
        from graphpart.partition.certificates.certificate import certify
        from graphpart.partition.certificates.inequalities import Inequalities

        found, multipliers = Inequalities.none(), [np.zeros(0)]
        for one in known:
            found = found + one.inequalities.renamed(one.elements.astype(np.int32))
            multipliers.append(one.multipliers)
        return certify(self.problem, "branch and cut", found, np.concatenate(multipliers))

    def _take(self, make: Callable[[], Any]) -> None:
        """Make a certificate, and write it if its bound is higher than that in the file."""
        began = time.monotonic()
        certificate = make()
        if self.best is None or certificate.bound > self.best.bound:
            self.best = certificate
            if self.file != "-":  # which gets the last one only
                with writing(self.file):
                    certificate.save(self.file)
        self.spent += time.monotonic() - began

    def finish(self, result: Any, is_whole: bool) -> Any:
        """Write the whole proof of an optimal result to JSON; else the best lower bound with its proof, which is said.

        Returns the result, with that bound if it is higher. If not `is_whole`, other labels may cost less.
        """
        kind = problem_kind(self.problem)
        why = "the result is not proven optimal"
        if result.status is Status.OPTIMAL and is_whole and kind != "labeled" and not self.file.endswith(".npz"):
            result = with_certificate(self.problem, result, self.time_limit, self.known)
            if result.certificate is not None:
                with writing(self.file):
                    result.certificate.save(self.file)
                return result
            why = result.message.rpartition("; ")[2]
        if self.known:
            self._take(lambda: self._certificate(self.known))
        near = 1e-6 * abs(result.cost)
        if self.best is None or self.best.bound < result.lower_bound - near:
            self._take(lambda: find_certificate(self.problem, self.time_limit))
        bound = min(self.best.bound, result.cost)
        if result.status is not Status.OPTIMAL or not self.file.endswith(".npz"):
            shown = number(self.problem.objective(bound))
            say(f"{why}: {self.file} has a lower bound only, {shown}")
        with writing(self.file):
            self.best.with_cost(result.cost).save(self.file)
        return replace(result, lower_bound=max(result.lower_bound, bound))
