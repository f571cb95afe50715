"""Download a public instance, check it, and read it as a problem.

1. pooch downloads the file into a folder of this computer, unless it is there. If the address is that of an archive,
   the file is taken out of it.
2. The SHA-256 checksum of the file is compared with that of the registry: by pooch, or here for a file of an archive.
3. The file is read. If no checksum is known, the numbers of elements and pairs are compared.

All files of one address are downloaded once. The folder is the one that `cache` names, else the one of the environment
variable GRAPHPART_DATA, else that of the operating system for such files.
"""

from __future__ import annotations

import hashlib
import os
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from graphpart.datasets.registry import Dataset, info
from graphpart.errors import DownloadFailed, FormatError, MissingDependency

if TYPE_CHECKING:
    from graphpart.crf.problem import FactorGraph
    from graphpart.partition.problem import SetPartition

__all__ = ["fetch", "file"]


def fetch(name: str, cache: str | os.PathLike[str] | None = None) -> SetPartition | FactorGraph:
    """A public instance as a problem: downloaded when it is asked for first, and checked.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    cache : path-like, optional
        The folder for downloaded files; default: that of the environment variable GRAPHPART_DATA, else one for such
        files of the operating system.

    Returns
    -------
    SetPartition or FactorGraph
        ``info(name).best`` is in the convention of its method `objective`.

    Raises
    ------
    MissingDependency
        If pooch is not installed: ``pip install 'graphpart[datasets]'``.
    DownloadFailed
        If the address cannot be reached; the message says where to put a file that you have.
    FormatError
        If the file is not the one of the registry, by its checksum or by its numbers of elements and pairs.
    InvalidOption
        If there is no such instance.

    Notes
    -----
    Signed networks are directed: the cost of a pair is minus the sum of the values of both directions, so that pairs
    who trust each other attract. In multicut problems, the weights of cut pairs are to be minimised.

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.datasets.fetch("pace-exact003")  # doctest: +SKIP
    >>> r = gp.solve(p)  # doctest: +SKIP
    >>> r.objective == gp.datasets.info("pace-exact003").best  # doctest: +SKIP
    True
    """
    known = info(name)
    path = file(name, cache)
    problem: Any = _READERS[known.kind](path)
    if not known.sha256 and (problem.n, problem.m) != (known.elements, known.pairs):
        raise FormatError(
            path, None, f"{problem.n} elements and {problem.m} pairs: expected {known.elements} and {known.pairs}"
        )
    return problem  # type: ignore[no-any-return]


def file(name: str, cache: str | os.PathLike[str] | None = None) -> Path:
    """The file of a public instance, as it was published; see :func:`fetch` for parameters and exceptions."""
    known = info(name)
    try:
        import pooch
    except ImportError:
        raise MissingDependency("pooch", "datasets", "downloading public instances") from None
    folder = Path(cache or os.environ.get("GRAPHPART_DATA") or pooch.os_cache("graphpart"))
    kept = folder / _file_name(known)
    if not known.member:
        _download(pooch, known.address, known.sha256, kept)
        return kept
    if not kept.exists():
        archive = folder / known.address.rsplit("/", 1)[-1]
        _download(pooch, known.address, "", archive)
        kept.write_bytes(_member(archive, known.member))
    found = hashlib.sha256(kept.read_bytes()).hexdigest()
    if found != known.sha256:
        raise FormatError(kept, None, f"its checksum is {found}: expected {known.sha256}; remove it to load it anew")
    return kept


def _file_name(known: Dataset) -> str:
    """The name of the file in the folder: that of the instance, with the suffix of the file format."""
    if known.member:
        return known.member
    suffix = {"pace": ".gr", "maxcut": ".mc", "lifted": ".npz", "weights": ".txt", "signs": ".txt"}[known.kind]
    if ".csv" in known.address:
        suffix = ".csv"
    return known.name + suffix + (".gz" if known.address.endswith(".gz") else "")


def _download(pooch: Any, address: str, checksum: str, path: Path) -> None:
    """Make sure that the file is there."""
    if path.exists() and not checksum:
        return
    pooch.get_logger().setLevel("ERROR")
    expected = f"sha256:{checksum}" if checksum else None
    downloader = pooch.HTTPDownloader(timeout=60)
    try:
        pooch.retrieve(address, expected, path.name, path.parent, downloader=downloader)
    except ValueError as error:  # of a checksum
        problem = f"the checksum of what {address} gives is not {checksum}: it is another file now"
        raise FormatError(path, None, problem) from error
    except OSError as error:
        reason = " ".join(str(error).split())[:200]
        hint = f"without a network, put the file there as {path}"
        raise DownloadFailed(f"cannot load {address}: {reason}; {hint}") from error


def _member(archive: Path, name: str) -> bytes:
    """A file of an archive, in any folder of the archive."""
    try:
        with tarfile.open(archive) as opened:
            for entry in opened:
                if entry.isfile() and entry.name.rsplit("/", 1)[-1] == name:
                    stream = opened.extractfile(entry)
                    assert stream is not None
                    return stream.read()
    except tarfile.TarError as error:
        raise FormatError(archive, None, f"{error}: expected an archive; remove it to load it anew") from None
    raise FormatError(archive, None, f"has no file {name}: expected an archive with it; remove it to load it anew")


# -------------------------------------------------------------------------------------------------------------- reading


def _graph(path: Path) -> Any:
    from graphpart.io import read

    return read(path, format="pace")


def _max_cut(path: Path) -> Any:
    from graphpart.io import read

    return read(path, format="maxcut")


def _rows(path: Path, delimiter: str | None) -> Any:
    """The first three columns as numbers."""
    try:
        return np.loadtxt(path, delimiter=delimiter, usecols=(0, 1, 2), ndmin=2)
    except (ValueError, OSError, EOFError) as error:
        raise FormatError(path, None, f"{error}: expected three numbers in each line") from None


def _weights(path: Path) -> Any:
    """Rows ``u v w``: the weight of cut pairs is to be minimised."""
    from graphpart.partition.problem import SetPartition

    rows = _rows(path, None)
    pairs = rows[:, :2].astype(np.int64)
    return SetPartition.from_pairs(int(pairs.max()) + 1, pairs, -rows[:, 2], offset=float(rows[:, 2].sum()))


def _lifted(path: Path) -> Any:
    """Pairs of the base graph and lifted ones, with the weights of cut pairs, which are to be minimised."""
    from graphpart.partition.problem import SetPartition

    try:
        with np.load(path) as data:
            n = int(data["n_nodes"])
            base, lifted = (data[f"{part}_uvs"].astype(np.int64) for part in ("local", "lifted"))
            weights, further = (data[f"{part}_costs"].astype(np.float64) for part in ("local", "lifted"))
    except (KeyError, ValueError, OSError) as error:
        raise FormatError(path, None, f"{error}: expected the arrays of a lifted multicut problem") from None
    offset = float(weights.sum()) + float(further.sum())
    return SetPartition.from_pairs(n, base, -weights, offset=offset, lifted=(lifted, -further))


def _signs(path: Path) -> Any:
    """Rows ``from to value``, with commas or spaces: names are numbers, and both directions of a pair add up."""
    from graphpart.partition.problem import SetPartition

    rows = _rows(path, "," if ".csv" in path.name else None)
    names, place = np.unique(rows[:, :2].astype(np.int64), return_inverse=True)
    pairs = place.reshape(-1, 2)
    other = pairs[:, 0] != pairs[:, 1]
    return SetPartition.from_pairs(len(names), pairs[other], -rows[other, 2], names.tolist(), dense=False)


_READERS = {"pace": _graph, "maxcut": _max_cut, "weights": _weights, "lifted": _lifted, "signs": _signs}
