"""Restore a noisy image: a binary picture with flipped pixels, by ICM and to the optimum of an Ising prior.

The factor graph has a variable for each pixel. A label costs the negative log-probability of what is seen at the pixel
(Geman & Geman 1984), and different labels of neighbours cost a constant. Iterated conditional modes (Besag 1986), from
what is seen, ends in a local optimum; one minimum cut is the global one, and the flow proves it (Greig, Porteous &
Seheult 1989). On a picture of 24 x 32 pixels, the integer program over the local polytope has to agree.

    python examples/restore_image.py [--quick] [--figure restored.png] [--noise 0.2] [--smoothness 0.6] [--seed 1]
"""

from __future__ import annotations

import argparse
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
    cost, ilp = check(args.noise, args.smoothness, args.seed, args.solver)
    print(f"\n24 x 32 pixels: graph cut {cost:.6f}, integer program {ilp.cost:.6f} ({ilp.status}), {ilp.seconds:.2f} s")


if __name__ == "__main__":
    main()
