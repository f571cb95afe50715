"""Lower bounds and their certificates: sound, reproducible by independent code, and no longer valid once altered."""

import dataclasses
import json
import time
import zipfile
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from strategies import partitions
from trials import trials

import graphpart as gp
from graphpart.cli import main
from graphpart.common.steps import round_up
from graphpart.partition.bounds.lower_bound import BOUNDS
from graphpart.partition.certificates.certificate import certify, common_step, fingerprint, sealed
from graphpart.partition.certificates.inequalities import CYCLE, TWO_PARTITION, WHEEL, Inequalities
from graphpart.testing import check_certificate, partition_problems

TRIANGLE = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2), (0, 2)], [-2.0, -3.0, 4.0])


def optimum(p):
    return gp.partition.brute_force(p)


MANY = {
    "negative-sum": 1000,
    "cycle-packing": 800,
    "message-passing": 400,
    "lp": 200,
    "semidefinite": 60,
    "auto": 60,
}


@pytest.mark.parametrize("method", BOUNDS)
def test_bounds_are_at_most_the_optimum_on_many_problems(method):
    for case, p in partition_problems(seed=1, random=trials(MANY[method])):
        best = optimum(p)
        certificate = gp.partition.lower_bound(p, method)
        slack = p.n * p._tolerance
        assert certificate.bound <= best.cost + slack, case
        assert certificate.verify(p), case


@pytest.mark.parametrize("method", BOUNDS)
@settings(max_examples=trials(60))
@given(p=partitions(max_n=7, kinds=("integer", "sign", "quarter", "real", "huge", "tiny")))
def test_certificates_pass_the_independent_check(method, p):
    certificate = gp.partition.lower_bound(p, method)
    certificate.check(p, exact=True)
    proven = check_certificate(p, certificate, optimum(p).labels.tolist())
    assert proven >= Fraction(certificate.bound)  # directed rounding is never above the exact value


def test_bounds_of_a_conflicted_triangle():
    bounds = [gp.partition.lower_bound(TRIANGLE, method).bound for method in ("negative-sum", "cycle-packing")]
    assert bounds == [-5.0, -3.0]


def test_whole_costs_round_the_bound_up():
    assert common_step(TRIANGLE) == 1.0
    assert round_up(-2.5, 1.0) == -2.0 and round_up(-2.5, 0.0) == -2.5 and round_up(0.1, 0.75) == 0.75
    c = certify(TRIANGLE, "half", Inequalities.of([(CYCLE, 0, [0, 1, 2])]), np.array([1.5]))
    assert (c.bound, c.step) == (-3.0, 1.0)


@pytest.mark.parametrize("dense", [True, False])
def test_the_fingerprint_does_not_depend_on_the_storage(dense):
    p = gp.SetPartition.from_pairs(4, [(2, 3), (0, 1)], [1.0, -2.0], must_join=[(0, 3)], dense=dense)
    q = gp.SetPartition.from_pairs(4, [(0, 1), (2, 3), (1, 2)], [-2.0, 1.0, 0.0], must_join=[(3, 0)], dense=False)
    assert fingerprint(p) == fingerprint(q)


def test_every_kind_of_inequality_holds_for_every_partition():
    rng = np.random.default_rng(3)
    rows = [(CYCLE, 0, [0, 1, 2]), (CYCLE, 0, [3, 0, 5, 1, 2]), (WHEEL, 1, [4, 0, 1, 2])]
    rows += [(WHEEL, 1, [6, 5, 1, 2, 0, 3]), (TWO_PARTITION, 2, [0, 3, 1, 2, 5]), (TWO_PARTITION, 1, [4, 0, 1, 2])]
    starts, keys, signs, rhs = Inequalities.of(rows).terms(7)
    tight = np.zeros(len(rows), bool)
    for _ in range(3000):
        labels = rng.integers(0, rng.integers(1, 5), 7)
        y = labels[keys // 7] == labels[keys % 7]
        left = np.add.reduceat(signs * y, starts[:-1])
        assert (left <= rhs).all()
        tight |= left == rhs
    assert tight.all()


@pytest.mark.parametrize(
    "row",
    [(CYCLE, 0, [0, 1]), (CYCLE, 0, [0, 1, 0]), (CYCLE, 0, [0, 1, 9]), (CYCLE, 0, [0, 1, -1]), (WHEEL, 1, [0, 1, 2]),
     (WHEEL, 1, [0, 1, 2, 3, 4]), (TWO_PARTITION, 0, [0, 1]), (TWO_PARTITION, 2, [0, 1]), (9, 0, [0, 1, 2])],
)  # fmt: skip
def test_what_is_no_valid_inequality_proves_nothing(row):
    p = gp.SetPartition.from_pairs(5, [(0, 1), (1, 2), (2, 3)], [-1.0, -1.0, 2.0])
    with pytest.raises(gp.InvalidCertificate):
        certify(p, "wrong", Inequalities.of([row]), np.array([1.0]))
    good = certify(p, "right", Inequalities.of([(CYCLE, 0, [0, 1, 2])]), np.array([1.0]))
    wrong = sealed(dataclasses.replace(good, inequalities=Inequalities.of([row]), bound=-100.0))
    assert not wrong.verify(p)
    with pytest.raises(gp.InvalidCertificate):
        check_certificate(p, wrong)


@pytest.mark.parametrize("multiplier", [-1.0, np.nan, np.inf])
def test_multipliers_that_prove_nothing(multiplier):
    good = gp.partition.lower_bound(TRIANGLE)
    wrong = sealed(dataclasses.replace(good, multipliers=np.array([multiplier]), bound=-100.0))
    for exact in (False, True):
        with pytest.raises(gp.InvalidCertificate, match="multiplier"):
            wrong.check(TRIANGLE, exact=exact)


def packed():
    rng = np.random.default_rng(5)
    u, v = np.triu_indices(9, 1)
    p = gp.SetPartition.from_pairs(9, (u, v), rng.normal(size=len(u)))
    return p, gp.partition.lower_bound(p, "cycle-packing")


def test_altered_certificates_fail():
    p, good = packed()
    assert len(good.multipliers) > 3
    for k in range(len(good.multipliers)):
        for factor in (0.9, 1.1):
            multipliers = good.multipliers.copy()
            multipliers[k] *= factor
            altered = dataclasses.replace(good, multipliers=multipliers)
            assert not altered.verify(p)
            if factor < 1:  # also with a seal that fits: less of a cycle proves less
                assert not sealed(altered).verify(p) and not sealed(altered).verify(p, exact=True)
    for k in range(len(good.inequalities.elements)):
        elements = good.inequalities.elements.copy()
        elements[k] = (elements[k] + 1) % p.n
        altered = dataclasses.replace(good, inequalities=dataclasses.replace(good.inequalities, elements=elements))
        assert not altered.verify(p)
    assert not sealed(dataclasses.replace(good, bound=np.nextafter(good.bound, np.inf))).verify(p)
    assert not sealed(dataclasses.replace(good, bound=good.bound + 1e-9)).verify(p, exact=True)


def test_certificates_of_another_problem_fail():
    p, good = packed()
    u, v, cost = p.pairs()
    for k in range(len(cost)):
        other = cost.copy()
        other[k] = np.nextafter(other[k], 0)
        assert not good.verify(gp.SetPartition.from_pairs(p.n, (u, v), other))
    assert not good.verify(gp.SetPartition.from_pairs(p.n + 1, (u, v), cost))
    assert not good.verify(gp.SetPartition.from_pairs(p.n, (u, v), cost, must_join=[(0, 1)]))


@pytest.mark.parametrize("suffix", [".json", ".npz", ".json.gz"])
def test_files_hold_all_of_a_certificate(tmp_path, suffix):
    p, good = packed()
    good = good.with_cost(-1.25)
    path = tmp_path / f"certificate{suffix}"
    good.save(path)
    again = gp.partition.Certificate.load(path)
    assert again.seal == good.seal and again.bound == good.bound and again.cost == -1.25 and again.verify(p)
    gp.partition.lower_bound(gp.SetPartition.from_pairs(0, [], [])).save(path)
    assert gp.partition.Certificate.load(path).bound == 0.0


def spoil(text, change):
    data = json.loads(text)
    change(data)
    return json.dumps(data)


CHANGES = [
    lambda d: d.update(bound=d["bound"] + 1),
    lambda d: d.update(n=d["n"] + 1),
    lambda d: d.pop("seal"),
    lambda d: d.update(format="other"),
    lambda d: d.update(bound="high"),
    lambda d: d.update(bound=float("nan")),
    lambda d: d.pop("inequalities"),
    lambda d: d["inequalities"].pop(),
    lambda d: d["inequalities"][0].update(multiplier=d["inequalities"][0]["multiplier"] * 1.5),
    lambda d: d["inequalities"][0].update(multiplier="much"),
    lambda d: d["inequalities"][0].update(kind="star"),
    lambda d: d["inequalities"][0].update(elements=7),
    lambda d: d["inequalities"][0].update(elements=[10**30, 1, 2]),
    lambda d: d["inequalities"][0]["elements"].reverse(),
    lambda d: d["inequalities"][0].update(elements=[1, 2, 3, 4]),
]


@pytest.mark.parametrize("change", range(len(CHANGES)))
def test_altered_files_are_refused(tmp_path, change):
    path = tmp_path / "c.json"
    packed()[1].save(path)
    path.write_text(spoil(path.read_text(), CHANGES[change]))
    with pytest.raises(gp.FormatError) as error:
        gp.partition.Certificate.load(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"PK\x03\x04garbage", b"\x00\xff" * 50, b"null"])
def test_damaged_files_are_refused(tmp_path, content):
    path = tmp_path / "c.json"
    path.write_bytes(content)
    with pytest.raises(gp.FormatError):
        gp.partition.Certificate.load(path)


def test_truncated_archives_are_refused(tmp_path):
    path = tmp_path / "c.npz"
    packed()[1].save(path)
    whole = path.read_bytes()
    for size in range(0, len(whole) - 1, 97):
        path.write_bytes(whole[:size])
        with pytest.raises(gp.FormatError):
            gp.partition.Certificate.load(path)


@pytest.fixture
def files(tmp_path):
    p, certificate = packed()
    best = optimum(p)
    paths = [str(tmp_path / name) for name in ("p.npz", "p.labels", "c.json")]
    gp.io.write(p, paths[0])
    gp.io.write_labels(best, paths[1])
    certificate.with_cost(best.cost).save(paths[2])
    return p, best, certificate, paths


def test_verify_on_the_command_line(files, capsys):
    _, best, certificate, paths = files
    assert main(["verify", *paths]) == 0
    assert main(["verify", *paths, "--exact", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert facts["cost"] == best.cost and facts["lower_bound"] == certificate.bound


def test_verify_takes_the_columns_of_a_table(tmp_path, capsys):
    table, labels, proof = (str(tmp_path / name) for name in ("pairs.csv", "found.csv", "proof.json"))
    rows = ["id1,id2,score", "ann,anne,0.9", "ann,bob,0.2", "bob,rob,0.8", "bob,anne,0.4"]
    (tmp_path / "pairs.csv").write_text("\n".join(rows), "utf-8")
    columns = ["--left", "id1", "--right", "id2", "--probability", "score"]
    assert main(["solve", table, *columns, "-o", labels, "--certificate", proof]) == 0
    assert main(["verify", table, labels, proof, *columns, "--exact"]) == 0
    assert main(["verify", table, labels, proof, *columns, "--threshold", "0.95"]) == 1
    assert main(["verify", table, labels, proof]) == 1
    assert "Traceback" not in capsys.readouterr().err


def test_verify_refuses_altered_labels(files, capsys):
    p, best, _, paths = files
    for a in range(p.n):
        labels = best.labels.copy()
        labels[a] = labels.max() + 1 if (labels == labels[a]).sum() > 1 else labels[a - 1]
        gp.io.write_labels(p.labels(labels), paths[1])
        assert main(["verify", *paths]) == 1
    assert "expected" in capsys.readouterr().err


def test_verify_refuses_what_is_no_certificate(files, capsys):
    paths = files[3]
    assert main(["verify", paths[0], paths[1], paths[1]]) == 1
    assert main(["verify", paths[0], paths[1], "/nonexistent"]) == 1
    assert "Traceback" not in capsys.readouterr().err


def test_unknown_methods_are_named():
    with pytest.raises(gp.InvalidOption, match="cycle-packing"):
        gp.partition.lower_bound(TRIANGLE, "magic")


def test_a_time_limit_of_zero_still_gives_a_bound():
    p, _ = packed()
    for method in BOUNDS:
        certificate = gp.partition.lower_bound(p, method, time_limit=0)
        assert certificate.verify(p)


@settings(max_examples=trials(30))
@given(p=partitions(min_n=3, max_n=30, density=0.5, requirements=False))
def test_message_passing_only_raises_the_bound(p):
    packing, passed = (gp.partition.lower_bound(p, method) for method in ("cycle-packing", "message-passing"))
    assert passed.bound >= packing.bound - p.n * p._tolerance
    passed.check(p, exact=True)


def extreme_problems():
    rng = np.random.default_rng(8)
    u, v = np.triu_indices(6, 1)
    for unit in (1e306, 1e300, 1e150, 1e-150, 1e-300, 2e-308, 5e-324):
        yield unit, gp.SetPartition.from_pairs(3, [(0, 1), (1, 2), (0, 2)], np.array([-2.0, -3.0, 4.0]) * unit)
        whole, real = rng.integers(-3, 4, len(u)) * unit, rng.normal(size=len(u)) * unit
        yield unit, gp.SetPartition.from_pairs(6, (u, v), whole, dense=False)
        yield unit, gp.SetPartition.from_pairs(6, (u, v), real, must_join=[(0, 1)], must_cut=[(2, 3)])
    for seed in range(6):
        mixed = rng.choice([-1, 1], len(u)) * 10.0 ** rng.uniform(-320, 305, len(u))
        yield seed, gp.SetPartition.from_pairs(6, (u, v), mixed, dense=seed % 2 == 0)
        mixed = rng.choice([-1e300, 1e300, 5e-324, -5e-324, 1.0, -1.0], len(u))
        yield seed, gp.SetPartition.from_pairs(6, (u, v), mixed, must_cut=[(2, 3)], dense=seed % 2 == 1)
    yield 4e307, gp.SetPartition.from_pairs(2, [(0, 1)], [-4e307])
    yield 4e307, gp.SetPartition.from_pairs(3, [(0, 1), (0, 2)], [-2e307, 2e307], must_cut=[(1, 2)])


@pytest.mark.parametrize("method", BOUNDS)
def test_huge_and_tiny_costs(method, tmp_path):
    for number, (unit, p) in enumerate(extreme_problems()):
        certificate = gp.partition.lower_bound(p, method)
        assert np.isfinite(certificate.bound), unit
        best = optimum(p)
        check_certificate(p, certificate, best.labels.tolist())
        certificate.check(p)
        certificate.save(tmp_path / f"{number}.json")
        gp.partition.Certificate.load(tmp_path / f"{number}.json").check(p)


@pytest.mark.parametrize("unit", [1e306, 1e300, 1.0, 1e-300])
def test_bounds_do_not_depend_on_the_unit(unit):
    rng = np.random.default_rng(9)
    u, v = np.triu_indices(8, 1)
    cost = rng.integers(-3, 4, len(u)) * 1.0
    for method in BOUNDS:
        one, other = (gp.partition.lower_bound(gp.SetPartition.from_pairs(8, (u, v), c), method)
                      for c in (cost, cost * unit))  # fmt: skip
        assert other.bound >= (one.bound - 1 - 1e-9) * unit  # whole costs round up
        assert other.bound <= one.bound * unit * (1 - 1e-12)


def test_stars_are_worth_more_than_triangles():
    """One centre that attracts six elements, all of which repel each other: the best partition joins one of them."""
    u, v = np.triu_indices(7, 1)
    p = gp.SetPartition.from_pairs(7, (u, v), np.where(u == 0, -1.0, 1.0))
    certificate = gp.partition.lower_bound(p, "cycle-packing")
    assert certificate.bound == optimum(p).cost == -1.0
    assert set(certificate.inequalities.kinds.tolist()) == {TWO_PARTITION}
    certificate.check(p, exact=True)


def test_the_mean_of_packings_shares_what_one_cannot():
    """Whole amounts leave no capacity; for most problems of unit costs, the mean of several packings proves more."""
    gained = 0
    for seed in range(5):
        p = gp.generate.cluster_editing(24, p=0.4, seed=seed).problem
        packing, passed = (gp.partition.lower_bound(p, method) for method in ("cycle-packing", "message-passing"))
        assert passed.bound >= packing.bound
        gained += passed.bound > packing.bound
    assert gained >= 3


GADGETS = [(CYCLE, 0, [0, 1, 2, 3]), (WHEEL, 1, [4, 5, 6, 7, 8, 9]), (TWO_PARTITION, 2, [10, 11, 12, 13, 14])]


@pytest.fixture(scope="module")
def all_kinds():
    """Three components, of each of which one inequality of its own kind proves the optimum, to the last bit."""
    rows = Inequalities.of(GADGETS)
    starts, keys, signs, _rhs = rows.terms(15)
    amounts = np.array([0.7, 0.9, 1.1])
    cost = -signs * np.repeat(amounts, np.diff(starts))
    p = gp.SetPartition.from_pairs(15, np.stack([keys // 15, keys % 15], 1), cost, dense=False)
    certificate = certify(p, "by hand", rows, amounts)
    best = gp.partition.exact(p)
    assert certificate.step == 0 and best.status == "optimal"
    assert certificate.bound == pytest.approx(best.cost, abs=1e-12)
    return p, best, certificate.with_cost(best.cost)


def altered(good):
    """Each multiplier, element, kind, split and the number of elements changed, one at a time."""
    rows = good.inequalities
    items = [rows.item(k) for k in range(len(rows))]
    for k, (kind, split, elements) in enumerate(items):
        multipliers = good.multipliers.copy()
        for factor in (0.0, 0.5, 1 - 1e-9, 1 + 1e-9, 2.0):
            multipliers[k] = good.multipliers[k] * factor
            yield f"multiplier {k} times {factor}", dataclasses.replace(good, multipliers=multipliers.copy())
        changed = [(other, split, elements) for other in (CYCLE, WHEEL, TWO_PARTITION, 7) if other != kind]
        changed += [(kind, split + step, elements) for step in (-1, 1)]
        changed += [(kind, split, elements[:-1]), (kind, split, [*elements, (elements[-1] + 1) % 15])]
        changed += [(kind, split, elements[1:2] + elements[0:1] + elements[2:])] if kind != TWO_PARTITION else []
        for i in range(len(elements)):
            for step in (1, 7, -elements[i] - 1):
                changed.append((kind, split, [*elements[:i], (elements[i] + step) % 16, *elements[i + 1 :]]))
        for row in changed:
            others = [*items[:k], row, *items[k + 1 :]]
            yield f"{items[k]} to {row}", dataclasses.replace(good, inequalities=Inequalities.of(others))
        multipliers = np.delete(good.multipliers, k)
        fewer = Inequalities.of([*items[:k], *items[k + 1 :]])
        yield f"{items[k]} left out", dataclasses.replace(good, inequalities=fewer, multipliers=multipliers)
    for step in (0.1, 1.0):
        yield f"step {step}", dataclasses.replace(good, step=step)
    yield "bound", dataclasses.replace(good, bound=good.bound + 1e-9)
    yield "n", dataclasses.replace(good, n=16)
    yield "problem", dataclasses.replace(good, problem="0" * 64)


def test_one_alteration_of_any_kind_of_inequality_fails(all_kinds):
    p, best, good = all_kinds
    for exact in (False, True):
        good.check(p, exact=exact)
    check_certificate(p, good, best.labels.tolist())
    for what, bad in altered(good):
        assert not bad.verify(p) and not bad.verify(p, exact=True), what  # the seal
        bad = sealed(bad)
        if bad.problem != good.problem:
            assert not bad.verify(p), what
            continue
        assert not bad.verify(p) and not bad.verify(p, exact=True), what  # the proof
        with pytest.raises(gp.InvalidCertificate):
            check_certificate(p, bad)


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_alterations_fail_on_the_command_line(all_kinds, tmp_path, capsys, suffix):
    p, best, good = all_kinds
    problem, labels, path = str(tmp_path / "p.csv"), str(tmp_path / "p.labels"), str(tmp_path / f"c{suffix}")
    gp.io.write(p, problem)
    gp.io.write_labels(best, labels)
    good.save(path)
    assert main(["verify", problem, labels, path]) == 0
    capsys.readouterr()
    for number, (what, bad) in enumerate(altered(good)):
        if suffix == ".json" and bad.inequalities.kinds.max() > TWO_PARTITION:
            continue  # has no name to write
        if number % 2:
            bad = sealed(bad)
        bad.save(path)
        assert main(["verify", problem, labels, path]) == 1, what
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and "Traceback" not in error, what
    good.save(path)
    for a in range(p.n):
        changed = best.labels.copy()
        changed[a] = changed.max() + 1 if (changed == changed[a]).sum() > 1 else changed[a - 1]
        gp.io.write_labels(p.labels(changed), labels)
        as_stated = p.evaluate(changed) == pytest.approx(best.cost, rel=1e-12)  # another optimum
        assert main(["verify", problem, labels, path]) == (0 if as_stated else 1)
    capsys.readouterr()


@pytest.mark.parametrize("suffix", [".json", ".npz", ".json.gz"])
def test_damaged_bytes_are_noticed(all_kinds, tmp_path, suffix):
    """Cut off anywhere, or with one byte changed: one clear line, or, where the byte means nothing, all as it was."""
    good = all_kinds[2]
    path = tmp_path / f"c{suffix}"
    good.save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(6)
    damaged = [whole[:size] for size in range(0, len(whole) - 2, 1 + len(whole) // 150)]
    for place in rng.integers(0, len(whole), 300).tolist():
        damaged.append(whole[:place] + bytes([whole[place] ^ int(rng.integers(1, 256))]) + whole[place + 1 :])
    lines = []
    for content in damaged:
        path.write_bytes(content)
        try:
            again = gp.partition.Certificate.load(path)
        except gp.FormatError as error:
            lines.append(str(error))
        else:
            assert again.seal == good.seal and again.bound == good.bound
    assert len(lines) > 300 and all("\n" not in line and str(path) in line for line in lines)


def archive_with(tmp_path, **arrays):
    """A certificate in which some members of the archive are replaced by given bytes."""
    path = tmp_path / "c.npz"
    packed()[1].save(path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members |= {f"{name}.npy": content for name, content in arrays.items()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            if content is not None:
                archive.writestr(name, content)
    return path


def array_header(shape, kind="<f8"):
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (64 - (len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize(
    "content",
    [None, b"", b"garbage", array_header((10**15,)), array_header((2**63,)), array_header((-1,)),
     array_header((3, 10**12)), array_header((4,), "|O") + b"cos\nsystem\n", array_header((4,), "<U1000000000"),
     array_header((2,)) + b"\x00" * 8, b"\x93NUMPY\x01\x00\xff\xff{", b"\x93NUMPY\x03\x00\xff\xff\xff\x7f{"],
    ids=range(12),
)  # fmt: skip
@pytest.mark.parametrize("member", ["multipliers", "elements", "starts", "kinds", "splits", "header"])
def test_archives_that_promise_too_much_are_refused(tmp_path, member, content):
    path = archive_with(tmp_path, **{member: content})
    started = time.process_time()
    with pytest.raises(gp.FormatError) as error:
        gp.partition.Certificate.load(path)
    assert "\n" not in str(error.value) and time.process_time() - started < 2


def test_costs_stay_as_given_where_no_pair_is_missing():
    """Differences to the cost of a missing pair would be rounded, and the certificate would prove another number."""
    rng = np.random.default_rng(0)
    for trial in range(300):
        n = int(rng.integers(2, 6))
        u, v = np.triu_indices(n, 1)
        costs = rng.integers(-6, 7, len(u)) / 2
        missing = float(rng.integers(1, 9)) * rng.choice([0.37, 1 / 3])
        more = {"groups": ["a", "a"] + [None] * (n - 2)} if trial % 3 == 0 and n > 2 else {}
        p = gp.SetPartition.from_pairs(n, np.stack([u, v], 1), costs, missing=missing, **more)
        r = gp.solve(p, certificate=True)
        assert r.cost == costs[r.labels[u] == r.labels[v]].sum() == r.lower_bound, trial
        r.certificate.check(p)
