"""Components of a problem, and the sum of what is known about them."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from strategies import is_close, partitions

import graphpart as gp
from graphpart.partition.pieces.components import split


@given(partitions(max_n=9, density=0.2, requirements=False))
def test_parts_are_the_components_and_their_optima_add_up(p):
    component = p._components()
    G = nx.Graph()
    G.add_nodes_from(range(p.n))
    G.add_edges_from((a, b) for a, b, c in zip(*p.pairs(), strict=True) if c != 0)
    expected = {frozenset(c) for c in nx.connected_components(G)}
    assert {frozenset(np.flatnonzero(component == k).tolist()) for k in set(component.tolist())} == expected
    parts = split(p, component)
    assert {frozenset(elements.tolist()) for elements, _ in parts} == {c for c in expected if len(c) > 1}
    total = sum(gp.partition.brute_force(part).cost for _, part in parts)
    assert is_close(total, gp.partition.brute_force(p).cost, p)
    cost = {(int(a), int(b)): c for a, b, c in zip(*p.pairs(), strict=True) if c != 0}
    for elements, part in parts:
        assert (np.diff(elements) > 0).all()
        for a, b, c in zip(*part.pairs(), strict=True):
            assert cost.get((int(elements[a]), int(elements[b])), 0) == c


def test_only_wanted_components():
    p = gp.SetPartition.from_pairs(7, [(0, 3), (1, 4), (2, 5)], [1.0, -2.0, 3.0], dense=False)
    component = p._components()
    ((elements, part),) = split(p, component, component[np.unique(component, return_index=True)[1]] == component[1])
    assert elements.tolist() == [1, 4] and part.pairs()[2].tolist() == [-2.0]
    assert split(p, component, np.zeros(component.max() + 1, bool)) == []


@pytest.mark.parametrize("dense", [True, False])
def test_required_joins_connect(dense):
    p = gp.SetPartition.from_pairs(5, [(0, 1), (2, 3)], [1.0, 1.0], must_join=[(1, 2)], dense=dense)
    assert p._components().tolist() == [0, 0, 0, 0, 1]
