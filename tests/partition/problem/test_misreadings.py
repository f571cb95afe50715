"""Data that is valid, but says probably something else than was meant: pairs listed twice, kinds of names, signs."""

import warnings
from itertools import combinations
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import graphpart as gp
from graphpart.cli import main
from graphpart.kernels import _pairs
from graphpart.partition import turned_signs
from graphpart.partition.inputs._compared import with_common

ROWS = {"a": ["x", "y", "x"], "b": ["y", "x", "z"], "s": [0.75, 0.25, 0.5]}


class TestDuplicates:
    def test_the_first_repetition_is_named(self):
        message = (
            r"1 row repeats a pair: row 1 lists 'y' and 'x' as row 0 does, the other way round, "
            r'with 0.25 and 0.75, rows counted from 0; their costs are added up.*duplicates="mean"'
        )
        with pytest.warns(gp.GraphPartWarning, match=message):
            gp.SetPartition.from_frame(ROWS, "a", "b", weight="s")
        with pytest.raises(gp.InvalidProblem, match=r"row 1 lists 'y' and 'x' as row 0 does.*expected each pair once"):
            gp.SetPartition.from_frame(ROWS, "a", "b", weight="s", duplicates="error")
        with pytest.raises(gp.InvalidOption, match=r"duplicates is 'men': expected one of .*did you mean 'mean'"):
            gp.SetPartition.from_frame(ROWS, "a", "b", weight="s", duplicates="men")

    @pytest.mark.parametrize(("how", "cost"), [("sum", -1.0), ("mean", -0.5), ("max", -0.75)])
    def test_choices(self, how, cost):
        p = gp.SetPartition.from_frame(ROWS, "a", "b", weight="s", duplicates=how)
        assert p.evaluate([{"x", "y"}, {"z"}]) == cost

    def test_random_rows_against_a_dictionary(self):
        for seed in range(30):
            rng = np.random.default_rng(seed)
            m = int(rng.integers(1, 40))
            u = rng.integers(0, 6, m)
            v = (u + rng.integers(1, 6, m)) % 6
            frame = {"a": u, "b": v, "p": rng.integers(1, 8, m) / 8}
            groups = {}
            for a, b, x in zip(u.tolist(), v.tolist(), frame["p"].tolist(), strict=True):
                groups.setdefault(frozenset((a, b)), []).append(x)
            for how, one in (("mean", np.mean), ("max", max)):
                p = gp.SetPartition.from_frame(frame, "a", "b", similarity="p", threshold=0.0, duplicates=how)
                names = list(p.nodes)
                found = {frozenset((names[a], names[b])): -c for a, b, c in zip(*p._listed(), strict=True)}
                assert found == pytest.approx({pair: one(x) for pair, x in groups.items()}), f"seed {seed}, {how}"

    @pytest.mark.filterwarnings("error")
    def test_each_pair_once_is_no_reason_for_a_warning(self):
        gp.SetPartition.from_frame({"a": [1, 1, 2], "b": [2, 3, 3], "s": [1.0, 2.0, -3.0]}, "a", "b", cost="s")


def test_numbers_on_the_left_and_text_on_the_right():
    rows = {"a": [1, 2], "b": ["2", "1"], "s": [0.5, 0.7]}
    with pytest.warns(gp.GraphPartWarning, match="both the number 1 and the text '1', which are two elements"):
        gp.SetPartition.from_frame(rows, "a", "b", weight="s", duplicates="sum")


@pytest.mark.parametrize(
    ("left", "right", "told"),
    [
        (["7", "8", "9"], ["007", "008", "1"], r"'7' beside '007' and '8' beside '008': 2 of 6 .*\.str\.lstrip\('0'\)"),
        ([7, 8, 9], ["007", "008", "1"], r"7 beside '007' and 8 beside '008': 2 of 6 .*\['b'\]\.astype\(str\)\.str\.l"),
        (["7", "8", "9"], ["7.0", "8.0", "7"], r"'7' beside '7\.0' and .*\.str\.removesuffix\('\.0'\)"),
        ([7, 8, 9], ["7 ", "8 ", "x"], r"7 beside '7 ' and .*\.str\.strip\(\)"),
        (["007", "008", "1"], ["7", "8", "9"], r"'7' beside '007' and .*\['a'\]\.astype\(str\)\.str\.l"),
        (["a", "b", "0x1"], ["a ", "b ", "c"], r"'a' and 'a ', which differ in spaces only"),
        (["7", "8", "9"], ["007", "x", "1"], None),  # a single one
        ([10**400, 2, 3], [2.0, 3.0, 4.0], None),
        ([10**400, 2, 3], ["x", "y", "z"], None),
        (["0", "0.10", "rec-7"], ["00", "x", "rec-007"], None),
        (["010", "020", "030"], ["040", "050", "060"], None),
    ],
)
def test_numbers_that_are_written_in_two_ways(left, right, told, tmp_path):
    table = tmp_path / "pairs.csv"
    table.write_text("a,b,s\n" + "".join(f"{a},{b},0.9\n" for a, b in zip(left, right, strict=True)))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        gp.SetPartition.from_frame({"a": left, "b": right, "s": [0.9] * 3}, "a", "b", weight="s")
    assert len(found) == (told is not None)
    if told is not None:
        with pytest.warns(gp.GraphPartWarning, match=told):
            gp.SetPartition.from_frame({"a": left, "b": right, "s": [0.9] * 3}, "a", "b", weight="s")
    if "007" in right and told is not None:
        with pytest.warns(gp.GraphPartWarning, match="7 beside '007'"):
            gp.read(table, left="a", right="b", weight="s")


@pytest.mark.parametrize("kind", [dict, pd.DataFrame])
def test_whole_numbers_beside_floats_are_whole_numbers(kind):
    """A column of integers with a missing value is one of floats in pandas."""
    p = gp.SetPartition.from_frame(
        kind({"a": [3, 2, 1], "b": [2.0, 1.0, 4.0], "s": [1.0, 1.0, 1.0]}), "a", "b", weight="s"
    )
    assert [(type(name), name) for name in p.nodes] == [(int, 1), (int, 2), (int, 3), (int, 4)]
    p = gp.SetPartition.from_frame(
        kind({"a": [3, 2, 1], "b": [2.5, 1.0, 4.0], "s": [1.0, 1.0, 1.0]}), "a", "b", weight="s"
    )
    assert 2.5 in list(p.nodes) and p.n == 5


class TestSigns:
    def network(self, seed, sign, clusters=3, wrong=0.05):
        rng = np.random.default_rng(seed)
        labels = rng.integers(0, clusters, 60)
        u, v = np.triu_indices(60, 1)
        kept = rng.random(len(u)) < 0.4
        u, v = u[kept], v[kept]
        friends = (labels[u] == labels[v]) ^ (rng.random(len(u)) < wrong)
        return gp.SetPartition.from_pairs(60, (u, v), sign * np.where(friends, -1.0, 1.0), dense=bool(seed % 2))

    @pytest.fixture(params=[250, 55], ids=["all pairs", "some pairs"])
    def counted(self, request, monkeypatch):
        monkeypatch.setattr(turned_signs, "MOST_ELEMENTS", request.param)
        monkeypatch.setattr(turned_signs, "MOST_PAIRS", 12 * request.param)

    @pytest.mark.parametrize("seed", range(4))
    def test_friends_that_repel(self, counted, seed):
        with pytest.warns(gp.GraphPartWarning, match="with the opposite sign they do"):
            gp.solve(self.network(seed, -1), "greedy-joining")

    def test_friends_that_repel_in_one_cluster(self):
        G = nx.Graph()
        p = self.network(1, -1, clusters=9)
        G.add_edges_from((a, b, {"tie": c}) for a, b, c in zip(*(x.tolist() for x in p.pairs()), strict=True))
        with pytest.warns(gp.GraphPartWarning, match=r"a negative cost joins a pair.*as similarity with a threshold"):
            assert gp.solve(gp.SetPartition(G, cost="tie")).n_clusters == 1

    def test_an_attribute_called_sign(self):
        G = nx.Graph([("a", "b", {"sign": 1}), ("b", "c", {"sign": -1})])
        with pytest.warns(gp.GraphPartWarning, match="attribute 'sign' is read as a cost, so large values keep"):
            gp.SetPartition(G, cost="sign")

    def test_few_of_many_pairs_suit_the_given_sign(self):
        rng = np.random.default_rng(0)
        u, v = np.triu_indices(180, 1)
        kept = rng.random(len(u)) < 0.12
        u, v = u[kept], v[kept]
        friends = (u % 6 == v % 6) ^ (rng.random(len(u)) < 0.07)
        with pytest.warns(gp.GraphPartWarning, match="with the opposite sign they do"):
            turned_signs.check_sign(gp.SetPartition.from_pairs(180, (u, v), np.where(friends, 1.0, -1.0)))

    @pytest.mark.filterwarnings("error")
    @pytest.mark.parametrize("seed", range(4))
    def test_what_is_no_reason_for_a_warning(self, counted, seed):
        gp.solve(self.network(seed, 1), "greedy-joining")
        gp.solve(self.network(seed, 1, wrong=0.5), "greedy-joining")  # signs by chance
        gp.solve(self.network(seed, 1, clusters=1), "greedy-joining")
        costs = np.random.default_rng(seed).normal(size=(40, 40))
        gp.solve(gp.SetPartition.from_matrix(costs + costs.T), "greedy-joining")
        gp.solve(gp.SetPartition.from_modularity(nx.bipartite.random_graph(20, 30, 0.2, seed=seed)), "greedy-joining")

    def scores(self, clusters, size, share, kind, right):
        rng = np.random.default_rng(1)
        truth = np.repeat(np.arange(clusters), size)
        u, v = np.triu_indices(len(truth), 1)
        kept = rng.random(len(u)) < share
        u, v = u[kept], v[kept]
        near = np.where(truth[u] == truth[v], rng.uniform(0.7, 0.95, len(u)), rng.uniform(0.05, 0.3, len(u)))
        score = near if right else 1 - near
        options = {"similarity": {"threshold": 0.5}}.get(kind, {})
        score = {"cost": 0.5 - score, "weight": score - 0.5}.get(kind, score)
        return gp.SetPartition.from_frame({"a": u, "b": v, "s": score}, "a", "b", **{kind: "s"}, **options)

    @pytest.mark.parametrize("kind", ["probability", "similarity", "weight", "cost"])
    @pytest.mark.parametrize(("clusters", "size", "share"), [(8, 6, 1.0), (20, 10, 1.0), (100, 10, 0.1)])
    def test_tables_of_scores(self, kind, clusters, size, share):
        turned_signs.check_sign(self.scores(clusters, size, share, kind, right=True))  # warnings are errors in tests
        with pytest.warns(gp.GraphPartWarning, match="with the opposite sign they do: a .* joins a pair"):
            turned_signs.check_sign(self.scores(clusters, size, share, kind, right=False))

    def large_table(self, share, turned, noise=0.0):
        """12,000 records in clusters of 3.5 and 50,000 rows; a part of the pairs within clusters is listed."""
        rng = np.random.default_rng(0)
        truth = np.repeat(np.arange(3400), 1 + rng.poisson(2.53, 3400))
        places = np.concatenate([np.flatnonzero(truth[k:] == truth[: len(truth) - k]) + 1j * k for k in range(1, 14)])
        u = places.real.astype(int)
        within = np.stack([u, u + places.imag.astype(int)])[:, rng.random(len(u)) < share]
        others = rng.integers(len(truth), size=(2, 50_000 - within.shape[1]))
        u, v = np.unique(np.sort(np.hstack([within, others[:, others[0] != others[1]]]), axis=0), axis=1)
        same = (truth[u] == truth[v]) ^ (rng.random(len(u)) < noise)
        score = np.where(same, rng.beta(6, 1.5, len(u)), rng.beta(1.5, 6, len(u))).clip(0.01, 0.99)
        return {"left": u, "right": v, "score": 1 - score if turned else score}

    @pytest.mark.parametrize("missing", [None, 0.0])
    @pytest.mark.parametrize(("share", "noise"), [(1.0, 0.0), (1.0, 0.15), (0.5, 0.1)])
    def test_tables_of_many_small_clusters(self, share, noise, missing):
        for turned in (False, True):
            table = self.large_table(share, turned, noise)
            p = gp.SetPartition.from_frame(table, "left", "right", probability="score", missing=missing)
            assert turned_signs.by_triangles(p) == turned
        with pytest.warns(gp.GraphPartWarning, match=r"joins .* give 1 - p, .* frame\['score'\] = 1 - frame\['s"):
            turned_signs.check_sign(p)

    def test_dense_blocks_of_candidates_beside_sure_pairs(self):
        """All pairs of a block repel, and pairs of two attract across blocks: alone, they say nothing of the sign."""
        u, v = np.triu_indices(6, 1)
        blocks = np.concatenate([np.stack([u, v], 1) + 6 * k for k in range(50)])
        for step in (7, 13, 90):
            two = np.stack([np.arange(150), (np.arange(150) + step) % 150 + 150], 1)
            pairs, costs = np.concatenate([blocks, two]), np.repeat([1.0, -1.0], [len(blocks), len(two)])
            for some in (1, 2):  # of half as many blocks, a third of the pairs attracts
                kept = np.append(np.arange(len(blocks)) % some == 0, np.ones(len(two), bool))
                assert not turned_signs.by_triangles(gp.SetPartition.from_pairs(300, pairs[kept], costs[kept]))

    def test_triangles_of_few_pairs_are_chance(self):
        """Of costs without clusters, some 3% had more triangles of pairs that repel."""
        for seed in range(200):
            rng = np.random.default_rng(seed)
            m = (40, 60, 100)[seed % 3]
            pairs = np.sort(rng.integers(0, m // 2, (2 * m, 2)), axis=1)
            pairs = np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)
            pairs = pairs[rng.permutation(len(pairs))[:m]]
            p = gp.SetPartition.from_pairs(m // 2, pairs, rng.normal(size=len(pairs)))
            assert not turned_signs.by_triangles(p), f"seed {seed}"

    def test_common_neighbours(self):
        rng = np.random.default_rng(0)
        for n, hubs in ((5, 0), (12, 0), (30, 0), (90, 2), (90, 90)):  # the rows of hubs are long
            u, v = np.triu_indices(n, 1)
            kept = rng.random(len(u)) < np.where((u < hubs // 2) | (v >= n - hubs // 2), 0.6, 2 / n)
            rows = _pairs.adjacency(n, u[kept].astype(np.int32), v[kept].astype(np.int32))
            matrix = np.zeros((n, n), int)
            matrix[u[kept], v[kept]] = matrix[v[kept], u[kept]] = 1
            found = with_common(u.astype(np.int32), v.astype(np.int32), rows.starts, rows.neighbours)
            assert found.tolist() == ((matrix @ matrix)[u, v] > 0).tolist()

    @pytest.mark.parametrize("n", [15, 24])
    def test_few_distances_as_similarities(self, n):
        for seed in range(10):
            rng = np.random.default_rng(seed)
            points = rng.normal(size=(n, 3)) + 4 * rng.integers(0, 3, n)[:, None]
            distances = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
            with pytest.warns(gp.GraphPartWarning, match="look like distances"):
                gp.SetPartition.from_similarity(distances)
            gp.SetPartition.from_similarity(-distances)
            noise = rng.random((n, n))
            gp.SetPartition.from_similarity(noise + noise.T)

    @pytest.mark.filterwarnings("error")
    def test_shipped_instances(self):
        for path in sorted((Path(__file__).parents[3] / "instances").glob("*")):
            if path.suffix != ".md" and path.is_file() and not path.name.startswith("manifest"):
                p = gp.read(path) if path.suffix != ".py" else None
                if isinstance(p, gp.SetPartition):
                    turned_signs.check_sign(p)

    def test_shares(self):
        u, v = np.triu_indices(4, 1)
        costs = np.array([-2.0, 1.0, 1.0, 1.0, 1.0, -2.0])
        assert turned_signs.share_of(4, u, v, costs) == 1.0
        assert turned_signs.share_of(4, u, v, -costs) == 0.5 + 0.25  # one side of a square together, and its opposite
        assert turned_signs.suited(4, u, v, costs) == 1.0
        assert turned_signs.suited(4, u, v, -costs) == 0.5
        assert turned_signs.deviation(3.0, [0.0, 2.0]) == 2.0

    @pytest.mark.parametrize("noise", [0.1, 0.15, 0.2])
    @pytest.mark.parametrize("seed", range(2))
    def test_noisy_networks(self, noise, seed):
        """Five camps; greedy joining alone sees clusters up to 5 or 10% wrong signs."""
        rng = np.random.default_rng(seed)
        camp = rng.choice(5, 600, p=[0.4, 0.25, 0.2, 0.1, 0.05])
        pairs = np.unique(np.sort(rng.integers(600, size=(5000, 2)), axis=1), axis=0)
        u, v = pairs[pairs[:, 0] < pairs[:, 1]].T
        friends = (camp[u] == camp[v]) ^ (rng.random(len(u)) < noise)
        turned_signs.check_sign(gp.SetPartition.from_pairs(600, (u, v), np.where(friends, -1.0, 1.0)))
        with pytest.warns(gp.GraphPartWarning, match="with the opposite sign they do"):
            turned_signs.check_sign(gp.SetPartition.from_pairs(600, (u, v), np.where(friends, 1.0, -1.0)))

    @pytest.mark.parametrize("seed", range(2))
    def test_lifted_pairs(self, seed):
        """A grid of segments, and pairs at a distance, of which one of five has the wrong sign; both turned."""
        rng = np.random.default_rng(seed)
        side, centres = 30, rng.random((9, 2)) * 30
        place = np.stack(np.divmod(np.arange(side**2), side), 1)
        label = ((place[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        u, v = np.triu_indices(side**2, 1)
        far = np.abs(place[u] - place[v]).sum(axis=1)
        kept = (far == 1) | ((far > 2) & (far < 12) & (rng.random(len(u)) < 0.03))
        u, v, far = u[kept], v[kept], far[kept]
        cost = rng.normal(np.where(label[u] == label[v], -0.5, 0.5), np.where(far == 1, 0.4, 0.6))
        base, lifted = far == 1, far > 1
        for sign in (1, -1):
            p = gp.SetPartition.from_pairs(
                side**2, (u[base], v[base]), sign * cost[base], lifted=((u[lifted], v[lifted]), sign * cost[lifted])
            )
            if sign == 1:
                turned_signs.check_sign(p)
            else:
                with pytest.warns(gp.GraphPartWarning, match="with the opposite sign they do"):
                    turned_signs.check_sign(p)

    @pytest.mark.parametrize("n", [6, 30, 90])
    def test_extreme_eigenvalues(self, n):
        rng = np.random.default_rng(n)
        u, v = np.triu_indices(n, 1)
        kept = rng.random(len(u)) < 0.5
        u, v = u[kept].astype(np.int32), v[kept].astype(np.int32)
        costs, lifted = rng.normal(size=len(u)), rng.random(len(u)) < 0.3
        centred = costs.copy()
        for some in (lifted, ~lifted):
            centred[some] -= costs[some].mean()
        matrix, pairs = np.zeros((n, n)), np.bincount(np.concatenate([u, v]), minlength=n)
        matrix[u, v] = matrix[v, u] = centred / np.sqrt(pairs[u] * pairs[v] * (centred**2).mean())
        found = np.linalg.eigvalsh(matrix)
        for scale in (1.0, 1e300, 1e-300):
            low, high, x = turned_signs.extremes(n, u, v, scale * costs, lifted)
            assert np.abs(matrix @ x - found[-1] * x).max() < 0.1 and np.linalg.norm(x) == pytest.approx(1.0)
            assert low == pytest.approx(found[0], abs=0.01) and high == pytest.approx(found[-1], abs=0.01)
        assert turned_signs.extremes(n, u, v, np.ones(len(u)), lifted)[:2] == pytest.approx((0, 0), abs=1e-9)

    def test_random_costs_of_few_elements(self):
        """The largest eigenvalue of random costs varies more than nine shuffles tell."""
        for seed in range(60):
            rng = np.random.default_rng(seed)
            n = int(rng.integers(11, 60))
            u, v = np.triu_indices(n, 1)
            turned_signs.check_sign(gp.SetPartition.from_pairs(n, (u, v), rng.normal(size=len(u)), dense=False))

    @pytest.mark.parametrize("sources", [2, 3])
    @pytest.mark.parametrize("others", [0.2, 3, 20])
    def test_records_of_several_sources(self, sources, others):
        """Records of one source repel each other, as turned camps do, and those of one person attract each other."""
        for seed in range(4):
            rng = np.random.default_rng(seed)
            n = 150 * sources
            u, v = rng.integers(n, size=(2, int(others * n)))  # records of several sources, and of one
            first, second = rng.integers(n, size=(2, 4 * n))
            same = np.stack([first, first // 150 * 150 + second % 150])
            person = np.concatenate(
                [np.stack([np.arange(150) + 150 * k for k in ends]) for ends in combinations(range(sources), 2)], axis=1
            )
            pairs = np.concatenate([np.stack([u, v]), same, person], axis=1)
            pairs = np.unique(np.sort(pairs[:, pairs[0] != pairs[1]], axis=0), axis=1)
            source, who = pairs // 150, pairs % 150
            costs = np.where(source[0] == source[1], 2.0, np.where(who[0] == who[1], -2.0, 0.5))
            turned_signs.check_sign(gp.SetPartition.from_pairs(n, pairs.T, costs + rng.normal(0, 0.5, len(costs))))

    def test_a_part_of_random_costs_suits_neither_sign(self):
        rng = np.random.default_rng(0)
        pairs = rng.integers(10_000, size=(25_000, 2))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        turned_signs.check_sign(gp.SetPartition.from_pairs(10_000, pairs, rng.standard_normal(len(pairs))))

    @pytest.mark.parametrize("dense", [True, False])
    def test_part_of_a_large_problem(self, counted, dense):
        rng = np.random.default_rng(0)
        u, v = np.triu_indices(60, 1)
        costs = rng.choice([-1.0, 0.0, 2.0, np.inf], len(u))
        p = gp.SetPartition.from_pairs(60, (u, v), costs, dense=dense)
        n, a, b, some, _ = turned_signs.part_of(p)
        assert np.isfinite(some).all() and some.all() and n <= 60 and (a != b).all() and max(a.max(), b.max()) < n
        if n == 60:
            assert len(some) == np.count_nonzero(np.isfinite(costs) & (costs != 0))
            matrix = np.zeros((60, 60))
            matrix[u, v] = matrix[v, u] = costs
            assert (matrix[a, b] == some).all()


def test_signs_that_modularity_does_not_read():
    G = nx.Graph()
    G.add_edge("a", "b", sign=1)
    G.add_edge("b", "c", sign=-1)
    with pytest.warns(gp.GraphPartWarning, match=r"'sign' of edges is not read.*weight='sign' reads it"):
        gp.SetPartition.from_modularity(G)
    gp.SetPartition.from_modularity(G, weight="sign")
    G.edges["b", "c"]["sign"] = 1  # warnings are errors in tests
    gp.SetPartition.from_modularity(G)


def test_smallest_sizes_are_not_offered_largest_ones(capsys):
    p = gp.SetPartition.from_pairs(3, [(0, 1)], [-1.0])
    for call in (lambda: gp.solve(p, min_size=2), lambda: p.require(min_cluster_size=2)):
        with pytest.raises(gp.InvalidOption, match=r"takes no min.*no smallest size.*n_clusters=\(1, m"):
            call()
    assert main(["solve", "none.csv", "--min-size", "3"]) == 2
    assert "clusters have no smallest size here; limit their number instead, by --clusters" in capsys.readouterr().err


@pytest.mark.parametrize("large", [1e16, 1e18, -1e18, 1e300])
def test_one_cost_above_all_others_is_no_reason_to_warn(large):
    costs = np.random.default_rng(0).choice([-1.0, 1.0], 66)
    costs[0] = large  # the others were lost in the sum, and a share was divided by 0
    p = gp.SetPartition.from_pairs(12, np.triu_indices(12, 1), costs)
    r = gp.solve(p)
    assert r.status == "optimal" and (r.labels[0] == r.labels[1]) == (large < 0)


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array])
def test_a_diagonal_of_different_entries_is_ignored_with_a_word(kind):
    matrix = np.array([[1.0, -1.0, 2.0], [-1.0, 1.0, 3.0], [2.0, 3.0, 1.0]])
    one = gp.SetPartition.from_matrix(kind(matrix))  # without a warning, as of similarities with each other
    with pytest.warns(gp.GraphPartWarning, match=r"diagonal of the matrix is ignored.* from 7 to 9, larger"):
        other = gp.SetPartition.from_matrix(kind(matrix + np.diag([6.0, 7.0, 8.0])))
    gp.SetPartition.from_matrix(kind(matrix + np.diag([0.0, 0.5, 1.0])))
    assert other.evaluate([0, 0, 0]) == one.evaluate([0, 0, 0]) == 4.0


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array])
def test_a_matrix_of_correlations_is_no_matrix_of_costs(kind):
    values = np.random.default_rng(0).normal(size=(12, 5))
    matrix = np.corrcoef(values)
    with pytest.warns(gp.GraphPartWarning, match=r"diagonal of the matrix is 1 and none is larger, as in .*similar"):
        gp.SetPartition.from_matrix(kind(matrix))
    gp.SetPartition.from_matrix(kind(-matrix))  # without a warning
    gp.SetPartition.from_matrix(kind(matrix - np.diag(np.diag(matrix))))


def test_costs_of_pairs_that_cancel_each_other_are_named():
    """As those of a table with a row for each direction of a flow."""
    told = (
        r"pair 2 is \(2, 1\), as pair 1 is, the other way round, with costs 3 and -3: .* those of 2 pairs add up to 0"
    )
    with pytest.warns(gp.GraphPartWarning, match=told):
        p = gp.SetPartition.from_pairs(4, [(0, 3), (1, 2), (2, 1), (0, 1), (1, 0)], [-2.0, 3.0, -3.0, 1.0, -1.0])
    assert p.evaluate([0, 0, 0, 0]) == -2.0
    gp.SetPartition.from_pairs(3, [(0, 1), (1, 0), (1, 2), (0, 2)], [1.0, -1.0, 1.0, 2.0])  # one by chance
    gp.SetPartition.from_pairs(3, [(0, 1), (1, 0)], [-1.0, -1.0])  # which add up, as documented


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["x", "x ", "y"], "'x' and 'x ', which differ in spaces only"),
        (["Ann", "bob", "ann"], "'Ann' and 'ann', which differ in capitals only"),
        (
            ["Ann ", "bob", "ann"],
            "which differ in capitals and spaces only and are two elements: if they mean one, make "
            "them equal, such as by frame[['left', 'right']].apply(lambda column: column.str.casefold().str.strip())",
        ),
        (["Ann", "Bob ", "ann b"], None),
    ],
)
def test_names_that_are_nearly_the_same_are_warned_of(names, told):
    frame = {"left": names, "right": ["a", "a", "a"], "p": [0.9, 0.8, 0.7]}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        p = gp.SetPartition.from_frame(frame, "left", "right", probability="p")
    assert p.n == 4
    assert [told in str(one.message) for one in caught] == ([] if told is None else [True])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"similarity": "s", "threshold": 0.95}, r"similarities are below the threshold 0\.95 \(the largest is 0\.8\)"),
        ({"similarity": "s", "threshold": 0.1}, r"similarities are above the threshold 0\.1 \(the smallest is 0\.6\)"),
        ({"probability": "s", "threshold": 0.9}, r"all probabilities are below .* \(the largest is 0\.8\), so nothing"),
    ],
)
def test_scores_on_one_side_of_their_threshold_are_called_by_their_name(given, told):
    frame = {"a": ["x", "y", "z"], "b": ["y", "z", "x"], "s": [0.7, 0.8, 0.6]}
    p = gp.SetPartition.from_frame(frame, "a", "b", **given)
    with pytest.warns(gp.GraphPartWarning, match=told):
        gp.solve(p)


def test_equal_elements_are_one_cluster_where_the_threshold_is_chosen():
    assert gp.solve(gp.SetPartition.from_embeddings(np.ones((12, 3)))).n_clusters == 1
    assert gp.solve(gp.SetPartition.from_similarity(np.ones((12, 12)))).n_clusters == 1
    assert gp.near_duplicates(["a b c"] * 10).n_clusters == 1


@pytest.mark.parametrize("max_size", [None, 8])
def test_guests_whose_sign_is_wrong_are_warned_of_with_a_largest_size_too(max_size):
    rng = np.random.default_rng(0)
    family = np.arange(60) // 4
    likes = {(a, b): 5.0 for a in range(60) for b in range(a + 1, 60) if family[a] == family[b]}
    for value, least in ((1.0, 150), (-3.0, 270)):  # guests of one circle like each other, rivals are anywhere
        while len(likes) < least:
            a, b = sorted(rng.integers(0, 60, 2).tolist())
            if a != b and (value < 0 or a // 12 == b // 12):
                likes.setdefault((a, b), value)
    table = {"a": [a for a, _ in likes], "b": [b for _, b in likes], "likes": list(likes.values())}
    limits = {} if max_size is None else {"max_size": max_size}
    gp.solve(gp.SetPartition.from_frame(table, "a", "b", weight="likes", **limits), "greedy-joining")
    with pytest.warns(gp.GraphPartWarning, match="with the opposite sign they do"):
        gp.solve(gp.SetPartition.from_frame(table, "a", "b", cost="likes", **limits), "greedy-joining")
