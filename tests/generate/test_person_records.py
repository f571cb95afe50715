"""Records of persons: reproducible, in the shares that are promised, with persons that look alike."""

import numpy as np
import pytest

import graphpart as gp
from graphpart.generate import NICKNAMES, person_records
from graphpart.generate.person_records import MISSING, _typo

FIELDS = ("given", "surname", "birth", "street", "city", "postcode", "phone", "email")


@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_few(n):
    columns, person = person_records(n, seed=3)
    assert tuple(columns) == FIELDS and {len(column) for column in columns.values()} == {n}
    assert person.shape == (n,) and person.dtype == np.int64
    assert set(person.tolist()) == set(range(len(set(person.tolist()))))


def test_seeds():
    first, again, other = (person_records(2000, seed) for seed in (1, 1, 2))
    for name in FIELDS:
        assert first.columns[name].tolist() == again.columns[name].tolist() != other.columns[name].tolist()
    assert (first.person == again.person).all()


def test_shares():
    columns, person = person_records(30_000, seed=5)
    for name, share in MISSING.items():
        missing = np.mean([text is None for text in columns[name]])
        assert missing == pytest.approx(share, abs=0.01), name
        assert all(text is None or isinstance(text, str) for text in columns[name])
    sizes = np.bincount(person)
    assert 2.0 < len(person) / len(sizes) < 2.6 and 60 < sizes.max() <= 100
    assert 0.6 < np.mean(sizes == 1) < 0.75


def test_persons_look_alike():
    """Persons of one household agree in surname and address; some of these were born on one day, some have one name."""
    columns, person = person_records(30_000, seed=5)
    first = {}
    for k, p in enumerate(person.tolist()):
        if all(columns[name][k] for name in ("given", "surname", "birth", "street")):
            first.setdefault(p, tuple(columns[name][k] for name in ("given", "surname", "birth", "street", "city")))
    homes = {}
    for given, surname, birth, street, city in first.values():
        homes.setdefault((surname, street, city), []).append((given, birth))
    families = [members for members in homes.values() if len(members) > 1]
    assert len(families) > 500
    twins = sum(len({birth for _, birth in f}) < len(f) and len({given for given, _ in f}) == len(f) for f in families)
    namesakes = sum(len({given for given, _ in f}) < len(f) for f in families)
    assert twins > 10 and namesakes > 10
    names = set(columns["given"].tolist())
    assert len(names & set(NICKNAMES)) == len(NICKNAMES) and len(names & set(NICKNAMES.values())) == len(NICKNAMES)


def test_typos_change_one_place():
    rng = np.random.default_rng(0)
    assert _typo("", 1, 2, 3) == ""
    for draws in rng.integers(0, 2**20, (2000, 3)).tolist():
        text = "Ashton 12"
        wrong = _typo(text, *draws)
        assert abs(len(wrong) - len(text)) <= 1
        common = next((k for k, (a, b) in enumerate(zip(wrong, text, strict=False)) if a != b), len(text))
        assert text[common + 2 :] == wrong[len(wrong) - len(text[common + 2 :]) :]


def test_mistakes():
    for n in (-1, 1.5, "many"):
        with pytest.raises(gp.InvalidOption, match="n is"):
            person_records(n)
    with pytest.raises(gp.InvalidOption, match="seed is"):
        person_records(10, seed=-1)
