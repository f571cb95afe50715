"""The instances of folders, and the best known values in their manifest.csv."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphpart.errors import FormatError, InvalidOption

__all__ = ["MANIFEST", "Manifests", "instances_in"]

MANIFEST = "manifest.csv"
ROUNDING = 1e-9  # relative difference between costs that counts as none
FILE, VALUE, FAMILY = "file", "best", "family"


def instances_in(paths: Sequence[str]) -> list[str]:
    """The given files, and for each given folder its files with the suffix of a format, by name.

    Raises
    ------
    InvalidOption
        If a folder has no instances.
    """
    from graphpart.files.source import bare_name
    from graphpart.io import FORMATS

    suffixes = tuple(suffix for known in FORMATS for suffix in known.suffixes)
    files: list[str] = []
    for path in paths:
        if not os.path.isdir(path):
            files.append(path)
            continue
        found = [
            os.path.join(path, name)
            for name in sorted(os.listdir(path))
            if name != MANIFEST and bare_name(name).endswith(suffixes)
        ]
        if not found and any(name.endswith(".parquet") for name in os.listdir(path)):
            raise InvalidOption(f"{path}: a folder of Parquet files is solved in parts: expected --workers with it")
        if not found:
            raise InvalidOption(f"{path}: no instances there: expected files with the suffixes {', '.join(suffixes)}")
        files += found
    return files


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
