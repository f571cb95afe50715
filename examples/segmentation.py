"""Segmentation: superpixels of a photograph, partitioned by their boundaries; and the same image as a binary CRF.

The image is one bundled with scikit-image. Neighbouring superpixels are compared by the difference of their mean colors
and by the strength of the edge between them; costs are set by hand: contrast minus a threshold, times the length
of the boundary. The CRF labels each superpixel as one of the two components of a Gaussian mixture of colors, with a
price for each unit of boundary between different labels that falls with contrast.

    pip install 'graphpart[segmentation]'
    python examples/segmentation.py [--quick] [--figure segmentation.png]
"""

from __future__ import annotations

import argparse
import time

import networkx as nx
import numpy as np
from sklearn.mixture import GaussianMixture

import graphpart as gp

THRESHOLDS = (4.0, 8.0, 12.0, 16.0)  # contrast, in units of CIELAB


def superpixels(count, step):
    """The image (every step-th pixel), its superpixels, their mean colors, and their boundaries."""
    try:
        from skimage import color, data, filters, segmentation
    except ImportError:
        raise gp.MissingDependency("scikit-image", "segmentation", "this study") from None
    image = data.coffee()[::step, ::step]
    lab = color.rgb2lab(image)
    region = segmentation.slic(image, count, compactness=20, start_label=0)
    region = np.unique(region, return_inverse=True)[1].reshape(region.shape)
    n = region.max() + 1
    size = np.bincount(region.ravel())
    means = np.stack([np.bincount(region.ravel(), lab[..., c].ravel()) / size for c in range(3)], axis=1)
    edge = filters.sobel(lab[..., 0])

    sides = []
    for a, b, x, y in (
        (region[:, :-1], region[:, 1:], edge[:, :-1], edge[:, 1:]),
        (region[:-1], region[1:], edge[:-1], edge[1:]),
    ):
        across = a != b
        low, high = np.minimum(a, b)[across], np.maximum(a, b)[across]
        sides.append((low.astype(np.int64) * n + high, np.maximum(x, y)[across]))
    codes, strength = (np.concatenate(part) for part in zip(*sides, strict=True))
    codes, inverse, length = np.unique(codes, return_inverse=True, return_counts=True)
    pairs = np.stack(np.divmod(codes, n), axis=1)
    strength = np.bincount(inverse, strength) / length
    difference = np.linalg.norm(means[pairs[:, 0]] - means[pairs[:, 1]], axis=1)
    return {"image": image, "region": region, "means": means, "pairs": pairs, "length": length,
            "contrast": 0.5 * (difference + strength)}  # fmt: skip


def segment(parts, threshold):
    """The partition of superpixels with the smallest cost."""
    costs = parts["length"] * (parts["contrast"] - threshold)
    problem = gp.SetPartition.from_pairs(len(parts["means"]), parts["pairs"], costs)
    return gp.solve(problem, time_limit=5)


def label(parts, price=1.5):
    """The most probable labels by greedy flips, from the best label of each superpixel by itself."""
    mixture = GaussianMixture(2, random_state=0).fit(parts["means"])
    unary = gp.learn.unary_costs(mixture, parts["means"])
    weights = price * parts["length"] / parts["length"].mean() * np.exp(-parts["contrast"] / 10)
    graph = nx.Graph()
    graph.add_nodes_from((i, {"unary": row}) for i, row in enumerate(unary.tolist()))
    graph.add_weighted_edges_from((u, v, w) for (u, v), w in zip(parts["pairs"].tolist(), weights, strict=True))
    model = gp.FactorGraph.potts(graph)
    alone = unary.argmin(axis=1)
    return model, model.evaluate(alone), gp.crf.icm(model, initial=alone)


def draw(parts, result, labels, path):
    """Segments and labels, drawn on the image."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from skimage.segmentation import mark_boundaries

    figure, axes = pyplot.subplots(1, 3, figsize=(12, 3))
    pictures = {
        "superpixels": mark_boundaries(parts["image"], parts["region"]),
        f"{result.subsets} segments": mark_boundaries(parts["image"], result.labels[parts["region"]], mode="thick"),
        "binary CRF": parts["image"]
        * np.where(labels == np.bincount(labels).argmax(), 1.0, 0.3)[parts["region"]][..., None]
        / 255,
    }
    for axis, (title, picture) in zip(axes, pictures.items(), strict=True):
        axis.imshow(picture)
        axis.set_title(title)
        axis.axis("off")
    figure.savefig(path, dpi=80, bbox_inches="tight")
    pyplot.close(figure)


def study(quick=False, figure=None):
    """The rows of the table of partitions, and what the table of the CRF shows."""
    parts = superpixels(100 if quick else 600, 4 if quick else 1)
    rows = []
    for threshold in THRESHOLDS[1:2] if quick else THRESHOLDS:
        start = time.perf_counter()
        result = segment(parts, threshold)
        rows.append({"threshold": threshold, "result": result, "seconds": time.perf_counter() - start})
    model, before, labels = label(parts)
    if figure is not None:
        draw(parts, rows[len(rows) // 2]["result"], labels.labels, figure)
    return parts, rows, {"model": model, "alone": before, "result": labels}


def main(argv=None):
    """Print the tables in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="100 superpixels of a small image, one threshold")
    parser.add_argument("--figure", metavar="PNG")
    args = parser.parse_args(argv)
    parts, rows, crf = study(args.quick, args.figure)
    print("| threshold | superpixels | boundaries | segments | cost | lower bound | gap | status | seconds |")
    print("|---" * 9 + "|")
    for row in rows:
        r = row["result"]
        print(f"| {row['threshold']:g} | {len(parts['means'])} | {len(parts['pairs'])} | {r.subsets} | {r.cost:.1f} "
              f"| {r.lower_bound:.1f} | {100 * r.gap:.3f}% | {r.status} | {row['seconds']:.1f} |")  # fmt: skip
    r = crf["result"]
    print("\n| binary CRF | energy |\n|---|---|")
    print(f"| each superpixel alone | {crf['alone']:.2f} |\n| after {r.iterations} flips | {r.cost:.2f} |")


if __name__ == "__main__":
    main()
