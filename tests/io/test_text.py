"""The parsers of large texts against Python's own conversion, whatever the blocks they are fed with."""

import io
import itertools
import math
import random
import struct
import time

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from trials import trials

import graphpart as gp
from graphpart.files._text import Numbers, Pairs


def converted(texts: list[str]) -> np.ndarray:
    numbers = Numbers("x", "numbers")
    numbers.feed(" ".join(texts).encode())
    numbers.finish()
    return numbers.array()


def check(texts: list[str]) -> None:
    exact = np.array([float(text) for text in texts])
    wrong = np.flatnonzero(converted(texts).view(np.int64) != exact.view(np.int64))
    assert not len(wrong), texts[wrong[0]]


DIGITS = st.text("0123456789", max_size=30)


@settings(max_examples=trials(500))
@given(
    sign=st.sampled_from(["", "-", "+"]),
    whole=DIGITS,
    point=st.sampled_from(["", "."]),
    fraction=DIGITS,
    exponent=st.none() | st.integers(-400, 400),
)
@example("", "9007199254740993", "", "", None)  # a tie, to the even neighbour below
@example("", "9007199254740995", "", "", None)  # and above
@example("-", "0", ".", "", -5)
@example("", "1", "", "", 23)  # no power of ten that is exact
@example("", "2", ".", "2250738585072011", -308)  # the largest subnormal number, nearly
@example("", "4", ".", "9406564584124654", -324)  # the smallest
@example("", "1", ".", "7976931348623157", 308)
@example("", "1", ".", "7976931348623158", 308)
def test_one_number(sign: str, whole: str, point: str, fraction: str, exponent: int | None) -> None:
    text = sign + whole + point + (fraction if point else "") + ("" if exponent is None else f"e{exponent}")
    try:
        exact = float(text)
    except ValueError:
        exact = math.nan
    if math.isfinite(exact):
        check([text])
    else:
        with pytest.raises(gp.FormatError, match=r"x:1: found"):
            converted([text or "-"])


def test_many_numbers() -> None:
    rng = random.Random(0)
    texts = []
    while len(texts) < 40_000:
        x = struct.unpack("d", struct.pack("Q", rng.getrandbits(64)))[0]
        if math.isfinite(x):
            texts.append(repr(x))  # any bits
            texts.append(f"{rng.gauss(0, 1)!r}")
            texts.append(f"{rng.getrandbits(64)}e{rng.randint(-345, 288)}")
            half = (2 * (rng.getrandbits(53) | 1 << 52) + 1) << rng.randint(0, 10)  # halfway between two numbers
            texts += [str(half), str(half + 1), str(half - 1)]
    check(texts)


@pytest.mark.parametrize("word", ["inf", "-inf", "Infinity", "+INF", "-infinity"])
def test_infinity(word: str) -> None:
    assert converted([word]).tolist() == [float(word)]


@pytest.mark.parametrize(
    "word", ["nan", "-NaN", "1_0", "0x1p3", "1e", "1e+", ".", "-", "e5", "1.2.3", "in", "infin", "1d3", "١"]
)
def test_no_number(word: str) -> None:
    with pytest.raises(gp.FormatError, match="expected a number"):
        converted(["1", word])


ROW = st.tuples(st.integers(0, 9), st.integers(10, 19), st.floats(allow_nan=False, allow_infinity=False))


@settings(max_examples=trials(200))
@given(
    rows=st.lists(ROW, max_size=12),
    noise=st.lists(st.sampled_from(["", "", "", "\n", " \r\n", "# x\n"]), min_size=13, max_size=13),
    cuts=st.lists(st.integers(0, 300), max_size=5),
    end=st.sampled_from(["", "\n", "\n\n", "\r\n"]),
)
def test_pairs_whatever_the_blocks(rows: list, noise: list[str], cuts: list[int], end: str) -> None:
    text, lines = "", []
    for i, (u, v, cost) in enumerate(rows):
        text += noise[i]
        lines.append(1 + text.count("\n"))
        text += f" {u}\t{v}  {cost!r}" + ("\n" if i < len(rows) - 1 else end)
    data = text.encode()
    parser = Pairs("x", "u v cost", comment="#")
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    for a, b in itertools.pairwise(places):
        parser.feed(data[a:b])
    parser.finish()
    assert [parser.line_of(k) for k in range(parser.size)] == lines
    u, v, cost = parser.arrays()
    assert list(zip(u.tolist(), v.tolist(), cost.tolist(), strict=True)) == [tuple(row) for row in rows]
    assert parser.largest == max([v for _, v, _ in rows], default=-1)


def test_rows_of_numbers() -> None:
    data = b"% c\n1 2\n\n%\n3\n  \n4 5 6"
    for block in (1, 2, 3, 5, 100):
        parser = Numbers("x", "rows", line=10, comment="%", rows=True)
        for at in range(0, len(data), block):
            parser.feed(data[at : at + block])
        parser.finish()
        assert parser.array().tolist() == [1, 2, 3, 4, 5, 6]
        starts, lines = parser.row_starts()
        assert starts.tolist() == [0, 2, 2, 3, 3]
        assert lines.tolist() == [11, 12, 14, 15, 16]


def test_error_names_the_line_of_a_large_file() -> None:
    lines = [f"{k} {k + 1} 0.5" for k in range(200_000)]
    lines[150_000] = "150000 150001 half"
    with pytest.raises(gp.FormatError, match=r"<stream>:150002: found 'half': expected a number"):
        gp.read(io.BytesIO("\n".join(["MULTICUT", *lines]).encode()))


def test_speed(tmp_path) -> None:
    """300,000 lines: faster than Python splits and converts them, building the problem included."""
    rng = np.random.default_rng(0)
    m = 300_000
    u, v = rng.integers(0, 10**5, m), rng.integers(10**5, 2 * 10**5, m)
    w = rng.normal(size=m)
    path = tmp_path / "x.multicut"
    gp.write(gp.SetPartition.from_pairs(2 * 10**5, (u, v), w), path)
    started = time.process_time()  # of this process: others that run meanwhile do not count
    p = gp.read(path)
    ours = time.process_time() - started
    assert p.n <= 2 * 10**5
    started = time.process_time()
    with open(path) as stream:
        next(stream)
        rows = [(int(a), int(b), float(c)) for a, b, c in map(str.split, stream)]
    plain = time.process_time() - started
    assert len(rows) >= p.m
    assert ours < plain
