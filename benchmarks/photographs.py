"""Segments of photographs: graphpart beside felzenszwalb and SLIC with normalised cuts of scikit-image.

Of generated photographs (things of one colour with shading, texture, blur and noise, before two or three areas) two
figures are printed. The covering of the truth is the mean over pixels of the largest overlap, intersection by union, of
their thing with a segment. The F of boundaries is the harmonic mean of the shares of their pixels, of the truth and of
the segments, that have one of the other within two pixels. Of the photographs of scikit-image, the number of segments
and the share of the largest one are printed.

    pip install 'graphpart[bench,images]'
    python benchmarks/photographs.py [--first 100]
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy import ndimage
from skimage import color, data, graph, segmentation

import graphpart as gp


def photograph(seed, side=160):
    """A photograph in 8 bits, and the thing at each pixel."""
    rng = np.random.default_rng(seed)
    truth = np.zeros((side, side), int)
    y, x = np.indices((side, side))
    for k in range(1, rng.integers(2, 4)):  # areas of the background
        a = rng.uniform(0, np.pi)
        truth[np.cos(a) * (x - rng.uniform(0.3, 0.7) * side) + np.sin(a) * (y - rng.uniform(0.3, 0.7) * side) > 0] = k
    number = truth.max() + 1
    for _ in range(rng.integers(4, 9)):  # ellipses and rectangles
        a = rng.uniform(0, np.pi)
        cx, cy = rng.uniform(0.1, 0.9, 2) * side
        wide, high = rng.uniform(0.08, 0.28, 2) * side
        u, v = np.cos(a) * (x - cx) + np.sin(a) * (y - cy), np.cos(a) * (y - cy) - np.sin(a) * (x - cx)
        ellipse = rng.random() < 0.6
        truth[(u / wide) ** 2 + (v / high) ** 2 < 1 if ellipse else (abs(u) < wide) & (abs(v) < high)] = number
        number += 1
    lab = np.zeros((side, side, 3))
    for k in range(number):
        colour = np.array([rng.uniform(25, 85), rng.uniform(-35, 35), rng.uniform(-35, 35)])
        texture = ndimage.gaussian_filter(rng.normal(size=(side, side)), rng.uniform(0.7, 3))
        texture *= rng.choice([2, 4, 8]) / texture.std()
        texture += rng.uniform(-15, 15) * (x / side - 0.5) + rng.uniform(-15, 15) * (y / side - 0.5)
        lab[truth == k] = colour
        lab[truth == k, 0] += texture[truth == k]
    colours = ndimage.gaussian_filter(np.clip(color.lab2rgb(lab), 0, 1), (0.8, 0.8, 0))
    colours = np.clip(colours + rng.normal(0, 0.02, colours.shape), 0, 1)
    return (255 * colours).astype(np.uint8), truth


def covering(truth, labels):
    """The mean over pixels of the largest overlap of their thing with a segment."""
    things, segments = (np.unique(array, return_inverse=True)[1].ravel() for array in (truth, labels))
    both = np.zeros((things.max() + 1, segments.max() + 1))
    np.add.at(both, (things, segments), 1)
    overlap = both / (both.sum(1)[:, None] + both.sum(0) - both)
    return (overlap.max(1) * both.sum(1)).sum() / both.sum()


def boundary_f(truth, labels):
    """The harmonic mean of precision and recall of pixels at boundaries, within two pixels."""
    true, found = (segmentation.find_boundaries(array, mode="thick") for array in (truth, labels))
    near = [ndimage.distance_transform_edt(~array) <= 2 for array in (true, found)]
    precision, recall = near[0][found].sum() / max(1, found.sum()), near[1][true].sum() / true.sum()
    return 2 * precision * recall / max(precision + recall, 1e-9)


def segments(image):
    """Segments by each program."""
    small = segmentation.slic(image, 400, start_label=1)
    similar = graph.rag_mean_color(image, small, mode="similarity")
    return {
        "graphpart": gp.images.segment(image).labels,
        "felzenszwalb": segmentation.felzenszwalb(image, 200, 0.8, 200),
        "felzenszwalb, finer": segmentation.felzenszwalb(image, 100, 0.5, 50),
        "slic, cut_normalized": graph.cut_normalized(small, similar),
    }


def main(argv=None):
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--first", type=int, default=100, help="seed of the first of 20 photographs")
    args = parser.parse_args(argv)
    found, edges, counts = {}, {}, {}
    for seed in range(args.first, args.first + 20):
        image, truth = photograph(seed)
        for program, labels in segments(image).items():
            found.setdefault(program, []).append(covering(truth, labels))
            edges.setdefault(program, []).append(boundary_f(truth, labels))
            counts.setdefault(program, []).append(len(np.unique(labels)) / len(np.unique(truth)))
    for program, values in found.items():
        above = [int((np.array(table["graphpart"]) > table[program]).sum()) for table in (found, edges)]
        print(
            f"{program:20} covering {np.mean(values):.3f} (graphpart is above it on {above[0]} of 20), F of boundaries "
            f"{np.mean(edges[program]):.3f} (on {above[1]}), segments for each thing {np.mean(counts[program]):.1f}"
        )
    for name in ("coffee", "astronaut", "cat", "rocket", "immunohistochemistry", "retina", "hubble_deep_field"):
        image = getattr(data, name)()
        shares = {}
        for program, labels in segments(image[::2, ::2] if len(image) > 700 else image).items():
            sizes = np.unique(labels, return_counts=True)[1]
            shares[program] = f"{len(sizes)} ({sizes.max() / sizes.sum():.0%})"
        print(f"{name:20} " + ", ".join(f"{program} {share}" for program, share in shares.items()), flush=True)


if __name__ == "__main__":
    main()
