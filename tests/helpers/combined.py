"""Problems with several requirements at once, and the least cost that an enumeration by definition finds for them."""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np

import graphpart as gp

#: Each requirement by itself; two of them at once are every pair of these.
KINDS = (
    "groups", "prices", "max_size", "at most", "at least", "missing", "background", "connected", "lifted", "together",
    "apart",
)  # fmt: skip


class Combined(NamedTuple):
    """Costs of listed pairs, the options of a constructor, and the least cost (inf if nothing is allowed)."""

    n: int
    base: dict[tuple[int, int], float]
    options: dict[str, Any]
    least: float

    def problem(self, **more: Any) -> gp.SetPartition:
        return gp.SetPartition.from_pairs(self.n, list(self.base), list(self.base.values()), **self.options, **more)


def combined(rng: np.random.Generator, n: int, kinds: tuple[str, ...], ties: bool = True) -> Combined:
    """A random problem with requirements of these kinds, of which some partition obeys all."""
    every = list(itertools.combinations(range(n), 2))

    def cost() -> float:
        return float(rng.integers(-3, 4)) if ties else float(rng.normal())

    while True:
        base = {pair: cost() for pair in every if rng.random() < 0.55}
        options: dict[str, Any] = {}
        if "groups" in kinds or "prices" in kinds:
            options["groups"] = [["x", "y", None][k] for k in rng.integers(0, 3, n)]
            options["group_cost"] = math.inf if "groups" in kinds else 1.5
            if {"groups", "prices"} <= set(kinds):
                options["groups"] = [options["groups"], [["v", None][k] for k in rng.integers(0, 2, n)]]
                options["group_cost"] = [math.inf, 1.5]
        if "max_size" in kinds:
            options["max_size"] = int(rng.integers(2, 4))
        if "at most" in kinds or "at least" in kinds:
            few, many = sorted(rng.integers(2, n, 2).tolist())
            options["n_clusters"] = (many if "at least" in kinds else 1, None)
            if "at most" in kinds:
                options["n_clusters"] = (few if "at least" in kinds else 1, many if "at least" in kinds else few)
        if "missing" in kinds:
            options["missing"] = float(rng.choice([-0.5, 0.5, 1.0]))
        if "background" in kinds:
            options["background"] = (float(rng.choice([-0.25, 0.25])), rng.integers(-1, 3, n).astype(float))
        if "connected" in kinds:
            options["connected"] = True
        if "lifted" in kinds:
            far = {pair: cost() for pair in every if rng.random() < 0.4}
            options["lifted"] = (list(far), list(far.values()))
        if "together" in kinds and base:
            options["together"] = [list(base)[k] for k in rng.integers(0, len(base), 1)]
        if "apart" in kinds:
            options["apart"] = [every[k] for k in rng.integers(0, len(every), 2)]
        least = least_cost(n, base, options)
        if least < math.inf:
            return Combined(n, base, options, least)


def least_cost(n: int, base: dict[tuple[int, int], float], options: dict[str, Any]) -> float:
    """The least cost of all partitions that obey the options."""
    return min(cost_of(labels, base, options) for labels in every_partition(n))


def cost_of(labels: tuple[int, ...], base: dict[tuple[int, int], float], options: dict[str, Any]) -> float:
    """The cost of labels; inf if they are not allowed."""
    joined = {pair for pair in itertools.combinations(range(len(labels)), 2) if labels[pair[0]] == labels[pair[1]]}
    apart = {tuple(sorted(pair)) for pair in options.get("apart", ())}
    clusters = [{a for a, k in enumerate(labels) if k == name} for name in set(labels)]
    low, high = options.get("n_clusters", (1, None))
    if not low <= len(clusters) <= (high or len(labels)):
        return math.inf
    if max(map(len, clusters)) > options.get("max_size", len(labels)):
        return math.inf
    if apart & joined or not {tuple(sorted(pair)) for pair in options.get("together", ())} <= joined:
        return math.inf
    far = dict(zip(*options.get("lifted", ((), ())), strict=True))
    total = sum(base.get(pair, 0.0) + far.get(pair, 0.0) for pair in joined)
    total += options.get("missing", 0.0) * len(joined - set(base) - set(far))
    beta, weight = options.get("background", (0.0, [0.0] * len(labels)))
    total += beta * sum(weight[a] * weight[b] for a, b in joined)
    groupings, prices = options.get("groups", []), options.get("group_cost", 0.0)
    if not isinstance(prices, list):
        groupings, prices = [groupings], [prices]
    barred = set(apart)
    for groups, price in zip(groupings, prices, strict=True):
        same = [(a, b) for a, b in itertools.combinations(range(len(groups)), 2) if groups[a] == groups[b] is not None]
        barred |= set(same) if price == math.inf else set()
        for pair in same:
            total += price if pair in joined else 0.0
    if "connected" in options or "lifted" in options:
        for cluster in clusters:
            reached, new = set[int](), {min(cluster)}
            while new:
                reached |= new
                links = [(a, b) for a, b in base if (a, b) not in barred and base[a, b] < math.inf]
                new = {b for p in links for a, b in (p, p[::-1]) if a in reached and b in cluster} - reached
            if reached != cluster:
                return math.inf
    return total


def every_partition(n: int) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [()]
    for _ in range(n):
        found = [(*labels, k) for labels in found for k in range(max(labels, default=-1) + 2)]
    return found
