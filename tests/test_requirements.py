"""Every front door takes the requirements of `gp.solve` as they are, and refuses what it cannot do in one line."""

import inspect

import numpy as np
import pytest

import graphpart as gp
from graphpart.partition.problem.requirements import NAMES

LABELINGS = [[0, 0, 0, 1, 1], [5, 5, 5, 7, 7], [0, 0, 1, 1, 1]]
VECTORS = [[1.0, 0.0], [1.0, 0.01], [0.0, 1.0], [1.0, 0.02], [0.01, 1.0]]
POINTS = [[0.0], [1.0], [10.0], [11.0], [30.0]]


def boundary():
    values = np.zeros((12, 30))
    values[:, [6, 12, 18, 24]] = [0.1, 0.9, 0.2, 0.9]
    return values


def regions():
    return np.repeat(np.repeat(np.arange(1, 6), 6)[None], 12, axis=0)


def clustering(**requirements):
    from graphpart.estimators import CorrelationClustering

    return CorrelationClustering(threshold=2.0).fit(POINTS, **requirements).result_


DOORS = {
    "consensus": lambda **r: gp.consensus(LABELINGS, **r),
    "near_duplicates": lambda **r: gp.near_duplicates(VECTORS, 0.001, **r),
    "segment": lambda **r: gp.images.segment(boundary(), regions=regions(), **r).result,
    "clustering": clustering,
}
OPTIONS = [
    {"together": [(0, 2)]},
    {"apart": [(0, 1)]},
    {"must_cut": [(0, 1)], "must_join": [(2, 3)]},
    {"max_size": 2},
    {"n_clusters": 2},
    {"groups": [0, 0, 1, 1, 2]},
    {"together": [(3, 4)], "max_size": 3, "n_clusters": (2, None), "groups": ["a", "a", None, "b", ""]},
]


def obeys(labels, options):
    together = [*options.get("together", ()), *options.get("must_join", ())]
    apart = [*options.get("apart", ()), *options.get("must_cut", ())]
    groups = options.get("groups", [None] * len(labels))
    alike = [(a, b) for b in range(len(labels)) for a in range(b) if groups[a] == groups[b] not in (None, "")]
    sizes = np.bincount(labels)
    least, most = (2, 2) if options.get("n_clusters") == 2 else options.get("n_clusters", (1, None))
    return (
        all(labels[a] == labels[b] for a, b in together)
        and all(labels[a] != labels[b] for a, b in [*apart, *alike])
        and sizes.max() <= options.get("max_size", 5)
        and least <= len(sizes) <= (most or 5)
    )


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "+".join(options))
@pytest.mark.parametrize("door", DOORS)
def test_every_door_obeys(door, options):
    r = DOORS[door](**options)
    assert obeys(r.labels, options) and r.status == "optimal"
    assert r.cost == pytest.approx(gp.solve(r.problem, "brute-force").cost)


def test_consensus_with_requirements_costs_what_it_says():
    """Against the disagreement of all partitions, counted pair by pair."""
    pairs = [(a, b) for b in range(5) for a in range(b)]
    w = [1.0, 2.0, 0.5]

    def disagreement(labels):
        return sum(
            v * ((x[a] == x[b]) != (labels[a] == labels[b]))
            for x, v in zip(LABELINGS, w, strict=True)
            for a, b in pairs
        )

    everything = [np.array(x) for x in np.ndindex(5, 5, 5, 5, 5)]
    for options in OPTIONS:
        r = gp.consensus(LABELINGS, w, **options)
        best = min(disagreement(x) for x in everything if obeys(np.unique(x, return_inverse=True)[1], options))
        assert r.disagreement == pytest.approx(disagreement(r.labels)) == pytest.approx(best)
        assert r.disagreement_bound == pytest.approx(best)


@pytest.mark.parametrize("door", DOORS)
def test_every_door_refuses_in_one_line(door):
    for options, says in [
        ({"maxsize": 2}, "did you mean 'max_size'"),
        ({"max_size": 0}, "^max_size is 0"),
        ({"apart": [(0, 9)]}, r"^\(0, 9\) in apart: 9 is not a node"),
        ({"groups": [1, 2]}, "^groups has length 2"),
        ({"n_clusters": 6}, "n_clusters is 6, but there are 5 elements"),
    ]:
        with pytest.raises(gp.GraphPartError, match=says) as caught:
            DOORS[door](**options)
        assert "\n" not in str(caught.value)


def test_signatures_show_all_requirements():
    from graphpart.estimators import CorrelationClustering

    for function in (
        gp.match, gp.near_duplicates, gp.images.segment, gp.images.RegionGraph.problem, CorrelationClustering.fit,
    ):  # fmt: skip
        assert set(NAMES) <= set(inspect.signature(function).parameters), function
    with pytest.raises(gp.InvalidOption, match="consensus takes no lifted"):
        gp.consensus(LABELINGS, lifted=([(0, 1)], [1.0]))


def test_segments_hang_together_and_blocks_take_no_requirements():
    far = {"lifted": ([(0, 4)], [-1e6])}
    assert gp.images.segment(boundary(), regions=regions(), **far).n_segments == 1
    with pytest.raises(gp.InvalidOption, match=r"^max_size is given with blocks: expected a .* map only$"):
        gp.images.segment(boundary(), blocks=(6, 6), max_size=2)
    r = gp.near_duplicates(VECTORS, 0.001, **far)
    assert r.status == "optimal" and r.cost == gp.solve(r.problem, "brute-force").cost


def test_divided_problems_say_where_requirements_are_possible():
    distributed = pytest.importorskip("graphpart.distributed")
    rows = {"u": [0, 1], "v": [1, 2], "cost": [-1.0, 1.0]}
    for name in set(NAMES) - {"groups", "group_cost", "connected", "lifted"} | {"must_join", "must_cut"}:
        with pytest.raises(gp.InvalidOption, match=f"^{name} is for problems in memory") as caught:
            distributed.solve(rows, workers=0, **{name: 1})
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("method", ["auto", "exact"])
def test_the_only_partition_needs_no_search(method):
    u, v = np.triu_indices(60, 1)
    p = gp.SetPartition.from_pairs(60, (u, v), -np.ones(len(u)))
    for options in ({"max_size": 1}, {"n_clusters": 60}, {"n_clusters": (60, None), "max_size": 7}):
        r = gp.solve(p, method, **options)
        assert r.status == "optimal" and r.n_clusters == 60 and r.cost == r.lower_bound == 0.0
