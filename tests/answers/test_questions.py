"""Questions: which pairs are asked, and what their answers are worth; seeds 0 to 8."""

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
    for seed in range(3, 9):
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
            scores[name] += gp.metrics.compare(truth, s.labels).joins_f1 / 6
    assert scores["chosen"] > scores["random"] + 0.04 and scores["chosen"] > scores["none"] + 0.04


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


def test_the_chance_is_that_of_doubts_from_all_pairs_between_clusters():
    for k in (2, 3, 4):
        a, b = ([f"{x}{i}" for i in range(k)] for x in "ab")
        rows = [(*pair, 0.95) for names in (a, b) for pair in itertools.combinations(names, 2)] + [("a0", "b0", 0.8)]
        columns = dict(zip(("left", "right", "score"), map(list, zip(*rows, strict=True)), strict=True))
        p = gp.SetPartition.from_frame(columns, "left", "right", probability="score", missing=1.0)
        r = gp.solve(p)
        asked = {frozenset(pair): x for *pair, x in gp.questions(p, r, 9)[["left", "right", "chance"]].values}
        (doubt,) = gp.partition.doubts(p, r, [("a0", "b0")]).decisions["chance"].tolist()
        assert asked[frozenset(("a0", "b0"))] == pytest.approx(doubt, rel=1e-9)
        weights = {True: 0.0, False: 0.0}
        for labels in partitions(2 * k):
            joined = labels[p.index("a0")] == labels[p.index("b0")]
            weights[joined] += 2.0 ** (r.cost - p.evaluate(np.array(labels, np.int32)))
        exact = weights[True] / sum(weights.values())
        assert exact / 3 < doubt < 3 * exact  # of one change instead of all partitions


def partitions(n):
    """All partitions of n elements, as canonical labels."""
    for rest in partitions(n - 1) if n > 1 else [[]]:
        yield from ([*rest, x] for x in range(max(rest, default=-1) + 2))


def test_questions_find_as_many_wrong_decisions_as_doubts_and_the_most_useful_is_first():
    found = np.zeros(2, int)
    for seed in (5, 6, 7):
        rng = np.random.default_rng(seed)
        truth = np.repeat(np.arange(120), rng.integers(1, 7, 120))
        u, v = np.triu_indices(len(truth), 1)
        same = truth[u] == truth[v]
        some = same | (rng.random(len(u)) < 0.02)
        u, v, same = u[some], v[some], same[some]
        score = np.where(same, rng.beta(8, 2, len(u)), rng.beta(1.5, 8, len(u)))
        score = np.where(~same & (rng.random(len(u)) < 0.05), rng.uniform(0.5, 0.85, len(u)), score)
        p = gp.SetPartition.from_frame({"l": u, "r": v, "s": score}, "l", "r", probability="s")
        r = gp.solve(p, "kernighan-lin-pairs")
        asked, doubts = gp.questions(p, r, 30), gp.partition.doubts(p, r).decisions.head(30)
        assert (np.diff(asked["gain"]) <= 0).all()
        named = truth[np.array(p.nodes)]
        for k, table in enumerate((asked, doubts)):
            ends = (named[[p.index(x) for x in table[side]]] for side in ("left", "right"))
            right = np.equal(*ends) == (np.asarray(table["decision"]) == "together")
            found[k] += np.count_nonzero(~right)
    assert found[0] >= found[1] > 3


def test_pairs_that_groups_forbid_are_not_asked():
    pairs = list(itertools.combinations(range(12), 2))
    for seed in range(8):
        rng = np.random.default_rng(seed)
        groups = rng.integers(0, 4, 12)
        p = gp.SetPartition.from_pairs(12, pairs, rng.normal(size=66), groups=groups.tolist())
        p = p.require(apart=[pairs[k] for k in rng.choice(66, 5, replace=False)])
        r = gp.solve(p, "kernighan-lin-pairs")
        asked = gp.questions(p, r, 20)
        assert len(asked) and all(groups[a] != groups[b] for a, b in asked_pairs(asked))
        for word in ("together", "apart"):
            said = gp.solve(p, "greedy-joining", answers=asked.assign(answer=word))
            assert all((said.labels[a] == said.labels[b]) == (word == "together") for a, b in asked_pairs(asked))
