"""Models of pgmpy and dimod, and clusterings of igraph: the same energies, names and clusters as they have."""

import itertools
import warnings

import numpy as np
import pytest

import graphpart as gp


@pytest.fixture(scope="module")
def dimod():
    return pytest.importorskip("dimod")


@pytest.fixture(scope="module")
def pgmpy():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("pgmpy")
        import pgmpy.factors.discrete
        import pgmpy.inference
        import pgmpy.models
    return pgmpy


@pytest.fixture(scope="module")
def igraph():
    return pytest.importorskip("igraph")


def labelings(f):
    return itertools.product(*(range(int(d)) for d in f.domains))


class TestDimod:
    @pytest.mark.parametrize("vartype", ["BINARY", "SPIN"])
    @pytest.mark.parametrize("dtype", [float, object])
    def test_energies_and_optimum(self, dimod, vartype, dtype):
        rng = np.random.default_rng(3)
        names = ["a", ("b", 1), 7, "d", "e"]
        pairs = list(itertools.combinations(names, 2))[::2]
        linear = dict(zip(names[:3], rng.normal(size=3), strict=True))
        quadratic = {pair[::-1] if k % 2 else pair: rng.normal() for k, pair in enumerate(pairs)}
        bqm = dimod.BinaryQuadraticModel(linear, quadratic, 1.5, vartype, dtype=dtype)
        f = gp.FactorGraph.from_bqm(bqm)
        assert list(f.variables) == list(bqm.variables)
        for y in labelings(f):
            values = {name: (2 * x - 1 if vartype == "SPIN" else x) for name, x in zip(f.variables, y, strict=True)}
            assert f.evaluate(y) == pytest.approx(float(bqm.energy(values)))
        assert gp.solve(f).cost == pytest.approx(dimod.ExactSolver().sample(bqm).first.energy)

    @pytest.mark.parametrize("vartype", ["BINARY", "SPIN"])
    def test_there_and_back(self, dimod, vartype):
        rng = np.random.default_rng(4)
        f = gp.FactorGraph.from_arrays(
            [2] * 5,
            [(np.arange(4)[:, None], rng.normal(size=(4, 2))), ([[0, 1], [3, 2], [0, 1]], rng.normal(size=(3, 2, 2)))],
            list("pqrst"),
            constant=0.25,
        )
        bqm = f.to_bqm(vartype)
        assert bqm.vartype.name == vartype and list(bqm.variables) == list("pqrst")
        back = gp.FactorGraph.from_bqm(bqm)
        for y in labelings(f):
            assert back.evaluate(y) == pytest.approx(f.evaluate(y))
        assert gp.FactorGraph.from_bqm(f.to_bqm(dimod.SPIN)).n == 5

    def test_empty(self, dimod):
        assert gp.FactorGraph.from_bqm(dimod.BinaryQuadraticModel("SPIN")).n == 0
        assert gp.FactorGraph().to_bqm().num_variables == 0

    def test_mistakes(self, dimod):
        with pytest.raises(gp.InvalidProblem, match=r"got dict: expected a dimod\.BinaryQuadraticModel"):
            gp.FactorGraph.from_bqm({})
        bqm = dimod.BinaryQuadraticModel({"a": np.nan}, {}, "SPIN")
        with pytest.raises(gp.InvalidProblem, match="a linear bias of the model is nan"):
            gp.FactorGraph.from_bqm(bqm)
        f = gp.FactorGraph()
        f.add_variable("x", 3)
        with pytest.raises(gp.InvalidProblem, match="variable 'x' has 3 labels: expected 2"):
            f.to_bqm()
        cube = gp.FactorGraph.from_arrays([2, 2, 2], [([[0, 1, 2]], np.zeros((1, 2, 2, 2)))])
        with pytest.raises(gp.InvalidProblem, match=r"factor 0 has 3 variables: expected at most 2; dimod\.make"):
            cube.to_bqm()
        hard = gp.FactorGraph.from_arrays([2, 2], [([[0], [1]], [[0.0, 1.0], [0.0, np.inf]])])
        with pytest.raises(gp.InvalidProblem, match="factor 1 forbids labelings"):
            hard.to_bqm()
        with pytest.raises(gp.InvalidOption, match="vartype is 'TERNARY': expected one of BINARY, SPIN"):
            gp.FactorGraph().to_bqm("TERNARY")


class TestPgmpy:
    def network(self, pgmpy):
        table = pgmpy.factors.discrete.TabularCPD
        b = pgmpy.models.DiscreteBayesianNetwork([("rain", "grass"), ("sprinkler", "grass"), ("rain", "sprinkler")])
        rain, wet = ["no", "yes"], ["dry", "damp", "wet"]
        b.add_cpds(
            table("rain", 2, [[0.8], [0.2]], state_names={"rain": rain}),
            table(
                "sprinkler", 2, [[0.6, 1.0], [0.4, 0.0]], ["rain"], [2], state_names={"sprinkler": [0, 1], "rain": rain}
            ),
            table(
                "grass", 3, [[0.9, 0.1, 0.2, 0.05], [0.1, 0.2, 0.3, 0.15], [0.0, 0.7, 0.5, 0.8]], ["rain", "sprinkler"],
                [2, 2], state_names={"grass": wet, "rain": rain, "sprinkler": [0, 1]},
            ),
        )  # fmt: skip
        return b

    def test_a_bayesian_network(self, pgmpy):
        b = self.network(pgmpy)
        f = gp.FactorGraph.from_pgmpy(b)
        assert list(f.variables) == list(b.nodes())
        total = 0.0
        for y in labelings(f):
            states = {x: b.states[x][k] for x, k in zip(f.variables, y, strict=True)}
            probability = b.get_state_probability(states)
            assert np.exp(-f.evaluate(y)) == pytest.approx(probability)
            total += probability
        assert total == pytest.approx(1.0)
        r = gp.solve(f)
        best = pgmpy.inference.VariableElimination(b).map_query(["rain", "grass", "sprinkler"], show_progress=False)
        assert {x: b.states[x][k] for x, k in r.labeling.items()} == best

    def test_undirected_models(self, pgmpy):
        factor = pgmpy.factors.discrete.DiscreteFactor
        rng = np.random.default_rng(5)
        tables = {("a", "b"): rng.random((2, 3)), ("b", "c"): rng.random((3, 2)), ("c",): rng.random(2)}
        m = pgmpy.models.DiscreteMarkovNetwork([("a", "b"), ("b", "c")])
        factors = [factor(list(scope), table.shape, table) for scope, table in tables.items()]
        m.add_factors(*factors)
        g = pgmpy.models.FactorGraph()
        g.add_nodes_from(["c", "b", "a"])
        g.add_factors(*factors)
        g.add_nodes_from(factors)
        g.add_edges_from([(x, one) for one in factors for x in one.scope()])
        for model in (m, g, m.to_junction_tree()):
            f = gp.FactorGraph.from_pgmpy(model)
            assert sorted(f.variables) == ["a", "b", "c"]
            for y in labelings(f):
                at = dict(zip(f.variables, y, strict=True))
                product = np.prod([table[tuple(at[x] for x in scope)] for scope, table in tables.items()])
                assert np.exp(-f.evaluate(y)) == pytest.approx(product)

    def test_states_in_another_order(self, pgmpy):
        factor = pgmpy.factors.discrete.DiscreteFactor
        m = pgmpy.models.DiscreteMarkovNetwork([("a", "b")])
        m.add_factors(
            factor(["a"], [2], [1, 2], state_names={"a": ["x", "y"]}),
            factor(["b", "a"], [2, 2], [[1, 2], [3, 4]], state_names={"a": ["y", "x"], "b": [0, 1]}),
        )
        f = gp.FactorGraph.from_pgmpy(m)
        assert np.exp(-f.evaluate({"a": 0, "b": 1})) == pytest.approx(1 * 4)

    def test_mistakes(self, pgmpy):
        with pytest.raises(gp.InvalidProblem, match="got list: expected a discrete model of pgmpy, such as"):
            gp.FactorGraph.from_pgmpy([])
        b = pgmpy.models.DiscreteBayesianNetwork([("a", "b")])
        with pytest.raises(gp.InvalidProblem, match="variable 'a' has no conditional probability table"):
            gp.FactorGraph.from_pgmpy(b)
        m = pgmpy.models.DiscreteMarkovNetwork([("a", "b")])
        m.add_factors(pgmpy.factors.discrete.DiscreteFactor(["a", "b"], [2, 2], [1, 1, -1, 1]))
        with pytest.raises(gp.InvalidProblem, match=r"the entry for a=1, b=0 is -1\.0: expected a number"):
            gp.FactorGraph.from_pgmpy(m)


class TestIgraph:
    def test_a_new_graph(self, igraph):
        p = gp.SetPartition.from_pairs(
            4, [(0, 1), (1, 2), (2, 3)], [-2.0, 1.0, -1.0], nodes=["ann", "bob", "cid", "dan"]
        )
        r = gp.solve(p)
        c = r.to_igraph()
        assert isinstance(c, igraph.VertexClustering) and c.membership == [0, 0, 1, 1]
        assert c.graph.vs["name"] == ["ann", "bob", "cid", "dan"] and c.graph.es["cost"] == [-2.0, 1.0, -1.0]
        assert c.crossing() == [False, True, False]

    def test_the_graph_of_the_problem(self, igraph):
        g = igraph.Graph.Famous("Zachary")
        r = gp.solve(gp.SetPartition.from_modularity(g))
        c = r.to_igraph(g)
        assert c.graph is g and c.modularity == pytest.approx(r.objective)
        assert [set(one) for one in c] == r.clusters
        g.vs["name"] = [f"v{k}" for k in range(34)]
        r = gp.solve(gp.SetPartition.from_modularity(g))
        shuffled = g.permute_vertices(list(reversed(range(34))))
        assert r.to_igraph(shuffled).modularity == pytest.approx(r.objective)

    def test_numbers_may_be_missing(self, igraph):
        p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-2.0, 1.0])
        r = gp.solve(p.require(together=[(1, 2)]), initial=gp.solve(p))
        assert len(r.to_igraph()) == r.n_clusters

    def test_mistakes(self, igraph):
        r = gp.solve(gp.SetPartition.from_pairs(3, [(0, 1)], [-2.0]))
        with pytest.raises(gp.InvalidPartition, match="the graph has 4 vertices, the result 3 elements"):
            r.to_igraph(igraph.Graph(n=4))
        g = igraph.Graph(n=3)
        g.vs["name"] = [0, 1, "two"]
        with pytest.raises(gp.InvalidPartition, match="the vertex 'two' of the graph is no element of the result"):
            r.to_igraph(g)


@pytest.mark.parametrize("package", ["dimod", "igraph"])
def test_without_the_package(package, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, package, None)
    r = gp.solve(gp.SetPartition.from_pairs(3, [(0, 1)], [-2.0]))
    with pytest.raises(gp.MissingDependency, match=rf"{package}.*graphpart\[adapters\]"):
        gp.FactorGraph().to_bqm() if package == "dimod" else r.to_igraph()
