"""Separation against enumeration of all triangles and all cycles."""

import itertools

import networkx as nx
import numpy as np
import pytest
from trials import trials

from graphpart.partition.exact_solvers.separation import all_triangles, rows_of, violated


def rows_as_sets(rows):
    matrix, rhs = rows
    out = set()
    for i in range(len(rhs)):
        part = slice(matrix.indptr[i], matrix.indptr[i + 1])
        out.add((tuple(sorted(zip(matrix.indices[part].tolist(), matrix.data[part].tolist(), strict=True))), rhs[i]))
    assert len(out) == len(rhs), "an inequality is there twice"
    return out


def triangles_of(n):
    pair = {frozenset(e): k for k, e in enumerate(itertools.combinations(range(n), 2))}
    return {
        (
            tuple(
                sorted(
                    [(pair[frozenset((a, b))], 1.0), (pair[frozenset((a, c))], 1.0), (pair[frozenset((b, c))], -1.0)]
                )
            ),
            1.0,
        )
        for a in range(n)
        for b, c in itertools.combinations([x for x in range(n) if x != a], 2)
    }


def pairs_of(n):
    return (x.astype(np.int32) for x in np.triu_indices(n, 1))


@pytest.mark.parametrize("n", range(7))
def test_all_triangles(n):
    u, v = pairs_of(n)
    assert rows_as_sets(rows_of(all_triangles(n), u, v, n, len(u))) == triangles_of(n)


def test_of_each_pair_the_most_violated_triangle_is_found():
    rng = np.random.default_rng(0)
    for n in (0, 1, 2, 3, 5, 7):
        u, v = pairs_of(n)
        for _ in range(10):
            y = rng.random(len(u)) if rng.random() < 0.5 else rng.integers(0, 2, len(u)) * 1.0
            expected = {}
            for row, most in triangles_of(n):
                (closing,) = (k for k, c in row if c < 0)
                excess = sum(y[k] * c for k, c in row) - most
                expected[closing] = max(expected.get(closing, 1e-4), excess)
            expected = {k: excess for k, excess in expected.items() if excess > 1e-4}
            matrix, rhs = rows = rows_of(violated(y, u, v, n), u, v, n, len(u) + 2)
            assert matrix.shape == (len(expected), len(u) + 2) and rows_as_sets(rows) <= triangles_of(n)
            excess = matrix[:, : len(u)] @ y - rhs
            closing = matrix.indices[matrix.data < 0].tolist()
            assert dict(zip(closing, excess, strict=True)) == pytest.approx(expected, abs=1e-6)


def test_cycles_are_found_exactly_for_the_pairs_that_have_a_violated_one():
    rng = np.random.default_rng(1)
    for _ in range(trials(60)):
        n = int(rng.integers(3, 8))
        G = nx.gnp_random_graph(n, 0.6, seed=int(rng.integers(10**6)))
        edges = sorted(tuple(sorted(e)) for e in G.edges)
        if not edges:
            continue
        u, v = (np.array(x, np.int32) for x in zip(*edges, strict=True))
        y = rng.random(len(edges)) if rng.random() < 0.5 else rng.integers(0, 2, len(edges)) * 1.0
        value = dict(zip(edges, y.tolist(), strict=True))
        matrix, rhs = rows_of(violated(y, u, v, n), u, v, n, len(u))
        found = {}
        for i in range(len(rhs)):
            part = slice(matrix.indptr[i], matrix.indptr[i + 1])
            indices, data = matrix.indices[part], matrix.data[part]
            (e,) = indices[data == -1]
            path = [edges[k] for k in indices[data == 1]]
            H = nx.Graph(path)
            assert nx.is_path(H, nx.shortest_path(H, *edges[e])) and len(H.edges) == len(path)  # P joins the ends of e
            assert nx.shortest_path_length(H, *edges[e]) == len(path) == rhs[i] + 1
            assert sum(value[f] for f in path) - value[edges[e]] > rhs[i] + 5e-5
            found[edges[e]] = sum(1 - value[f] for f in path)
        for a, b in edges:
            paths = (p for p in nx.all_simple_paths(G, a, b) if len(p) > 2)
            best = min((sum(1 - value[tuple(sorted(f))] for f in itertools.pairwise(p)) for p in paths), default=9.0)
            if best < 1 - value[a, b] - 1e-3:
                assert found[a, b] == pytest.approx(best, abs=1e-4)
            elif best > 1 - value[a, b]:
                assert (a, b) not in found
