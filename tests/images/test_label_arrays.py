"""Labels as OME-Zarr: every scale against slices of the whole, metadata, files of one block; tables of segments."""

import numpy as np
import pytest

import graphpart as gp
from graphpart.images import label_arrays
from graphpart.images.blockwise import boxes_of
from graphpart.images.files import open_array
from graphpart.images.segment_table import measured, table_of


@pytest.mark.parametrize(
    ("shape", "blocks", "spacing", "steps"),
    [
        ((5, 40, 90), (5, 32, 16), (40, 4, 4), [(1, 1, 1), (1, 2, 2), (1, 4, 4), (1, 8, 8)]),
        ((90, 33), (24, 40), None, [(1, 1), (2, 2), (4, 4), (8, 8)]),
        ((90, 7, 9), (9, 8, 8), None, [(1, 1, 1)]),  # blocks that cannot be halved
        ((1, 1), (8, 8), None, [(1, 1)]),
    ],
)
def test_scales(shape, blocks, spacing, steps, tmp_path, monkeypatch):
    zarr = pytest.importorskip("zarr")
    monkeypatch.setattr(label_arrays, "LONGEST", 12)
    labels = np.random.default_rng(0).integers(0, 9, shape).astype(np.int32)
    path = tmp_path / "labels.zarr"
    label_arrays.new_labels(path, shape, blocks, spacing)
    for low, high in boxes_of(shape, blocks)[0]:
        label_arrays.write_block(path, low, labels[tuple(slice(a, b) for a, b in zip(low, high, strict=True))])
    label_arrays.publish(path)
    group = zarr.open_group(str(path), mode="r")
    ome = group.attrs.get("ome", group.attrs)
    (scales,) = ome["multiscales"]
    assert "image-label" in ome and [axis["name"] for axis in scales["axes"]] == list("zyx"[-len(shape) :])
    assert [scale["path"] for scale in scales["datasets"]] == [str(k) for k in range(len(steps))]
    for k, (step, scale) in enumerate(zip(steps, scales["datasets"], strict=True)):
        array = group[str(k)]
        assert np.array_equal(array[...], labels[tuple(slice(None, None, s) for s in step)])
        (of_voxel,) = scale["coordinateTransformations"]
        assert of_voxel["scale"] == [s * a for s, a in zip(step, spacing or (1,) * len(shape), strict=True)]
        files = getattr(array, "shards", None) or array.chunks
        for n, block, s, file in zip(shape, blocks, step, files, strict=True):
            assert file == block // s if block < n else file >= -(-n // s)  # a file belongs to one block
    assert open_array(path).shape == shape


def test_arrays_are_there_together_or_not_at_all(tmp_path, monkeypatch):
    pytest.importorskip("zarr")
    monkeypatch.setattr(label_arrays, "_pieces", None)
    with pytest.raises(TypeError):
        label_arrays.new_labels(tmp_path / "labels.zarr", (4, 4), (2, 2))
    assert not list(tmp_path.iterdir())
    monkeypatch.undo()
    label_arrays.new_labels(tmp_path / "labels.zarr", (0, 5), (2, 2))
    assert [path.name for path in tmp_path.iterdir()] == ["labels.zarr.part"]


@pytest.mark.parametrize("axes", [2, 3])
def test_table_of_segments(axes):
    rng = np.random.default_rng(axes)
    for _ in range(5):
        shape = rng.integers(1, 7, axes)
        regions = 1 + np.arange(np.prod(shape)).reshape(shape)
        regions[rng.random(shape) < 0.2] = 0
        graph = gp.images.region_graph(regions)
        if not graph.n:
            continue
        labels = np.unique(rng.integers(0, 4, graph.n), return_inverse=True)[1]
        whole = graph.project(labels)
        table = table_of(labels, measured(graph.elements() + 1, [0] * axes), graph.pairs)
        for k, segment in enumerate(table["segment"]):
            places = np.argwhere(whole == segment)
            assert table["size"][k] == len(places)
            for axis in range(axes):
                found = table[f"first_{axis}"][k], table[f"end_{axis}"][k]
                assert found == (places[:, axis].min(), places[:, axis].max() + 1)
            near = {tuple(x + sign * step) for x in places for step in np.eye(axes, dtype=int) for sign in (1, -1)}
            inside = [x for x in near if all(0 <= a < n for a, n in zip(x, shape, strict=True))]
            touched = {int(whole[x]) for x in inside} - {0, segment}
            assert table["neighbours"][k] == " ".join(map(str, sorted(touched)))
    assert table_of(np.zeros(0, int), measured(np.zeros((2, 2), int), (0, 0)), np.zeros((0, 2), int)).rows == 0
