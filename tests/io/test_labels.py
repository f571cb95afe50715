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


@given(p=partitions(), data=st.data(), suffix=st.sampled_from([".csv", ".txt", ".txt.gz", ".csv.gz"]))
def test_round_trip(p: gp.SetPartition, data: st.DataObject, suffix: str, tmp_path_factory) -> None:
    labels = np.array(data.draw(st.lists(st.integers(0, 3), min_size=p.n, max_size=p.n)), int)
    path = tmp_path_factory.mktemp("labels") / f"x{suffix}"
    if all(isinstance(node, int) for node in p.nodes) or "csv" not in suffix:
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
