"""What the README and the site say is so: examples run, tables list what there is, commands are where CI looks."""

import doctest
import re
import shlex
import tempfile
import textwrap
import tomllib
import types
from importlib import import_module
from pathlib import Path

import pytest

import graphpart
from graphpart.cli import COMMANDS, main
from graphpart.files.source import opened
from graphpart.io import FORMATS, Format
from graphpart.methods import ELSEWHERE, METHODS

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")
DOCS = ROOT / "docs"
PAGE = {"commands": "command-line", "status": "results"}  # of the reference, where it is not named as the table is
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in DOCS.rglob("*.md") if "tutorials" not in path.parts)
WITH_EXAMPLES = [page for page in PAGES if ">>> " in (ROOT / page).read_text("utf-8")]
LONGEST = 150  # lines of the front page
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def block(marker):
    """The fenced block after a marker."""
    found = re.search(rf"^<!-- {marker} -->\n```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert found, f"README.md has no fenced block after <!-- {marker} -->"
    return found.group(1)


def page_of(marker):
    """The page of the site that has the table with this marker."""
    return DOCS / "reference" / f"{PAGE.get(marker, marker)}.md"


def rows(marker):
    """The rows of the table after a marker, without its header, as lists of cells."""
    page = page_of(marker)
    found = re.search(rf"^<!-- {marker} -->\n\n((?:\|.*\n)+)", page.read_text("utf-8"), re.MULTILINE)
    assert found, f"{page} has no table after <!-- {marker} -->"
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in found.group(1).splitlines()[2:]]


def test_examples_in_python():
    results = doctest.testfile(str(ROOT / "README.md"), module_relative=False, optionflags=FLAGS, encoding="utf-8")
    assert results.failed == 0
    assert results.attempted >= 10


def test_the_front_page_is_short():
    assert len(README.splitlines()) <= LONGEST


@pytest.mark.parametrize("page", WITH_EXAMPLES)
def test_examples_of_the_site(page, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # their folders go with that of the test
    if "scikit-learn" in page:
        pytest.importorskip("sklearn")
    results = doctest.testfile(str(ROOT / page), module_relative=False, optionflags=FLAGS, encoding="utf-8")
    assert results.failed == 0
    assert results.attempted >= 3


def test_the_pages_with_examples_are_found():
    assert len(WITH_EXAMPLES) >= 7


def test_the_example_of_a_new_format(tmp_path):
    """What the guide says to write reads and writes a problem, and points at what is wrong."""
    text = (DOCS / "how-to" / "add-a-format.md").read_text("utf-8")
    (code,) = re.findall(r"^   ```python\n(   \"\"\"Triples.*?)^   ```$", text, re.MULTILINE | re.DOTALL)
    (line,) = re.findall(r"^ +(Format\(.*\))$", text, re.MULTILINE)
    module = types.ModuleType("graphpart.io.triples")
    exec(textwrap.dedent(code), module.__dict__)  # as the guide has it
    known = eval(line, {"Format": Format})
    assert module.sniff(b"triples\n0 1 2.0\n") and not module.sniff(b"MULTICUT\n")
    p = graphpart.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-2.5, 1.0])
    path = tmp_path / f"small{known.suffixes[0]}"
    with path.open("wb") as stream:
        module.write(p, stream)
    with opened(path) as source:
        q = module.read(source)
    assert [column.tolist() for column in q.pairs()] == [column.tolist() for column in p.pairs()]
    path.write_text("triples\n0 1\n")
    with (
        opened(path) as source,
        pytest.raises(graphpart.FormatError, match=r"small.triples:2: '0 1': expected i j cost"),
    ):
        module.read(source)


def test_examples_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "instances").symlink_to(ROOT / "instances")
    text = page_of("commands").read_text("utf-8")
    session = re.search(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL).group(1)
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
    kinds = {"partition": "set partition", "crf": "factor graph", "labeled": "labelled partition"}
    also = [", ".join(f"`{name}`" for name in m.also) for m in METHODS]
    assert rows("methods") == [
        [f"`{m.name}`", kinds[m.problem], m.summary, a] for m, a in zip(METHODS, also, strict=True)
    ]


def test_the_index_has_all_names_of_methods():
    text = page_of("methods").read_text("utf-8")
    assert index_of_methods() in text
    assert all(f"   pair: {other}; {m.name}\n" in text for m in METHODS for other in m.also)


def test_the_table_of_formats():
    listed = {tuple(row[:2]) for row in rows("formats")}
    assert listed == {(f"`{f.name}`", ", ".join(f"`{suffix}`" for suffix in f.suffixes)) for f in FORMATS}


def test_the_table_of_status_values():
    assert [row[0] for row in rows("status")] == [f"`{status.value}`" for status in graphpart.Status]


def test_the_table_of_errors():
    errors = [graphpart.__dict__[row[0].strip("`")] for row in rows("errors")]
    base = graphpart.GraphPartError
    assert set(errors) == {e for e in vars(graphpart).values() if isinstance(e, type) and issubclass(e, base)} - {base}
    for error, (_, also, when) in zip(errors, rows("errors"), strict=True):
        assert f"`{error.__bases__[1].__name__}`" == also
        assert error.__doc__.startswith(when.removesuffix("..."))


@pytest.mark.parametrize("marker", ["the first command", "the test command"])
def test_commands_are_one_line_and_need_nothing_but_a_clone(marker):
    (line,) = block(marker).splitlines()
    assert line.startswith("python3 -m venv .venv && .venv/bin/python -m pip install ")


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", *PAGES])
def test_links_lead_somewhere(page):
    path = ROOT / page
    for target in re.findall(r"\]\((?!https?:)([^)#\s]+)\)", path.read_text("utf-8")):
        made = re.sub(r"tutorials/(\w+)\.rst$", r"gallery/\1.py", target)  # the site's page is made from the script
        assert (path.parent / made).exists(), target


def test_there_is_one_version():
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert "version" not in settings["project"] and "version" in settings["project"]["dynamic"]
    assert settings["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "graphpart.__version__"}
    assert re.search(r"^## (\S+)", changelog, re.MULTILINE).group(1) == graphpart.__version__


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
    kinds = {"partition": "set partition", "crf": "factor graph", "labeled": "labelled partition"}
    commands = [(f"`{name}`", import_module(f"graphpart.cli.{name}").HELP) for name in COMMANDS]
    methods = [(f"`{m.name}`", kinds[m.problem], m.summary, ", ".join(f"`{a}`" for a in m.also)) for m in METHODS]
    tables = {
        "commands": [("command", "what it does"), *commands],
        "methods": [("method", "for", "what it does", "also known as"), *methods],
    }
    for marker, (header, *body) in tables.items():
        page = page_of(marker)
        lines = ["|".join(["", *(f" {cell} " for cell in row), ""]) for row in (header, *body)]
        lines.insert(1, "|" + "---|" * len(header))
        table = f"<!-- {marker} -->\n\n" + "\n".join(lines) + "\n"
        text = page.read_text("utf-8")
        text = re.sub(rf"<!-- {marker} -->\n(\n(?:\|.*\n)+)?", lambda _, new=table: new, text)
        page.write_text(text, "utf-8")
    page = page_of("methods")
    text = re.sub(r"```{eval-rst}\n(.*\n)*?```\n", lambda _: index_of_methods(), page.read_text("utf-8"))
    page.write_text(text, "utf-8")


def index_of_methods():
    """Entries of the site's index: each name of a method beside its further names, and what else the page names."""
    entries = dict.fromkeys(f"   single: {m.name}" for m in METHODS)
    entries |= dict.fromkeys(f"   pair: {other}; {m.name}" for m in METHODS for other in m.also)
    entries |= dict.fromkeys(f"   pair: {name}; roof_duality" for name in ELSEWHERE)
    return "\n".join(["```{eval-rst}", ".. index::", *entries, "```", ""])


if __name__ == "__main__":
    write_tables()
