"""`import graphpart` and the commands that need no solver stay light: what is heavy is imported when it is used."""

import subprocess
import sys

import pytest

HEAVY = (
    "bokeh",
    "graphpart.check",
    "highspy",
    "igraph",
    "matplotlib",
    "networkx",
    "pandas",
    "polars",
    "pulp",
    "pyarrow",
    "rich",
    "scipy",
    "sklearn",
)
LATER = (  # modules of partition that only some constructors, or only some problems, need
    *(f"inputs.{name}" for name in ("duplicates", "embeddings", "far_pairs", "frames", "grids", "matrices")),
    *(f"inputs.{name}" for name in ("neighbors", "origin", "thresholds")),
    *(f"problem.{name}" for name in ("graphs", "groups", "limits", "moves", "staying")),
    "results.starts",
)
INSTANCE = "u,v,cost\na,b,-1\nb,c,2\n"


@pytest.mark.parametrize(
    "code",
    [
        "import graphpart",
        "from graphpart.cli import main; main(['--help'])",
        "from graphpart.cli import main; assert main(['info', '-']) == 0",
        "from graphpart.cli import main; assert main(['solve', '-', '--method', 'kernighan-lin']) == 0",
        "from graphpart.cli import main; assert main(['convert', '-', '-', '--to', 'multicut']) == 0",
    ],
)
def test_nothing_heavy_is_imported(code):
    code += f"\nimport sys; print(*(name for name in {HEAVY} if name in sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], input=INSTANCE, capture_output=True, text=True, check=True)
    assert done.stderr.split() == []


def test_a_problem_of_pairs_needs_no_room_of_other_constructors():
    code = "import graphpart, sys; p = graphpart.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-1.0, 2.0])\n"
    code += f"there = [name for name in {LATER} if f'graphpart.partition.{{name}}' in sys.modules]\n"
    code += "print(*there, p.evaluate([0, 0, 1]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["-1.0"]


@pytest.mark.parametrize("there", [True, False])
def test_all_public_names_with_and_without_optional_packages(there):
    if there:
        pytest.importorskip("sklearn")
        pytest.importorskip("pyarrow")
    code = "" if there else "import sys; sys.modules['sklearn'] = sys.modules['pyarrow'] = None\n"
    code += "from graphpart import *; import graphpart; print('estimators' in globals(), 'distributed' in globals())\n"
    code += "assert set(graphpart.__all__) <= set(globals())\n"
    code += "parts = {'cli', 'reporting', 'estimators', 'distributed'}\n"
    code += "print(*(name for name in dir(graphpart) if name[:2] != '__' and name not in {*graphpart.__all__, *parts}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(there)] * 2


def test_public_names_load_files_and_recipes_when_they_are_used():
    code = "import graphpart, sys; print('graphpart.io' in sys.modules, graphpart.read.__name__, graphpart.io.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "read", "graphpart.io"]


@pytest.mark.parametrize("there", [True, False])
def test_all_names_of_learn_with_and_without_scikit_learn(there):
    if there:
        pytest.importorskip("sklearn")
    code = "" if there else "import sys; sys.modules['sklearn'] = None\n"
    code += "from graphpart.learn import *; print('LinearMetric' in globals(), LogisticRegression.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(there), "LogisticRegression"]
