"""Files of problems whose clusters have to be connected: npz, json, and MULTICUT with a second section."""

import io
import json

import numpy as np
import pytest

import graphpart as gp
from graphpart.testing import partition_problems


def written(p, format):
    stream = io.BytesIO()
    gp.write(p, stream, format)
    return stream.getvalue()


def back(data, format=None):
    return gp.read(io.BytesIO(data), format)


@pytest.mark.parametrize("format", ["npz", "json", "multicut"])
def test_files_keep_what_is_lifted(format):
    for case, p in partition_problems(3, 40, connected=True):
        if (format == "multicut" and p.n == 1) or (format == "npz" and case.startswith("named")):
            continue
        q = back(written(p, format))
        assert q.n == p.n and q._connected, case
        assert np.array_equal(q.must_join, p.must_join), case
        if format == "multicut" and q.m > p.m:  # the pair of cost 0 that names the last element
            assert q.lifted[-1] or q.lifted[np.flatnonzero(q.v == p.n - 1)].any()
            continue
        for name in ("u", "v", "cost", "lifted"):
            assert np.array_equal(getattr(q, name), getattr(p, name)), (case, name)
        if format != "multicut":
            assert q.nodes == p.nodes and q.offset == p.offset and q.sense == p.sense


def test_the_objective_of_multicut_is_the_weight_of_cut_pairs():
    p = back(b"MULTICUT\n0 1 1\n1 2 -0.5\nLIFTED\n0 2 2\n")
    assert p.objective(p.evaluate([0, 0, 0])) == 0.0
    assert p.objective(p.evaluate([0, 0, 1])) == 1.5
    assert written(p, "multicut") == b"MULTICUT\n0 1 1\n1 2 -0.5\nLIFTED\n0 2 2\n"


def test_sections_may_be_empty_and_lines_have_other_ends():
    assert back(b"MULTICUT\nLIFTED\n")._connected
    p = back(b"MULTICUT\r\n0 1 1\r\n \tLIFTED \r\n\r\n0 2 1\r\n1 2 -inf")
    assert p.lifted.tolist() == [False, True, True] and p.cost.tolist() == [-1.0, -1.0, np.inf]
    assert back(b"MULTICUT\n0 1 1\nLIFTED").lifted.tolist() == [False]
    assert not back(b"MULTICUT\n0 1 1\n")._connected


def test_sections_are_found_in_any_block(monkeypatch):
    from graphpart.files import source

    rows = b"".join(b"%d %d 1.5\n" % (a, a + 1) for a in range(40))
    far = b"".join(b"%d %d -2\n" % (a, a + 2) for a in range(39))
    data = b"MULTICUT\n" + rows + b"LIFTED\n" + far
    for size in (1, 7, 64, 128, 1 << 20):
        monkeypatch.setattr(source.Source, "blocks", lambda self, size=size: iter(lambda: self._stream.read(size), b""))
        p = back(data)
        assert p.m == 79 and p.lifted.sum() == 39 and set(p.cost[p.lifted]) == {2.0}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"MULTICUT\n0 1 1\nLIFTED\n0 2 1\nLIFTED\n", ":5: found a second line LIFTED"),
        (b"MULTICUT\n0 1 1\n\nLIFTED\n0 2 one\n", ":5: found 'one': expected a number"),
        (b"MULTICUT\n0 1 1\nLIFTED\n0 0 1\n", ":4: found element '0' paired with itself"),
        (b"MULTICUT\n0 1 1\nLIFTED\n0 2 inf\n", "0 and 2 must be joined, but no path of base pairs links them"),
        (b"MULTICUT\n0 1 1\nLIFTED 3\n", ":3: found 'LIFTED'"),
        (b'{"nodes": [{"id": 0}, {"id": 1}], "edges": [{"source": 0, "target": 1, "cost": 1, "lifted": 1}]}',
         r"lifted of edges\[0\] is 1: expected true or false"),
        (b'{"graph": {"connected": "yes"}, "nodes": [], "edges": []}',
         "connected of the graph is 'yes': expected true"),
    ],
)  # fmt: skip
def test_malformed(data, message):
    with pytest.raises((gp.errors.FormatError, gp.errors.InfeasibleProblem), match=message) as error:
        back(data)
    assert "\n" not in str(error.value)


def test_malformed_arrays():
    arrays = {"n": 3, "u": np.array([0, 1]), "v": np.array([1, 2]), "cost": np.array([1.0, 2.0])}
    for lifted, message in (
        (np.array([True]), "lifted has 1 entries beside 2 pairs"),
        (np.array([0, 1]), "lifted has dtype int64: expected true or false"),
        (np.array([[True, False]]), r"lifted has shape \(1, 2\): expected \(k,\)"),
    ):
        stream = io.BytesIO()
        np.savez(stream, **arrays, lifted=lifted)
        with pytest.raises(gp.errors.FormatError, match=message):
            back(stream.getvalue())
    stream = io.BytesIO()
    np.savez(stream, matrix=np.zeros((2, 2)), lifted=np.array([True]))
    with pytest.raises(gp.errors.FormatError, match="lifted has 1 entries beside a matrix"):
        back(stream.getvalue())


@pytest.mark.parametrize("format", ["csv", "pace", "metis", "cplib", "npy"])
def test_other_formats_say_which_hold_lifted_pairs(format):
    p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [1.0, 1.0], lifted=([(0, 2)], [-3.0]))
    with pytest.raises(gp.errors.InvalidProblem, match="does not hold lifted pairs: expected one of json, multicut"):
        written(p, format)


def test_one_lifted_edge_of_json_is_enough():
    edges = [{"source": 0, "target": 1, "cost": 1.0}, {"source": 0, "target": 2, "cost": -1, "lifted": True}]
    data = {"nodes": [{"id": k} for k in range(3)], "edges": edges}
    assert back(json.dumps(data).encode()).lifted.tolist() == [False, True]
    assert json.loads(written(back(json.dumps(data).encode()), "json"))["graph"] == {"connected": True}
