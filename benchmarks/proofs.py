"""Proofs by branch and cut: graphs of cluster editing, and region adjacency graphs of photographs and grids.

    python benchmarks/proofs.py                       # region graphs, 60 s each
    python benchmarks/proofs.py --seconds 20 FOLDER   # all problems in a folder

Prints cost, lower bound, gap and seconds of each. Regions are superpixels of scikit-learn's two photographs (needs
scikit-image), pixels of a grid with planted regions, and cells of a volume; costs are logits of probabilities in steps
of a tenth, so that few are different, as those of classifiers that are sure of most pairs.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import graphpart as gp

REGIONS = 30_000


def photographs() -> Iterator[tuple[str, gp.SetPartition]]:
    """Superpixels, their neighbours and half of the neighbours of these; likelier together if nearer in colour."""
    from scipy.sparse import coo_array
    from skimage.color import rgb2lab
    from skimage.segmentation import slic
    from sklearn.datasets import load_sample_images

    rng = np.random.default_rng(0)
    for name, image in zip(("china", "flower"), load_sample_images().images, strict=True):
        regions = slic(image, n_segments=REGIONS, compactness=8, start_label=0)
        n = int(regions.max()) + 1
        pixels, colours = regions.ravel(), rgb2lab(image).reshape(-1, 3)
        sizes = np.maximum(np.bincount(pixels, minlength=n), 1)
        mean = np.stack([np.bincount(pixels, colours[:, k], n) for k in range(3)], 1) / sizes[:, None]
        ends = [(regions[:, :-1].ravel(), regions[:, 1:].ravel()), (regions[:-1].ravel(), regions[1:].ravel())]
        u, v = (np.concatenate(both) for both in zip(*ends, strict=True))
        beside = coo_array((np.ones(len(u)), (u, v)), shape=(n, n)).tocsr()
        beside = beside + beside.T
        near = (beside @ beside).tocoo()
        kept = (near.row < near.col) & (rng.random(len(near.row)) < 0.55)
        pairs = np.concatenate([np.stack([u, v], 1)[u != v], np.stack([near.row[kept], near.col[kept]], 1)])
        pairs = np.unique(np.sort(pairs, axis=1), axis=0)
        distance = np.linalg.norm(mean[pairs[:, 0]] - mean[pairs[:, 1]], axis=1)
        apart = 1.0 / (1.0 + np.exp(-(distance - 6.0) / 2.0 - rng.normal(0.0, 0.7, len(distance))))
        apart = np.clip(np.round(apart, 1), 0.01, 0.99)
        yield name, gp.SetPartition.from_pairs(n, pairs, np.round(np.log(apart / (1.0 - apart)), 4))


def grids() -> Iterator[tuple[str, gp.SetPartition]]:
    """Grids of 150 times 150 with 700 regions and long edges, costs rounded to eleven values; less noise is easier."""
    for noise in (0.6, 1.0):
        p = gp.generate.grid(150, 150, long_range=2.4, regions=700, sigma=noise, seed=11).problem
        u, v, cost = p.pairs()
        yield f"grid, noise {noise}", gp.SetPartition.from_pairs(p.n, (u, v), np.clip(np.round(3.0 * cost), -5, 5))


def volumes() -> Iterator[tuple[str, gp.SetPartition]]:
    """Region graphs of volumes, about as large as those of electron microscopy; more noise is harder."""
    for regions, noise in ((20_000, 1.0), (30_000, 1.0), (30_000, 1.2)):
        yield f"volume {regions}, {noise}", gp.generate.volume(regions, noise=noise, seed=1).problem


def main(arguments: list[str] | None = None) -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--method", default="exact")
    parser.add_argument("folder", nargs="?")
    given = parser.parse_args(arguments)
    problems: Any = [*photographs(), *grids(), *volumes()] if given.folder is None else _read(given.folder)
    total, open_ones = 0.0, 0
    for name, p in problems:
        started = time.perf_counter()
        r = gp.solve(p, given.method, time_limit=given.seconds)
        seconds = time.perf_counter() - started
        total, open_ones = total + seconds, open_ones + (r.status != gp.Status.OPTIMAL)
        gap = 100 * (r.cost - r.lower_bound) / abs(r.cost or 1.0)
        print(
            f"{name:20} {p.n:7} {p.m:8} {r.cost:16.4f} {r.lower_bound:16.4f} {gap:9.5f}% {seconds:7.2f} s", flush=True
        )
    print(f"{open_ones} not proven, {total:.1f} s in all")


def _read(folder: str) -> Iterator[tuple[str, gp.SetPartition]]:
    for name in sorted(os.listdir(folder)):
        if not name.startswith((".", "LICENSE", "README")):
            yield name, gp.read(os.path.join(folder, name))


if __name__ == "__main__":
    main()
