"""Segments learned on some pictures, of others: beside the default, and beside the best threshold in hindsight.

Each row is a volume that was left out. Halves of a volume of electron microscopy (with the environment variable
GRAPHPART_INSTANCES) are segmented by what the other half taught, along three axes; generated volumes by what four
others of other kinds taught: cells with walls, and fainter walls within cells, with more noise, thicker walls, or
another contrast. With ``--aside``, there are quarters in place of halves, and generated volumes of five more kinds,
which did not choose features and rules, by what the first five taught. ``expected`` is what `fit` says, from the
training volumes alone. Distances are variations of information to the truth.

    pip install 'graphpart[bench,images]'
    python benchmarks/transfer.py
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from real import INSTANCES
from scipy import ndimage
from skimage.segmentation import find_boundaries

import graphpart as gp

KINDS = {  # noise, width of walls, contrast
    "plain": (0.12, 1.0, lambda b: b),
    "noisy": (0.22, 1.0, lambda b: b),
    "thick": (0.12, 1.6, lambda b: b),
    "pale": (0.12, 1.0, lambda b: 0.1 + 0.6 * b),
    "steep": (0.12, 1.0, lambda b: b**0.6),
}


ASIDE = {
    "rough": (0.17, 1.3, lambda b: b),
    "thin": (0.09, 0.8, lambda b: b),
    "bent": (0.12, 1.0, lambda b: b**1.5),
    "faint": (0.15, 1.2, lambda b: 0.05 + 0.8 * b**0.8),
    "loud": (0.26, 1.4, lambda b: b),
}


def volume(kind, seed, shape=(28, 80, 80)):
    """A boundary map of a kind, and the true cell of each voxel."""
    noise, width, contrast = (KINDS | ASIDE)[kind]
    rng = np.random.default_rng(seed)
    _, pieces = gp.images.cells(shape, size=16, noise=0, seed=seed)
    _, cells = gp.images.cells(shape, size=32, noise=0, seed=seed + 100)
    names, pieces = np.unique(pieces, return_inverse=True)
    pieces = pieces.reshape(shape)
    first = ndimage.maximum_position(np.ones(shape), pieces, range(len(names)))
    truth = np.array([cells[at] for at in first])[pieces]
    uneven, rough = (ndimage.gaussian_filter(rng.normal(size=shape), width) for width in (6, 1))
    walls = find_boundaries(truth)
    faint = find_boundaries(pieces) & ~walls
    uneven /= uneven.std()
    boundary = walls * np.clip(0.9 + 0.15 * uneven, 0.2, 1) + faint * np.clip(0.35 + 0.15 * uneven, 0, 1)
    boundary = 1.7 * width**0.5 * ndimage.gaussian_filter(boundary, width) + noise * rough / rough.std()
    return contrast(np.clip(boundary, 0, 1)).astype(np.float32), truth


def microscopy(aside):
    """(name, what is left out, what teaches), each as lists of region graphs and truths: halves, or quarters aside."""
    with np.load(INSTANCES / "em" / "train.npz") as d:
        arrays = [d[name] for name in ("regions", "boundary", "image", "truth")]
    for axes in ((0, 1), (0, 2), (1, 2)) if aside else ((0,), (1,), (2,)):
        parts = [arrays]
        for axis in axes:
            parts = [[np.array_split(a, 2, axis)[half] for a in part] for part in parts for half in range(2)]
        made = [(gp.images.region_graph(part[0], part[1], image=part[2]), part[3]) for part in parts]
        for k, one in enumerate(made):
            yield f"microscopy, axes {axes}, {k}", one, made[:k] + made[k + 1 :]


def generated(aside):
    """The same of generated volumes."""
    made = {}
    for k, kind in enumerate(KINDS | ASIDE if aside else KINDS):
        for seed in (k, k + 10):
            boundary, truth = volume(kind, seed)
            graph = gp.images.region_graph(gp.images.watershed(boundary, seed_width=1.5), boundary)
            made[kind, seed - k] = graph, truth
    for kind in ASIDE if aside else KINDS:
        yield f"generated, {kind}", made[kind, 10], [made[other, 0] for other in KINDS if other != kind]


def distance(graph, truth, problem):
    """The variation of information between the partition of a problem and the truth."""
    labels = gp.solve(problem, method="kernighan-lin-pairs")
    return sum(gp.metrics.variation_of_information(truth, graph.project(labels), missing=0))


def main(argv=None):
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--aside", action="store_true", help="parts that did not choose features and rules")
    aside = parser.parse_args(argv).aside
    warnings.simplefilter("ignore")
    print(f"{'left out':30} default learned ratio expected threshold best distance")
    rows = []
    for name, (graph, truth), teachers in [
        *(microscopy(aside) if (INSTANCES / "em").is_dir() else []),
        *generated(aside),
    ]:
        model = gp.estimators.Segmenter().fit(*map(list, zip(*teachers, strict=True)))
        default, learned = (distance(graph, truth, p) for p in (graph.problem(), model.problem(graph)))
        chosen, found = model.threshold_, {}
        for model.threshold_ in np.arange(4, 17) / 20:
            found[model.threshold_] = distance(graph, truth, model.problem(graph))
        best = min(found, key=lambda t: (found[t] > 1.02 * min(found.values()), abs(t - chosen)))
        rows.append((default, learned, learned / default, model.expected_, chosen, best, found[best]))
        print(f"{name:30} " + " ".join(f"{x:7.3f}" for x in rows[-1]), flush=True)
    table = np.array(rows)
    print(f"mean of {len(rows):2}{'':20} " + " ".join(f"{x:7.3f}" for x in table.mean(axis=0)))
    print(
        f"learned / default of the means: {table[:, 1].sum() / table[:, 0].sum():.3f}; worse than the default: "
        f"{(table[:, 2] > 1).sum()}; threshold within 0.1 of the best: "
        f"{(abs(table[:, 4] - table[:, 5]) <= 0.101).sum()}"
    )


if __name__ == "__main__":
    main()
