"""What answers of people are worth: F1 of joins after 20, 50 and 100 answers, by three ways to choose questions.

Records are matched by `gp.match`, as a user would do it: generated people, and the real tables of records.py. Then ten
questions at a time are answered from the truth, with or without errors. The ways to choose:

* questions: `gp.questions`;
* half: the pairs whose scores are nearest to one half, as uncertainty sampling takes them (Lewis & Gale 1994);
* random: pairs at random among the candidates.

Answers are required and the problem is solved again, or weights are also learned from them (`Matches.learned`). With
errors, each answer is wrong with this probability, and is taken as evidence.

    python benchmarks/questions.py --seeds 3 --csv docs/benchmarks/questions.csv

It needs splink. Rows are written as soon as they are known.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from real import INSTANCES
from records import Case, real

import graphpart as gp

COLUMNS = ["given", "surname", "birth", "street", "city", "postcode", "phone", "email"]
COUNTS = (0, 20, 50, 100)
BATCH = 10
METHOD = "kernighan-lin-pairs"
Pairs = list[tuple[int, int]]


def by_questions(r: Any, said: pd.DataFrame, _: np.random.Generator) -> pd.DataFrame:
    """The most valuable questions, with their decisions and chances for the next ones."""
    known = set(zip(said["left"], said["right"], strict=True))
    table = gp.questions(r.problem, r, BATCH, answers=said, library="pandas")
    fresh = [pair not in known and pair[::-1] not in known for pair in zip(table["left"], table["right"], strict=True)]
    return table[fresh][:BATCH].reindex(columns=["left", "right", "decision", "chance", "about"])


def by_half(r: Any, said: pd.DataFrame, _: np.random.Generator) -> pd.DataFrame:
    """The pairs whose probability is nearest to one half, without those that follow from required answers."""
    return open_pairs(r, said, lambda cost: np.argsort(np.abs(cost), kind="stable"))


def by_chance(r: Any, said: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Candidates at random."""
    return open_pairs(r, said, lambda cost: rng.permutation(len(cost)))


def open_pairs(r: Any, said: pd.DataFrame, order: Any) -> pd.DataFrame:
    """The first pairs in an order that are neither answered nor required."""
    p = r.problem
    u, v, cost = p.pairs()
    classes = p._must_join_classes()
    known = {frozenset(pair) for pair in zip(said["left"], said["right"], strict=True)}
    some = np.flatnonzero((cost < np.inf) & (classes[u] != classes[v]))
    some = some[order(cost[some])][: BATCH + len(known)]
    pairs = [(p.nodes[a], p.nodes[b]) for a, b in zip(u[some].tolist(), v[some].tolist(), strict=True)]
    pairs = [pair for pair in pairs if frozenset(pair) not in known][:BATCH]
    return pd.DataFrame(pairs, columns=["left", "right"]).assign(decision="", chance=np.nan, about="pair")


WAYS = {"questions": by_questions, "half": by_half, "random": by_chance}
RUNS = [  # errors, what is done with answers, questions
    *((error, "learned", way) for error in (0.0, 0.05) for way in WAYS),
    (0.0, "required", "questions"),
]


def cases(seeds: int) -> Iterator[Case]:
    """Real tables, with one record per source where there are sources, and generated people."""
    if (INSTANCES / "records").is_dir():
        for name, *table, source, truth in real(INSTANCES / "records"):
            if source is not None or name == "citations":
                yield name, *table, source, truth
    for seed in range(seeds):
        columns, person = gp.generate.person_records(2000, seed=seed)
        yield "people", pd.DataFrame(columns), COLUMNS, None, person


def simulate(match: Any, truth: Any, way: str, error: float, taken: str, seed: int) -> dict[int, float]:
    """F1 after each number of answers."""
    rng = np.random.default_rng(seed)
    place = {name: k for k, name in enumerate(match.nodes)}
    r = match
    found = {0: gp.metrics.compare(truth, r.labels).joins_f1}
    said = pd.DataFrame({"left": [], "right": [], "decision": [], "chance": [], "answer": []})
    while len(said) < COUNTS[-1]:
        asked = WAYS[way](r, said, rng)
        same = [truth[place[a]] == truth[place[b]] for a, b in zip(asked["left"], asked["right"], strict=True)]
        same = np.array(same) != (rng.random(len(same)) < error)
        asked = asked.assign(answer=np.where(same, "together", "apart"))
        said = asked if said.empty else pd.concat([said, asked], ignore_index=True)
        if taken == "learned":
            r = match.learned(said, error=error, method=METHOD)
        else:
            r = gp.solve(match.problem, METHOD, initial=r, answers=said)
        found[len(said)] = gp.metrics.compare(truth, r.labels).joins_f1
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--csv", type=Path)
    args = parser.parse_args()
    scores: dict[tuple[str, float, str, str], list[list[float]]] = {}
    for k, (name, frame, on, source, truth) in enumerate(cases(args.seeds)):
        match = gp.match(frame.reset_index(drop=True), on=on, source=source)
        for error, taken, way in RUNS:
            found = simulate(match, np.asarray(truth), way, error, taken, k)
            scores.setdefault((name, error, taken, way), []).append([found[count] for count in COUNTS])
            print(name, error, taken, way, [round(found[count], 4) for count in COUNTS], flush=True)
            if args.csv:
                write(scores, args.csv)


def write(scores: dict[tuple[str, float, str, str], list[list[float]]], path: Path) -> None:
    """Write the means over tables of one name."""
    rows = [
        {"records": name, "errors": f"{100 * error:g}%", "answers": taken, "questions": way, "tables": len(found)}
        | {f"F1 after {count}": f"{mean:.3f}" for count, mean in zip(COUNTS, np.mean(found, axis=0), strict=True)}
        for (name, error, taken, way), found in scores.items()
    ]
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
