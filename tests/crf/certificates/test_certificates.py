"""Certificates of factor graphs: what random messages prove, in floating point and in rational numbers; alterations."""

import dataclasses
import hashlib
import json
import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from reference_crf import all_energies
from strategies_crf import random_factor_graph
from trials import trials

import graphpart as gp
from graphpart.common.judge import TOLERANCE
from graphpart.crf.certificates import certificate, judging
from graphpart.crf.certificates.certificate import (
    Certificate,
    Extra,
    certify,
    common_step,
    fingerprint,
    message_starts,
    proven_bound,
    round_up,
    sealed,
)
from graphpart.crf.certificates.exact_check import check_certificate, exact_bound


def random_messages(f, rng, scale=1.0):
    """Messages to variables, larger factors and links, all at random."""
    scopes = [f.factor(g)[0] for g in range(f.m) if len(f.factor(g)[0]) > 1]
    extra = []
    for _ in range(int(rng.integers(0, 4)) if f.n > 1 else 0):
        extra.append(tuple(rng.choice(f.n, int(rng.integers(2, min(f.n, 4) + 1)), replace=False).tolist()))
    every = scopes + extra
    pairs = [(a, b) for a, s in enumerate(every) for b, t in enumerate(every) if set(s) < set(t)]
    chosen = [pairs[i] for i in rng.permutation(len(pairs))[:6]]
    sizes = [math.prod(f.domains[list(s)].tolist()) for s in every]
    count = sum(int(f.domains[list(s)].sum()) for s in every)
    links = np.array(chosen, np.int32).reshape(-1, 2)
    own = Extra(
        np.cumsum([0, *(len(s) for s in extra)], dtype=np.int64),
        np.array([v for s in extra for v in s], np.int32),
        links,
        scale * rng.standard_normal(sum(sizes[a] for a, _ in chosen)),
    )
    return scale * rng.standard_normal(count), own


@pytest.mark.parametrize("block", range(3))
def test_any_messages_prove_a_valid_bound_and_the_exact_check_agrees(block):
    rng = np.random.default_rng(block)
    proper = 0
    for case in range(150):
        f = random_factor_graph(rng, max_arity=4, max_domain=3, forbidden=(0.0, 0.2, 0.6)[block], whole=bool(case % 2))
        messages, extra = random_messages(f, rng, (1.0, 1e-300, 1e6)[case % 3])
        energies = all_energies(f)
        try:
            c = certify(f, messages, "random", extra=extra)
        except gp.InfeasibleProblem:
            assert energies.min() == np.inf
            continue
        proper += 1
        proven = exact_bound(f, c)
        assert c.bound <= proven
        assert c.verify(f) and c.verify(f, exact=True)
        if energies.min() < np.inf:
            assert proven <= energies.min() + 1e-9
            best = np.unravel_index(int(energies.argmin()), energies.shape)
            stated = c.with_cost(f.evaluate_labels(np.array(best, np.int32)))
            assert check_certificate(f, stated, [int(y) for y in best]) == proven
        size = Fraction(np.abs(messages).sum() + np.abs(extra.messages).sum() + np.abs(c.bound) + 100)
        if proven < math.inf and not c.step:
            assert proven - Fraction(c.bound) <= size * Fraction(2) ** -44
    assert proper > 60


def test_messages_change_the_energy_of_no_labeling():
    """What is summed up: entries of all tables after the messages were moved give the same energy."""
    f = gp.FactorGraph.from_arrays(
        [2, 2], [([[0]], [[0.0, 1.0]]), ([[0, 1]], [[[2.0, 3.0], [0.0, 1.0]]])], constant=5.0
    )
    assert certify(f, np.zeros(4), "none").bound == 5.0
    c = certify(f, [2.0, 0.0, 0.0, 0.0], "moved")
    assert c.bound == all_energies(f).min() == 6.0 and c.step == 1.0


def test_layout_of_messages():
    f = gp.FactorGraph.from_csr([2, 3, 4], [0, 1, 3, 6], [1, 2, 0, 0, 1, 2], np.zeros(3 + 8 + 24))
    several, starts = message_starts(f)
    assert several.tolist() == [1, 2] and starts.tolist() == [0, 6, 15]
    messages = np.zeros(15)
    messages[[0, 4, 6, 8, 11]] = 1.0  # labels 0 of each
    # A variable has another label without costs; a factor has an entry from which 1 or more was taken.
    assert certify(f, messages, "one each", step=0.0).bound == -5.0


@pytest.mark.parametrize(
    "domains",
    [[], [1], [3], [1, 1, 1], [2, 2]],
)
def test_degenerate_problems(domains):
    f = gp.FactorGraph.from_arrays(domains, [], constant=1.5)
    c = certify(f, [], "none")
    assert c.bound == 1.5 and c.verify(f) and c.verify(f, exact=True)


@pytest.mark.parametrize("size", [1e300, 1e-300, 5e-324, 1.7e308])
def test_huge_and_tiny_costs(size):
    f = (
        gp.FactorGraph.from_arrays([2, 2], [([[0]], [[0.0, size]]), ([[0, 1]], [[[size, 0.0], [0.0, 0.0]]])])
        if (size < 1e308)
        else gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [[[size, 0.0], [0.0, 0.0]]])])
    )
    for messages in (np.zeros(4), np.full(4, size), np.array([size, -size, size, -size])):
        bound = proven_bound(f, messages, Extra.none())
        assert bound <= 0.0
        c = certify(f, messages, "any")
        assert c.verify(f) and c.verify(f, exact=True)


def test_sums_that_overflow_prove_no_more_than_numbers_can():
    f = gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [np.zeros((2, 2))]), ([[1, 0]], [np.zeros((2, 2))])])
    messages = np.full(8, 1.7e308)
    bound = proven_bound(f, messages, Extra.none())
    assert bound == -np.inf
    assert proven_bound(f, -messages, Extra.none()) <= 0.0


def test_everything_forbidden_is_told():
    f = gp.FactorGraph.from_arrays([2], [([[0]], [[np.inf, 0.0]]), ([[0]], [[0.0, np.inf]])])
    with pytest.raises(gp.InfeasibleProblem, match="every labeling is forbidden"):
        certify(f, [], "none")
    never = np.full((2, 2), np.inf)
    with pytest.raises(gp.InfeasibleProblem):
        certify(gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [never])]), np.ones(4), "none")


def test_whole_costs_round_the_bound_up():
    f = gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [[[3.0, 6.0], [9.0, 3.0]]])], constant=6.0)
    assert common_step(f) == 3.0
    c = certify(f, [-0.5, 0.0, 0.0, 0.0], "half")
    assert (c.bound, c.step) == (9.0, 3.0) and c.verify(f) and c.verify(f, exact=True)
    f.constant = 6.5
    assert common_step(f) == 0.5 and not c.verify(f)
    assert round_up(-2.5, 1.0) == -2.0 and round_up(-2.5, 0.0) == -2.5


def good_one():
    rng = np.random.default_rng(11)
    f = random_factor_graph(rng, n=5, max_arity=3, max_domain=3)
    while sum(len(f.factor(g)[0]) > 1 for g in range(f.m)) < 4:
        f = random_factor_graph(rng, n=5, max_arity=3, max_domain=3)
    while True:
        messages, extra = random_messages(f, rng)
        if len(extra.links) > 2 and len(extra.scope) > 4:
            return f, certify(f, messages, "random", extra=extra)


def test_altered_certificates_fail():
    f, good = good_one()
    for values, where in ((good.messages, "messages"), (good.extra.messages, "links")):
        for k in range(len(values)):
            changed = values.copy()
            changed[k] += 1.0
            bad = (
                dataclasses.replace(good, messages=changed)
                if where == "messages"
                else dataclasses.replace(good, extra=dataclasses.replace(good.extra, messages=changed))
            )
            assert not bad.verify(f) and not bad.verify(f, exact=True)
    higher = dataclasses.replace(good, bound=good.bound + 1e-9)
    assert not higher.verify(f)
    for exact in (False, True):
        with pytest.raises(gp.InvalidCertificate, match=r"prove .* only"):
            sealed(higher).check(f, exact=exact)
    with pytest.raises(gp.InvalidCertificate):
        check_certificate(f, higher)
    stepped = sealed(dataclasses.replace(good, step=1.0))
    for exact in (False, True):
        with pytest.raises(gp.InvalidCertificate, match="not all costs are multiples"):
            stepped.check(f, exact=exact)


def test_other_problems_are_refused():
    f, good = good_one()
    tables = f.tables.copy()
    tables[-1] += 1.0
    g = gp.FactorGraph.from_csr(f.domains, f.scope_start, f.scope, tables)
    assert fingerprint(f) != fingerprint(g)
    with pytest.raises(gp.InvalidCertificate, match="another problem"):
        good.check(g)
    with pytest.raises(gp.InvalidCertificate, match="another problem"):
        good.check(gp.FactorGraph.from_arrays([2], []))
    f.add_variable("new")
    assert not good.verify(f)


def by_the_definition(f, large):
    """The SHA-256 of a factor graph, from a list of its tables; those of `large` entries count by their own."""
    tables = [f.factor(k)[1].astype("<f8").tobytes() for k in range(f.m)]
    whole = hashlib.sha256(repr((f.n, f.m, float(f.constant))).encode())
    for array, kind in ((f.domains, "<i4"), (f.scope_start, "<i8"), (f.scope, "<i4"), (f.table_start, "<i8")):
        whole.update(array.astype(kind).tobytes())
    whole.update(b"".join(table for table in tables if len(table) < 8 * large))
    whole.update(b"".join(hashlib.sha256(table).digest() for table in tables if len(table) >= 8 * large))
    return whole.hexdigest()


def test_fingerprints_of_small_and_large_tables(monkeypatch):
    rng = np.random.default_rng(5)
    table = rng.normal(size=(16, 16))
    pairs = [[0, 1], [1, 2], [2, 3]]
    shared = gp.FactorGraph.from_arrays([16] * 4, [(pairs, np.broadcast_to(table, (3, 16, 16)))], constant=1.0)
    alone = gp.FactorGraph.from_arrays([16] * 4, [(pairs, [table] * 3)], constant=1.0)
    assert shared.entries > len(shared._flat()[4])
    assert fingerprint(shared) == fingerprint(alone) == f"2:{by_the_definition(alone, 256)}"
    for large in (1, 4, 8, 100):
        monkeypatch.setattr(certificate, "LARGE", large)
        for _ in range(trials(20)):
            f = random_factor_graph(rng)
            assert fingerprint(f) == f"2:{by_the_definition(f, large)}"
            assert fingerprint(f, "as before") == by_the_definition(f, math.inf)


def test_certificates_with_the_former_fingerprint_are_checked():
    f, good = good_one()
    former = sealed(dataclasses.replace(good, problem=by_the_definition(f, math.inf)))
    assert former.verify(f)
    assert not former.verify(gp.FactorGraph.from_csr(f.domains, f.scope_start, f.scope, f.tables + 1.0))


def with_extra(good, **changes):
    return dataclasses.replace(good, extra=dataclasses.replace(good.extra, **changes))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_messages_that_are_no_numbers_are_refused(value):
    f, good = good_one()
    for bad in (
        dataclasses.replace(good, messages=np.r_[value, good.messages[1:]], bound=-1e9),
        dataclasses.replace(with_extra(good, messages=np.r_[value, good.extra.messages[1:]]), bound=-1e9),
    ):
        for exact in (False, True):
            with pytest.raises(gp.InvalidCertificate, match="not finite"):
                sealed(bad).check(f, exact=exact)
    with pytest.raises(gp.InvalidCertificate, match="not finite"):
        certify(f, np.r_[value, good.messages[1:]], "bad", extra=good.extra)


def test_arrays_that_do_not_fit_are_refused():
    f, good = good_one()
    e = good.extra
    count = sum(len(f.factor(g)[0]) > 1 for g in range(f.m)) + len(e.start) - 1
    bads = [
        dataclasses.replace(good, messages=good.messages[:-1]),
        dataclasses.replace(good, messages=np.r_[good.messages, 0.0]),
        with_extra(good, messages=e.messages[:-1]),
        with_extra(good, messages=np.r_[e.messages, 0.0]),
        with_extra(good, links=np.r_[e.links[:-1], [[count, 0]]].astype(np.int32)),
        with_extra(good, links=np.r_[e.links[:-1], [[-1, 0]]].astype(np.int32)),
        with_extra(good, links=e.links[:, ::-1].copy()),
        with_extra(good, links=np.repeat(e.links[:, :1], 2, axis=1)),
        with_extra(good, scope=np.r_[e.scope[:-1], f.n].astype(np.int32)),
        with_extra(good, scope=np.r_[e.scope[:-1], -1].astype(np.int32)),
        with_extra(good, scope=np.r_[e.scope[:-1], e.scope[-2]].astype(np.int32)),
        with_extra(good, start=e.start[:-1]),
        with_extra(good, start=np.r_[e.start, e.start[-1]]),
        with_extra(good, start=np.zeros(0, np.int64)),
    ]
    for k, bad in enumerate(bads):
        bad = sealed(dataclasses.replace(bad, bound=-1e9))
        assert not bad.verify(f), k
        assert not bad.verify(f, exact=True), k


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_files(tmp_path, suffix):
    f, good = good_one()
    plain = certify(gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [np.eye(2)])]), np.zeros(4), "none", cost=1.0)
    for c in (good, good.with_cost(2.5), plain):
        path = tmp_path / f"c{suffix}"
        c.save(path)
        again = Certificate.load(path)
        assert again.seal == c.seal and again.cost == c.cost and again.bound == c.bound
        np.testing.assert_array_equal(again.messages, c.messages)
    good.save(path)
    assert Certificate.load(path).verify(f)


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_damaged_files_are_refused_in_one_line(tmp_path, suffix):
    _, good = good_one()
    path = tmp_path / f"c{suffix}"
    good.save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(6)
    damaged = [whole[:size] for size in range(0, len(whole) - 2, 1 + len(whole) // 100)]
    for place in rng.integers(0, len(whole), 200).tolist():
        damaged.append(whole[:place] + bytes([whole[place] ^ int(rng.integers(1, 256))]) + whole[place + 1 :])
    lines = []
    for content in damaged:
        path.write_bytes(content)
        try:
            again = Certificate.load(path)
        except gp.FormatError as error:
            lines.append(str(error))
        else:
            assert again.seal == good.seal and again.bound == good.bound
    assert len(lines) > 200 and all("\n" not in line and str(path) in line for line in lines)


@pytest.mark.parametrize(
    "change",
    [{"version": 2}, {"format": "x"}, {"bound": None}, {"bound": 10**400}, {"bound": float("nan")}, {"n": 1.5},
     {"messages": 3}, {"messages": ["a"]}, {"messages": [[1.0]]}, {"links": [1, 2]}, {"links": [[1, 2, 3]]},
     {"extra_scope": [0.5]}, {"extra_scope": [2**40]}, {"extra_scope": [True]}, {"link_messages": [1.0, [2.0]]}],
)  # fmt: skip
def test_objects_that_are_no_certificates(tmp_path, change):
    _, good = good_one()
    path = tmp_path / "c.json"
    good.save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(gp.FormatError) as error:
        Certificate.load(path)
    assert "\n" not in str(error.value)


def test_links_between_pairs_and_triplets_close_a_frustrated_cycle():
    """Three variables that all want to differ: the pairs alone prove 0, a triplet proves the optimum."""
    differ = np.eye(2)
    pairs = list(combinations(range(3), 2))
    f = gp.FactorGraph.from_arrays([2] * 3, [(pairs, [differ] * 3)])
    assert certify(f, np.zeros(12), "pairs").bound == 0.0
    # Each pair hands its whole table to the triplet: amounts sent from the triplet to the pair are its negative.
    extra = Extra(
        np.array([0, 3]), np.array([0, 1, 2], np.int32), np.array([[0, 3], [1, 3], [2, 3]], np.int32),
        -np.concatenate([differ.ravel()] * 3),
    )  # fmt: skip
    c = certify(f, np.zeros(18), "triplet", extra=extra)
    assert c.bound == all_energies(f).min() == 1.0
    assert c.verify(f) and c.verify(f, exact=True)


@pytest.mark.parametrize("block", [1, 3, 1000])
def test_the_entries_that_labels_select_in_blocks(block, monkeypatch):
    monkeypatch.setattr(judging, "BLOCK", block)
    rng = np.random.default_rng(block)
    for case in range(trials(60)):
        f = random_factor_graph(rng, max_arity=3, max_domain=4, forbidden=(0.0, 0.3)[case % 2])
        labels = rng.integers(f.domains, dtype=np.int32)
        own = [table[tuple(labels[list(scope)])] for scope, table in map(f.factor, range(f.m))]
        assert f._flat()[4][judging.selected_entries(f, labels)].tolist() == own
        some = judging.selected_entries(f, labels, f.m // 3, f.m)
        assert f._flat()[4][some].tolist() == own[f.m // 3 :]
        paid = sum(abs(x) for x in own if x < np.inf) + abs(f.constant)
        assert judging._made(f, labels).tolerance == pytest.approx(TOLERANCE * paid)


def test_exact_checks_keep_no_tables_of_factors_without_links():
    import tracemalloc

    rng = np.random.default_rng(0)
    f = gp.crf.potts(unary=rng.random((8, 8, 16)), weight=0.3)
    certificate = gp.solve(f, "message-passing", max_iterations=3).info["certificate"]
    tracemalloc.start()
    try:
        assert certificate.verify(f, exact=True)
        assert tracemalloc.get_traced_memory()[1] < 3e6  # a table of 256 numbers takes 20 kB, 112 of them 2.2 MB
    finally:
        tracemalloc.stop()
