"""Segmentation: superpixels of a photograph, partitioned by costs of their boundaries; and the same image as a CRF.

The image is one bundled with scikit-image. Its superpixels are partitioned by costs of the boundaries between them, in
two ways: set by hand, contrast minus a threshold, times the length of the boundary; and learned, by logistic regression
on attributes of boundaries, times the length. Rough polygons and ellipses, drawn by hand on one half of the image, mark
the objects from which the costs are learned. The partition of the other half is compared with the marks there. For both
kinds of costs, the threshold is the one with the best partition on the first half. The CRF labels each superpixel as
one of the two components of a Gaussian mixture of colors. Different labels cost a price for each unit of boundary,
which falls with contrast. The CRF is solved by greedy flips, and to the optimum.

    pip install 'graphpart[images]'
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

OFFSETS = tuple(np.arange(-6.0, 1.5, 0.5).tolist())  # of learned costs, in bits
CONTRASTS = tuple(np.arange(4.0, 32.0, 2.0).tolist())

# Things, each drawn over those before it: the corners (x, y) of a polygon, or center and radii of an ellipse.
THINGS = [
    [(0, 0), (150, 0), (0, 100)],  # dark corner
    [279, 225, 201, 163],  # saucer
    [(172, 110), (182, 190), (205, 235), (197, 290), (215, 308), (240, 300), (265, 280), (330, 278), (370, 230),
     (408, 110)],  # cup
    [(395, 65), (425, 75), (390, 190), (380, 240), (405, 270), (400, 305), (360, 325), (330, 305), (325, 270),
     (370, 225)],  # spoon
    [290, 112, 117, 95],  # rim
    [285, 143, 82, 50],  # coffee
]  # fmt: skip


def marks(shape):
    """The number of the thing that each pixel is marked as."""
    from skimage import draw

    thing = np.zeros(shape, int)
    for k, mark in enumerate(THINGS, 1):
        if np.ndim(mark) == 1:
            x, y, width, height = mark
            inside = draw.ellipse(y, x, height, width, shape)
        else:
            x, y = np.transpose(mark)
            inside = draw.polygon(y, x, shape)
        thing[inside] = k
    return thing


def superpixels(count, step):
    """The image (every step-th pixel), its superpixels, their mean colors, marks and halves, and their boundaries."""
    try:
        from skimage import color, data, filters, segmentation
    except ImportError:
        raise gp.MissingDependency("scikit-image", "images", "this study") from None
    image = data.coffee()
    thing = marks(image.shape[:2])[::step, ::step]
    image = image[::step, ::step]
    lab = color.rgb2lab(image)
    region = segmentation.slic(image, count, compactness=20, start_label=0)
    region = np.unique(region, return_inverse=True)[1].reshape(region.shape)
    n = region.max() + 1
    size = np.bincount(region.ravel())
    shares = np.zeros((n, len(THINGS) + 1))
    np.add.at(shares, (region.ravel(), thing.ravel()), 1)
    shares /= size[:, None]
    things = np.where(shares.max(axis=1) > 0.8, shares.argmax(axis=1), -1)  # -1 where the marks do not tell
    left = np.bincount(region.ravel(), np.indices(region.shape)[1].ravel()) / size < region.shape[1] / 2
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
    gap = np.abs(means[pairs[:, 0]] - means[pairs[:, 1]])
    difference = np.linalg.norm(gap, axis=1)
    attributes = np.column_stack([gap, difference, np.sqrt(difference), strength, np.sqrt(strength)])
    return {"image": image, "region": region, "means": means, "pairs": pairs, "length": length,
            "things": things, "left": left, "attributes": attributes,
            "contrast": 0.5 * (difference + strength)}  # fmt: skip


def segment(parts, contrast_or_costs, threshold):
    """The partition of superpixels with the smallest cost."""
    costs = parts["length"] * (contrast_or_costs - threshold)
    problem = gp.SetPartition.from_pairs(len(parts["means"]), parts["pairs"], costs)
    return gp.solve(problem, time_limit=5)


def from_half(parts, half):
    """Learned and hand-set costs with the threshold that suits the marks of one half, compared with the other marks."""
    pairs, things = parts["pairs"], parts["things"]
    known, truth = np.where(half, things, -1), np.where(half, -1, things)
    marked = (known[pairs] >= 0).all(axis=1)
    same = known[pairs[:, 0]] == known[pairs[:, 1]]
    model = gp.learn.LogisticRegression(3.0, intercept=True)
    model.fit(parts["attributes"][marked], same[marked], parts["length"][marked] / parts["length"].mean())
    rows = []
    for name, values, thresholds in (
        ("learned", model.costs(parts["attributes"]), OFFSETS),
        ("by hand", parts["contrast"], CONTRASTS),
    ):
        results = {t: segment(parts, values, t) for t in thresholds}
        best = max(thresholds, key=lambda t: gp.metrics.adjusted_rand_index(known, results[t].labels))
        rows.append({"costs": name, "threshold": best, "result": results[best]})
        rows[-1]["comparison"] = gp.metrics.compare(truth, results[best].labels)
    return rows


def label(parts, price=1.5):
    """The CRF, its energy if each superpixel has the best label by itself, after greedy flips, and the least one."""
    mixture = GaussianMixture(2, random_state=0).fit(parts["means"])
    unary = gp.learn.unary_costs(mixture, parts["means"])
    weights = price * parts["length"] / parts["length"].mean() * np.exp(-parts["contrast"] / 10)
    graph = nx.Graph()
    graph.add_nodes_from((i, {"unary": row}) for i, row in enumerate(unary.tolist()))
    graph.add_weighted_edges_from((u, v, w) for (u, v), w in zip(parts["pairs"].tolist(), weights, strict=True))
    model = gp.FactorGraph.potts(graph)
    alone = unary.argmin(axis=1)
    flips = gp.crf.icm(model, initial=alone)
    return {"model": model, "alone": model.evaluate(alone), "flips": flips,
            "best": gp.solve(model, "ilp", initial=flips, time_limit=60)}  # fmt: skip


def draw(parts, results, crf, path):
    """Segments and labels, drawn on the image."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from skimage.segmentation import mark_boundaries

    region = parts["region"]
    pictures = {"superpixels": mark_boundaries(parts["image"], region)}
    for name, result in results.items():
        picture = mark_boundaries(parts["image"], result.labels[region], mode="thick")
        pictures[f"{name}: {result.n_clusters} segments"] = picture
    first = np.bincount(crf["best"].labels).argmax()
    for name in ("flips", "best"):
        visible = np.where(crf[name].labels == first, 0.2, 1.0)[region][..., None]
        pictures[f"CRF, {name}: energy {crf[name].cost:.1f}"] = 1 - visible * (1 - parts["image"] / 255)
    figure, axes = pyplot.subplots(2, 3, figsize=(12, 5.8))
    axes.flat[-1].axis("off")
    for axis, (title, picture) in zip(axes.flat, pictures.items(), strict=False):
        axis.imshow(picture)
        axis.set_title(title)
        axis.axis("off")
    figure.savefig(path, dpi=70, bbox_inches="tight")
    pyplot.close(figure)


def study(quick=False, figure=None):
    """The rows of the tables of hand-set and of learned costs, and what the table of the CRF shows."""
    parts = superpixels(100 if quick else 600, 4 if quick else 1)
    rows = []
    for threshold in THRESHOLDS[1:2] if quick else THRESHOLDS:
        start = time.perf_counter()
        result = segment(parts, parts["contrast"], threshold)
        rows.append({"threshold": threshold, "result": result, "seconds": time.perf_counter() - start})
    learned = {"left": from_half(parts, parts["left"]), "right": from_half(parts, ~parts["left"])}
    crf = label(parts)
    if figure is not None:
        draw(parts, {row["costs"]: row["result"] for row in learned["left"]}, crf, figure)
    return parts, rows, learned, crf


def main(argv=None):
    """Print the tables in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="100 superpixels of a small image, one threshold")
    parser.add_argument("--figure", metavar="PNG")
    args = parser.parse_args(argv)
    parts, rows, learned, crf = study(args.quick, args.figure)
    print("| threshold | superpixels | boundaries | segments | cost | lower bound | gap | status | seconds |")
    print("|---" * 9 + "|")
    for row in rows:
        r = row["result"]
        print(f"| {row['threshold']:g} | {len(parts['means'])} | {len(parts['pairs'])} | {r.n_clusters} | {r.cost:.1f} "
              f"| {r.lower_bound:.1f} | {100 * r.gap:.3f}% | {r.status} | {row['seconds']:.1f} |")  # fmt: skip
    head = [
        "marks on",
        "costs",
        "threshold",
        "segments",
        "status",
        "other half: adjusted Rand index",
        "false cuts, joins",
    ]
    print("\n|", " | ".join(head), "|")
    print("|---" * 7 + "|")
    for half, by in learned.items():
        for row in by:
            r, c = row["result"], row["comparison"]
            print(f"| {half} | {row['costs']} | {row['threshold']:g} | {r.n_clusters} | {r.status} "
                  f"| {c.adjusted_rand_index:.3f} "
                  f"| {c.false_cuts_information:.2f}, {c.false_joins_information:.2f} |")  # fmt: skip
    print("\n| binary CRF | energy | lower bound | seconds |\n|---|---|---|---|")
    flips, best = crf["flips"], crf["best"]
    print(f"| each superpixel alone | {crf['alone']:.2f} | | |")
    print(f"| after {flips.iterations} flips | {flips.cost:.2f} | | {flips.seconds:.3f} |")
    print(f"| {best.status} | {best.cost:.2f} | {best.lower_bound:.2f} | {best.seconds:.3f} |")


if __name__ == "__main__":
    main()
