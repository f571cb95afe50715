"""Answers of people: as requirements, as evidence, and those that contradict; seeds 0 to 14."""

import itertools
import math

import numpy as np
import pandas
import pytest

import graphpart as gp
from graphpart.answers import answered, contradictions
from graphpart.answers.given import answers_of


def table(rows):
    left, right, answer = zip(*rows, strict=True)
    return {"left": list(left), "right": list(right), "answer": list(answer)}


def people():
    pairs = [("ann", "anna"), ("anna", "bob"), ("bob", "rob"), ("ann", "rob")]
    return gp.SetPartition.from_frame(
        {"a": [a for a, _ in pairs], "b": [b for _, b in pairs], "p": [0.9, 0.4, 0.8, 0.1]}, "a", "b", probability="p"
    )


@pytest.mark.parametrize("dense", [False, True])
def test_answers_are_required(dense):
    p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3)], [-2.0, 1.0, -3.0], list("abcd"), dense=dense)
    said = table([("c", "b", "together"), ("a", "b", "apart"), ("a", "d", ""), ("a", "d", None), ("d", "a", np.nan)])
    r = gp.solve(p, answers=said)
    assert sorted(map(sorted, r.partition)) == [["a"], ["b", "c", "d"]]
    assert r.message.endswith("; 5 answers: 1 together, 1 apart, 3 not known")
    assert r.cost == p.evaluate(r.labels)
    assert p.pairs()[2].max() < math.inf  # the problem that was given is as it was
    again = gp.solve(p, answers=pandas.DataFrame(said), initial=gp.solve(p))
    assert np.array_equal(again.partition, r.partition) or set(map(frozenset, again.partition)) == set(
        map(frozenset, r.partition)
    )


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("more", [{}, {"missing": 0.5}, {"groups": ["x", "y", "x", None], "group_cost": 0.25}])
def test_evidence_adds_to_costs(dense, more):
    p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2)], [-2.0, 2.0], dense=dense, **more)
    said = table(
        [(1, 0, "apart"), (0, 1, "apart"), (2, 3, "together"), (0, 3, ""), (1, 2, "together"), (1, 2, "apart")]
    )
    q, bit = answered(p, said, error=0.2), 2 / 5  # 2 bits an answer; the median cost is 5 bits
    for labels in ([0, 0, 1, 1], [0, 0, 0, 1], [0, 1, 2, 3], [0, 0, 0, 0]):
        same = np.equal.outer(labels, labels)
        change = 4 * bit * same[0, 1] - 2 * bit * same[2, 3]
        assert q.evaluate(labels) == pytest.approx(p.evaluate(labels) + change)
    assert bit == 0.4


def test_evidence_of_probabilities_is_in_bits():
    p = people()
    q = answered(p, table([("ann", "anna", "apart")]), error=0.05)
    assert q.pairs()[2][0] - p.pairs()[2][0] == pytest.approx(math.log2(19))


def test_lifted_pairs_of_answers_do_not_connect():
    p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [1.0, 1.0], connected=True)
    q = answered(p, table([(0, 2, "together")]), error=0.01)
    with pytest.raises(gp.InvalidPartition, match="no path of base pairs"):
        q.evaluate([0, 1, 0])
    assert gp.solve(q).labels.tolist() == gp.partition.brute_force(q).labels.tolist()


def test_names_of_files_are_texts():
    p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-1.0, 1.0])
    given = answers_of(p, table([("2", "1", "Together "), (2.0, 0, "apart"), (0, 1, True), (0, 1, "no"), (0, 1, 1.0)]))
    assert given.pairs[:2].tolist() == [[1, 2], [0, 2]] and given.said.tolist() == [1, 0, 1, 0, 1]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([("ann", "bob", "maybe")], "answers has 'maybe' in row 0: expected together"),
        ([("ann", "ann", "apart")], "answers has 'ann' with itself in row 0: expected two different elements"),
        (
            [("x", "y", "apart")],
            "1 answer, none of them about elements of the problem, whose first one is 'ann': 'x' is no element",
        ),
    ],
)
def test_wrong_answers_are_named(rows, says):
    with pytest.raises(gp.InvalidProblem, match=says):
        gp.solve(people(), answers=table(rows))


def test_other_wrong_arguments():
    p = people()
    with pytest.raises(gp.InvalidProblem, match="answers has no column 'answer': expected one of 'left', 'right'"):
        gp.solve(p, answers={"left": [], "right": []})
    with pytest.raises(gp.InvalidProblem, match="answers is of type list: expected a table with the columns left"):
        gp.solve(p, answers=[("ann", "bob")])
    with pytest.raises(gp.FormatError, match=r"none\.csv: No such file"):
        gp.solve(p, answers="none.csv")
    with pytest.raises(gp.InvalidOption, match=r"error is 0.5: expected a probability of at least 0 and below 0.5"):
        gp.solve(p, answers=table([("ann", "bob", "apart")]), error=0.5)
    with pytest.raises(gp.InvalidOption, match="error is given without answers: expected both"):
        gp.solve(p, error=0.1)
    with pytest.raises(gp.InvalidOption, match="answers is for clusters"):
        gp.solve(gp.FactorGraph(), answers={})


def test_no_answers_change_nothing():
    p = people()
    r = gp.solve(p, answers={"left": [], "right": [], "answer": []})
    assert r.cost == gp.solve(p).cost and "0 answers" in r.message


def test_answers_survive_new_data():
    with pytest.warns(gp.GraphPartWarning, match="1 answer of 2 left out: 'zoe' is no element of the problem"):
        r = gp.solve(people(), answers=table([("zoe", "ann", "together"), ("rob", "bob", "apart")]))
    assert "1 answer: 0 together, 1 apart" in r.message


def test_contradictions_name_the_smallest_set():
    said = table(
        [("ann", "anna", "together"), ("anna", "bob", "together"), ("bob", "ann", "apart"), ("ann", "bob", "apart")]
    )
    with pytest.raises(
        gp.InfeasibleProblem, match=r"without 1 answer, 'ann' and 'anna' together \(row 0\), the others"
    ):
        gp.solve(people(), answers=said)
    assert contradictions(people(), said)["row"].tolist() == [0]  # the oldest of two
    assert contradictions(people(), table([("ann", "bob", "apart"), ("bob", "ann", "together")]))["row"].tolist() == [0]
    assert gp.solve(people(), answers=said, error=0.05).n_clusters >= 1


def test_contradictions_with_the_problem():
    p = people().require(together=[("ann", "anna")], apart=[("bob", "rob")])
    said = table([("anna", "ann", "apart"), ("rob", "bob", "together"), ("ann", "bob", "together")])
    assert contradictions(p, said)["row"].tolist() == [0, 1]
    g = people().require(groups={"ann": "x", "bob": "x"})
    assert len(contradictions(g, table([("ann", "anna", "together"), ("anna", "bob", "together")]))) == 1


def test_answers_of_an_older_table_hold_when_it_is_extended():
    p = people()
    old, said = gp.solve(p), table([("anna", "ann", "apart"), ("rob", "bob", "together")])
    pairs = [("ann", "anna"), ("anna", "bob"), ("bob", "rob"), ("ann", "eve"), ("eve", "anna")]
    ends = {"a": [a for a, _ in pairs], "b": [b for _, b in pairs], "p": [0.9, 0.4, 0.8, 0.9, 0.9]}
    q = answered(gp.SetPartition.from_frame(ends, "a", "b", probability="p"), said)
    labels = gp.partition.extend(q, old, freeze=False).to_series()
    assert (
        labels["ann"] != labels["anna"]
        and labels["rob"] == labels["bob"]
        and labels["eve"] in labels[["ann", "anna"]].tolist()
    )
    with pytest.raises(
        gp.InvalidPartition, match="'ann' and 'anna' must be cut but are in one frozen cluster: expected"
    ):
        gp.partition.extend(q, old)


def smallest(n, rows):
    """The least number of answers that a partition violates, by trying all partitions."""
    best = len(rows)
    for labels in itertools.product(range(n), repeat=n):
        best = min(best, sum((labels[a] == labels[b]) != (word == "together") for a, b, word in rows))
    return best


def check_contradictions(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    pairs = [pair for pair in itertools.combinations(range(n), 2) for _ in range(int(rng.integers(0, 3)))]
    rows = [(a, b, str(rng.choice(["together", "apart"]))) for a, b in pairs]
    p = gp.SetPartition.from_pairs(n, [(0, 1)], [-1.0])
    if not rows:
        return
    said = table(rows)
    found = contradictions(p, said, library="dict")["row"].tolist()
    assert len(found) == smallest(n, rows)
    kept = [row for k, row in enumerate(rows) if k not in found]
    if kept:
        answered(p, table(kept))  # the others agree


@pytest.mark.parametrize("seed", range(15))
def test_contradictions_by_brute_force(seed):
    check_contradictions(seed)
