"""CSV tables through pyarrow are the same problems, with the same errors, as those read line by line."""

import io

import numpy as np
import pytest

import graphpart as gp
from graphpart.io import arrow_csv

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
