"""Uses of a notebook, replayed in a kernel of Jupyter: what is shown, pictures, progress, Ctrl-C, completion, help."""

import html
import re
import time

import numpy as np
import pytest

import graphpart as gp

jupyter_client = pytest.importorskip("jupyter_client", reason="not installed: pip install 'graphpart[test]'")
pytest.importorskip("ipykernel", reason="not installed: pip install 'graphpart[test]'")
pytestmark = pytest.mark.filterwarnings("ignore")  # of jupyter_client and what it uses
LONG = 120  # seconds that nothing takes
BEGIN = """
import numpy as np, graphpart as gp
rng = np.random.default_rng(0)
def frame(n):
    pairs = [(i, j) for i in range(n) for j in range(i) if rng.random() < 12 / n or i // 3 == j // 3]
    p = [rng.uniform(0.4, 0.95) if i // 3 == j // 3 else rng.uniform(0.05, 0.6) for i, j in pairs]
    return {"a": [f"r{i}" for i, _ in pairs], "b": [f"r{j}" for _, j in pairs], "score": p}
small, large = (gp.SetPartition.from_frame(frame(n), "a", "b", probability="score") for n in (40, 300))
r = gp.solve(small)
"""


class Kernel:
    """A kernel, and what it shows for some code."""

    def __init__(self):
        self.manager, self.client = jupyter_client.manager.start_new_kernel(startup_timeout=LONG)

    def run(self, code, during=None):
        """The data that are shown, by kind of message; `during` is called once with each message."""
        sent = self.client.execute(code)
        shown = []
        while True:
            message = self.client.get_iopub_msg(timeout=LONG)
            if message["parent_header"].get("msg_id") != sent:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "status" and content["execution_state"] == "idle":
                break
            shown.append((kind, content))
            if during is not None:
                during(kind, content)
        self.answer(sent)
        assert not [content for kind, content in shown if kind == "error"], shown[-1]
        return shown

    def answer(self, sent):
        """The reply to a message."""
        while True:
            reply = self.client.get_shell_msg(timeout=LONG)
            if reply["parent_header"].get("msg_id") == sent:
                return reply["content"]

    def value(self, code):
        """The data of the value of an expression, by MIME type."""
        (data,) = (content["data"] for kind, content in self.run(code) if kind == "execute_result")
        return data


@pytest.fixture(scope="module")
def kernel():
    made = Kernel()
    made.run(BEGIN)
    yield made
    made.client.stop_channels()
    made.manager.shutdown_kernel(now=True)


def words(data):
    return html.unescape(re.sub("<[^>]*>", " ", data["text/html"]))


def test_results_doubts_comparisons_and_certificates_are_tables(kernel):
    result = kernel.value("r")
    assert "least sure" in words(result) and "elements" in words(result) and "r30, r31" in words(result)
    assert result["text/plain"].startswith("<PartitionResult: ")
    doubts = words(kernel.value("gp.partition.doubts(small, r)"))
    assert all(word in doubts for word in ("decision", "score", "chance", "joined"))
    assert "adjusted rand index" in words(kernel.value("gp.metrics.compare(r.labels, r)"))
    assert "Certificate: lower bound" in words(kernel.value("gp.partition.lower_bound(small)"))
    assert "SetPartition" in words(kernel.value("small"))


def test_a_plot_is_a_picture(kernel):
    for code in ("r.plot();", "gp.partition.greedy_joining(large).plot();", "gp.plotting.plot_history(r);"):
        shown = [content["data"] for kind, content in kernel.run(code) if kind == "display_data"]
        assert len(shown) == 1 and len(shown[0]["image/png"]) > 5000


def test_progress_is_one_line_below_the_cell(kernel):
    code = "s = gp.solve(large, 'search', seed=1, max_iterations=10**9, time_limit=1.5, progress=True)"
    kinds = [(kind, content["data"]["text/plain"]) for kind, content in kernel.run(code) if "data" in content]
    assert [kind for kind, _ in kinds].count("display_data") == 1 and len(kinds) > 2
    assert any("cost -" in text for _, text in kinds) and kinds[-1][1] == ""  # the line leaves nothing behind


def test_an_interrupt_keeps_the_best_so_far(kernel):
    sent = []

    def stop(kind, content):
        if kind == "stream" and not sent:
            sent.append(time.sleep(0.5))
            kernel.manager.interrupt_kernel()

    code = "print('running', flush=True); s = gp.solve(large, 'search', seed=1, time_limit=300)"
    code += "; print(s.status, s.cost < 0)"
    shown = "".join(content["text"] for kind, content in kernel.run(code, stop) if kind == "stream")
    assert shown.splitlines() == ["running", "interrupted True"]


def test_completion_shows_public_names_only(kernel):
    matches = kernel.answer(kernel.client.complete("gp.", 3))["matches"]
    names = {match.removeprefix("gp.") for match in matches}
    assert names and {name for name in names if not name.startswith("__")} == set(gp.__all__)


def test_help_lists_the_methods_and_what_auto_takes(kernel):
    text = kernel.answer(kernel.client.inspect("gp.solve", 8))["data"]["text/plain"]
    for method in gp.methods.METHODS:
        assert method.name in text and method.summary in text
    assert "`checkpoint`" in text


def test_help_has_all_options_of_auto():
    import inspect

    for kind in ("partition", "crf"):
        taken = set(inspect.signature(getattr(gp, kind).auto).parameters) - {"problem"}
        assert all(name in gp.solve.__doc__ for name in taken)


def test_moves_of_elements_against_doubts():
    rng = np.random.default_rng(3)
    for seed in range(30):
        n = int(rng.integers(1, 20))
        pairs = [(i, j) for i in range(n) for j in range(i) if rng.random() < 0.5]
        p = gp.SetPartition.from_pairs(n, pairs, rng.normal(size=len(pairs)), dense=bool(seed % 2))
        r = gp.solve(p, "greedy-joining")
        table = gp.partition.doubts(p, r, method="local-search").elements
        expected = np.empty(n)
        expected[table["element"]] = table["doubt"]
        found = p._move_rises(r.labels)
        linked = np.isfinite(expected)  # of an element without pairs, doubts say that there is no other place
        assert np.allclose(found[linked], expected[linked])
