"""What is written is read again, through every pair of formats, and what cannot be written is refused with a reason."""

import gzip
import io
import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import partitions

import graphpart as gp
from graphpart.io import FORMATS, find_format

NAMES = tuple(known.name for known in FORMATS if known.holds("partition"))
NAMED = ("csv", "json", "npz")  # the formats that keep names
ONE_NUMBER = ("cplib", "metis", "npy")  # the formats that cannot hold a required join and a cost of the same pair


def written(p: gp.SetPartition, format: str) -> bytes:
    stream = io.BytesIO()
    gp.write(p, stream, format)
    return stream.getvalue()


def again(p: gp.SetPartition, format: str) -> gp.SetPartition:
    return gp.read(io.BytesIO(written(p, format)), format)


def costs(p: gp.SetPartition) -> np.ndarray:
    matrix = np.zeros((p.n, p.n))
    u, v, cost = p.pairs()
    matrix[u, v] = cost
    return matrix


def ordered(p: gp.SetPartition) -> list[int]:
    """The elements in the order in which the format csv has them: integers ascending, else as they are."""
    if all(isinstance(node, int) for node in p.nodes):
        return sorted(range(p.n), key=lambda i: p.nodes[i])
    return list(range(p.n))


def check_same(p: gp.SetPartition, q: gp.SetPartition, order: list[int]) -> None:
    assert q.n == p.n
    full = costs(p) + costs(p).T
    np.testing.assert_array_equal(costs(q), np.triu(full[np.ix_(order, order)], 1))
    place = np.argsort(order)
    joins = np.sort(place[p.must_join], axis=1).tolist() if p.n else []
    assert sorted(map(tuple, q.must_join.tolist())) == sorted(map(tuple, joins))


def reason_to_refuse(p: gp.SetPartition, format: str) -> bool:
    """Whether a format cannot hold a problem, by its own statement."""
    matrix, pairs = costs(p), np.triu(np.ones((p.n, p.n), bool), 1)
    joined = any(matrix[a, b] != 0 for a, b in p.must_join)
    kinds = {type(node) for node in p.nodes}
    return {
        "pace": bool(len(p.must_join)) or bool((np.abs(matrix[pairs]) != 1).any()),
        "multicut": p.n == 1,
        "csv": not kinds <= {int, str} or "" in p.nodes or len({str(node) for node in p.nodes}) < p.n,
        "npz": not (kinds <= {int} or kinds <= {str}),
        "json": False,
    }.get(format, joined)


@pytest.mark.parametrize("second", NAMES)
@pytest.mark.parametrize("first", NAMES)
@settings(max_examples=12)
@given(data=st.data())
def test_pairs_of_formats(first: str, second: str, data: st.DataObject) -> None:
    kinds = ("sign",) if "pace" in (first, second) and data.draw(st.booleans()) else ("integer", "real", "huge", "tiny")
    p = data.draw(partitions(kinds=kinds, density=1.0 if kinds == ("sign",) else None))
    order = list(range(p.n))
    for format in (first, second):
        if reason_to_refuse(p, format):
            with pytest.raises(gp.InvalidProblem, match=f"format {format} "):
                written(p, format)
            return
        q = again(p, format)
        order = ordered(p) if format == "csv" else list(range(p.n))
        check_same(p, q, order)
        nodes = [p.nodes[i] for i in order]
        if format in NAMED:
            expected = [int(x) if format == "csv" and isinstance(x, str) and x.isdigit() else x for x in nodes]
            assert list(q.nodes) == expected
        else:
            assert q.nodes == range(p.n)
        if format in ("npz", "json"):
            assert (q.offset, q.sense) == (p.offset, p.sense)
        labels = data.draw(st.lists(st.integers(0, 2), min_size=q.n, max_size=q.n))
        check_objective(q, format, np.array(labels, int))
        p = q


def check_objective(p: gp.SetPartition, format: str, labels: np.ndarray) -> None:
    """The objective is the value that the format's own definition gives, where no requirement is violated."""
    cost = p.evaluate(labels)
    if not math.isfinite(cost):
        return
    matrix = costs(p)
    within = np.triu(labels[:, None] == labels[None, :], 1)
    cut = np.triu(~within, 1)
    finite = np.where(np.isfinite(matrix), matrix, 0.0)
    scale = 1e-12 * np.abs(finite).sum() + 1e-300
    if format == "cplib":  # weight within subsets
        assert p.objective(cost) == pytest.approx(-finite[within].sum(), abs=scale)
    elif format in ("multicut", "metis"):  # weight of cut pairs
        assert p.objective(cost) == pytest.approx(-finite[cut].sum(), abs=scale)
    elif format == "pace":  # edits
        assert p.objective(cost) == (matrix[within] == 1).sum() + (matrix[cut] == -1).sum()
    elif format in ("csv", "npy"):
        assert p.objective(cost) == cost


@pytest.mark.parametrize("format", NAMES)
@pytest.mark.parametrize("kind", ["exact", "content", "gzip", "stream"])
def test_format_is_recognised(format: str, kind: str, tmp_path) -> None:
    p = gp.SetPartition.from_pairs(3, [(0, 1), (0, 2), (1, 2)], [-1.0, 1.0, 1.0])
    known = find_format(format)
    if kind == "stream":
        q = gp.read(io.BytesIO(written(p, format)))
    elif kind == "exact":
        for suffix in known.suffixes:
            gp.write(p, tmp_path / f"x{suffix}")
            check_same(p, gp.read(tmp_path / f"x{suffix}"), [0, 1, 2])
        return
    elif kind == "gzip":
        path = tmp_path / f"x{known.suffixes[0]}.gz"
        gp.write(p, path)
        assert path.read_bytes()[:2] == b"\x1f\x8b"
        assert gzip.decompress(path.read_bytes()) == written(p, format)
        q = gp.read(path)
        path.rename(tmp_path / f"y{known.suffixes[0]}")  # compressed without saying so
        check_same(p, gp.read(tmp_path / f"y{known.suffixes[0]}"), [0, 1, 2])
    else:
        (tmp_path / "x.txt").write_bytes(written(p, format))
        q = gp.read(tmp_path / "x.txt")
    check_same(p, q, [0, 1, 2])


@pytest.mark.parametrize("format", NAMES)
def test_text_with_mark_and_foreign_line_ends(format: str) -> None:
    if format in ("npy", "npz"):
        return
    p = gp.SetPartition.from_pairs(4, [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)], [-1.0, 1.0, 1, 1, -1, 1])
    data = written(p, format)
    check_same(p, gp.read(io.BytesIO(b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n")), format), [0, 1, 2, 3])
    check_same(p, gp.read(io.BytesIO(data.rstrip(b"\n")), format), [0, 1, 2, 3])


@pytest.mark.parametrize("format", [name for name in NAMES if name != "pace"])
@given(value=st.floats(-1e307, 1e307, allow_nan=False))
def test_numbers_come_back_exactly(format: str, value: float) -> None:
    p = gp.SetPartition.from_matrix([[0, value], [value, 0]])
    (q,) = costs(again(p, format))[np.triu_indices(2, 1)].tolist()
    assert q == value


def test_networkx_reads_and_writes_our_json() -> None:
    import json

    G = nx.Graph()
    G.add_edge("a", ("b", 1), cost=-1.5)
    G.add_edge(("b", 1), 3, cost=2)
    G.add_node(2.5)
    p = gp.read(io.BytesIO(json.dumps(nx.node_link_data(G, edges="edges")).encode()))
    assert list(p.nodes) == list(G)
    assert p.evaluate([set(G)]) == 0.5
    back = nx.node_link_graph(json.loads(written(p, "json")), edges="edges")
    assert nx.utils.graphs_equal(back, nx.Graph(p.graph))
    old = json.dumps(nx.node_link_data(G, edges="links")).encode()
    assert gp.read(io.BytesIO(old), "json").nodes == p.nodes


def test_scipy_reads_our_matrix() -> None:
    p = gp.SetPartition.from_pairs(3, [(0, 1)], [2.5])
    np.testing.assert_array_equal(np.load(io.BytesIO(written(p, "npy"))), [[0, 2.5, 0], [2.5, 0, 0], [0, 0, 0]])
    fortran = io.BytesIO()
    np.save(fortran, np.asfortranarray(np.array([[0, 1], [1, 0]], np.int16)))
    assert gp.read(io.BytesIO(fortran.getvalue())).evaluate([0, 0]) == 1.0
