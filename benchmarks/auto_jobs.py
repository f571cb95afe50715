"""Jobs of neighbouring fields on which `benchmarks/auto.py` compares `auto` with single methods."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import graphpart as gp
from graphpart.generate.networks import community_network

__all__ = ["kinds"]

Arrays = tuple[np.ndarray, np.ndarray]


def shifts(n: int = 460, k: int = 57, decimals: int | None = None) -> gp.SetPartition:
    """A complete graph with planted clusters of some eight elements, all of whose pairs have a cost."""
    rng = np.random.default_rng(0)
    u, v = np.triu_indices(n, 1)
    t = np.arange(n) % k
    costs = np.where(t[u] == t[v], -2, 3) + 1.5 * rng.normal(size=len(u))
    return gp.SetPartition.from_pairs(n, (u, v), costs if decimals is None else costs.round(decimals))


def keypoints(people: int = 32, parts: int = 15, seed: int = 0) -> gp.SetPartition:
    """Body parts to be put together to people: at most one part of each kind for each person."""
    rng = np.random.default_rng(seed)
    centre = rng.random((people, 2)) * math.sqrt(people)
    person, part = np.repeat(np.arange(people), parts), np.tile(np.arange(parts), people)
    places = centre[person] + 0.25 * rng.standard_normal((len(person), 2))
    far = np.linalg.norm(places[:, None] - places[None], axis=2)
    u, v = np.nonzero(np.triu((far < 1.2) & (part[:, None] != part[None]), 1))
    return gp.SetPartition.from_pairs(
        len(person), (u, v), far[u, v] - 0.5 + 0.2 * rng.standard_normal(len(u)), groups=part
    )


def cliques(n: int = 30, seed: int = 0) -> gp.SetPartition:
    """Few elements, few pairs, at most four in a cluster."""
    rng = np.random.default_rng(seed)
    u, v = np.triu_indices(n, 1)
    used = rng.random(len(u)) < 0.15
    costs = rng.integers(-5, 6, len(u)).astype(float)
    return gp.SetPartition.from_pairs(n, (u[used], v[used]), costs[used], max_size=4)


def seating(guests: int = 60, seats: int = 8, seed: int = 0) -> gp.SetPartition:
    """Families and friends at tables, of which there are as many as needed and one more."""
    rng = np.random.default_rng(seed)
    family = rng.integers(0, guests // 4, guests)
    u, v = np.triu_indices(guests, 1)
    costs = np.where(family[u] == family[v], -5.0, 0.0)
    friends = rng.random(len(u)) < 0.05
    costs[friends] += rng.integers(-3, 4, friends.sum())
    used = costs != 0
    least = -(-guests // seats)
    return gp.SetPartition.from_pairs(
        guests, (u[used], v[used]), costs[used], max_size=seats, n_clusters=(least, least + 1)
    )


def constant_potts(n: int = 5000, mixing: float = 0.4, seed: int = 0) -> gp.SetPartition:
    """Communities by the constant Potts model: pairs without an edge cost a little."""
    edges = community_network(n, 5 * n, mixing, seed).edges
    return gp.SetPartition.from_pairs(n, edges, np.full(len(edges), 0.02 - 1.0), missing=0.02)


def editing(n: int, m: int, seed: int = 0, dense: bool = False) -> gp.SetPartition:
    """Cluster editing of a graph with degrees that follow a power law."""
    edges = community_network(n, m, 0.5, seed).edges
    if not dense:
        return gp.SetPartition.from_pairs(n, edges, np.full(len(edges), -1.0), missing=1.0)
    matrix = np.ones((n, n))
    matrix[edges[:, 0], edges[:, 1]] = matrix[edges[:, 1], edges[:, 0]] = -1.0
    np.fill_diagonal(matrix, 0.0)
    return gp.SetPartition.from_matrix(matrix)


def hubs(n: int = 77_351, m: int = 327_429, seed: int = 0) -> gp.SetPartition:
    """Cluster editing of a graph in which few nodes have thousands of neighbours."""
    rng = np.random.default_rng(seed)
    weight = (10.0 + np.arange(n)) ** -0.7
    pairs = rng.choice(n, (2 * m, 2), p=weight / weight.sum())
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    pairs = pairs[rng.permutation(len(pairs))[:m]]
    return gp.SetPartition.from_pairs(n, pairs, np.full(len(pairs), -1.0), missing=1.0)


def tracking(frames: int = 60, objects: int = 40, seed: int = 0) -> gp.SetPartition:
    """Detections in frames: base pairs between neighbouring frames, lifted pairs over up to ten frames."""
    rng = np.random.default_rng(seed)
    begin, speed = rng.random((objects, 2)) * 10, rng.standard_normal((objects, 2)) * 0.05
    seen = rng.random((frames, objects)) < 0.9
    frame, who = np.nonzero(seen)
    look = rng.standard_normal((objects, 4))[who] + 0.9 * rng.standard_normal((len(who), 4))
    place = begin[who] + speed[who] * frame[:, None] + 0.15 * rng.standard_normal((len(who), 2))
    order: list[Any] = [np.flatnonzero(frame == f) for f in range(frames)]
    base: list[Arrays] = []
    lifted: list[Arrays] = []
    for gap in range(1, 11):
        for f in range(frames - gap):
            a, b = (side.ravel() for side in np.meshgrid(order[f], order[f + gap], indexing="ij"))
            far = np.linalg.norm(place[a] - place[b], axis=1)
            unlike = np.linalg.norm(look[a] - look[b], axis=1)
            near = far < 0.6 + 0.1 * gap
            cost = (2.0 * far + unlike - 2.8)[near]
            (base if gap <= 2 else lifted).append((np.stack([a[near], b[near]], 1), cost))
    (pairs, costs), (more, rest) = (
        tuple(np.concatenate(x) for x in zip(*part, strict=True)) for part in (base, lifted)
    )
    return gp.SetPartition.from_pairs(len(frame), pairs, costs, lifted=(more, rest))


def assignment(n: int, groups: int = 2, seed: int = 0, as_cuts: bool = False) -> gp.SetPartition:
    """Elements in groups, of which no two elements may be in one cluster; all pairs of different groups have a cost."""
    rng = np.random.default_rng(seed)
    group = np.arange(groups * n) // n
    u, v = np.triu_indices(groups * n, 1)
    apart = group[u] != group[v]
    costs = rng.normal(0.3, 1.0, len(u))[apart]
    pairs = np.stack([u[apart], v[apart]], 1)
    if as_cuts:
        cuts = np.stack([u[~apart], v[~apart]], 1)
        return gp.SetPartition.from_pairs(groups * n, pairs, costs, must_cut=cuts)
    return gp.SetPartition.from_pairs(groups * n, pairs, costs, groups=group)


def signed(n: int = 5878, m: int = 21434, seed: int = 0) -> gp.SetPartition:
    """A signed network whose two sides disagree seldom: the fewest frustrated pairs of two clusters."""
    rng = np.random.default_rng(seed)
    weight = (1.0 + np.arange(n)) ** -0.8
    pairs = rng.choice(n, (2 * m, 2), p=weight / weight.sum())
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    pairs = pairs[rng.permutation(len(pairs))[:m]]
    side = rng.random(n) < 0.5
    costs = np.where(side[pairs[:, 0]] == side[pairs[:, 1]], -1.0, 1.0) * np.where(rng.random(len(pairs)) < 0.1, -1, 1)
    return gp.SetPartition.from_pairs(n, pairs, costs, n_clusters=(1, 2))


def points(k: int = 12, size: int = 50, seed: int = 0) -> gp.SetPartition:
    """Points in the plane, in clusters of equal sizes: the sum of squares."""
    rng = np.random.default_rng(seed)
    places = rng.normal(size=(k * size, 2)) + rng.normal(size=(8, 2))[rng.integers(0, 8, k * size)] * 4
    squares = ((places[:, None] - places[None]) ** 2).sum(2)
    return gp.SetPartition.from_matrix(squares / size, n_clusters=k, max_size=size)


def heavy_cut(n: int = 487, m: int = 5391, seed: int = 0) -> gp.SetPartition:
    """Maximum cut with degrees and weights that follow a power law."""
    rng = np.random.default_rng(seed)
    weight = (1.0 + np.arange(n)) ** -0.7
    pairs = rng.choice(n, (4 * m, 2), p=weight / weight.sum())
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    pairs = pairs[rng.permutation(len(pairs))[:m]]
    return gp.SetPartition.from_pairs(n, pairs, np.ceil(rng.pareto(1.2, len(pairs)) * 50), n_clusters=(1, 2))


def kinds() -> dict[str, Callable[[], Any]]:
    """Each set partition problem by its name."""
    return {
        "shifts, 460 elements": shifts,
        "shifts, 460 elements, one decimal": lambda: shifts(decimals=1),
        "keypoints, 480 with groups": keypoints,
        "30 elements, at most 4 in a cluster": cliques,
        "seating, 60 guests": seating,
        "constant Potts, 5000 elements": constant_potts,
        "tracking, lifted pairs": tracking,
        "assignment, 2 groups of 150": lambda: assignment(150),
        "assignment, 2 groups of 500": lambda: assignment(500),
        "assignment, 2 groups of 1500": lambda: assignment(1500),
        "6 groups of 50": lambda: assignment(50, 6),
        "6 groups of 50, as cuts": lambda: assignment(50, 6, as_cuts=True),
        "10 groups of 100": lambda: assignment(100, 10),
        "10 groups of 100, as cuts": lambda: assignment(100, 10, as_cuts=True),
        "signed network, 5878 elements": signed,
        "maximum cut, heavy tails": heavy_cut,
        "12 clusters of 50 points": points,
        "cluster editing, 77,351 elements": lambda: editing(77_351, 327_429),
        "cluster editing, hubs": hubs,
        "cluster editing, matrix of 2939": lambda: editing(2939, 40_000, dense=True),
    }
