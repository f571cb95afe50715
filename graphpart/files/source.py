"""Bytes in and out: decompression, a look ahead, names for messages, and files that are never half-written."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

from graphpart.errors import FormatError

__all__ = ["Source", "opened", "replacing"]

BLOCK = 1 << 20
LONGEST_LINE = 1 << 16
BOM = b"\xef\xbb\xbf"

PathOrStream = str | os.PathLike[str] | BinaryIO


class _Full(io.RawIOBase):
    """Any stream as a raw one that fills the buffer it is given; damaged gzip data become a FormatError."""

    def __init__(self, stream: Any, name: str) -> None:
        self._stream = stream
        self._name = name

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        size = 0
        try:
            while size < len(view) and (part := self._stream.read(len(view) - size)):
                view[size : size + len(part)] = part
                size += len(part)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            found = f"the gzip data are damaged or truncated ({error})"
            raise FormatError(self._name, None, f"{found}: expected all of them") from None
        return size


class Source:
    """The bytes of a file, decompressed if they are gzip, without a byte order mark, and with a name for messages.

    Parameters
    ----------
    stream : binary file
        Anything with a method ``read(size)``.
    name : str
        What messages call the file.

    Attributes
    ----------
    name : str
    line : int
        The number of the line that the next byte belongs to, as long as bytes are taken by `readline` only.
    size : int or None
        Number of bytes of an uncompressed regular file; else None.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self.name = name
        self.line = 1
        self.size = _size_of(stream)
        self._stream = io.BufferedReader(_Full(stream, name), BLOCK)
        if self.head(2) == b"\x1f\x8b":
            self.size = None
            self._stream = io.BufferedReader(_Full(gzip.GzipFile(fileobj=self._stream), name), BLOCK)
        if self.head(3) == BOM:
            self._stream.read(3)

    def head(self, size: int = 4096) -> bytes:
        """The next bytes, without taking them; fewer only at the end of the file."""
        return self._stream.peek(size)[:size]

    def read(self, size: int = -1) -> bytes:
        """Take the next bytes, all of them by default."""
        return self._stream.read(size)

    def readline(self) -> bytes | None:
        """Take the next line, without its end; None at the end of the file."""
        line = self._stream.readline(LONGEST_LINE)
        if not line:
            return None
        if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
            raise self.error(self.line, f"a line of more than {LONGEST_LINE} bytes: expected a text file")
        self.line += 1
        return line.rstrip(b"\r\n")

    def blocks(self) -> Iterator[bytes]:
        """Take all the rest, block by block."""
        while block := self._stream.read(BLOCK):
            yield block

    def text(self) -> io.TextIOWrapper:
        """All the rest as UTF-8 text with its line ends as they are; other bytes become surrogates."""
        return io.TextIOWrapper(self._stream, "utf-8", "surrogateescape", newline="")

    def error(self, line: int | None, problem: str) -> FormatError:
        """An exception that names this file."""
        return FormatError(self.name, line, problem)


def _size_of(stream: Any) -> int | None:
    try:
        status = os.fstat(stream.fileno())
    except (AttributeError, OSError):
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


@contextlib.contextmanager
def opened(path: PathOrStream) -> Iterator[Source]:
    """A path, ``"-"`` for standard input, or a binary stream (which stays open), as a Source."""
    if hasattr(path, "read"):
        name = getattr(path, "name", None)
        yield Source(cast(BinaryIO, path), name if isinstance(name, str) else "<stream>")
    elif os.fspath(path) == "-":
        yield Source(sys.stdin.buffer, "<stdin>")
    else:
        with open(cast(str, path), "rb") as stream:
            yield Source(stream, os.fspath(path))


@contextlib.contextmanager
def replacing(path: PathOrStream) -> Iterator[BinaryIO]:
    """A stream to write a file, ``"-"`` for standard output, or a given stream.

    A file appears under its name only when all of it is written, also if the process is interrupted; a name that ends
    in ``.gz`` is compressed. Devices and pipes are written directly.
    """
    if hasattr(path, "write"):
        yield cast(BinaryIO, path)
        return
    if os.fspath(path) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = os.path.realpath(os.fspath(path))
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb") as direct:
            yield direct
        return
    folder, name = os.path.split(target)
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{name}.", suffix=".tmp", dir=folder)
    except OSError as error:  # of the file that was asked for
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None
    try:
        with os.fdopen(handle, "wb") as stream:
            if target.endswith(".gz"):
                with gzip.GzipFile("", "wb", 6, stream, mtime=0) as packed:
                    yield packed  # type: ignore[misc]
            else:
                yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, _mode(target))
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _mode(target: str) -> int:
    """The permissions of the file that is replaced, or those that a new file gets."""
    try:
        return stat.S_IMODE(os.stat(target).st_mode)
    except OSError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask
