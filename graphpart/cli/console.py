"""The output of commands: results on standard output, everything else in single lines on standard error."""

from __future__ import annotations

import errno
import json
import math
import os
import re
import signal
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from graphpart.errors import FormatError, GraphPartError, InvalidOption

__all__ = [
    "INTERRUPTED",
    "Batch",
    "OutputError",
    "check_input",
    "discard_output",
    "emit",
    "emit_json",
    "say",
    "say_error",
    "say_warning",
    "shown",
]

INTERRUPTED = 128 + signal.SIGINT  # as shells report it
_files: list[str | None] = [None]  # that are being worked on, the last one now


class OutputError(OSError):
    """Standard output cannot be written."""


def check_input(file: str) -> None:
    """Raise OSError if standard input is wanted where there is none."""
    if file == "-" and sys.stdin is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "<stdin>")


def emit(text: str, flush: bool = True) -> None:
    """Write text to standard output."""
    out = sys.stdout
    if out is None:
        raise OutputError(errno.EBADF, os.strerror(errno.EBADF), "<stdout>")
    encoding = getattr(out, "encoding", None) or "utf-8"
    try:
        out.write(text.encode(encoding, "backslashreplace").decode(encoding))
        if flush:
            out.flush()
    except OSError as error:
        raise OutputError(error.errno, error.strerror, "<stdout>") from None


def emit_json(record: Mapping[str, Any]) -> None:
    """Write one JSON object in one line; infinite numbers, which JSON does not have, become null."""
    emit(json.dumps(_valid(record), allow_nan=False) + "\n")


def _valid(value: Any) -> Any:
    """The same without infinite numbers."""
    if isinstance(value, Mapping):
        return {key: _valid(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_valid(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def discard_output() -> None:
    """Discard the buffer of a standard output that failed, so that the process ends without a second error."""
    try:
        sys.stdout.flush()
    except (AttributeError, OSError, ValueError):
        with suppress(AttributeError, OSError, ValueError):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, sys.stdout.fileno())
            os.close(null)


def say(text: str) -> None:
    """Write one line to standard error; if this fails, nothing is reported."""
    with suppress(OSError, ValueError):
        print("graphpart:", " ".join(text.split()), file=sys.stderr, flush=True)


def as_options(text: str) -> str:
    """A message of the library with options of the shell in place of arguments of Python.

    Examples
    --------
    >>> as_options('duplicates="mean" or "max" takes one value; clip=0 requires these pairs')
    '--duplicates mean or max takes one value; --clip 0 requires these pairs'
    """
    return re.sub(r'"(max|sum)"', r"\1", re.sub(r'\b(clip|duplicates)="?([\w.-]+)"?', r"--\1 \2", text))


def say_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Show a warning of the library in one line (the signature is that of `warnings.showwarning`)."""
    say(f"warning: {'' if _files[-1] is None else shown(_files[-1]) + ': '}{as_options(str(message))}")


def say_error(error: BaseException, file: str | None = None) -> int:
    """Report an error and its place in one line; return the exit status."""
    place = "" if file is None else f"{shown(file)}: "
    if isinstance(error, FormatError):
        say(as_options(str(error)))
    elif isinstance(error, GraphPartError):
        say(
            as_options(str(error) if str(error).startswith(place) else f"{place}{error}")
        )  # some name the file themselves
    elif isinstance(error, OSError) and error.strerror:
        say(f"{shown(str(error.filename))}: {error.strerror}" if error.filename else f"{place}{error.strerror}")
    elif isinstance(error, MemoryError):
        say(f"{place}not enough memory")
    else:
        say(f"{place}internal error, please report it: {type(error).__name__}: {error}")
        if os.environ.get("GRAPHPART_TRACEBACK"):
            traceback.print_exception(error)
    return 2 if isinstance(error, InvalidOption) else 1


def shown(file: str) -> str:
    """A file name for people."""
    return "<stdin>" if file == "-" else file


class Batch:
    """Work on several files, where an error in one file does not affect the others."""

    def __init__(self) -> None:
        self.status = 0
        self.error: Exception | None = None  # the last one

    def fail(self, file: str, text: str) -> None:
        """Report an error in the result of a file; the exit status is then 1."""
        say(f"{shown(file)}: {text}")
        self.status = 1

    @contextmanager
    def guard(self, file: str) -> Iterator[None]:
        """Report errors and warnings inside the block as those of this file, and continue after the block."""
        _files.append(file)
        try:
            yield
        except (OutputError, InvalidOption):  # nothing can be written, or the call is wrong: the same for all files
            raise
        except Exception as error:
            self.status, self.error = say_error(error, file), error
        finally:
            _files.pop()
