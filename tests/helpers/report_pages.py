"""Problems with names that mean harm, and what a page holds, for the tests of reports."""

import base64
import gzip
import io
import itertools
import json
import re

import numpy as np

import graphpart as gp

NAMES = [
    "<script>window.harmed = 1</script>",
    "</script><script>window.harmed = 2</script>",
    '"><img src=x onerror="window.harmed = 3">',
    "'; window.harmed = 4; '",
    "<!-- <script>",
    "]]>",
    "&lt;b&gt;",
    "\u2028 \u2029 line ends",
    "Zoë 日本語 🎈",
    "\ud800 alone",
    "back\\slash \\u003c",
    "${window.harmed = 5}",
    "@name{safe}",
    "$$x^2$$",
    "javascript:window.harmed=6",
    "a" * 300,
]


def hostile_problem(copies=2):
    """A planted partition of elements with these names."""
    names = [name if k == 0 else f"{name} {k}" for k in range(copies) for name in NAMES]
    rng = np.random.default_rng(1)
    truth = np.arange(len(names)) % 5
    costs = np.where(truth[:, None] == truth, -1.0, 1.0) + rng.normal(size=(len(names), len(names)))
    costs = np.triu(costs, 1)
    u, v = np.triu_indices(len(names), 1)
    return gp.SetPartition.from_pairs(len(names), np.stack([u, v], 1), costs[u, v], nodes=names)


def hostile_factor_graph():
    f = gp.FactorGraph()
    rng = np.random.default_rng(2)
    for name in NAMES:
        f.add_variable(name, domain=3)
        f.add_factor((name,), rng.normal(size=3))
    for a, b in itertools.pairwise(NAMES):
        f.add_factor((a, b), rng.normal(size=(3, 3)))
    return f


def page_of(problem, result, **options):
    """The page as text."""
    stream = io.BytesIO()
    gp.report(problem, result, stream, **options)
    return stream.getvalue().decode("utf-8")


def data_of(page):
    """The block of data of a page."""
    (block,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(block)


def table(page, key):
    """The columns of a table of a page, by name."""
    (found,) = (part for part in data_of(page)["tables"] if part["key"] == key)
    return {column["name"]: column["values"] for column in found["columns"]}


def names_in(page):
    """The names of elements that a page has."""
    packed = data_of(page)["elements"]["names"]
    return gzip.decompress(base64.b64decode(packed["gzip"])).decode().split("\n")


def unpacked(packed):
    return np.frombuffer(gzip.decompress(base64.b64decode(packed["gzip"])), np.dtype(packed["dtype"]).newbyteorder("<"))


def requested(driver):
    """The addresses that the pages of a browser have asked for since its log was last read.

    On a slow machine, the log still gets what the browser's own first page (chrome://new-tab-page) asked for.
    """
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    requests = [message["params"] for message in messages if message["method"] == "Network.requestWillBeSent"]
    return [r["request"]["url"] for r in requests if not r["documentURL"].startswith("chrome://")]
