"""The rows of the input as pairs of elements, and the pairs of a level on disk.

If each component of attractive rows fits into a task, rows stay in chunks, as they are. Otherwise they become a level:
pairs that are sorted, each once, in ranges of their first element. Each task writes its pairs as a part, sorted by
their two elements. The pairs of a range of elements are merged from all parts. Costs of equal pairs are added in the
order of the parts, so that sums do not depend on the workers. Pairs whose sum is 0 are left out.

If clusters must be connected, base pairs connect them at any cost below inf, and stay also if their sum is 0. A lifted
pair has its larger element first, so that it is another pair than the base pair of these elements.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpart.distributed import forests
from graphpart.distributed._streaming import compensated_sum
from graphpart.distributed.folder import Folder, Work
from graphpart.distributed.identifiers import Naming, elements_of
from graphpart.distributed.inputs import Chunk, Columns, read

__all__ = [
    "Level",
    "Triple",
    "ascending",
    "boundaries",
    "concatenated",
    "linking",
    "load",
    "merge",
    "ordered",
    "oriented",
    "save",
    "save_sorted",
    "sums",
    "translate",
]

Triple = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]


class Level(NamedTuple):
    """The pairs of a level on disk: their stage, how many elements there are, and how many ranges of pairs.

    `connected` says whether clusters must be connected by base pairs.
    """

    stage: str
    n: int
    ranges: int
    connected: bool = False


SAMPLES = 512  # first elements of pairs that are sampled to choose ranges of equal size
NAMES = "u", "v", "cost"


def translate(
    work: Work,
    chunk: Chunk,
    columns: Columns,
    naming: Naming,
    connected: bool,
) -> dict[str, Any]:
    """A task: the rows of a chunk as pairs of elements, and their forest; which rows are wrong."""
    first, second, cost, wrong = read(chunk, columns)
    a, b = (elements_of(work.folder, ids, naming) for ids in (first, second))
    u, v = np.minimum(a, b), np.maximum(a, b)
    save(work, (v, u, cost) if chunk.lifted else (u, v, cost))
    links = np.full(len(u), chunk.lifted, np.float64) - (cost < np.inf) if connected else cost
    forests.save(work, u, v, links)
    answer = {"pairs": len(u), "negative": compensated_sum(cost[cost < 0]), "wrong": wrong.count, "named": wrong.named}
    if naming.low is not None:
        answer["first"] = least = int(u.min(initial=forests.MOST))
        seen = np.zeros(max(1, int(v.max(initial=0)) + 1 - least), bool)  # no pair: a first element that is too large
        seen[u - least] = seen[v - least] = True
        work.save(f"{work.number}.seen", np.packbits(seen))
    return answer


def ordered(work: Work, rows: str) -> dict[str, Any]:
    """A task: the rows of a chunk as a part."""
    return save_sorted(work, *load(work.folder, rows, work.number))


def oriented(a: Any, b: Any, lifted: Any) -> tuple[Any, Any]:
    """The smaller element first, or the larger one of lifted pairs."""
    low, high = np.minimum(a, b), np.maximum(a, b)
    return (np.where(lifted, high, low), np.where(lifted, low, high)) if np.any(lifted) else (low, high)


def linking(u: Any, v: Any, cost: Any, connected: bool) -> Any:
    """Costs that are below inf for base pairs only, if clusters must be connected."""
    return np.where(u < v, cost, np.inf) if connected else cost


def save_sorted(work: Work, u: Any, v: Any, cost: Any) -> dict[str, Any]:
    """Write pairs of different elements, which are `oriented`, as a part; return a sample of their first elements."""
    u, v, cost = sums(u, v, cost)
    save(work, (u, v, cost))
    places = (len(u) * np.arange(SAMPLES, dtype=np.int64)) // SAMPLES
    return {"pairs": len(u), "sample": u[places].tolist() if len(u) else []}


def boundaries(answers: list[dict[str, Any]], n: int, ranges: int) -> list[int]:
    """First elements of ranges with about equal numbers of pairs, followed by n, from samples of all parts."""
    samples = np.array([x for answer in answers for x in answer["sample"]], np.int64)
    weights = np.array([answer["pairs"] / SAMPLES for answer in answers for _ in answer["sample"]])
    order = np.argsort(samples, kind="stable")
    reached = np.cumsum(weights[order])
    if not len(reached):
        return [0, n]
    wanted = reached[-1] * np.arange(1, ranges) / ranges
    inner = samples[order][np.minimum(np.searchsorted(reached, wanted), len(reached) - 1)]
    return [0, *[x for x in np.unique(inner).tolist() if 0 < x < n], n]


def merge(work: Work, parts: str, count: int, first: int, last: int, connected: bool) -> dict[str, Any]:
    """A task: the pairs of a range of elements, from all parts. Returns their number and sums of their costs."""
    found = []
    for k in range(count):
        begin, end = np.searchsorted(work.folder.load(parts, f"{k}.u"), [first, last]).tolist()
        found.append(load(work.folder, parts, k, slice(begin, end)))
    u, v, cost = sums(*concatenated(found))
    kept = (cost != 0) | (connected & (u < v))
    u, v, cost = u[kept], v[kept], cost[kept]
    save(work, (u, v, cost))
    return {"pairs": len(u), "attractive": int((cost < 0).sum()), "negative": compensated_sum(cost[cost < 0])}


def load(folder: Folder, stage: str, number: int, which: slice = slice(None)) -> Triple:
    """The pairs of a part or range, or some of them, mapped."""
    u, v, cost = (folder.load(stage, f"{number}.{name}")[which] for name in NAMES)
    return u, v, cost


def save(work: Work, triple: Triple) -> None:
    """Write the pairs of a part or range."""
    for k, name in enumerate(NAMES):
        work.save(f"{work.number}.{name}", triple[k])


def concatenated(triples: list[Triple]) -> Triple:
    """Pairs of several parts, one after the other."""
    if not triples:
        return np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0)
    u, v, cost = (np.concatenate(column) for column in zip(*triples, strict=True))
    return u, v, cost


def ascending(u: NDArray[np.int32], v: NDArray[np.int32]) -> bool:
    """Whether pairs are sorted, each once."""
    return bool(((u[1:] > u[:-1]) | ((u[1:] == u[:-1]) & (v[1:] > v[:-1]))).all())


def sums(u: Any, v: Any, cost: Any) -> Triple:
    """Sort pairs by both elements, and add costs of equal pairs in their order."""
    key = u.astype(np.int64) << 32
    key |= v
    del u, v
    order = np.argsort(key, kind="stable")
    key, cost = key[order], cost[order]
    del order
    new = np.concatenate([[True], key[1:] != key[:-1]]) if len(key) else np.zeros(0, bool)
    if not new.all():
        with np.errstate(invalid="ignore"):
            cost = np.bincount(np.cumsum(new) - 1, cost)  # one after the other
        key = key[new]
    return (key >> 32).astype(np.int32), (key & 0xFFFFFFFF).astype(np.int32), np.asarray(cost, np.float64)
