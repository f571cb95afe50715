"""Parts of the site that are made: the command line from its parser, tables from the files that benchmarks write."""

from __future__ import annotations

import argparse
import csv
import math
import re
import subprocess
import textwrap
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from sphinx.application import Sphinx

from graphpart.cli import build_parser

SHORT = 24  # characters of a cell that is a number
TALL = 25  # rows from which on a table has a height of its own
TUTORIAL = re.compile(r"(\]\((?:\.\./)?)gallery/(\w+)\.py\)")
PERCENT = re.compile(r"[-+]?\d+(\.\d+)?%")
PLAIN = re.compile(r"[-+]?\d+(\.\d+)?(e-?\d+)?")


class CommandLine(Directive):
    """``command-line``: a section for each command: what it does, how it is called, its arguments, its methods."""

    def run(self) -> list[nodes.Node]:
        parser = build_parser()
        (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
        return [self.section(name, command) for name, command in commands.choices.items()]

    def section(self, name: str, command: argparse.ArgumentParser) -> nodes.section:
        command.formatter_class = lambda prog: argparse.HelpFormatter(prog, width=80)
        usage = command.format_usage().removeprefix("usage: ")
        section = nodes.section(ids=[f"graphpart-{name}"], names=[f"graphpart {name}"])
        section += nodes.title(text=f"graphpart {name}")
        for paragraph in (command.description or "").split("\n\n"):
            section += nodes.paragraph(text=" ".join(paragraph.split()))
        block = nodes.literal_block(text=textwrap.dedent(usage))
        block["language"] = "text"
        section += block
        for group in command._action_groups:
            shown = [action for action in group._group_actions if action.help is not argparse.SUPPRESS]
            if not shown:
                continue
            title = {"positional arguments": "Arguments", "options": "Options"}.get(group.title or "", group.title)
            section += nodes.rubric(text=title)
            listed = nodes.definition_list()
            for action in shown:
                listed += self.item(action, command)
            section += listed
        if command.epilog:
            methods = nodes.literal_block(text=command.epilog)
            methods["language"] = "text"
            section += methods
        return section

    def item(self, action: argparse.Action, command: argparse.ArgumentParser) -> nodes.definition_list_item:
        value = action.metavar or ("" if action.nargs == 0 else (action.dest.upper()))
        names = ", ".join(action.option_strings) or str(value)
        if action.option_strings and action.nargs != 0:
            names += f" {value}"
        help = (action.help or "") % {**vars(action), "prog": command.prog, "default": action.default}
        term = nodes.term("", "", nodes.literal(text=names))
        return nodes.definition_list_item("", term, nodes.definition("", nodes.paragraph(text=help)))


class Figures(Directive):
    """``figures``: a table from a file of comma-separated values that a benchmark has written.

    ``columns`` names those that are shown, in that order; ``where``, as ``column=text``, which rows.
    """

    required_arguments = 1
    option_spec = {"columns": directives.unchanged, "where": directives.unchanged}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        source = Path(self.state.document.current_source or ".").parent / self.arguments[0]
        self.state.document.settings.record_dependencies.add(str(source))
        if hasattr(self.state.document.settings, "env"):
            self.state.document.settings.env.note_dependency(str(source))
        with source.open(newline="", encoding="utf-8") as stream:
            rows = list(csv.reader(stream))
        header, body = rows[0], rows[1:]
        if "where" in self.options:
            column, _, text = self.options["where"].partition("=")
            body = [row for row in body if row[header.index(column)] == text]
        if "columns" in self.options:
            wanted = [name.strip() for name in self.options["columns"].split(",")]
            missing = [name for name in wanted if name not in header]
            if missing:
                raise self.error(f"{source} has no column {missing[0]!r}: expected one of {', '.join(header)}")
            at = [header.index(name) for name in wanted]
            header, body = wanted, [[row[k] for k in at] for row in body]
        columns = [uniform(name, [row[k] for row in body]) for k, name in enumerate(header)]
        body = [list(row) for row in zip(*columns, strict=True)]
        made: nodes.Node = table(header, body)
        shown = [nodes.container("", made, classes=["tall"]) if len(body) > TALL else made]
        if written := last_commit(source):
            text = nodes.paragraph("", "", *inline(written), classes=["written"])
            shown.append(text)
        return shown


def last_commit(path: Path) -> str:
    """When a file was written last, and with which commit; empty where this is not known."""
    call = ["git", "log", "-1", "--format=%h %as", "--", path.name]
    try:
        found = subprocess.run(call, cwd=path.parent, capture_output=True, text=True, check=True).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        return ""
    return f"Written {found[1]}, commit `{found[0]}`." if found else ""


def uniform(name: str, cells: list[str]) -> list[str]:
    """Numbers of one column with the same digits: percentages with equally many decimals, seconds with three digits."""
    filled = [cell for cell in cells if cell not in ("", "-")]
    if filled and all(PERCENT.fullmatch(cell) for cell in filled):
        places = max(len(cell.rstrip("%").partition(".")[2]) for cell in filled)
        sign = "+" if any(cell.startswith("+") for cell in filled) else ""
        return [cell if cell in ("", "-") else f"{float(cell[:-1]):{sign}.{places}f}%" for cell in cells]
    places = {len(cell.partition(".")[2]) for cell in filled}
    if not all(PLAIN.fullmatch(cell) for cell in filled) or len(places) <= 1:
        return cells
    digits = 3 if "second" in name else 8
    return [digits_of(float(cell), digits) if cell in filled else cell for cell in cells]


def digits_of(value: float, digits: int) -> str:
    """A number with so many digits that count, and no exponent; a whole number as it is if there are more."""
    if not value:
        return "0"
    if value == round(value) and digits > 3:
        return f"{value:.0f}"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(places, 6)}f}"


def number(text: str) -> bool:
    """Whether a cell is a number, perhaps with a unit or few words, or empty.

    Longer ones are text: where they are wide, numbers at the right edge are out of view on narrow screens.
    """
    if len(text) > SHORT:
        return False
    head = text.strip().split(" ")[0].rstrip("%")
    try:
        float(head or "0")
    except ValueError:
        return False
    return True


def table(header: list[str], body: list[list[str]]) -> nodes.table:
    """A table in docutils' terms; columns of numbers have a class."""
    made: Any = nodes.table()
    numeric = [k > 0 and all(number(row[k]) or row[k] == "-" for row in body) for k in range(len(header))]
    group = nodes.tgroup(cols=len(header))
    made += group
    for _ in header:
        group += nodes.colspec(colwidth=1)
    head, rest = nodes.thead(), nodes.tbody()
    group += [head, rest]
    for part, rows in ((head, [header]), (rest, body)):
        for row in rows:
            line = nodes.row()
            for cell, right in zip(row, numeric, strict=True):
                line += nodes.entry("", nodes.paragraph("", "", *inline(cell)), classes=["number"] if right else [])
            part += line
    return made


def inline(text: str) -> list[nodes.Node]:
    """Text with what stands between backquotes as code."""
    parts = text.split("`")
    return [nodes.literal(text=part) if k % 2 else nodes.Text(part) for k, part in enumerate(parts) if part]


def pages_of_tutorials(app: Sphinx, page: str, text: list[str]) -> None:
    """Links to the scripts of tutorials, which also work where pages are read as files, become links to their pages."""
    text[0] = TUTORIAL.sub(r"\1tutorials/\2.rst)", text[0])


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("command-line", CommandLine)
    app.add_directive("figures", Figures)
    app.connect("source-read", pages_of_tutorials)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
