"""The page with a server behind it: a client that sends answers, and requests that are refused."""

import json
import threading
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest
from planted_scores import planted

import graphpart as gp
from graphpart.io.elements import read_answers
from graphpart.reviewing import ReviewServer


@contextmanager
def serving(*arguments, **options):
    with ReviewServer(*arguments, **options) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def sent(server, body, url=None, **headers):
    """The reply to a request with this body; without one, of the page."""
    origin = {"Origin": server.url.rpartition("/")[0].rpartition("/")[0]} if body is not None else {}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(server.url if url is None else url, data, origin | headers)
    with urllib.request.urlopen(request, timeout=60) as reply:
        return reply.read().decode()


def rows_of(data, said, *numbers):
    names = [(data["elements"][a][0], data["elements"][b][0]) for a, b, *_ in data["questions"]]
    return [[*names[k], said(*names[k]), "together" if data["questions"][k][2] else "apart", 0.5, ""] for k in numbers]


def test_answers_are_in_the_file_at_once_and_questions_follow_after_ten(tmp_path):
    p, truth = planted(1)
    r = gp.solve(p, "kernighan-lin-pairs")
    path = tmp_path / "answers.csv"

    def said(a, b):
        return "together" if truth[int(a)] == truth[int(b)] else "apart"

    with serving(p, r, path, n=30, title="<Pairs>") as server:
        page = sent(server, None)
        data = json.loads(page.split('<script type="application/json" id="data">')[1].split("</script>")[0])
        assert "<h1>&lt;Pairs&gt;</h1>" in page and data["server"] and "connect-src 'self'" in page
        for k in range(9):
            reply = json.loads(sent(server, {"changes": rows_of(data, said, k), "end": False}))
            assert reply == {"saved": k + 1} and len(read_answers(path)["left"]) == k + 1
        reply = json.loads(sent(server, {"changes": rows_of(data, said, 9), "end": False}))
        assert (
            reply["saved"] == 10 and reply["told"].startswith("New result: ") and len(reply["data"]["questions"]) == 30
        )
        answers = read_answers(path)
        again = gp.solve(p, "kernighan-lin-pairs", answers=answers)
        assert server.result.cost <= again.cost + 5
        # An answer is taken back, and another one contradicts: the file has what was said, and the page is told.
        back = [[*row[:2], None, "", "", ""] for row in rows_of(data, said, 0)]
        assert json.loads(sent(server, {"changes": back, "end": False}))["saved"] == 9
        a, b, c = (str(x) for x in list(p.nodes)[:3])
        wrong = [[a, b, "together", "", "", ""], [b, c, "together", "", "", ""], [c, a, "apart", "", "", ""]]
        reply = json.loads(sent(server, {"changes": wrong, "end": True}))
        assert reply["alert"] and "contradict" in reply["told"] and len(read_answers(path)["left"]) == 12
        right = [[c, a, None, "", "", ""]]
        assert "data" in json.loads(sent(server, {"changes": right, "end": False}))
    with serving(p, r, path, answers=read_answers(path)) as server:
        assert server.count == 11 and '"answers":[[' in sent(server, None)


def test_requests_of_others_are_refused(tmp_path):
    p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-2.0, 1.0], ["ann", "bob", "cid"])
    path = tmp_path / "answers.csv"
    good = {"changes": [["ann", "bob", "apart", "", "", ""]], "end": False}
    with serving(p, gp.solve(p), path) as server:
        root = server.url.rpartition("/")[0].rpartition("/")[0]
        for status, body, url, headers in [
            (404, None, root + "/", {}),
            (404, None, None, {"Host": "elsewhere.example"}),
            (403, good, None, {"Origin": "http://elsewhere.example"}),
            (404, good, None, {"Host": "elsewhere.example", "Origin": "http://elsewhere.example"}),
            (400, {"changes": [["ann", "bob", "maybe", "", "", ""]], "end": False}, None, {}),
            (400, {"changes": [["ann"]], "end": False}, None, {}),
            (400, [], None, {}),
            (413, good, None, {"Content-Length": "1000001"}),
        ]:
            with pytest.raises(urllib.error.HTTPError) as error:
                sent(server, body, url, **headers)
            assert error.value.code == status
            error.value.close()
        assert not path.exists()
        assert server.server_address[0] == "127.0.0.1"
        assert json.loads(sent(server, good)) == {"saved": 1}


def test_segments_have_pictures_and_places(tmp_path):
    s = gp.images.segment(gp.images.cells((40, 40), size=8, noise=0.05)[0])
    path, said = tmp_path / "answers.csv", lambda *_: "apart"
    with ReviewServer(s, s.result, path, n=12) as server:
        data = server._questions()
        assert len(data["pictures"]) == len(data["questions"]) >= 10
        told = server.take(rows_of(data, said, *range(10)), False)
        assert len(told["data"]["pictures"]) == len(told["data"]["questions"])
        labels, table = server.result.labels, s.by_element(read_answers(path))
        assert len(table["left"]) == 10 and (labels[table["left"]] != labels[table["right"]]).all()
    with ReviewServer(s, s.result, path, answers=read_answers(path)) as server:
        assert server.count == 10 and (server.result.labels == labels).all()
