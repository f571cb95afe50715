"""Certificates of optimal solutions, made wrong in all ways: for tests of their checks."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import numpy as np

import graphpart as gp

WRONG = (0, -1, 1, 7, 10**30, -(10**30), 10**400, 2**62, 0.5, True, None, "0", [], [0], float("inf"))


def verdict(certificate: Any, problem: Any, exact: bool) -> str:
    """ "" if a certificate is accepted, else the text of the refusal, which has to be one line."""
    try:
        certificate.check(problem, exact=exact)
    except gp.InvalidCertificate as error:
        text = str(error)
        assert text and "\n" not in text and len(text) < 400, text
        return text
    return ""


def corrupted(certificate: Any, rng: np.random.Generator) -> Any:
    """One with some change of its nodes, and a seal that fits.

    A node is left out, repeated, exchanged with another one or cut short; a number anywhere is replaced by another one,
    by a huge one or by something else; or the numbers of a node become 0, have another sign, or a smaller unit.
    """
    nodes = copy.deepcopy(certificate.nodes)
    k = int(rng.integers(len(nodes)))
    way = int(rng.integers(8))
    if way == 0:
        del nodes[k]
    elif way == 1:
        nodes.insert(k, nodes[int(rng.integers(len(nodes)))])
    elif way == 2:
        other = int(rng.integers(len(nodes)))
        nodes[k], nodes[other] = nodes[other], nodes[k]
    elif way == 3:
        nodes = nodes[:k]
    elif way == 4:
        node = nodes[k]
        nodes[k] = node[: int(rng.integers(len(node)))]
    elif way == 5 and nodes[k][0] in ("inequalities", "messages"):
        change = (lambda x: 0, lambda x: -x, lambda x: x // 2, lambda x: x * 3)[int(rng.integers(4))]
        lists = nodes[k][2] if nodes[k][0] == "inequalities" else [nodes[k]]
        for row in lists:
            row[2] = change(row[2]) if isinstance(row[2], int) else [change(x) for x in row[2]]
    else:
        place, inside = nodes, nodes[k]
        at = k
        while isinstance(inside, list) and inside:
            place, at = inside, int(rng.integers(len(inside)))
            inside = place[at]
        place[at] = WRONG[int(rng.integers(len(WRONG)))]
    return dataclasses.replace(certificate, nodes=nodes).sealed()


def raised(certificate: Any, by: float) -> Any:
    """One that states a higher bound, which nothing can prove."""
    return dataclasses.replace(certificate, bound=certificate.bound + by).sealed()
