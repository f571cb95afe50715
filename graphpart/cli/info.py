"""Describe instances: size, density or domains, range of costs, requirements, connected components.

Density is the share of all pairs that have a cost other than 0. Attractive pairs have a negative cost, repulsive ones
a positive cost. Components are those of the graph of all pairs that have a cost or a requirement. Where clusters have
to be connected, the number of lifted pairs is in place of the storage, and components are those of base pairs.

For a factor graph: the numbers of variables and of factors, the number of factors of each arity (1:5 means five of
arity 1), the size of the largest domain, the numbers of entries of all tables and of forbidden entries, whether the
factor graph is acyclic, and its components.
"""

from __future__ import annotations

import argparse

from graphpart.cli import arguments, demands
from graphpart.cli.console import Batch, emit_json
from graphpart.cli.display import Table, percent
from graphpart.cli.files import read_problem
from graphpart.cli.kinds import describe, is_factor_graph, is_labeled
from graphpart.folders import instances_in

NAME = "info"
HELP = "look at instances: size, density, costs, components"
COLUMNS = [
    "elements", "pairs", "density", "storage:", "lowest cost.", "highest cost.", "attractive", "repulsive",
    "must join", "must cut", "components", "largest",
]  # fmt: skip
FACTOR_COLUMNS = [
    "variables", "factors", "arities:", "largest domain", "table entries", "forbidden", "lowest cost.", "highest cost.",
    "acyclic", "components", "largest",
]  # fmt: skip
LABELED_COLUMNS = [
    "elements",
    "classes",
    "pairs",
    "forbidden",
    "lowest cost.",
    "highest cost.",
    "components",
    "largest",
]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    arguments.add_files(parser)
    arguments.add_json(parser)
    arguments.add_missing(parser)
    demands.add_arguments(parser)
    arguments.add_columns(parser)


def run(args: argparse.Namespace) -> int:
    """Describe each file; if one fails, the others are described all the same."""
    args.files = instances_in(args.files)
    columns, demanded = arguments.columns_of(args), demands.wanted(args)
    batch = Batch()
    with Table(args.files, COLUMNS) as table:
        for file in args.files:
            with batch.guard(file):
                problem = read_problem(file, args.format, columns, args.missing, demanded)
                facts = describe(problem)
                if args.json:
                    emit_json({"file": file, **facts})
                    continue
                row = {name.replace("_", " "): value for name, value in facts.items()}
                row |= {"largest": facts["largest_component"]}
                if is_factor_graph(problem):
                    arities = " ".join(f"{k}:{count}" for k, count in facts["arities"].items())
                    row |= {"variables": facts["n"], "arities": arities or "-"}
                    table.add(file, row | {"acyclic": "yes" if facts["acyclic"] else "no"}, FACTOR_COLUMNS)
                elif is_labeled(problem):
                    table.add(file, row | {"elements": facts["n"]}, LABELED_COLUMNS)
                else:
                    if "lifted" in facts:
                        row["storage"] = f"{facts['lifted']} lifted"
                    table.add(file, row | {"elements": facts["n"], "density": percent(facts["density"])}, COLUMNS)
    return batch.status
