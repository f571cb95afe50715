"""Frequency assignment for radio links, in the manner of the CELAR instances (Cabon et al. 1999)."""

from __future__ import annotations

import numpy as np

from graphpart.crf.problem import FactorGraph
from graphpart.generate.instance import FactorInstance, check_integer, random_generator

__all__ = ["radio_links"]

FREQUENCIES = np.concatenate([np.arange(begin, begin + 141, 14) for begin in (16, 254, 414, 652)])
CHOICES = (FREQUENCIES, FREQUENCIES[np.arange(44) % 11 % 10 > 0], FREQUENCIES[np.arange(44) % 11 % 2 == 0])
SHARES = (0.6, 0.25, 0.15)  # share of the links that have each choice of frequencies
WEIGHTS = (1.0, 10.0, 100.0, 1000.0)  # possible weights of an interference
NEAREST = 6  # sites to which a site is linked
SEPARATION = (60.0, 200.0)  # mean separation that interferences of the farthest and of the nearest links require


def radio_links(
    links: int, interferences: int | None = None, hard: bool = False, seed: int | None = 0
) -> FactorInstance:
    """Frequencies for radio links of two directions each, with few interferences, and those of little weight.

    A link connects two sites near to each other on a map. Each of its directions is a variable, with 44, 36 or 24
    frequencies from four blocks as labels. The frequencies of both directions of a link differ by 238. An interference
    of two directions of different links costs its weight, 1, 10, 100 or 1000, if their frequencies differ by no more
    than the separation that it asks for. Near links have more interferences, and ask for larger separations.

    Parameters
    ----------
    links : int
        Number of links: half of the number of variables.
    interferences : int, optional
        Their number; default: 12 for each link. At most 4 for each pair of links.
    hard : bool
        Whether interferences of weight 1000 are forbidden.
    seed : int, optional
        Seed of the random numbers; none: a new instance at every call.

    Returns
    -------
    FactorInstance
        The problem, and None: nothing is planted.

    Notes
    -----
    O(links^2 + interferences * labels^2). With 100 links it has about the size of CELAR's sixth scenario: 200 variables
    and 1222 interferences. If `hard`, it may be that every labeling is forbidden.

    Examples
    --------
    >>> f, _ = radio_links(20)
    >>> f.n, f.m
    (40, 260)
    """
    links = check_integer("links", links, 0, 10_000)
    count = 12 * links if interferences is None else check_integer("interferences", interferences, 0)
    rng = random_generator(seed)
    sites = rng.random((max(8, links // 4), 2))
    one = rng.integers(len(sites), size=links)
    apart = ((sites[one][:, None] - sites) ** 2).sum(axis=2)
    nearest = np.argsort(apart, axis=1, kind="stable")[:, 1 : 1 + NEAREST]
    place = (sites[one] + sites[nearest[np.arange(links), rng.integers(NEAREST, size=links)]]) / 2
    choice = np.searchsorted(np.cumsum(SHARES), rng.random(links)).clip(max=2)
    frequencies = [CHOICES[k] for k in choice.tolist()]
    f = FactorGraph()
    for v in range(2 * links):
        f.add_variable(v, len(frequencies[v // 2]))
    for k, own in enumerate(frequencies):
        differ = np.abs(own[:, None] - own)
        # 238: the distance between the frequencies of the two directions of a link
        f.add_factor((2 * k, 2 * k + 1), np.where(differ == 238, 0.0, np.inf))
    i, j = np.triu_indices(links, 1)
    distance = ((place[i] - place[j]) ** 2).sum(axis=1) * (0.5 + rng.random(len(i)))
    left = total = min(count, 4 * len(i))
    for turn, pair in enumerate(np.argsort(distance, kind="stable")[:total].tolist()):
        if not left:
            break
        least = max(1, left - 4 * (len(i) - turn - 1))  # so that there are as many as asked for
        directions = rng.permutation(4)[: min(left, max(least, int(rng.integers(1, 5))))]
        for direction in directions.tolist():
            u, v = 2 * int(i[pair]) + direction // 2, 2 * int(j[pair]) + direction % 2
            separation = 2 * (SEPARATION[0] + (SEPARATION[1] - SEPARATION[0]) * left / total) * rng.random()
            weight = WEIGHTS[int(rng.integers(4))]
            near = np.abs(frequencies[u // 2][:, None] - frequencies[v // 2]) <= separation
            f.add_factor((u, v), np.where(near, np.inf if hard and weight == WEIGHTS[-1] else weight, 0.0))
        left -= len(directions)
    return FactorInstance(f, None)
