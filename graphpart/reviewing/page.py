"""The page for answers: questions, the records of their elements and the clusters that would change, in one HTML file.

The page shows one question after the other and keeps the answers in the browser under a key that is made from the
questions, so that two pages never share answers. The file of answers that it writes has the names of the elements, and
is read by `solve`, `match` and `segment`, also after the data have changed.
"""

from __future__ import annotations

import base64
import hashlib
import html
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from graphpart.answers.asking import Asked, ask
from graphpart.answers.given import placed, problem_of
from graphpart.answers.sides import record_columns
from graphpart.common.groups import group
from graphpart.errors import InvalidProblem, known_arguments
from graphpart.files.source import replacing
from graphpart.partition.problem import SetPartition
from graphpart.reporting.document import document, title_of
from graphpart.reporting.payload import short

__all__ = ["data_of", "page_of", "review", "shown_of"]

ASSETS = Path(__file__).parent / "assets"
FORMAT = 1  # of the data, and of what the browser keeps
SCRIPTS = ("table.js", "answers.js", "differences.js", "server.js", "review.js")
MEMBERS = 6  # of a cluster that are named
LONGEST = 300  # letters of a value of a record
SUMMARY = 90  # letters of the line for a member


@known_arguments
def review(
    problem: Any,
    result: Any,
    path: str | os.PathLike[str] | BinaryIO,
    *,
    n: int = 100,
    title: str | None = None,
    answers: Any = None,
    records: Any = None,
    id: str | None = None,
) -> int:
    """Write a page on which people answer questions about a result: one HTML file for any browser, without a server.

    The page shows two elements side by side, with the differences of their records marked, and asks whether they belong
    together. Keys: T together, A apart, D not known, B back, N next, U undo, C shows the clusters that would change.
    What the result says, and the chance that it is wrong, are hidden until the question is answered. Answers are kept
    in the browser; a button saves them as a CSV file with the columns left, right and answer, and another reads such a
    file. The page makes no request, works by keyboard and on narrow screens, and tells if answers contradict. Of a
    segmentation, it shows the boundary of both regions, of a volume in three slices; regions are named by their places.

    Parameters
    ----------
    problem, result, answers, records, id
        As for :func:`graphpart.questions`. If there are records, all their columns are shown.
    path : str, path-like or binary file
        Where to write; a file appears under its name only when it is complete.
    n : int
        The number of questions; fewer if there are not as many.
    title : str, optional
        Default: the name of the file.

    Returns
    -------
    int
        The number of questions on the page.

    Raises
    ------
    InvalidProblem
        If there is nothing to ask, or the records do not fit.
    InvalidPartition, InvalidOption
        If an argument is not as described.

    Notes
    -----
    O(m log^2 m) for the questions. Each question takes about 1 kB of the file, if its records are short, and a picture
    about 2 kB.

    Examples
    --------
    >>> import io
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-2.0, 1.0], nodes=["ann", "bob", "cid"])
    >>> stream = io.BytesIO()
    >>> gp.review(p, gp.solve(p), stream, title="Three people")
    2
    >>> "<h1>Three people</h1>" in stream.getvalue().decode()
    True
    """
    p = problem_of(problem)
    asked = ask(p, result, n, placed(problem, answers))
    if not len(asked.pairs):
        raise InvalidProblem("there is no pair to ask about: all pairs that the problem lists are decided beforehand")
    data = data_of(problem, asked, *shown_of(p, problem, record_columns(p, problem, result, records, id)))
    text = page_of(short(title_of(path, "Questions") if title is None else title), data)
    with replacing(path) as stream:
        stream.write(text.encode("utf-8", "replace"))
    return len(asked.pairs)


def shown_of(
    p: SetPartition, problem: Any, columns: dict[str, list[Any]]
) -> tuple[Sequence[Any], dict[str, list[Any]]]:
    """The names of elements on the page and in its file, which of regions are places, and the columns that are left."""
    if not hasattr(problem, "pictures"):
        return p.nodes, columns
    return columns["place"], {name: values for name, values in columns.items() if name != "place"}


def data_of(problem: Any, asked: Asked, names: Sequence[Any], columns: dict[str, list[Any]]) -> dict[str, Any]:
    """What the page's script reads."""
    order, start = group(asked.labels, int(asked.labels.max(initial=-1)) + 1)
    sizes = np.diff(start)
    place: dict[int, int] = {}  # of the elements that are asked about
    members: dict[int, int] = {}  # of those that are only named
    shown: list[list[str]] = []
    lines: list[str] = []

    def line(i: int) -> int:
        if i not in members:
            members[i] = len(lines)
            known = ", ".join(text for values in columns.values() if (text := _text(values[i])))
            lines.append(short(f"{names[i]}: {known}" if known else names[i], SUMMARY))
        return members[i]

    questions: list[list[Any]] = []
    for k, chance in enumerate(asked.chance.tolist()):
        a, b = (int(i) for i in asked.pairs[k])
        for i in (a, b):
            if i not in place:
                place[i] = len(shown)
                shown.append([str(names[i]), *(_text(values[i]) for values in columns.values())])
        named = []
        for label in sorted({int(x) for x in [*asked.labels[[a, b]], *asked.clusters[k]] if x >= 0}):
            some = order[start[label] : start[label + 1]].tolist()[:MEMBERS]
            named.append([label, int(sizes[label]), [line(i) for i in some]])
        about = "" if asked.about is None else str(asked.about[k])
        questions.append([place[a], place[b], int(asked.together[k]), float(f"{chance:.3g}"), named, about])
    key = hashlib.sha256(repr([(shown[q[0]][0], shown[q[1]][0]) for q in questions]).encode("utf-8", "replace"))
    data = {
        "format": FORMAT,
        "key": key.hexdigest()[:24],
        "columns": list(columns),
        "apart": [int(_names_groups(problem_of(problem), values)) for values in columns.values()],
        "elements": shown,
        "members": lines,
        "questions": questions,
    }
    if hasattr(problem, "pictures"):
        data["pictures"] = [base64.b64encode(picture).decode() for picture in problem.pictures(asked.pairs)]
    return data


def _names_groups(p: SetPartition, values: list[Any]) -> bool:
    """Whether a column names the groups of which a cluster has one element at most, so that it differs in any case."""
    if p.groups is None or len(p.groups.group) != p.n or np.any(np.diff(p.groups.starts) != 1):
        return False
    both = set(zip(map(_text, values), p.groups.group.tolist(), strict=True))
    return len(both) == len({value for value, _ in both}) == len({code for _, code in both})


def _text(value: Any) -> str:
    """A value of a record in one line; empty where there is none."""
    if value is None or value != value:
        return ""
    return short(value, LONGEST)


def page_of(title: str, data: dict[str, Any]) -> str:
    """The HTML file; data with an entry `server` may send answers to the place that the page comes from."""
    body = (ASSETS / "review.html").read_text("utf-8")
    version = sys.modules["graphpart"].__version__
    for mark, text in (("TITLE", title), ("VERSION", version)):
        body = body.replace(f"%{mark}%", html.escape(text))
    script = '"use strict";\n' + "\n".join((ASSETS / name).read_text("utf-8") for name in SCRIPTS)
    return document(title, (ASSETS / "review.css").read_text("utf-8"), body, data, [script], "server" in data)
