"""Factor graphs from arrays: grids and listed pairs beside the same ones from networkx, and labels as arrays."""

import itertools
import pickle

import networkx as nx
import numpy as np
import pytest

import graphpart as gp
from graphpart.crf.problem.grids import grid_pairs

SHAPES = [(), (1,), (4,), (1, 3), (3, 2), (2, 1, 3), (2, 3, 2)]


def energy(unary, weights, y):
    """Costs of the labels of an image, plus the weights of neighbours along each axis that differ, by loops."""
    total = sum(unary[(*cell, y[cell])] for cell in np.ndindex(y.shape))
    for axis in range(y.ndim):
        for cell in np.ndindex(*(s - (k == axis) for k, s in enumerate(y.shape))):
            other = tuple(c + (k == axis) for k, c in enumerate(cell))
            total += weights[axis][cell] * (y[cell] != y[other])
    return total


@pytest.mark.parametrize("shape", SHAPES[1:])
def test_the_energy_of_a_grid_is_that_of_loops(shape):
    rng = np.random.default_rng(0)
    unary = rng.normal(size=(*shape, 3))
    weights = [rng.normal(size=tuple(s - (k == axis) for k, s in enumerate(shape))) for axis in range(len(shape))]
    flat = np.concatenate([w.ravel() for w in weights])
    for given in (weights, flat):
        f = gp.crf.potts(shape, unary, given)
        assert f.shape == shape
        for _ in range(5):
            y = rng.integers(3, size=shape)
            assert f.evaluate(y) == pytest.approx(energy(unary, weights, y))
    each = np.arange(1.0, len(shape) + 1)
    even = [np.full_like(w, each[axis]) for axis, w in enumerate(weights)]
    f = gp.crf.potts(None, unary, tuple(each))
    assert f.evaluate(y) == pytest.approx(energy(unary, even, y))


def test_a_grid_equals_that_of_networkx():
    rng = np.random.default_rng(1)
    unary = rng.normal(size=(4, 5, 3))
    table = rng.normal(size=(3, 3))
    G = nx.grid_2d_graph(4, 5)
    field = dict(zip(G, unary[..., 0].ravel(), strict=True))
    for f, g in [
        (gp.crf.potts((4, 5), unary, 0.7), gp.crf.potts(G, unary, 0.7)),
        (gp.FactorGraph.pairwise((4, 5), unary, table), gp.FactorGraph.pairwise(G, unary, table)),
        (gp.FactorGraph.pairwise((4, 5), unary, 0.3), gp.crf.potts((4, 5), unary, 0.3)),
        (gp.FactorGraph.ising((4, 5), unary[..., 0], 0.5), gp.FactorGraph.ising(G, field, 0.5)),
        (gp.crf.potts((4, 5), labels=3), gp.crf.potts(G, labels=3)),
        (gp.crf.potts((4, 5), unary[..., 0]), gp.crf.potts(G, field)),
    ]:  # fmt: skip
        for _ in range(5):
            y = rng.integers(f.domains).astype(np.int32)
            assert f.evaluate(y) == pytest.approx(g.evaluate(y))
            assert (f.to_array(y) == y.reshape(4, 5)).all() and (g.to_array(y) == y.reshape(4, 5)).all()


def test_listed_pairs():
    unary = np.array([[0.0, 1.0], [2.0, 0.0], [0.5, 0.5]])
    f = gp.crf.potts([(0, 1), (2, 1)], unary, [1.0, 3.0])
    assert f.shape is None
    for y in itertools.product(range(2), repeat=3):
        assert f.evaluate(y) == sum(unary[range(3), y]) + (y[0] != y[1]) + 3 * (y[2] != y[1])
    assert gp.crf.potts([(0, 3)], labels=4).n == 4
    with pytest.raises(gp.InvalidOption, match=r"are not the cells of a grid: result\.labels has"):
        gp.solve(f).to_array()
    assert gp.crf.potts((0, 3), np.zeros((0, 3, 2))).n == 0


def test_images_in_and_labels_of_their_shape_out():
    rng = np.random.default_rng(2)
    truth = np.add.outer(np.arange(16) // 8, np.arange(24) // 8)
    seen = np.where(rng.random(truth.shape) < 0.2, rng.integers(4, size=truth.shape), truth)
    f = gp.crf.potts(unary=seen[..., None] != np.arange(4), weight=0.7)
    r = gp.solve(f)
    assert r.status == gp.Status.OPTIMAL and r.to_array().shape == truth.shape
    assert np.mean(r.to_array() != truth) < 0.05 < np.mean(seen != truth)
    assert f.evaluate(seen) > r.cost == f.evaluate(r.to_array())
    assert gp.solve(f, "icm", initial=seen).cost <= f.evaluate(seen)
    best = gp.crf.m_best(gp.crf.potts((3, 4), rng.normal(size=(3, 4, 2))), 2)
    assert best.to_array().shape == (2, 3, 4) and (best.to_array()[1].ravel() == best.labels[1]).all()
    with pytest.raises(gp.InvalidOption, match="the variables are not the cells of a grid"):
        gp.crf.m_best(gp.crf.potts([(0, 1)]), 1).to_array()
    again = pickle.loads(pickle.dumps(f))
    assert again.shape == truth.shape and (again.to_array(r) == r.to_array()).all()
    volume = gp.solve(gp.crf.potts((3, 4, 5), rng.normal(size=(3, 4, 5))))
    assert volume.to_array().shape == (3, 4, 5) and volume.plot() is not None


def test_pairs_of_a_grid_come_axis_by_axis():
    down, right = grid_pairs((2, 3))
    assert down.tolist() == [[0, 3], [1, 4], [2, 5]]
    assert right.tolist() == [[0, 1], [1, 2], [3, 4], [4, 5]]


IMAGE = np.zeros((4, 5))
COSTS = np.zeros((4, 5, 3))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: gp.crf.potts(IMAGE.astype(int)), r"potts\(unary=image\[..., None\] != np.arange\(labels\)"),
        (lambda: gp.crf.potts(COSTS, 0.5), r"for costs of labels: potts\(unary=costs, weight=1.0\)"),
        (lambda: gp.crf.potts(), "unary is nothing: without a graph, expected costs of the shape"),
        (lambda: gp.crf.potts("grid"), "expected the shape of a grid, pairs of variables"),
        (lambda: gp.crf.potts((4, -1)), "expected 0 to"),
        (lambda: gp.crf.potts((4, 5), COSTS[:3]), r"has shape \(3, 5, 3\): expected \(4, 5, labels\)"),
        (lambda: gp.crf.potts((4, 5), COSTS * np.nan), r"label 0 at \(0, 0\) is nan"),
        (lambda: gp.crf.potts((4, 5), COSTS, IMAGE), r"arrays of the shapes \(3, 5\) and \(4, 4\)"),
        (lambda: gp.crf.potts((4, 5), COSTS, [IMAGE]), "has 1 entries for a grid of 2 axes"),
        (lambda: gp.crf.potts((4, 5), COSTS, [IMAGE, 1.0]), r"along axis 0 has shape \(4, 5\): expected \(3, 5\)"),
        (lambda: gp.crf.potts((4, 5), COSTS, np.inf), "weight of pair 0 is inf"),
        (lambda: gp.crf.potts([(0, 0)]), r"pair 0 is \(0, 0\): expected two variables"),
        (lambda: gp.crf.potts([(0, 7)], COSTS[0]), r"pair 0 is \(0, 7\): expected two variables from 0 to 4"),
        (lambda: gp.crf.potts(nx.path_graph(4), COSTS), r"expected \(4, labels\), a row for each node"),
        (lambda: gp.FactorGraph.pairwise((4, 5), COSTS), r"pairwise is 'pairwise': expected a table \(3, 3\)"),
        (lambda: gp.FactorGraph.pairwise((4, 5), COSTS, np.eye(2)), r"expected \(3, 3\), or \(31, 3, 3\)"),
        (lambda: gp.FactorGraph.ising((4, 5), np.zeros(3)), r"field has shape \(3,\): expected \(4, 5\)"),
    ],
)  # fmt: skip
def test_errors_say_what_was_expected(make, text):
    with pytest.raises(gp.InvalidProblem, match=text):
        make()


def test_the_way_to_several_labelings_and_to_probabilities_is_told():
    f = gp.crf.potts((2, 2))
    for options in ({"k": 3}, {"n_best": 3}):
        with pytest.raises(gp.InvalidOption, match=r"takes no \w+: the k labelings .* gp.crf.m_best\(f, k\)"):
            gp.solve(f, **options)
    with pytest.raises(gp.InvalidOption, match=r"method is 'm_best': the k labelings .* gp.crf.m_best\(f, k\)"):
        gp.solve(f, "m_best")
    with pytest.raises(gp.InvalidOption, match=r"probabilities of labels are from gp.crf.marginals\(f\)"):
        gp.solve(f, "marginals")
    with pytest.raises(gp.InvalidOption, match=r"need a table of more .*; approximate_marginals takes any width"):
        gp.crf.marginals(gp.crf.potts((40, 40), labels=5))


def test_an_image_of_labels_as_unary_costs_is_warned_of():
    image = np.random.default_rng(0).integers(0, 2, (30, 40))
    message = r"a chain of 30 variables of 40 labels; expected costs .*: for an image .* unary=image\[..., None\] != np"
    for given in (image, image == 1, image * 1.0):
        with pytest.warns(gp.GraphPartWarning, match=message):
            gp.crf.potts(unary=given)
    message = r"integers from 0 to 3: it is read as costs of label 1, .*say unary=image\[..., None\] != np.arange\(4\)$"
    with pytest.warns(gp.GraphPartWarning, match=message):
        gp.crf.potts(image.shape, unary=image * 3)
    assert gp.crf.potts(image.shape, unary=image * 3 - 1).n == 1200  # costs of label 1
    message = r"only 3 different integers: it is read as a chain of 30 variables of 40 labels; .*!= np.arange\(3\)$"
    for kind in (np.int8, np.uint16, np.int64, np.uint64):
        with pytest.warns(gp.GraphPartWarning, match=message):
            gp.crf.potts(unary=(image + image[::-1]).astype(kind), weight=0.6)
    distances = np.abs(np.arange(30)[:, None] - np.arange(40))
    for costs in (distances, np.minimum(distances, 5).astype(np.uint16), image * 1000, image[:20] * 2):
        assert gp.crf.potts(unary=costs).n == len(costs)  # costs of a chain
    assert gp.crf.potts(unary=image[..., None] != np.arange(2)).n == 1200
    assert gp.crf.potts(unary=np.arange(30)[:, None] != np.arange(40)).n == 30  # costs of a chain


def test_a_picture_of_8_bits_as_unary_costs_is_warned_of():
    picture = np.random.default_rng(0).integers(0, 256, (30, 40, 3)).astype(np.uint8)
    for graph, unary, read in (
        (None, picture[..., 0], "costs of 40 labels at each of 30 variables"),
        (None, picture, "costs of 3 labels at each of 1200 variables"),
        ((30, 40), picture[..., 0], "costs of label 1"),
    ):
        message = (
            rf"integers of 8 bits, as pictures have: it is read as {read}; expected costs of the shape \(..., labels"
        )
        with pytest.warns(gp.GraphPartWarning, match=message):
            gp.crf.potts(graph, unary=unary)
    grey = picture[..., 0]
    for other in (grey.astype(np.int64), grey / 255):
        with pytest.warns(gp.GraphPartWarning, match="40 labels along a chain of 30 variables; if it is a picture"):
            gp.crf.potts(unary=other)
        assert gp.crf.potts((30,), unary=other).n == 30
    means = np.array([50.0, 200.0])
    assert gp.crf.potts(unary=(grey[..., None] - means) ** 2).n == 1200
    assert gp.crf.potts(unary=(grey[..., None] != np.arange(256)).astype(np.uint8)[:5, :5]).n == 25


def test_costs_with_labels_first():
    costs = np.random.default_rng(0).random((30, 40, 3))
    first = np.moveaxis(costs, -1, 0)
    with pytest.warns(gp.GraphPartWarning, match=r"40 labels on a grid of 3 x 30; .* numpy\.moveaxis\(unary, 0, -1\)"):
        gp.crf.potts(unary=first)
    assert gp.crf.potts((3, 30), unary=first).shape == (3, 30)  # without a warning
    assert gp.crf.potts(unary=np.random.default_rng(0).random((30, 25, 40))).n == 750
    for graph in ((30, 40), gp.crf.potts(unary=costs).shape):
        with pytest.raises(gp.InvalidProblem, match=r"expected \(30, 40, labels\), .*; numpy\.moveaxis\(unary"):
            gp.crf.potts(graph, unary=first)
    r = gp.solve(gp.crf.potts(unary=costs, weight=0.1))
    assert "1200 variables (to_array() has the shape 30 x 40)" in repr(r) and "grid 30 x 40" in repr(r.problem)
    assert r.to_array().shape == (30, 40)


@pytest.mark.parametrize(
    "make",
    [
        lambda: gp.FactorGraph.potts((2, 2), np.zeros((2, 2, 2)), weight="0.2"),
        lambda: gp.FactorGraph.potts((2, 2), "costs", weight=1.0),
        lambda: gp.FactorGraph.ising((2, 2), field="h", coupling=1.0),
        lambda: gp.FactorGraph.ising((2, 2), field=0.5, coupling="auto"),
        lambda: gp.FactorGraph.potts([(0, 1)], np.zeros((2, 2)), weight="weights"),
    ],
)
def test_a_name_of_an_attribute_is_not_read_as_one(make):
    with pytest.raises(gp.InvalidProblem, match="the name of an attribute of networkx graphs: expected numbers"):
        make()
