"""Paths, streams, standard input and output, and files that are never half-written; the real instances."""

import csv
import functools
import gzip
import io
import lzma
import os
import stat
import sys
import zlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import graphpart as gp
from graphpart.files.source import replacing
from graphpart.io import FORMATS, find_format

P = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-1.5, 2.0])
TEXT = b"MULTICUT\n0 1 1.5\n1 2 -2\n"


def test_table_of_formats() -> None:
    assert len({known.name for known in FORMATS}) == len(FORMATS)
    for known in FORMATS:
        assert known.problem in ("partition", "crf", "either")
        assert all(suffix.startswith(".") for suffix in known.suffixes)
        assert callable(known.sniff) and callable(known.read)
        assert find_format(known.name) is known
    with pytest.raises(gp.InvalidOption, match=r"format is 'dot': expected one of .*pace"):
        gp.read(io.BytesIO(TEXT), "dot")


def test_format_overrides_suffix_and_content(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(TEXT)
    assert gp.read(path, "multicut").n == 3
    with pytest.raises(gp.FormatError, match=r"x\.csv:1: found 'MULTICUT': expected the header"):
        gp.read(path)


def test_suffixes_are_matched_in_any_case(tmp_path: Path) -> None:
    gp.write(P, tmp_path / "X.MULTICUT.GZ", "multicut")
    assert gp.read(tmp_path / "X.MULTICUT.GZ").n == 3


def test_unknown_suffix_to_write(tmp_path: Path) -> None:
    with pytest.raises(gp.InvalidOption, match=r"the suffix of .*x\.txt tells no format .*\.multicut"):
        gp.write(P, tmp_path / "x.txt")
    with pytest.raises(gp.InvalidProblem, match="got int: expected a SetPartition or a networkx graph"):
        gp.write(3, tmp_path / "x.csv")  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_missing_file(tmp_path: Path) -> None:
    for read in (gp.read, gp.read_labels):
        with pytest.raises(FileNotFoundError):
            read(tmp_path / "x.csv")
    with pytest.raises(FileNotFoundError):
        gp.write(P, tmp_path / "no" / "x.csv")


def test_streams_stay_open() -> None:
    stream = io.BytesIO()
    gp.write(P, stream, "multicut")
    assert stream.getvalue() == TEXT
    stream.seek(0)
    assert gp.read(stream).n == 3
    assert not stream.closed


def test_standard_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=out))
    gp.write(P, "-", "multicut")
    gp.write_labels([0, 1], "-")
    assert out.getvalue() == TEXT + b"0\n1\n"
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(gzip.compress(TEXT))))
    assert gp.read("-").n == 3
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"0\nx\n")))
    with pytest.raises(gp.FormatError, match=r"<stdin>:2: found 'x'"):
        gp.read_labels("-")


def test_xz() -> None:
    for data in (lzma.compress(TEXT), lzma.compress(TEXT[:12]) + bytes(8) + lzma.compress(TEXT[12:])):
        assert gp.read(io.BytesIO(data)).n == 3
        for size in range(7, len(data)):
            if bytes(8) not in data or size > 90:
                with pytest.raises(
                    gp.FormatError, match=r"the xz data are damaged or truncated .*expected all of them"
                ):
                    gp.read(io.BytesIO(data[:size]), "multicut")
        for at in range(8, len(data), 5):
            damaged = data[:at] + bytes([data[at] ^ 64]) + data[at + 1 :]
            with pytest.raises(gp.FormatError):
                gp.read(io.BytesIO(damaged), "multicut")


def test_xz_may_not_ask_for_much_memory() -> None:
    """A dictionary of 512 MB is asked for in the header of the first block, whatever the data are."""
    data = bytearray(lzma.compress(TEXT))
    end = 12 + 4 * data[12]  # of this header: its size, flags, the filter, bytes of options, the dictionary
    assert data[14:16] == b"\x21\x01"
    data[16] = 34
    data[end : end + 4] = zlib.crc32(data[12:end]).to_bytes(4, "little")
    with pytest.raises(gp.FormatError, match=r"damaged or truncated \(Memory usage limit"):
        gp.read(io.BytesIO(data), "multicut")


@functools.cache
def equal_bytes(compress, content: bytes) -> bytes:
    return compress(content * (1 << (20 if content == b"\n" else 24)))


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress])
@pytest.mark.parametrize("content", [b" ", b"\n", b"0", b"x"])
@pytest.mark.parametrize("format", ["uai", "lg", "cfn", "qubo", "multicut"])
def test_what_expands_without_end(compress, content, format) -> None:
    """Up to sixteen million equal bytes take no more memory than a few times their own size."""
    import resource

    compressed = equal_bytes(compress, content)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(gp.FormatError):
        gp.read(io.BytesIO(compressed), format)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 600 << 10  # KiB


class Dripping:
    """A stream that gives at most three bytes at a time."""

    def __init__(self, stream: io.RawIOBase) -> None:
        self.stream = stream

    def read(self, size: int) -> bytes:
        return self.stream.read(min(size, 3)) or b""


def test_pipes() -> None:
    """Bytes arrive in small parts; nothing can be read twice."""
    for data, n in ((TEXT, 3), (b"u,v,cost\n0,1,2\na,b,2\n", 4), (b"3\n1 2\n3\n", 3)):
        r, w = os.pipe()
        with open(w, "wb") as writer:
            writer.write(data)
        with open(r, "rb", buffering=0) as reader:
            assert gp.read(Dripping(reader)).n == n  # type: ignore[arg-type]


def write_and_raise(path: Path, error: type[BaseException]) -> None:
    with replacing(path) as stream:
        stream.write(b"u,v,cost\n" * 1000)
        raise error


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".csv.xz"])
def test_nothing_half_written(error: type[BaseException], suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"x{suffix}"
    for before in (None, b"precious"):
        if before:
            path.write_bytes(before)
        with pytest.raises(error):
            write_and_raise(path, error)
        assert [p.name for p in tmp_path.iterdir()] == ([path.name] if before else [])
        assert before is None or path.read_bytes() == before


def test_refused_problem_leaves_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.gr"
    path.write_bytes(b"precious")
    with pytest.raises(gp.InvalidProblem, match=r"the cost of 0 and 1 is -1\.5"):
        gp.write(P, path)
    assert path.read_bytes() == b"precious"
    assert len(list(tmp_path.iterdir())) == 1


def test_permissions_and_links(tmp_path: Path) -> None:
    umask = os.umask(0o027)
    try:
        gp.write(P, tmp_path / "x.csv")
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "x.csv").stat().st_mode) == 0o640
    (tmp_path / "x.csv").chmod(0o604)
    (tmp_path / "y.csv").symlink_to("x.csv")
    gp.write_labels([0, 1], tmp_path / "y.csv")
    assert (tmp_path / "y.csv").is_symlink()
    assert (tmp_path / "x.csv").read_bytes() == b"element,cluster,size\n0,0,1\n1,1,1\n"
    assert stat.S_IMODE((tmp_path / "x.csv").stat().st_mode) == 0o604


def test_devices_are_written_directly() -> None:
    gp.write(P, "/dev/null", "csv")
    assert not os.path.isfile("/dev/null")


def test_writing_is_deterministic(tmp_path: Path) -> None:
    for known in FORMATS:
        if known.holds("partition") and known.name != "pace":
            for packed in (".gz", ".xz"):
                for name in ("x", "y"):
                    gp.write(P, tmp_path / f"{name}{known.suffixes[0]}{packed}")
                x, y = ((tmp_path / f"{name}{known.suffixes[0]}{packed}").read_bytes() for name in ("x", "y"))
                assert x == y


@pytest.mark.parametrize(
    ("format", "problem", "text"),
    [
        ("multicut", gp.SetPartition.from_pairs(1, [], []), "format multicut cannot hold a problem with one element"),
        ("pace", gp.SetPartition.from_pairs(9, [(0, 1)], [1.0]), r"pace cannot .* only 1 of 36 pairs have a cost"),
        ("pace", gp.SetPartition.from_pairs(2, [(0, 1)], [-1.0], must_join=[(0, 1)]), "a pair must be joined"),
        ("cplib", gp.SetPartition.from_pairs(2, [(0, 1)], [3.0], must_join=[(0, 1)]), "must be joined and cost 3.0"),
        ("npy", gp.SetPartition.from_pairs(9, [(0, 1)], [3.0], must_join=[(0, 1)]), "expected one of csv, json, multi"),
        ("csv", gp.SetPartition.from_pairs(2, [(0, 1)], [3.0], [1, "1"]), "an integer and a text that is written the"),
        ("csv", gp.SetPartition.from_pairs(2, [(0, 1)], [3.0], ["", "1"]), "cannot hold the name ''"),
        ("csv", gp.SetPartition.from_pairs(2, [(0, 1)], [3.0], [1.5, "1"]), "cannot hold the name 1.5"),
        ("npz", gp.SetPartition.from_pairs(2, [(0, 1)], [3.0], [1, "1"]), "holds nodes that are all integers"),
        ("npz", gp.SetPartition.from_pairs(2, [(0, 1)], [3.0], [1, 2**70]), "holds nodes that are all integers"),
        ("json", gp.SetPartition.from_pairs(2, [(0, 1)], [3.0], [1, frozenset()]), "cannot hold the node frozenset"),
        ("npy", gp.SetPartition.from_pairs(10**6, [(0, 1)], [3.0]), "needs a matrix of 8e.03 GB"),
        ("cplib", gp.SetPartition.from_pairs(10**6, [(0, 1)], [3.0]), "needs a matrix of 8e.03 GB"),
    ],
)  # fmt: skip
def test_refused(format: str, problem: gp.SetPartition, text: str) -> None:
    with pytest.raises(gp.InvalidProblem, match=text):
        gp.write(problem, io.BytesIO(), format)


# ------------------------------------------------------------------------------------------------ conventions


def test_signs_count_disagreements() -> None:
    p = gp.read(io.BytesIO(b"u,v,sign\r\n10,20,1\r\n20,30,+1\r\n10,30,-1\r\n20,10,1\r\n"))
    assert list(p.nodes) == [10, 20, 30]
    assert p.objective(p.evaluate([0, 0, 0])) == 1  # the foes 10 and 30 together
    assert p.objective(p.evaluate([0, 1, 1])) == 2  # the friends 10 and 20, named twice, apart
    same = gp.read(io.BytesIO(b"\xef\xbb\xbf10,20,1\r\n20,30,+1\r\n10,30,-1\r\n20,10,1"))
    assert same.offset == p.offset == 3
    np.testing.assert_array_equal(same.matrix, p.matrix)


def test_weights_attract() -> None:
    p = gp.read(io.BytesIO(b'u,v,weight\n"a, b",c,2.5\nc,d,-inf\n"a, b",d,inf\nc,"a, b",1\nlonely,,\n'))
    assert list(p.nodes) == ["a, b", "c", "d", "lonely"]
    assert p.evaluate([{"a, b", "d"}, {"c"}, {"lonely"}]) == 0.0
    assert p.must_join.tolist() == [[0, 2]]
    assert p._must_cut.tolist() == [[1, 2]]


def test_numbers_and_names_in_one_edge_list() -> None:
    lines = [f"{k},{k + 1},1\n" for k in range(5, 2000)]
    p = gp.read(io.BytesIO(("u,v,cost\n" + "".join(lines) + "5,x,2\n007,6,-3\n").encode()))
    assert list(p.nodes) == [*range(5, 2001), "x", "007"]
    assert p.evaluate([{5, "x"}, {6, "007"}, *({k} for k in range(7, 2001))]) == -1.0
    later = gp.read(io.BytesIO(("u,v,cost\n" + "".join(lines) + '"3",2,2\n').encode()))
    assert list(later.nodes) == [2, 3, *range(5, 2001)]
    with pytest.raises(gp.FormatError, match=":1998: found 'y': expected a number"):
        gp.read(io.BytesIO(("u,v,cost\n" + "".join(lines) + "5,x,2\n5,x,y\n").encode()))


@pytest.mark.parametrize("rows", [2, 60_000])  # by Python's reader, and of a table in parts
def test_a_header_that_is_repeated(rows, tmp_path) -> None:
    table = tmp_path / "two.csv"
    one = "a,b,p\n" + "".join(f"{k},{k + 1},0.9\n" for k in range(rows))
    table.write_text(one + one.replace("a,b", "a, b"))
    with pytest.raises(gp.FormatError, match=rf"two\.csv:{rows + 2}: the header is repeated: expected it in the first"):
        gp.read(table, left="a", right="b", probability="p")
    table.write_text("1,2,0.5\n1,2,0.5\n1,3,x\n")  # a row that is as a header of numbers is one
    with pytest.raises(gp.FormatError, match=r"two\.csv:3: column '0\.5' has 'x'"):
        gp.read(table, left="1", right="2", probability="0.5")


def test_lines_of_quoted_fields() -> None:
    with pytest.raises(gp.FormatError, match=":4: found '1x'"):
        gp.read(io.BytesIO(b'u,v,cost\n"a\nb",c,1\nc,d,1x\n'))


def test_required_join_keeps_its_cost() -> None:
    p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [3.0, 1.0], must_join=[(0, 1)])
    for format in ("csv", "json", "multicut", "npz"):
        stream = io.BytesIO()
        gp.write(p, stream, format)
        q = gp.read(io.BytesIO(stream.getvalue()), format)
        assert q.evaluate([0, 0, 1]) == 3.0
        assert q.evaluate([0, 1, 1]) == np.inf


def test_real_instances(shared_instances: Path) -> None:
    with open(shared_instances / "best_known.csv", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["file"].startswith(("pace/", "signed/"))]
    assert rows
    for row in rows:
        p = gp.read(shared_instances / row["file"])
        assert p.n == int(row["n"])
        # Every element alone: all edges are deleted, all friends are apart.
        data = (shared_instances / row["file"]).read_bytes().split()
        friends = int(row["m"]) if row["file"].startswith("pace") else sum(x.endswith(b",1") for x in data)
        assert p.objective(p.evaluate(range(p.n))) == friends
        # All in one subset: all that is missing is inserted, all foes are together.
        others = p.n * (p.n - 1) // 2 - friends if row["file"].startswith("pace") else len(data) - friends
        assert p.objective(p.evaluate([0] * p.n)) == others


@pytest.mark.parametrize("name", ["signed/highlandtribes.csv", "signed/cloister.csv", "signed/congress.csv"])
def test_real_disagreements(shared_instances: Path, name: str) -> None:
    with open(shared_instances / "best_known.csv", newline="") as stream:
        best = {row["file"]: float(row["value"]) for row in csv.DictReader(stream)}
    r = gp.partition.kernighan_lin(gp.read(shared_instances / name))
    assert r.objective >= best[name]
    assert r.objective <= 1.5 * best[name]
