"""Global cost functions of toulbar2, by their definitions: files with random ones, and the costs of all labelings.

Nothing of graphpart is used to make a file or to say what it means. ``python tests/helpers/reference_functions.py 300``
compares so many files of each kind and format with graphpart: the optimum, the number of optima, and all costs. Further
arguments are kinds.
"""

from __future__ import annotations

import itertools
import math
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

INF = math.inf


@dataclass
class File:
    """A problem: its domains, the bound, tables as (scope, entries), functions as (keyword, scope, parameters)."""

    domains: list[int]
    top: int
    tables: list[tuple[list[int], dict[tuple[int, ...], int]]] = field(default_factory=list)
    functions: list[tuple[str, list[int], list[Any]]] = field(default_factory=list)

    def wcsp(self) -> str:
        lines = [f"t {len(self.domains)} {max(self.domains)} {len(self.tables) + len(self.functions)} {self.top}"]
        lines.append(" ".join(map(str, self.domains)))
        for scope, table in self.tables:
            lines.append(" ".join(map(str, [len(scope), *scope, 0, len(table)])))
            lines += [" ".join(map(str, [*key, cost])) for key, cost in table.items()]
        for keyword, scope, parameters in self.functions:
            words = [len(scope), *scope, -1, keyword, *flat(keyword, parameters)]
            lines.append(" ".join(map(str, words)))
        return "\n".join(lines) + "\n"

    def cfn(self) -> str:
        parts = []
        for scope, table in self.tables:
            entries = [str(x) for key, cost in table.items() for x in (*key, cost)]
            parts.append(f"{{scope: {scope}, defaultcost: 0, costs: [{' '.join(entries)}]}}")
        for keyword, scope, parameters in self.functions:
            fields = ", ".join(f"{name}: {nested(value)}" for name, value in parameters)
            parts.append(f'{{scope: {scope}, type: "{keyword}", params: {{{fields}}}}}')
        body = ",\n".join(parts)
        return (
            f'{{problem: {{name: t, mustbe: "<{self.top}"}},\nvariables: {self.domains},\nfunctions: {{\n{body}}}}}\n'
        )

    def cost(self, labels: tuple[int, ...]) -> float:
        """The cost of a labeling; inf from the bound on."""
        total: float = 0
        for scope, table in self.tables:
            total += forbidden(table.get(tuple(labels[v] for v in scope), 0), self.top)
        for keyword, scope, parameters in self.functions:
            own = tuple(labels[v] for v in scope)
            total += forbidden(DEFINITIONS[keyword](own, dict(parameters), scope, self.domains), self.top)
        return total


def forbidden(cost: float, top: int) -> float:
    return INF if cost >= top else cost


def flat(keyword: str, parameters: list[Any]) -> list[Any]:
    """Words as wcsp has them: the number of rows before most lists."""
    words: list[Any] = []
    for name, value in parameters:
        if not isinstance(value, list):
            words.append(value)
        elif keyword in ("clique", "knapsackp"):
            words += [x for rows in value for x in (len(rows), *itertools.chain.from_iterable(rows))]
        else:
            counted = name != "weights" and not keyword.endswith("diverse")
            words += [len(value)] * counted + [x for row in value for x in row]
    if keyword == "ssame":  # both lengths first
        cost, one, n, *rest = words[0], words[1], words[1], *words[2:]
        words = [cost, one, n, *rest[:n], *rest[n + 1 :]]
    if keyword.startswith("sgrammar"):
        known = dict(parameters)
        weighted = 2 if known["metric"] == "weight" else 0
        rules = [[0 + weighted, *row] for row in known["terminals"]]
        rules += [[1 + weighted, *row] for row in known["non_terminals"]]
        head = [value for name, value in parameters if not isinstance(value, list)]
        words = [*head, len(rules), *itertools.chain.from_iterable(rules)]
    return words


def nested(value: Any) -> str:
    """Lists as cfn has them; rows of one word are words."""
    if not isinstance(value, list):
        return str(value)
    if value and all(isinstance(x, list) and len(x) == 1 and not isinstance(x[0], list) for x in value):
        return nested([x[0] for x in value])
    return f"[{' '.join(map(nested, value))}]"


# --------------------------------------------------------------------------------------------------------- definitions


def gap(number: float, comparator: str, right: float) -> float:
    return {
        "==": abs(right - number),
        "<=": max(0, number - right),
        "<": max(0, number - right + 1),
        "!=": float(number == right),
        ">": max(0, right - number + 1),
        ">=": max(0, right - number),
    }[comparator]


def metric(p: dict[str, Any], violation: float) -> float:
    """hard: any violation costs the same."""
    if p["metric"] == "hard":
        violation = min(violation, 1)
    return p["cost"] * (violation**2 if p["metric"] == "quad" else violation)


def outside(number: int, least: int, most: int) -> int:
    return max(0, least - number, number - most)


def all_different(x, p, scope, domains):
    counts = Counter(x).values()
    if p["metric"] in ("dec", "decbi"):
        return p["cost"] * sum(n * (n - 1) // 2 for n in counts)
    if p["metric"] == "var":
        return p["cost"] * (len(x) - len(counts))
    return sum(metric(p, n - 1) for n in counts)


def cardinality(x, p, scope, domains):
    counts = Counter(x)
    short = {row[0]: max(0, row[1] - counts[row[0]]) for row in p["bounds"]}
    excess = {row[0]: max(0, counts[row[0]] - row[2]) for row in p["bounds"]}
    if p["metric"] == "wdec":
        return sum(row[3] * short[row[0]] + row[4] * excess[row[0]] for row in p["bounds"])
    if p["metric"] == "var":
        return p["cost"] * max(sum(short.values()), sum(excess.values()))
    if p["metric"] == "dec":
        return p["cost"] * (sum(short.values()) + sum(excess.values()))
    return sum(metric(p, short[v] + excess[v]) for v in short)


def same(x, p, scope, domains):
    half = len(x) // 2
    a, b = Counter(x[:half]), Counter(x[half:])
    return sum(metric(p, abs(a[v] - b[v])) for v in {*x})


def same_and_cardinality(x, p, scope, domains):
    half = len(x) // 2
    return same(x, p, scope, domains) + sum(cardinality(part, p, scope, domains) for part in (x[:half], x[half:]))


def permutation(x, p, scope, domains):
    of = dict(zip(scope, x, strict=True))
    a, b = (Counter(of[v] for (v,) in p[name]) for name in ("vars1", "vars2"))
    return p["cost"] * (a - b).total()


def regular(x, p, scope, domains):
    """The least number of changes: the shortest path over pairs of a place in the word and a state."""
    moves, edit = p["transitions"], p["metric"] == "edit"
    distance = dict.fromkeys(((0, s) for (s,) in p["starts"]), 0)
    while True:
        new = dict(distance)
        for (i, s), steps in distance.items():
            following = []
            if i < len(x):
                following += [((i + 1, t), a != x[i]) for r, a, t in moves if r == s]
                following += [((i + 1, s), 1)] * edit
            following += [((i, t), 1) for r, _, t in moves if r == s and edit]
            for pair, more in following:
                new[pair] = min(steps + more, new.get(pair, INF))
        if new == distance:
            return p["cost"] * min((distance.get((len(x), s), INF) for (s,) in p["ends"]), default=INF)
        distance = new


def weighted_regular(x, p, scope, domains):
    best = {}
    for s, cost in p["starts"]:
        best[s] = min(cost, best.get(s, INF))
    for label in x:
        new: dict[int, float] = {}
        for s, a, t, cost in p["transitions"]:
            if a == label and s in best:
                new[t] = min(best[s] + cost, new.get(t, INF))
        best = new
    return min((best[s] + cost for s, cost in p["ends"] if s in best), default=INF)


def grammar(x, p, scope, domains):
    """The algorithm of Cocke, Younger and Kasami."""
    n, weighted = len(x), p["metric"] == "weight"
    table: dict[tuple[int, int, int], float] = {}
    for i in range(n):
        for row in p["terminals"]:
            change = INF if weighted else p["cost"]
            cost = (row[2] if weighted else 0) + (0 if row[1] == x[i] else change)
            key = (i, 1, row[0])
            table[key] = min(cost, table.get(key, INF))
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            for row in p["non_terminals"]:
                for k in range(1, length):
                    cost = (row[3] if weighted else 0) + table.get((i, k, row[1]), INF)
                    cost += table.get((i + k, length - k, row[2]), INF)
                    key = (i, length, row[0])
                    table[key] = min(cost, table.get(key, INF))
    return table.get((0, n, p["start"]), INF)


def among(x, p, scope, domains):
    number = sum([label] in p["values"] for label in x)
    return metric({**p, "metric": "lin" if p["metric"] == "var" else p["metric"]}, outside(number, p["min"], p["max"]))


def variable_among(x, p, scope, domains):
    return p["cost"] * (sum([label] in p["values"] for label in x[:-1]) != x[-1])


def overlap(x, p, scope, domains):
    half = len(x) // 2
    number = sum(a == b != 0 for a, b in zip(x[:half], x[half:], strict=True))
    return metric(p, gap(number, p["comparator"], p["to"]))


def knapsack(x, p, scope, domains):
    if "weights" in p:
        total = sum(w for (w,), label in zip(p["weights"], x, strict=True) if label == 1)
    elif isinstance(p["weightedvalues"][0][0], list) or not p["weightedvalues"][0]:
        total = sum(w for rows, label in zip(p["weightedvalues"], x, strict=True) for a, w in rows if a == label)
    else:
        total = sum(w for v, a, w in p["weightedvalues"] if x[scope.index(v)] == a)
    return INF if total < p["capacity"] else 0


def largest(x, p, scope, domains):
    costs = {(v, a): c for v, a, c in p["tuples"]}
    return max(costs.get((v, label), p["defaultcost"]) for v, label in zip(scope, x, strict=True))


def arithmetic(sign):
    def cost(x, p, scope, domains):
        a, b = x
        c = p["constant"]
        violation = {
            ">=": max(0, b + c - a), ">": max(0, b + c + 1 - a), "<=": max(0, a - c - b), "<": max(0, a - c + 1 - b),
            "=": abs(b + c - a),
        }[sign]  # fmt: skip
        return violation if violation <= p["delta"] else INF

    return cost


def disjunction(x, p, scope, domains):
    a, b = x
    apart = a >= b + p["constant_y"] or b >= a + p["constant_x"]
    if "penalty" in p:
        return 0 if apart else p["penalty"]
    last_a, last_b = a == p["largest_x"], b == p["largest_y"]
    if a > p["largest_x"] or b > p["largest_y"] or not (apart or last_a or last_b):
        return INF
    return last_a * p["cost_x"] + last_b * p["cost_y"]


DEFINITIONS: dict[str, Any] = {
    **{sign: arithmetic(sign) for sign in (">=", ">", "<=", "<", "=")},
    **dict.fromkeys(("disj", "sdisj"), disjunction),
    "clique": lambda x, p, s, d: INF if sum([a] in rows for a, rows in zip(x, p["values"], strict=True)) > 1 else 0,
    **dict.fromkeys(("knapsack", "knapsackp", "knapsackv"), knapsack),
    **dict.fromkeys(("salldiff", "salldiffdp", "walldiff"), all_different),
    "salldiffkp": lambda x, p, s, d: 0 if len({*x}) == len(x) else INF,
    **dict.fromkeys(("sgcc", "wgcc"), cardinality),
    "sgccdp": lambda x, p, s, d: cardinality(x, {**p, "metric": "dec"}, s, d),
    "wsamegcc": same_and_cardinality,
    "ssame": permutation,
    "wsame": same,
    **dict.fromkeys(("sregular", "sregulardp"), regular),
    "wregular": weighted_regular,
    **dict.fromkeys(("sgrammar", "sgrammardp"), grammar),
    **dict.fromkeys(("samong", "samongdp", "wamong"), among),
    "wvaramong": variable_among,
    **dict.fromkeys(("max", "smaxdp"), largest),
    "woverlap": overlap,
    "wsum": lambda x, p, s, d: metric(p, gap(sum(x), p["comparator"], p["to"])),
    "wvarsum": lambda x, p, s, d: metric(p, gap(sum(x[:-1]), p["comparator"], x[-1])),
    **dict.fromkeys(
        ("wdiverse", "whdiverse", "wtdiverse"),
        lambda x, p, s, d: INF if sum([a] != b for a, b in zip(x, p["values"], strict=True)) < p["distance"] else 0,
    ),
}
KINDS = tuple(DEFINITIONS)
ONLY_WCSP = ("knapsackp",)


# ----------------------------------------------------------------------------------------------------------- generator


def parameters_of(keyword: str, scope: list[int], domains: list[int], r: random.Random) -> list[tuple[str, Any]]:
    """Random parameters, in order."""
    k, d = len(scope), max(domains)
    cost = ("cost", r.choice([1, 2, 5, 9, 1000]))
    soft = [("metric", r.choice(["hard", "lin", "quad"])), cost]
    compared = [*soft, ("comparator", r.choice(["==", "!=", "<=", "<", ">", ">="])), ("to", r.randint(0, 2 * k))]
    some = [[v] for v in sorted(r.sample(range(d), r.randint(1, d)))]
    a, b = sorted((r.randint(0, k), r.randint(0, k)))
    states, n = r.randint(1, 3), r.randint(1, 7)
    moves = sorted({(r.randrange(states), r.randrange(d), r.randrange(states)) for _ in range(n)})
    moves = list({(s, x): [s, x, t] for s, x, t in moves}.values())  # deterministic
    starts, ends = [[0]], [[s] for s in sorted(r.sample(range(states), r.randint(1, states)))]
    regular = [cost, ("nb_states", states), ("starts", starts), ("ends", ends), ("transitions", moves)]
    bounds = []
    for label in sorted(r.sample(range(d), r.randint(1, d))):
        low, high = sorted((r.randint(0, 2), r.randint(0, k)))
        bounds.append([label, low, high])
    pairs = [("constant", r.randint(-2, 2)), ("delta", r.randint(0, 3))]
    if keyword in (">=", ">", "<=", "<", "="):
        return pairs
    if keyword == "disj":
        return [("constant_x", r.randint(0, 2)), ("constant_y", r.randint(0, 2)), ("penalty", r.randint(0, 9))]
    if keyword == "sdisj":
        last = [("largest_x", domains[scope[0]] - 1), ("largest_y", domains[scope[1]] - 1)]
        costs = [("cost_x", r.randint(0, 5)), ("cost_y", r.randint(0, 5))]
        return [("constant_x", r.randint(0, 2)), ("constant_y", r.randint(0, 2)), *last, *costs]
    if keyword == "clique":
        return [("rhs", 1), ("values", [[[r.randrange(domains[v])]] for v in scope])]
    if keyword == "knapsack":
        weights = [[r.randint(-3, 6)] for _ in scope]
        return [("capacity", r.randint(-3, sum(max(0, w) for (w,) in weights))), ("weights", weights)]
    if keyword == "knapsackp":
        rows = [[[x, r.randint(-2, 5)] for x in range(domains[v]) if r.random() < 0.8] or [[0, 1]] for v in scope]
        return [("capacity", r.randint(-2, 3 * k)), ("weightedvalues", rows)]
    if keyword == "knapsackv":
        rows = [[v, x, r.randint(-2, 5)] for v in scope for x in range(domains[v]) if r.random() < 0.7]
        return [("capacity", r.randint(-2, 2 * k)), ("weightedvalues", rows or [[scope[0], 0, 1]])]
    if keyword == "salldiff":
        return [("metric", r.choice(["var", "dec", "decbi"])), cost]
    if keyword == "salldiffkp":
        return [("metric", "hard"), ("cost", 1000)]
    if keyword in ("walldiff", "wsame"):
        return soft
    if keyword in ("salldiffdp", "samong", "samongdp", "sgccdp", "sregulardp"):
        soft = [("metric", "var"), cost]
    if keyword == "sgcc":
        soft = [("metric", r.choice(["var", "dec", "wdec"])), cost]
        if soft[0][1] == "wdec":
            bounds = [[*row, r.randint(0, 3), r.randint(0, 3)] for row in bounds]
    if keyword in ("sgcc", "sgccdp", "wgcc", "wsamegcc"):
        return [*soft, ("bounds", bounds)]
    if keyword == "salldiffdp":
        return soft
    if keyword == "ssame":
        mixed = r.sample(scope, k)
        return [cost, ("vars1", [[v] for v in mixed[: k // 2]]), ("vars2", [[v] for v in mixed[k // 2 :]])]
    if keyword in ("sregular", "sregulardp"):
        return [("metric", "var" if keyword == "sregulardp" else r.choice(["var", "edit"])), *regular]
    if keyword == "wregular":
        more = [[r.randrange(states), r.randrange(d), r.randrange(states)] for _ in range(n)]
        rows = [[*row, r.randint(0, 4)] for row in [*moves, *more]]
        return [("nb_states", states), ("starts", [[0, r.randint(0, 2)]]),
                ("ends", [[s, r.randint(0, 2)] for (s,) in ends]), ("transitions", rows)]  # fmt: skip
    if keyword in ("sgrammar", "sgrammardp"):
        kind = r.choice(["var", "weight"])
        extra = (lambda: [r.randint(0, 3)]) if kind == "weight" else list
        symbols = r.randint(1, 3)
        terminals = [[r.randrange(symbols), x, *extra()] for x in range(d) if r.random() < 0.9] or [[0, 0, *extra()]]
        rules = [[r.randrange(symbols) for _ in range(3)] + extra() for _ in range(r.randint(1, 4))]
        head = [("metric", kind), cost, ("nb_symbols", symbols), ("nb_values", d), ("start", 0)]
        return [*head, ("terminals", terminals), ("non_terminals", rules)]
    if keyword in ("samong", "samongdp"):
        return [*soft, ("min", a), ("max", b), ("values", some)]
    if keyword == "wamong":
        return [*soft, ("values", some), ("min", a), ("max", b)]
    if keyword == "wvaramong":
        return [("metric", "hard"), cost, ("values", some)]
    if keyword in ("max", "smaxdp"):
        rows = [[v, x, r.randint(0, 9)] for v in scope for x in range(domains[v]) if r.random() < 0.7]
        return [("defaultcost", r.randint(0, 9)), ("tuples", rows)]
    if keyword in ("woverlap", "wsum"):
        return compared
    if keyword == "wvarsum":
        return compared[:3]
    return [("distance", r.randint(0, k)), ("values", [[r.randrange(domains[v])] for v in scope])]


def random_file(keyword: str, seed: int) -> File:
    """A problem with a function of this kind, and sometimes with one of another kind, too."""
    r = random.Random(f"{keyword} {seed}")
    n = r.randint(4, 6)
    domains = [r.randint(2, 3) for _ in range(n)]
    file = File(domains, r.choice([15, 100, 1000, 1000]))
    for v in range(n):
        file.tables.append(([v], {(x,): r.randint(0, 9) for x in range(domains[v])}))
    for _ in range(r.randint(0, 2)):
        u, v = r.sample(range(n), 2)
        keys = itertools.product(range(domains[u]), range(domains[v]))
        file.tables.append(([u, v], {key: r.choice([0, 3, 7, 20]) for key in keys if r.random() < 0.6}))
    for kind in (keyword, *r.sample(KINDS, r.random() < 0.3)):
        size = 2 if kind in (">=", ">", "<=", "<", "=", "disj", "sdisj") else r.randint(2, n)
        if kind in ("ssame", "wsame", "wsamegcc", "woverlap"):
            size -= size % 2
        scope = r.sample(range(n), size)
        if kind == "clique" or (kind != keyword and kind in ONLY_WCSP):
            kind = "clique"
        file.functions.append((kind, scope, parameters_of(kind, scope, domains, r)))
    return file


def expected(file: File) -> tuple[dict[tuple[int, ...], float], float, int]:
    """The costs of all labelings, the least, and how many labelings have it."""
    costs = {x: file.cost(x) for x in itertools.product(*map(range, file.domains))}
    least = min(costs.values())
    return costs, least, 0 if least == INF else sum(cost == least for cost in costs.values())


def compare(file: File, format: str) -> float:
    """Read the file with graphpart and compare; returns the optimum."""
    import graphpart as gp

    costs, least, count = expected(file)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"file.{format}")
        path.write_text(getattr(file, format)())
        try:
            f = gp.read(path)
            for x, cost in costs.items():
                own = f.evaluate(x)
                assert own == cost or min(own, cost) >= file.top, (x, own, cost)  # both are forbidden
            r = gp.solve(f)
            assert len(r.labels) == len(file.domains), r
            if least >= file.top:
                assert r.cost >= file.top, r
            else:
                assert (r.cost, r.status) == (least, "optimal"), (r, least)
                found = gp.crf.m_best(f, count + 1)
                assert (found.costs == least).sum() == count, found
        except gp.InfeasibleProblem:
            assert least >= file.top, least
    return least


def main(count: int, kinds: Sequence[str]) -> None:
    begin = time.perf_counter()
    for keyword in kinds:
        infeasible = 0
        formats = ("wcsp",) if keyword in ONLY_WCSP else ("wcsp", "cfn")
        for format in formats:
            for seed in range(count):
                try:
                    file = random_file(keyword, seed)
                    infeasible += compare(file, format) >= file.top
                except Exception:
                    print(f"{keyword} {seed} {format}:\n{getattr(random_file(keyword, seed), format)()}", flush=True)
                    raise
        seconds = time.perf_counter() - begin
        print(
            f"{keyword}: {count} files in {' and '.join(formats)} agree, {infeasible} infeasible; {seconds:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300, sys.argv[2:] or KINDS)
