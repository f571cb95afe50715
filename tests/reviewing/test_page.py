"""The page for answers: what is in the file, and how it works in a real browser; skipped where there is none."""

import io
import json
import re
import shutil
import time

import numpy as np
import pytest
from report_pages import NAMES, requested

import graphpart as gp

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
LONG = "a long description " * 40


def people(n=40, seed=1):
    """Records of n / 4 people with names that mean harm, a scored problem over them, and its result."""
    rng = np.random.default_rng(seed)
    names = [f"{NAMES[k % len(NAMES)]} {k}" for k in range(n)]
    u, v = np.triu_indices(n, 1)
    bits = np.where(u // 4 == v // 4, rng.normal(1, 2, len(u)), rng.normal(-1.5, 1, len(u)))
    frame = {"a": [names[i] for i in u], "b": [names[j] for j in v], "p": 1 / (1 + np.exp2(-bits))}
    problem = gp.SetPartition.from_frame(frame, "a", "b", probability="p")
    records = {"given": [f"Ann {k % 3}" for k in range(n)], NAMES[0]: [f"{NAMES[1]} {k // 4}" for k in range(n)]}
    records |= {"street": [None if k % 5 == 0 else f"{k} Long Street" for k in range(n)], "text": [LONG] * n}
    return problem, gp.solve(problem, "kernighan-lin-pairs"), records


def data_of(page):
    (block,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(block)


def written(*arguments, **options):
    stream = io.BytesIO()
    count = gp.review(*arguments, stream, **options)
    page = stream.getvalue().decode()
    return page, data_of(page), count


def test_what_is_in_the_file():
    problem, result, records = people()
    page, data, count = written(problem, result, n=10, records=records, title="<People>")
    assert count == len(data["questions"]) == 10 and "<h1>&lt;People&gt;</h1>" in page
    assert data["columns"] == list(records) and not re.search("https?:", page)
    asked = gp.questions(problem, result, 10, library="dict")
    for (a, b, together, chance, clusters, _), left, right in zip(
        data["questions"], asked["left"], asked["right"], strict=True
    ):
        i, j = problem.index(left), problem.index(right)
        assert together == (result.labels[i] == result.labels[j]) and 0 <= chance <= 1
        assert {label for label, _, _ in clusters} >= {result.labels[i], result.labels[j]}
        assert all(size == np.count_nonzero(result.labels == label) for label, size, _ in clusters)
        assert data["elements"][a][1] == records["given"][i] and data["elements"][b][1] == records["given"][j]
    assert written(problem, result, n=10, records=records)[1] == data  # always the same
    assert written(problem, result, n=9, records=records)[1]["key"] != data["key"]


def test_a_page_without_questions_is_an_error(tmp_path):
    p = gp.SetPartition.from_pairs(2, [(0, 1)], [-1.0], together=[(0, 1)])
    with pytest.raises(gp.InvalidProblem, match="there is no pair to ask about"):
        gp.review(p, gp.solve(p), tmp_path / "review.html")
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def thousand(tmp_path_factory):
    """A page of a thousand questions about records of eight columns."""
    rng = np.random.default_rng(2)
    n = 3000
    u, v = rng.integers(0, n, (2, 12_000))
    kept = u != v
    p = gp.SetPartition.from_pairs(n, (u[kept], v[kept]), rng.normal(size=int(kept.sum())))
    records = {name: [f"{name} {k} of some length" for k in range(n)] for name in "abcdefgh"}
    path = tmp_path_factory.mktemp("pages") / "review.html"
    assert gp.review(p, gp.solve(p, "greedy-joining"), path, n=1000, records=records) == 1000
    return path


def test_a_thousand_questions_are_a_small_file(thousand):
    assert thousand.stat().st_size < 3_000_000


# ------------------------------------------------------------------------------------------------------- in a browser


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    if not (BROWSER and DRIVER):
        pytest.skip("no browser here: apt-get install chromium chromium-driver")
    webdriver = pytest.importorskip("selenium.webdriver", reason="pip install 'graphpart[browser]'")
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    folder = tmp_path_factory.mktemp("browser")
    for argument in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", f"user-data-dir={folder}"):
        options.add_argument(f"--{argument}")
    options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.get("about:blank")  # in place of the browser's own first page, which loads files of its own
    driver.downloads = folder
    yield driver
    driver.quit()


def opened(driver, path, width=390):
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600},
    )
    driver.get_log("browser"), driver.get_log("performance")
    driver.get(path.as_uri())
    assert driver.execute_script("return document.documentElement.dataset.ready") == "yes"
    clean(driver, path)


def clean(driver, path):
    """No word of complaint, no request, no harm, and nothing beyond the right edge."""
    assert [entry for entry in driver.get_log("browser") if entry["level"] != "INFO"] == []
    assert {url for url in requested(driver) if not url.startswith(("data:", "blob:"))} <= {path.as_uri()}
    assert driver.execute_script("return window.harmed === undefined")
    assert driver.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")


def press(driver, *keys):
    from selenium.webdriver import ActionChains

    for key in keys:
        ActionChains(driver).send_keys(key).perform()


def text(driver, key):
    return driver.execute_script("return document.getElementById(arguments[0]).textContent", key)


def reloaded(driver, progress):
    """The page again, with the answers so far: another process of the browser stores them, which may take a moment."""
    end = time.monotonic() + 20
    driver.refresh()
    while text(driver, "progress") != progress:
        assert time.monotonic() < end, text(driver, "progress")
        time.sleep(0.2)
        driver.refresh()


def uploaded(driver, path):
    driver.execute_script("document.getElementById('status').textContent = ''; find('file').hidden = false")
    driver.find_element("id", "file").send_keys(str(path))
    end = time.monotonic() + 20
    while not text(driver, "status"):
        assert time.monotonic() < end
        time.sleep(0.01)
    driver.execute_script("find('file').hidden = true")
    return text(driver, "status")


@pytest.mark.parametrize("width", [390, 1200])
def test_a_session_by_keyboard(driver, tmp_path, width):
    problem, result, records = people(seed=width + 1)
    path = tmp_path / "review.html"
    assert gp.review(problem, result, path, n=5, records=records) == 5
    questions = gp.questions(problem, result, 5, library="dict")
    opened(driver, path, width)
    assert text(driver, "progress") == "Question 1 of 5, 0 answered"
    assert "%" not in driver.execute_script("return document.body.innerText")  # blind
    assert driver.find_element("css selector", "#records mark").is_displayed()
    assert not driver.find_element("id", "members").is_displayed()
    press(driver, "c")
    assert driver.find_element("id", "members").is_displayed()
    press(driver, "t")
    assert "The result has them" in text(driver, "status") and "%" in text(driver, "status")
    press(driver, "a", "d")
    assert text(driver, "progress") == "Question 4 of 5, 3 answered"
    press(driver, "b")
    assert text(driver, "outcome").startswith("You: not known. The result has them")
    press(driver, "t", "u")
    assert text(driver, "progress") == "Question 3 of 5, 3 answered" and "not known" in text(driver, "outcome")
    reloaded(driver, "Question 4 of 5, 3 answered")
    assert text(driver, "status") == "3 answers were kept in this browser."
    press(driver, "a", "t")
    assert driver.find_element("id", "end").is_displayed() and text(driver, "ended") == "All questions are answered"
    saved = driver.downloads / "answers.csv"
    press(driver, "s")
    end = time.monotonic() + 20
    while not saved.exists() or not saved.stat().st_size:
        assert time.monotonic() < end
        time.sleep(0.02)
    clean(driver, path)
    from graphpart.io.elements import read_answers

    given = read_answers(saved)
    saved.unlink()
    assert given["answer"] == ["together", "apart", "", "apart", "together"]
    known = {frozenset(pair) for pair in zip(questions["left"], questions["right"], strict=True)}
    if not any(any(c in name for c in "\ud800\u2028\u2029") for pair in known for name in pair):
        assert {frozenset(pair) for pair in zip(given["left"], given["right"], strict=True)} == known
        assert gp.solve(problem, "greedy-joining", answers=given).message.endswith("1 not known")


def test_files_of_answers_are_read_and_nothing_is_lost(driver, tmp_path):
    p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3)], [-1.0, 0.5, -2.0], ["ann", "bob", "cid", 'd,"e"'])
    path, file = tmp_path / "review.html", tmp_path / "old.csv"
    assert gp.review(p, gp.solve(p), path) == 3
    opened(driver, path)
    (left, right) = driver.execute_script("return names(0)")
    decision, chance, _ = driver.execute_script("return answers.asked(...names(0))")
    assert decision in ("together", "apart") and 0 < float(chance) < 1
    press(driver, "t")
    for content, says in {
        "": "The file is empty: nothing was changed.",
        "a,b\n1,2\n": "The file has no columns left, right and answer: nothing was changed.",
        "left,right,answer\nann,bob,maybe\n": "Row 1 of the file is no answer (together, apart or nothing)",
    }.items():
        file.write_text(content)
        assert uploaded(driver, file).startswith(says)
    file.write_text(f'answer,left,right\nTogether,zoe,"d,""e"""\napart,{right},{left}\n')
    assert uploaded(driver, file) == "1 of 2 answers are new. 1 differ from answers that are here, which stay."
    assert driver.execute_script("return answers.text()").splitlines() == [
        "left,right,answer,decision,chance,about",
        f"{left},{right},together,{decision},{chance},",
        'zoe,"d,""e""",together,,,',
    ]
    # Contradictions are told at once, with the answers that they contradict.
    driver.execute_script(
        "answers.said.clear(); answers.add([['ann', 'x', 'together'], ['x', 'bob', 'together']]); go(0)"
    )
    driver.execute_script("go(data.questions.findIndex((_, k) => names(k).includes('ann')))")
    press(driver, "a")
    assert "contradicts earlier answers: " in text(driver, "status")
    assert "x together" in text(driver, "status") and driver.find_element("css selector", "#status.alert")
    clean(driver, path)


def test_a_hundred_of_a_thousand_questions(driver, thousand):
    opened(driver, thousand)
    driver.execute_script("for (let k = 0; k < 100; k++) reply('apart')")
    assert text(driver, "progress") == "Question 101 of 1000, 100 answered"
    clean(driver, thousand)


def test_a_volume_is_shown_in_three_slices(driver, tmp_path):
    boundary = np.full((12, 14, 60), 0.1)
    boundary[:, :, 20] = boundary[:, 3:, 40] = 0.9
    s = gp.images.segment(boundary, regions=np.repeat([1, 2, 3], 20) * np.ones((12, 14, 1), int))
    path = tmp_path / "review.html"
    assert gp.review(s, s.result, path) == 2 and path.stat().st_size < 100_000
    opened(driver, path)
    driver.execute_async_script("find('picture').decode().then(arguments[0])")
    assert driver.execute_script("return [find('picture').naturalWidth, find('picture').naturalHeight]") == [126, 40]
    assert text(driver, "asked").startswith("Do (0, 0, ") and "(blue) belong together?" in text(driver, "asked")
    press(driver, "t")
    rows = driver.execute_script("return answers.text()").splitlines()
    assert rows[1].startswith('"(0, 0, ') and driver.find_element("id", "picture").is_displayed()
    clean(driver, path)


def test_a_page_with_a_server_behind_it(driver, tmp_path):
    import threading

    from graphpart.io.elements import read_answers
    from graphpart.reviewing import ReviewServer

    rng = np.random.default_rng(3)
    u, v = rng.integers(0, 80, (2, 300))
    p = gp.SetPartition.from_pairs(80, (u[u != v], v[u != v]), rng.normal(size=int((u != v).sum())))
    path = tmp_path / "answers.csv"
    with ReviewServer(p, gp.solve(p, "greedy-joining"), path, n=12) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            driver.get(server.url)
            assert driver.execute_script("return document.documentElement.dataset.ready") == "yes"

            def until(condition):
                end = time.monotonic() + 60
                while not condition():
                    assert time.monotonic() < end
                    time.sleep(0.01)

            press(driver, "t")
            until(lambda: text(driver, "saved") == "1 answers are in the file.")
            assert read_answers(path)["answer"] == ["together"]
            press(driver, "u")
            until(lambda: text(driver, "saved") == "0 answers are in the file.")
            first = driver.execute_script("return data.questions.length")
            press(driver, *"dadadadada")
            until(lambda: text(driver, "saved") == "10 answers are in the file.")
            until(lambda: driver.execute_script("return data.questions.length") > first)
            assert text(driver, "status").startswith("New result: ")
            assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []
            driver.get(server.url)
            assert text(driver, "status") == "10 answers so far."
            driver.execute_script("answers.said.set(Answers.pair(...names(0)), [...names(0), 'apart']); answers.keep()")
            driver.get(server.url)
            until(lambda: text(driver, "saved") == "11 answers are in the file.")
            assert len(read_answers(path)["answer"]) == 11
        finally:
            server.shutdown()
            thread.join()
