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
FILE, VALUE = "file", "best"


def instances_in(paths: Sequence[str]) -> list[str]:
    """The given files, and for each given folder its files with the suffix of a format, by name.

    Raises
    ------
    InvalidOption
        If a folder has no instances.
    """
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
            if name != MANIFEST and name.lower().removesuffix(".gz").endswith(suffixes)
        ]
        if not found:
            raise InvalidOption(f"{path}: no instances there: expected files with the suffixes {', '.join(suffixes)}")
        files += found
    return files


class Manifests:
    """The manifests of all folders seen so far."""

    def __init__(self) -> None:
        self._values: dict[Path, dict[str, float]] = {}

    def value(self, file: str) -> float | None:
        """The best known value of an instance, in the convention of its file."""
        if file == "-":
            return None
        path = Path(file)
        if path.parent not in self._values:
            self._values[path.parent] = read_manifest(path.parent / MANIFEST)
        return self._values[path.parent].get(path.name)

    def compare(self, file: str, problem: Any, cost: float) -> tuple[float | None, float | None]:
        """The best known cost, and by what part of it a cost is higher."""
        value = self.value(file)
        if value is None:
            return None, None
        best = problem.sense * (value - problem.offset)
        if abs(cost - best) <= ROUNDING * abs(best):
            return best, 0.0
        return best, (cost - best) / abs(best) if best else math.copysign(math.inf, cost - best)


def read_manifest(path: Path) -> dict[str, float]:
    """Names of files and best known values; empty if there is no manifest, and without the rows that have no value."""
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
    values = {}
    for row in rows:
        if row[VALUE]:
            try:
                values[row[FILE]] = float(row[VALUE])
            except ValueError:
                raise FormatError(path, rows.line_num, f"{VALUE} is {row[VALUE]!r}: expected a number") from None
    return values
