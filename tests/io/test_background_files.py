"""Files of problems with a background: all that they hold comes back, and what is wrong in them is one clear line."""

import io
import json
import math

import numpy as np
import pytest
from backgrounds import background_problem

import graphpart as gp
from graphpart.errors import FormatError, InvalidOption, InvalidProblem
from graphpart.partition.certificates.certificate import fingerprint


def written(p, format):
    stream = io.BytesIO()
    gp.write(p, stream, format)
    return stream.getvalue()


@pytest.mark.parametrize("format", ["csv", "npz", "json"])
@pytest.mark.parametrize("named", [False, True])
def test_round_trips(format, named):
    for k in range(60):
        rng = np.random.default_rng([17, k])
        p = background_problem(rng, repels=k % 2 == 0)
        if named:
            nodes = [f"node {i}, {'é' if i % 2 else ''}" for i in rng.permutation(p.n)]
            joins = [(nodes[a], nodes[b]) for a, b in p.must_join.tolist()]
            p = gp.SetPartition.from_pairs(
                p.n, (p.u, p.v), p.cost, nodes, together=joins, dense=False, background=p.background
            )
        q = gp.read(io.BytesIO(written(p, format)), format)
        assert list(q.nodes) == list(p.nodes) and q.objective(1.5) == p.objective(1.5)
        size = p._magnitude * p.n + 1e-300
        for _ in range(5):
            labels = rng.integers(0, 3, p.n)
            a, b = p.evaluate(labels), q.evaluate(dict(zip(p.nodes, labels.tolist(), strict=True)))
            assert a == b or abs(a - b) <= 1e-14 * size, (k, a, b)
        if format != "csv":  # which has no term that is not there, and names requirements by costs
            assert (q.background == p.background and fingerprint(q) == fingerprint(p)) or len(p.must_join)
        assert written(q, format) == written(gp.read(io.BytesIO(written(q, format)), format), format)


def test_large_cluster_editing(tmp_path):
    n = 6000
    rng = np.random.default_rng(4)
    pairs = np.unique(np.sort(rng.integers(0, n, (9000, 2)), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    p = gp.SetPartition.from_pairs(n, pairs, -np.ones(len(pairs)), missing=1.0, offset=float(len(pairs)))
    gp.write(p, tmp_path / "large.gr")
    q = gp.read(tmp_path / "large.gr")
    assert not q.is_dense and q.background.constant == 1.0 and fingerprint(q) == fingerprint(p)
    labels = rng.integers(0, n // 3, n)
    assert q.objective(q.evaluate(labels)) == p.objective(p.evaluate(labels))
    for format in ("csv", "npz", "json"):
        again = gp.read(io.BytesIO(written(q, format)), format)
        assert not again.is_dense and again.evaluate(labels) == q.evaluate(labels)
    weights = gp.SetPartition.from_pairs(n, pairs, -np.ones(len(pairs)), missing=0.5)
    with pytest.raises(InvalidProblem, match=r"format pace cannot hold this problem: the background is 0\.5"):
        gp.write(weights, tmp_path / "not.gr")


CSV = "u,v,cost\na,b,-1\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CSV + ",,nan\n", ":3: found 'nan': expected a finite number"),
        (CSV + ",,inf\n", ":3: found 'inf': expected a finite number"),
        (CSV + ",,1e999\n", ":3: found '1e999': expected a number of a magnitude"),
        (CSV + ",,0.5\na,,-inf\n", ":4: found '-inf': expected a finite number"),
        (CSV + ",,0.5\na,,1\na,,2\n", ":5: found a second weight of 'a'"),
        (CSV + ",,0.5\n,a,1\n,a,2\n", ":5: found a second weight of 'a'"),
        (CSV + "a,,1\n", ":3: found an empty name"),
        (CSV + ",,1e300\na,,1e300\n", "the background overflows"),
        (CSV + ",,1\n" * 9, "expected at most 7"),
        (CSV + "u,v,cost\n", ":3: found 'cost': expected a number"),
        ("u,v,weight\na,b,1\n,,0.5\n", ":3: found a background in a file of weight"),
    ],
)
def test_malformed_csv(text, message):
    with pytest.raises(FormatError, match=message) as caught:
        gp.read(io.BytesIO(text.encode()), "csv")
    assert "\n" not in str(caught.value)


def node_link(background):
    nodes = [{"id": "a"}, {"id": "b"}]
    edges = [{"source": "a", "target": "b", "cost": -1.0}]
    return json.dumps(
        {"directed": False, "multigraph": False, "graph": {"background": background}, "nodes": nodes, "edges": edges}
    )


@pytest.mark.parametrize(
    ("background", "message"),
    [
        (0.5, "expected a list of lists"),
        ([0.5], "expected a list of lists"),
        ([[]], "expected a list of lists"),
        ([["x"]], "a factor in the background of the graph"),
        ([[0.5, [1.0]]], "expected a list of 2 numbers"),
        ([[0.5, [1.0, "many"]]], "a weight in the background of the graph"),
        ([[0.5, [1.0, 2.0], [1.0, 2.0, 3.0]]], "expected a list of 2 numbers"),
        ([[math.nan]], "a factor in the background of the graph|finite"),
        ([[math.inf]], "finite|a factor"),
        ([[0.5, [1.0, math.nan]]], "finite|a weight"),
        ([[1e300, [1e300, 1e300]]], "the background overflows"),
        ([[1.0]] * 9, "expected at most 7"),
    ],
)
def test_malformed_json(background, message):
    with pytest.raises(FormatError, match=message) as caught:
        gp.read(io.BytesIO(node_link(background).encode()), "json")
    assert "\n" not in str(caught.value)


def archive(**changes):
    arrays = {
        "n": np.int64(3), "u": np.array([0]), "v": np.array([1]), "cost": np.array([-1.0]),
        "beta": np.array([0.5]), "x": np.ones((1, 3)), "y": np.ones((1, 3)),
    }  # fmt: skip
    arrays |= changes
    stream = io.BytesIO()
    np.savez(stream, **{name: value for name, value in arrays.items() if value is not None})
    return stream.getvalue()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x": np.ones((1, 2))}, "x and y have shapes"),
        ({"x": np.ones(3)}, "x has shape"),
        ({"y": np.ones((2, 3))}, "x and y have shapes"),
        ({"beta": np.array([np.nan])}, "finite"),
        ({"beta": np.array([np.inf])}, "finite"),
        ({"x": np.array([[1.0, np.nan, 1.0]])}, "finite"),
        ({"beta": np.array(["0.5"])}, "beta has dtype"),
        ({"beta": np.array(0.5)}, "beta has shape"),
        ({"x": None}, "x|beta"),
        ({"beta": np.array([1e300]), "x": np.full((1, 3), 1e300), "y": np.full((1, 3), 1e300)}, "overflows"),
        ({"beta": np.ones(9), "x": np.ones((9, 3)), "y": np.ones((9, 3))}, "expected at most 7"),
    ],
)
def test_malformed_npz(changes, message):
    with pytest.raises(FormatError, match=message) as caught:
        gp.read(io.BytesIO(archive(**changes)), "npz")
    assert "\n" not in str(caught.value)


# ------------------------------------------------------------------------------------------ a cost of what is missing


def test_missing_is_that_of_the_constructor():
    p = gp.read(io.BytesIO(b"u,v,cost\n0,1,-2\n1,2,0\n2,3,-1\n"), "csv", missing=0.5)
    assert [p.evaluate(x) for x in ([0, 0, 0, 1], [0, 1, 1, 0], [0, 0, 1, 1], [0] * 4)] == [-1.5, 0.5, -3.0, -1.5]
    assert gp.read(io.BytesIO(b"MULTICUT\n0 1 2.5\n1 2 -1\n"), missing=1.0).evaluate([0, 0, 0]) == -0.5
    table = io.BytesIO(b"a,b,p\nx,y,0.9\ny,z,0.8\n")
    frame = {"a": ["x", "y"], "b": ["y", "z"], "p": [0.9, 0.8]}
    wanted = gp.SetPartition.from_frame(frame, "a", "b", probability="p", missing=0.5)
    assert gp.io.read_pairs(table, probability="p", missing=0.5).evaluate([0, 0, 0]) == wanted.evaluate([0, 0, 0])
    joined = gp.read(io.BytesIO(b"u,v,cost\n0,1,-inf\n1,2,inf\n3,,\n"), "csv", missing=0.5)
    assert len(joined.must_join) == 1 and joined._has_must_cut and joined.evaluate([0, 0, 1, 0]) == 1.5


@pytest.mark.parametrize(
    ("text", "format", "missing", "message"),
    [
        (CSV + ",,0.5\n", "csv", 0.5, "has a background already: 0.5 for each other pair"),
        (CSV + "c,,\n,,0.5\n" + "".join(f"n{k},,\n" for k in range(1200)), "csv", 0.5, "has a background already"),
        ("p cep 3 1\n1 2\n", "pace", 0.5, "format pace has all of them"),
        ("2\n1\n", "cplib", 0.5, "format cplib has all of them"),
        ("2 1\n1 1 2\n", "qubo", 0.5, "holds a factor graph"),
        (CSV, "csv", 0.5, "all pairs are listed"),
        (CSV + "c,,\n", "csv", math.nan, "missing is nan: expected a finite number"),
    ],
)
def test_missing_that_does_not_fit(text, format, missing, message):
    with pytest.raises((InvalidOption, InvalidProblem), match=message) as caught:
        gp.read(io.BytesIO(text.encode()), format, missing=missing)
    assert "\n" not in str(caught.value)
