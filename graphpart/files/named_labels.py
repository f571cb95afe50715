"""Labels with the names that they belong to, as JSON ``{"nodes": [...], "labels": [...]}`` or arrays of these names."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphpart.display import plural
from graphpart.errors import FormatError, InvalidProblem
from graphpart.files.arrays import DAMAGED, read_data, read_header
from graphpart.files.json_values import NONE, encoded, hashable, load, shown

if TYPE_CHECKING:
    from graphpart.files.source import Source

__all__ = ["ARCHIVE", "json_of", "npz_of", "read_json", "read_npz"]

ARCHIVE = b"PK\x03\x04"
SHAPE = '{"nodes": [...], "labels": [...]}'
KINDS = dict.fromkeys(("nodes", "labels", "classes"), ("iuU", "integers or text"))
NEEDED = ("nodes", "labels")  # classes, of a labelled partition, may be there besides


def read_json(source: Source) -> dict[Hashable, Any]:
    """Names and their labels, from JSON."""
    data = load(source, SHAPE)
    for key in ("nodes", "labels"):
        if not isinstance(data.get(key), list):
            raise source.error(None, f"{key} is {shown(data.get(key))}: expected {SHAPE}")
    nodes, labels = data["nodes"], data["labels"]
    for label in labels:
        if isinstance(label, bool) or not isinstance(label, int | str):
            raise source.error(None, f"found the label {shown(label)}: expected integers or text")
    names = [hashable(node) for node in nodes]
    if NONE in names:
        raise source.error(None, f"found the node {shown(nodes[names.index(NONE)])}: expected text or numbers")
    return _paired(source, names, labels)


def read_npz(source: Source) -> dict[Hashable, Any]:
    """Names and their labels, from a zip archive of NumPy arrays; nothing is unpickled."""
    arrays: dict[str, NDArray[Any]] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(source.read())) as archive:
            for entry in archive.infolist():
                name = entry.filename.removesuffix(".npy")
                if name not in KINDS or name in arrays:
                    raise source.error(None, f"found the array {name[:40]!a}: expected nodes and labels")
                with archive.open(entry) as stream:
                    header = read_header(stream, source.name, name)
                    if len(header[0]) != 1 or header[1].kind not in KINDS[name][0]:
                        found = f"{name} has shape {header[0]} and dtype {header[1]}"
                        raise source.error(None, f"{found}: expected (k,), {KINDS[name][1]}")
                    arrays[name] = read_data(stream, source.name, name, *header)
    except FormatError:
        raise
    except DAMAGED as error:
        raise source.error(None, f"the archive is damaged ({error}): expected a zip file of NumPy arrays") from None
    if not arrays.keys() >= set(NEEDED):
        raise source.error(None, f"found the arrays {', '.join(arrays) or 'none'}: expected nodes and labels")
    return _paired(source, arrays["nodes"].tolist(), arrays["labels"].tolist())


def _paired(source: Source, nodes: Sequence[Hashable], labels: Sequence[Any]) -> dict[Hashable, Any]:
    if len(nodes) != len(labels):
        raise source.error(
            None, f"{plural(len(nodes), 'node')} but {plural(len(labels), 'label')}: expected equal numbers"
        )
    paired = dict(zip(nodes, labels, strict=True))
    if len(paired) < len(nodes):
        seen: set[Hashable] = set()
        twice = next(node for node in nodes if node in seen or seen.add(node))  # type: ignore[func-returns-value]
        raise source.error(None, f"found node {shown(twice)} again: expected each node once")
    return paired


def json_of(nodes: Sequence[Hashable], labels: NDArray[Any], classes: NDArray[Any] | None = None) -> bytes:
    """The content of a JSON file; InvalidProblem for a name that it cannot hold."""
    names = ", ".join([encoded(node) for node in nodes])
    more = "" if classes is None else f',\n"classes": {json.dumps(classes.tolist())}'
    return f'{{"nodes": [{names}],\n"labels": {json.dumps(labels.tolist())}{more}}}\n'.encode()


def npz_of(nodes: Sequence[Hashable], labels: NDArray[Any], classes: NDArray[Any] | None = None) -> bytes:
    """The content of a zip archive of NumPy arrays; InvalidProblem for names that are neither integers nor text."""
    kinds = {type(node) for node in nodes} if not isinstance(nodes, range) else {int}
    fits = kinds <= {int} or kinds <= {str}
    try:
        names = np.array(list(nodes), np.int64 if kinds <= {int} else np.str_) if fits else None
    except OverflowError:
        names = None
    if names is None or (kinds == {str} and any(str(node).endswith("\0") for node in nodes)):
        raise InvalidProblem("format npz holds nodes that are all integers of 64 bits or all text: expected .json")
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in (("nodes", names), ("labels", np.asarray(labels)), ("classes", classes)):
            if array is None:
                continue
            # The time of writing is left out, so that equal labels make equal files.
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array), version=(1, 0), allow_pickle=False)
    return content.getvalue()
