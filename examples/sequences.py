"""Sequences: dates written by hand, an image of a digit for each place, read with and without a model of dates.

The images are those of scikit-learn (Alpaydin & Kaynak 1998), half of them for learning, half for testing, blurred by
noise; the dates, DDMMYYYY from 1950 to 2029, are drawn by a seed. The images are read one by one (logistic regression),
and as chains: by a conditional random field of sklearn-crfsuite, if it is installed, by the same model as `ChainCRF`,
and by `ConditionalRandomField` with a table of neighbouring digits for each place.

    python examples/sequences.py [--quick] [--figure sequences.png] [--noise 4] [--seeds 5]
"""

from __future__ import annotations

import argparse
import time
from datetime import date, timedelta
from pathlib import Path

import numpy as np

import graphpart as gp

FIRST, LAST = date(1950, 1, 1), date(2029, 12, 31)
PLACES = 8
SIGMA = 1.0  # of the prior of each parameter, for all models


def spell(count, images, digits, noise, rng):
    """(images of dates, shape (count, 8, 64) with values about 0 to 1, their digits, shape (count, 8))."""
    days = rng.integers((LAST - FIRST).days + 1, size=count)
    texts = [(FIRST + timedelta(days=int(k))).strftime("%d%m%Y") for k in days]
    y = np.array([[int(c) for c in text] for text in texts])
    pools = [np.flatnonzero(digits == d) for d in range(10)]
    chosen = np.array([[rng.choice(pools[d]) for d in row] for row in y])
    return (images[chosen] + rng.normal(scale=noise, size=(count, PLACES, 64))) / 16.0, y


def with_places(X):
    """Pixels, and which of the eight places it is."""
    places = np.broadcast_to(np.eye(PLACES), (len(X), PLACES, PLACES))
    return np.concatenate([X, places], axis=2)


def by_place(X):
    """Chains whose tables of neighbouring digits are those of their place."""
    return [gp.learn.chain(x, np.eye(PLACES - 1)) for x in X]


def independent(X, y):
    """Logistic regression of single images, with the same prior."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=SIGMA**2, max_iter=1000).fit(X.reshape(-1, X.shape[2]), y.ravel())
    return lambda new: model.predict(new.reshape(-1, new.shape[2])).reshape(new.shape[:2])


def chain_crf(X, y):
    """`ChainCRF`."""
    model = gp.estimators.ChainCRF(SIGMA, intercept=False).fit(list(X), list(y))
    return lambda new: np.array(model.predict(list(new)))


def crfsuite(X, y):
    """The same model by sklearn-crfsuite; it would drop attributes whose sum is negative without `min_freq`."""
    from sklearn_crfsuite import CRF

    def items(X):
        return [[{str(v): float(a) for v, a in enumerate(row)} for row in x] for x in X]

    model = CRF(
        c1=0.0, c2=0.5 / SIGMA**2, max_iterations=1000, min_freq=-1e12, all_possible_states=True,
        all_possible_transitions=True,
    )  # fmt: skip
    model.fit(items(X), [[str(d) for d in row] for row in y])
    return lambda new: np.array([[int(d) for d in row] for row in model.predict(items(new))])


def place_crf(X, y):
    """Tables by place."""
    model = gp.learn.ConditionalRandomField(sigma=SIGMA).fit(by_place(X), list(y))
    return lambda new: np.array(model.predict(by_place(new)))


MODELS = {
    "single images": (independent, lambda X: X),
    "single images and places": (independent, with_places),
    "sklearn-crfsuite": (crfsuite, with_places),
    "ChainCRF": (chain_crf, with_places),
    "tables by place": (place_crf, with_places),
}


def is_date(row):
    """Whether eight digits are a date of the language."""
    day, month, year = (int("".join(map(str, part))) for part in (row[:2], row[2:4], row[4:]))
    try:
        return FIRST <= date(year, month, day) <= LAST
    except ValueError:
        return False


def read(count, noise, seed):
    """Rows (name, share of wrong digits, of wrong dates, of what is no date, seconds to learn), and examples."""
    from sklearn.datasets import load_digits

    images, digits = load_digits(return_X_y=True)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(images))
    half = len(order) // 2
    seen, unseen = order[:half], order[half:]
    X, y = spell(count, images[seen], digits[seen], noise, rng)
    new, truth = spell(count, images[unseen], digits[unseen], noise, rng)
    rows, answers = [], {}
    for name, (learn, attributes) in MODELS.items():
        if name == "sklearn-crfsuite":
            try:
                import sklearn_crfsuite  # noqa: F401
            except ImportError:
                continue
        began = time.perf_counter()
        predict = learn(attributes(X), y)
        seconds = time.perf_counter() - began
        found = answers[name] = predict(attributes(new))
        wrong = found != truth
        no_date = float(np.mean([not is_date(row) for row in found]))
        rows.append((name, float(wrong.mean()), float(wrong.any(axis=1).mean()), no_date, seconds))
    return rows, (new, truth, answers)


def draw(new, truth, answers, path, count=6):
    """Dates that single images get wrong, as they are seen and as they are read."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise gp.MissingDependency("matplotlib", "plot", "the figure") from None
    alone, chain = answers["single images"], answers["ChainCRF"]
    shown = np.flatnonzero((alone != truth).any(axis=1))[:count]
    figure = Figure(figsize=(8, 1.25 * len(shown)), layout="constrained")
    for axis, k in zip(np.atleast_1d(figure.subplots(len(shown), 1)), shown, strict=True):
        axis.imshow(np.hstack(new[k].reshape(PLACES, 8, 8)), cmap="gray_r", interpolation="nearest")
        for p in range(PLACES):
            for row, labels in ((0, alone), (1, chain)):
                right = labels[k, p] == truth[k, p]
                style = {"color": "black"} if right else {"color": "red", "fontweight": "bold"}
                axis.text(
                    8 * p + 3.5, 9.2 + 2.4 * row, str(labels[k, p]), ha="center", va="center", fontsize=9, **style
                )
        for row, name in ((0, "single"), (1, "chain")):
            axis.text(-2, 9.2 + 2.4 * row, name, ha="right", va="center", fontsize=8)
        axis.set_ylim(12.8, -0.5)
        axis.set_xlim(-9, 63.5)
        axis.set_axis_off()
    figure.savefig(path, dpi=110)


def study(quick=False, figure=None, noise=4.0, seeds=5):
    """Rows for all seeds: (name, means of the shares, and the median of seconds)."""
    runs = [read(100 if quick else 500, noise, seed) for seed in range(1 if quick else seeds)]
    if figure is not None:
        draw(*runs[0][1], Path(figure))
    table = []
    for k, (name, *_) in enumerate(runs[0][0]):
        values = np.array([rows[k][1:] for rows, _ in runs])
        table.append((name, *values[:, :3].mean(axis=0).tolist(), float(np.median(values[:, 3]))))
    return table


def main(argv=None):
    """Print the table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="100 dates and one seed in place of 500 and five")
    parser.add_argument("--figure", metavar="PNG", help="where to write the picture")
    parser.add_argument("--noise", type=float, default=4.0, help="added to pixels of 0 to 16; default: 4")
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_args(argv)
    print("| read by | wrong digits | wrong dates | read as no date | seconds to learn |\n|---|---|---|---|---|")
    for name, digits, dates, no_date, seconds in study(args.quick, args.figure, args.noise, args.seeds):
        print(f"| {name} | {digits:.2%} | {dates:.2%} | {no_date:.2%} | {seconds:.2f} |")


if __name__ == "__main__":
    main()
