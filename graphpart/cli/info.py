"""Look at instances: size, density, range of costs, requirements, connected components.

Density is the share of all pairs that have a cost other than 0. Attractive pairs have a negative cost, repulsive ones
a positive cost. Components are those of the graph of all pairs that have a cost or a requirement.
"""

from __future__ import annotations

import argparse

from graphpart.cli import arguments
from graphpart.cli.console import Batch, emit_json
from graphpart.cli.display import Table, percent
from graphpart.cli.files import read_problem
from graphpart.cli.kinds import describe

NAME = "info"
HELP = "look at instances: size, density, costs, components"
COLUMNS = [
    "elements", "pairs", "density", "storage:", "lowest cost.", "highest cost.", "attractive", "repulsive",
    "must join", "must cut", "components", "largest",
]  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    arguments.add_files(parser)
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Describe each file; one that fails does not lose the others."""
    batch = Batch()
    with Table(args.files, COLUMNS) as table:
        for file in args.files:
            with batch.guard(file):
                facts = describe(read_problem(file, args.format))
                if args.json:
                    emit_json({"file": file, **facts})
                else:
                    row = {name.replace("_", " "): value for name, value in facts.items()}
                    row |= {"elements": facts["n"], "largest": facts["largest_component"]}
                    table.add(file, row | {"density": percent(facts["density"])})
    return batch.status
