"""`graphpart solve` for pairs in Parquet files that workers solve in parts (see graphpart.distributed)."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from graphpart.cli import demands
from graphpart.cli.arguments import whole
from graphpart.cli.console import INTERRUPTED, emit, emit_json
from graphpart.errors import InvalidOption, MissingDependency
from graphpart.result import Status

__all__ = ["add_arguments", "run", "wanted"]

GIVEN = ("distributed", "workers", "memory_limit", "work_folder", "refine", "blocks")
SOLVING = ("method", "time_limit", "seed", "max_iterations", "target", "workers", "memory_limit", "refine", "blocks")
TAKEN = {
    *GIVEN, *SOLVING, *demands.NAMES, "files", "output", "left", "right", "cost", "options", "json", "quiet", "jobs",
    "run",
}  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments for problems in Parquet files."""
    group = parser.add_argument_group("problems larger than memory: Parquet files with a row for each pair")
    group.add_argument("--distributed", metavar="ADDRESS", help="scheduler of Dask, like tcp://host:8786")
    group.add_argument(
        "--workers", type=whole, metavar="INTEGER", help="processes on this machine; default: 2; few rows need none"
    )
    group.add_argument("--memory-limit", metavar="SIZE", help="of each worker, like 4GB, the default")
    group.add_argument(
        "--work-folder", metavar="PATH", help="work folder; if it has an earlier run of the same, that is continued"
    )
    group.add_argument("--blocks", metavar="PATH", help="Parquet of id, block: blocks of components that are too large")
    group.add_argument("--refine", type=whole, metavar="INTEGER", help="rounds of refinement at most; default: 3")


def wanted(args: argparse.Namespace) -> bool:
    """Whether the files are to be solved in parts."""
    return any(getattr(args, name) is not None for name in GIVEN)


def run(args: argparse.Namespace) -> int:
    """Solve all files as one problem."""
    for name, value in vars(args).items():
        if name not in TAKEN and value not in (None, False, 0):
            flag = name.replace("_", "-")
            scores = name in ("weight", "similarity", "probability")
            instead = "--cost, such as a column that gp.costs_from_probabilities makes," if scores else "none"
            raise InvalidOption(
                f"--{flag} is for problems in memory: expected {instead} with --workers or --distributed"
            )
    if args.distributed is not None and args.workers is not None:
        raise InvalidOption("--distributed and --workers are both given: expected one of them")
    if args.output is None and args.work_folder is None:
        raise InvalidOption("-o is missing: expected a folder for the labels")
    if args.output == "-":
        raise InvalidOption("-o - is standard output: expected a folder, for labels as Parquet files")
    from graphpart.distributed import solve

    keywords = {name: value for name in SOLVING if (value := getattr(args, name)) is not None}
    keywords |= {"output": args.output, "work_folder": args.work_folder, "progress": True}
    keywords["columns"] = (args.left or "u", args.right or "v", args.cost or "cost")
    given = demands.wanted(args)
    keywords |= {name: given.pop(name) for name in ("lifted", "connected") if name in given} | _groups(given)
    client = _client(args.distributed)
    try:
        result = solve(list(args.files), client=client, **keywords, **dict(args.options))
    finally:
        if client is not None:
            client.close()
    facts = result.summary()
    if args.json:
        emit_json({name.replace(" ", "_"): value for name, value in facts.items()})
    else:
        emit(f"{facts}\n")
    return INTERRUPTED if result.status is Status.INTERRUPTED else 0


def _groups(given: Mapping[str, Any]) -> dict[str, Any]:
    """The groups of elements that arguments name, as `distributed.solve` takes them."""
    other = {name: value for name, value in given.items() if name not in ("elements", "id", "groups", "group_costs")}
    if other:
        raise InvalidOption(f"--workers does not take {demands.flag(other)}: expected it without --workers")
    if "groups" not in given:
        return {}
    if len(given["groups"]) > 1:
        raise InvalidOption("--group is given more than once with --workers: expected one grouping")
    import pyarrow

    from graphpart.io.elements import read_elements

    names, (values,) = read_elements(given["elements"], given.get("id"), given["groups"])
    values = [None if value == "" else value for value in (values.tolist() if hasattr(values, "tolist") else values)]
    (cost,) = given.get("group_costs", [math.inf])
    return {"groups": pyarrow.table({"id": names, "group": values}), "group_cost": cost}


def _client(address: str | None) -> Any:
    if address is None:
        return None
    try:
        dask = import_module("distributed")
    except ImportError:
        raise MissingDependency("distributed", "distributed", "--distributed") from None
    try:
        return dask.Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise InvalidOption(f"--distributed {address}: no scheduler of Dask answers there ({error})") from None
