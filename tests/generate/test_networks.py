"""Generators of large networks: what they promise, and that they are the same each time."""

import numpy as np
import pytest

import graphpart as gp
from graphpart.generate.networks import clustered_network, community_network, scored_pairs


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 40, 1000])
def test_edges_are_sorted_and_different(n):
    made = [community_network(n, 4 * n, seed=1)]
    made += [clustered_network(n, 4 * n, kind, seed=1) for kind in ("cliques", "geometric", "random")]
    for edges, truth in made:
        assert edges.shape[1] == 2 and len(truth) == n
        assert (edges[:, 0] < edges[:, 1]).all() and (edges < n).all() and (edges >= 0).all()
        keys = edges[:, 0] * n + edges[:, 1]
        assert (np.diff(keys) > 0).all()
        if n == 1000:
            assert 3000 < len(edges) < 4500
    again = community_network(n, 4 * n, seed=1)
    assert all(np.array_equal(a, b) for a, b in zip(made[0], again, strict=True))


def test_near_points_are_all_found():
    edges, _ = clustered_network(300, 1500, "geometric", seed=2)
    rng = np.random.default_rng(2)
    points = rng.random((300, 2))
    distance = np.sqrt(2 * 1500 / (np.pi * 300 * 300))
    apart = ((points[:, None] - points[None]) ** 2).sum(-1)
    assert edges.tolist() == np.argwhere(np.triu(apart <= distance * distance, 1)).tolist()


def test_communities_and_entities_are_planted():
    edges, truth = community_network(2000, 12_000, mixing=0.3, seed=3)
    within = (truth[edges[:, 0]] == truth[edges[:, 1]]).mean()
    assert 0.6 < within < 0.8
    pairs, probability, entity = scored_pairs(3000, seed=3)
    same = entity[pairs[:, 0]] == entity[pairs[:, 1]]
    assert probability[same].mean() > 0.6 > 0.4 > probability[~same].mean()
    assert len(scored_pairs(0).pairs) == 0


def test_bad_parameters():
    with pytest.raises(gp.InvalidOption, match="kind is 'trees'"):
        clustered_network(5, 5, "trees")
    with pytest.raises(gp.InvalidOption, match="mixing"):
        community_network(5, 5, mixing=2.0)
