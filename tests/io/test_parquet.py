"""Parquet tables come in alike from paths, streams and compressed data, whatever their row groups and types."""

import gzip
import io
import os
import subprocess
import sys

import numpy as np
import pytest

import graphpart as gp

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pq = pytest.importorskip("pyarrow.parquet")

RNG = np.random.default_rng(0)
LEFT = RNG.integers(0, 300, 1000)
RIGHT = LEFT + RNG.integers(1, 40, 1000)
SCORE = RNG.integers(-50, 51, 1000)
OPTIONS = {"left": "a", "right": "b", "cost": "c", "duplicates": "sum"}
OPTIONS_OF_FRAME = {"cost": "c", "duplicates": "sum"}


def same(p, q):
    return list(p.nodes) == list(q.nodes) and all(map(np.array_equal, p.pairs(), q.pairs()))


@pytest.mark.parametrize("ids", ["int64", "int32", "uint8", "uint64"])
@pytest.mark.parametrize("costs", ["float64", "float32", "int16"])
def test_types_and_row_groups(tmp_path, ids, costs):
    top = 200 if ids == "uint8" else 400
    keep = top > RIGHT
    u, v, c = (x[keep].astype(kind) for x, kind in zip((LEFT, RIGHT, SCORE), (ids, ids, costs), strict=True))
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": u, "a": u, "b": v, "c": c}), path, row_group_size=170)
    expected = gp.SetPartition.from_frame({"a": u, "b": v, "c": c}, "a", "b", cost="c", duplicates="sum")
    assert same(gp.read(path, **OPTIONS), expected)
    table = pq.read_table(path)
    for start in (3, 170, 171):  # views of arrays that begin elsewhere
        part = {name: x[start:-5] for name, x in (("a", u), ("b", v), ("c", c))}
        some = gp.SetPartition.from_frame(table.slice(start, len(u) - start - 5), "a", "b", cost="c", duplicates="sum")
        assert same(some, gp.SetPartition.from_frame(part, "a", "b", cost="c", duplicates="sum"))
    batch = table.to_batches()[0]
    some = gp.SetPartition.from_frame(batch, "a", "b", cost="c", duplicates="sum")
    assert same(some, gp.SetPartition.from_frame(pa.table(batch), "a", "b", cost="c", duplicates="sum"))


def test_streams_and_compressed_data(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": LEFT, "b": RIGHT, "c": SCORE}), path)
    expected, data = gp.read(path, **OPTIONS), path.read_bytes()
    packed, behind = tmp_path / "t.parquet.gz", tmp_path / "behind"
    packed.write_bytes(gzip.compress(data))
    behind.write_bytes(b"12345" + data)
    assert same(gp.read(packed, **OPTIONS), expected)
    assert same(gp.read(io.BytesIO(data), **OPTIONS), expected)
    with gzip.open(packed) as stream, open(path, "rb") as plain, open(behind, "rb") as later:
        later.read(5)
        for one in (stream, plain, later):
            assert same(gp.read(one, **OPTIONS), expected)
        assert not plain.closed


@pytest.mark.parametrize("kind", ["int64", "string"])
@pytest.mark.parametrize("size", [300, 1000])
def test_pandas_is_not_imported(tmp_path, kind, size):
    path = tmp_path / "t.parquet"
    a, b = (pa.array(x.tolist()).cast(kind) for x in (LEFT, RIGHT))
    pq.write_table(pa.table({"a": a, "b": b, "c": SCORE}), path, row_group_size=size)
    code = f"import sys, graphpart as gp; gp.read({str(path)!r}, **{OPTIONS!r}); print('pandas' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"


def test_rows_are_read_again_where_doubts_show_them(tmp_path):
    path = tmp_path / "t.parquet"
    table = {"a": [1, 2, 7], "b": [7, 1, 2], "c": [-3.0, 2.5, -2.0]}
    pq.write_table(pa.table(table), path)
    expected = gp.partition.doubts(q := gp.SetPartition.from_frame(table, "a", "b", cost="c"), gp.solve(q)).to_frame()
    for source in (path, io.BytesIO(path.read_bytes())):
        p = gp.read(source, **OPTIONS)
        assert gp.partition.doubts(p, gp.solve(p)).to_frame().equals(expected)
    p = gp.read(path, **OPTIONS)
    pq.write_table(pa.table({"a": [1], "b": [7], "c": [-3.0]}), path)
    with pytest.raises(gp.errors.FormatError, match="has changed since it was read"):
        gp.partition.doubts(p, gp.solve(p)).to_frame()
    path.unlink()
    with pytest.raises(gp.errors.FormatError, match="is gone"):
        gp.partition.doubts(p, gp.solve(p)).to_frame()


def test_an_open_file_is_read_itself_not_what_its_name_leads_to(tmp_path, monkeypatch):
    (tmp_path / "inner").mkdir()
    frame = pd.DataFrame({"left": [1, 2, 3], "right": [2, 3, 1], "cost": [-1.0, -2.0, 3.0]})
    frame.to_parquet(tmp_path / "in.parquet")
    frame.assign(cost=[10.0, 20.0, 30.0]).to_parquet(tmp_path / "inner" / "in.parquet")
    monkeypatch.chdir(tmp_path)
    with open("in.parquet", "rb") as stream:
        monkeypatch.chdir(tmp_path / "inner")
        assert gp.io.read_pairs(stream, "left", "right", cost="cost").pairs()[2].tolist() == [-1.0, 3.0, -2.0]
    with open("in.parquet", "rb") as stream:
        os.replace("in.parquet", "other.parquet")
        assert gp.io.read_pairs(stream, "left", "right", cost="cost").pairs()[2].tolist() == [10.0, 30.0, 20.0]


def test_row_groups_are_read_alike_on_any_number_of_threads(tmp_path, monkeypatch):
    rows, path = 2**18 + 5, tmp_path / "t.parquet"
    a = RNG.integers(0, 100_000, rows)
    b, c = a + RNG.integers(1, 9, rows), RNG.integers(-50, 51, rows).astype(float)
    for far in (0, 2**31, 2**33):  # 32 bits are enough, or not
        pq.write_table(pa.table({"a": a + far, "b": b + far, "c": c}), path, row_group_size=100_000)
        expected = gp.SetPartition.from_frame(
            {"a": a + far, "b": b + far, "c": c}, "a", "b", cost="c", duplicates="sum"
        )
        for threads in ("1", "2"):
            monkeypatch.setenv("GRAPHPART_THREADS", threads)
            assert same(gp.read(path, **OPTIONS), expected)
    holes = pa.array([*a.tolist()[:-2], None, 1])
    pq.write_table(pa.table({"a": holes, "b": b, "c": c}), path, row_group_size=100_000)
    with pytest.raises(gp.FormatError, match=f"'a' is null in row {rows - 2}"):
        gp.read(path, **OPTIONS)


@pytest.mark.parametrize("kind", ["string", "large_string"])
def test_texts_are_numbered_alike_on_any_number_of_threads(tmp_path, monkeypatch, kind):
    """Each row group has its own list of texts, in another order, and some are in some groups only."""
    rows, path = 2**18 + 5, tmp_path / "t.parquet"
    a = np.arange(rows) // 7 + RNG.integers(0, 3000, rows)
    b, c = a + RNG.integers(1, 9, rows), RNG.integers(-50, 51, rows).astype(float)
    names = np.array([f"no. {k} \N{LATIN SMALL LETTER SHARP S}" for k in RNG.permutation(b.max() + 1)])
    left, right = (pa.array(names[x].tolist(), kind) for x in (a, b))
    codes, distinct = pd.factorize(names[np.stack([a, b], 1)].ravel())  # in the order of their first appearance
    expected = gp.SetPartition.from_frame({"a": codes[0::2], "b": codes[1::2], "c": c}, "a", "b", **OPTIONS_OF_FRAME)
    for options in ({}, {"use_dictionary": False}, {"row_group_size": rows}):
        pq.write_table(pa.table({"a": left, "b": right, "c": c}), path, **{"row_group_size": 100_000} | options)
        for threads in ("1", "2"):
            monkeypatch.setenv("GRAPHPART_THREADS", threads)
            p = gp.read(path, **OPTIONS)
            assert p.nodes == distinct.tolist() and all(map(np.array_equal, p.pairs(), expected.pairs()))
    assert same(gp.read(io.BytesIO(path.read_bytes()), **OPTIONS), p)
    assert same(gp.SetPartition.from_frame(pq.read_table(path), "a", "b", **OPTIONS_OF_FRAME), p)
    holes = pa.array([*names[a].tolist()[:-2], None, "1"], kind)
    pq.write_table(pa.table({"a": holes, "b": right, "c": c}), path, row_group_size=100_000)
    with pytest.raises(gp.FormatError, match=f"'a' is null in row {rows - 2}"):
        gp.read(path, **OPTIONS)


@pytest.mark.parametrize("elements", [60, 100, 200])
def test_categories(tmp_path, elements):
    """Their codes have 8 bits, which may be too few for those of both columns together."""
    path = tmp_path / "t.parquet"
    names = np.array([f"n{k}" for k in range(elements)])
    for left, right in ((names[:-1], names[1:]), (names[: elements // 2], names[elements // 2 :])):
        frame = pd.DataFrame({"a": pd.Categorical(left), "b": pd.Categorical(right), "c": np.arange(len(left)) + 1.0})
        frame.to_parquet(path)
        expected = gp.SetPartition.from_frame(
            {"a": left.tolist(), "b": right.tolist(), "c": frame["c"]}, "a", "b", cost="c"
        )
        assert same(gp.read(path, **OPTIONS), expected)
        assert same(gp.SetPartition.from_frame(pa.Table.from_pandas(frame), "a", "b", cost="c"), expected)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_arrays_of_the_user_are_copied(kind):
    u, v, c = np.array([0, 0, 1], kind), np.array([1, 2, 2], kind), np.array([-1.0, 2.0, 1.0])
    for table in ({"a": u, "b": v, "c": c}, pa.table({"a": u, "b": v, "c": c}), pd.DataFrame({"a": u, "b": v, "c": c})):
        p = gp.SetPartition.from_frame(table, "a", "b", cost="c", dense=False)
        q = gp.SetPartition.from_frame(table, "a", "b", weight="c", dense=False, missing=0.0)
        assert all(x.flags.writeable for x in (u, v, c)) and p.cost.tolist() == (-q.cost).tolist() == c.tolist()
        assert not any(np.shares_memory(x, y) for x in (u, v, c) for r in (p, q) for y in r.pairs())


def test_a_name_with_a_dot_beside_a_structure(tmp_path):
    inner = pa.array([{"b": 7}] * len(LEFT))
    pq.write_table(pa.table({"a": inner, "a.b": LEFT, "right": RIGHT, "c": SCORE}), tmp_path / "t.parquet")
    expected = gp.SetPartition.from_frame({"a": LEFT, "b": RIGHT, "c": SCORE}, **OPTIONS)
    assert same(gp.read(tmp_path / "t.parquet", **OPTIONS | {"left": "a.b", "right": "right"}), expected)


def test_identifiers_of_floats_stay_floats(tmp_path):
    pq.write_table(pa.table({"a": [0.0, 0.0, 1.0], "b": [1.0, 2.0, 2.0], "c": SCORE[:3]}), tmp_path / "t.parquet")
    assert all(type(name) is float for name in gp.read(tmp_path / "t.parquet", **OPTIONS).nodes)
