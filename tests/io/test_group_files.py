"""Files of problems with groups and limits: all that they hold comes back, and what is wrong is one clear line."""

import io
import json
import math

import numpy as np
import pytest

import graphpart as gp
from graphpart.partition.problem import SetPartition
from graphpart.partition.problem.groups import groups_of


def written(p, format):
    stream = io.BytesIO()
    gp.write(p, stream, format)
    return stream.getvalue()


def problem(seed, named):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 9))
    nodes = [f"node {i}, é" for i in range(n)] if named else range(n)
    u, v = np.triu_indices(n, 1)
    kept = rng.random(len(u)) < 0.5
    groupings = [rng.integers(-1, 3, n).tolist(), [["x,", "y", None, "z"][k] for k in rng.integers(0, 4, n)]]
    groups = groups_of(nodes, groupings[: 1 + seed % 2], [math.inf, 0.75][: 1 + seed % 2])
    cost = np.round(rng.normal(size=kept.sum()), 2)
    p = SetPartition.from_pairs(n, (u[kept], v[kept]), cost, nodes, dense=seed % 3 == 0,
                              missing=[0.0, 0.25][seed % 2], groups=groups)  # fmt: skip
    return p.require(max_size=n - 1 if seed % 4 else None, n_clusters=(2, n) if seed % 5 == 0 else None), rng


@pytest.mark.parametrize("format", ["csv", "npz", "json"])
@pytest.mark.parametrize("named", [False, True])
def test_round_trips(format, named):
    for seed in range(30):
        p, rng = problem(seed, named)
        q = gp.read(io.BytesIO(written(p, format)), format)
        assert list(q.nodes) == list(p.nodes) and q._limits == p._limits
        assert repr(q.groups) == repr(p.groups)
        for _ in range(8):
            labels = rng.integers(0, 4, p.n)
            a, b = p.evaluate(labels), q.evaluate(dict(zip(p.nodes, labels.tolist(), strict=True)))
            assert a == b or abs(a - b) < 1e-12
        assert written(q, format) == written(gp.read(io.BytesIO(written(q, format)), format), format)


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("1,,-2,A", r"the price of the group 'A' is -2: expected a positive number or inf"),
        ("1,,2,A\n2,,3,A", r"the price of the group 'A' is 3: expected 2, as before"),
        (",,max_size,many", r"found ',,max_size,many': expected ,,max_size,30 or ,,n_clusters,5:12"),
        (",,n_clusters,5:2", r"n_clusters is \(5, 2\): expected the least number first"),
        ("1,2,3,4", "found 4 fields: expected u,v,number"),
        ("1,,2,A\n1,,2,A", "named twice as a member of a group"),
    ],
)
def test_wrong_lines(lines, says):
    with pytest.raises(gp.GraphPartError, match=says):
        gp.read(io.BytesIO(f"u,v,cost\n1,2,-1\n{lines}\n".encode()), "csv")


@pytest.mark.parametrize(
    ("groups", "says"),
    [
        ([{"price": 0, "members": [0]}], r"the price of groups\[0\] is 0: expected a positive number or Infinity"),
        ([{"price": 1, "members": [0, 7]}], r"members of groups\[0\] are \[0, 7\]: expected places of nodes, 0 to 1"),
        ({"a": 1}, "expected a list of objects with price, members"),
    ],
)
def test_wrong_objects(groups, says):
    data = {"graph": {"groups": groups}, "nodes": [{"id": 0}, {"id": 1}], "edges": []}
    with pytest.raises(gp.FormatError, match=says):
        gp.read(io.BytesIO(json.dumps(data).encode()), "json")


def test_wrong_arrays():
    p = SetPartition.from_pairs(3, [], [], dense=False,
                              groups=groups_of(range(3), ["a", "a", "b"]))  # fmt: skip
    with np.load(io.BytesIO(written(p, "npz"))) as file:
        arrays = dict(file)
    for change, says in (
        ({"group_price": np.array([-1.0])}, "expected prices above 0"),
        ({"group": np.array([0, 5])}, "group has numbers 0 to 5: expected 0 to 0"),
        ({"group_starts": np.array([0, 1])}, "group_starts does not fit"),
        ({"limits": np.array([3])}, r"limits is \[3\]"),
    ):
        stream = io.BytesIO()
        np.savez(stream, **{**arrays, **change})
        with pytest.raises(gp.FormatError, match=says):
            gp.read(io.BytesIO(stream.getvalue()), "npz")
