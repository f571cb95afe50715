"""The check of certificates with NumPy accepts and refuses the same ones as the plain check."""

import copy
import dataclasses

import numpy as np
import pytest
from trials import trials

import graphpart as gp
from graphpart.common import fast_check
from graphpart.crf.proof_trees import leaves

WRONG = (0, -1, 1, 7, 10**30, -(10**30), 10**400, 2**62, 0.5, True, None, "0", [], [0], float("inf"))


def verdict(certificate, problem, exact):
    """ "" if a certificate is accepted, else the text of the refusal, which has to be one line."""
    try:
        certificate.check(problem, exact=exact)
    except gp.InvalidCertificate as error:
        text = str(error)
        assert text and "\n" not in text and len(text) < 400, text
        return text
    return ""


def corrupted(certificate, rng):
    """One with some change of its nodes, and a seal that fits.

    A node is left out, repeated, exchanged with another one or cut short; a number anywhere is replaced by another one,
    by a huge one or by something else; or the numbers of a node become 0, have another sign, or a smaller unit.
    """
    nodes = copy.deepcopy(certificate.nodes)
    k = int(rng.integers(len(nodes)))
    way = int(rng.integers(8))
    if way == 0:
        del nodes[k]
    elif way == 1:
        nodes.insert(k, nodes[int(rng.integers(len(nodes)))])
    elif way == 2:
        other = int(rng.integers(len(nodes)))
        nodes[k], nodes[other] = nodes[other], nodes[k]
    elif way == 3:
        nodes = nodes[:k]
    elif way == 4:
        node = nodes[k]
        nodes[k] = node[: int(rng.integers(len(node)))]
    elif way == 5 and nodes[k][0] in ("inequalities", "messages"):
        change = (lambda x: 0, lambda x: -x, lambda x: x // 2, lambda x: x * 3)[int(rng.integers(4))]
        lists = nodes[k][2] if nodes[k][0] == "inequalities" else [nodes[k]]
        for row in lists:
            row[2] = change(row[2]) if isinstance(row[2], int) else [change(x) for x in row[2]]
    else:
        place, inside = nodes, nodes[k]
        at = k
        while isinstance(inside, list) and inside:
            place, at = inside, int(rng.integers(len(inside)))
            inside = place[at]
        place[at] = WRONG[int(rng.integers(len(WRONG)))]
    return dataclasses.replace(certificate, nodes=nodes).sealed()


def raised(certificate, by):
    """One that states a higher bound, which nothing can prove."""
    return dataclasses.replace(certificate, bound=certificate.bound + by).sealed()


def problems():
    """Problems whose certificates have all kinds of nodes and of inequalities."""
    rng = np.random.default_rng(3)
    pairs = [(a, b) for a in range(9) for b in range(a)]
    costs = rng.integers(-3, 4, len(pairs)).astype(float)
    yield gp.SetPartition.from_pairs(9, pairs, costs, n_clusters=2, max_size=6)
    yield gp.SetPartition.from_pairs(9, pairs, costs, n_clusters=(1, 2))
    yield gp.SetPartition.from_pairs(9, pairs[:12], costs[:12] - 1.0, missing=0.5, dense=False)
    yield gp.SetPartition.from_pairs(7, pairs[:9], costs[:9], missing=-0.5, dense=False)
    yield gp.SetPartition.from_pairs(9, pairs, rng.normal(size=len(pairs)))
    ring, across = [(i, (i + 1) % 6) for i in range(6)], [(0, 2), (1, 3), (2, 5), (1, 4)]
    yield gp.SetPartition.from_pairs(6, ring, [1.0, -2, 3, 1, 2, -1], lifted=(across, [-3.0, 2, -4, -2]))
    tables = rng.integers(-9, 10, (36, 2, 3)).astype(float)
    tables[::5, 0, 1] = np.inf
    some = [(a, b + 4) for a in range(4) for b in range(5)]
    yield gp.FactorGraph.from_arrays([2] * 4 + [3] * 5, [(some, tables[:20])])
    yield gp.FactorGraph.from_arrays(
        [4] * 5, [([(a, b) for a in range(5) for b in range(a)], rng.normal(size=(10, 4, 4)))]
    )


def proven(p):
    r = gp.solve(p, certificate=True)
    assert r.certificate is not None, r.message
    return r.certificate


@pytest.fixture(scope="module")
def certificates():
    """Problems and their certificates, with small eliminations only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leaves, "LARGEST", 8)
        return [(p, proven(p)) for p in problems()]


@pytest.mark.parametrize("name", ["FITS", "DENSE", "SMALL", "TERMS"])
def test_all_ways_to_add_up(certificates, monkeypatch, name):
    monkeypatch.setattr(fast_check, name, 0)
    for p, c in certificates:
        assert not verdict(c, p, False) and verdict(raised(c, 1.0), p, False)


def test_both_refuse_the_same(certificates):
    rng = np.random.default_rng(0)
    for p, c in certificates:
        assert verdict(c, p, True) == "" != verdict(raised(c, 1.0), p, True)
        for _ in range(trials(24)):
            other = corrupted(c, rng)
            assert bool(verdict(other, p, False)) == bool(verdict(other, p, True))
            assert verdict(raised(other, 1.0), p, False)


def test_large_tables_are_eliminated_in_the_same_way():
    rng = np.random.default_rng(1)
    pairs = [(a, b) for a in range(5) for b in range(a)]
    tables = rng.integers(-9, 10, (len(pairs), 5, 5)).astype(float)
    tables[rng.random(tables.shape) < 0.3] = np.inf
    tables[:, 0, 0] = 50.0
    f = gp.FactorGraph.from_arrays([5] * 5, [(pairs, tables)], constant=0.25)
    c = proven(f)
    assert c.nodes[0][0] == "eliminate" and verdict(c, f, False) == "" == verdict(c, f, True)
