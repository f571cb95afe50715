"""The page of a report: its parts in the order in which they are shown, as one HTML file (see `document`)."""

from __future__ import annotations

import base64
import html
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from graphpart.files.source import replacing
from graphpart.reporting.charts import COLOURS, Chart, bokeh_script, item_of
from graphpart.reporting.document import document

__all__ = ["Page", "Picture", "Table", "column"]

ASSETS = Path(__file__).parent / "assets"
SCRIPTS = ("data.js", "table.js", "charts.js", "tooltips.js", "elements.js", "focus.js", "main.js")


def column(name: str, values: Any, kind: str = "number") -> dict[str, Any]:
    """A column of a table: kind is number, text, element (an index), cluster (a label) or change."""
    return {"name": name, "kind": kind, "values": values}


@dataclass(frozen=True)
class Table:
    """A table that the page's script sorts, filters and shows page by page.

    Attributes
    ----------
    key : str
        Its identifier in the page.
    title, caption : str
    columns : sequence of dict
        Made by :func:`column`.
    sort : int
        The column that it is sorted by at first, counted from 1; negative: the largest first; 0: as given.
    """

    key: str
    title: str
    caption: str
    columns: Sequence[dict[str, Any]]
    sort: int = 0


@dataclass(frozen=True)
class Picture:
    """A picture that does not change, as PNG.

    Attributes
    ----------
    key, title, caption : str
    png : bytes
    """

    key: str
    title: str
    caption: str
    png: bytes


@dataclass
class Page:
    """The contents of a report, in the order in which they are shown.

    Attributes
    ----------
    title : str
    headline, sentence : str
        The answer in words.
    facts : list of (str, str)
    remarks : list of str
        Sentences about contents that the report leaves out.
    parts : list of (str, list)
        A heading and its charts and tables; "search" stands for the search for elements.
    data : dict
        Data for the page's script, beside charts and tables.
    """

    title: str
    headline: str
    sentence: str
    facts: list[tuple[str, str]]
    remarks: list[str] = field(default_factory=list)
    parts: list[tuple[str, list[Chart | Picture | Table | str]]] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)

    def write(self, path: str | os.PathLike[str] | BinaryIO) -> None:
        """Write the file; it appears under its name only when all of it is written."""
        text = self.html()
        with replacing(path) as stream:
            stream.write(text.encode("utf-8", "replace"))

    def html(self) -> str:
        """The whole page."""
        charts = [part for _, parts in self.parts for part in parts if isinstance(part, Chart)]
        tables = [part for _, parts in self.parts for part in parts if isinstance(part, Table)]
        data = self.data | {
            "colours": COLOURS,
            "charts": [{"key": c.key, "item": item_of(c), **c.data} for c in charts],
            "tables": [{"key": t.key, "title": t.title, "columns": t.columns, "sort": t.sort} for t in tables],
        }
        scripts = [bokeh_script(), '"use strict";\n' + "\n".join(_asset(name) for name in SCRIPTS)]
        return document(self.title, _asset("report.css"), self._body(), data, scripts)

    def _body(self) -> str:
        facts = "".join(
            f'<div class="{"long" if len(v) > 24 else "short"}"><dt>{html.escape(k)}</dt>'
            f"<dd>{html.escape(v)}</dd></div>"
            for k, v in self.facts
        )
        remarks = "".join(f"<li>{html.escape(remark)}</li>" for remark in self.remarks)
        links = "".join(
            f'<li><a href="#part-{i}">{html.escape(head)}</a></li>' for i, (head, _) in enumerate(self.parts)
        )
        sections = "".join(
            f'<section id="part-{i}" aria-labelledby="head-{i}"><h2 id="head-{i}">{html.escape(head)}</h2>\n'
            f'<div class="parts">{"".join(map(_part, parts))}</div></section>\n'
            for i, (head, parts) in enumerate(self.parts)
        )
        version = sys.modules["graphpart"].__version__
        return (
            '<a class="skip" href="#main">To the content</a>\n'
            f'<header><p class="name">{html.escape(self.title)}</p>\n<nav aria-label="Parts"><ul>{links}</ul></nav>'
            '</header>\n<main id="main">\n'
            f'<h1>{html.escape(self.headline)}</h1>\n<p class="lead">{html.escape(self.sentence)}</p>\n'
            f'<dl class="facts">{facts}</dl>\n'
            + (f'<ul class="remarks" aria-label="What this report leaves out">{remarks}</ul>\n' if remarks else "")
            + '<noscript><p class="warning">Charts and tables need JavaScript, which is switched off here. All of it '
            "is in this file; nothing is loaded from elsewhere.</p></noscript>\n"
            f"{sections}</main>\n<footer><p>graphpart {html.escape(version)}. This file holds all that it shows and "
            "asks no other place for anything.</p></footer>\n"
            '<div id="tooltip" role="tooltip" hidden></div>\n'
        )


def _part(part: Chart | Picture | Table | str) -> str:
    """The place of a chart, a table or the search, which the script fills."""
    if isinstance(part, Chart):
        title, caption = html.escape(part.title), html.escape(part.caption)
        wide = " wide" if part.wide else ""
        return (
            f'<figure class="chart{wide}" id="chart-{part.key}" aria-labelledby="title-{part.key}" '
            f'aria-describedby="caption-{part.key}"><h3 id="title-{part.key}">{title}</h3>\n'
            f'<div class="controls"></div><div class="plot"></div>\n'
            f'<figcaption id="caption-{part.key}">{caption}</figcaption></figure>\n'
        )
    if isinstance(part, Picture):
        source = base64.b64encode(part.png).decode()
        return (
            f'<figure class="picture wide" id="picture-{part.key}"><h3>{html.escape(part.title)}</h3>\n'
            f'<img src="data:image/png;base64,{source}" alt="{html.escape(part.title)}" style="max-width: 100%">'
            f"<figcaption>{html.escape(part.caption)}</figcaption></figure>\n"
        )
    if isinstance(part, Table):
        return (
            f'<div class="table wide" id="table-{part.key}"><h3 id="title-{part.key}">{html.escape(part.title)}</h3>\n'
            f'<p class="caption" id="caption-{part.key}">{html.escape(part.caption)}</p></div>\n'
        )
    return '<div class="search wide" id="search"></div>\n'


def _asset(name: str) -> str:
    return (ASSETS / name).read_text("utf-8")
