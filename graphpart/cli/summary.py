"""The summary of a benchmark by family and method: the numbers of best known values reached and of costs proven.

The family of an instance is stated in the manifest beside it; otherwise it is the name up to the first digit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from graphpart.cli.display import Table, percent
from graphpart.result import Status

__all__ = ["COLUMNS", "Summary", "family_of"]

ALL = "all families"
COLUMNS = ["method:", "instances", "best reached", "mean gap", "proven", "seconds"]


def family_of(file: str) -> str:
    """The family by the name of a file: the part before the first digit."""
    name = Path(file).name
    return re.split(r"[-_.]*[0-9.]", name, maxsplit=1)[0] or name


class Summary:
    """Rows of runs, added up and printed family by family, as each is complete.

    Parameters
    ----------
    families : sequence of str
        All that will come, in order.
    wait : bool
        Print all at the end, because rows of runs are printed in between.
    """

    def __init__(self, families: Sequence[str], wait: bool = False) -> None:
        self._wait = wait
        self._done: list[tuple[str, dict[str, Any]]] = []
        self._table = Table([*dict.fromkeys(families), ALL], COLUMNS, first="family")
        self._family: str | None = None
        self._rows: list[Mapping[str, Any]] = []
        self._all: list[Mapping[str, Any]] = []

    def __enter__(self) -> Summary:
        self._table.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._flush()
        for family, row in [*self._done, *lines(ALL, self._all)]:
            self._table.add(family, row)
        self._table.__exit__(*error)

    def add(self, family: str, row: Mapping[str, Any]) -> None:
        """Take the row of one run: `method`, `gap` to the best known value or None, `status`, `seconds`."""
        if family != self._family:
            self._flush()
            self._family = family
        self._rows.append(row)
        self._all.append(row)

    def _flush(self) -> None:
        found, self._rows = lines(str(self._family), self._rows), []
        if self._wait:
            self._done += found
        else:
            for family, row in found:
                self._table.add(family, row)


def lines(family: str, rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """(family, row) for each method, in the order in which they ran."""
    of_method: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        of_method.setdefault(row["method"], []).append(row)
    return [(family, {"method": method, **totals(runs)}) for method, runs in of_method.items()]


def totals(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One row of the summary, from the runs of one method on one family."""
    gaps = [run["gap"] for run in runs if run["gap"] is not None]
    finite = [gap for gap in gaps if math.isfinite(gap)]
    return {
        "instances": len(runs),
        "best reached": f"{sum(gap <= 0 for gap in gaps)} of {len(gaps)}" if gaps else None,
        "mean gap": percent(math.fsum(finite) / len(finite)) if finite else None,
        "proven": f"{sum(run['status'] == Status.OPTIMAL for run in runs)} of {len(runs)}",
        "seconds": f"{math.fsum(run['seconds'] for run in runs):.2f}",
    }
