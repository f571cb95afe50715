"""From identifiers of any kind to elements 0, 1, ..., n - 1.

Integers of a range that is not much larger than the number of rows are counted from the least one. All others are
divided by a hash into buckets, each of which fits into memory: the identifiers of a bucket in ascending order follow
those of the bucket before it. So elements do not depend on the order of rows, or on workers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphpart.distributed.folder import Folder, Work
from graphpart.distributed.inputs import Chunk, Columns, read, stated

__all__ = ["Naming", "bucketed", "elements_of", "hashes", "merged", "names_of", "ranged"]

BUCKETS = "buckets"  # the stage that has the identifiers of each bucket


class Naming(NamedTuple):
    """Which identifiers the elements stand for.

    If integers are counted from the least one, this is `low`. Otherwise the stage BUCKETS has the identifiers. `starts`
    are the first element of each bucket, or 0, and the number of elements.
    """

    low: int | None
    starts: list[int]


def ranged(work: Work, chunk: Chunk, columns: Columns) -> dict[str, Any]:
    """A task: the range of integers in a chunk, as its file states it, if it does."""
    found = stated(chunk, (columns.u, columns.v))
    if found is None:
        u, v, cost, _ = read(chunk, columns)
        if not str(u.type).startswith("int"):
            return {"text": True, "low": None, "high": None, "rows": len(cost)}
        ends = [(a.min(), a.max()) for a in (u.to_numpy(), v.to_numpy()) if len(a)]
        found = (int(min(e[0] for e in ends)), int(max(e[1] for e in ends))) if ends else None
    low, high = found or (None, None)
    return {"text": False, "low": low, "high": high, "rows": 0 if found is None else chunk.rows}


def bucketed(work: Work, chunk: Chunk, columns: Columns, buckets: int) -> int:
    """A task: the different identifiers of a chunk, by bucket."""
    u, v, _, _ = read(chunk, columns)
    ids = pc.unique(pa.chunked_array([u, v]))
    bucket = _bucket(ids, buckets)
    order = np.argsort(bucket, kind="stable")
    starts = np.searchsorted(bucket[order], np.arange(buckets + 1))
    _save(work, f"{work.number}", ids.take(pa.array(order)))
    work.save(f"{work.number}.starts", starts.astype(np.int64))
    return len(ids)


def merged(work: Work, chunks: int, before: str) -> int:
    """A task: the identifiers of a bucket in all chunks, in ascending order. Returns their number."""
    parts = []
    for k in range(chunks):
        first, last = work.folder.load(before, f"{k}.starts")[work.number : work.number + 2].tolist()
        parts.append(names_of(work.folder, k, before).slice(first, last - first))
    ids = pc.unique(pa.chunked_array(parts))
    _save(work, f"{work.number}", ids.take(pc.sort_indices(ids)))
    return len(ids)


def elements_of(folder: Folder, ids: Any, naming: Naming) -> NDArray[np.int32]:
    """The elements of identifiers in an Arrow array; -1 for an identifier that is in no pair."""
    low, starts = naming
    if low is not None:
        return np.asarray(ids.to_numpy() - low, np.int32)
    encoded = ids.dictionary_encode()
    different = encoded.dictionary
    bucket = _bucket(different, len(starts) - 1)
    order = np.argsort(bucket, kind="stable")
    ends = np.searchsorted(bucket[order], np.arange(len(starts)))
    found = np.empty(len(different), np.int32)
    for k in range(len(starts) - 1):
        mine = order[ends[k] : ends[k + 1]]
        if len(mine):
            at = pc.index_in(different.take(pa.array(mine)), value_set=names_of(folder, k))
            place = at.fill_null(-1).to_numpy()
            found[mine] = np.where(place < 0, -1, starts[k] + place)
    return np.asarray(found[encoded.indices.to_numpy()])


def names_of(folder: Folder, number: int, stage: str = BUCKETS) -> Any:
    """The identifiers of a bucket, in the order of elements, as an Arrow array."""
    values = folder.load(stage, f"{number}")
    if values.dtype != np.uint8:
        return pa.array(np.asarray(values))
    ends = folder.load(stage, f"{number}.ends")
    return pa.LargeStringArray.from_buffers(len(ends) - 1, pa.py_buffer(ends), pa.py_buffer(values))


def _save(work: Work, name: str, ids: Any) -> None:
    """Save integers as they are, strings as their bytes and the position at which each begins."""
    if pa.types.is_integer(ids.type):
        work.save(name, ids.to_numpy())
        return
    _, ends, data = ids.buffers()
    last = ids.offset + len(ids) + 1
    ends = np.frombuffer(ends, np.int64)[ids.offset : last] if len(ids) else np.zeros(1, np.int64)
    data = np.frombuffer(data, np.uint8)[ends[0] : ends[-1]] if ends[-1] > ends[0] else np.zeros(0, np.uint8)
    work.save(f"{name}.ends", ends - ends[0])
    work.save(name, data)


def hashes(texts: Any) -> NDArray[np.uint64]:
    """A number for each string in an Arrow array, the same everywhere."""
    from pandas.util import hash_array

    return np.asarray(hash_array(texts.to_numpy(zero_copy_only=False), categorize=False))


def _bucket(ids: Any, buckets: int) -> NDArray[np.int64]:
    """Buckets by a hash that is the same everywhere."""
    h = ids.to_numpy().astype(np.uint64) if pa.types.is_integer(ids.type) else hashes(ids)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((h ^ (h >> np.uint64(31))) % np.uint64(buckets), np.int64)
