"""The API pages of the site: what is public is listed, and is found in the inventory of the built site.

The second needs the site: GRAPHPART_SITE=FOLDER, which .ci/run sets after it has built it.
"""

import importlib
import importlib.util
import inspect
import os
import re
import zlib
from pathlib import Path

import pytest

import graphpart

ROOT = Path(__file__).resolve().parents[1]
API = ROOT / "docs" / "reference" / "api"
ROOMS = (
    "", "partition", "crf", "labeled", "learn", "estimators", "metrics", "plotting", "distributed", "images", "records",
)  # fmt: skip


def listed():
    """The names that the pages list, by module."""
    found = {}
    for page in API.glob("*.rst"):
        module = None
        for line in page.read_text("utf-8").splitlines():
            if given := re.match(r"\.\. currentmodule:: ([\w.]+)", line):
                module = given[1]
            elif (given := re.match(r"   ~?(\w[\w.]*)$", line)) and module:
                found.setdefault(module, set()).add(given[1])
    return found


def public():
    """Public functions and classes, each with all the names that it has."""
    found = {}
    for room in ROOMS:
        name = f"graphpart.{room}".rstrip(".")
        try:
            module = importlib.import_module(name)
        except ImportError:  # a part that is not there, or needs what is not installed
            continue
        for member in module.__all__:
            value = getattr(module, member)
            if callable(value) and not inspect.ismodule(value):
                found.setdefault(id(value), (value, []))[1].append((name, member))
    return list(found.values())


def members(value):
    """The public members of a class that have docstrings and come from this package."""
    for name, member in inspect.getmembers(value):
        found = getattr(member, "fget", None) or getattr(member, "__func__", None) or member
        is_member = inspect.isfunction(found) or isinstance(member, property) or inspect.ismethod(member)
        if name.startswith("_") or not is_member or not inspect.getdoc(member):
            continue
        if (getattr(found, "__module__", "") or "").startswith("graphpart"):
            yield name


def test_all_that_is_public_is_on_a_page():
    pages = listed()
    missing = [names for _, names in public() if not any(name in pages.get(module, ()) for module, name in names)]
    assert missing == []


def test_the_page_of_the_problem_lists_its_members():
    on_page = {name.removeprefix("SetPartition.") for name in listed()["graphpart"] if name.startswith("SetPartition.")}
    assert on_page == set(members(graphpart.SetPartition))


@pytest.mark.parametrize("room", [*ROOMS[1:], "generate", "io", "reporting", "testing"])
def test_rooms_show_public_names_only(room):
    module = pytest.importorskip(f"graphpart.{room}", exc_type=ImportError)
    assert dir(module) == sorted(module.__all__)


def test_the_inventory_has_the_public_names():
    site = os.environ.get("GRAPHPART_SITE")
    if not site:
        pytest.skip("the site is not built here: GRAPHPART_SITE")
    head, _, packed = (Path(site) / "objects.inv").read_bytes().partition(b"using zlib.\n")
    assert b"Sphinx inventory version 2" in head
    inventory = {line.split(" ")[0] for line in zlib.decompress(packed).decode().splitlines()}
    missing, seen = [], set()
    for value, names in public():
        wanted = set()
        if inspect.isclass(value) and not issubclass(value, Exception):
            wanted = {f".{member}" for member in members(value)}
        ways = [{f"{module}.{name}{member}" for member in {"", *wanted}} for module, name in names]
        least = min((way - inventory for way in ways), key=len)
        missing += sorted(least)
        seen |= set.union(*ways)
    assert {"graphpart.SetPartition.from_frame", "graphpart.PartitionResult.plot"} <= seen & inventory
    assert missing == []


def test_links_between_pages_lead_to_files():
    """Also where pages are read as files: scripts of tutorials become their pages only when the site is built."""
    link = re.compile(r"\]\(([^()#:]+\.(?:md|py|rst|csv|png))(?:#[^()]*)?\)")
    pages = [*(ROOT / "docs").glob("**/*.md"), *ROOT.glob("*.md")]
    links = [(page, target) for page in pages for target in link.findall(page.read_text(encoding="utf-8"))]
    assert len(links) > 50
    assert not [(page.name, target) for page, target in links if not (page.parent / target).exists()]


def test_columns_of_long_cells_are_text():
    """They wrap, and begin at the left: the numbers of others in the column are in view on narrow screens."""
    pytest.importorskip("sphinx")
    spec = importlib.util.spec_from_file_location("from_code", ROOT / "docs" / "_ext" / "from_code.py")
    from_code = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(from_code)
    header = ["work", "seconds", "graphpart"]
    table = from_code.table(
        header, [["joining", "0.029", "0.6 s"], ["regression", "1.13 s", "1.13 s, peak 1.01 times"]]
    )
    assert str(table).count('classes="number"') == 6
    rows = [["joining", "0.029", "0.6 s"], ["regression", "1.13 s", "1.13 s, gradient norm 4e-11, peak 1.01 times"]]
    assert str(from_code.table(header, rows)).count('classes="number"') == 3
