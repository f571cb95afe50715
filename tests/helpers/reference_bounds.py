"""What messages prove, by definition: shares nothing with the library but `FactorGraph.factor`. In exact arithmetic."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

import graphpart as gp


def bound_of_messages(f: gp.FactorGraph, messages: np.ndarray) -> float | Fraction:
    """The constant, the least unary cost of each variable with its messages, the least that is left in each table."""
    unary = [[Fraction(0)] * int(d) for d in f.domains]
    total, at = Fraction(f.constant), 0
    for i in range(f.m):
        members, table = f.factor(i)
        if len(members) == 1:
            unary[members[0]] = [plus(a, b) for a, b in zip(unary[members[0]], table.tolist(), strict=True)]
            continue
        moved = []
        for v in members:
            moved.append([Fraction(x) for x in messages[at : at + int(f.domains[v])].tolist()])
            at += int(f.domains[v])
            unary[v] = [plus(a, b) for a, b in zip(unary[v], moved[-1], strict=True)]
        least: float | Fraction = math.inf
        for labels in itertools.product(*(range(int(f.domains[v])) for v in members)):
            rest = plus(-sum((m[y] for m, y in zip(moved, labels, strict=True)), Fraction(0)), float(table[labels]))
            least = min(least, rest)
        total = plus(total, least)
    assert at == len(messages)
    for costs in unary:
        total = plus(total, min(costs))
    return total


def plus(a: float | Fraction, b: float | Fraction) -> float | Fraction:
    if a == math.inf or b == math.inf:
        return math.inf
    return Fraction(a) + Fraction(b)
