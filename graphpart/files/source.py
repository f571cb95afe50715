"""Reading and writing of bytes: decompression, look-ahead, names for messages, files replaced as a whole."""

from __future__ import annotations

import contextlib
import errno
import gzip
import io
import os
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

from graphpart.errors import FormatError, InvalidOption, MissingFile

__all__ = ["Source", "bare_name", "check_writable", "opened", "replacing"]

BLOCK = 1 << 20
LONGEST_LINE = 1 << 16
BOM = b"\xef\xbb\xbf"
UTF_16 = ((b"\xff\xfe", 1), (b"\xfe\xff", 0))  # how such text begins, and where a letter has a zero byte
GZIP, XZ = b"\x1f\x8b", b"\xfd7zXZ\x00"  # how compressed data begin
XZ_MEMORY = 1 << 28  # most bytes for decompression, for any dictionary size of the data; xz -9 needs 65 MiB
COMPRESSED = (".gz", ".xz")

PathOrStream = str | os.PathLike[str] | BinaryIO


class _Damaged(Exception):
    """Compressed data cannot be decompressed."""


class _Full(io.RawIOBase):
    """Any stream as a raw one that fills the buffer it is given; damaged compressed data become a FormatError."""

    def __init__(self, stream: Any, name: str, kind: str = "gzip") -> None:
        self._stream = stream
        self._name = name
        self._kind = kind

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        size = 0
        try:
            while size < len(view) and (part := self._stream.read(len(view) - size)):
                view[size : size + len(part)] = part
                size += len(part)
        except (EOFError, zlib.error, gzip.BadGzipFile, _Damaged) as error:
            found = f"the {self._kind} data are damaged or truncated ({error})"
            raise FormatError(self._name, None, f"{found}: expected all of them") from None
        return size


class _Xz:
    """The content of xz data: one or several streams, with zeros between them; uses at most `XZ_MEMORY`."""

    def __init__(self, stream: Any) -> None:
        import lzma

        self._stream = stream
        self._lzma = lzma
        self._decompressor = self._new()

    def _new(self) -> Any:
        return self._lzma.LZMADecompressor(self._lzma.FORMAT_XZ, memlimit=XZ_MEMORY)

    def read(self, size: int) -> bytes:
        """The next bytes, at most `size`; none at the end."""
        data = b""
        try:
            while not data:
                raw = b""
                if self._decompressor.eof:
                    raw = self._decompressor.unused_data.lstrip(b"\0")
                    while not raw:
                        if not (block := self._stream.read(BLOCK)):
                            return b""
                        raw = block.lstrip(b"\0")
                    self._decompressor = self._new()
                elif self._decompressor.needs_input and not (raw := self._stream.read(BLOCK)):
                    raise _Damaged("Compressed file ended before the end-of-stream marker was reached")
                data = self._decompressor.decompress(raw, size)
        except self._lzma.LZMAError as error:
            raise _Damaged(error) from None
        return data


def _is_text(letters: bytes) -> bool:
    """Whether bytes are letters, digits or signs that text begins with."""
    return letters.isascii() and letters.decode().isprintable()


class Source:
    """The bytes of a file, decompressed if they are gzip or xz, without a byte order mark, with a name for messages.

    Parameters
    ----------
    stream : binary file
        Anything with a method ``read(size)``.
    name : str
        The name of the file in messages.

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
        plain = self.size is not None and isinstance(getattr(stream, "raw", None), io.FileIO)  # not gzip.open(path)
        self._whole = stream if plain and stream.tell() == 0 else None
        self._stream = io.BufferedReader(_Full(stream, name), BLOCK)
        if self.head(len(GZIP)) == GZIP:
            self.size = self._whole = None
            self._stream = io.BufferedReader(_Full(gzip.GzipFile(fileobj=self._stream), name), BLOCK)
        elif self.head(len(XZ)) == XZ:
            self.size = self._whole = None
            self._stream = io.BufferedReader(_Full(_Xz(self._stream), name, "xz"), BLOCK)
        if self.head(3) == BOM:
            self._stream.read(3)
        head = self.head(4)
        bare = next((c for c, k in (("le", 0), ("be", 1)) if head[1 - k :: 2] == b"\0\0" and _is_text(head[k::2])), "")
        if bare or (head[:2], head[2:].find(b"\0")) in UTF_16:
            code = f"utf-16{bare and '-'}{bare}"
            raise self.error(
                None,
                f"the text is UTF-16: expected UTF-8, as `iconv -f {code.upper()} -t UTF-8` writes it, or a table of "
                f'pandas.read_csv(path, encoding="{code}")',
            )

    def __fspath__(self) -> str:
        """The name: what takes a path can take up a source whose head was looked at."""
        return self.name

    def head(self, size: int = 4096) -> bytes:
        """The next bytes, without taking them; fewer only at the end of the file."""
        return self._stream.peek(size)[:size]

    def read(self, size: int = -1) -> bytes:
        """Take the next bytes, all of them by default."""
        return self._stream.read(size)

    def whole(self) -> BinaryIO:
        """All bytes, of which none was taken, with random access: the file itself if it is a plain one."""
        return io.BytesIO(self.read()) if self._whole is None else self._whole

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


def bare_name(path: object) -> str:
    """The name of a path or stream in small letters, without the suffix that says how it is compressed; "" if none."""
    if not isinstance(path, str | os.PathLike):
        path = getattr(path, "name", "")
    name = os.fspath(path) if isinstance(path, str | os.PathLike) else ""
    lower = (name if isinstance(name, str) else os.fsdecode(name)).lower()
    for suffix in COMPRESSED:
        if lower.endswith(suffix):
            return lower.removesuffix(suffix)
    return lower


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
        try:
            stream = open(cast(str, path), "rb")  # noqa: SIM115
        except FileNotFoundError:
            raise MissingFile(os.fspath(path)) from None
        except IsADirectoryError:
            text = f"{os.fspath(path)} is a folder: expected a file; gp.solve_files(folder) solves all of its files"
            raise InvalidOption(text) from None
        with stream:
            yield Source(stream, os.fspath(path))


def check_writable(path: PathOrStream) -> None:
    """Raise OSError if a file cannot be made or replaced, before any work is done."""
    if hasattr(path, "write") or (path := os.fspath(cast(str, path))) == "-":
        return
    folder = os.path.dirname(path) or "."
    if not os.path.exists(folder):
        raise MissingFile(folder)
    if not os.path.isdir(folder):
        raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), folder)
    if os.path.isdir(path):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not os.access(path if os.path.exists(path) and not os.path.isfile(path) else folder, os.W_OK):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES), path)


@contextlib.contextmanager
def replacing(path: PathOrStream) -> Iterator[BinaryIO]:
    """A stream to write a file, ``"-"`` for standard output, or a given stream.

    A file appears under its name only when it is complete, also if the process is interrupted. A file whose name ends
    in ``.gz`` or ``.xz`` is compressed. Devices and pipes are written directly.
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
            if target.lower().endswith(".gz"):
                with gzip.GzipFile("", "wb", 6, stream, mtime=0) as packed:
                    yield packed  # type: ignore[misc]
            elif target.lower().endswith(".xz"):
                import lzma

                with lzma.LZMAFile(stream, "wb") as smaller:
                    yield smaller  # type: ignore[misc]
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
