"""Given blocks: a division of large components by the user, for example into the tiles of an image; and given groups.

Blocks and groups are given by rows ``id, block`` or ``id, group`` in Parquet files or a table, or by a function of
identifiers. Blocks are integers or strings; strings are distinguished by a hash. All elements without a block are in
one block.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphpart.distributed.folder import Work
from graphpart.distributed.identifiers import Naming, elements_of, hashes, names_of
from graphpart.distributed.inputs import Chunk, read_columns
from graphpart.errors import FormatError, InvalidOption

__all__ = ["NAMES", "NOWHERE", "called", "gathered", "looked_up"]

NAMES = "id", "block"
NOWHERE = np.iinfo(np.int64).min


def looked_up(work: Work, chunk: Chunk, naming: Naming, text: bool, names: tuple[str, str] = NAMES) -> int:
    """A task: the elements in rows of a chunk, and their blocks; identifiers that are in no pair are left out.

    `text` says whether pairs have strings as identifiers.
    """
    low, n = naming.low, naming.starts[-1]
    ids, blocks = read_columns(chunk, names)
    if text == pa.types.is_integer(ids.type) and n:
        raise FormatError(
            chunk.path,
            None,
            f"column 'id' holds {ids.type}: expected {'strings' if text else 'integers'}, as pairs have",
        )
    if not n:  # no pairs, so identifiers have no type
        ids, blocks = pa.array([], pa.int64()), pa.array([], pa.int64())
    known = pc.and_(pc.is_valid(ids), pc.is_valid(blocks))
    if low is not None:
        known = pc.and_(known, pc.and_(pc.greater_equal(ids, low), pc.less(ids, low + n)))
    ids, blocks = ids.filter(known), blocks.filter(known)
    element = elements_of(work.folder, ids, naming)
    block = blocks.to_numpy() if pa.types.is_integer(blocks.type) else hashes(blocks).view(np.int64)
    found = element >= 0
    work.save(f"{work.number}.elements", element[found])
    work.save(f"{work.number}.blocks", block[found].astype(np.int64))
    return int(found.sum())


def called(work: Work, function: Callable[[Any], Any], first: int, last: int, low: int | None) -> int:
    """A task: the blocks of elements from the first to the one before the last, by a function of their identifiers."""
    if low is not None:
        ids = np.arange(low + first, low + last)
    else:
        ids = names_of(work.folder, work.number).to_numpy(zero_copy_only=False)
    block = np.asarray(function(ids))
    if block.shape != (last - first,) or not (np.issubdtype(block.dtype, np.integer) or block.dtype.kind in "UO"):
        raise InvalidOption(
            f"blocks or groups gave an array of shape {block.shape} and type {block.dtype} for {last - first} "
            "identifiers: expected an integer or a string for each"
        )
    if block.dtype.kind in "UO":
        block = hashes(pa.array(block, pa.large_string())).view(np.int64)
    work.save(f"{work.number}.elements", np.arange(first, last, dtype=np.int32))
    work.save(f"{work.number}.blocks", block.astype(np.int64))
    return last - first


def gathered(work: Work, n: int, parts: str, count: int) -> int:
    """A task: the blocks of all elements, as ``blocks``; if an element has several, the last one counts."""
    blocks = np.full(n, NOWHERE, np.int64)
    for k in range(count):
        blocks[work.folder.load(parts, f"{k}.elements")] = work.folder.load(parts, f"{k}.blocks")
    work.save("blocks", blocks)
    return int((blocks != NOWHERE).sum())
