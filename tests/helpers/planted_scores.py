"""Scored pairs of planted clusters, for the tests of questions and answers."""

import itertools

import numpy as np

import graphpart as gp


def planted(seed, n=60, k=12):
    """Scored pairs of elements of planted clusters, as probabilities."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    u, v = np.array(list(itertools.combinations(range(n), 2))).T
    kept = (truth[u] == truth[v]) | (rng.random(len(u)) < 0.2)
    u, v = u[kept], v[kept]
    bits = np.where(truth[u] == truth[v], rng.normal(1.5, 2, len(u)), rng.normal(-1.5, 2, len(u)))
    frame = {"a": u, "b": v, "p": 1 / (1 + np.exp2(-bits))}
    return gp.SetPartition.from_frame(frame, "a", "b", probability="p", missing=0), truth
