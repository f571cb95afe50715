"""The parameters of the global cost functions of toulbar2, from the two formats that write them.

Each function has a keyword and parameters in a fixed order, which `FORMS` lists: words (W), numbers (N), costs (C), and
lists of rows of labels (v), variables (V), numbers and costs. wcsp writes the number of rows before a list, cfn the
name of each parameter and brackets. Lists marked by "all" have a row for each variable, those by "each" a list.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from graphpart.errors import InvalidProblem

__all__ = ["FORMS", "Listed", "Nested", "check", "unknown"]

SOFT = "metric:W cost:C"
REGULAR = f"{SOFT} nb_states:N starts:[N] ends:[N] transitions:[NvN]"
COMPARE = f"{SOFT} comparator:W to:N"
FORMS = {
    **dict.fromkeys((">=", ">", "<=", "<", "="), "constant:N delta:N"),
    "disj": "constant_x:N constant_y:N penalty:C",
    "sdisj": "constant_x:N constant_y:N largest_x:N largest_y:N cost_x:C cost_y:C",
    "clique": "rhs:N values:[v]each",
    "knapsack": "capacity:N weights:[N]all",
    "knapsackp": "capacity:N weightedvalues:[vN]each",
    "knapsackv": "capacity:N weightedvalues:[VvN]",
    **dict.fromkeys(("salldiff", "salldiffdp", "salldiffkp", "walldiff", "walldifferent"), SOFT),
    **dict.fromkeys(("sgcc", "sgccdp", "wgcc", "wsamegcc"), f"{SOFT} bounds:[vNN]"),
    "ssame": "cost:C vars1:[V] vars2:[V]",
    "wsame": SOFT,
    **dict.fromkeys(("sregular", "sregulardp"), REGULAR),
    **dict.fromkeys(("samong", "samongdp"), f"{SOFT} min:N max:N values:[v]"),
    **dict.fromkeys(
        ("sgrammar", "sgrammardp"), f"{SOFT} nb_symbols:N nb_values:N start:N terminals:[Nv] non_terminals:[NNN]"
    ),
    **dict.fromkeys(("max", "smaxdp"), "defaultcost:C tuples:[VvC]"),
    "wregular": "nb_states:N starts:[NC] ends:[NC] transitions:[NvNC]",
    "wamong": f"{SOFT} values:[v] min:N max:N",
    "wvaramong": f"{SOFT} values:[v]",
    **dict.fromkeys(("woverlap", "wsum"), COMPARE),
    "wvarsum": f"{SOFT} comparator:W",
    **dict.fromkeys(("MST", "smstdp"), ""),
    "cfnconstraint": "network:P lb:C ub:C duplicatehard:N strongduality:N",
    "wcsp": "lb:C ub:C duplicatehard:N strongduality:N",
    **dict.fromkeys(("wdiverse", "whdiverse", "wtdiverse"), "distance:N values:[v]all"),
}
DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)")


def unknown(keyword: str) -> str:
    """A message about a function that is not read."""
    names = ", ".join(sorted(name for name in FORMS if name.isalpha()))
    return f"found the global cost function {keyword[:40]!a}: expected one of {names}, or functions listed by tuples"


def check(good: bool, what: str) -> None:
    if not good:
        raise InvalidProblem(what)


class Parameters(ABC):
    """The parameters of a function, from a file that writes them in the order of `FORMS`.

    `wcsp` and `cfn` differ in how lists are written: `Listed` and `Nested` have the two ways.

    Parameters
    ----------
    keyword : str
    scope : list of int
    names : list of (dict or None)
        For each variable of the scope the labels by their names.
    variables : mapping from words to variables, for words that are no numbers
    """

    def __init__(
        self, keyword: str, scope: list[int], names: list[dict[str, int] | None], variables: dict[str, int]
    ) -> None:
        self.keyword, self.scope, self.names, self.variables = keyword, scope, names, variables

    @abstractmethod
    def word(self, name: str) -> str:
        """The next word."""

    @abstractmethod
    def rows(self, name: str, width: int, count: int | None) -> list[list[str]]:
        """The next list of rows; `count` of them if that is known."""

    @abstractmethod
    def groups(self, name: str, width: int) -> list[list[list[str]]]:
        """The next list of lists of rows, one for each variable of the scope."""

    @abstractmethod
    def problem(self) -> Any:
        """The next problem."""

    def read(self) -> dict[str, Any]:
        """All parameters by their names."""
        found: dict[str, Any] = {}
        arity = len(self.scope)
        for field in FORMS[self.keyword].split():
            name, kind = field.split(":")
            if kind == "P":
                found[name] = self.problem()
                continue
            if not kind.startswith("["):
                word = self.word(name)
                found[name] = word if kind == "W" else self.value(name, kind, word)
                continue
            kinds, how = kind[1:].split("]")
            if found.get("metric") == "wdec" and name == "bounds":
                kinds += "CC"
            if found.get("metric") == "weight" and name.endswith("terminals"):
                kinds += "C"
            if how == "each":
                groups = self.groups(name, len(kinds))
                found[name] = [[self.row(name, kinds, row, i) for row in rows] for i, rows in enumerate(groups)]
            else:
                rows = self.rows(name, len(kinds), arity if how == "all" else None)
                found[name] = [self.row(name, kinds, row) for row in rows]
        return found

    def row(self, name: str, kinds: str, words: list[str], variable: int | None = None) -> list[Any]:
        """The values of a row; labels are those of a variable, if the row or the caller names one."""
        values = []
        for kind, word in zip(kinds, words, strict=True):
            values.append(self.value(name, kind, word, variable))
            if kind == "V":
                variable = values[-1]
        return values

    def value(self, name: str, kind: str, word: str, variable: int | None = None) -> Any:
        """A number, a cost, a label, or the place of a variable in the scope."""
        try:
            if kind == "C":
                return _decimal(word)
            if kind == "N":
                return int(word)
            if kind == "V":
                return self.scope.index(self.variables[word] if word in self.variables else int(word))
            return self.label(word, variable)
        except ValueError:
            what = {"C": "a cost", "N": "a whole number", "V": "a variable of the scope", "v": "a label"}[kind]
            raise InvalidProblem(f"{name} has {word[:40]!a}: expected {what}") from None

    def label(self, word: str, variable: int | None) -> int:
        """A label by its name or number."""
        for i, names in enumerate(self.names):
            if names is not None and word in names and variable in (None, i):
                return names[word]
        return self.checked(int(word), variable)

    def checked(self, label: int, variable: int | None) -> int:
        """A label that the variable has; any other label is of no variable, and means nothing."""
        if label < 0 or (variable is not None and label >= self.sizes[variable]):
            raise ValueError
        return label

    sizes: list[int]


def _decimal(word: str) -> Fraction:
    if not DECIMAL.fullmatch(word):
        raise ValueError
    return Fraction(word)


class Listed(Parameters):
    """Words one after the other, with numbers of rows before lists, from a place on."""

    def __init__(
        self, words: Callable[[int], str], at: int, keyword: str, scope: list[int], sizes: list[int],
        inner: Callable[[str], Any],
    ) -> None:  # fmt: skip
        super().__init__(keyword, scope, [None] * len(scope), {})
        self._words, self.at, self.sizes, self._inner = words, at, sizes, inner

    def word(self, name: str) -> str:
        self.at += 1
        return self._words(self.at - 1)

    def _count(self, name: str) -> int:
        count = int(self.value(f"the length of {name}", "N", self.word(name)))
        check(0 <= count <= 2**24, f"{name} has the length {count}: expected 0 to {2**24}")
        return count

    def rows(self, name: str, width: int, count: int | None) -> list[list[str]]:
        count = self._count(name) if count is None else count
        return [[self.word(name) for _ in range(width)] for _ in range(count)]

    def groups(self, name: str, width: int) -> list[list[list[str]]]:
        return [self.rows(name, width, None) for _ in self.scope]

    def read(self) -> dict[str, Any]:
        """All parameters; two functions do not follow the pattern."""
        if self.keyword == "ssame":
            cost = self.value("cost", "C", self.word("cost"))
            counts = [self._count(name) for name in ("vars1", "vars2")]
            lists = [[self.row("variables", "V", one) for one in self.rows("variables", 1, n)] for n in counts]
            return {"cost": cost, "vars1": lists[0], "vars2": lists[1]}
        if self.keyword == "wcsp":
            return super().read() | {"network": self.problem()}
        if self.keyword not in ("sgrammar", "sgrammardp"):
            return super().read()
        found: dict[str, Any] = {"metric": self.word("metric")}
        for field in ("cost:C", "nb_symbols:N", "nb_values:N", "start:N"):
            name, kind = field.split(":")
            found[name] = self.value(name, kind, self.word(name))
        found |= {"terminals": [], "non_terminals": []}
        for _ in range(self._count("rules")):
            kind = self.word("rule")
            check(kind in ("0", "1", "2", "3"), f"a rule of the kind {kind[:40]!a}: expected 0, 1, 2 or 3")
            kinds = ("Nv", "NNN", "NvC", "NNNC")[int(kind)]
            row = self.row("rule", kinds, [self.word("rule") for _ in kinds])
            if found["metric"] == "weight" and kind in "01":
                row.append(Fraction(0))
            found["non_terminals" if kind in "13" else "terminals"].append(row)
        return found

    def problem(self) -> Any:
        """A problem of its own, as a file has it."""
        begin = self.at
        n, _, m, _ = [self._count("the inner problem") for _ in range(4)] if self.word("name") else (0,) * 4
        self.at += n
        for _ in range(m):
            arity = self._count("an inner function")
            self.at += arity
            self.word("the default cost")
            tuples = self._count("the tuples of an inner function")
            self.at += tuples * (arity + 1)
        words = [self._words(i) for i in range(begin, self.at)]
        return self._inner(" ".join([*words[:5], "\n", *words[5:]]))


class Nested(Parameters):
    """Words and lists of words and lists; the name of a parameter may stand before it."""

    def __init__(
        self, tree: list[Any], keyword: str, scope: list[int], sizes: list[int],
        names: list[dict[str, int] | None], variables: dict[str, int], inner: Callable[[str], Any],
    ) -> None:  # fmt: skip
        super().__init__(keyword, scope, names, variables)
        self._tree, self._at, self.sizes, self._inner = tree, 0, sizes, inner

    def _next(self, name: str) -> Any:
        if self._at < len(self._tree) and self._tree[self._at] == name:
            self._at += 1
        check(self._at < len(self._tree), f"parameters without {name}: expected {self.form}")
        self._at += 1
        return self._tree[self._at - 1]

    @property
    def form(self) -> str:
        """The names of the parameters."""
        return ", ".join(field.split(":")[0] for field in FORMS[self.keyword].split())

    def word(self, name: str) -> str:
        found = self._next(name)
        check(isinstance(found, str), f"a list in place of {name}: expected {self.form}")
        return str(found)

    def rows(self, name: str, width: int, count: int | None) -> list[list[str]]:
        found = self._next(name)
        check(isinstance(found, list), f"a word in place of the list {name}: expected {self.form}")
        return self._shaped(name, found, width, count)

    def groups(self, name: str, width: int) -> list[list[list[str]]]:
        found = self._next(name)
        good = isinstance(found, list) and all(isinstance(x, list) for x in found) and len(found) == len(self.scope)
        check(good, f"{name}: expected a list of lists, one for each variable")
        return [self._shaped(name, one, width, None) for one in found]

    def problem(self) -> Any:
        """A problem of its own, as a file has it."""
        found = self._next("cfn")
        check(isinstance(found, list), "a word in place of the problem cfn: expected a problem")
        return self._inner(_text(found))

    def _shaped(self, name: str, tree: list[Any], width: int, count: int | None) -> list[list[str]]:
        words = list(_flat(tree))
        good = len(words) % width == 0 and count in (None, len(words) // width)
        check(good, f"{name} has {len(words)} words: expected {'rows' if count is None else count} of {width}")
        return [words[i : i + width] for i in range(0, len(words), width)]

    def read(self) -> dict[str, Any]:
        """All parameters, and no more."""
        found = super().read()
        check(self._at == len(self._tree), f"more parameters: expected {self.form}")
        return found


def _text(tree: list[Any]) -> str:
    """A list as a file has it."""
    return "{" + " ".join(f'"{x}"' if isinstance(x, str) else _text(x) for x in tree) + "}"


def _flat(tree: list[Any]) -> Iterator[str]:
    for x in tree:
        if isinstance(x, str):
            yield x
        else:
            yield from _flat(x)
