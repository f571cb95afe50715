"""Region graphs beside loops over voxels, their statistics in blocks, connected pieces, and wrong input."""

import itertools

import numpy as np
import pytest
from scipy import ndimage

import graphpart as gp
from graphpart.images import filters, region_graph
from graphpart.images._contacts import Contacts, count_pieces
from graphpart.images.statistics import Statistics, merge


def volumes(number=12):
    """Random regions, with many that touch, and boundary values with zeros and ones."""
    for seed in range(number):
        rng = np.random.default_rng(seed)
        shape = tuple(rng.integers(1, 8, 2 + seed % 2))
        regions = rng.integers(0, 2 + seed, shape)
        yield seed, regions, np.clip(rng.normal(0.5, 0.4, shape), 0, 1).astype(np.float32)


def contacts(regions, boundary):
    """The values of all contacts, by pair and axis, by a loop."""
    found = {}
    for at in np.ndindex(*regions.shape):
        for axis in range(regions.ndim):
            other = tuple(x + (k == axis) for k, x in enumerate(at))
            if other[axis] < regions.shape[axis] and regions[at] != regions[other] and regions[at] and regions[other]:
                pair = tuple(sorted((int(regions[at]), int(regions[other]))))
                found.setdefault(pair, []).append((axis + 3 - regions.ndim, max(boundary[at], boundary[other])))
    return found


def table_of(regions, boundary, core=None):
    table = Contacts()
    shaped = [x if x.ndim == 3 else x[None] for x in (regions.astype(np.int32), boundary)]
    table.add(*map(np.ascontiguousarray, shaped), shaped[0].shape if core is None else core)
    return Statistics.of(table)


def test_statistics_against_a_loop():
    for seed, regions, boundary in volumes():
        found, expected = table_of(regions, boundary), contacts(regions, boundary)
        assert [tuple(pair) for pair in found.pairs.tolist()] == sorted(expected), seed
        for k, pair in enumerate(sorted(expected)):
            axes, values = zip(*expected[pair], strict=True)
            assert found.numbers[k].tolist() == np.bincount(axes, minlength=3).tolist(), seed
            assert found.mean()[k] == pytest.approx(np.mean(values), abs=1e-6)
            assert found.deviation()[k] == pytest.approx(np.std(values), abs=1e-4)
            assert found.extremes[k].tolist() == [min(values), max(values)]
            for share, value in zip((0.1, 0.25, 0.5), found.quantiles([0.1, 0.25, 0.5]), strict=True):
                below = np.sort(values)[max(0, int(np.ceil(share * len(values))) - 1)]
                assert abs(value[k] - below) <= 1 / 64 + 1e-6, (seed, pair, share)


def test_the_pieces_of_a_volume_add_up_to_the_whole():
    rng = np.random.default_rng(3)
    regions, boundary = rng.integers(0, 9, (9, 10, 11)).astype(np.int32), rng.random((9, 10, 11)).astype(np.float32)
    parts = []
    for low in itertools.product((0, 4), (0, 7), (0, 5)):
        high = [n if a else cut for n, a, cut in zip(regions.shape, low, (4, 7, 5), strict=True)]
        wide = tuple(slice(a, b + 1) for a, b in zip(low, high, strict=True))
        core = tuple(b - a for a, b in zip(low, high, strict=True))
        parts.append(table_of(regions[wide], boundary[wide], core))
    whole, merged = table_of(regions, boundary), merge(parts)
    for name in ("pairs", "numbers", "sums", "extremes", "histograms"):
        assert np.array_equal(getattr(whole, name), getattr(merged, name)), name


def test_graph_of_a_picture():
    regions = np.array([[7, 7, 0], [7, 3, 3]])
    g = region_graph(regions, np.array([[0.0, 0.5, 1.0], [0.25, 0.75, 0.0]]), image=np.array([[1, 1, 9], [1, 4, 4]]))
    assert g.labels.tolist() == [3, 7] and g.sizes.tolist() == [2, 3] and g.pairs.tolist() == [[0, 1]]
    row = {name: values[0] for name, values in g.columns.items()}
    assert row["length"] == 2 and row["min"] == row["max"] == 0.75
    assert row["difference"] == 3.0 and row["smaller"] == 2
    assert g.project([0, 1]).tolist() == [[2, 2, 0], [2, 1, 1]]
    assert len(g.features) == 1
    p = g.problem([-1.0])
    assert p.n == 2 and g.project(gp.solve(p)).tolist() == [[1, 1, 0], [1, 1, 1]]


def test_large_numbers_of_regions_are_names():
    regions = np.array([[10**15, 10**15], [5, 5]], np.uint64)
    g = region_graph(regions)
    assert g.labels.tolist() == [5, 10**15] and g.project([0, 1]).tolist() == [[2, 2], [1, 1]]


def test_affinities_are_contacts_at_neighbours_and_features_beyond():
    rng = np.random.default_rng(0)
    regions = np.repeat(np.repeat(np.arange(1, 13).reshape(3, 4), 4, 0), 4, 1)
    A = rng.random((3, *regions.shape))
    offsets = [(1, 0), (0, 1), (0, 6)]
    g = region_graph(regions, affinities=A, offsets=offsets)
    values, beyond = {}, {}
    for k, (dy, dx) in enumerate(offsets):
        for y in range(regions.shape[0] - dy):
            for x in range(regions.shape[1] - dx):
                pair = tuple(sorted((int(regions[y, x]), int(regions[y + dy, x + dx]))))
                if pair[0] != pair[1]:
                    (beyond if k == 2 else values).setdefault(pair, []).append(1 - A[k, y, x])
    assert sorted(values) == [(int(g.labels[a]), int(g.labels[b])) for a, b in g.pairs]
    for k, (a, b) in enumerate(g.pairs):
        pair = int(g.labels[a]), int(g.labels[b])
        assert g.columns["mean"][k] == pytest.approx(np.mean(values[pair]), abs=1e-6)
        assert g.columns["far_number"][k] == len(beyond.get(pair, []))
        if pair in beyond:
            assert g.columns["far_mean"][k] == pytest.approx(np.mean(beyond[pair]), abs=1e-6)
    listed = {(int(g.labels[a]), int(g.labels[b])) for a, b in zip(g.far["element"], g.far["other"], strict=True)}
    assert listed == set(beyond)


def test_pieces_against_scikit_image():
    measure = pytest.importorskip("skimage.measure")
    for seed, regions, _ in volumes(20):
        volume = np.ascontiguousarray(regions if regions.ndim == 3 else regions[None], np.int32)
        for corners in (False, True):
            sizes, pieces, inner = count_pieces(volume, int(volume.max()) + 1, corners)
            assert sizes.tolist() == np.bincount(volume.ravel()).tolist()
            labelled = measure.label(volume, background=0, connectivity=3 if corners else 1)
            one_of = {int(k): int(volume[labelled == k][0]) for k in range(1, labelled.max() + 1)}
            assert pieces.tolist() == np.bincount(list(one_of.values()), minlength=len(sizes)).tolist(), seed
            if (pieces > 1).any():
                edge = np.ones(volume.shape, bool)
                depth = slice(1, -1) if volume.shape[0] > 1 else slice(None)
                edge[depth, 1:-1, 1:-1] = False
                shut = [region for k, region in one_of.items() if not edge[labelled == k].any()]
                assert inner.tolist() == np.bincount(shut, minlength=len(sizes)).tolist(), seed


def test_spacing_weighs_faces():
    regions = np.array([[1, 1], [2, 3]])
    g = region_graph(regions, np.full((2, 2), 0.9), spacing=(4, 1))
    assert dict(zip(map(tuple, g.pairs.tolist()), g.columns["area"].tolist(), strict=True)) == {
        (0, 1): 1.0, (0, 2): 1.0, (1, 2): 4.0
    }  # fmt: skip
    assert g.costs()[2] == pytest.approx(4 * g.costs()[0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"regions": np.ones((2, 2))}, "regions has dtype float64: expected integers"),
        ({"regions": [[1, -1]]}, r"regions is -1 at \(0, 1\)"),
        ({"regions": [1, 2]}, r"regions has shape \(2,\)"),
        ({"regions": [[1, 2]], "boundary": [[0.5], [0.5]]}, r"boundary has shape \(2, 1\): expected \(1, 2\)"),
        ({"regions": [[1, 2]], "boundary": [[0.5, 1.5]]}, r"boundary is 1.5 at \(0, 1\).*divide by 255"),
        ({"regions": [[1, 2]], "boundary": [[0.5, np.nan]]}, r"boundary is nan at \(0, 1\)"),
        ({"regions": [[1, 2]], "boundary": np.array([[0, 255]], np.uint8)}, r"integers of 8 bits.*divide by 255"),
        ({"regions": [[1, 2]], "affinities": [[[1.0, 1.0]]], "offsets": [(0, 2)]}, r"offset 0, \(0, 2\), reaches"),
        ({"regions": [[1, 2]], "affinities": [[[1.0, 1.0]]], "offsets": [(0, 0)]}, "leads to another voxel"),
        ({"regions": [[1, 2, 3]], "affinities": [[[1.0] * 3]], "offsets": [(0, 2)]}, "has no neighbours"),
        ({"regions": [[1, 2]], "affinities": [[[1.0, 1.0]]]}, "affinities without offsets"),
        ({"regions": [[1, 2]], "boundary": [[0.5, 0.5]], "offsets": [(0, 1)]}, "both given"),
        ({"regions": [[1, 2]], "spacing": (1, 0)}, "2 positive numbers"),
        ({"regions": [[1, 2]], "image": [[1.0, np.inf]]}, "image has a value that is NaN or infinite"),
    ],
)  # fmt: skip
def test_mistakes(arguments, message):
    with pytest.raises(gp.GraphPartError, match=message) as caught:
        region_graph(**arguments)
    assert "\n" not in str(caught.value)


def test_regions_in_pieces_are_a_mistake_unless_a_crop_explains_them():
    ring = np.ones((7, 7), int)
    ring[1:-1, 1:-1] = 2
    ring[3, 3] = 1  # within 2, without a way to the border
    with pytest.raises(gp.InvalidProblem, match=r"region 1 has 2 pieces that do not touch: .*skimage.measure.label"):
        region_graph(ring)
    assert region_graph(np.array([[1, 2, 1], [1, 2, 1]])).m == 1
    diagonal = np.pad(np.array([[1, 2], [2, 1]]), 1)
    assert region_graph(diagonal).n == 2


def test_wrong_calls_of_the_graph():
    g = region_graph([[1, 2]])
    with pytest.raises(gp.InvalidOption, match=r"no boundary values"):
        g.costs()
    with pytest.raises(gp.InvalidProblem, match=r"expected \(1,\), one for each pair"):
        g.problem([1.0, 2.0])
    with pytest.raises(gp.InvalidPartition, match=r"expected \(2,\) integers"):
        g.project([0])
    with pytest.raises(gp.InvalidOption, match=r"threshold is 1.5"):
        region_graph([[1, 2]], [[0.5, 0.5]]).costs(1.5)


def test_pairs_of_regions_far_apart_become_lifted_pairs():
    regions = np.array([[1, 1, 2, 2, 3, 3]] * 4)
    affinities = np.full((2, 4, 6), 0.9, np.float32)
    affinities[1] = 0.3
    graph = gp.images.region_graph(regions, affinities=affinities, offsets=[(0, 1), (0, 4)])
    assert [graph.far[name].tolist() for name in ("element", "other", "number")] == [[0], [2], [8]]
    assert graph.far["mean"] == pytest.approx([0.7])
    problem = graph.problem(graph.costs())
    assert gp.solve(problem).n_clusters == 1
    pairs = np.column_stack([graph.far["element"], graph.far["other"]])
    apart = gp.solve(problem.require(lifted=(pairs, 1000 * (graph.far["mean"] - 0.5))))
    assert apart.n_clusters == 2 and apart.labels[0] != apart.labels[2]


@pytest.mark.parametrize("shape", [(9, 12), (40, 4, 5), (1, 5, 9)])
def test_edges_by_filters_against_eigenvalues_of_each_voxel(shape, monkeypatch):
    rng = np.random.default_rng(len(shape))
    boundary = rng.random(shape).astype(np.float32)
    regions = np.arange(boundary.size).reshape(shape) // 4 + 1
    values = filters.grey(boundary, shape).astype(float)
    at_once = region_graph(regions, boundary).edges
    monkeypatch.setattr(filters, "SLAB", boundary.size // 3)
    found = region_graph(regions, boundary, image=np.stack([boundary, boundary], axis=-1)).edges
    smooth = ndimage.gaussian_filter(values, 1.0)
    slopes = [np.gradient(smooth, axis=k) if n > 1 else 0 * smooth for k, n in enumerate(shape)]
    tensor = [[ndimage.gaussian_filter(a * b, 2.0) for a in slopes] for b in slopes]
    roots = np.sqrt(np.maximum(np.linalg.eigvalsh(np.moveaxis(np.array(tensor), (0, 1), (-2, -1))), 0))
    for k in range(len(shape)):
        expected = contacts(regions, roots[..., -1 - k])
        means = [np.mean([value for _, value in expected[pair]]) for pair in sorted(expected)]
        name = f"boundary_edges_{k}"
        assert np.abs(found[name] - means).max() < 2e-3
        assert np.array_equal(found[name], found[name.replace("boundary", "image")])
        assert np.abs(found[name] - at_once[name]).max() < 1e-5
