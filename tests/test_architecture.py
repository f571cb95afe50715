"""No circle of imports, and none against the direction that CONTRIBUTING draws.

All imports count: those within functions, those for type checkers, those of kernels, and those by `import_module`. The
table of methods and that of formats do not: they name by text what they find, which is above those who ask them.
"""

import ast
import importlib
import re
from functools import cache
from pathlib import Path

import networkx as nx
import pytest

import graphpart

ROOT = Path(graphpart.__file__).parent
CIMPORT = re.compile(r"^\s*from (graphpart[\w.]*) (?:cimport|import) \(?([\w, ]+)", re.MULTILINE)
INCLUDE = re.compile(r'^include "(\w+)\.pxi"$', re.MULTILINE)

# What each part of the package may import, beside itself.
BASE = {"display", "errors", "machine", "result", "stopping", "kernels"}
SHARED = BASE | {"check", "common", "files", "highs", "milp", "methods", "plotting"}
ALLOWED = {
    "check": set(),
    "errors": set(),
    "machine": {"errors"},
    "kernels": {"errors", "machine"},
    "adapters": {"errors"},
    "display": {"errors"},
    "result": {"adapters", "display", "errors", "kernels"},
    "stopping": {"errors", "kernels", "result"},
    "methods": BASE,
    "highs": BASE,
    "milp": BASE | {"highs"},
    "common": BASE | {"check", "files"},
    "files": BASE,
    "maximum_cut": BASE | {"common", "highs"},
    "binary_quadratic": BASE | {"common", "maximum_cut"},
    "partition": SHARED | {"binary_quadratic", "maximum_cut"},
    "crf": SHARED | {"adapters", "binary_quadratic", "maximum_cut"},
    "labeled": SHARED | {"partition", "crf"},
    "metrics": {"common", "display", "errors", "result"},
    "io": SHARED | {"partition", "crf", "labeled"},
    "learn": SHARED | {"partition", "crf", "metrics"},
    "answers": SHARED | {"partition", "io"},
    "solve": SHARED | {"partition", "crf", "labeled", "answers"},
    "plotting": BASE | {"files"},
    "signed_network": SHARED | {"partition"},
    "folders": SHARED | {"io", "solve"},
    "reporting": SHARED | {"partition", "crf", "solve"},
    "generate": SHARED | {"partition", "crf", "labeled", "io", "learn"},
    "datasets": SHARED | {"partition", "crf", "io"},
    "testing": SHARED | {"partition", "crf"},
    "estimators": SHARED | {"partition", "crf", "learn", "solve", "metrics", "images"},
    "distributed": SHARED | {"partition", "solve"},
    "images": SHARED | {"partition", "labeled", "answers", "solve", "distributed"},
    "records": SHARED | {"partition", "answers", "solve", "io", "learn"},
    "reviewing": SHARED | {"partition", "answers", "reporting"},
    "cli": SHARED
    | {
        "partition",
        "crf",
        "labeled",
        "io",
        "learn",
        "solve",
        "folders",
        "generate",
        "metrics",
        "reporting",
        "distributed",
    }
    | {"images", "records", "answers", "reviewing"},
    "__main__": {"cli"},
}
# What imports modules by names that it puts together, and those modules.
BY_NAME = {
    "graphpart": lambda: {f"graphpart.{name}" for name in (*graphpart._PARTS, *graphpart._WHERE.values())},
    "graphpart.cli": lambda: {f"graphpart.cli.{name}" for name in importlib.import_module("graphpart.cli").COMMANDS},
    "graphpart.partition": lambda: {f"graphpart.partition.{name}" for name in set(graphpart.partition.WHERE.values())},
}
TABLES = {"graphpart.methods", "graphpart.io.formats"}  # the two exceptions
# What imports other packages by name.
OTHERS = {
    "graphpart.common.columns",
    "graphpart.display.frames",
    "graphpart.images.files",
}
# Within a kind of problem, rooms build on those before them.
ROOMS = {
    "partition": [
        "inputs",
        "problem",
        "pieces",
        "results",
        "certificates",
        "bounds",
        "reduction",
        "local_search",
        "exact_solvers",
        "proof_trees",
        "anytime_search",
        "confidence",
        "extending",
    ],
    "crf": [
        "problem",
        "certificates",
        "local_search",
        "graph_cuts",
        "bounds",
        "reduction",
        "exact_solvers",
        "bucket_elimination",
        "strips",
        "approximate_inference",
        "branch_and_bound",
        "proof_trees",
        "anytime_search",
        "confidence",
    ],
}


def modules() -> dict[str, Path]:
    found = {}
    for path in sorted(path for suffix in ("py", "pyx", "pxd", "pxi") for path in ROOT.rglob(f"*.{suffix}")):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name + (".pxd" if path.suffix == ".pxd" and path.with_suffix(".pyx").exists() else "")] = path
    return found


def imported(name: str, path: Path, known: dict[str, Path]) -> set[str]:
    """The modules of the package that a file imports anywhere."""
    text = path.read_text()
    pairs = [(module, "") for module in BY_NAME.get(name, set)()]
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path} has a relative import"
                pairs += [(node.module, alias.name) for alias in node.names]
            elif isinstance(node, ast.Import):
                pairs += [(alias.name, "") for alias in node.names]
            elif isinstance(node, ast.Call) and called(node) in ("import_module", "_import_module", "__import__"):
                if isinstance(node.args[0], ast.Constant):
                    pairs.append((node.args[0].value, ""))
                else:
                    assert name in {*BY_NAME, *TABLES, *OTHERS}, f"{path} imports what is named elsewhere"
    else:
        pairs = [(module, name.strip()) for module, names in CIMPORT.findall(text) for name in names.split(",")]
        pairs += [(f"{name.rpartition('.')[0]}.{part}", "") for part in INCLUDE.findall(text)]
    found = set()
    for module, name in pairs:
        if module.split(".")[0] == "graphpart":
            found.add(f"{module}.{name}" if f"{module}.{name}" in known else module)
    return found


def called(node: ast.Call) -> str:
    """The name of a function, without that of its module."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


@cache
def graph() -> nx.DiGraph:
    known = modules()
    G = nx.DiGraph()
    G.add_nodes_from(known)
    for name, path in known.items():
        G.add_edges_from((name, other) for other in imported(name, path, known) if other != name)
    return G


def part(module: str) -> str:
    words = module.removesuffix(".pxd").split(".")
    return words[1] if len(words) > 1 else "graphpart"


def circles(G: nx.DiGraph) -> list[list[str]]:
    return [sorted(group) for group in nx.strongly_connected_components(G) if len(group) > 1]


def test_no_circle() -> None:
    assert circles(graph()) == []


def test_a_circle_would_be_found() -> None:
    G = graph().copy()
    G.add_edge("graphpart.errors", "graphpart.cli")
    assert any("graphpart.errors" in group for group in circles(G))


def test_imports_by_name_count(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(
        'from importlib import import_module\ndef draw():\n    import_module("graphpart.plotting").draw()\n'
    )
    assert imported("graphpart.module", path, modules()) == {"graphpart.plotting"}
    path.write_text('import importlib\ndef draw(name):\n    importlib.import_module(f"graphpart.{name}").draw()\n')
    with pytest.raises(AssertionError, match="imports what is named elsewhere"):
        imported("graphpart.module", path, modules())
    assert {b for a, b in graph().edges("graphpart")} >= {"graphpart.cli", "graphpart.crf.problem", "graphpart.io"}


@pytest.mark.parametrize("kind", ROOMS)
def test_modules_are_not_named_as_public_functions(kind: str) -> None:
    package = importlib.import_module(f"graphpart.{kind}")  # importing the module could hide the function
    inside = {name.split(".")[2] for name in modules() if name.startswith(f"graphpart.{kind}.")}
    assert not inside & set(package.__all__)


def test_directions() -> None:
    wrong = [
        f"{a} imports {b}"
        for a, b in graph().edges()
        if part(a) not in (part(b), "graphpart") and part(b) not in ALLOWED[part(a)]
    ]
    assert wrong == []


@pytest.mark.parametrize("kind", ROOMS)
def test_rooms_build_on_those_before_them(kind: str) -> None:
    order = {room: i for i, room in enumerate(ROOMS[kind])}
    prefix = f"graphpart.{kind}."
    wrong = []
    for a, b in graph().edges():
        if a.startswith(prefix) and b.startswith(prefix):
            rooms = [order.get(module.removeprefix(prefix).split(".")[0], len(order)) for module in (a, b)]
            if rooms[0] < rooms[1]:
                wrong.append(f"{a} imports {b}")
    assert wrong == []


def test_every_room_says_what_is_in_it() -> None:
    for name, path in modules().items():
        if path.name == "__init__.py":
            docstring = ast.get_docstring(ast.parse(path.read_text()))
            assert docstring, f"{name} has no docstring"


def test_folders_of_tests_are_rooms() -> None:
    tests = Path(__file__).parent
    folders = {path.parent.relative_to(tests) for path in tests.rglob("*.py")} - {Path("helpers")}
    assert sorted(str(folder) for folder in folders if not (ROOT / folder / "__init__.py").is_file()) == []


def test_kernels_know_no_networkx() -> None:
    for name, path in modules().items():
        if path.suffix in (".pyx", ".pxd", ".pxi"):
            assert "networkx" not in path.read_text(), name
