"""Weights learned again from clusters: columns that depend on each other, rounds that do not end, many candidates."""

import numpy as np
import pytest

import graphpart as gp
from graphpart.records.second_round import _drawn, factors_from_clusters


def test_a_column_made_of_others_does_not_join_people_of_like_names():
    """Mail is made of the name, so both agree together; birth and telephone then differ."""
    pytest.importorskip("splink")
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    first, last = (["A", "Bj", "Chl", "Dm", "El", "Far", "G", "Han", "Iv"], ["Aa", "Be", "Dv", "Er", "Fe", "Ha", "Ib"])
    given = [a + b for a in first for b in ("da", "orn", "oe", "itri")]
    surname = [a + b for a in last for b in ("lton", "rgstrom", "orak", "sen")]

    def some(text, missing=0.0, typing=0.2):
        k = int(rng.integers(len(text)))
        text = text[:k] + text[k + 1 :] if rng.random() < typing else text
        return None if rng.random() < missing else text

    rows = []
    for person in range(500):
        a, b = given[rng.integers(len(given))], surname[rng.integers(len(surname))]
        born, phone = str(np.datetime64("1950-01-01") + int(rng.integers(15000))), str(rng.integers(10**8, 10**9))
        mail = f"{a[0]}.{b}@{'abc'[rng.integers(3)]}.org"
        for _ in range(1 + rng.integers(2)):
            rows.append((person, some(a), some(b), some(born, 0.1, 0.0), some(phone, 0.4), some(mail, 0.3)))
    frame = pandas.DataFrame(rows, columns=["person", "given", "surname", "born", "phone", "mail"])
    r = gp.records.match(frame, ["given", "surname", "born", "phone", "mail"])
    assert "; weights learned again from the clusters" in r.message
    assert gp.metrics.compare(frame["person"].to_numpy(), r.labels).joins_f1 > 0.9


def test_with_sources_the_expected_number_of_pairs_stays():
    """Of weights that are all twice as large as they should be, the constant keeps the sum of their probabilities."""
    rng = np.random.default_rng(1)
    u = np.arange(2000, dtype=np.int32)
    same = np.arange(2000) < 600
    part = np.where(same, 1.0, -1.0) * 4.0 + rng.normal(0, 3.0, 2000)
    weight = 2.0 * part
    p = gp.SetPartition.from_pairs(4000, np.stack([u, u + 2000], 1), -weight)
    found, _ = factors_from_clusters(p, u, u + np.int32(2000), weight, {"mw_a": weight}, True)
    sums = [(1 / (1 + np.exp2(-x))).sum() for x in (weight, found[1])]
    assert sums[1] == pytest.approx(sums[0], rel=0.01)
    assert np.allclose(found[2].pairs()[2], -found[1])


def test_rounds_that_do_not_end_are_not_trusted():
    """Weak pairs: no factors join the right ones, so weights stay as they are."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(100), 3)
    pairs = np.array(
        [(a, b) for a in range(300) for b in range(a + 1, 300) if truth[a] == truth[b] or rng.random() < 0.3], np.int32
    )
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    for noise, trusted in ((0.3, True), (12.0, False)):
        parts = np.where(same, 4.0, -4.0)[:, None] + rng.normal(0, noise, (len(pairs), 2))
        weight = parts.sum(axis=1) - 3.0
        p = gp.SetPartition.from_pairs(300, pairs, -weight)
        found, told = factors_from_clusters(p, *pairs.T, weight, dict(zip("ab", parts.T, strict=True)), False)
        assert (found is not None) == trusted == ("not learned again" not in told)
        assert not trusted or found[0].min() > 0.75  # they are not near 0 where few pairs are joined
    nothing = gp.SetPartition.from_pairs(2, [(0, 1)], [-1.0])
    few = factors_from_clusters(nothing, *np.array([[0], [1]], np.int32), np.ones(1), {"a": np.ones(1)}, False)
    assert few == (None, "weights not learned again from the clusters, from 1 joined candidates")


def test_factors_of_many_candidates_are_learned_from_whole_components():
    u, v = (x.astype(np.int32) for x in np.triu_indices(2001, 1))
    weight = np.where((u // 3 == v // 3) & (u % 3 < 2), 1.0, -1.0)  # triples attract
    some = _drawn(2001, u, v, weight)
    assert 999 <= len(some) <= 1002  # half of two million
    assert len(np.unique(some // 3)) * 3 == len(some)
