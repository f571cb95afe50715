"""CSV tables through pyarrow are the same problems, with the same errors, as those read line by line."""

import io

import numpy as np
import pytest

import graphpart as gp
from graphpart.io import arrow_csv
from graphpart.io import columns as reading

pytest.importorskip("pyarrow")


def table(name, m=300, seed=0, end="\n", header="id1,note,score,id2"):
    rng = np.random.default_rng(seed)
    u = rng.integers(0, 50, m)
    v = (u + rng.integers(1, 50, m)) % 50
    rows = [f"{name(a)},x,{s!r},{name(b)}" for a, b, s in zip(u, v, rng.random(m).tolist(), strict=True)]
    return end.join([header, *rows, ""])


def both(monkeypatch, text, **columns):
    """What is read through pyarrow, and line by line."""
    found, used = [], []
    plain = arrow_csv.plain_columns

    def seen(*args):
        used.append(plain(*args))
        return used[-1]

    monkeypatch.setattr("graphpart.io.columns.plain_columns", seen)
    for least in (0, 1 << 30):
        monkeypatch.setattr(arrow_csv, "LEAST", least)
        stream = io.BytesIO(text.encode())
        try:
            found.append(gp.read(stream, duplicates="sum", **columns))
        except gp.FormatError as error:
            found.append(str(error))
    assert used[1] is None
    return *found, used[0] is not None


NAMES = {
    "texts": "n{}".format,
    "integers": str,
    "large": lambda k: f"{k}{10**30}",
    "many digits": lambda k: f"{k}{'0' * 5000}" if k == 7 else f"{k}",
    "mixed": lambda k: f"{k}" if k % 2 else f"0{k}",
    "accents": "ä{}".format,
}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("kind", NAMES)
def test_the_same_problem(monkeypatch, kind, end):
    text = table(NAMES[kind], end=end)
    p, q, fast = both(monkeypatch, text, left="id1", right="id2", probability="score")
    assert fast and list(p.nodes) == list(q.nodes)
    assert all((a == b).all() for a, b in zip(p.pairs(), q.pairs(), strict=True))


@pytest.mark.parametrize(
    "line",
    [
        "a,x,1.5,b", "a,x,nan,b", "a,x,,b", "a,x,0.5", "a,x,0.5,b,c", "a,x,one,b", ",x,0.5,b", "a,x,0.5,",
        "a,x,0.5,a", '"a,x,0.5,b', "a,x,1_0,b", '"a"b,x,0.5,c', " ,x,0.5,b",
    ],
)  # fmt: skip
def test_the_same_errors(monkeypatch, line):
    text = table("n{}".format) + line + "\n" + table("n{}".format).partition("\n")[2]
    p, q, fast = both(monkeypatch, text, left="id1", right="id2", probability="score")
    assert not fast and p == q and "<stream>:302: " in p


@pytest.mark.parametrize(
    "line", ['"a",x,0.5,b', " a,x,0.5, b", "a,x, 0.5 ,b", "", "\n", "a,x,+.5,b", "a,x,5e-1,b", "a ,x,0.5,b"]
)
def test_what_is_not_plain_is_read_all_the_same(monkeypatch, line):
    text = table("n{}".format) + line + "\n" + table("n{}".format, seed=1).partition("\n")[2]
    p, q, _ = both(monkeypatch, text, left="id1", right="id2", probability="score")
    assert list(p.nodes) == list(q.nodes)
    assert all((a == b).all() for a, b in zip(p.pairs(), q.pairs(), strict=True))


@pytest.mark.parametrize(
    ("row", "plain"),
    [("1,2,0.5", True), ("0,-3,-0.5", True), ("01,2,0.5", False), ("1,0x2,1", False), ("1, 2,1", False),
     ("+1,2,1", False), ("1,-0,1", False)],
)  # fmt: skip
def test_integers_that_pyarrow_would_read_otherwise(row, plain):
    from graphpart.io.arrow_csv import _plain_integers

    assert bool(_plain_integers(f"a,b,c\n{row}\n".encode())) is plain


@pytest.mark.parametrize("line", ["a,x,one,b", "a,x,0.5", "a,x,0.5,a"])
def test_errors_of_large_tables_are_found_without_reading_all_of_them_line_by_line(monkeypatch, line):
    text = table("n{}".format) + line + "\n"
    expected = both(monkeypatch, text, left="id1", right="id2", probability="score")[1]
    monkeypatch.setattr(arrow_csv, "LEAST", 0)
    monkeypatch.setattr(arrow_csv, "PART", 1000)
    read, columns = [], reading._columns
    monkeypatch.setattr(reading, "_columns", lambda *args: read.append(args[1]) or columns(*args))
    with pytest.raises(gp.FormatError) as caught:
        gp.read(io.BytesIO(text.encode()), left="id1", right="id2", probability="score")
    assert str(caught.value) == expected and ":302:" in expected
    assert len(read) == 1 and read[0]._reader.line_num == 302


def test_a_short_line_at_the_end_of_a_part_is_not_the_last_one(monkeypatch):
    monkeypatch.setattr(arrow_csv, "LEAST", 0)
    monkeypatch.setattr(arrow_csv, "PART", 1000)
    rows = ["x,y,0.5"] * 400
    rows[1000 // 8] = "x,yy0.5"
    text = "\n".join(["a,b,p", *rows, ""])
    first, last = next(arrow_csv.wrong_parts(text.encode(), ["a", "b", "p"], ["a", "b"], "p", True))
    assert first.endswith(b"yy0.5\n") and not last
    with pytest.raises(gp.FormatError, match=r":127: found 2 fields: expected 3$"):
        gp.read(io.BytesIO(text.encode()), left="a", right="b", probability="p")


def test_repeated_pairs_are_named_by_their_lines(monkeypatch):
    text = "id1,id2,score\na,b,0.2\nb,c,0.3\n{}b,a,0.4\n"
    for least, empty, last in ((0, "", 4), (1 << 30, "", 4), (1 << 30, "\n", 5)):
        monkeypatch.setattr(arrow_csv, "LEAST", least)
        stream = io.BytesIO(text.format(empty).encode())
        with pytest.raises(gp.FormatError, match=f"line {last} lists 'b' and 'a' as line 2 does"):
            gp.read(stream, left="id1", right="id2", probability="score", duplicates="error")


def test_a_table_that_is_cut_off():
    with pytest.raises(gp.FormatError, match=r"found 2 fields: expected 3, and this is the last line: .* cut off"):
        gp.read(io.BytesIO(b"a,b,p\nx,y,0.5\nx,z"), left="a", right="b", probability="p")
    with pytest.raises(gp.FormatError, match=r"found 1 field: expected 3$"):
        gp.read(io.BytesIO(b"a,b,p\nx\nx,z,0.5\n"), left="a", right="b", probability="p")
