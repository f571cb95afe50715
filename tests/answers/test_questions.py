"""Questions: which pairs are asked, and what their answers are worth; seeds 1 to 4."""

import itertools

import networkx as nx
import numpy as np
import pytest
from planted_scores import planted

import graphpart as gp
from graphpart.answers.worth import unsure_pairs, worth_of


def asked_pairs(frame):
    return list(zip(frame["left"].tolist(), frame["right"].tolist(), strict=True))


def test_no_question_follows_from_others():
    p, _ = planted(1)
    r = gp.solve(p, "kernighan-lin-pairs")
    frame = gp.questions(p, r, 30)
    assert list(frame.columns) == ["left", "right", "decision", "chance", "gain"]
    pairs = asked_pairs(frame)
    assert len(pairs) == 30 and nx.is_forest(nx.Graph(pairs))
    assert all(
        (r.labels[a] == r.labels[b]) == (word == "together")
        for (a, b), word in zip(pairs, frame["decision"], strict=True)
    )
    assert ((frame["chance"] > 0) & (frame["chance"] < 1) & (frame["gain"] >= frame["chance"])).all()
    # Whatever people answer, it can be required.
    for seed in range(2):
        words = np.random.default_rng(seed).choice(["together", "apart"], len(pairs))
        gp.solve(p, "greedy-joining", answers=frame.assign(answer=words))


def test_answers_are_not_asked_again():
    p, truth = planted(2)
    r = gp.solve(p, "kernighan-lin-pairs")
    first = gp.questions(p, r, 10)
    words = ["together" if truth[a] == truth[b] else "apart" for a, b in asked_pairs(first)]
    words[:2] = ["", ""]
    said = first.assign(answer=words)
    q = gp.answers.answered(p, said)
    s = gp.solve(q, "kernighan-lin-pairs", initial=r)
    second = gp.questions(q, s, 10, answers=said)
    known = nx.Graph([pair for pair, word in zip(asked_pairs(first), words, strict=True) if word == "together"])
    for a, b in asked_pairs(second):
        assert (a, b) not in asked_pairs(first) and (b, a) not in asked_pairs(first)
        assert not (a in known and b in known and nx.has_path(known, a, b))


def test_answers_improve_clusters_more_than_random_ones():
    scores = {"chosen": 0.0, "random": 0.0, "none": 0.0}
    for seed in (3, 4):
        p, truth = planted(seed)
        r = gp.solve(p, "kernighan-lin-pairs")
        u, v, _ = p.pairs()
        some = np.random.default_rng(seed).choice(len(u), 20, replace=False)
        ways = {
            "chosen": asked_pairs(gp.questions(p, r, 20)),
            "random": list(zip(u[some], v[some], strict=True)),
            "none": [],
        }
        for name, pairs in ways.items():
            together = [pair for pair in pairs if truth[pair[0]] == truth[pair[1]]]
            apart = [pair for pair in pairs if truth[pair[0]] != truth[pair[1]]]
            s = gp.solve(p.require(together=together, apart=apart), "kernighan-lin-pairs", initial=r)
            scores[name] += gp.metrics.compare(truth, s.labels).joins_f1 / 2
    assert scores["chosen"] > scores["random"] + 0.02 and scores["chosen"] > scores["none"] + 0.02


def test_all_kinds_of_problems():
    rng = np.random.default_rng(1)
    grid = gp.SetPartition.from_affinities(rng.random((2, 5, 6)), [(0, 1), (1, 0)])
    vectors = gp.SetPartition.from_embeddings(rng.normal(size=(40, 3)), threshold=0.5)
    matrix = gp.SetPartition.from_pairs(9, list(itertools.combinations(range(9), 2)), rng.normal(size=36), dense=True)
    lifted = gp.generate.lifted_grid(3, 4, regions=2, seed=1).problem
    limited = gp.SetPartition.from_pairs(6, list(itertools.combinations(range(6), 2)), rng.normal(size=15), max_size=3)
    network = gp.SetPartition.from_modularity(nx.karate_club_graph())
    sources = gp.SetPartition.from_pairs(4, [(0, 1), (2, 3), (1, 2)], [-1.0, -2.0, 0.5], groups=list("xyxy"))
    for p in (grid, vectors, matrix, lifted, limited, network, sources):
        r = gp.solve(p, time_limit=0.3)
        frame = gp.questions(p, r, 5)
        assert 1 <= len(frame) <= 5 and frame["chance"].between(0, 1).all()
        said = frame.assign(answer=["together" if w == "apart" else "apart" for w in frame["decision"]])
        gp.solve(p, "greedy-joining", answers=said, error=0.1)
    assert gp.questions(grid, gp.solve(grid, time_limit=0.3), 2)["left_place"].map(len).eq(2).all()


def test_columns_of_records():
    p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-1.0, 0.5], ["ann", "anna", "bob"])
    r = gp.solve(p)
    frame = gp.questions(p, r, 1, records={"name": ["Ann", "Anna", "Bob"], "__file": [1, 1, 1]}, library="dict")
    assert (frame["name_left"].tolist(), frame["name_right"].tolist()) == (["Anna"], ["Bob"])
    assert "__file_left" not in frame
    other = {"id": ["bob", "ann", "anna"], "name": ["Bob", "Ann", "Anna"]}
    assert gp.questions(p, r, 1, records=other, id="id", library="dict")["name_left"].tolist() == ["Anna"]
    with pytest.raises(gp.InvalidProblem, match="records has 1 rows for 3 elements: expected a row for each, or id="):
        gp.questions(p, r, records={"name": ["Ann"]})
    with pytest.raises(gp.InvalidProblem, match="records has no row for 'anna' in 'id': expected all elements"):
        gp.questions(p, r, records={"id": ["bob", "ann"], "name": ["Bob", "Ann"]}, id="id")


def test_wrong_arguments_and_nothing_to_ask():
    p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-1.0, 0.5])
    r = gp.solve(p)
    with pytest.raises(gp.InvalidOption, match="n is 0: expected a number of questions of at least 1"):
        gp.questions(p, r, 0)
    q = p.require(together=[(0, 1)], apart=[(1, 2)])
    assert len(gp.questions(q, gp.solve(q))) == 0
    alone = gp.SetPartition.from_pairs(1, [], [])
    assert len(gp.questions(alone, [0])) == 0


def test_decisions_that_turned_out_right_are_asked_less():
    p, _ = planted(2)
    r = gp.solve(p, "kernighan-lin-pairs")
    first = gp.questions(p, r, 20)
    rows = {"left": [0] * 9, "right": [1] * 9, "answer": ["apart"] * 9, "decision": ["apart"] * 9, "chance": [0.9] * 9}
    after = gp.questions(p, r, 20, answers=rows)
    share = [(frame["decision"] == "apart").mean() for frame in (first, after)]
    assert share[0] > 0 and share[1] < share[0]
    cut = after[after["decision"] == "apart"]
    gain = dict(zip(zip(first["left"], first["right"], strict=True), first["gain"], strict=True))
    for left, right, value in zip(cut["left"], cut["right"], cut["gain"], strict=True):
        assert value == pytest.approx(gain.get((left, right), value * 9.1) / 9.1)


def test_the_chance_takes_groups_into_account():
    """Clusters that share a source cannot be joined: a pair that attracts strongly is still surely apart."""
    columns = {"l": ["a1", "a2", "a1"], "r": ["b1", "b2", "b2"], "s": [0.999, 0.999, 0.97]}
    elements = {"id": ["a1", "b1", "a2", "b2"], "source": ["A", "B", "A", "B"]}
    p = gp.SetPartition.from_frame(
        columns, "l", "r", probability="s", missing=0, elements=elements, id="id", groups="source"
    )
    r = gp.solve(p)
    worth = worth_of(p, r.labels, 1.0)
    apart = ~worth.together
    exact = 0.001**2 * 0.97 / (0.001**2 * 0.97 + 0.999**2 * 0.03)
    assert worth.chance[apart] == pytest.approx([exact], rel=1e-6)
    u, v, cost = p.pairs()
    unsure = unsure_pairs(r.labels, u, v, -cost, worth)
    (row,) = (k for k, pair in enumerate(unsure.pairs) if {p.nodes[a] for a in pair} == {"a1", "b2"})
    assert unsure.chance[row] == pytest.approx(exact, rel=1e-6)  # its own cost says together by 97%
    assert gp.partition.doubts(p, r).decisions["chance"].min() == pytest.approx(exact, rel=1e-6)
