"""Settings chosen by the truth: scores pair by pair, tables whose unlisted pairs cost something, networks."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphpart as gp
from graphpart.learn import cross_validate_settings
from graphpart.metrics import scores_by_part


def naive_scores(truth, labels, part, parts, score):
    """Pair by pair."""
    out = []
    for k in range(parts):
        counts = dict.fromkeys([(x, y) for x in (False, True) for y in (False, True)], 0)
        for a, b in combinations(range(len(truth)), 2):
            ends = int(part[a] == k) + int(part[b] == k)
            counts[truth[a] == truth[b], labels[a] == labels[b]] += ends
        both, missed, wrong = counts[True, True], counts[True, False], counts[False, True]
        cut = counts[False, False]
        if score == "joins-f1":
            out.append(2 * both / (2 * both + missed + wrong) if both + missed + wrong else 1.0)
            continue
        above = 2 * (both * cut - missed * wrong)
        below = (both + missed) * (missed + cut) + (both + wrong) * (wrong + cut)
        out.append(above / below if missed + wrong else 1.0)
    return out


@given(st.integers(1, 12), st.sampled_from(["adjusted-rand", "joins-f1"]), st.data())
def test_scores_of_parts_pair_by_pair(n, score, data):
    columns = [data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)) for _ in range(3)]
    truth, labels, part = (np.array(column, np.int64) for column in columns)
    part = np.unique(part, return_inverse=True)[1]
    found = scores_by_part(truth, labels, part, score)
    assert found == pytest.approx(naive_scores(truth, labels, part, part.max() + 1, score))
    whole = scores_by_part(truth, labels, np.zeros(n, np.int64), score)[0]
    both = gp.metrics.compare(truth, labels)
    assert whole == pytest.approx(both.joins_f1 if score == "joins-f1" else both.adjusted_rand_index)


def test_the_cost_of_unlisted_pairs():
    rng = np.random.default_rng(0)
    n = 300
    truth = np.arange(n) // 5
    u, v = np.nonzero(np.triu(truth[:, None] == truth, 1) & (rng.random((n, n)) < 0.7))
    a, b = np.sort(rng.integers(n, size=(2, 1200)), axis=0)
    u, v = np.divmod(np.union1d(u * n + v, (a * n + b)[a != b]), n)
    score = np.where(truth[u] == truth[v], rng.beta(6.0, 1.5, len(u)), rng.beta(1.0, 3.56, len(u)))
    table = {"a": [f"r{x}" for x in u], "b": [f"r{x}" for x in v], "p": score.clip(0.01, 0.99)}

    def problem(missing):
        return gp.SetPartition.from_frame(table, "a", "b", probability="p", missing=missing)

    known = {f"r{x}": int(truth[x]) for x in range(100)}
    tried = [0.0, 0.3, 1.0, 50.0]
    chosen = cross_validate_settings(problem, tried, known, method="kernighan-lin-pairs")
    assert chosen.setting in (0.3, 1.0) and chosen.settings == tried and chosen.scores.shape == (5, 4)
    assert chosen.held_out <= chosen.mean.max() + 1e-12
    at = tried.index(chosen.setting)
    assert chosen.mean[at] == chosen.mean.max() > chosen.mean[0] + 0.1
    array = [known.get(name, -1) for name in problem(0).nodes]
    same = cross_validate_settings(problem, tried, array, method="kernighan-lin-pairs")
    assert same.scores.tolist() == chosen.scores.tolist()


def test_the_resolution_of_a_network():
    G = nx.connected_caveman_graph(8, 6)
    chosen = cross_validate_settings(
        lambda r: gp.SetPartition.from_cpm(G, r), [0.001, 0.5, 1.5], [k // 6 for k in G], score="joins-f1"
    )
    assert chosen.setting == 0.5 and chosen.held_out == 1.0


def test_degenerate_truths_and_bad_options():
    def problem(missing):
        return gp.SetPartition.from_pairs(3, [(0, 1)], [-1.0], missing=missing)

    one = cross_validate_settings(problem, [0.0, 1.0], [5, 5, -1])
    assert one.setting == 0.0 and np.isnan(one.held_out) and one.scores.tolist() == [[1.0, 1.0]]
    with pytest.raises(gp.InvalidProblem, match="no class"):
        cross_validate_settings(problem, [0.0], [-1, -1, -1])
    with pytest.raises(gp.InvalidOption, match="settings are empty"):
        cross_validate_settings(problem, [], [0, 1, 1])
    with pytest.raises(gp.InvalidOption, match="score is 'f1'"):
        cross_validate_settings(problem, [0.0], [0, 1, 1], score="f1")
    with pytest.raises(gp.InvalidPartition, match="3"):
        cross_validate_settings(problem, [0.0], [0, 1])
