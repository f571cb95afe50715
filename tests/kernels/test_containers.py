"""The heap, the hash set and growing arrays, by kernels that rest on them: against sorting and sets of Python."""

import numpy as np
import pytest

from graphpart.crf.bucket_elimination import _kernels
from graphpart.files._text import Numbers
from graphpart.stopping import Stopping


def naive_order(n, pairs, rank):
    """Eliminate the variable with the fewest neighbours, of ties the one of lowest rank; neighbours become adjacent."""
    near = [set() for _ in range(n)]
    for a, b in pairs:
        near[a].add(b)
        near[b].add(a)
    left, order = set(range(n)), []
    while left:
        v = min(left, key=lambda v: (len(near[v]), rank[v]))
        for a in near[v]:
            near[a] = (near[a] | near[v]) - {a, v}
        left.remove(v)
        order.append(v)
    return order


@pytest.mark.parametrize(("n", "m"), [(1, 0), (2, 1), (40, 60), (60, 90), (200, 210)])
def test_heap_and_hash_set(n, m):
    # The heap holds all variables, whose keys fall and rise; the set of pairs begins small and grows with each new one.
    rng = np.random.default_rng(n)
    a, b = np.triu_indices(n, 1)
    chosen = rng.permutation(len(a))[:m]
    pairs = np.stack([a, b], 1)[np.sort(chosen)].astype(np.int32)
    domains, rank = np.full(n, 2, np.int32), rng.permutation(n).astype(np.int32)
    ends = np.concatenate([pairs, pairs[:, ::-1]])
    ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
    start = np.concatenate([[0], np.cumsum(np.bincount(ends[:, 0], minlength=n))]).astype(np.int64)
    logs, noise = np.full(n, 1 << 16, np.int64), np.zeros(n, np.int64)
    near = np.ascontiguousarray(ends[:, 1])
    found = _kernels.VariableGraph(domains, start, near, logs).greedy(noise, rank, 3, 10**12, np.inf, Stopping())
    assert found[0].tolist() == naive_order(n, pairs.tolist(), rank)


def test_growing_arrays():
    numbers = Numbers("text", "numbers")
    parts = [" ".join(str(x) for x in range(k * k, (k + 1) ** 2)) + "\n" for k in range(60)]
    for part in parts:
        numbers.feed(part.encode())
    numbers.finish()
    assert numbers.array().tolist() == list(range(3600))
