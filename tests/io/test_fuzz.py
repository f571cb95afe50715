"""Any bytes at all: a reader gives a problem or one of the exceptions that it states."""

import contextlib
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trials import trials

import graphpart as gp
from graphpart.io import FORMATS

NAMES = tuple(known.name for known in FORMATS if known.holds("partition"))
WORDS = b"0 1 -1 nan inf -inf 1e999 1e-400 2147483648 99999999999999999999 % c { } [ ] : , null true"
PIECES = [*WORDS.split(), b"\n", b"\r\n", b" ", b"\t", b'"', b"\x00", b"\xff"]


def valid(format: str) -> bytes:
    p = gp.SetPartition.from_pairs(4, [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)], [-1.0, 1, 1, 1, -1, 1])
    stream = io.BytesIO()
    gp.write(p, stream, format)
    return stream.getvalue()


def accept(data: bytes, format: str | None) -> None:
    with contextlib.suppress(gp.InfeasibleProblem):
        try:
            p = gp.read(io.BytesIO(data), format)
        except gp.FormatError as error:
            check_message(str(error))
        else:
            p.evaluate(range(p.n))


def check_message(text: str) -> None:
    """One line that says what was expected."""
    assert "\n" not in text
    assert "expected" in text


@pytest.mark.parametrize("format", [*NAMES, None])
@settings(max_examples=trials(150))
@given(data=st.binary(max_size=200) | st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join))
def test_any_bytes(format: str | None, data: bytes) -> None:
    accept(data, format)


@pytest.mark.parametrize("format", NAMES)
@settings(max_examples=trials(150))
@given(data=st.data())
def test_damaged_files(format: str, data: st.DataObject) -> None:
    content = valid(format)
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content)))
        end = min(len(content), start + data.draw(st.integers(0, 4)))
        piece = data.draw(st.sampled_from(PIECES) | st.binary(max_size=3))
        content = content[:start] + piece + content[end:]
    accept(content, data.draw(st.sampled_from([format, format, None])))


@pytest.mark.parametrize("format", NAMES)
def test_every_prefix(format: str) -> None:
    content = valid(format)
    for size in range(len(content)):
        accept(content[:size], format)


@pytest.mark.filterwarnings("ignore::graphpart.GraphPartWarning")  # which columns are read, where no name says it
@settings(max_examples=trials(300))
@given(
    data=st.binary(max_size=60) | st.lists(st.sampled_from([*PIECES, b"node,label\n"]), max_size=20).map(b"".join),
    known=st.booleans(),
)
def test_labels(data: bytes, known: bool) -> None:
    problem = gp.SetPartition.from_pairs(3, [(0, 1)], [1.0]) if known else None
    try:
        labels = gp.read_labels(io.BytesIO(data), problem)
    except gp.FormatError as error:
        check_message(str(error) + (": expected" if known else ""))  # some are the problem's own words
    else:
        assert problem is None or problem.labels(labels).shape == (3,)
