"""Cost function networks as toulbar2 reads them from ``.cfn``: much like JSON, with names, decimal costs, and tables.

    {problem: {name: ..., mustbe: "<bound"},
     variables: {x: [a, b, c], y: 2, ...},
     functions: {f: {scope: [x, y], costs: [...]}, {scope: [x], defaultcost: 0, costs: [a, 5]}, ...}}

The sum of the costs is to be minimised, and only labelings that cost less than the bound are allowed. With ``">bound"``
the sum is to be maximised, and only labelings of larger value are allowed (the manual of toulbar2; Allouche et al.
2016). Values to be maximised are negated: ``cost = -value``, and ``objective`` is the value.

Quotes, commas and colons may be left out, braces and brackets are the same, and lines that start with ``#`` and what
follows ``//`` are comments; the order of the fields is fixed. Without the key ``problem`` no field has a key. A
variable has a name, and a list of names of its labels or their number, -k for the numbers 0, ..., k - 1; one without a
name is ``x`` with its index, or just its index if no variable has a name.
Costs are decimal numbers without exponent: one for each tuple, the last variable running fastest; with a default cost,
listed tuples of names or numbers of labels, each with its cost; or the name of another function with the same.

Global cost functions have a ``type`` and ``params`` (`global_functions`): ``{scope: [x, y, z], type: wsum, params:
{metric: hard, cost: 100, comparator: <=, to: 5}}``. They become functions of many variables.

A table entry becomes ``inf`` if it reaches the bound together with the least costs of all other functions, so that
every labeling with this entry is forbidden. toulbar2 does the same. If no cost is negative, this holds for all entries
of at least the bound. A labeling that reaches the bound only by the sum of several entries keeps its cost. Costs keep
all of their digits; toulbar2 drops digits that the bound does not have.
"""

from __future__ import annotations

import io
import math
import re
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidProblem
from graphpart.files.source import Source
from graphpart.files.text import ROWS, numbers
from graphpart.io._kernels import CLOSE, END, OPEN, WORD, Functions, Tokens, forbid
from graphpart.io.automata import for_format, with_automata
from graphpart.io.global_functions import Call, add_global, negated
from graphpart.io.global_parameters import FORMS, Nested, unknown
from graphpart.kernels import LARGEST_INDEX
from graphpart.machine import memory

if TYPE_CHECKING:
    from graphpart.crf.problem import FactorGraph
    from graphpart.crf.problem.functions import Function

START = re.compile(rb'(?:\s|#[^\n]*\n|//[^\n]*\n)*[{\[]\s*"?problem"?[\s:]*[{\[]')
BOUND = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)")
NAME = re.compile(r"[^0-9+.\-\s/#\[\]{}\",:<>=][^\s/#\[\]{}\",:]*")
EXACT = 15  # digits behind the point, up to which sums of costs are compared with the bound as whole numbers
PRECISION = 2000  # digits of sums of costs between 1e-324 and 1e308, and of a bound of up to 1000 digits
FREE = ("wregular", "sgrammar", "sgrammardp", "max", "smaxdp")  # functions that have costs below 0, or may have
HARD = (
    "MST", "cfnconstraint", "clique", "knapsack", "knapsackp", "knapsackv", "salldiffkp", "smstdp",
    "wdiverse", "whdiverse", "wtdiverse",
)  # fmt: skip

Costs = NDArray[np.float64]
Positions = NDArray[np.int64]


def sniff(head: bytes) -> bool:
    """Whether the file starts with an object whose first key is problem."""
    return START.match(head) is not None


# ------------------------------------------------------------------------------------------------------------ reading


def read(source: Source) -> FactorGraph:
    """Read a problem."""
    from graphpart.crf.problem import FactorGraph

    tokens = Tokens(source.name, source.blocks(), source.line)
    tagged, sense, bound = _header(tokens)
    names, domains, labels = _variables(tokens, tagged)
    index = {name: v for v, name in enumerate(names or [f"x{v}" for v in range(len(domains))])}
    _key(tokens, tagged, "functions")
    _open(tokens, "{ and the functions")
    most = min(2**31, memory() // 32)
    functions = Functions(tokens, tagged, index, np.array(domains, np.int32), labels, most)
    functions.read()
    # The last brace is missing in some files of toulbar2's own; all functions are read without it.
    if tokens.next() == CLOSE:
        tokens.next()
    if tokens.kind != END:
        raise tokens.wrong("the end of the file, as all functions are read")
    start, scope, table_start, tables = functions.arrays()
    if functions.shared:
        table_start, tables = _share(source, functions, np.array(domains, np.int64), start, scope, table_start, tables)
    if sense < 0:
        tables = 0.0 - tables
        bound = -bound
    f = FactorGraph.from_arrays(domains, [], names, sense=sense)
    calls = _calls(source, functions.calls, domains, labels, index)
    _add_calls(source, f, [call for call in calls if call.keyword in FREE], sense)
    bound -= Decimal(math.fsum(_least(function) for function in f.functions))
    limit = _forbid(np.diff(start), table_start, tables, bound, functions.decimals)
    _add_calls(source, f, [replace(call, limit=limit) for call in calls if call.keyword not in FREE], sense)
    whole = FactorGraph.from_csr(f.domains, start, scope, tables, names, constant=f.constant, sense=sense)
    for members, table in f.factors():
        whole.add_factor(members, table)
    for function in f.functions:
        whole.add_function(function)
    return whole


def _calls(
    source: Source,
    found: list[tuple[str, list[int], list[Any], int]],
    domains: list[int],
    labels: list[dict[str, int] | None],
    index: dict[str, int],
) -> list[Call]:
    """The global cost functions with their parameters."""

    def inner(text: str) -> FactorGraph:
        return read(Source(io.BytesIO(text.encode()), f"{source.name}, the problem in a function"))

    calls = []
    for keyword, scope, tree, line in found:
        if keyword not in FORMS:
            raise source.error(line, unknown(keyword))
        sizes, names = [domains[v] for v in scope], [labels[v] for v in scope]
        try:
            parameters = Nested(tree, keyword, scope, sizes, names, index, inner)
            calls.append(Call(keyword, scope, parameters.read(), line))
        except InvalidProblem as error:
            raise source.error(line, f"{keyword}: {error}") from None
    return calls


def _add_calls(source: Source, f: FactorGraph, calls: list[Call], sense: int) -> None:
    """Add global cost functions to a factor graph."""
    for call in calls:
        try:
            if sense > 0 or call.keyword in HARD:
                add_global(f, call)
            elif call.keyword == "wregular":
                add_global(f, negated(call))
            else:
                allowed = ", ".join(("wregular", *HARD))
                raise InvalidProblem(f"its costs cannot be maximised: expected one of {allowed} in such a problem")
        except InvalidProblem as error:
            raise source.error(call.line, f"{call.keyword}: {error}") from None


def _least(function: Function) -> float:
    """A bound below the function."""
    parts = [*(one.costs for one in function.auxiliaries), *(table for _, table in function.tables)]
    return math.fsum([function.constant, *(float(part.min(initial=math.inf)) for part in parts)])


def _open(tokens: Tokens, expected: str) -> None:
    if tokens.next() != OPEN:
        raise tokens.wrong(expected)


def _key(tokens: Tokens, tagged: bool, key: str) -> None:
    if tagged and (tokens.next() != WORD or tokens.word != key):
        raise tokens.wrong(f"the key {key}")


def _header(tokens: Tokens) -> tuple[bool, int, Decimal]:
    """Whether fields have keys, the sense of the objective, and the bound as the file has it."""
    _open(tokens, "{ and the key problem")
    tagged = tokens.next() == WORD
    if tagged:
        if tokens.word != "problem":
            raise tokens.wrong("the key problem")
        tokens.next()
    if tokens.kind != OPEN:
        raise tokens.wrong("{ and the name of the problem")
    _key(tokens, tagged, "name")
    if tokens.next() != WORD:
        raise tokens.wrong("the name of the problem")
    _key(tokens, tagged, "mustbe")
    word = tokens.word if tokens.next() == WORD else ""
    if word[:1] not in ("<", ">") or not BOUND.fullmatch(word[1:]) or len(word) > 1000:
        raise tokens.wrong("mustbe, a bound such as <10.00 or >-5")
    if tokens.next() != CLOSE:
        raise tokens.wrong("} after the bound")
    return tagged, 1 if word[0] == "<" else -1, Decimal(word[1:])


def _variables(tokens: Tokens, tagged: bool) -> tuple[list[str] | None, list[int], list[dict[str, int] | None]]:
    """Names, numbers of labels, and labels by their names; no names if no variable has one."""
    _key(tokens, tagged, "variables")
    _open(tokens, "{ and the variables")
    names: dict[str, None] = {}
    domains: list[int] = []
    labels: list[dict[str, int] | None] = []
    named = False
    while tokens.next() != CLOSE:
        if tokens.kind == END:
            raise tokens.wrong("a variable, or } as the end of the variables")
        name = f"x{len(domains)}"
        if tokens.kind == WORD and not _whole(tokens.word):
            name, named = tokens.word, True
            if name[0:1] in "0123456789+-.":  # "" as well
                raise tokens.wrong("the name of a variable, which does not start with a digit, a sign or a point")
            if tokens.next() not in (WORD, OPEN):
                raise tokens.wrong(f"the labels of the variable {name!a}, or their number")
        if name in names:
            raise tokens.wrong(f"labels of a variable of another name than {name!a}, which there is already")
        names[name] = None
        if tokens.kind == OPEN:
            known = _labels(tokens)
            domains.append(len(known))
            labels.append(known)
            continue
        size = abs(int(tokens.word)) if _whole(tokens.word) and len(tokens.word) < 12 else 0
        if not 1 <= size <= LARGEST_INDEX:
            raise tokens.wrong(f"the number of labels of a variable, from 1 to {LARGEST_INDEX}, or their names")
        domains.append(size)
        labels.append(None)
    return list(names) if named else None, domains, labels


def _whole(word: str) -> bool:
    return word.isascii() and word.removeprefix("-").isdigit()


def _labels(tokens: Tokens) -> dict[str, int]:
    found: dict[str, int] = {}
    while tokens.next() == WORD:
        name = tokens.word
        if name[0:1] in "0123456789+-.":
            raise tokens.wrong("the name of a label, which does not start with a digit, a sign or a point")
        if name in found:
            raise tokens.wrong("each label once")
        found[name] = len(found)
    if tokens.kind != CLOSE or not found:
        raise tokens.wrong("the name of a label, or ] after the last one")
    return found


def _share(
    source: Source,
    functions: Functions,
    domains: Positions,
    start: Positions,
    scope: NDArray[np.int32],
    table_start: Positions,
    tables: Costs,
) -> tuple[Positions, Costs]:
    """The tables, with those of other functions for the functions that have none of their own."""
    by_name: dict[str, int] = {}
    twice = set()
    for f, name in enumerate(functions.names):
        if name is not None:
            if name in by_name:
                twice.add(name)
            by_name[name] = f
    wanted = {f: (name, line) for f, name, line in functions.shared}
    owner = np.arange(len(start) - 1)
    for f, (name, line) in wanted.items():
        target, steps = f, 0
        while target in wanted and steps <= len(wanted):
            other = wanted[target][0]
            if other not in by_name or other in twice:
                problem = "which has several" if other in twice else "which no function has"
                raise source.error(line, f"found the costs of {other!a}, {problem}: expected the name of one function")
            target, steps = by_name[other], steps + 1
        if target in wanted:
            raise source.error(
                line, f"found the costs of {name!a}, which has those of others: expected a table in the end"
            )
        sizes, others = (domains[scope[start[g] : start[g + 1]]].tolist() for g in (f, target))
        if sizes != others:
            raise source.error(
                line, f"found the costs of {name!a}, a table of shape {tuple(others)}: expected {tuple(sizes)}"
            )
        owner[f] = target
    sizes = table_start[owner + 1] - table_start[owner]
    new_start = np.concatenate([[0], np.cumsum(sizes)])
    at = np.repeat(table_start[owner] - new_start[:-1], sizes) + np.arange(new_start[-1])
    return new_start, tables[at]


def _forbid(arity: Positions, table_start: Positions, tables: Costs, bound: Decimal, decimals: int) -> Fraction:
    """Make entries infinite that reach the bound even with the least costs of all other functions.

    Returns the cost with which a further function does so.
    """
    if not len(tables):
        return Fraction(bound)  # exactly
    digits = max(decimals, -int(bound.as_tuple().exponent))
    least = np.minimum.reduceat(tables, table_start[:-1])
    scale = 10 ** min(digits, EXACT)
    if digits <= EXACT and max(abs(tables.min()), abs(tables.max())) < 1e300 / scale:
        least = np.rint(least * scale)  # costs are whole numbers then, exactly where they are below 2**53
    else:
        scale = 1
    with localcontext(prec=PRECISION):
        room = bound * scale - sum(map(Decimal, least.tolist()))
    limits = least + float(room)
    limits[arity == 0] = np.inf  # a constant forbids nothing
    forbid(tables, table_start, limits, float(scale))
    return Fraction(Fraction(room), scale)


# ------------------------------------------------------------------------------------------------------------ writing


def write(problem: FactorGraph, stream: BinaryIO) -> None:
    """Write a problem; a forbidden entry gets a cost with which every labeling reaches the bound."""
    problem, automata = with_automata(problem) or (for_format(problem, "cfn"), [])
    sign, tables = 1 if problem.sense > 0 else -1, problem.tables
    parts = [tables[a:b] for a, b in pairwise(problem.table_start.tolist())]
    with localcontext(prec=PRECISION):
        steps = [np.array([cost for *_, cost in automaton.transitions]) for automaton in automata]
        highest = [np.array([0.0, automaton.highest]) for automaton in automata]
        bound, forbidding = _bounds([*parts, *highest], Decimal(str(problem.constant)))
        shown = f"{'<' if sign > 0 else '>'}{sign * bound:.{_digits(problem, *highest, *steps)}f}"
        infinite = f"{sign * forbidding:f}"
    names, domains = list(problem.variables), problem.domains.tolist()
    if all(isinstance(name, str) and NAME.fullmatch(name) for name in names):
        variables = ", ".join(f'"{name}": {size}' for name, size in zip(names, domains, strict=True))
        variables = f"{{{variables}}}"
    else:
        variables = f"[{', '.join(map(str, domains))}]"
    header = f'{{"problem": {{"name": "graphpart", "mustbe": "{shown}"}},\n"variables": {variables},\n"functions": {{'
    stream.write(header.encode())
    scope, start, separator = problem.scope.tolist(), problem.scope_start.tolist(), "\n"
    for f, part in enumerate(parts):
        variables = ", ".join(map(str, scope[start[f] : start[f + 1]]))
        stream.write(f'{separator}"f{f}": {{"scope": [{variables}], "costs": ['.encode())
        for at in range(0, len(part), ROWS):
            words = _words(sign * part[at : at + ROWS], infinite)
            stream.write((", ".join(words) + (", " if at + ROWS < len(part) else "")).encode())
        stream.write(b"]}")
        separator = ",\n"
    for k, automaton in enumerate(automata):
        costs = _words(sign * steps[k], infinite)
        rows = [f"[{s}, {x}, {t}, {c}]" for (s, x, t, _), c in zip(automaton.transitions, costs, strict=True)]
        states = f'"nb_states": {automaton.states}, "starts": [[0, 0]], "ends": [[{automaton.states - 1}, 0]]'
        listed = f'"scope": {automaton.scope}, "type": "wregular", "params": {{{states}, "transitions": '
        stream.write(f'{separator}"w{k}": {{{listed}[{", ".join(rows)}]}}}}'.encode())
        separator = ",\n"
    if problem.constant:
        (word,) = _words(np.array([sign * problem.constant]), infinite)
        stream.write(f'{separator}"constant": {{"scope": [], "costs": [{word}]}}'.encode())
    stream.write(b"}}\n")


def _bounds(parts: list[Costs], constant: Decimal) -> tuple[Decimal, Decimal]:
    """A bound above the energy of every allowed labeling, and a cost of an entry that always reaches it."""
    finite = [part[np.isfinite(part)] for part in parts]
    low = [Decimal(str(part.min())) if len(part) else Decimal(0) for part in finite]
    high = [Decimal(str(part.max())) if len(part) else Decimal(0) for part in finite]
    largest = sum(max(abs(x), abs(y)) for x, y in zip(low, high, strict=True)) + abs(constant)
    rounding = largest / 2**45  # readers add in floating point
    bound = (sum(high) + constant + rounding).to_integral_value(ROUND_FLOOR) + 1
    least = sum(min(x, Decimal(0)) for x in low)
    forbidding = (bound - constant - least).to_integral_value(ROUND_CEILING)
    return bound, forbidding + rounding.to_integral_value(ROUND_FLOOR)


def _digits(problem: FactorGraph, *more: Costs) -> int:
    """The least number of digits behind the point that all costs have, at most `EXACT`."""
    costs = np.concatenate([problem.tables[np.isfinite(problem.tables)], [problem.constant], *more])
    with np.errstate(over="ignore", invalid="ignore"):
        exact = (p for p in range(EXACT) if (np.rint(costs * 10.0**p) / 10.0**p == costs).all())
        return next(exact, EXACT)


def _words(costs: Costs, infinite: str) -> list[str]:
    """Decimal numbers without exponents, from which exactly the same costs are read."""
    words = [str(cost) for cost in numbers(costs)]
    for i, word in enumerate(words):
        if "e" in word:
            words[i] = f"{Decimal(word):f}"
        elif "inf" in word:
            words[i] = infinite
    return words
