"""The best known values of the instances of a folder, in its manifest.csv."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

from graphpart.common.steps import ROUNDING
from graphpart.errors import FormatError
from graphpart.folders import MANIFEST

__all__ = ["MANIFEST", "Manifests"]

FILE, VALUE, FAMILY = "file", "best", "family"


class Manifests:
    """The manifests of all folders seen so far."""

    def __init__(self) -> None:
        self._rows: dict[Path, dict[str, tuple[float | None, str | None]]] = {}

    def value(self, file: str) -> float | None:
        """The best known value of an instance, in the convention of its file."""
        if file == "-":
            return None
        return self._row(file)[0]

    def family(self, file: str) -> str | None:
        """The family of an instance, if its manifest says so."""
        return self._row(file)[1]

    def _row(self, file: str) -> tuple[float | None, str | None]:
        path = Path(file)
        if path.parent not in self._rows:
            self._rows[path.parent] = read_manifest(path.parent / MANIFEST)
        return self._rows[path.parent].get(path.name, (None, None))

    def compare(self, file: str, problem: Any, cost: float) -> tuple[float | None, float | None]:
        """The best known cost, and the relative gap of a cost to it."""
        value = self.value(file)
        if value is None:
            return None, None
        best = problem.sense * (value - problem.offset)
        if abs(cost - best) <= ROUNDING * abs(best):
            return best, 0.0
        return best, (cost - best) / abs(best) if best else math.copysign(math.inf, cost - best)


def read_manifest(path: Path) -> dict[str, tuple[float | None, str | None]]:
    """A mapping from names of files to (best known value, family), None where unknown; empty without a manifest."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError:
        raise FormatError(path, None, "not UTF-8 text: expected a manifest") from None
    rows = csv.DictReader(lines)
    missing = [column for column in (FILE, VALUE) if column not in (rows.fieldnames or ())]
    if missing:
        raise FormatError(path, 1, f"there is no column {missing[0]}: expected a header with {FILE} and {VALUE}")
    values: dict[str, tuple[float | None, str | None]] = {}
    for row in rows:
        try:
            values[row[FILE]] = (float(row[VALUE]) if row[VALUE] else None, row.get(FAMILY) or None)
        except ValueError:
            raise FormatError(path, rows.line_num, f"{VALUE} is {row[VALUE]!r}: expected a number") from None
    return values
