"""Numbers and fields in text files: rows of numbers with all digits, integers, UTF-8."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from graphpart.files.source import Source

__all__ = ["ANSWERS", "INTEGER", "ROWS", "answer_in", "check_text", "identifier", "no_header", "numbers", "write_rows"]

ROWS = 1 << 16  # rows formatted at a time
INTEGER = re.compile(r"0|-?[1-9][0-9]*")
ANSWERS = "together (yes, 1), apart (no, 0) or nothing"


def numbers(values: NDArray[Any]) -> list[Any]:
    """Numbers whose str() is their shortest exact text: whole ones as int, others as float."""
    out: list[Any] = values.tolist()
    if values.dtype.kind == "f":
        whole = (np.abs(values) < 2**53) & (values == np.trunc(values))
        if whole.all():
            out = values.astype(np.int64).tolist()
        else:
            for i in np.flatnonzero(whole).tolist():
                out[i] = int(out[i])
    return out


def write_rows(stream: BinaryIO, separator: str, *columns: NDArray[Any]) -> None:
    """Write arrays of numbers as the columns of a text."""
    row = separator.join(["%s"] * len(columns)) + "\n"
    for start in range(0, len(columns[0]), ROWS):
        part = [numbers(column[start : start + ROWS]) for column in columns]
        stream.write("".join([row % values for values in zip(*part, strict=True)]).encode())


def identifier(text: str) -> Hashable:
    """The name of an element: an integer if the text is written like one, else the text."""
    return int(text) if len(text) <= 4000 and INTEGER.fullmatch(text) else text  # Python reads 4300 digits


def answer_in(value: Any) -> str | None:
    """What a person said of a pair: "together", "apart", or "" where it is not known; None if it is no answer."""
    text = "" if value is None else str(value).strip().lower()
    said = {"together": "together yes true 1 1.0", "apart": "apart no false 0 0.0"}
    return "" if text in ("", "nan") else next((word for word, same in said.items() if text in same.split()), None)


def no_header(line: str) -> str:
    """What a first line is that is no header of fields with commas between them; "" if it may be a header.

    Examples
    --------
    >>> no_header("left;right;score")
    '; its fields are separated by semicolons: expected commas, or a table of pandas.read_csv(path, sep=";")'
    """
    for mark, word, sep in ((";", "semicolons", ";"), ("\t", "tabs", "\\t")):
        if mark in line and "," not in line:
            more = f'a table of pandas.read_csv(path, sep="{sep}")'
            return f"; its fields are separated by {word}: expected commas, or {more}"
    number = r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?"
    fields = [field.strip(' "') for field in line.split(",")]
    if len(fields) == 3 and any(re.fullmatch(number, field, re.ASCII | re.IGNORECASE) for field in fields):
        return "; if it is a row of data, write a line with the names of the columns before it"
    return ""


def check_text(source: Source, line: int, field: str) -> None:
    """Raise FormatError if a field, read with surrogateescape, held bytes that are no UTF-8."""
    if not field.isascii():
        try:
            field.encode()
        except UnicodeEncodeError:
            if field.startswith("ARROW1"):
                raise source.error(
                    None,
                    "a Feather file: expected CSV or Parquet, as pandas.read_feather(path).to_parquet(other) writes",
                ) from None
            told = f"found {field[:40]!a}: expected UTF-8 text, as iconv -f LATIN1 -t UTF-8 makes of a file in Latin-1"
            raise source.error(line, told) from None
