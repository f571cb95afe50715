"""Segmentations of generated volumes and photographs, thresholds, masks, spacing, blocks, files, and wrong input."""

import json
import os
import pickle
import warnings

import numpy as np
import pytest

import graphpart as gp
from graphpart import cli, images
from graphpart.display import plural

pytest.importorskip("skimage")
pytest.importorskip("bioimage_cpp")

INSTANCES = os.environ.get("GRAPHPART_INSTANCES")


def distance(truth, labels):
    return sum(gp.metrics.variation_of_information(truth, labels, missing=0))


@pytest.fixture(scope="module")
def volume():
    return gp.images.cells((20, 48, 56), noise=0.1)


def test_cells_are_the_same_in_blocks(volume):
    boundary, truth = volume
    some, true = gp.images.cells((8, 20, 30), noise=0.1, origin=(5, 9, 11))
    here = np.s_[5:13, 9:29, 11:41]
    assert np.array_equal(true, truth[here]) and np.allclose(some, boundary[here], atol=1e-6)


def test_a_volume(volume):
    boundary, truth = volume
    s = gp.images.segment(boundary)
    assert s.labels.shape == boundary.shape and s.labels.min() == 1 and s.labels.max() == s.n_segments
    assert s.result.status == "optimal" and s.problem.n == s.graph.n == s.regions.max()
    assert gp.metrics.adjusted_rand_index(truth, s.labels) > 0.85
    assert np.array_equal(np.asarray(s), s.labels)
    given = gp.images.segment(boundary, regions=s.regions)
    assert np.array_equal(given.labels, s.labels)


def test_a_larger_threshold_joins_more(volume):
    counts = [gp.images.segment(volume[0], threshold=t).n_segments for t in (0.02, 0.5, 0.98)]
    assert counts[0] > counts[2] and counts[0] >= counts[1] >= counts[2]


def test_mask_and_spacing(volume):
    boundary = volume[0]
    mask = np.zeros(boundary.shape, bool)
    mask[:, :20], mask[:, 30:] = True, True
    s = gp.images.segment(boundary, mask=mask, spacing=(2, 1, 1))
    assert np.array_equal(s.labels > 0, mask)
    assert not set(np.unique(s.labels[:, :20])) & set(np.unique(s.labels[:, 30:]))
    regions = np.where(mask, s.regions, 0)
    assert np.array_equal(gp.images.segment(boundary, regions=regions).labels > 0, mask)


def test_affinities_at_long_offsets_that_know_only_both_ends():
    boundary, truth = gp.images.cells((20, 48, 56), noise=0.0)
    offsets = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 6, 0), (0, 0, 6)]
    A = np.stack([1 - (boundary + np.roll(boundary, [-x for x in o], (0, 1, 2))) / 2 for o in offsets])
    s = gp.images.segment(affinities=A, offsets=offsets)
    assert gp.metrics.adjusted_rand_index(truth, s.labels) > 0.7
    with pytest.warns(gp.GraphPartWarning) as caught:
        p = gp.SetPartition.from_affinities(A, offsets, clip=0.001, far="all")
    assert any("attract do so across neighbours that repel" in str(w.message) for w in caught)
    with pytest.warns(gp.GraphPartWarning, match=r"of the pixels repel all of their neighbours"):
        q = gp.SetPartition.from_affinities(A, offsets, clip=0.001)
    by = [gp.partition.greedy_joining(x).labels for x in (p, q)]
    assert gp.metrics.adjusted_rand_index(truth.ravel(), by[0]) < 0.3
    assert gp.metrics.adjusted_rand_index(truth.ravel(), by[1]) > 0.7


def test_a_photograph(tmp_path):
    rng = np.random.default_rng(0)
    photograph = np.full((60, 80, 3), (200, 180, 40), np.uint8)
    photograph[10:40, 10:40] = 30, 60, 160
    photograph[15:50, 50:70] = 160, 30, 30
    noisy = np.clip(photograph + rng.normal(0, 6, photograph.shape), 0, 255).astype(np.uint8)
    s = gp.images.segment(noisy)
    assert s.n_segments == 3
    assert gp.metrics.adjusted_rand_index(photograph.astype(int).sum(axis=2), s.labels) > 0.9
    ramp = np.clip((np.arange(80) - 15) / 50, 0, 1)[:, None] * (60, -40, 90) + (90, 120, 60) + np.zeros((60, 1, 1))
    ramp[20:40, 5:15] = 250, 0, 0  # the strongest edge
    halves = np.indices((60, 80))[1] // 40 + 1
    s = gp.images.segment(ramp.astype(np.uint8), regions=halves)
    assert s.graph.costs()[0] < 0 and s.n_segments == 2  # a soft edge is faint, but colours differ
    grey = noisy.mean(axis=2).astype(np.uint8)
    s = gp.images.segment(grey)
    assert s.n_segments == 3 and s.image is grey and "read as a grey photograph" in s.result.message
    dark = np.where(grey > 120, grey // 10, grey)  # may be a map
    with pytest.raises(gp.InvalidProblem, match=r"integers of 8 bits.*pass a photograph as image="):
        gp.images.segment(dark)
    for picture in (grey, dark, grey.astype(np.int64), grey / 255, noisy.mean(axis=2)):
        s = gp.images.segment(image=picture)
        assert s.n_segments == 3 and s.image is picture and not s.result.message.count("read as")
    for colours in (noisy.astype(np.int64), noisy.astype(np.uint32)):
        assert np.array_equal(gp.images.segment(image=colours).labels, gp.images.segment(noisy.astype(np.uint8)).labels)
    with pytest.raises(gp.InvalidProblem, match=r"image has colours from -1 to"):
        gp.images.segment(image=noisy.astype(np.int64) - 1 - noisy.astype(np.int64).min())
    for scale in (1e300, 1e-200):
        assert np.array_equal(gp.images.segment(image=grey * scale).labels, gp.images.segment(image=grey).labels)
    with pytest.warns(gp.GraphPartWarning, match=r"the image has no edge"):
        gp.images.segment(image=np.ones((20, 20)))
    np.save(tmp_path / "dark.npy", dark)
    assert gp.images.segment(image=tmp_path / "dark.npy").n_segments == 3
    assert np.array_equal(gp.images.segment(image=noisy).labels, gp.images.segment(noisy).labels)


def test_an_integer_boundary_map_on_a_grey_ground_is_told():
    boundary, _ = gp.images.cells((96, 96), size=24, noise=0.05, seed=7)
    grey = (255 * (0.7 * boundary + 0.2).clip(0, 1)).astype(np.uint8)
    with pytest.warns(gp.GraphPartWarning, match=r"high values are lines.*pass boundary / 255"):
        gp.images.segment(grey)
    with warnings.catch_warnings():
        warnings.simplefilter("error", gp.GraphPartWarning)
        gp.images.segment(image=grey)


def test_faint_borders_beside_strong_edges():
    # black and white things made Otsu's threshold that of their edges, and one region covered both greys
    photograph = np.full((120, 160, 3), 200, np.uint8)
    photograph[:, :80] = 200, 180, 170
    photograph[80:110, 20:140] = 5
    photograph[10:40, 100:130] = 250
    noise = np.random.default_rng(0).normal(0, 3, photograph.shape)
    s = gp.images.segment(np.clip(photograph + noise, 0, 255).astype(np.uint8))
    truth = np.unique(photograph.astype(int) @ [1, 300, 90000], return_inverse=True)[1]
    assert s.n_segments == 4
    assert gp.metrics.adjusted_rand_index(truth.ravel(), s.labels.ravel()) > 0.9


def test_colours_that_come_first():
    grey = np.indices((60, 80))[1] // 40 * 100.0
    with pytest.warns(gp.GraphPartWarning, match=r"a volume of 3 slices; if these are colours, they come last"):
        gp.images.segment(np.stack([gp.images.boundaries(grey)] * 3))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "nothing is given"),
        ({"boundary": np.zeros(5)}, r"shape \(5,\)"),
        ({"boundary": np.full((5, 5), 2.0)}, "divide by 255"),
        ({"boundary": np.zeros((5, 5)), "mask": np.ones((4, 5), bool)}, r"mask has shape \(4, 5\)"),
        ({"boundary": np.zeros((5, 5)), "mask": np.zeros((5, 5), bool)}, "False everywhere"),
        ({"boundary": np.zeros((5, 5)), "threshold": 0}, "threshold is 0"),
        ({"boundary": np.zeros((5, 5)), "regions": np.ones((5, 4), int)}, "boundary has shape"),
        ({"boundary": np.zeros((5, 5)), "workers": 2}, "workers is given without blocks"),
        ({"boundary": np.zeros((5, 5)), "blocks": (4, 4)}, "at least 8 each"),
        ({"boundary": np.zeros((9, 9)), "blocks": (8, 8), "image": np.zeros((9, 9))}, "image is given with blocks"),
        ({"boundary": np.zeros((5, 5)), "spacing": (1, 1, 1)}, "2 positive numbers"),
        ({"affinities": np.zeros((1, 5, 5)), "offsets": [(0, 9)]}, "reaches beyond the shape"),
        ({"boundary": np.zeros((5, 5)), "affinities": np.zeros((1, 5, 5)), "offsets": [(0, 1)]}, "both given"),
        ({"boundary": "missing.zarr"}, "missing.zarr: No such file or directory"),
    ],
)
def test_mistakes(arguments, message):
    with pytest.raises(gp.GraphPartError, match=message) as caught:
        gp.images.segment(**arguments)
    assert "\n" not in str(caught.value)


def test_plot_and_report(volume, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("bokeh")
    from graphpart.plotting import plot_segments
    from graphpart.plotting.figures import picture

    s = gp.images.segment(volume[0])
    ax = s.plot(ax=picture().add_subplot(), slice=3, axis=2)
    assert "slice 3 of 56" in ax.get_title()
    for wrong in ({"slice": 99}, {"axis": 5}, {"image": np.zeros((2, 2))}):
        with pytest.raises(gp.InvalidOption):
            plot_segments(s.labels, **({"image": None} | wrong))
    with pytest.raises(gp.InvalidOption, match=r"expected plot_segments\(labels, image\)"):
        plot_segments(np.zeros((2, 2, 3), np.uint8), np.zeros((2, 2), np.int64))
    gp.report(s, s.result, tmp_path / "report.html", doubts=False)
    text = (tmp_path / "report.html").read_text("utf-8")
    assert "Outlines of the segments" in text and "data:image/png;base64" in text


class TestBlocks:
    """Runs in this process; with workers, the tasks are the same pure functions."""

    def test_blocks_join_again(self, volume, tmp_path):
        pytest.importorskip("pyarrow")
        zarr = pytest.importorskip("zarr")
        boundary, truth = volume
        group = zarr.open_group(str(tmp_path / "b.zarr"), mode="w")
        group.attrs["ome"] = {"multiscales": [{"datasets": [{"path": "s0"}, {"path": "s1"}]}]}
        shape = {"shape": boundary.shape, "chunks": (8, 16, 16), "dtype": "f4"}
        if hasattr(group, "create_array"):
            group.create_array("s0", shards=(16, 32, 32), **shape)
        else:
            group.create_dataset("s0", **shape)
        group["s0"][...] = boundary
        options = {"blocks": (20, 24, 24), "workers": 0}
        s = gp.images.segment(tmp_path / "b.zarr", output=tmp_path / "l.zarr", **options)
        labels = np.asarray(s.labels[...])
        assert s.blocks == (20, 24, 24) and s.n_segments == labels.max() and labels.min() == 1
        assert distance(truth, labels) < distance(truth, gp.images.segment(boundary).labels) + 0.25
        table, group = s.table, zarr.open_group(str(tmp_path / "l.zarr"), mode="r")
        assert np.array_equal(group["0"][...], labels) and np.array_equal(
            np.bincount(labels.ravel())[1:], table["size"]
        )
        again = gp.images.segment_blocks(boundary, work_folder=tmp_path / "work", **options)
        assert np.array_equal(again.labels, labels)
        before = {path: path.stat().st_mtime_ns for path in (tmp_path / "work" / "flood").iterdir()}
        resumed = gp.images.segment_blocks(boundary, work_folder=tmp_path / "work", **options)
        assert np.array_equal(resumed.labels, labels)
        assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "work" / "flood").iterdir()}
        with pytest.raises(gp.InvalidOption, match=r"another threshold"):
            gp.images.segment_blocks(boundary, work_folder=tmp_path / "work", threshold=0.4, **options)

    def test_one_block_is_the_volume_at_once(self, volume):
        pytest.importorskip("pyarrow")
        boundary = volume[0]
        s = gp.images.segment_blocks(boundary, blocks=boundary.shape, workers=0)
        at_once = gp.images.segment(boundary, method="kernighan-lin")
        assert s.n_regions == at_once.graph.n and s.cost == pytest.approx(at_once.result.cost)
        assert distance(at_once.labels, s.labels) < 1e-9
        os.stat(s.path)
        path = s.path
        del s
        assert not os.path.exists(path)

    def test_mask(self, volume):
        pytest.importorskip("pyarrow")
        boundary = volume[0]
        mask = np.zeros(boundary.shape, np.uint8)
        mask[:, 10:40, 10:40] = 1
        s = gp.images.segment_blocks(boundary, mask=mask, blocks=(20, 24, 24), workers=0)
        assert np.array_equal(np.asarray(s.labels) > 0, mask > 0)

    def test_a_truncated_file_leaves_nothing(self, volume, tmp_path):
        pytest.importorskip("pyarrow")
        zarr = pytest.importorskip("zarr")
        boundary = volume[0]
        array = zarr.open(str(tmp_path / "b.zarr"), mode="w", shape=boundary.shape, chunks=(20, 24, 28), dtype="f4")
        array[...] = boundary
        chunk = max((p for p in (tmp_path / "b.zarr").rglob("*") if p.is_file()), key=lambda p: p.stat().st_size)
        chunk.write_bytes(chunk.read_bytes()[:100])
        with pytest.raises(gp.FormatError, match=r"b.zarr: the block at .* cannot be read") as caught:
            gp.images.segment(tmp_path / "b.zarr", blocks=(20, 24, 28), workers=0, output=tmp_path / "l.zarr")
        assert "\n" not in str(caught.value)
        assert sorted(p.name for p in tmp_path.iterdir()) == ["b.zarr"]
        chunk.unlink()
        with pytest.warns(gp.GraphPartWarning, match=r"1 of 4 chunks are not stored"):
            gp.images.segment(tmp_path / "b.zarr", blocks=(20, 24, 28), workers=0)

    def test_mistakes(self, tmp_path):
        pytest.importorskip("pyarrow")
        with pytest.raises(gp.InvalidProblem, match=r"integers of 8 bits"):
            gp.images.segment_blocks(np.zeros((9, 9), np.uint8), workers=0)
        with pytest.raises(gp.InvalidProblem, match=r"boundary, block at \(0, 0\): boundary is 2"):
            gp.images.segment_blocks(np.full((9, 9), 2.0), workers=0)
        with pytest.raises(gp.InvalidOption, match=r"ends in .zarr or .npy"):
            gp.images.segment_blocks(np.zeros((9, 9)), workers=0, output=tmp_path / "l.png")
        with pytest.raises(gp.TimeLimitReached, match=r"ended before there were labels"):
            gp.images.segment_blocks(np.zeros((9, 9)), workers=0, time_limit=0.0)


class TestCommand:
    @pytest.mark.parametrize("suffix", [".npy", ".tif", ".png", ".zarr"])
    def test_files(self, suffix, tmp_path, capsys):
        from graphpart.cli import main
        from graphpart.images.files import read_array

        if suffix == ".zarr":
            pytest.importorskip("zarr")
        boundary, _ = gp.images.cells((40, 60), size=16, noise=0.05)
        source = tmp_path / "b.npy"
        np.save(source, boundary)
        out = str(tmp_path / f"l{suffix}")
        assert main(["segment", str(source), "-o", out, "--json"]) == 0
        facts = json.loads(capsys.readouterr().out)
        labels = read_array(out)
        assert labels.max() == facts["segments"] and facts["status"] == "optimal"
        assert np.array_equal(labels, gp.images.segment(boundary).labels)

    def test_pictures(self, tmp_path, capsys):
        from skimage import io

        from graphpart.cli import main

        boundary, _ = gp.images.cells((40, 60), size=16, noise=0.05)
        io.imsave(tmp_path / "b.png", (boundary * 255).round().astype(np.uint8), check_contrast=False)
        assert main(["segment", str(tmp_path / "b.png"), "-o", str(tmp_path / "l.npy")]) == 0
        expected = gp.images.segment((boundary * 255).round() / 255).labels
        assert np.array_equal(np.load(tmp_path / "l.npy"), expected)
        assert main(["segment", str(tmp_path / "b.png"), "-o", str(tmp_path / "m.npy"), "--image"]) == 0
        (tmp_path / "cut.png").write_bytes((tmp_path / "b.png").read_bytes()[:90])
        for args, message in (
            (["cut.png", "-o", "x.npy"], "cut.png: cannot be read"),
            (["none.tif", "-o", "x.npy"], "none.tif: No such file or directory"),
            (["b.txt", "-o", "x.npy"], "expected a picture or volume"),
            (["b.png", "-o", "x.doc"], "labels go to a file that ends in"),
            (["b.png", "-o", "nowhere/x.npy"], "is no folder"),
            (["b.png", "-o", "x.png", "--workers", "0"], "ends in .zarr or .npy"),
        ):
            paths = [str(tmp_path / a) if a[0] != "-" and a != "0" else a for a in args]
            assert main(["segment", *paths]) != 0
            err = capsys.readouterr().err
            assert message in err and len(err.strip().splitlines()) == 1, err
        assert not list(tmp_path.glob("x*"))

    def test_by_block(self, tmp_path, capsys):
        pytest.importorskip("pyarrow")
        from graphpart.cli import main

        np.save(tmp_path / "b.npy", gp.images.cells((40, 60), size=16, noise=0.05)[0])
        paths = [str(tmp_path / name) for name in ("b.npy", "l.npy", "t.csv")]
        args = ["segment", paths[0], "-o", paths[1], "--table", paths[2]]
        for more in ([], ["--workers", "0", "--blocks", "32,32"]):
            assert main([*args, *more]) == 0 and "segments" in capsys.readouterr().out
            labels = np.load(tmp_path / "l.npy")
            rows = (tmp_path / "t.csv").read_text().splitlines()
            assert labels.min() == 1 and len(rows) == 1 + labels.max()
            assert rows[0] == "segment,size,first_0,first_1,end_0,end_1,neighbours"


@pytest.mark.skipif(INSTANCES is None, reason="GRAPHPART_INSTANCES names no folder")
def test_electron_microscopy():
    with np.load(os.path.join(str(INSTANCES), "em", "train.npz")) as d:
        regions, boundary, truth = d["regions"], d["boundary"], d["truth"]
    s = gp.images.segment(boundary, regions=regions)
    given = distance(truth, s.labels)
    assert s.result.status == "optimal" and given <= 0.50
    assert distance(truth, gp.images.segment(boundary).labels) <= 1.2 * given


def test_a_notebook_shows_the_sizes_of_segments():
    s = images.segment(np.zeros((4, 6)), regions=np.repeat([[1, 1, 1, 2, 2, 2]], 4, 0), threshold=0.5)
    shown = s._repr_html_()
    assert f"{plural(s.n_segments, 'segment')} of 2 regions" in shown and "4 x 6" in shown and s.result.method in shown


def test_a_flat_boundary_map_is_warned_of():
    for value, told in ((0.2, "has the value 0.2 everywhere"), (1.0, "has the value 1 everywhere")):
        with pytest.warns(gp.GraphPartWarning, match=f"the boundary map {told}, so all is one region"):
            gp.images.segment(np.full((20, 30), value))
    slope = np.tile(np.linspace(0.1, 0.4, 30), (20, 1))
    with pytest.warns(gp.GraphPartWarning, match=r"has values from 0\.1 to 0\.4, but no ridge"):
        gp.images.segment(slope)


@pytest.mark.parametrize("size", [12, 24])
def test_a_faint_boundary_map_is_warned_of(size):
    boundary, truth = gp.images.cells((120, 160), size=size, noise=0.02)
    found = gp.images.segment(boundary)  # without a warning
    faint = 0.45 * boundary + 0.001
    with pytest.warns(gp.GraphPartWarning, match=r"(?s)boundary map.*pass numpy\.minimum\(1, boundary / 0\.") as caught:
        gp.images.segment(faint)
    scale = float(str(caught[0].message).split("boundary / ")[1].split(")")[0])
    scaled = gp.images.segment(np.minimum(1, faint / scale))
    assert distance(truth, scaled.labels) <= distance(truth, found.labels) + 0.05
    with pytest.warns(gp.GraphPartWarning, match=r"regions became \d+ segments?: the values of the boundary map"):
        gp.images.segment(0.6 * boundary)


def test_a_boundary_map_that_is_turned_round_is_warned_of():
    boundary, _ = gp.images.cells((60, 80), size=24, noise=0.02)
    with pytest.warns(gp.GraphPartWarning, match=r"half of the values .*turn an inverted map by 1 - boundary"):
        gp.images.segment(1 - boundary)


def test_a_photograph_of_floats_is_warned_of_where_a_noisy_boundary_map_is_not():
    rng = np.random.default_rng(0)
    boundary, truth = gp.images.cells((150, 200), size=24)
    grey = rng.uniform(0.05, 0.75, truth.max() + 1)[truth] + rng.normal(0, 0.02, truth.shape)
    raised = np.clip(0.25 + 0.75 * boundary + rng.normal(0, 0.08, truth.shape), 0, 1)
    assert 0.2 < np.median(grey) < 0.55 and 0.2 < np.median(raised) < 0.55
    with pytest.warns(gp.GraphPartWarning, match=r"half of the values .*pass a photograph as image="):
        gp.images.segment(np.clip(grey, 0, 1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gp.images.segment(raised)
    assert not [one for one in caught if "half of the values" in str(one.message)]


def test_attributes_that_one_may_look_for_are_explained():
    s = gp.images.segment(gp.images.cells((30, 40), size=12)[0])
    with pytest.raises(AttributeError, match="Segmentation has no attribute 'segments'; did you mean labels"):
        s.segments  # noqa: B018
    with pytest.raises(AttributeError, match=r"module 'graphpart\.images' has no attribute 'draw'; did you mean plot"):
        gp.images.draw  # noqa: B018
    copied = pickle.loads(pickle.dumps(s))
    assert np.array_equal(copied.labels, s.labels)


def test_a_region_graph_in_a_notebook():
    graph = gp.images.segment(gp.images.cells((30, 40), size=12)[0]).graph
    shown = graph._repr_html_()
    assert f"{graph.n} regions" in shown and shown.count("<tr") > min(10, graph.m)


def test_arguments_by_position_and_by_name():
    boundary = np.zeros((9, 9))
    expected = r"expected segment\(boundary, regions=, affinities=, offsets=, image="
    with pytest.raises(gp.InvalidOption, match=f"boundary twice, by position and by name: {expected}"):
        gp.images.segment(boundary, boundary=boundary)
    with pytest.raises(gp.InvalidOption, match=f"2 arguments by position: {expected}"):
        gp.images.segment(boundary, boundary)
    with pytest.raises(gp.InvalidOption, match=r"boundaries has 2 arguments by position: expected .*image, width="):
        gp.images.boundaries(boundary, 2.0)
    with pytest.raises(gp.InvalidOption, match=r"near_duplicates lacks X: expected near_duplicates\(X, thr"):
        gp.near_duplicates()
    with pytest.raises(gp.InvalidOption, match=r"from_matrix has 3 arguments by position: expected from_matrix\(matr"):
        gp.SetPartition.from_matrix(boundary, None, 0.0)
    with pytest.raises(gp.InvalidProblem, match=r"from 0 to 200: .* divide by 255 if 255"):
        gp.images.segment((boundary + 200).astype(int) * np.eye(9, dtype=int))


def test_the_file_of_a_picture(tmp_path):
    io = pytest.importorskip("skimage.io")
    rng = np.random.default_rng(0)
    photograph = np.full((40, 60, 3), (200, 30, 30), np.uint8)
    photograph[:, 30:] = 20, 30, 220
    photograph += rng.integers(0, 8, photograph.shape).astype(np.uint8)
    io.imsave(tmp_path / "cat.png", photograph, check_contrast=False)
    found, expected = gp.images.segment(tmp_path / "cat.png"), gp.images.segment(photograph)
    assert found.n_segments == 2 and (found.labels == expected.labels).all()
    assert (found.image == photograph).all()
    boundary = np.zeros((40, 60), np.uint8)
    boundary[:, 20] = 230
    io.imsave(tmp_path / "boundary.png", boundary, check_contrast=False)
    found = gp.images.segment(str(tmp_path / "boundary.png"))
    assert found.n_segments == 2 and found.boundary.max() == np.float32(230) / np.float32(255)
    with pytest.raises(gp.errors.MissingFile, match=r"none\.png"):
        gp.images.segment(tmp_path / "none.png")


def test_answers_by_number_and_by_place(tmp_path, capsys):
    boundary = np.zeros((10, 30))
    boundary[:, 10], boundary[:, 20] = 0.45, 0.9
    regions = np.repeat([[4, 7, 9]], 10, axis=0).repeat(10, axis=1)
    s = images.segment(boundary, regions=regions)
    assert s.n_segments == 2
    asked = gp.questions(s, s.result, 5)
    assert asked["place_left"][0].startswith("(") and (asked["size_left"] > 0).all()
    for side in ("left", "right"):  # both in the middle of the boundary
        places = asked[f"{side}_place"].tolist()
        assert [s.graph.elements()[x] for x in places] == asked[side].tolist() and {x for x, _ in places} <= {4, 5}
    answered = asked.assign(answer="apart", left=9, right=9)  # numbers of other regions, and the same places
    assert images.segment(boundary, regions=regions, answers=answered).n_segments == 3
    assert not len(gp.questions(s, s.result, 5, answers=answered))
    for said in ([(0, 2)], [(0, 15)]), (["(0, 2)"], ["(0, 15)"]), ([0], [1]):
        apart = images.segment(
            boundary, regions=regions, answers={"left": said[0], "right": said[1], "answer": ["apart"]}
        )
        assert apart.n_segments == 3
    for place, says in {
        (0, 40): "expected one in an array of the shape",
        (1, 2, 3): "expected one in an array",
    }.items():
        with pytest.raises(gp.InvalidProblem, match=says):
            images.segment(boundary, regions=regions, answers={"left": [place], "right": [0], "answer": ["apart"]})
    np.save(tmp_path / "boundary.npy", boundary)
    np.save(tmp_path / "regions.npy", regions)
    (tmp_path / "said.csv").write_text('left,right,answer\n"(0, 2)","(0, 15)",apart\n')
    call = ["segment", str(tmp_path / "boundary.npy"), "-o", str(tmp_path / "out.npy"), "--json"]
    answered = [*call, "--answers", str(tmp_path / "said.csv")]
    assert cli.main([*answered, "--regions", str(tmp_path / "regions.npy")]) == 0
    assert '"segments": 3' in capsys.readouterr().out
    asked = ["--questions", str(tmp_path / "asked.csv"), "--review", str(tmp_path / "page.html")]
    assert cli.main([*call, "--regions", str(tmp_path / "regions.npy"), *asked]) == 0
    rows = (tmp_path / "asked.csv").read_text().splitlines()
    assert (
        rows[1].startswith('"(4, 9)","(4, 10)",together,') and '"pictures":["' in (tmp_path / "page.html").read_text()
    )
    (tmp_path / "said.csv").write_text("\n".join([rows[0], rows[1] + "apart"]))
    assert cli.main([*answered, "--regions", str(tmp_path / "regions.npy")]) == 0
    assert '"segments": 3' in capsys.readouterr().out.splitlines()[-1]
    assert cli.main([*answered, "--blocks", "5,5"]) == 2
