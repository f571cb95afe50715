"""Restore a noisy image: a binary picture with flipped pixels, by ICM and to the optimum of an Ising prior.

The factor graph has a variable for each pixel. A label costs the negative log-probability of the noisy pixel given the
label (Geman & Geman 1984), and different labels of neighbours cost a constant. Iterated conditional modes (Besag 1986),
starting from the noisy picture, ends in a local optimum. One minimum cut finds the global optimum, and the flow proves
it (Greig, Porteous & Seheult 1989). On a picture of 24 x 32 pixels, the integer program over the local polytope has to
give the same energy.

Costs can also be learned. From eight other pictures, with and without noise, `GridCRF` learns the costs of the labels
of a pixel, given the noisy pixel or a window around it, and the cost of different labels of neighbours. Six pictures,
the first of which is the one above, are restored with learned costs, with the prior set by hand, and with the constant
that is best on the eight pictures.

    python examples/restore_image.py [--quick] [--figure restored.png] [--learned-figure learned.png]
                                     [--noise 0.2] [--smoothness 0.6] [--seed 1]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import graphpart as gp


def seen_in(f):
    """What is seen at each pixel: the label that costs less."""
    unary = np.diff(f.scope_start) == 1
    tables = f.tables[f.table_start[:-1][unary][:, None] + np.arange(2)]
    labels = np.empty(f.n, np.int32)
    labels[f.scope[f.scope_start[:-1][unary]]] = tables.argmin(axis=1)
    return labels


def restore(height, width, noise, smoothness, seed):
    """The factor graph, and a row (name, labels, energy, lower bound, share of wrong pixels, seconds) per picture."""
    f, truth = gp.generate.noisy_image(height, width, noise, smoothness, seed=seed)
    seen = seen_in(f)
    icm = gp.crf.icm(f, initial=seen)
    cut = gp.solve(f, method="graph-cut")

    def row(name, labels, bound=None, seconds=None):
        return name, labels, f.evaluate(labels), bound, float((labels != truth).mean()), seconds

    rows = [row("noisy", seen), row("after ICM", icm.labels, None, icm.seconds)]
    rows += [row("optimum", cut.labels, cut.lower_bound, cut.seconds), row("without noise", truth)]
    return f, rows


def check(noise, smoothness, seed, solver=None, time_limit=120.0):
    """(energy by graph cut, result of the integer program) on a picture of 24 x 32 pixels."""
    f, _ = gp.generate.noisy_image(24, 32, noise, smoothness, seed=seed)
    options = {} if solver is None else {"solver": solver}
    return gp.solve(f, method="graph-cut").cost, gp.crf.ilp(f, time_limit=time_limit, **options)


def pictures(height, width, noise, smoothness, seeds):
    """(factor graph by hand, what is seen, what is true) of each seed, the latter two as pictures."""
    out = []
    for seed in seeds:
        f, truth = gp.generate.noisy_image(height, width, noise, smoothness, seed=seed)
        out.append((f, seen_in(f).reshape(height, width), truth.reshape(height, width)))
    return out


def window(seen, radius):
    """What is seen around each pixel, -1 or 1, and 0 beyond the border: shape (height, width, (2 radius + 1)^2)."""
    height, width = seen.shape
    padded = np.pad(2.0 * seen - 1.0, radius)
    size = range(2 * radius + 1)
    return np.stack([padded[i : i + height, j : j + width] for i in size for j in size], axis=2)


def learn(height, width, noise, smoothness, seed, quick=False):
    """Rows (name, shares of wrong pixels of the pictures to restore, seconds to learn), and the pictures restored."""
    given = pictures(height, width, noise, smoothness, range(seed + 100, seed + (102 if quick else 108)))
    new = pictures(height, width, noise, smoothness, range(seed, seed + (2 if quick else 6)))

    def by_constant(constant, some):
        """Pictures of least energy where different neighbours cost so much."""
        restored = []
        for _, seen, _ in some:
            unary = np.where(seen.ravel()[:, None] == np.arange(2), -np.log(1 - noise), -np.log(noise))
            edges = gp.learn.grid(seen).pairs
            differ = np.broadcast_to(constant * (1 - np.eye(2)), (len(edges), 2, 2))
            f = gp.FactorGraph.from_arrays([2] * seen.size, [(np.arange(seen.size)[:, None], unary), (edges, differ)])
            restored.append(gp.crf.graph_cut(f).labels.reshape(seen.shape))
        return restored

    def wrong(restored, some):
        return [float((labels != truth).mean()) for labels, (*_, truth) in zip(restored, some, strict=True)]

    found = {f"by hand, {smoothness:g}": (by_constant(smoothness, new), 0.0)}
    began = time.perf_counter()
    constants = (0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)
    best = min(constants, key=lambda c: sum(wrong(by_constant(c, given), given)))
    seconds = time.perf_counter() - began
    found[f"one constant, tuned: {best:g}"] = (by_constant(best, new), seconds)
    for radius in (0, 1, 2):
        for training in ("pseudolikelihood", "max-margin"):
            if training == "max-margin" and (radius > 1 or quick):
                continue
            options = {"sigma": 0.1, "tol": 0.02, "random_state": 0} if training == "max-margin" else {}
            X, y = [window(seen, radius) for _, seen, _ in given], [truth for *_, truth in given]
            began = time.perf_counter()
            crf = gp.estimators.GridCRF(training=training, **options).fit(X, y)
            seconds = time.perf_counter() - began
            side = 2 * radius + 1
            found[f"{training}, {side} x {side} pixels"] = (
                crf.predict([window(seen, radius) for _, seen, _ in new]),
                seconds,
            )
    rows = [(name, wrong(restored, new), seconds) for name, (restored, seconds) in found.items()]
    shown = {"as seen": new[0][1]} | {name: restored[0] for name, (restored, _) in found.items()} | {"true": new[0][2]}
    return rows, shown


def draw_learned(shown, path):
    """Pictures by name, three in a row."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise gp.MissingDependency("matplotlib", "plot", "the figure") from None
    truth = shown["true"]
    rows = -(-len(shown) // 3)
    figure = Figure(figsize=(9, rows * (9 / 3 * truth.shape[0] / truth.shape[1] + 0.45)), layout="constrained")
    axes = figure.subplots(rows, 3).ravel()
    for axis in axes:
        axis.set_axis_off()
    for axis, (name, labels) in zip(axes, shown.items(), strict=False):
        axis.imshow(labels, cmap="gray_r", vmin=0, vmax=1, interpolation="nearest")
        axis.set_title(f"{name}\n{(labels != truth).mean():.2%} wrong", fontsize=9)
    figure.savefig(path, dpi=110)


def draw(rows, height, width, path):
    """The pictures side by side, with their energies."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise gp.MissingDependency("matplotlib", "plot", "the figure") from None
    figure = Figure(figsize=(3 * len(rows), 3 * height / width + 0.7), layout="constrained")
    for axis, (name, labels, energy, *_) in zip(figure.subplots(1, len(rows)), rows, strict=True):
        axis.imshow(labels.reshape(height, width), cmap="gray_r", vmin=0, vmax=1, interpolation="nearest")
        axis.set_title(f"{name}\nenergy {energy:.2f}")
        axis.set_axis_off()
    figure.savefig(path, dpi=110)


def study(quick=False, figure=None, noise=0.2, smoothness=0.6, seed=1):
    """Restore, and draw where a path is given."""
    height, width = (24, 32) if quick else (96, 128)
    f, rows = restore(height, width, noise, smoothness, seed)
    if figure is not None:
        draw(rows, height, width, Path(figure))
    return f, rows


def main(argv=None):
    """Print the table in Markdown, and what the integer program says."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="24 x 32 pixels in place of 96 x 128")
    parser.add_argument("--figure", metavar="PNG", help="where to write the pictures")
    parser.add_argument("--learned-figure", metavar="PNG", help="where to write those by learned costs")
    parser.add_argument("--noise", type=float, default=0.2, help="probability that a pixel is flipped; default: 0.2")
    parser.add_argument("--smoothness", type=float, default=0.6, help="cost of different neighbours; default: 0.6")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--solver", help="of the integer program, cbc or highs")
    args = parser.parse_args(argv)
    _, rows = study(args.quick, args.figure, args.noise, args.smoothness, args.seed)
    print("| picture | energy | lower bound | wrong pixels | seconds |\n|---|---|---|---|---|")
    for name, _, energy, bound, wrong, seconds in rows:
        shown = ["" if value is None else f"{value:.{k}f}" for value, k in ((bound, 2), (seconds, 3))]
        print(f"| {name} | {energy:.2f} | {shown[0]} | {wrong:.2%} | {shown[1]} |")
    height, width = (24, 32) if args.quick else (96, 128)
    rows, shown = learn(height, width, args.noise, args.smoothness, args.seed, args.quick)
    if args.learned_figure:
        draw_learned(shown, Path(args.learned_figure))
    print("\n| costs | wrong pixels, mean | each picture | seconds to learn |\n|---|---|---|---|")
    for name, wrong, seconds in rows:
        each = " ".join(f"{share:.2%}" for share in wrong)
        print(f"| {name} | {np.mean(wrong):.2%} | {each} | {seconds:.1f} |")
    cost, ilp = check(args.noise, args.smoothness, args.seed, args.solver)
    print(f"\n24 x 32 pixels: graph cut {cost:.6f}, integer program {ilp.cost:.6f} ({ilp.status}), {ilp.seconds:.2f} s")


if __name__ == "__main__":
    main()
