"""What the README says is so: its examples run, its tables list what there is, its commands are where CI looks."""

import doctest
import re
import shlex
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import graphpart
from graphpart.cli import COMMANDS, main
from graphpart.io import FORMATS
from graphpart.methods import METHODS

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def block(marker):
    """The fenced block after a marker."""
    found = re.search(rf"^<!-- {marker} -->\n```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert found, f"README.md has no fenced block after <!-- {marker} -->"
    return found.group(1)


def rows(marker):
    """The rows of the table after a marker, without its header, as lists of cells."""
    found = re.search(rf"^<!-- {marker} -->\n\n((?:\|.*\n)+)", README, re.MULTILINE)
    assert found, f"README.md has no table after <!-- {marker} -->"
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in found.group(1).splitlines()[2:]]


def test_examples_in_python():
    results = doctest.testfile(str(ROOT / "README.md"), module_relative=False, optionflags=FLAGS, encoding="utf-8")
    assert results.failed == 0
    assert results.attempted >= 10


def test_examples_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "instances").symlink_to(ROOT / "instances")
    session = re.search(r"^```console\n(.*?)^```$", README, re.MULTILINE | re.DOTALL).group(1)
    steps = re.findall(r"^\$ graphpart (.*)\n((?:(?!\$ ).*\n)*)", session, re.MULTILINE)
    assert len(steps) == session.count("$ graphpart")
    checker = doctest.OutputChecker()
    for call, expected in steps:
        assert main(shlex.split(call)) == 0
        printed = capsys.readouterr().out
        assert checker.check_output(expected, printed, FLAGS), f"{call}\nprints\n{printed}\nnot\n{expected}"


def test_the_table_of_commands():
    assert rows("commands") == [[f"`{name}`", import_module(f"graphpart.cli.{name}").HELP] for name in COMMANDS]


def test_the_table_of_methods():
    kinds = {"partition": "set partition", "crf": "factor graph"}
    assert rows("methods") == [[f"`{m.name}`", kinds[m.problem], m.summary] for m in METHODS]


def test_the_table_of_formats():
    listed = {tuple(row[:2]) for row in rows("formats")}
    assert listed == {(f"`{f.name}`", ", ".join(f"`{suffix}`" for suffix in f.suffixes)) for f in FORMATS}


@pytest.mark.parametrize("marker", ["the first command", "the test command"])
def test_commands_are_one_line_and_need_nothing_but_a_clone(marker):
    (line,) = block(marker).splitlines()
    assert line.startswith("python3 -m venv .venv && .venv/bin/python -m pip install ")


def test_links_lead_somewhere():
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_there_is_one_version():
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert re.search(r"^## (\S+)", changelog, re.MULTILINE).group(1) == graphpart.__version__ == project["version"]


def test_the_house_is_drawn_as_it_is():
    """The tree in CONTRIBUTING.md has every folder and module of the top floor, and nothing that is not there."""
    contributing = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    tree = re.search(r"^graphpart/\n((?:  .*\n)+)", contributing, re.MULTILINE).group(1)
    drawn = set(re.findall(r"\b\w+\.pyx?\b|\b\w+/(?=\s)", tree))
    package = ROOT / "graphpart"
    everything = {path.name + "/" * path.is_dir() for path in package.rglob("*")}
    top = {path.name + "/" * path.is_dir() for path in package.iterdir() if path.is_dir() or path.suffix[:3] == ".py"}
    assert drawn <= everything
    assert {name for name in top if not name.startswith("__") and not name.endswith(".pyi")} <= drawn


def write_tables():
    """Write the tables of commands and methods anew: ``python tests/test_readme.py``."""
    kinds = {"partition": "set partition", "crf": "factor graph"}
    commands = [(f"`{name}`", import_module(f"graphpart.cli.{name}").HELP) for name in COMMANDS]
    methods = [(f"`{m.name}`", kinds[m.problem], m.summary) for m in METHODS]
    tables = {
        "commands": [("command", "what it does"), *commands],
        "methods": [("method", "for", "what it does"), *methods],
    }
    text = README
    for marker, (header, *body) in tables.items():
        lines = ["|".join(["", *(f" {cell} " for cell in row), ""]) for row in (header, *body)]
        lines.insert(1, "|" + "---|" * len(header))
        table = f"<!-- {marker} -->\n\n" + "\n".join(lines) + "\n"
        text = re.sub(rf"<!-- {marker} -->\n(\n(?:\|.*\n)+)?", lambda _, new=table: new, text)
    (ROOT / "README.md").write_text(text, "utf-8")


if __name__ == "__main__":
    write_tables()
