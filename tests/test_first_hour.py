"""What a new user meets: warnings of numbers that probably mean something else, and messages that say what to call."""

import subprocess
import sys
import warnings

import networkx as nx
import numpy as np
import pytest

import graphpart as gp
from graphpart.cli import main

SILENT = "error::graphpart.GraphPartWarning"


def graph(attribute, values):
    G = nx.Graph()
    G.add_edges_from((k, k + 1, {attribute: value}) for k, value in enumerate(values))
    return G


class TestWarnings:
    @pytest.mark.parametrize("name", ["weight", "similarity", "Score", "match_probability", "simScore", "edge-weight"])
    def test_an_attribute_that_is_called_otherwise_is_read_as_a_cost(self, name):
        with pytest.warns(gp.GraphPartWarning, match=f"attribute '{name}' is read as a cost.*from_similarity"):
            gp.SetPartition(graph(name, [-1.0, 2.0, 1.0]), cost=name)
        rows = {"a": [1, 2], "b": [2, 3], name: [1.0, -1.0]}
        with pytest.warns(gp.GraphPartWarning, match=f"column '{name}' is read as a cost.*similarity="):
            gp.SetPartition.from_frame(rows, "a", "b", cost=name)

    @pytest.mark.filterwarnings(SILENT)
    @pytest.mark.parametrize("name", ["cost", "costs", "distance", "c", "overweighted", "simple"])
    def test_other_names_mean_nothing(self, name):
        gp.SetPartition(graph(name, [-1.0, 2.0, 1.0]), cost=name)

    def test_costs_of_one_sign(self):
        with pytest.warns(gp.GraphPartWarning, match=r"all 3 costs other than 0 are positive.*nothing joins"):
            assert gp.solve(graph("cost", [1.0, 2.0, 3.0])).n_clusters == 4
        with pytest.warns(gp.GraphPartWarning, match=r"all 3 costs other than 0 are negative.*joins"):
            gp.solve(gp.SetPartition.from_matrix(-np.ones((3, 3))))
        limited = gp.SetPartition.from_matrix(-np.ones((3, 3)))
        assert (
            gp.solve(limited, max_size=2).n_clusters == gp.solve(limited, apart=[(0, 1)]).n_clusters == 2
        )  # no warning
        with pytest.raises(gp.InvalidOption, match=r"from_similarity\(G, 'sign', threshold=...\)"):
            gp.SetPartition(graph("sign", [1.0, -1.0, 1.0]), weight="sign")
        with pytest.warns(
            gp.GraphPartWarning, match=r"all costs lie in \[0, 1\], as similarities and probabilities do"
        ):
            gp.solve(gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3)], [0.9, 0.2, 0.5]))

    @pytest.mark.filterwarnings(SILENT)
    def test_what_is_no_reason_for_a_warning(self):
        gp.solve(graph("cost", [1.0, 2.0, -3.0]))
        gp.solve(graph("cost", [1.0, 2.0]))  # two costs may well have one sign
        gp.solve(graph("cost", [0.0, 0.0, 0.0, 0.0]))
        gp.solve(gp.SetPartition.from_pairs(0, [], []))
        gp.solve(gp.SetPartition.from_matrix([[0.0, -2.0, 1.0], [-2.0, 0.0, 0.5], [1.0, 0.5, 0.0]]))
        gp.partition.greedy_joining(graph("cost", [1.0, 2.0, 3.0]))  # a method by itself asks nothing

    def test_infinite_costs_of_log_odds(self):
        rng = np.random.default_rng(0)
        p = np.round(rng.random(2000), 2)
        p[:30] = 1.0
        with np.errstate(divide="ignore"):
            costs = np.log((1 - p) / p)
        u = np.arange(2000)
        message = r"of 2000 costs are infinite.*costs_from_probabilities clips"
        with pytest.warns(gp.GraphPartWarning, match=message):
            gp.SetPartition.from_pairs(4000, (u, u + 2000), costs)
        with pytest.warns(gp.GraphPartWarning, match=message):
            gp.SetPartition.from_frame({"a": u, "b": u + 2000, "c": costs}, "a", "b", cost="c")
        G = nx.Graph()
        G.add_weighted_edges_from(((k, k + 2000, c) for k, c in enumerate(costs.tolist())), "cost")
        with pytest.warns(gp.GraphPartWarning, match=message):
            gp.SetPartition(G)
        P = np.round(rng.random((60, 60)), 1)
        P = np.triu(P, 1) + np.triu(P, 1).T
        with np.errstate(divide="ignore"):
            C = np.log((1 - P) / P)
        joins, cuts = int((-np.inf == C).sum()) // 2, int((np.inf == C).sum() - 60) // 2
        assert joins and cuts
        C[-np.inf == C] = 0.0  # random joins would contradict the cuts
        with pytest.warns(
            gp.GraphPartWarning, match=f"{cuts} of 1770 costs are infinite.*0 pairs together and {cuts} "
        ):
            gp.SetPartition.from_matrix(C)

    @pytest.mark.filterwarnings(SILENT)
    def test_requirements_that_are_meant(self, tmp_path):
        u = np.arange(2000)
        costs = np.where(u % 2, -0.5, 0.25)
        pairs = [(int(a), int(a) + 2000) for a in u[:100]]
        p = gp.SetPartition.from_pairs(4000, (u, u + 2000), costs, must_cut=pairs)  # given as such
        gp.write(p, tmp_path / "p.npz")
        gp.read(tmp_path / "p.npz")
        gp.SetPartition.from_pairs(4000, (u, u + 2000), np.where(u < 100, np.inf, np.sign(costs)))  # not log-odds
        few = costs.copy()
        few[:9] = np.inf
        gp.SetPartition.from_pairs(4000, (u, u + 2000), few)

    def test_they_point_to_the_line_of_the_user(self):
        with pytest.warns(gp.GraphPartWarning) as caught:
            gp.solve(graph("cost", [1.0, 2.0, 3.0]))
        assert caught[0].filename == __file__

    def test_the_command_line_says_them_in_one_line(self, tmp_path, capsys):
        file = tmp_path / "p.csv"
        file.write_text("u,v,cost\n1,2,0.5\n2,3,0.25\n3,1,0.9\n")
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # the command line has filters of its own
            assert main(["solve", str(file)]) == 0
            err = capsys.readouterr().err
            assert err.startswith(f"graphpart: warning: {file}: all costs lie in [0, 1]") and err.count("\n") == 1
            for quiet in ("-q", "--quiet"):
                assert main(["solve", quiet, str(file)]) == 0
                assert capsys.readouterr().err == ""
            assert main(["bench", str(tmp_path), "--method", "greedy-joining"]) == 0
            assert "warning" not in capsys.readouterr().err

    def test_estimators_with_given_costs(self):
        estimators = pytest.importorskip("graphpart.estimators")
        C = np.full((4, 4), 0.5)
        with pytest.warns(gp.GraphPartWarning, match="lie in"):
            estimators.CorrelationClustering("precomputed", kind="cost").fit(C)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            estimators.CorrelationClustering(threshold=0.1).fit([[0.0], [1.0], [2.0], [3.0]])


class TestMessages:
    @pytest.mark.parametrize(
        ("call", "message"),
        [
            ("gp.crf.potts((3, 3), truncation=2)", r"FactorGraph.pairwise\(unary=costs, pairwise=weight \* np.minimum"),
            (
                "gp.solve(gp.crf.potts(unary=[[[0, 1]]], weight=1)).plot(cmap='gray')",
                r"plot takes no cmap.*imshow\(result.to_array\(\), cmap='gray'\)",
            ),
            ("gp.solve(G, threads=1)", "takes no threads: the environment variable GRAPHPART_THREADS says how many"),
            ("gp.solve(G, timelimit=3)", "method auto takes no timelimit: .* did you mean 'time_limit'"),
            ("gp.solve(G, weight='w')", r"weight belongs to the problem: expected SetPartition.from_similarity\(G"),
            ("gp.solve(G, cost='sign')", r"cost belongs to the problem: .*from_similarity.* if large weights join"),
            ("gp.solve(G, missing=0.5)", r"missing belongs to the problem: .*SetPartition\(G, missing=...\)"),
            ("gp.solve(p, missing=0.5)", r"missing belongs to the problem: .*from_frame\(..., missing=...\)"),
            ("gp.SetPartition(G, weight='w')", r"SetPartition takes no weight: expected SetPartition.from_similarity"),
            ("gp.SetPartition.from_frame({}, 'a', 'b', score='s')", "takes no score: .* or probability"),
            (
                "gp.SetPartition.from_frame({}, 'a', 'b', distance='d')",
                r"takes no distance: expected the column of values as one of cost .* a threshold is subtracted$",
            ),
            ("gp.SetPartition.from_embeddings([[1.0]], k=3)", "takes no k: .*did you mean 'n_neighbors'"),
            ("p.require(together=(0, 1))", r"together is one pair: expected a list of pairs, such as \[\(0, 1\)\]"),
            ("p.require(join=[(0, 1)])", "require takes no join: .*did you mean 'together'"),
            ("gp.partition.exact(p, timeout=3)", "exact takes no timeout: .*did you mean 'time_limit'"),
            ("gp.partition.extend(p, [0, 0, 1], frozen=True)", "takes no frozen"),
            ("gp.partition.doubts(p, [0, 0, 1], time=3)", "did you mean 'time_limit'"),
            ("gp.crf.marginals(gp.FactorGraph(), timelimit=3)", "did you mean 'time_limit'"),
            ("gp.FactorGraph().add_variable('y', labels=3)", "did you mean 'domain'"),
            ("gp.read('pairs.csv', lef='a')", "a table of pairs takes no lef: .*did you mean 'left'"),
            ("gp.report(p, gp.solve(p), 'x.html', doubt=False)", "did you mean 'doubts'"),
            (
                "gp.write_labels('x.csv', gp.solve(p))",
                r"^labels is the path 'x.csv': expected write_labels",
            ),
            ("gp.report(p, gp.solve(p), 'nodir/x.html')", "^nodir: No such file or directory"),
            ("gp.metrics.compare([0, 1, 2], [0, 1])", "the truth has 3 labels, the partition 2: expected one for each"),
            ("gp.metrics.compare(gp.solve(p), gp.solve(gp.SetPartition.from_pairs(2, [], [])))", "3 labels"),
        ],
    )
    def test_an_argument_that_is_not_there(self, call, message):
        names = {"gp": gp, "G": graph("cost", [1.0, -1.0])}
        names["p"] = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [1.0, -1.0])
        with pytest.raises(gp.GraphPartError, match=message) as caught:
            eval(call, names)
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("plotting.plot", r"did you mean plot\(\) of a problem"),
            ("SetPartition.from_graph", r"SetPartition has no .*; did you mean SetPartition\(G, cost"),
            ("SetPartition.from_matrx", "did you mean 'from_matrix'"),
            ("LearnedPartition", "did you mean estimators.LearnedPartition"),
            ("estimators.ChainCRF().predict_proba", "ChainCRF has no .*; did you mean predict_marginals"),
            ("SetPartition.marginals", "no attribute 'marginals'$"),  # those of factor graphs are not there
            ("solv", "module 'graphpart' has no .*; did you mean 'solve'"),
            ("doubts", "module 'graphpart' has no attribute 'doubts'; did you mean partition.doubts"),
        ],
    )
    def test_an_attribute_that_is_not_there(self, name, message):
        if "estimators" in name:
            pytest.importorskip("sklearn")
        with pytest.raises(AttributeError, match=message):
            eval(f"gp.{name}", {"gp": gp})

    def test_another_name_of_a_method_is_said(self):
        r = gp.solve(graph("cost", [1.0, -1.0]), "GAEC")
        assert r.method == "greedy-joining" and r.message.endswith("; GAEC is greedy-joining here")
        assert "here" not in gp.solve(graph("cost", [1.0, -1.0]), "Greedy_Joining").message

    def test_a_graph_with_weights_says_what_to_call(self):
        message = (
            r"attribute 'cost' of edge \(0, 1\) is missing: expected a number; edges have 'weight': "
            r"SetPartition.from_similarity\(G, 'weight', threshold=...\) if large values join, "
            r"SetPartition\(G, cost='weight'\) if they keep apart"
        )
        with pytest.raises(gp.InvalidProblem, match=message):
            gp.solve(graph("weight", [0.5, 1.0]))

    def test_a_wrong_attribute_lists_those_present(self):
        G = graph("cost", [1.0, -1.0])
        G.edges[1, 2]["colour"] = "red"
        with pytest.raises(gp.InvalidProblem, match=r"'price' of edge .* is missing.*edges have 'cost', 'colour'"):
            gp.SetPartition(G, cost="price")
        with pytest.raises(gp.InvalidProblem, match=r"is missing.*; edges have no attributes"):
            gp.SetPartition(nx.path_graph(3))

    def test_generated_instances_are_solved(self):
        instance = gp.generate.planted_partition(20, 3, sigma=0.1, seed=1)
        assert gp.solve(instance).cost == gp.solve(instance.problem).cost
        assert gp.partition.greedy_joining(instance).cost <= 0
        chain = gp.generate.factor_chain(10, seed=1)
        assert gp.solve(chain).cost == gp.solve(chain.problem).cost

    def test_other_things_are_told_their_constructor(self):
        with pytest.raises(gp.InvalidProblem, match=r"got ndarray: .*from_similarity\(S\) if .*from_matrix\(costs\)"):
            gp.solve(np.zeros((2, 2)))
        sparse = pytest.importorskip("scipy.sparse")
        with pytest.raises(gp.InvalidProblem, match=r"got coo_array: .* or SetPartition.from_scipy"):
            gp.solve(sparse.coo_array((2, 2)))
        pd = pytest.importorskip("pandas")
        with pytest.raises(gp.InvalidProblem, match=r"got DataFrame: .* or SetPartition.from_frame"):
            gp.solve(pd.DataFrame({"a": [1]}))
        with pytest.raises(gp.InvalidProblem, match=r"dtype .*: expected integers, .*see SetPartition.from_frame"):
            gp.SetPartition.from_pairs(2, [("ann", "bob")], [1.0])

    def test_an_empty_table_is_called_empty(self, tmp_path, capsys):
        for content in ("", "\n\n"):
            (tmp_path / "empty.csv").write_text(content)
            with pytest.raises(gp.FormatError, match="the file is empty: expected the header u,v,cost"):
                gp.read(tmp_path / "empty.csv")
        (tmp_path / "other.csv").write_text("id1,id2,score\na,b,0.5\n")
        with pytest.raises(gp.FormatError, match=r"found 'id1,id2,score'.*gp.read\(path, left=.*probability=...\)"):
            gp.read(tmp_path / "other.csv")
        assert gp.read(tmp_path / "other.csv", probability="score").nodes == ["a", "b"]
        assert main(["solve", str(tmp_path / "other.csv")]) == 1
        error = capsys.readouterr().err
        assert "name its columns: --left, --right, and --probability" in error and "gp." not in error

    def test_parts_of_the_package_load_on_first_use(self):
        code = (
            "import sys, graphpart as gp\n"
            "lazy = ['crf', 'estimators', 'generate', 'learn', 'metrics', 'plotting', 'testing', 'cli']\n"
            "assert not [name for name in lazy if 'graphpart.' + name in sys.modules]\n"
            "assert set(lazy) - {'cli'} <= set(dir(gp)) and 'FactorGraph' in dir(gp)\n"
            "assert gp.crf.auto.__name__ == 'auto' and gp.FactorGraph is gp.crf.FactorGraph\n"
            "gp.metrics, gp.plotting, gp.learn, gp.generate, gp.testing\n"
            "from graphpart import *\n"
            "from graphpart import crf\n"
            "try: gp.nothing\n"
            "except AttributeError as error: assert \"no attribute 'nothing'\" in str(error)\n"
        )
        subprocess.run([sys.executable, "-c", code], check=True)
        pytest.importorskip("sklearn")
        assert gp.estimators.CorrelationClustering


def test_what_is_no_file_or_no_number(tmp_path):
    (tmp_path / "t.xlsx").write_bytes(b"PK\3\4")
    p = gp.SetPartition.from_pairs(2, [(0, 1)], [-1.0])
    for error, call, said in (
        (gp.InvalidOption, lambda: gp.read(tmp_path), r"is a folder: expected a file; gp.solve_files\(folder\)"),
        (gp.FormatError, lambda: gp.read(tmp_path / "t.xlsx"), "workbooks are not read: expected .*pandas.read_excel"),
        (gp.InvalidProblem, lambda: gp.costs_from_probabilities([0.5, 87.0]), "of percentages, divide by 100"),
        (gp.InvalidOption, lambda: gp.solve(p, time_limit=True), "time_limit is True: expected a number"),
    ):
        with pytest.raises(error, match=said):
            call()


def test_thresholds_from_the_data_are_asked_for_by_either_word():
    pytest.importorskip("sklearn")
    points = np.array([[0.0, 1.0], [0.1, 1.0], [1.0, 0.0], [1.0, 0.1], [1.0, 0.05]])
    for threshold in (None, "auto"):
        p = gp.SetPartition.from_embeddings(points, threshold=threshold, metric="euclidean")
        c = gp.estimators.CorrelationClustering(threshold=threshold).fit(points)
        assert gp.solve(p).labels.tolist() == c.labels_.tolist() == [0, 0, 1, 1, 1]
        assert f"{c.threshold_:.4g}" == p._told["threshold"].split()[0]
        similar = gp.SetPartition.from_similarity(points @ points.T, threshold=threshold)
        assert gp.solve(similar).n_clusters == 2
        assert gp.near_duplicates(points, threshold=threshold).n_clusters == 4


def test_images_and_grids_by_place():
    unary = np.zeros((2, 12, 2))
    unary[..., 1] = 1.0
    unary[1, 2] = 0.4, 0.0
    f = gp.crf.potts(unary=unary, weight=0.1)
    r = gp.solve(f)
    d = gp.crf.doubts(f, r)
    assert "least sure: (1, 2)" in repr(d) and d.to_frame()["variable"][0] == (1, 2)
    assert "(0, 1)" in r._repr_html_()
    noisy = np.random.default_rng(0).integers(0, 2, (30, 40)).astype(float)
    with pytest.warns(gp.GraphPartWarning, match="is read as a chain of 30 variables of 40 labels"):
        gp.crf.potts(unary=noisy, weight=0.5)


def test_numbers_of_changes_and_groups_that_attract():
    G = nx.Graph()
    for a, b, c in ("abc", "def"):
        G.add_edges_from(((a, b), (b, c), (a, c)), cost=-1.0)
    old = gp.solve(G)  # no warning: there are two clusters
    new = gp.solve(G, together=[("a", "d")], apart=[("a", "b")])
    with pytest.warns(gp.GraphPartWarning, match=r"numbered otherwise.*initial=old"):
        new.changes(old)
    gp.solve(G, together=[("a", "d")], apart=[("a", "b")], initial=old).changes(old)


def test_the_first_row_of_doubts_is_their_headline():
    rows = {"x": ["d", "b", "c"], "y": ["a", "a", "b"], "p": [0.6, 0.9, 0.2]}
    p = gp.SetPartition.from_frame(rows, "x", "y", probability="p")
    d = gp.partition.doubts(p, gp.solve(p))
    first = d[0]
    assert repr((first["x"], first["y"])).strip("()").replace(", ", " and ") in repr(d)
    assert list(d.head(2)) == list(d[:2]) and d.head(2).rows == d.decisions[:2].rows == 2
    many = gp.partition.doubts(q := gp.SetPartition.from_matrix(np.ones((12, 12)) - np.eye(12) - 0.5), range(12))
    assert many._repr_html_().count("<tr>") == 12 and ">...</td>" in many._repr_html_() and q.n == 12


def test_costs_that_are_added_up_without_being_asked():
    G = graph("cost", [-1.0, -1.0])
    a, b, c = G
    with pytest.warns(gp.GraphPartWarning, match=r"^in lifted, 1 row repeats a pair: row 1 lists 0 and 2"):
        gp.SetPartition(G, lifted=[(a, c, 3.0), (c, a, -2.0)])
    assert gp.SetPartition(G, lifted={(a, c): 3.0}).lifted.sum() == 1
    with pytest.warns(gp.GraphPartWarning, match=r"^1 lifted pair is an edge of the graph, too"):
        gp.SetPartition(G, lifted=[(a, b, 3.0)])


def test_labels_in_columns_of_any_names(tmp_path):
    (tmp_path / "l.csv").write_text("nr,who\na,1\nb,1\n")
    with pytest.warns(gp.GraphPartWarning, match="'nr' is read as the column of elements, 'who' of clusters"):
        assert gp.read_labels(tmp_path / "l.csv") == {"a": 1, "b": 1}
    (tmp_path / "l.csv").write_text("a,X\nb,X\nc,y\n")
    with pytest.raises(gp.FormatError, match="found 'a,X': expected the header"):  # no header: the first row counts
        gp.read_labels(tmp_path / "l.csv")
