"""Files of labels."""

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import partitions

import graphpart as gp
from graphpart.files.source import opened

P = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-1.5, 2.0], ["a", "b", "c"])


def read(data: bytes, problem: gp.SetPartition | None = None):
    return gp.read_labels(io.BytesIO(data), problem)


def test_column() -> None:
    assert read(b"7\r\n-3\r\n7\r\n\r\n").tolist() == [7, -3, 7]
    assert read(b"\xef\xbb\xbf7\n-3\n7", P).tolist() == [0, 1, 0]
    assert read(b"").tolist() == []


def test_table() -> None:
    assert read(b'node,label\n1,5\n"x, y",red\n') == {1: 5, "x, y": "red"}
    assert read(b"element,cluster,size\na,5,1\nb,7,1\n") == {"a": 5, "b": 7}
    assert read(b"variable,label\nx,5\n") == {"x": 5}
    assert read(b",size,Cluster,Element\n0,2,3,a\n1,2,3,b\n") == {"a": 3, "b": 3}  # as pandas writes it with its index
    assert read(b"node,label\nc,5\na,6\nb,5\n", P).tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"0\n\n1\n", ":2: found an empty line: expected a label, an integer"),
        (b"0\n1.0\n", ":2: found '1.0': expected a label, an integer of 64 bits"),
        (b"0\n01\n", ":2: found '01': expected a label"),
        (b"0 1\n", ":1: found '0 1': expected a label"),
        (b"0\n9223372036854775808\n", ":2: found '9223372036854775808': expected a label"),
        (b"\xff\n", ":1: found .* expected a label"),
        (b"0\n0\n", "labels have shape (2,): expected (3,)"),
        (b"a,0\n", ":1: found 'a,0': expected the header element,cluster or variable,label"),
        (b"node,label\na\n", ":2: found 'a': expected node,label"),
        (b"node,label\na,\n", ":2: found 'a,': expected node,label"),
        (b"node,label\na,1\n\na,1\n", ":4: found node 'a' again: expected each node once"),
        (b"node,label\n\xff,1\n", ":2: found"),
        (b'node,label\n"a,1\n', ":2: unexpected end of data: expected node,label"),
        (b"node,label\na,1\nb,1\n", "'c' has no label"),
        (b"node,label\na,1\nb,1\nc,1\nd,1\n", "'d' is not a node of the problem"),
    ],
)
def test_wrong(data: bytes, text: str) -> None:
    with pytest.raises(gp.FormatError) as caught:
        read(data, P)
    for part in text.split(" .* "):
        assert part in str(caught.value)


@given(p=partitions(), data=st.data(), suffix=st.sampled_from([".csv", ".txt", ".txt.gz", ".csv.gz", ".json", ".npz"]))
def test_round_trip(p: gp.SetPartition, data: st.DataObject, suffix: str, tmp_path_factory) -> None:
    labels = np.array(data.draw(st.lists(st.integers(0, 3), min_size=p.n, max_size=p.n)), int)
    path = tmp_path_factory.mktemp("labels") / f"x{suffix}"
    if all(isinstance(node, int) for node in p.nodes) or suffix in (".txt", ".txt.gz", ".json"):
        gp.write_labels(labels, path, p)
        assert gp.read_labels(path, p).tolist() == p.labels(labels).tolist()


@pytest.mark.parametrize(
    "text",
    [
        b"MPE\n3 0 2 1\n",
        b"MAP\n3 0 2 1\n",
        b"MPE\r\n1\r\n3 0 2 1\r\n",
        b"MPE\n3\n0\n2\n1\n",
        b"MPE\n3 0 0 0\n-BEGIN-\n3 1 1 1\n-BEGIN-\n3 0 2 1\n",
        b"MPE\n-BEGIN-\n1\n3 0 2 1",
    ],
)
def test_results_of_uai(text: bytes) -> None:
    f = gp.FactorGraph.from_arrays([2, 3, 2], [])
    assert gp.read_labels(io.BytesIO(text), f).tolist() == [0, 2, 1]
    assert gp.read_labels(io.BytesIO(text)).tolist() == [0, 2, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"MPE\n", ":2: the file ends: expected the number of variables"),
        (b"MPE\n3 0 1\n", ":3: the file ends: expected the labels of 3 variables"),
        (b"MPE\n3 0 1 1 0\n", ":2: found 0: expected the end of the file, as 3 labels are read"),
        (b"MPE\n3 0 -1 0\n", ":2: found -1: expected the labels of 3 variables, a whole number from 0"),
        (b"MPE\n3 0 0.5 0\n", ":2: found 0.5: expected the labels of 3 variables, a whole number from 0"),
        (b"MPE\n3 0 nan 0\n", "nan"),
        (b"MPE\n99999999999 0\n", ":2: found 99999999999: expected the number of variables, a whole number"),
        (b"MPE\n2\n3 0 1 0\n3 0 0 0\n", ":2: found 2: expected one sample, 1 in this line"),
        (b"MPE\n3 0 1 0\n-BEGIN-\n\n3 0 1\n", ":6: the file ends: expected the labels of 3 variables"),
        (b"MPE\n3 0 3 0\n", "expected"),
        (b"MAR\n3 2 0.5 0.5\n", ":1: found a result of the task MAR: expected MPE or MAP"),
        (b"MMAP\n1 0 1\n", ":1: found a result of the task MMAP: expected MPE or MAP"),
        (b"MPE\n\x00\xff\n", ":2: found"),
    ],
)
def test_wrong_results_of_uai(text: bytes, message: str) -> None:
    f = gp.FactorGraph.from_arrays([2, 3, 2], [])
    with pytest.raises(gp.FormatError) as caught:
        gp.read_labels(io.BytesIO(text), f)
    assert message in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "task"), [("x.mpe", "MPE"), ("x.MAP", "MAP"), ("x.uai.MPE.gz", "MPE"), ("x.map.xz", "MAP")]
)
def test_results_of_uai_are_written(name: str, task: str, tmp_path: Path) -> None:
    f = gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [[[1.0, 1.0], [0.0, 1.0]]])])
    gp.write_labels(gp.solve(f), tmp_path / name)
    with opened(tmp_path / name) as source:
        assert source.read() == f"{task}\n2 1 0\n".encode()
    assert gp.read_labels(tmp_path / name, f).tolist() == [1, 0]


def test_result(tmp_path: Path) -> None:
    r = gp.partition.greedy_joining(P)
    gp.write_labels(r, tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text() == "element,cluster,size\na,0,2\nb,0,2\nc,1,1\n"
    assert gp.read_labels(tmp_path / "x.csv", P).tolist() == r.labels.tolist()


def test_labels_without_problem(tmp_path: Path) -> None:
    gp.write_labels(np.array([4, 4, 9]), tmp_path / "x.txt")
    assert gp.read_labels(tmp_path / "x.txt").tolist() == [4, 4, 9]
    with pytest.raises(gp.InvalidPartition, match="expected n integers"):
        gp.write_labels([[0, 1]], tmp_path / "y.txt")
    with pytest.raises(gp.InvalidPartition, match="expected n integers"):
        gp.write_labels([0.5], tmp_path / "y.txt")
    assert not (tmp_path / "y.txt").exists()


@pytest.mark.parametrize("nodes", [["2", "1", "0"], [("a", 1), ("b", 2), "c"], [2.5, None, 1]])
def test_nodes_are_found_by_their_text(nodes: list[object], tmp_path: Path) -> None:
    p = gp.SetPartition.from_pairs(3, [(0, 1)], [-1.0], nodes)
    gp.write_labels(gp.solve(p), tmp_path / "labels.csv")
    assert gp.read_labels(tmp_path / "labels.csv", p).tolist() == [0, 0, 1]


# ---------------------------------------------------------------------------------------------------------- evidence


@pytest.mark.parametrize(
    ("text", "sample", "found"),
    [
        (b"2 0 1 2 0\n", 0, {0: 1, 2: 0}),
        (b"1\n2 0 1 2 0\n", 0, {0: 1, 2: 0}),
        (b"2\n1 0 1\n2 1 2 0 0\n", 1, {1: 2, 0: 0}),
        (b"2\n 0 1\n 2 0\n", 0, {0: 1, 2: 0}),
        (b"1\n 2 0\n", 0, {2: 0}),
        (b"0\n", 0, {}),
        (b"1\n0\n", 0, {}),
    ],
)
def test_evidence_in_any_layout(text: bytes, sample: int, found: dict[int, int]) -> None:
    f = gp.FactorGraph.from_arrays([2, 3, 2], [])
    assert gp.io.read_evidence(io.BytesIO(text), f, sample) == found
    assert gp.io.read_evidence(io.BytesIO(text), sample=sample) == found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", ":1: the file ends: expected k, then k variables"),
        (b"2\n 0 1\n", ":1: found 2: expected 1, the number of pairs of variable and label"),
        (b"1\n 0 1\n 1 2\n", ":1: found 1: expected 2, the number of pairs of variable and label"),
        (b"2\n 0 1\n 0 0\n", ":3: found 0: expected each variable once"),
        (b"2\n 0 1\n 3 0\n", ":3: found 3: expected a variable, a whole number from 0 to 2"),
        (b"2\n 0 1\n 2 2\n", ":3: found 2: expected a label of variable 2, a whole number from 0 to 1"),
        (b"2\n 0 nan\n 2 1\n", "nan"),
        (b"2\n0 1\n1 2 1\n", ":2: found 0: expected 0.5, the number of pairs"),
        (b"9999999999\n0 1\n", ":1: found 9999999999: expected the number of samples, a whole number"),
        (b"\x00\xff", ":1: found"),
    ],
)
def test_wrong_evidence(text: bytes, message: str) -> None:
    with pytest.raises(gp.FormatError) as caught:
        gp.io.read_evidence(io.BytesIO(text), gp.FactorGraph.from_arrays([2, 3, 2], []))
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_other_words_for_the_header() -> None:
    assert read(b"element,label\n1,5\n") == read(b"Variable, Label\n1,5\n") == {1: 5}


@pytest.mark.parametrize("suffix", ["csv", "json", "npz", "labels"])
def test_a_file_of_other_elements_is_a_start_by_name(suffix: str, tmp_path: Path) -> None:
    old = gp.solve(gp.SetPartition.from_pairs(4, [(0, 1), (2, 3)], [-1.0, -1.0], ["gone", "b", "c", "a"]))
    path = tmp_path / f"old.{suffix}"
    gp.write_labels(old, path)
    with pytest.raises(gp.FormatError, match="'gone' is not a node of the problem"):
        gp.read_labels(path, P)
    assert gp.read_labels(path, P, partial=True).tolist() == [0, 1, 0]
    new = gp.SetPartition.from_pairs(4, [(0, 1)], [1.0], ["new", "b", "a", "c"])
    assert gp.read_labels(path, new, partial=True).tolist() == [-1, 0, 1, 1]
    with pytest.raises(gp.FormatError, match="none of the 4 nodes, 'gone' the first, is one of the problem"):
        gp.read_labels(path, gp.SetPartition.from_pairs(2, [], [], ["x", "y"]), partial=True)
    again = tmp_path / f"again.{suffix}"
    gp.write_labels(old, again)
    assert again.read_bytes() == path.read_bytes()


def test_numbered_nodes_need_no_names(tmp_path: Path) -> None:
    gp.write_labels(gp.solve(gp.SetPartition.from_pairs(3, [(0, 1)], [-1.0])), tmp_path / "x.labels")
    assert (tmp_path / "x.labels").read_bytes() == b"0\n0\n1\n"


def test_names_keep_their_kind(tmp_path: Path) -> None:
    r = gp.solve(gp.SetPartition.from_pairs(2, [], [], [("a", 1), 7]))
    gp.write_labels(r, tmp_path / "x.json")
    assert gp.read_labels(tmp_path / "x.json") == {("a", 1): 0, 7: 1}
    with pytest.raises(gp.InvalidProblem, match="all integers of 64 bits or all text"):
        gp.write_labels(r, tmp_path / "x.npz")
    assert not (tmp_path / "x.npz").exists()
    gp.write_labels([4, 4, 9], tmp_path / "y.npz")
    assert gp.read_labels(tmp_path / "y.npz") == {0: 4, 1: 4, 2: 9}


def archive(**arrays: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b'{"nodes": ["a"]}', "labels is None: expected"),
        (b'{"nodes": ["a"], "labels": [0, 1]}', "1 node but 2 labels"),
        (b'{"nodes": ["a", "a"], "labels": [0, 1]}', "found node 'a' again"),
        (b'{"nodes": [{}], "labels": [0]}', "found the node {}: expected text or numbers"),
        (b'{"nodes": ["a"], "labels": [0.5]}', "found the label 0.5: expected integers or text"),
        (b'{"nodes": ["a"', "at column"),
        (archive(nodes=np.array(["a"])), "found the arrays nodes: expected nodes and labels"),
        (archive(nodes=np.array(["a"]), labels=np.array([0.5])), "labels has shape (1,) and dtype float64"),
        (archive(nodes=np.array(["a"]), other=np.array([0])), "found the array 'other'"),
        (archive(nodes=np.array(["a"], object), labels=np.array([0])), "holds Python objects"),
        (archive(nodes=np.array(["a"]), labels=np.array([0]))[:-30], "the archive is damaged"),
    ],
)
def test_wrong_files_with_names(data: bytes, text: str) -> None:
    with pytest.raises(gp.FormatError) as caught:
        read(data)
    assert text in str(caught.value)


@pytest.mark.parametrize("nodes", [None, [2**62, -3, 5], [2**70, 5, -3], [2, "a", 3], ["1", "2", '"'], [True, 0, 2]])
def test_large_tables_have_the_same_bytes(nodes, tmp_path, monkeypatch) -> None:
    pytest.importorskip("pyarrow")
    p, found = gp.SetPartition.from_pairs(3, [(0, 1)], [-1.0], nodes), []
    for many in (0, 2**16):
        monkeypatch.setattr(gp.files.labels, "MANY", many)
        gp.write_labels([0, 1, 0], tmp_path / "labels.csv", p)
        found.append((tmp_path / "labels.csv").read_bytes())
    assert found[0] == found[1] and found[0].count(b"\n") == 4


def test_names_that_a_file_does_not_have(tmp_path):
    table = {"a": ["x", "y"], "b": ["y", "z"], "s": [1.0, -1.0]}
    r = gp.solve(gp.SetPartition.from_frame(table, "a", "b", weight="s"))
    with pytest.warns(gp.GraphPartWarning, match=r"one on each line, .* without names: \.csv has both"):
        gp.write_labels(r, tmp_path / "out.xyz")
    assert (tmp_path / "out.xyz").read_text() == "0\n0\n1\n"
    gp.write_labels(r, tmp_path / "out.labels")  # warnings are errors in tests
    gp.write_labels(r, io.BytesIO())
    gp.write_labels(gp.solve(gp.SetPartition.from_pairs(3, [(0, 1)], [-1.0])), tmp_path / "out.xyz")
