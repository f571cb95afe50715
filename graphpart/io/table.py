"""Tables: a CSV file with a header, of which named columns are read as numbers or as text, some rows at a time."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.display import plural
from graphpart.errors import no_column
from graphpart.files.source import Source
from graphpart.files.text import check_text, no_header

__all__ = ["TableReader"]


class TableReader:
    """A CSV table with a header.

    Parameters
    ----------
    source : Source
        Fields may be quoted as usual (RFC 4180), line ends may be LF or CRLF.
    whole : bool
        Whether the table ends with the source; False for a part that more lines follow.

    Attributes
    ----------
    columns : list of str
        The names in the header.

    Raises
    ------
    FormatError
        If there is no header, or a name in it is empty or occurs twice.
    """

    def __init__(self, source: Source, whole: bool = True) -> None:
        self._source, self._whole = source, whole
        self._reader = csv.reader(source.text(), strict=True, skipinitialspace=True)
        first = self._take(1)
        if not first:
            raise source.error(1, "the file is empty: expected a header with the names of the columns")
        self.columns = [name.strip() for name in first[0][1]]
        for k, name in enumerate(self.columns):
            check_text(source, first[0][0], name)
            if not name:
                raise source.error(1, f"column {k + 1} has no name: expected a header with the names of the columns")
            if name in self.columns[:k]:
                raise source.error(1, f"column {name!r} occurs twice: expected different names")

    def place(self, name: str) -> int:
        """The number of a column.

        Raises
        ------
        FormatError
            If there is none of this name.
        """
        if name not in self.columns:
            raise self._source.error(1, no_column(name, self.columns) + no_header(",".join(self.columns)))
        return self.columns.index(name)

    def blocks(
        self, numbers: Sequence[str], texts: Sequence[str] = (), *, finite: bool = True, blank: Sequence[str] = ()
    ) -> Iterator[tuple[list[int], NDArray[np.float64], list[tuple[str, ...]]]]:
        """The rows, in order, some thousands at a time.

        Parameters
        ----------
        numbers, texts : sequence of str
            Names of columns.
        finite : bool
            Numbers have to be finite.
        blank : sequence of str
            The columns of texts that may be empty.

        Yields
        ------
        lines : list of int
            The line on which each row starts.
        values : ndarray of float64, shape (rows, len(numbers))
        fields : list of tuple of str
            The texts of each row; none of them is empty, except in columns of `blank`.

        Raises
        ------
        FormatError
            If a row has another number of fields than the header, a field is no (finite) number, or a text is empty.
        """
        number_places, text_places = [self.place(name) for name in numbers], [self.place(name) for name in texts]
        while rows := self._take(8192):
            lines = [line for line, _ in rows]
            for line, row in rows:
                if len(row) != len(self.columns):
                    last = self._whole and row is rows[-1][1] and not self._take(1)
                    fewer = last and len(row) < len(self.columns)
                    cut = ", and this is the last line: the file may be cut off" if fewer else ""
                    raise self._source.error(
                        line, f"found {plural(len(row), 'field')}: expected {len(self.columns)}{cut}"
                    )
            fields = [tuple(row[k] for k in text_places) for _, row in rows]
            for (line, _), row_fields in zip(rows, fields, strict=True):
                if "" in row_fields and (
                    empty := [
                        name for name, field in zip(texts, row_fields, strict=True) if not field and name not in blank
                    ]
                ):
                    name = empty[0]
                    raise self._source.error(line, f"column {name!r} is empty: expected a name")
                for field in row_fields:
                    check_text(self._source, line, field)
            yield lines, self._numbers(rows, number_places, finite), fields

    def _numbers(self, rows: list[tuple[int, list[str]]], places: list[int], finite: bool) -> NDArray[np.float64]:
        shape = (len(rows), len(places))
        if not places:
            return np.empty(shape)
        pick: Any = itemgetter(*places)
        picked = [pick(row) for _, row in rows]
        texts = picked if len(places) == 1 else chain.from_iterable(picked)
        try:
            values = np.fromiter(map(float, texts), np.float64, len(rows) * len(places)).reshape(shape)
        except ValueError:
            values = np.full(shape, np.nan)  # the search below finds the text
        else:
            if not finite or np.isfinite(values).all():
                return values
        for line, row in rows:
            for place in places:
                text = row[place]
                if not _is_number(text, finite):
                    if [field.strip() for field in row] == self.columns:
                        told = "the header is repeated: expected it in the first line only, also of tables put together"
                        raise self._source.error(line, told)
                    found = ascii(text[:40]) if text.strip() else "nothing"
                    name = self.columns[place]
                    raise self._source.error(
                        line, f"column {name!r} has {found}: expected a {'finite ' * finite}number"
                    )
        return values

    def _take(self, count: int) -> list[tuple[int, list[str]]]:
        """The next rows with the lines on which they start; empty lines are skipped."""
        rows: list[tuple[int, list[str]]] = []
        line = self._reader.line_num + 1
        try:
            for row in self._reader:
                if row:
                    rows.append((line, row))
                    if len(rows) == count:
                        break
                line = self._reader.line_num + 1
        except csv.Error as error:
            raise self._source.error(line, f"{error}: expected comma-separated fields") from None
        return rows


def _is_number(text: str, finite: bool) -> bool:
    try:
        return bool(np.isfinite(float(text))) or not finite
    except ValueError:
        return False
