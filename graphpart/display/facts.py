"""Facts about an object, by name: two lines at a prompt, aligned lines when printed, HTML in notebooks.

Names that come from data are escaped in HTML, and shortened everywhere.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = ["Facts", "Shown", "html_of", "number", "percent", "plural", "table", "text_of"]

CELL = "text-align: left"


class Facts(dict[str, Any]):
    """A dictionary of facts that prints as aligned lines."""

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(f"{name:<{width}}  {text_of(value)}" for name, value in self.items())

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return table([], self.items())


class Shown(ABC):
    """A base class of objects that are displayed by a title and some facts.

    The title makes the first line of the representation, further facts the second.
    """

    __slots__ = ()

    @abstractmethod
    def _title(self) -> str:
        """The kind of the object, in a few words."""

    def _facts(self) -> dict[str, Any]:
        """Further facts, by name, the most important first."""
        return {}

    def _preview(self) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        """The head and the first rows of what it holds, for notebooks; none by default."""
        return (), ()

    def __repr__(self) -> str:
        facts = ", ".join(f"{name} {text_of(value)}" for name, value in self._facts().items())
        return f"<{self._title()}\n {facts}>" if facts else f"<{self._title()}>"

    def _repr_html_(self) -> str:
        """For notebooks."""
        return html_of(self._title(), self._facts(), *self._preview())


def html_of(
    title: str, facts: Mapping[str, Any], head: Sequence[str] = (), rows: Iterable[Sequence[Any]] = (), note: str = ""
) -> str:
    """A title, a note of any length, facts, and the first rows of a table, for notebooks."""
    shown = f"<p><b>{escaped(title, len(title))}</b></p>"
    shown += "".join(f"<p>{escaped(line, len(line))}</p>" for line in note.splitlines())
    shown += table([], facts.items())
    return f"<div>{shown}{table(head, rows) if head else ''}</div>"


def number(value: float) -> str:
    """A number with at most ten digits; ``-`` for what is not known."""
    if isinstance(value, float):
        return f"{value + 0.0:.10g}" if math.isfinite(value) else "-"
    return f"{value:,}".replace(",", " ") if abs(value) >= 10_000 else str(value)


def percent(share: float, digits: int = 3) -> str:
    """A share in per cent with `digits` significant digits, without an exponent; ``-`` if it is not known.

    Examples
    --------
    >>> percent(0.0), percent(0.012345), percent(0.25, 2), percent(6.04, 2), percent(12.345)
    ('0%', '1.23%', '25%', '600%', '1230%')
    """
    if not math.isfinite(share):
        return "-"
    text = f"{100 * share:.{digits}g}"
    rounded = float(text)
    if abs(rounded) < 100:
        return f"{text}%"
    return f"{number(round(rounded))}%" if abs(rounded) < 1e15 else f"{text}%"


def plural(count: int, one: str, many: str | None = None) -> str:
    """A count and what is counted.

    Examples
    --------
    >>> plural(1, "pair"), plural(2, "pair"), plural(12345, "entry", "entries")
    ('1 pair', '2 pairs', '12 345 entries')
    """
    return f"{number(count)} {one if count == 1 else many or one + 's'}"


def text_of(value: Any) -> str:
    """A fact in one short line."""
    if isinstance(value, bool) or value is None:
        text = {True: "yes", False: "no", None: "-"}[value]
    elif isinstance(value, int | float):
        text = number(value)
    else:
        text = " ".join(str(value).split())
    return text


def shortened(text: str, length: int) -> str:
    """The text, or its beginning and end around three dots if it is longer than that."""
    if len(text) <= length:
        return text
    end = max(0, (length - 3) // 2)
    return text[: max(0, length - 3 - end)] + "..." + text[len(text) - end :]


def escaped(value: Any, longest: int = 60) -> str:
    """Any value as the text of an HTML element, shortened."""
    text = text_of(value)
    import html

    return html.escape(shortened(text, longest))


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """An HTML table; all cells are escaped."""
    lines = "".join(
        "<tr>" + "".join(f'<td style="{CELL}">{escaped(cell)}</td>' for cell in row) + "</tr>" for row in rows
    )
    heads = "".join(f'<th style="{CELL}">{escaped(name)}</th>' for name in head)
    top = f"<thead><tr>{heads}</tr></thead>" if head else ""
    return f"<table>{top}<tbody>{lines}</tbody></table>" if lines or head else ""
