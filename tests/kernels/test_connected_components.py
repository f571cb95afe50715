"""The union-find kernel against networkx."""

import networkx as nx
import numpy as np
import pytest
from trials import trials

from graphpart.kernels._pairs import connected_components


@pytest.mark.parametrize("seed", range(trials(50)))
def test_components_are_those_of_networkx(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(0, 40))
    m = int(rng.integers(0, n + 1))
    u, v = rng.integers(0, max(n, 1), (2, m)).astype(np.int32)  # any order, loops and duplicates too
    labels = connected_components(n, u, v)
    graph = nx.empty_graph(n)
    graph.add_edges_from(zip(u.tolist(), v.tolist(), strict=True))
    expected = np.zeros(n, np.int32)
    for k, component in enumerate(sorted(nx.connected_components(graph), key=min)):
        expected[list(component)] = k
    assert labels.dtype == np.int32
    np.testing.assert_array_equal(labels, expected)


def test_long_paths_do_not_take_quadratic_time():
    n = 200_000
    ends = np.arange(n - 1, dtype=np.int32)
    assert not connected_components(n, ends[::-1].copy(), ends[::-1] + np.int32(1)).any()
