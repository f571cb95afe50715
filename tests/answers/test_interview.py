"""Questions one after the other: what depends on an answer is done again, all else stays; seeds 0 to 5."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from planted_scores import planted

import graphpart as gp
from graphpart.answers import Interview
from graphpart.answers.bits import bit_of
from graphpart.answers.worth import worth_of


def said_by(truth, question):
    return "together" if truth[question["left"]] == truth[question["right"]] else "apart"


def rows_of(worth):
    """What is known of decisions, by their pairs."""
    keys = map(frozenset, worth.pairs.tolist())
    return dict(zip(keys, zip(worth.chance.round(9), worth.together, strict=True), strict=True))


@pytest.mark.parametrize(("seed", "error"), [(0, 0.0), (1, 0.05), (2, 0.0)])
def test_after_each_answer_all_is_as_if_made_anew(seed, error):
    p, truth = planted(seed, n=90, k=30)
    r = gp.solve(p, "kernighan-lin-pairs")
    interview = Interview(p, r, error=error)
    whole = agree = 0
    for question in itertools.islice(interview, 12):
        interview.answer(said_by(truth, question))
        q, result = interview.problem, interview.result
        assert q.evaluate(result.labels) == pytest.approx(result.cost)
        new, old = rows_of(worth_of(q, result.labels, bit_of(p))), rows_of(interview._worth)
        whole += len(new)
        agree += sum(old.get(pair) == row for pair, row in new.items())
    assert agree > 0.8 * whole
    again = gp.answers.answered(p, interview.answers, error=error)
    assert again.evaluate(result.labels) == pytest.approx(result.cost)
    assert result.cost <= gp.solve(again, "kernighan-lin-pairs", initial=r).cost + 5


def test_answers_improve_the_result_and_are_taken_back():
    better = []
    for seed in range(6):
        p, truth = planted(seed)
        r = gp.solve(p, "kernighan-lin-pairs")
        interview = Interview(p, r)
        before = gp.metrics.compare(truth, r.labels).joins_f1
        first = interview.question()
        for question in itertools.islice(interview, 20):
            interview.answer(said_by(truth, question))
        better.append(gp.metrics.compare(truth, interview.result.labels).joins_f1 - before)
    assert np.mean(better) > 0.05
    assert len(set(zip(interview.answers["left"], interview.answers["right"], strict=True))) == 20
    while interview.undo():
        pass
    assert interview.question() == first and interview.answers["left"] == []
    assert interview.result.cost == pytest.approx(r.cost)


def test_tables_of_answers_and_pairs_that_are_not_known():
    p, truth = planted(4)
    r = gp.solve(p, "kernighan-lin-pairs")
    interview = Interview(p, r)
    first = interview.question()
    interview.answer("")
    assert interview.question() != first
    asked = gp.questions(p, r, 10)
    said = asked.assign(answer=[said_by(truth, row) for _, row in asked.iterrows()])
    interview.add(said)
    other = Interview(p, r, answers=said)
    assert interview.result.cost == pytest.approx(other.result.cost)
    assert interview.problem.evaluate(interview.result.labels) == pytest.approx(
        gp.answers.answered(p, said).evaluate(interview.result.labels)
    )


def test_questions_about_unsure_pairs_name_the_clusters_of_these():
    p, truth = planted(5)
    interview = Interview(p, gp.solve(p, "kernighan-lin-pairs"))
    u, v, cost = p.pairs()
    near = np.argsort(np.abs(cost))
    interview._design = SimpleNamespace(
        u=u, v=v, bits=-cost, near=lambda *_: near, worth_asking=lambda *_: np.arange(len(near))
    )
    for question in itertools.islice(interview, 12):
        interview.answer(said_by(truth, question))
    asked = interview.ask(33)
    own = asked.labels[asked.pairs]
    own[own[:, 0] == own[:, 1], 1] = -1
    assert (asked.about == "pair").sum() == 25 and (asked.clusters == own)[asked.about == "pair"].all()


def test_answers_may_be_without_a_chance():
    p, _ = planted(4)
    said = {"left": [0], "right": [1], "answer": [""], "decision": [""], "chance": [""]}
    interview = Interview(p, gp.solve(p, "kernighan-lin-pairs"), answers=said)
    assert np.isnan(interview.answers["chance"]).all() and interview.answers["about"] == [""]


def test_all_kinds_of_problems():
    rng = np.random.default_rng(5)
    pairs = list(itertools.combinations(range(8), 2))
    costs = rng.normal(size=28)
    problems = [
        gp.SetPartition.from_affinities(rng.random((2, 5, 6)), [(0, 1), (1, 0)]),
        gp.SetPartition.from_embeddings(rng.normal(size=(40, 3)), threshold=0.5),
        gp.SetPartition.from_pairs(8, pairs, costs, dense=True),
        gp.SetPartition.from_pairs(8, pairs, costs, dense=False, max_size=3),
        gp.SetPartition.from_pairs(8, pairs, costs, dense=False, n_clusters=3),
        gp.SetPartition.from_pairs(8, pairs, costs, groups=list("xyzxyzxy")),
        gp.generate.lifted_grid(3, 4, regions=2, seed=1).problem,
    ]
    for p in problems:
        interview = Interview(p, gp.solve(p, "kernighan-lin-pairs"))
        for question in itertools.islice(interview, 4):
            try:
                interview.answer("together" if question["decision"] == "apart" else "apart")
            except gp.InfeasibleProblem:
                interview.answer("")
        assert interview.problem.evaluate(interview.result.labels) == pytest.approx(interview.result.cost)


def test_wrong_calls_change_nothing():
    p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-2.0, 0.5], ["ann", "bob", "cid"])
    interview = Interview(p, gp.solve(p), records={"name": ["Ann", "Bob", "Cid"]})
    with pytest.raises(gp.InvalidOption, match=r"there is no question to answer: expected question\(\) before answer"):
        interview.answer("apart")
    question = interview.question()
    assert question["name_left"] == question["left"].capitalize()
    with pytest.raises(gp.InvalidProblem, match="answers has 'maybe' in row 0: expected together"):
        interview.answer("maybe")
    interview.answer("apart")
    against = {"left": [question["left"]], "right": [question["right"]], "answer": ["together"]}
    with pytest.raises(gp.InfeasibleProblem, match="answers contradict each other or the problem"):
        interview.add(against)
    assert interview.answers["answer"] == ["apart"] and interview.undo() and not interview.undo()
    with pytest.raises(gp.InvalidOption, match=r"error is 1: expected a probability"):
        Interview(p, gp.solve(p), error=1)
