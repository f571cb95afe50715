"""The display of results of commands: tables on standard output, plain text if it is not a terminal."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from graphpart import display
from graphpart.cli.console import emit, shown
from graphpart.display.progress import Callback, Progress, on_terminal
from graphpart.methods import METHODS

__all__ = ["Callback", "Progress", "Table", "percent"]

WIDTHS = {":": 14, ".": 13}  # at least, by the mark of the column; plain rows are printed before later ones are known
METHOD = max(len(method.name) for method in METHODS)  # the column of methods holds the longest name


class Table:
    """One row per instance: a rich table if standard output is a terminal, else plain columns, each row at once.

    Parameters
    ----------
    files : sequence of str
        The instances; the first column shows their names, or their paths where names are not unique.
    columns : sequence of str
        The other columns. A name that ends in ``:`` is a column of text, in ``.`` of real numbers (the mark is not
        shown); all others are counts.
    aside : bool
        Print to standard error, as plain text, because standard output is used for other data.
    first : str
        The head of the first column.
    """

    def __init__(
        self, files: Sequence[str], columns: Sequence[str], aside: bool = False, first: str = "instance"
    ) -> None:
        self._first = first
        names = {file: Path(file).name if file != "-" else shown(file) for file in files}
        self._names = names if len(set(names.values())) == len(names) else {file: shown(file) for file in files}
        self._rows: list[list[str]] = []
        self._aside = aside
        self._is_rich = on_terminal(sys.stdout) and not aside
        self._head(columns)

    def _head(self, columns: Sequence[str]) -> None:
        """Begin a table with these columns."""
        self._given = list(columns)
        self._columns = [self._first, *(column.rstrip(":.") for column in columns)]
        self._is_text = [True, *(column.endswith(":") for column in columns)]
        least = [max(map(len, self._names.values()), default=0)]
        least += [METHOD if column == "method:" else WIDTHS.get(column[-1], 8) for column in columns]
        self._widths = [max(width, len(name)) for width, name in zip(least, self._columns, strict=True)]

    def add(self, file: str, row: Mapping[str, Any], columns: Sequence[str] | None = None) -> None:
        """Add one row; None and infinite numbers show as ``-``. A column that was not there begins another table."""
        if columns is not None and not set(columns) <= set(self._given):
            self._finish()
            self._head(columns)
        if not self._is_rich and not self._rows:
            self._print(self._columns)
        self._rows.append([self._names[file], *(_text(row.get(name)) for name in self._columns[1:])])
        if not self._is_rich:
            self._print(self._rows[-1])

    def _print(self, cells: list[str]) -> None:
        padded = (
            cell.ljust(width) if is_text else cell.rjust(width)
            for cell, width, is_text in zip(cells, self._widths, self._is_text, strict=True)
        )
        line = "  ".join(padded).rstrip()
        if self._aside:
            print(line, file=sys.stderr)
        else:
            emit(line + "\n")

    def __enter__(self) -> Table:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._finish()

    def _finish(self) -> None:
        """Print the remaining rows, and forget them."""
        rows, self._rows = self._rows, []
        if not self._is_rich or not rows:
            return
        from rich import box
        from rich.console import Console
        from rich.table import Table as RichTable
        from rich.text import Text

        console = Console(file=sys.stdout)
        columns, is_text = self._columns, self._is_text
        whole = [max(map(len, cells)) for cells in zip(columns, *rows, strict=True)]
        if sum(whole) + 3 * len(whole) > console.width and "objective" in columns:
            place, cost = columns.index("objective"), columns.index("cost")
            if all(cells[place] in (cells[cost], "-") for cells in rows):  # then it tells nothing more
                kept = [k for k in range(len(columns)) if k != place]
                columns, *rows = ([cells[k] for k in kept] for cells in (columns, *rows))
                is_text, whole = [is_text[k] for k in kept], [whole[k] for k in kept]
        # a column of text keeps 8 characters; numbers are never cut
        least = [min(size, 8) if text else size for size, text in zip(whole, is_text, strict=True)]
        narrow = sum(least) + 3 * len(least) > console.width  # with two spaces and a divider for each column
        table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 0) if narrow else (0, 1))
        for name, text, width in zip(columns, is_text, least, strict=True):
            table.add_column(
                name, justify="left" if text else "right", overflow="fold", no_wrap=not text, min_width=width
            )
        for cells in rows:
            table.add_row(*map(Text, cells))
        console.width = max(console.width, sum(least) + (1 if narrow else 3) * len(least) + 1)
        with console.capture() as capture:
            console.print(table)
        emit(capture.get())


def percent(ratio: float | None) -> str | None:
    """A ratio for a table, ``0%`` only if it is exactly 0; None if it is not finite."""
    return None if ratio is None or not math.isfinite(ratio) else display.percent(ratio)


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value + 0.0:.10g}" if math.isfinite(value) else "-"
    return "-" if value is None else str(value)
