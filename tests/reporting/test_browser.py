"""Reports in a real browser: Chromium without a window, by Selenium; skipped where there is none.

GRAPHPART_SCREENSHOTS=FOLDER keeps a picture of each page, light and dark, wide and narrow.
"""

import itertools
import os
import re
import shutil
import time

import numpy as np
import pytest
from report_pages import NAMES, hostile_factor_graph, hostile_problem, requested

import graphpart as gp
from graphpart.generate import noisy_image, sparse_random
from graphpart.reporting import report_benchmark

pytest.importorskip("bokeh", reason="Bokeh is not installed: pip install 'graphpart[report]'")
selenium = pytest.importorskip("selenium", reason="Selenium is not installed: pip install 'graphpart[browser]'")
from selenium.webdriver import ActionChains, Chrome, ChromeOptions, ChromeService, Keys  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    not (BROWSER and DRIVER), reason="no browser here: apt-get install chromium chromium-driver"
)
PIXELS = """
const found = [];
const seek = (root) => {
  for (const node of root.querySelectorAll("*")) {
    if (node.tagName === "CANVAS") found.push(node);
    if (node.shadowRoot) seek(node.shadowRoot);
  }
};
seek(arguments[0]);
return found.map((canvas) => {
  if (!canvas.width || !canvas.height) return 0;
  const copy = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
  const context = copy.getContext("2d", { willReadFrequently: true });
  context.drawImage(canvas, 0, 0);
  const pixels = context.getImageData(0, 0, canvas.width, canvas.height).data;
  return pixels.filter((value, k) => k % 4 === 3 && value > 0).length;
}).reduce((a, b) => Math.max(a, b), 0);
"""

PLACE = """
const [x, y] = [arguments[0], arguments[1]], {plot, box} = charts[arguments[2]];
const share = (range, at) => (at - range.start) / (range.end - range.start);
const frame = box.querySelector('.plot').getBoundingClientRect();
const view = Bokeh.index.get_by_id(plot.id);
const bbox = view.frame.bbox;
return [frame.left + bbox.left + share(plot.x_range, x) * bbox.width,
        frame.top + bbox.top + (1 - share(plot.y_range, y)) * bbox.height];
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    options = ChromeOptions()
    options.binary_location = BROWSER
    profile = tmp_path_factory.mktemp("profile")
    for argument in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", f"user-data-dir={profile}"):
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = Chrome(options=options, service=ChromeService(DRIVER))
    yield driver
    driver.quit()


def runs():
    rng = np.random.default_rng(1)
    return [
        {"instance": f"{name}-{i}", "family": name, "method": method, "cost": float(cost), "seconds": float(seconds)}
        | {"status": "optimal" if cost < -8 else "feasible", "best known": -9.0 if i else None, "elements": 5}
        for name in ("grid", NAMES[0])
        for i in range(4)
        for method, cost, seconds in zip(
            ("auto", NAMES[1], "search"), rng.integers(-10, -7, 3), rng.random(3), strict=True
        )
    ]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    hostile, factors = hostile_problem(), hostile_factor_graph()
    gp.report(hostile, gp.solve(hostile, time_limit=0.5), folder / "partition.html")
    gp.report(factors, gp.solve(factors), folder / "factors.html")
    image = noisy_image(12, 16, seed=1).problem
    gp.report(image, gp.solve(image), folder / "image.html")
    large = sparse_random(20_000, 60_000, seed=1).problem
    gp.report(large, gp.partition.greedy_joining(large), folder / "large.html", doubts=False)
    frame = records()
    problem = gp.SetPartition.from_frame(frame, "a", "b", probability="p")
    gp.report(problem, gp.partition.kernighan_lin(problem), folder / "records.html", pairs=frame)
    lifted = gp.generate.lifted_grid(3, 4, regions=2, seed=1).problem
    gp.report(lifted, gp.partition.brute_force(lifted), folder / "lifted.html")
    report_benchmark(runs(), folder / "benchmark.html", time_limit=1.0)
    return folder


def records():
    """Pairs of 600 records of 200 people, as a matcher scores them."""
    rng = np.random.default_rng(7)
    pairs = [(i, j) for i in range(600) for j in range(i) if i // 3 == j // 3 or rng.random() < 0.004]
    same = np.array([i // 3 == j // 3 for i, j in pairs])
    p = np.clip(np.where(same, rng.beta(5, 2, len(pairs)), rng.beta(2, 5, len(pairs))), 0.01, 0.99).round(3)
    columns = {
        "a": [f"rec-{i // 3:03d}-{i % 3}" for i, _ in pairs],
        "b": [f"rec-{j // 3:03d}-{j % 3}" for _, j in pairs],
    }
    return columns | {"p": p, "same_street": p > 0.4, "bf_name": 4.0 ** (2 * p - 1), "bf_street": 2.0 ** (2 * p - 1)}


def size(driver, width, height=900, dark=False):
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
    )
    scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})


def opened(driver, path, width=1200, dark=False):
    """Open a page, wait until it is ready, and check what holds for all of them."""
    size(driver, width, dark=dark)
    driver.get_log("browser"), driver.get_log("performance")
    driver.get(path.as_uri())
    end = time.monotonic() + 60
    while driver.execute_script("return document.documentElement.dataset.ready") != "yes":
        assert time.monotonic() < end, [entry["message"] for entry in driver.get_log("browser")]
        time.sleep(0.02)
    until_drawn(driver)
    if folder := os.environ.get("GRAPHPART_SCREENSHOTS"):
        height = driver.execute_script("return document.documentElement.scrollHeight")
        size(driver, width, min(height, 8000), dark)
        time.sleep(0.3)
        driver.save_screenshot(f"{folder}/{path.stem}-{width}{'-dark' if dark else ''}.png")
        size(driver, width, dark=dark)
    clean(driver, path)


def until_drawn(driver):
    end = time.monotonic() + 30
    for chart in driver.find_elements(By.CSS_SELECTOR, ".chart"):
        while driver.execute_script(PIXELS, chart) < 50:
            assert time.monotonic() < end, f"{chart.get_attribute('id')} is empty"
            time.sleep(0.02)


def clean(driver, path):
    """No word of complaint, no request, no harm."""
    said = [entry["message"] for entry in driver.get_log("browser") if entry["level"] != "INFO"]
    assert [line for line in said if "willReadFrequently" not in line] == []  # a hint on speed, of Bokeh before 3.7
    asked = requested(driver)
    assert asked.count(path.as_uri()) >= 1 or not asked
    assert [url for url in asked if url != path.as_uri() and not url.startswith(("data:", "blob:"))] == []
    assert driver.execute_script("return window.harmed === undefined")
    assert driver.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")


def column(driver, key, name):
    return driver.execute_script(
        """
        const table = document.getElementById(`table-${arguments[0]}`);
        const k = [...table.querySelectorAll("th")].findIndex((head) => head.textContent === arguments[1]);
        return [...table.querySelectorAll("tbody tr")].map((row) => row.children[k].textContent);""",
        key,
        name,
    )


def head_button(driver, key, name):
    (button,) = (b for b in driver.find_elements(By.CSS_SELECTOR, f"#table-{key} th button") if b.text == name)
    return button


def numbers(texts):
    return [float(text.replace("−", "-").replace("\u202f", "").replace("∞", "inf")) for text in texts]


# All four combinations for one page; for the others, light and wide, and dark and narrow.
ALL = itertools.product(["partition", "factors", "benchmark", "records"], [False, True], [1200, 360])
SHOWN = [
    (name, dark, width)
    for name, dark, width in ALL
    if dark != (width == 1200) or name == "partition" or os.environ.get("GRAPHPART_SCREENSHOTS")
]


@pytest.mark.parametrize(("name", "dark", "width"), SHOWN)
def test_pages_in_light_and_dark_wide_and_narrow(driver, pages, name, dark, width):
    opened(driver, pages / f"{name}.html", width, dark)
    charts = {chart.get_attribute("id") for chart in driver.find_elements(By.CSS_SELECTOR, ".chart")}
    assert (
        charts
        >= {
            "partition": {"chart-progress", "chart-sizes", "chart-graph", "chart-matrix"},
            "records": {"chart-progress", "chart-sizes", "chart-graph", "chart-map"},
            "factors": {"chart-progress", "chart-labels", "chart-energies", "chart-graph"},
            "benchmark": {"chart-times-0-0", "chart-times-0-0-01", "chart-gaps-0"},
        }[name]
    )
    # Words can be read: contrast as WCAG 2 asks for, between the colours that the page says.
    colours = driver.execute_script(
        "const s = getComputedStyle(document.documentElement);"
        "return ['--text', '--faint', '--accent', '--panel', '--ground'].map((name) => s.getPropertyValue(name).trim())"
    )
    light = [luminance(colour) for colour in colours]
    assert (light[3] < 0.2) == dark
    for words in light[:3]:
        for ground in light[3:]:
            assert (max(words, ground) + 0.05) / (min(words, ground) + 0.05) >= 4.5
    axis = driver.execute_script(
        "return Object.values(charts).map((c) => c.plot.below[0]?.major_label_text_color?.value"
        " ?? c.plot.below[0]?.major_label_text_color)"
    )
    assert set(axis) <= {colours[0]}
    controls = driver.find_elements(By.CSS_SELECTOR, ".controls button, .controls input, th button")
    assert len(controls) > 20
    for node in controls[::3]:
        assert node.accessible_name.strip(), node.get_attribute("outerHTML")


def luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_tables_sort_filter_and_turn_pages(driver, pages):
    opened(driver, pages / "partition.html")
    sizes = numbers(column(driver, "clusters", "size"))
    assert sizes == sorted(sizes, reverse=True)
    button = head_button(driver, "clusters", "cost within")
    button.click()
    costs = numbers(column(driver, "clusters", "cost within"))
    assert costs == sorted(costs) and len(set(costs)) > 1
    button.send_keys(Keys.ENTER)
    assert numbers(column(driver, "clusters", "cost within")) == costs[::-1]
    assert button.find_element(By.XPATH, "..").get_attribute("aria-sort") == "descending"
    # pages
    before = column(driver, "decisions", "change")
    (nxt,) = (b for b in driver.find_elements(By.CSS_SELECTOR, "#table-decisions .pager button") if b.text == "Next")
    nxt.send_keys(Keys.SPACE)
    assert column(driver, "decisions", "change") != before
    # words and comparisons
    field = driver.find_element(By.ID, "filter-decisions")
    field.send_keys("日本語 split")
    names = [column(driver, "decisions", k) for k in ("left", "right", "change", "kind")]
    assert names[0] and all("日本語" in a + b + c for a, b, c, _ in zip(*names, strict=True))
    assert set(names[3]) == {"split"}
    field.clear()
    field.send_keys("doubt<3")
    assert all(value < 3 for value in numbers(column(driver, "decisions", "doubt")))
    assert "match" in driver.find_element(By.ID, "status-decisions").text
    clean(driver, pages / "partition.html")


def test_search_finds_and_shows(driver, pages):
    opened(driver, pages / "partition.html")
    field = driver.find_element(By.ID, "search-input")
    field.send_keys("<script>window")
    found = [b.text for b in driver.find_elements(By.CSS_SELECTOR, "#search > .found button")]
    assert NAMES[0] in found and all("<script>window" in name for name in found)
    field.send_keys(Keys.ENTER)
    detail = driver.find_element(By.ID, "detail")
    assert detail.find_element(By.TAG_NAME, "h3").text == found[0] and "Its strongest pairs" in detail.text
    assert driver.execute_script("return sourceOf(charts.graph, 'marker').data.x.length") == 1
    assert driver.execute_script("return sourceOf(charts.matrix, 'cross').data.x0.length") == 2
    lines = driver.execute_script("return sourceOf(charts.graph, 'near').data.x0.length")
    assert lines == len(detail.find_elements(By.CSS_SELECTOR, "ul button")) == 10
    # a neighbour, its subset, a member
    detail.find_element(By.CSS_SELECTOR, "ul button").click()
    assert driver.find_element(By.CSS_SELECTOR, "#detail h3").text != found[0]
    driver.find_element(By.CSS_SELECTOR, "#detail dl button").click()
    assert driver.find_element(By.CSS_SELECTOR, "#detail h3").text.startswith("Cluster ")
    members = {b.text for b in driver.find_elements(By.CSS_SELECTOR, "#detail ul button")}
    nodes = driver.execute_script("return sourceOf(charts.graph, 'nodes').data.element.map((i) => elementName(i))")
    assert members <= {" ".join(name.split()) for name in nodes}
    # the least sure, by the button and from the table
    (button,) = (b for b in driver.find_elements(By.CSS_SELECTOR, "#search button") if "least sure" in b.text)
    button.send_keys(Keys.ENTER)
    least = column(driver, "elements", "element")[0]
    assert driver.find_element(By.CSS_SELECTOR, "#detail h3").text == least
    driver.find_elements(By.CSS_SELECTOR, "#table-elements td button.link")[2].click()
    second = column(driver, "elements", "element")[1]
    assert driver.find_element(By.CSS_SELECTOR, "#detail h3").text == second
    field.clear()
    field.send_keys("nobody is called like this")
    assert "0 elements" in driver.find_element(By.CSS_SELECTOR, "#search .status").text
    clean(driver, pages / "partition.html")


def test_lifted_pairs_are_lines_of_their_own(driver, pages):
    opened(driver, pages / "lifted.html")
    counts = driver.execute_script(
        "return charts.graph.spec.links.map((_, k) => sourceOf(charts.graph, `links-${k}`).data.x0.length)"
    )
    problem = gp.generate.lifted_grid(3, 4, regions=2, seed=1).problem
    assert len(counts) == 8 and sum(counts[4:]) == problem.lifted.sum() and sum(counts) == problem.m
    clean(driver, pages / "lifted.html")


def test_pointing_says_names_and_costs(driver, pages):
    opened(driver, pages / "partition.html")
    driver.execute_script("document.getElementById('chart-graph').scrollIntoView()")
    place = PLACE
    nodes = driver.execute_script(
        "const d = sourceOf(charts.graph, 'nodes').data; return [d.x[3], d.y[3], elementName(d.element[3])]"
    )
    x, y = driver.execute_script(place, nodes[0], nodes[1], "graph")
    text = pointed(driver, x, y)
    assert text.startswith(nodes[2]) and "cluster" in text and "it would cost" in text
    # a line, in its middle, where no element is near
    for k in range(4):
        driver.execute_script("rendererOf(charts.graph, `links-${arguments[0]}`)[0].visible = true", k)
    link = driver.execute_script("""
        const n = sourceOf(charts.graph, 'nodes').data;
        for (const k of [2, 3, 0, 1]) {
          const d = sourceOf(charts.graph, `links-${k}`).data;
          for (let i = 0; i < d.x0.length; i++) {
            const [x, y] = [(d.x0[i] + d.x1[i]) / 2, (d.y0[i] + d.y1[i]) / 2];
            const [w, h] = scaleOf(charts.graph);
            if (Array.from(n.x).every((a, j) => Math.hypot((a - x) * w, (n.y[j] - y) * h) > 15)) return [x, y];
          }
        }""")
    text = pointed(driver, *driver.execute_script(place, *link, "graph"))
    assert " – " in text and "cost" in text
    # a cell of the matrix; a tap on its diagonal looks at the element
    driver.execute_script("document.getElementById('chart-matrix').scrollIntoView()")
    x, y = driver.execute_script(place, 4.5, 9.5, "matrix")
    names = driver.execute_script("return [elementName(elements.order[9]), elementName(elements.order[4])]")
    text = pointed(driver, x, y)
    assert text.startswith(f"{names[0]} – {names[1]}") and "cost" in text
    driver.find_element(By.TAG_NAME, "body").send_keys(Keys.ESCAPE)
    assert not driver.find_element(By.ID, "tooltip").is_displayed()
    clean(driver, pages / "partition.html")


def pointed(driver, x, y):
    """The text of the tooltip with the pointer there."""
    tooltip = driver.find_element(By.ID, "tooltip")
    for move in ((x + 60, y + 60), (x, y)):
        driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": move[0], "y": move[1]})
        time.sleep(0.1)
    end = time.monotonic() + 15
    while not tooltip.is_displayed() and time.monotonic() < end:
        time.sleep(0.02)
    return tooltip.text


def test_keyboard(driver, pages):
    opened(driver, pages / "partition.html")
    driver.execute_script("window.scrollTo(0, 0)")
    ActionChains(driver).send_keys(Keys.TAB).perform()
    assert driver.switch_to.active_element.get_attribute("class") == "skip"
    seen = set()
    for _ in range(45):
        ActionChains(driver).send_keys(Keys.TAB).perform()
        now = driver.switch_to.active_element
        seen.add(now.get_attribute("id") or now.accessible_name)
        if now.tag_name in ("a", "button", "input"):
            assert driver.execute_script("return getComputedStyle(arguments[0]).outlineStyle", now) != "none"
    assert {"search-input", "Zoom in: Elements and their clusters", "filter-clusters"} <= seen
    before = driver.execute_script("return charts.matrix.plot.x_range.end - charts.matrix.plot.x_range.start")
    button = driver.find_element(By.CSS_SELECTOR, "#chart-matrix button[title='Zoom in']")
    button.send_keys(Keys.ENTER)
    after = driver.execute_script("return charts.matrix.plot.x_range.end - charts.matrix.plot.x_range.start")
    assert abs(after * 1.6 - before) < 1e-9 * before
    driver.find_element(By.CSS_SELECTOR, "#chart-matrix button[title='Show all']").send_keys(Keys.SPACE)
    assert driver.execute_script("return charts.matrix.plot.x_range.end") == 32
    plot = driver.find_element(By.CSS_SELECTOR, "#chart-matrix .plot")
    plot.send_keys(Keys.ARROW_RIGHT, "+")
    moved = driver.execute_script("return [charts.matrix.plot.x_range.start, charts.matrix.plot.x_range.end]")
    assert np.allclose(moved, [6.4 + 6.0, 6.4 + 26.0])
    plot.send_keys("0")
    box = driver.find_element(By.CSS_SELECTOR, "#chart-graph input[type='checkbox']")
    was = box.is_selected()
    box.send_keys(Keys.SPACE)
    assert driver.execute_script("return rendererOf(charts.graph, 'links-0')[0].visible") == (not was)
    clean(driver, pages / "partition.html")


def test_a_press_draws_clusters_and_decisions(driver, pages):
    opened(driver, pages / "records.html")
    drawn = "return [...new Set(sourceOf(charts.graph, 'nodes').data.element.map((i) => elements.labels[i]))]"
    # a decision: its clusters, the scores of the pairs between them, and what each comparison says
    rows = list(zip(*(column(driver, "decisions", name) for name in ("change", "p")), strict=True))
    text = next(change for change, _ in rows if re.match(r"clusters \d+ and \d+ joined", change))
    buttons = driver.find_elements(By.CSS_SELECTOR, "#table-decisions td.text button")
    next(button for button in buttons if button.text == text).click()
    wanted = {int(label) for label in re.findall(r"\d+", text)}
    assert wanted <= set(driver.execute_script(drawn))
    detail = driver.find_element(By.ID, "detail")
    assert detail.find_element(By.TAG_NAME, "h3").text == text and "p 0." in detail.text
    heads = [head.text for head in detail.find_elements(By.CSS_SELECTOR, ".waterfall th")]
    assert heads == ["name", "street", "in all"]
    assert driver.execute_script("return sourceOf(charts.graph, 'marker').data.x.length") == 2
    assert driver.execute_script("return sourceOf(charts.map, 'ring').data.x.length") == 2
    # a cluster of the table
    button = driver.find_element(By.CSS_SELECTOR, "#table-clusters td button")
    label = int(button.text)
    button.click()
    assert label in driver.execute_script(drawn)
    assert f"Drawn: cluster {label}: " in driver.find_element(By.CSS_SELECTOR, "#chart-graph .shown").text
    # a point of the map
    driver.execute_script("document.getElementById('chart-map').scrollIntoView()")
    x, y, label = driver.execute_script(
        "const d = sourceOf(charts.map, 'clusters').data; return [d.x[5], d.y[5], d.label[5]]"
    )
    x, y = driver.execute_script(PLACE, x, y, "map")
    assert pointed(driver, x, y).startswith(f"cluster {label}")
    for kind in ("mousePressed", "mouseReleased"):
        event = {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}
        driver.execute_cdp_cmd("Input.dispatchMouseEvent", event)
    end = time.monotonic() + 15
    while driver.find_element(By.CSS_SELECTOR, "#detail h3").text != f"Cluster {label}":
        assert time.monotonic() < end
        time.sleep(0.02)
    clean(driver, pages / "records.html")


def test_labels_as_an_image(driver, pages):
    opened(driver, pages / "image.html")
    field = driver.find_element(By.ID, "search-input")
    field.send_keys("37", Keys.ENTER)
    assert driver.find_element(By.CSS_SELECTOR, "#detail h3").text == "37 (row 2, column 5)"
    assert driver.execute_script("const d = sourceOf(charts.image, 'marker').data; return [d.x[0], d.y[0]]") == [
        5.5,
        2.5,
    ]
    clean(driver, pages / "image.html")


def test_large_reports_stay_usable(driver, pages):
    opened(driver, pages / "large.html")
    field = driver.find_element(By.ID, "search-input")
    field.send_keys("1999")
    assert driver.find_element(By.CSS_SELECTOR, "#search .found button").text == "1999"
    field.send_keys("9", Keys.ENTER)
    assert "Its strongest pairs" in driver.find_element(By.ID, "detail").text
    assert len(driver.find_elements(By.CSS_SELECTOR, "#table-clusters tbody tr")) == 20
    assert driver.execute_script("return sourceOf(charts.graph, 'nodes').data.x.length") <= 300
    clean(driver, pages / "large.html")


def test_a_change_to_dark_is_followed(driver, pages):
    opened(driver, pages / "benchmark.html")
    colour = "return charts['gaps-0'].plot.below[0].axis_label_text_color"
    light = driver.execute_script(colour)
    size(driver, 1200, dark=True)
    end = time.monotonic() + 15
    while driver.execute_script(colour) == light:
        assert time.monotonic() < end
        time.sleep(0.02)
    boxes = driver.find_elements(By.CSS_SELECTOR, "#chart-gaps-0 input")
    assert len(boxes) == 3
    boxes[1].click()
    hidden = driver.execute_script("return rendererOf(charts['gaps-0'], arguments[0])[0].visible", NAMES[1])
    assert hidden is False
    head_button(driver, "families", "best cost reached").click()
    reached = numbers(column(driver, "families", "best cost reached"))
    assert reached == sorted(reached)
    clean(driver, pages / "benchmark.html")


def test_tables_fit_pixels_have_places_and_names_do_not_overlap(driver, tmp_path):
    rng = np.random.default_rng(5)
    p = gp.SetPartition.from_affinities(rng.uniform(0.05, 0.95, (2, 12, 20)), [(0, 1), (1, 0)])
    gp.report(p, gp.solve(p, "kernighan-lin"), tmp_path / "image.html")
    opened(driver, tmp_path / "image.html")
    assert all(re.search(r"\d+ \(row \d+, column \d+\)", text) for text in column(driver, "elements", "element"))
    assert any("(row " in text for text in column(driver, "decisions", "change"))
    wide = "const box = document.querySelector('#table-decisions .scroll'); return [box.scrollWidth, box.clientWidth]"
    needed, there = driver.execute_script(wide)
    assert needed <= there
    u, v, cost = sparse_random(400, 1200, seed=1).problem.pairs()
    q = gp.SetPartition.from_pairs(400, (u, v), cost, nodes=[f"a long name {i}" for i in range(400)])
    gp.report(q, gp.partition.greedy_joining(q), tmp_path / "map.html")
    opened(driver, tmp_path / "map.html")
    shown = driver.execute_script(
        "const d = rendererOf(charts.map, 'names')[0].data_source.data, s = scaleOf(charts.map);"
        "return [...d.text].map((t, i) => [t, d.x[i] * s[0], d.below[i] * s[1], d.size[i], d.member[i]])"
    )
    names = [one for one in shown if one[0]]
    assert 0 < len(names) < len(shown)
    for (a, x, y, *_), (b, u, v, *_) in itertools.combinations(names, 2):
        assert abs(x - u) >= 6.5 * (len(a) + len(b)) / 2 - 1e-6 or abs(y - v) >= 13 - 1e-6
