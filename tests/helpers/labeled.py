"""Small labelled partition problems, and a naive algorithm for them that shares nothing with graphpart."""

import itertools
import math

import numpy as np

import graphpart as gp


def random_problem(rng, most=6):
    """A problem of at most 6 elements and 3 classes, some costs forbidden; InfeasibleProblem if all are, for a pair."""
    n, classes = int(rng.integers(1, most + 1)), int(rng.integers(1, 4))
    every = np.stack(np.triu_indices(n, 1), 1)
    pairs = every[rng.random(len(every)) < rng.choice([0.4, 0.7, 1.0])]
    turned = rng.random(len(pairs)) < 0.5
    pairs[turned] = pairs[turned][:, ::-1]
    shape = (len(pairs), classes, classes)
    kind = int(rng.integers(3))

    def draw(shape):
        return (rng.normal(size=shape), rng.integers(-3, 4, shape) * 1.0, rng.choice([-1.0, 1.0], shape))[kind]

    own, joined = draw((n, classes)), draw(shape)
    parted = draw(shape) if rng.random() < 0.6 else np.zeros(shape)
    if rng.random() < 0.4:
        joined[:, ~np.eye(classes, dtype=bool)] = np.inf
    for array, chance, share in ((joined, 0.4, 0.2), (parted, 0.3, 0.15), (own, 0.2, 0.2)):
        if rng.random() < chance:
            array[rng.random(array.shape) < share] = np.inf
    return own, pairs, joined, parted


def cost_of(own, pairs, joined, parted, labels, classes):
    """The cost by the formula, term by term."""
    total = sum(own[a][k] for a, k in enumerate(classes))
    for (a, b), together, apart in zip(np.asarray(pairs).tolist(), joined, parted, strict=True):
        total += (together if labels[a] == labels[b] else apart)[classes[a]][classes[b]]
    return float(total)


def least_cost(own, pairs, joined, parted):
    """The least cost over all partitions and classes."""
    n, classes = own.shape
    partitions = {
        gp.SetPartition.from_pairs(n, [], []).labels(x).tobytes() for x in itertools.product(range(n), repeat=n)
    }
    best = math.inf
    for partition in partitions:
        labels = np.frombuffer(partition, np.int32).tolist()
        for chosen in itertools.product(range(classes), repeat=n):
            best = min(best, cost_of(own, pairs, joined, parted, labels, chosen))
    return best


def planted(size, classes, seed):
    """A grid of planted segments with a class each: (problem, segments, classes). Clusters have one class."""
    return gp.generate.labeled_grid(size, size, classes, max(2, size * size // 40), seed=seed)
