"""What answers of people are worth: F1 of joins after 20, 50 and 100 answers, by three ways to choose questions.

Records of generated people are matched by `gp.match`, as a user would do it. Then ten questions at a time are answered
from the truth, with or without errors, and the problem is solved again from the result before. The ways to choose:

* questions: `gp.questions`;
* half: the pairs whose scores are nearest to one half, as uncertainty sampling takes them (Lewis & Gale 1994);
* random: pairs at random among the candidates.

Answers are required, without the smallest set that contradicts, or taken as evidence. With errors, each answer is wrong
with this probability.

    python benchmarks/questions.py --seeds 3 --csv docs/benchmarks/questions.csv

writes the mean over seeds. It needs splink.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np
import pandas

import graphpart as gp

COLUMNS = ["given", "surname", "birth", "street", "city", "postcode", "phone", "email"]
COUNTS = (0, 20, 50, 100)
BATCH = 10
METHOD = "kernighan-lin-pairs"
Pairs = list[tuple[int, int]]


def by_questions(p: gp.SetPartition, r: Any, known: set[tuple[int, int]], said: Any, _: Any) -> Pairs:
    """The most valuable questions, with their decisions and chances for the next ones."""
    table = gp.questions(p, r, BATCH + len(known), answers=said, library="dict")
    pairs = [(min(a, b), max(a, b)) for a, b in zip(table["left"].tolist(), table["right"].tolist(), strict=True)]
    fresh = [k for k, pair in enumerate(pairs) if pair not in known][:BATCH]
    for name in ("decision", "chance"):
        said.setdefault(name, []).extend(table[name][fresh].tolist())
    return [pairs[k] for k in fresh]


def by_half(p: gp.SetPartition, r: Any, known: set[tuple[int, int]], _: Any, rng: np.random.Generator) -> Pairs:
    """The pairs whose probability is nearest to one half, without those that follow from required answers."""
    return open_pairs(p, known, lambda cost: np.argsort(np.abs(cost), kind="stable"))


def by_chance(p: gp.SetPartition, r: Any, known: set[tuple[int, int]], _: Any, rng: np.random.Generator) -> Pairs:
    """Candidates at random."""
    return open_pairs(p, known, lambda cost: rng.permutation(len(cost)))


def open_pairs(p: gp.SetPartition, known: set[tuple[int, int]], order: Any) -> Pairs:
    """The first pairs in an order that are neither answered nor required."""
    u, v, cost = p.pairs()
    classes = p._must_join_classes()
    some = np.flatnonzero((cost < np.inf) & (classes[u] != classes[v]))
    some = some[order(cost[some])][: BATCH + len(known)]
    return [pair for pair in zip(u[some].tolist(), v[some].tolist(), strict=True) if pair not in known][:BATCH]


WAYS = {"questions": by_questions, "half": by_half, "random": by_chance}
RUNS = [(error, "required", way) for error in (0.0, 0.05) for way in WAYS] + [(0.05, "evidence", "questions")]


def simulate(match: Any, person: Any, way: str, error: float, taken: str, seed: int) -> dict[int, float]:
    """F1 after each number of answers."""
    rng = np.random.default_rng(seed)
    p = match.problem
    r = gp.solve(p, METHOD, initial=match)
    found = {0: gp.metrics.compare(person, r.labels).joins_f1}
    said: dict[str, list[Any]] = {"left": [], "right": [], "answer": []}
    known: set[tuple[int, int]] = set()
    while len(known) < COUNTS[-1]:
        pairs = WAYS[way](r.problem, r, known, said, rng)
        for a, b in pairs:
            same = (person[a] == person[b]) != (rng.random() < error)
            for name, value in zip(("left", "right", "answer"), (a, b, "together" if same else "apart"), strict=True):
                said[name].append(value)
        known |= set(pairs)
        if taken == "required":
            dropped = set(gp.answers.contradictions(p, said, library="dict")["row"].tolist())
            kept = {name: [x for k, x in enumerate(values) if k not in dropped] for name, values in said.items()}
            r = gp.solve(p, METHOD, initial=r, answers=kept)
        else:
            r = gp.solve(p, METHOD, initial=r, answers=said, error=error)
        found[len(known)] = gp.metrics.compare(person, r.labels).joins_f1
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--csv", type=Path)
    args = parser.parse_args()
    scores: dict[tuple[float, str, str], list[list[float]]] = {}
    for seed in range(args.seeds):
        columns, person = gp.generate.person_records(args.records, seed=seed)
        match = gp.match(pandas.DataFrame(columns), on=COLUMNS)
        for error, taken, way in RUNS:
            found = simulate(match, person, way, error, taken, seed)
            scores.setdefault((error, taken, way), []).append([found[count] for count in COUNTS])
            print(seed, error, taken, way, [round(found[count], 4) for count in COUNTS], flush=True)
    rows = [
        {"errors": f"{100 * error:g}%", "answers": taken, "questions": way}
        | {f"F1 after {count}": f"{mean:.3f}" for count, mean in zip(COUNTS, np.mean(found, axis=0), strict=True)}
        for (error, taken, way), found in scores.items()
    ]
    for row in rows:
        print(row)
    if args.csv:
        with args.csv.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
