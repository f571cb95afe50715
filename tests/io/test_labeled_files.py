"""Files of labelled partitions: what is written is read again, and one clear line says what is wrong."""

import io
import json

import numpy as np
import pytest
from labeled import random_problem

import graphpart as gp
from graphpart.errors import FormatError, InfeasibleProblem, InvalidOption, InvalidProblem

GOOD = {
    "nodes": [{"id": "a", "label_costs": [0, 1]}, {"id": "b", "label_costs": [1, "Infinity"]}],
    "edges": [{"source": "b", "target": "a", "joined": [[-1, 2], [3, "Infinity"]], "parted": 0.5}],
}


def written(q, format):
    stream = io.BytesIO()
    gp.write(q, stream, format)
    return stream.getvalue()


def named(n):
    return [f"x{i}" for i in range(n)]


@pytest.mark.parametrize("format", ["npz", "json"])
@pytest.mark.parametrize("names", [None, named])
def test_what_is_written_is_read_again(format, names):
    for seed in range(15):
        try:
            own, pairs, joined, parted = random_problem(np.random.default_rng(seed))
            q = gp.LabeledPartition.from_arrays(own, pairs, joined, parted, None if names is None else names(len(own)))
        except InfeasibleProblem:
            continue
        data = written(q, format)
        r = gp.read(io.BytesIO(data))
        assert isinstance(r, gp.LabeledPartition) and list(r.nodes) == list(q.nodes)
        for name in ("label_costs", "u", "v", "joined", "parted"):
            np.testing.assert_array_equal(getattr(r, name), getattr(q, name))
        assert written(r, format) == data


def test_numbers_instead_of_tables():
    q = gp.LabeledPartition.from_arrays(np.zeros((3, 4)), [(0, 1), (1, 2)], [1.0, np.inf])
    assert len(np.load(io.BytesIO(written(q, "npz")))["joined"].shape) == 1
    assert [edge["joined"] for edge in json.loads(written(q, "json"))["edges"]] == [1.0, "Infinity"]


def test_an_archive_made_by_numpy(tmp_path):
    path = tmp_path / "q.npz"
    np.savez(path, label_costs=np.zeros((2, 2)), u=[1], v=[0], joined=[[[0, 1], [2, 3]]])
    assert gp.read(path).evaluate([0, 0], [0, 1]) == 2.0  # rows are classes of u


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda d: d["nodes"][1].pop("label_costs"),
            r"label_costs of nodes\[1\] is None: expected a list of 2",
        ),
        (lambda d: d["nodes"][1]["label_costs"].pop(), r"label_costs of nodes\[1\] is \[1\]: expected a list of 2"),
        (lambda d: d["nodes"][1].update(id="a"), r"the id of nodes\[1\] is 'a', that of an earlier node"),
        (lambda d: d["nodes"].append(7), r"nodes\[2\] is 7: expected an object with id and label_costs"),
        (lambda d: d["edges"][0].pop("joined"), r"joined of edges\[0\] is missing: expected a number"),
        (
            lambda d: d["edges"][0].update(joined=[[1, 2]]),
            r"joined of edges\[0\] is .* expected a number or 2 rows",
        ),
        (lambda d: d["edges"][0].update(parted="x"), r"parted of edges\[0\] is 'x': expected a number"),
        (lambda d: d["edges"][0].update(target="c"), r"the target of edges\[0\] is 'c': expected the id of a node"),
        (lambda d: d["edges"].append(d["edges"][0]), r"pairs 0 and 1 are both \(0, 1\)"),
        (lambda d: d["edges"].append(3), r"edges\[1\] is 3: expected an object"),
        (lambda d: d.update(edges=5), "edges is 5: expected a list"),
        (lambda d: d.update(directed=True), "expected an undirected one"),
    ],
)
def test_malformed_json(change, message):
    data = json.loads(json.dumps(GOOD))
    assert gp.read(io.BytesIO(json.dumps(data).encode())).evaluate([0, 0], [1, 0]) == 1 + 1 + 3
    change(data)
    with pytest.raises(FormatError, match=message) as caught:
        gp.read(io.BytesIO(json.dumps(data).encode()))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"joined": None}, "the array joined is missing"),
        ({"v": [1, 1]}, "u, v have 1, 2 entries"),
        ({"u": [0.5]}, r"u has shape \(1,\) and dtype float64: expected integers of 1 dimensions"),
        ({"joined": [["a"]]}, "expected real numbers of 1 or 3 dimensions"),
        ({"joined": [1.0, 2.0]}, r"joined has shape \(2,\): expected \(1,\)"),
        ({"other": [1]}, "found the array 'other': expected some of label_costs"),
        ({"nodes": ["a"]}, "1 node for 2 elements"),
        ({"label_costs": [[np.nan], [0.0]]}, r"label_costs\[0, 0\] is nan"),
    ],
)
def test_malformed_archives(arrays, message):
    given = {"label_costs": np.zeros((2, 1)), "u": [0], "v": [1], "joined": [1.0]} | arrays
    stream = io.BytesIO()
    np.savez(stream, **{name: value for name, value in given.items() if value is not None})
    stream.seek(0)
    with pytest.raises(FormatError, match=message):
        gp.read(stream, "npz")


def test_other_formats_refuse():
    q = gp.LabeledPartition.from_arrays(np.zeros((2, 1)), [(0, 1)], [1.0])
    with pytest.raises(InvalidProblem, match="format csv does not hold a LabeledPartition: expected one of npz, json"):
        written(q, "csv")
    with pytest.raises(InvalidOption, match=r"tells no format for this problem: expected .npz, .json"):
        gp.write(q, "q.uai")
    with pytest.raises(InvalidProblem, match="without elements: expected format npz"):
        written(gp.LabeledPartition.from_arrays(np.zeros((0, 2)), [], []), "json")
    with pytest.raises(InvalidOption, match="missing is a cost of pairs: the file holds a labelled partition"):
        gp.read(io.BytesIO(written(q, "npz")), "npz", missing=1.0)


def test_results_are_written_with_their_classes(tmp_path):
    q = gp.LabeledPartition.from_arrays([[0.0, 2.0], [1.0, 0.0]], [(0, 1)], [-3.0])
    r = gp.solve(q)
    for name in ("r.csv", "r.labels", "r.txt"):
        gp.write_labels(r, tmp_path / name)
        assert (tmp_path / name).read_text() == "element,cluster,size,class\n0,0,2,0\n1,0,2,1\n"
        assert gp.read_labels(tmp_path / name, q).tolist() == [0, 0]
    for name in ("r.json", "r.npz"):
        gp.write_labels(r, tmp_path / name)
        assert gp.read_labels(tmp_path / name, q).tolist() == [0, 0]
    assert json.loads((tmp_path / "r.json").read_text())["classes"] == [0, 1]
    assert np.load(tmp_path / "r.npz")["classes"].tolist() == [0, 1]
