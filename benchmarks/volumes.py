"""Volumes: graphpart beside bioimage-cpp and scikit-image, one thread each.

Rows: watershed, region graph with features, partition of regions, mutex watershed, and whole segmentations, of a
generated volume of cells (graphpart.images.cells) and, with the environment variable GRAPHPART_INSTANCES, of a volume
of electron microscopy. Times are the least of several runs, in turns; ``ratio`` is that of graphpart to the peer.
``distance`` is the variation of information to the truth.

    pip install 'graphpart[bench,volumes]'
    python benchmarks/volumes.py [--quick] [--csv volumes.csv]
    python benchmarks/volumes.py --large FOLDER [--voxels 200000000] [--workers 2] [--memory-limit 3GB]

With --large, a volume is generated as sharded OME-Zarr in FOLDER and segmented block by block, and the time, the memory
of processes, and the distance to the truth are printed. What is in FOLDER of an earlier run is used again. A volume
below 5 * 10^7 voxels is also segmented at once.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import multiprocessing
import resource
import sys
import time
from pathlib import Path

import numpy as np
from real import INSTANCES

import graphpart as gp
from graphpart.images.files import read_array

OFFSETS = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (4, 0, 0), (0, 9, 0), (0, 0, 9)]
SHARD, CHUNK = 256, 64  # sides of shards and chunks of large volumes


def distance(truth, labels):
    """The variation of information to the truth."""
    return sum(gp.metrics.variation_of_information(truth, np.asarray(labels), missing=0))


def measured(contestants, runs):
    """Least seconds and last answer of functions that are called in turns."""
    best, answers = dict.fromkeys(contestants, float("inf")), {}
    for _ in range(runs):
        for name, call in contestants.items():
            start = time.perf_counter()
            answers[name] = call()
            best[name] = min(best[name], time.perf_counter() - start)
    return best, answers


def affinities_of(boundary):
    """Affinities at OFFSETS: 1 minus the largest boundary on the way."""
    found = []
    for step in OFFSETS:
        axis = int(np.flatnonzero(step)[0])
        way = boundary.copy()
        for k in range(1, step[axis] + 1):
            way = np.maximum(way, np.roll(boundary, -k, axis))
        found.append(1 - way)
    jitter = np.random.default_rng(0).random((len(OFFSETS), *boundary.shape), np.float32)
    return np.clip(np.stack(found) * np.float32(0.98) + np.float32(0.01) * (1 + jitter), 0, 1)


def rows(name, boundary, truth, runs, peers=True):
    """The rows of one volume."""
    from bioimage_cpp import graph, segmentation
    from scipy import ndimage
    from skimage.segmentation import watershed as skimage_watershed

    def flood():
        distances = ndimage.gaussian_filter(ndimage.distance_transform_edt(boundary < 0.5), 2.5)
        peaks = (distances == ndimage.maximum_filter(distances, 3)) & (boundary < 0.5)
        return skimage_watershed(boundary, ndimage.label(peaks)[0])

    def features(of=graph.features.edge_map_features_complex):
        rag = graph.region_adjacency_graph(regions64, number_of_threads=1)
        return rag, of(rag, regions64, boundary, number_of_threads=1)

    def joined():
        rag, found = features()
        p = np.clip(found[:, 7], 0.001, 0.999)
        costs = found[:, -1] * np.log((1 - p) / p)
        solver = graph.multicut.ChainedMulticutSolvers(
            [graph.multicut.GreedyAdditiveMulticut(), graph.multicut.KernighanLinMulticut()]
        )
        labels = solver.optimize(graph.multicut.MulticutObjective(rag, costs))
        return graph.project_node_labels_to_pixels(rag, regions64, np.asarray(labels) + 1, number_of_threads=1)

    regions = gp.images.watershed(boundary)
    regions64 = regions.astype(np.uint64)
    tables = {
        "watershed": {"graphpart": lambda: gp.images.watershed(boundary), "scikit-image": flood},
        "region graph, features": {
            "graphpart": lambda: gp.images.region_graph(regions, boundary),
            "bioimage-cpp": features,
            "bioimage-cpp, means only": lambda: features(graph.features.edge_map_features),
        },
        "segments of regions": {
            "graphpart": lambda: gp.images.segment(boundary, regions=regions).labels,
            "bioimage-cpp, GAEC + KL": joined,
        },
    }
    if truth is not None and boundary.size < 10**7:
        affinities = affinities_of(boundary)
        costs = np.concatenate([-affinities[:3], 1 - affinities[3:]]).astype(np.float64)
        strengths = np.concatenate([affinities[:3], 1 - affinities[3:]]).astype(np.float32)
        tables["mutex watershed"] = {
            "graphpart": lambda: gp.partition.mutex_watershed(
                gp.SetPartition.from_affinities(costs, OFFSETS, kind="cost")
            ).labels.reshape(boundary.shape),
            "bioimage-cpp": lambda: segmentation.mutex_watershed(strengths, OFFSETS, 3),
        }
    for work, contestants in tables.items():
        best, answers = measured(contestants if peers else {"graphpart": contestants["graphpart"]}, runs)
        for who, seconds in best.items():
            labels = answers[who]
            apart = distance(truth, labels) if isinstance(labels, np.ndarray) and truth is not None else None
            yield {
                "data": name,
                "work": work,
                "program": who,
                "seconds": round(seconds, 3),
                "ratio": round(best["graphpart"] / seconds, 2),
                "distance": "" if apart is None else round(apart, 3),
            }


def generated(path, low):
    """Write the shard of a volume of cells that begins at `low`, unless it is there."""
    import zarr

    array = zarr.open_group(str(path), mode="r+")["0"]
    done = path / ".done" / "-".join(map(str, low))
    if done.exists():
        return
    high = [min(a + SHARD, n) for a, n in zip(low, array.shape, strict=True)]
    shape = [b - a for a, b in zip(low, high, strict=True)]
    array[tuple(map(slice, low, high))] = gp.images.cells(shape, origin=low)[0]
    done.parent.mkdir(exist_ok=True)
    done.touch()


def volume_of(path, voxels, workers):
    """An OME-Zarr group with a volume of cells, nearly a cube, generated by shards; what is there already is kept."""
    import zarr

    side = SHARD * max(1, round(voxels ** (1 / 3) / SHARD))
    shape = (CHUNK * max(1, round(voxels / side**2 / CHUNK)), side, side)
    if not path.exists():
        group = zarr.open_group(str(path), mode="w")
        group.create_array("0", shape=shape, chunks=(CHUNK,) * 3, shards=(SHARD,) * 3, dtype="f4")
        scale = {"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [1.0] * 3}]}
        axes = [{"name": name, "type": "space"} for name in "zyx"]
        group.attrs["ome"] = {"version": "0.5", "multiscales": [{"name": "cells", "axes": axes, "datasets": [scale]}]}
    places = itertools.product(*(range(0, n, SHARD) for n in shape))
    with multiprocessing.get_context("spawn").Pool(max(1, workers)) as pool:  # its memory does not count
        pool.starmap(generated, [(path, low) for low in places], chunksize=1)
    return shape


def large(folder, voxels, workers, memory_limit):
    """A volume of zarr, generated and segmented block by block."""
    path = Path(folder) / f"cells-{voxels:g}.zarr"
    shape = volume_of(path, voxels, workers)
    start = time.perf_counter()
    s = gp.images.segment_blocks(
        path, workers=workers, memory_limit=memory_limit, output=Path(folder) / f"labels-{voxels:g}.zarr",
        work_folder=Path(folder) / f"work-{voxels:g}-{workers}",
    )  # fmt: skip
    print(f"{np.prod(shape):.3g} voxels, blocks of {s.blocks}: {time.perf_counter() - start:.0f} s, {s}")
    print(f"this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")
    for stage, facts in s.stages.items():
        used = f"{facts['processor']:.0f} processor seconds, {facts['memory'] / 1e9:.2f} GB"
        print(f"  {stage}: {facts['tasks']} tasks, {facts['seconds']:.0f} s, {used}")
    first = tuple(min(n, SHARD // 2) for n in shape)
    truth = gp.images.cells(first)[1]
    print(
        f"distance to the truth in the first {first} voxels: {distance(truth, s.labels[tuple(map(slice, first))]):.4f}"
    )
    if np.prod(shape) < 5e7:
        at_once = gp.images.segment(read_array(path), method="kernighan-lin")
        print(f"distance to the volume at once: {distance(at_once.labels, s.labels[...]):.4f}")


def main(argv=None):
    """Print the rows as CSV."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a small volume, one run")
    parser.add_argument("--csv", metavar="PATH")
    parser.add_argument("--large", metavar="FOLDER")
    parser.add_argument("--voxels", type=float, default=2e8)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory-limit", default="3GB")
    args = parser.parse_args(argv)
    if args.large:
        large(args.large, args.voxels, args.workers, args.memory_limit)
        return
    runs = 1 if args.quick else 3
    boundary, truth = gp.images.cells((24, 64, 64) if args.quick else (64, 160, 160))
    found = list(rows("cells", boundary, truth, runs))
    if not args.quick:
        found += list(rows("cells 64 x 512 x 512", *gp.images.cells((64, 512, 512)), runs))
        if (INSTANCES / "em").is_dir():
            with np.load(INSTANCES / "em" / "train.npz") as d:
                found += list(rows("electron microscopy", d["boundary"], d["truth"], runs))
    with open(args.csv, "w", newline="") if args.csv else sys.stdout as stream:
        writer = csv.DictWriter(stream, list(found[0]))
        writer.writeheader()
        writer.writerows(found)


if __name__ == "__main__":
    main()
