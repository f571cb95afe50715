"""Files of labels."""

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import partitions

import graphpart as gp

P = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-1.5, 2.0], ["a", "b", "c"])


def read(data: bytes, problem: gp.SetPartition | None = None):
    return gp.read_labels(io.BytesIO(data), problem)


def test_column() -> None:
    assert read(b"7\r\n-3\r\n7\r\n\r\n").tolist() == [7, -3, 7]
    assert read(b"\xef\xbb\xbf7\n-3\n7", P).tolist() == [0, 1, 0]
    assert read(b"").tolist() == []


def test_table() -> None:
    assert read(b'node,label\n1,5\n"x, y",red\n') == {1: 5, "x, y": "red"}
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
        (b"a,0\n", ":1: found 'a,0': expected the header node,label"),
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


def test_result(tmp_path: Path) -> None:
    r = gp.partition.greedy_joining(P)
    gp.write_labels(r, tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text() == "node,label\na,0\nb,0\nc,1\n"
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


def test_other_words_for_the_header() -> None:
    assert read(b"element,label\n1,5\n") == read(b"Variable, Label\n1,5\n") == {1: 5}


@pytest.mark.parametrize("suffix", ["csv", "json", "npz"])
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
        (b'{"nodes": ["a"], "labels": [0, 1]}', "1 nodes but 2 labels"),
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
