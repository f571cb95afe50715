"""Expected F1 from answers about pairs at random; seeds 0 to 19."""

import numpy as np
import pytest
from planted_scores import planted

import graphpart as gp
from graphpart.answers import expected_f1, random_pairs


def answered_by(truth, pairs):
    same = truth[pairs["left"].astype(int)] == truth[pairs["right"].astype(int)]
    return {"left": pairs["left"], "right": pairs["right"], "answer": np.where(same, "together", "apart")}


def compared_f1(p, labels, truth):
    """F1 of joins over the pairs that are listed or together."""
    u, v = np.triu_indices(p.n, 1)
    listed = {(a, b) for a, b in zip(*(x.tolist() for x in p._listed()[:2]), strict=True)}
    kept = (labels[u] == labels[v]) | np.array([pair in listed for pair in zip(u.tolist(), v.tolist(), strict=True)])
    together, same = (labels[u] == labels[v])[kept], (truth[u] == truth[v])[kept]
    return 2 * (together & same).sum() / (together.sum() + same.sum())


def test_the_interval_contains_the_truth_in_nine_of_ten():
    hits, widths = [], []
    for problem in (0, 1):
        p, truth = planted(problem)
        r = gp.solve(p, "greedy-joining")
        true = compared_f1(p, r.labels, truth)
        for seed in range(10):
            q = expected_f1(p, r, answered_by(truth, random_pairs(p, r, 60, seed=seed, library="dict")))
            hits.append(q.low <= true <= q.high)
            widths.append(q.high - q.low)
    assert sum(hits) >= 17 and np.mean(widths) < 0.2


def test_all_pairs_answered_is_no_estimate():
    p, truth = planted(3, n=20, k=5)
    r = gp.solve(p, "greedy-joining")
    pairs = random_pairs(p, r, 10_000, library="dict")
    q = expected_f1(p, r, answered_by(truth, pairs))
    assert q.f1 == pytest.approx(compared_f1(p, r.labels, truth)) == q.low == q.high
    assert (pairs["weight"] == 1).all() and str(q).startswith("F1 ")


def test_weights_count_pairs_and_required_ones_are_known():
    p, truth = planted(4)
    r = gp.solve(p, "greedy-joining")
    pairs = random_pairs(p, r, 50, library="dict")
    first = (int(pairs["left"][0]), int(pairs["right"][0]))
    u, v = np.triu_indices(p.n, 1)
    within = int((r.labels[u] == r.labels[v]).sum())
    listed = p._listed()
    counted = within + int((r.labels[listed[0]] != r.labels[listed[1]]).sum())
    assert pairs["weight"].sum() == pytest.approx(counted)
    assert {str(x) for x in pairs["decision"]} == {"together", "apart"}
    q = p.require(together=[first]) if truth[first[0]] == truth[first[1]] else p.require(apart=[first])
    s = gp.solve(q, "greedy-joining")
    assert first not in set(
        zip(*(random_pairs(q, s, 5000, library="dict")[k].tolist() for k in ("left", "right")), strict=True)
    )
    with pytest.raises(
        gp.InvalidProblem, match="which is decided beforehand or was not compared: expected the pairs of"
    ):
        expected_f1(q, s, answered_by(truth, {"left": np.array([first[0]]), "right": np.array([first[1]])}))


def test_chosen_questions_are_refused():
    p, truth = planted(3, n=20, k=5)
    r = gp.solve(p, "greedy-joining")
    asked = gp.questions(p, r, 5, library="dict")
    with pytest.raises(gp.InvalidProblem, match="chosen, since they have a chance: expected pairs at random"):
        expected_f1(p, r, answered_by(truth, asked) | {"chance": asked["chance"]})


def test_wrong_arguments():
    p, _ = planted(5, n=12, k=3)
    r = gp.solve(p, "greedy-joining")
    with pytest.raises(gp.InvalidOption, match="n is 0: expected a number of pairs of at least 1"):
        random_pairs(p, r, 0)
    with pytest.raises(gp.InvalidOption, match=r"level is 1.0: expected a probability between 0 and 1"):
        expected_f1(p, r, {}, level=1.0)
    with pytest.raises(gp.InvalidProblem, match="answers has no answer that is together or apart: expected some"):
        expected_f1(p, r, {"left": [], "right": [], "answer": []})


def test_pairs_that_were_drawn_for_another_result_are_refused():
    p, truth = planted(5)
    r, other = gp.solve(p, "greedy-joining"), np.arange(p.n)
    pairs = random_pairs(p, r, 30, library="dict")
    said = answered_by(truth, pairs) | {"decision": pairs["decision"]}
    assert expected_f1(p, r, said).f1 > 0.5
    with pytest.raises(gp.InvalidProblem, match=r"another result, in which .* are together, not apart"):
        expected_f1(p, other, said)
