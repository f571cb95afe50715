"""Problems from data frames, matrices with labels, grids and graphs of igraph."""

import datetime
import math
from decimal import Decimal
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

import graphpart as gp

ROWS = {"a": ["ann", "bob", "ann", "cid"], "b": ["anne", "anne", "bob", "ann"], "score": [0.9, 0.2, 0.3, 0.6]}


def array_of(values):
    """An array of numbers, or of objects as they are."""
    if all(type(x) is type(values[0]) is not tuple for x in values) and not isinstance(values[0], str):
        return np.array(values)
    array = np.empty(len(values), object)
    array[:] = values
    return array


def frames(columns):
    """(name, frame) of the same table in all libraries that are installed."""
    found = [("mapping", columns), ("mapping of arrays", {name: array_of(x) for name, x in columns.items()})]
    try:
        import pandas as pd
    except ImportError:
        pass
    else:
        found += [("pandas", pd.DataFrame(columns)), ("pandas, nullable", pd.DataFrame(columns).convert_dtypes())]
        found += [("pandas, odd index", pd.DataFrame(columns).set_axis([7] * len(columns["a"])))]
        found += [("pandas, categories", pd.DataFrame(columns).astype({"a": "category"}))]
    try:
        import polars as pl
    except ImportError:
        pass
    else:
        found += [("polars", pl.DataFrame(columns)), ("polars, lazy", pl.LazyFrame(columns))]
        if isinstance(columns["a"][0], str):
            cast = pl.DataFrame(columns).with_columns(pl.col("a").cast(pl.Categorical))
            found += [("polars, categories", cast)]
    try:
        import pyarrow as pa
    except ImportError:
        pass
    else:
        table = pa.table(columns)
        found += [("arrow", table), ("arrow, chunks", pa.concat_tables([table.slice(0, 1), table.slice(1)]))]
        found += [("arrow, protocol only", ProtocolOnly(table))]
        if isinstance(columns["a"][0], str):
            at = table.column_names.index("a")
            found += [("arrow, dictionary", table.set_column(at, "a", table["a"].dictionary_encode()))]
    return found


class ProtocolOnly:
    """A frame of a library that nobody has heard of."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def pairs_of(p):
    return {(p.nodes[a], p.nodes[b]): c for a, b, c in zip(*(x.tolist() for x in p.pairs()), strict=True) if c}


IDENTIFIERS = {
    "texts": ["x", "y", "z", "w"],
    "integers": [30, 10, 20, 40],
    "wide integers": [2**62, 2**62 + 1, 5, -(2**61)],
    "floats": [0.5, 2.0, 1.5, -1.0],
    "dates": [datetime.date(2026, 1, k) for k in (5, 3, 4, 9)],
    "times": [datetime.datetime(2026, 1, k, 7, 30) for k in (5, 3, 4, 9)],
    "booleans and more": [(1, "a"), (2, "b"), (1, "c"), (3, "d")],
    "decimals": [Decimal(k) for k in ("1.5", "2.5", "0.5", "9.5")],
    "numbers and texts": ["1", 1, "2", 2],
}


class TestFrames:
    def test_all_libraries_give_the_same_problem(self):
        expected = {("ann", "anne"): -0.4, ("anne", "bob"): 0.3, ("ann", "bob"): 0.2, ("ann", "cid"): -0.1}
        for name, frame in frames(ROWS):
            p = gp.SetPartition.from_frame(frame, "a", "b", similarity="score", threshold=0.5)
            assert list(p.nodes) == ["ann", "anne", "bob", "cid"], name
            assert pairs_of(p) == pytest.approx(expected), name
            assert all(type(node) is str for node in p.nodes), name

    @pytest.mark.filterwarnings("ignore:.*have both the number 1 and the text '1'")
    @pytest.mark.parametrize("kind", IDENTIFIERS)
    def test_identifiers_of_any_type(self, kind):
        ids = IDENTIFIERS[kind]
        a, b, c, d = ids
        columns = {"a": [a, b, a, d], "b": [b, c, c, a], "w": [1.0, 2.0, 4.0, 8.0]}
        expected = {frozenset(x): -w for x, w in (((a, b), 1.0), ((b, c), 2.0), ((a, c), 4.0), ((a, d), 8.0))}
        for name, frame in checked_frames(columns):
            p = gp.SetPartition.from_frame(frame, "a", "b", weight="w")
            assert {frozenset(pair): cost for pair, cost in pairs_of(p).items()} == expected, name
            order = sorted(ids) if "integers" in kind else ids
            assert list(p.nodes) == order, name
            p = gp.SetPartition.from_frame(frame, "a", "b", cost="w", must_join=[(a, b)])
            assert p.evaluate([{a, b}, {c}, {d}]) == 1.0

    def test_integers_that_are_indices_have_a_range_as_names(self):
        p = gp.SetPartition.from_frame({"a": [0, 1, 2], "b": [1, 2, 3], "c": [1.0, -1.0, 2.0]}, "a", "b", cost="c")
        assert p.nodes == range(4) and p.m == (6 if p.is_dense else 3)

    def test_random_frames_against_a_dictionary(self):
        for seed in range(40):
            rng = np.random.default_rng(seed)
            m, n = int(rng.integers(1, 40)), int(rng.integers(2, 12))
            u = rng.integers(0, n, m)
            v = (u + rng.integers(1, n, m)) % n
            cost = rng.normal(size=m)
            for name in ("n{}".format, lambda k: int(k) * 10**15, lambda k: int(k) - 3):
                columns = {"a": [name(k) for k in u], "b": [name(k) for k in v], "c": cost.tolist()}
                sums = {}
                for a, b, c in zip(*columns.values(), strict=True):
                    sums[frozenset((a, b))] = sums.get(frozenset((a, b)), 0.0) + c
                seen = list(dict.fromkeys(x for pair in zip(columns["a"], columns["b"], strict=True) for x in pair))
                for library, frame in frames(columns):
                    p = gp.SetPartition.from_frame(frame, "a", "b", cost="c", duplicates="sum")
                    found = {frozenset(pair): c for pair, c in pairs_of(p).items()}
                    assert found == pytest.approx(sums), f"seed {seed}, {library}"
                    assert list(p.nodes) == (seen if isinstance(seen[0], str) else sorted(seen)), f"{seed} {library}"

    def test_all_kinds_of_values(self):
        make = gp.SetPartition.from_frame
        columns = {"a": ["x", "y"], "b": ["y", "z"], "value": [0.75, 0.2]}
        assert make(columns, "a", "b", weight="value").pairs()[2].tolist() == [-0.75, 0.0, -0.2]
        assert make(columns, "a", "b", cost="value").pairs()[2].tolist() == [0.75, 0.0, 0.2]
        costs = make(columns, "a", "b", similarity="value", threshold=0.5).pairs()[2]
        assert costs.tolist() == [-0.25, 0.0, 0.3]
        costs = make(columns, "a", "b", probability="value").pairs()[2]
        assert costs == pytest.approx([-math.log2(3), 0.0, 2.0])
        costs = make(columns, "a", "b", probability="value", threshold=0.75).pairs()[2]
        assert costs == pytest.approx([0.0, 0.0, 2.0 + math.log2(3)])

    def test_nodes_give_the_order_and_elements_without_pairs(self):
        for _, frame in frames(ROWS):
            p = gp.SetPartition.from_frame(
                frame, "a", "b", weight="score", nodes=["eve", "bob", "cid", "anne", "ann"], dense=False
            )
            assert p.n == 5 and p.nodes[0] == "eve" and pairs_of(p)["cid", "ann"] == -0.6
        with pytest.raises(gp.InvalidProblem, match="'cid' is in column 'a' or 'b' but not among nodes"):
            gp.SetPartition.from_frame(ROWS, "a", "b", weight="score", nodes=["ann", "anne", "bob"])
        with pytest.raises(gp.InvalidProblem, match="node 'ann' is named twice"):
            gp.SetPartition.from_frame(ROWS, "a", "b", weight="score", nodes=["ann", "ann"])

    def test_empty_frames(self):
        empty = {"a": np.zeros(0, object), "b": np.zeros(0, object), "c": np.zeros(0)}
        for options in ({}, {"nodes": []}):
            with pytest.warns(gp.GraphPartWarning, match="no rows: expected one for each pair; "):
                assert gp.SetPartition.from_frame(empty, "a", "b", cost="c", **options).n == 0
        assert gp.SetPartition.from_pairs(0, [], []).n == 0
        assert gp.SetPartition.from_frame(empty, "a", "b", cost="c", nodes="xy").n == 2

    @pytest.mark.parametrize("missing", [None, math.nan])
    def test_missing_values_are_named_by_row(self, missing):
        columns = {**ROWS, "score": [0.5, 0.2, missing, 0.1]}
        for name, frame in checked_frames(columns):
            if not name.startswith("mapping") or missing is not None:
                with pytest.raises(
                    gp.InvalidProblem, match="column 'score' is null or NaN in row 2: expected a number"
                ):
                    gp.SetPartition.from_frame(frame, "a", "b", cost="score")

    @pytest.mark.parametrize("kind", ["texts", "integers", "dates"])
    @pytest.mark.parametrize("side", ["a", "b"])
    def test_missing_identifiers_are_named_by_row(self, side, kind):
        a, b, c, d = IDENTIFIERS[kind]
        columns = {"a": [a, b, a, d], "b": [b, c, c, a], "score": [1.0, 2.0, 4.0, 8.0]}
        columns[side] = [*columns[side][:2], None, columns[side][3]]
        for name, frame in checked_frames(columns):
            with pytest.raises(gp.InvalidProblem, match=f"column '{side}' is null in row 2: expected an identifier"):
                gp.SetPartition.from_frame(frame, "a", "b", weight="score")
            assert name

    @pytest.mark.parametrize("side", ["a", "b"])
    def test_empty_identifiers_are_named_by_row(self, side):
        """As on the command line; they are mostly missing ones."""
        columns = {"a": ["x", "y", "x", "w"], "b": ["y", "z", "z", "x"], "score": [1.0, 2.0, 4.0, 8.0]}
        columns[side][2] = ""
        for _, frame in checked_frames(columns):
            with pytest.raises(gp.InvalidProblem, match=f"column '{side}' is empty in row 2: expected an identifier"):
                gp.SetPartition.from_frame(frame, "a", "b", weight="score")
        people = {"id": ["x", ""]}
        with pytest.raises(gp.InvalidProblem, match="column 'id' of elements is empty in row 1: expected"):
            gp.SetPartition.from_frame(columns, "a", "b", weight="score", elements=people, id="id")

    @pytest.mark.parametrize("kind", [float, Decimal, np.float64, Fraction])
    def test_columns_of_objects_that_are_numbers(self, kind):
        pandas = pytest.importorskip("pandas")
        make = gp.SetPartition.from_frame
        values = [kind(0.75), kind(0.5), 1, kind(0.25)]
        frame = pandas.DataFrame({**ROWS, "score": pandas.Series(values, dtype=object)})
        wanted = make({**ROWS, "score": [0.75, 0.5, 1.0, 0.25]}, "a", "b", weight="score").pairs()
        for table in (frame, {**ROWS, "score": np.array(values, object)}):
            for ours, theirs in zip(make(table, "a", "b", weight="score").pairs(), wanted, strict=True):
                assert ours.tolist() == theirs.tolist()
        for wrong, text in ((True, "True"), ("0.5", "'0.5'"), (10**400, "100"), (1j, "1j")):
            frame.at[2, "score"] = wrong
            with pytest.raises(gp.InvalidProblem, match=f"column 'score' does not hold numbers, row 2 has {text}"):
                make(frame, "a", "b", weight="score")
        for null in (None, float("nan"), Decimal("nan"), pandas.NA):
            frame.at[2, "score"] = null
            with pytest.raises(gp.InvalidProblem, match="column 'score' is null or NaN in row 2"):
                make(frame, "a", "b", weight="score")

    def test_mistakes(self):
        make = gp.SetPartition.from_frame
        for _, frame in frames(ROWS):
            with pytest.raises(gp.InvalidProblem, match="no column 'scor': expected one of 'a', 'b', 'score'"):
                make(frame, "a", "b", cost="scor")
            with pytest.raises(
                gp.InvalidProblem,
                match=r"column 'b' does not hold numbers, row 0 has 'anne': .*pandas.to_numeric\(frame\['b'\]\)",
            ):
                make(frame, "a", "b", weight="b")
            with pytest.raises(gp.InvalidProblem, match="both elements of a pair are from column 'a': expected two"):
                make(frame, "a", "a", weight="score")
        with pytest.raises(gp.InvalidProblem, match="row 1 pairs 'ann' with itself"):
            make({"a": ["bob", "ann"], "b": ["ann", "ann"], "score": [1.0, 2.0]}, "a", "b", weight="score")
        percentages = {"a": ["ann"], "b": ["bob"], "score": ["90%"]}
        with pytest.raises(gp.InvalidProblem, match=r"'90%': .*; frame\['score'\].str.rstrip\('%'\).astype\(float\)"):
            make(percentages, "a", "b", probability="score")
        with pytest.raises(gp.InvalidOption, match="no column of values is named: expected one of cost="):
            make(ROWS, "a", "b")
        with pytest.raises(gp.InvalidOption, match="cost and weight given"):
            make(ROWS, "a", "b", cost="score", weight="score")
        with pytest.raises(gp.InvalidOption, match="similarity without threshold"):
            make(ROWS, "a", "b", similarity="score")
        with pytest.raises(gp.InvalidOption, match="threshold is for similarities"):
            make(ROWS, "a", "b", weight="score", threshold=0.5)
        with pytest.raises(gp.InvalidOption, match="prior and clip are for probabilities"):
            make(ROWS, "a", "b", weight="score", prior=0.1)
        with pytest.raises(gp.InvalidProblem, match=r"column 'score' has 2.0 in row 1: expected a probability"):
            make({**ROWS, "score": [0.5, 2.0, 0.1, 0.2]}, "a", "b", probability="score")
        with pytest.raises(gp.InvalidProblem, match="got list: expected a data frame of pandas, polars or Arrow"):
            make([1, 2], "a", "b", cost="c")
        with pytest.raises(gp.InvalidProblem, match="columns of shapes"):
            make({"a": [1, 2], "b": [2], "c": [1.0]}, "a", "b", cost="c")
        with pytest.raises(gp.InvalidProblem, match="cannot be hashed"):
            make({"a": [[1], [2]], "b": ["x", "y"], "c": [1.0, 2.0]}, "a", "b", cost="c")

    def test_the_frame_is_not_changed(self):
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame(ROWS)
        before = frame.copy(deep=True)
        gp.SetPartition.from_frame(frame, "a", "b", probability="score")
        pd.testing.assert_frame_equal(frame, before)
        values = np.array([0.0, 1.0, 0.5])
        with pytest.warns(gp.GraphPartWarning):
            gp.costs_from_probabilities(values)
        assert values.tolist() == [0.0, 1.0, 0.5]

    def test_a_frame_is_the_same_problem_as_its_file(self, tmp_path):
        pd = pytest.importorskip("pandas")
        p = gp.generate.planted_partition(20, 3, seed=1).problem
        gp.write(p, tmp_path / "p.csv")
        q = gp.SetPartition.from_frame(
            pd.read_csv(tmp_path / "p.csv", float_precision="round_trip"), "u", "v", cost="cost"
        )
        read = gp.read(tmp_path / "p.csv")
        assert list(q.nodes) == list(read.nodes) and (q.matrix == read.matrix).all()

    def test_a_missing_library_is_named(self, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
        with pytest.raises(gp.MissingDependency, match=r"needs the package pyarrow: pip install 'graphpart\[frames\]'"):
            gp.SetPartition.from_frame(ProtocolOnly(None), "a", "b", cost="c")


def checked_frames(columns):
    """The frames that can hold these columns: libraries refuse mixtures, for instance."""
    try:
        return frames(columns)
    except Exception:
        kept = [("mapping", columns), ("mapping of arrays", {name: array_of(x) for name, x in columns.items()})]
        try:
            import pandas as pd
        except ImportError:
            return kept
        return [*kept, ("pandas", pd.DataFrame(columns))]


class TestMatrices:
    C = np.array([[0.0, -1.0, 2.0], [-1.0, 0.0, 0.5], [2.0, 0.5, 0.0]])

    def test_labels_of_a_data_frame_are_kept(self):
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame(self.C, index=list("xyz"), columns=list("xyz"))
        p = gp.SetPartition.from_matrix(frame)
        assert list(p.nodes) == list("xyz") and (p.matrix == self.C).all()
        shuffled = frame.loc[list("zxy")]  # rows in another order than columns
        assert (gp.SetPartition.from_matrix(shuffled).matrix == self.C).all()
        assert list(gp.SetPartition.from_matrix(frame, nodes="abc").nodes) == list("abc")
        named = pd.DataFrame(self.C, columns=list("xyz"))  # rows without names
        assert list(gp.SetPartition.from_matrix(named).nodes) == list("xyz")
        with pytest.raises(gp.InvalidProblem, match="row 0 of the matrix is named 'q' but column 0 'x'"):
            gp.SetPartition.from_matrix(frame.rename(index={"x": "q"}))
        with pytest.raises(gp.InvalidProblem, match=r"2 rows and 3 columns is no matrix.*see from_frame"):
            gp.SetPartition.from_matrix(frame.iloc[:2])

    def test_columns_of_polars_and_arrow(self):
        columns = {name: self.C[i] for i, name in enumerate("xyz")}
        for library in ("polars", "pyarrow"):
            module = pytest.importorskip(library)
            table = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
            p = gp.SetPartition.from_matrix(table)
            assert list(p.nodes) == list("xyz") and (p.matrix == self.C).all()

    @pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
    def test_rounding_of_any_precision_is_symmetric(self, dtype):
        rng = np.random.default_rng(0)
        S = rng.random((40, 40))
        S = (0.5 * (S + S.T)).astype(dtype)
        noise = (S * (1 + 3 * np.finfo(dtype).eps * rng.choice([-1, 1], S.shape))).astype(dtype)
        C = np.asarray(dtype(0.5) - noise)  # differences of nearly equal numbers lose digits
        assert (C != C.T).any()
        p = gp.SetPartition.from_matrix(C, dense=True)
        assert (p.matrix == p.matrix.T).all() and np.allclose(
            p.matrix[~np.eye(40, dtype=bool)], C[~np.eye(40, dtype=bool)], atol=0.02
        )
        sparse = pytest.importorskip("scipy.sparse")
        if dtype != np.float16:
            assert gp.SetPartition.from_matrix(sparse.coo_array(C)).n == 40
        C[3, 5] += dtype(0.25)
        with pytest.raises(gp.InvalidProblem, match=r"matrix\[3, 5\] is .* expected a symmetric.*\(C \+ C.T\) / 2"):
            gp.SetPartition.from_matrix(C)

    def test_scipy_symmetric_or_a_triangle(self):
        sparse = pytest.importorskip("scipy.sparse")
        for part in (self.C, np.triu(self.C), np.tril(self.C)):
            for form in (sparse.coo_array, sparse.csr_matrix):
                p = gp.SetPartition.from_scipy(form(part), nodes="xyz")
                assert pairs_of(p) == {("x", "y"): -1.0, ("x", "z"): 2.0, ("y", "z"): 0.5}
        wrong = self.C.copy()
        wrong[0, 2] = 5.0
        with pytest.raises(gp.InvalidProblem, match="expected a symmetric matrix"):
            gp.SetPartition.from_scipy(sparse.coo_array(wrong))
        with pytest.raises(gp.InvalidProblem, match=r"got ndarray: expected a scipy.sparse matrix"):
            gp.SetPartition.from_scipy(self.C)

    def test_similarities_in_any_form(self):
        sparse = pytest.importorskip("scipy.sparse")
        S = np.array([[1.0, 0.75, 0.25], [0.75, 1.0, 0.5], [0.25, 0.5, 1.0]])
        make = gp.SetPartition.from_similarity
        with pytest.raises(gp.InvalidProblem, match=r"carry evidence, pass \(S \+ S.T\) / 2$"):
            make(np.triu(S), threshold=0.5)
        with pytest.raises(gp.InvalidProblem, match=r"carry evidence, pass C \+ C.T, or"):
            gp.SetPartition.from_matrix(np.triu(S))
        expected = {("x", "y"): -0.25, ("x", "z"): 0.25}
        assert pairs_of(make(S, threshold=0.5, nodes="xyz")) == expected
        assert pairs_of(make(S, threshold=0.5, nodes="xyz", dense=False)) == expected
        assert pairs_of(make(sparse.csr_array(S), threshold=0.5, nodes="xyz")) == expected
        pd = pytest.importorskip("pandas")
        assert pairs_of(make(pd.DataFrame(S, list("xyz"), list("xyz")), threshold=0.5)) == expected
        rows = pd.DataFrame({"a": list("xxy"), "b": list("yzz"), "s": [0.75, 0.25, 0.5]})
        assert pairs_of(make(rows, "s", 0.5, left="a", right="b")) == expected
        with pytest.raises(gp.InvalidOption, match="name the columns of its elements by left, right"):
            make(pd.concat([rows, rows]), "s", 0.5)


class TestIgraph:
    def test_names_and_attributes(self):
        igraph = pytest.importorskip("igraph")
        G = igraph.Graph(n=3, edges=[(0, 1), (1, 2), (0, 1)])
        G.es["cost"] = [-2.0, 1.0, -0.5]
        p = gp.SetPartition.from_igraph(G)
        assert list(p.nodes) == [0, 1, 2] and pairs_of(p) == {(0, 1): -2.5, (1, 2): 1.0}
        G.vs["name"] = ["x", "y", "z"]
        assert gp.solve(G).clusters == [{"x", "y"}, {"z"}]
        G.es["s"] = [0.9, 0.1, 0.5]
        assert pairs_of(gp.SetPartition.from_similarity(G, "s", 0.5)) == {("x", "y"): -0.4, ("y", "z"): 0.4}
        with pytest.raises(gp.InvalidProblem, match=r"attribute 'w' of edge .* is missing.*edges have 'cost', 's'"):
            gp.SetPartition.from_igraph(G, "w")
        with pytest.raises(gp.InvalidProblem, match="the graph is directed"):
            gp.SetPartition.from_igraph(igraph.Graph(n=2, edges=[(0, 1)], directed=True))
        with pytest.raises(gp.InvalidProblem, match=r"got Graph: expected an igraph.Graph"):
            gp.SetPartition.from_igraph(nx.Graph())


class TestGrids:
    @pytest.mark.parametrize("shape", [(4, 5), (3, 4, 2), (6,), (1, 3)])
    def test_against_a_loop(self, shape):
        rng = np.random.default_rng(1)
        d = len(shape)
        offsets = [tuple(int(i == j) for j in range(d)) for i in range(d)] + [tuple([2] + [0] * (d - 1))]
        offsets += [tuple([1] + [-1] * (d - 1))] if d > 1 else []
        A = rng.normal(size=(len(offsets), *shape))
        expected = {}
        index = np.arange(math.prod(shape)).reshape(shape)
        for values, offset in zip(A, offsets, strict=True):
            for x in np.ndindex(*shape):
                y = tuple(a + o for a, o in zip(x, offset, strict=True))
                if all(0 <= a < size for a, size in zip(y, shape, strict=True)):
                    pair = tuple(sorted((int(index[x]), int(index[y]))))
                    expected[pair] = expected.get(pair, 0.0) + float(values[x])
        p = gp.SetPartition.from_affinities(A, offsets, kind="cost")
        assert p.n == math.prod(shape) and pairs_of(p) == pytest.approx(expected)
        opposite = [tuple(-o for o in offset) for offset in offsets]
        rolled = [np.roll(values, offset, tuple(range(d))) for values, offset in zip(A, offsets, strict=True)]
        q = gp.SetPartition.from_affinities(rolled, opposite, kind="cost")
        assert pairs_of(q) == pytest.approx(expected)

    def test_probabilities_of_a_picture(self):
        right, below = np.full((4, 6), 0.9), np.full((4, 6), 0.9)
        right[:, 2] = 0.1  # between the columns 2 and 3
        p = gp.SetPartition.from_affinities([below, right], [(1, 0), (0, 1)])
        labels = gp.solve(p).labels.reshape(4, 6)
        assert (labels == np.repeat([0, 1], 3)).all()

    def test_mistakes(self):
        make = gp.SetPartition.from_affinities
        A = np.full((2, 3, 3), 0.5)
        with pytest.raises(gp.InvalidProblem, match=r"affinities has shape \(2, 3, 3\) for 1 offsets in 2 dimensions"):
            make(A, [(0, 1)])
        with pytest.raises(gp.InvalidProblem, match=r"offset 1, \(0, -1\), is given twice"):
            make(A, [(0, 1), (0, -1)])
        with pytest.raises(gp.InvalidProblem, match=r"offset 0, \(0, 0\), pairs each element with itself"):
            make(A, [(0, 0), (0, -1)])
        A[1, 2, 1] = math.nan  # outside of the grid
        assert make(A, [(0, 1), (1, 0)]).n == 9
        A[1, 1, 1] = math.nan
        with pytest.raises(gp.InvalidProblem, match=r"affinities\[1\] is nan at \(1, 1\)"):
            make(A, [(0, 1), (1, 0)])
        with pytest.raises(gp.InvalidOption, match="kind is 'odds'"):
            make(np.full((1, 2, 2), 0.5), [(0, 1)], kind="odds")
        with pytest.raises(gp.InvalidProblem, match=r"expected \(k, dimensions\) integers"):
            make(A, [(0.5, 1)])


def test_an_empty_frame_of_polars_is_a_problem_without_elements():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"l": [], "r": [], "p": []})
    with pytest.warns(gp.GraphPartWarning, match="the table has no rows"):
        assert gp.SetPartition.from_frame(frame, "l", "r", probability="p").n == 0


def test_the_mean_of_large_values_is_no_required_cut():
    table = {"a": [1, 2, 1, 3], "b": [2, 1, 3, 1], "c": [8e307, 9.9e307, -1.0, 5.0]}
    with pytest.raises(gp.InvalidProblem, match="the sum of absolute costs overflows"):  # before, a cost of inf
        gp.SetPartition.from_frame(table, "a", "b", cost="c", duplicates="mean")
