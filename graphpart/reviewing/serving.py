"""The page for answers with a server behind it: answers are in the file at once, new questions come after each ten.

The server is that of the standard library, on the loopback address only. It has one page, and one place to send answers
to, for one person: a framework would bring more to install and to keep up to date than it would save. Pages of other
sites cannot use it: its address has a random part, requests must name the loopback address as their host, and answers
must come from the page itself, which browsers tell by the header ``Origin``.

The page sends each change (a pair, and what is said of it, or that the answer was taken back) instead of the whole
list, so that two windows do not undo each other's answers. The server writes the file, and after each `EACH` changes
passes the answers to an `Interview`, and returns the questions that are worth most now. A result of `gp.match` first
learns from the answers, if these have no errors.
"""

from __future__ import annotations

import json
import os
import secrets
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from graphpart.answers.asking import can_learn
from graphpart.answers.given import WORDS, chance_in, placed, problem_of
from graphpart.answers.interview import METHOD, ROW, Interview
from graphpart.answers.sides import record_columns
from graphpart.display import plural
from graphpart.errors import GraphPartError, known_arguments
from graphpart.files.tables import write_table
from graphpart.result import PartitionResult
from graphpart.reviewing.page import data_of, page_of, shown_of

__all__ = ["ReviewServer"]

EACH = 10  # changes between two results
LARGEST = 1_000_000  # bytes of a request

Row = tuple[str, str, str | None, str, float, str]  # in the order of ROW; no answer: it was taken back


class ReviewServer(ThreadingHTTPServer):
    """A server on the loopback address with the page of :func:`graphpart.review`; answers are in a file at once.

    Parameters
    ----------
    problem, result, n, title, answers, records, id
        As for :func:`graphpart.review`, but the problem is the one without the answers. The page has `n` questions at
        a time: after each ten answers, those that are open are replaced by those that are worth most now.
    path : str or path-like
        The file of answers, CSV, written after each answer, with the earlier ones.
    port : int
        Default: any that is free.
    error : float
        As for :class:`graphpart.answers.Interview`.

    Attributes
    ----------
    url : str
        The address of the page.

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-2.0, 1.0], nodes=["ann", "bob", "cid"])
    >>> with ReviewServer(p, gp.solve(p), "answers.csv") as server:
    ...     server.url.startswith("http://127.0.0.1:")  # then server.serve_forever(), until Ctrl-C
    True
    """

    daemon_threads = True

    @known_arguments
    def __init__(
        self,
        problem: Any,
        result: Any,
        path: str | os.PathLike[str],
        *,
        n: int = 100,
        title: str = "Questions",
        port: int = 0,
        answers: Any = None,
        error: float = 0.0,
        records: Any = None,
        id: str | None = None,
    ) -> None:
        self._p = problem_of(problem)
        self._shown = shown_of(self._p, problem, record_columns(self._p, problem, result, records, id))
        self._problem, self._result, self._error = problem, result, error
        self._interview = Interview(problem, result, answers=answers, error=error)
        self._path, self._n, self._title = path, n, title
        self._lock = threading.Lock()
        self._rows: dict[frozenset[str], Row] = {}  # of each pair
        known = self._interview.answers
        for side in ("left", "right"):
            known[side] = [str(self._shown[0][self._p.index(name)]) for name in known[side]]
        for row in zip(*(known[name] for name in ROW), strict=True):
            self._rows[frozenset(row[:2])] = row
        self._fresh: list[Row] = []  # answers that the interview does not have
        self._again = False  # an answer that it has was changed or taken back
        self.place = f"/{secrets.token_urlsafe(16)}/"
        super().__init__(("127.0.0.1", port), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}{self.place}"

    def page(self) -> bytes:
        """The page with the questions that are worth most now."""
        with self._lock:
            data = self._questions() | {"server": True, "answers": [list(row[:3]) for row in self._rows.values()]}
        return page_of(self._title, data).encode("utf-8", "replace")

    @property
    def count(self) -> int:
        """The number of answers in the file."""
        return len(self._rows)

    @property
    def result(self) -> PartitionResult:
        """The partition after the last ten answers."""
        return self._interview.result

    def take(self, changes: list[Any], end: bool) -> dict[str, Any]:
        """Write changes to the file; what to tell the page.

        Parameters
        ----------
        changes : list of lists
            Left, right, the answer (None if it is taken back), and what its question had: decision, chance, about.
        end : bool
            Whether no question is left on the page.

        Raises
        ------
        ValueError, TypeError
            If it is something else: nothing is changed.
        """
        rows = [(str(a), str(b), answer, str(was), chance_in(x), str(about)) for a, b, answer, was, x, about in changes]
        if any(row[2] is not None and row[2] not in WORDS for row in rows):
            raise ValueError("an answer is none of together, apart and nothing")
        with self._lock:
            for row in rows:
                self._put(row)
            told: dict[str, Any] = {}
            if len(self._fresh) >= EACH or self._again or end:
                told = self._renewed()
            kept = self._rows.values()
            write_table({name: np.array([row[k] for row in kept], object) for k, name in enumerate(ROW)}, self._path)
            return told | {"saved": len(self._rows)}

    def _put(self, row: Row) -> None:
        """Note an answer, or that it was taken back."""
        pair = frozenset(row[:2])
        self._again |= pair in self._rows
        self._rows.pop(pair, None)
        if row[2] is not None:
            self._rows[pair] = row
            self._fresh.append(row)

    def _renewed(self) -> dict[str, Any]:
        """A new result: what to tell of it, and the questions that are worth most now."""
        learns = can_learn(self._result) and self._error == 0
        rows = list(self._rows.values()) if self._again or learns else self._fresh
        table = placed(self._problem, {name: [row[k] for row in rows] for k, name in enumerate(ROW)})
        try:
            if learns:
                result = self._result.learned(table, method=METHOD)
                self._interview = Interview(result.problem, result, answers=table)
            elif self._again:
                self._interview = Interview(self._p, self._result, answers=table, error=self._error)
            else:
                self._interview.add(table)
        except GraphPartError as error:  # answers that contradict: all are tried again after the next one
            self._again = True
            return {"told": str(error), "alert": True}
        self._fresh, self._again = [], False
        result = self._interview.result
        return {"data": self._questions(), "told": f"New result: {plural(result.n_clusters, 'cluster')}."}

    def _questions(self) -> dict[str, Any]:
        return data_of(self._problem, self._interview.ask(self._n), *self._shown)


class _Handler(BaseHTTPRequestHandler):
    """Requests for the page, and changes of answers."""

    server: ReviewServer

    def do_GET(self) -> None:
        """Send the page."""
        if self._is_ours():
            self._send(self.server.page(), "text/html; charset=utf-8")

    def do_POST(self) -> None:
        """Take changes of answers."""
        if not self._is_ours():
            return
        if self.headers.get("Origin") != f"http://{self.headers['Host']}":
            self.send_error(HTTPStatus.FORBIDDEN, "expected answers of the page itself")
            return
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > LARGEST:
            self.send_error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"expected at most {LARGEST} bytes")
            return
        try:
            body = json.loads(self.rfile.read(int(length)))
            told = self.server.take(body["changes"], bool(body["end"]))
        except (ValueError, TypeError, KeyError) as error:
            self.send_error(HTTPStatus.BAD_REQUEST, str(error)[:200].encode("ascii", "replace").decode())
            return
        except OSError as error:
            self.send_error(HTTPStatus.INTERNAL_SERVER_ERROR, f"{error.strerror}")
            return
        self._send(json.dumps(told).encode(), "application/json")

    def _is_ours(self) -> bool:
        """Whether the request is for this page; if not, it is refused."""
        port = self.server.server_address[1]
        ours = self.headers.get("Host") in (f"127.0.0.1:{port}", f"localhost:{port}")
        if ours and self.path == self.server.place:
            return True
        self.send_error(HTTPStatus.NOT_FOUND)
        return False

    def _send(self, content: bytes, kind: str) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged: the address would be."""
