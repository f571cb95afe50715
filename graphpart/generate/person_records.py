"""Records of persons with typing errors, moves, nicknames and missing fields, and the person of each record.

Households are drawn first: adults, children, a common address and often a common surname and telephone. Children may be
twins, and sons may be named after the first adult, so that some pairs of different persons have similar records. A
household may have moved once or twice, grown children live elsewhere, and some married women have used another surname.
Each record describes its person at one time, and was typed carefully, in a hurry, or carelessly. Names, streets and
cities have frequencies like 1 / (rank + constant), and so has the number of records of a person.
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpart.generate.instance import check_integer, random_generator

__all__ = ["NICKNAMES", "PersonRecords", "person_records"]

Texts = NDArray[np.object_]
Integers = NDArray[np.int64]

HOUSEHOLD = (0.35, 0.26, 0.15, 0.15, 0.09)  # shares of households of 1, 2, ... persons
MOVES = (0.6, 0.3, 0.1)  # shares of households with 1, 2, 3 addresses
ERRORS, TYPISTS = (0.015, 0.07, 0.3), (0.65, 0.27, 0.08)  # of fields by each kind of typist, and their shares
SHARES = {
    "twin": 0.04, "namesake": 0.04, "same surname": 0.75, "grown": 0.25,  # children, sons, partners, children
    "nickname": 0.3, "maiden": 0.15, "initial": 0.04, "swapped": 0.01, "turned": 0.01, "unknown": 0.005,  # of records
}  # fmt: skip
MISSING = {"given": 0.01, "surname": 0.005, "birth": 0.1, "street": 0.06, "city": 0.04, "postcode": 0.06,
           "phone": 0.5, "email": 0.7}  # fmt: skip

NICKNAMES = {
    "Robert": "Bob", "William": "Bill", "Richard": "Dick", "Thomas": "Tom", "James": "Jim", "John": "Jack",
    "Charles": "Charlie", "Edward": "Ted", "Michael": "Mike", "Joseph": "Joe", "Andrew": "Andy", "Anthony": "Tony",
    "Daniel": "Dan", "Matthew": "Matt", "Samuel": "Sam", "Benjamin": "Ben", "Alexander": "Alex", "Nicholas": "Nick",
    "Christopher": "Chris", "Frederick": "Fred", "Elizabeth": "Liz", "Margaret": "Peggy", "Catherine": "Kate",
    "Susan": "Sue", "Jennifer": "Jenny", "Patricia": "Pat", "Deborah": "Debbie", "Barbara": "Barb", "Rebecca": "Becky",
    "Victoria": "Vicky", "Dorothy": "Dot", "Florence": "Flo", "Josephine": "Jo", "Eleanor": "Nell", "Abigail": "Abby",
    "Theresa": "Tess", "Pamela": "Pam", "Sarah": "Sally", "Mary": "Molly", "Frances": "Fran",
}  # fmt: skip
"""Given names and what their bearers are called, as lists for record linkage have them."""

FIRST_WOMAN = list(NICKNAMES).index("Elizabeth")


def _words(text: str) -> list[str]:
    return text.split()


WORDS = _words(
    "Ash Beck Birch Black Brook Carl Clay Cross Dun East Elm Fair Fen Glen Gold Grim Hal Hart Haw Hazel High Hol Hunt "
    "Kel Kirk Lang Lin Long Mar Mill Nor Oak Old Pem Red Rock Rose Rush Sand Shel Silver Stan Stone Thorn Wake Wal "
    "West Whit Wind Wood York"
)
MIDDLES = ["", "er", "ing", "en", "el", "a"]
ENDS = _words(
    "berg bourne brook bury by combe cott dale den field ford gate ham hurst land ley low man marsh mere more ridge "
    "sett shaw son stead stone ton ville ward well wick win wood worth"
)
STARTS = _words("Ad Al An Bel Bri Cor Dar El Em Fa Gar Hel Il Jas Ka Lor Ma Nor Or Pa Ro Sel Ti Va Zo")
FINISHES = _words("a bert da dan ena fred ia ian ine is la lia lon mar na nor on ra ric ta thy vin wen ya")
STREETS = _words("Street Road Avenue Lane Drive Close Court Way")
DOMAINS = _words("example.com example.org example.net mail.example post.example")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
KEYS = {c: row[max(0, k - 1) : k] + row[k + 1 : k + 2] for row in ("qwertyuiop", "asdfghjkl", "zxcvbnm", "1234567890")
        for k, c in enumerate(row)}  # fmt: skip


class PersonRecords(NamedTuple):
    """Columns of n texts each, by name (None: missing), and the number of the person of each record, shape (n,)."""

    columns: dict[str, Texts]
    person: Integers


class _Persons(NamedTuple):
    """Persons as indices into lists of texts; `addresses` has rows of three, -1 for none, `birth` days since 1970."""

    given: Integers
    surname: Integers
    maiden: Integers
    birth: Integers
    addresses: Integers
    phone: Integers


def person_records(n: int = 10_000, seed: int | None = 0) -> PersonRecords:
    """Records of persons with typing errors, moves, nicknames and missing fields, and the person of each record.

    Parameters
    ----------
    n : int
        Number of records.
    seed : int, optional
        Seed of the random numbers; none: other records at every call.

    Returns
    -------
    PersonRecords
        `columns`, the texts of ``given``, ``surname``, ``birth``, ``street``, ``city``, ``postcode``, ``phone`` and
        ``email`` (None: missing) as arrays of shape (n,), and `person`, the number of the person of each record.

    Notes
    -----
    O(n). A person has 1 to 100 records with frequencies like ``k ** -2.25``, 2.3 on average. The order is random.

    Examples
    --------
    >>> columns, person = person_records(1000)
    >>> len(columns["surname"]), len(set(person.tolist()))
    (1000, 442)
    >>> [columns[name][0] for name in ("given", "surname", "birth", "street")]
    ['Elriya', 'Stanaworth', '1976-09-12', '80 Whitden Lane']
    """
    n = check_integer("n", n, 0, 2**31 - 1)
    rng = random_generator(seed)
    names = _names(rng)
    persons = _persons(rng, n // 2 + 20, names)  # a little more than are needed, of 2.3 records each
    size = _zipf(rng, len(persons.given), 1.0 / np.sqrt(np.sqrt(np.arange(1.0, 101.0))) ** 9) + 1  # k ** (-9 / 4)
    person = np.repeat(np.arange(len(size)), size)
    person = rng.permutation(person[:n])
    columns = _clean(rng, persons, person, names)
    _change(rng, columns, persons, person, names)
    return PersonRecords(columns, np.unique(person, return_inverse=True)[1].astype(np.int64))


# -------------------------------------------------------------------------------------------------------------- persons


def _names(rng: np.random.Generator) -> dict[str, Texts]:
    """Lists of names, the most frequent first; given names of women and men in turn."""
    parts = [word + middle + end for word, middle, end in product(WORDS, MIDDLES, ENDS)]
    surnames = _objects(parts)[rng.permutation(len(parts))]
    known = list(NICKNAMES)
    mixed = [name for pair in zip(known[FIRST_WOMAN:], known[:FIRST_WOMAN], strict=True) for name in pair]
    more = _objects([a + b + c for a, b, c in product(STARTS, ["", "li", "ma", "ri"], FINISHES)])
    streets = _objects([f"{word} {kind}" for word, kind in product([w + e for w in WORDS for e in ENDS[::4]], STREETS)])
    return {
        "given": _objects([*mixed, *more[rng.permutation(len(more))]]),
        "surname": surnames,
        "street": streets[rng.permutation(len(streets))],
        "city": surnames[rng.permutation(len(surnames))[:2000]],
    }


def _persons(rng: np.random.Generator, least: int, names: dict[str, Texts]) -> _Persons:
    """At least `least` persons, in households."""
    each = sum(k * share for k, share in enumerate(HOUSEHOLD, 1))
    members = _zipf(rng, int(least / each * 1.1) + 20, np.array(HOUSEHOLD)) + 1
    household = np.repeat(np.arange(len(members)), members)
    place = np.arange(len(household)) - np.repeat(np.cumsum(members) - members, members)
    count, first = len(household), np.flatnonzero(place == 0)[household]
    partner, child = place == 1, place > 1
    woman = rng.random(count) < 0.5
    woman[partner] = ~woman[first[partner]]
    given = _zipf(rng, count, 1.0 / (np.arange(len(names["given"]) // 2) + 8.0)) * 2 + ~woman
    own = _zipf(rng, count, 1.0 / (np.arange(len(names["surname"])) + 20.0))
    takes = child | (partner & (rng.random(count) < SHARES["same surname"]))
    surname = np.where(takes, own[first], own)
    low, high = np.array(["1935-01-01", "2000-01-01"], "datetime64[D]").astype(np.int64).tolist()
    birth = rng.integers(low, high, count)
    birth[partner] = birth[first[partner]] + rng.integers(-2000, 2000, int(partner.sum()))
    birth[child] = birth[first[child]] + rng.integers(22 * 365, 40 * 365, int(child.sum()))
    twin = np.flatnonzero((place > 2) & (rng.random(count) < SHARES["twin"]))
    birth[twin], same_sex = birth[twin - 1], rng.random(len(twin)) < 0.6
    given[twin] += np.where(same_sex, given[twin - 1] % 2 - given[twin] % 2, 0)
    son = child & ~woman & ~woman[first] & (rng.random(count) < SHARES["namesake"])
    given[son] = given[first[son]]
    homes = len(members)
    moves = _zipf(rng, homes, np.array(MOVES))
    addresses = np.stack([np.where(moves >= k, np.arange(homes) + k * homes, -1) for k in range(3)], axis=1)[household]
    grown = np.flatnonzero(child & (rng.random(count) < SHARES["grown"]))
    addresses[grown, 1:] = np.stack([3 * homes + np.arange(len(grown)), np.full(len(grown), -1)], axis=1)
    phone = np.where(rng.random(count) < 0.35, household, homes + np.arange(count))
    return _Persons(given, surname, np.where(partner & woman & takes, own, surname), birth, addresses, phone)


# -------------------------------------------------------------------------------------------------------------- records


def _clean(rng: np.random.Generator, p: _Persons, person: Integers, names: dict[str, Texts]) -> dict[str, Texts]:
    """Records without errors."""
    n = len(person)
    known = (p.addresses >= 0).sum(axis=1)[person]
    address = p.addresses[person, (known * np.sqrt(rng.random(n))).astype(np.int64)]  # the later ones more often
    where = int(p.addresses.max(initial=0)) + 1
    city = _zipf(rng, where, 1.0 / (np.arange(2000) + 10.0))
    district, street = rng.integers(0, 20, where), _zipf(rng, where, 1.0 / (np.arange(len(names["street"])) + 50.0))
    house, code = rng.integers(1, 200, where), rng.permutation(45_000)[: 2000 * 20]
    phone = rng.integers(2_000_000, 9_999_999, int(p.phone.max(initial=0)) + 1)
    maiden = rng.random(n) < SHARES["maiden"]
    columns = {
        "given": names["given"][p.given[person]],
        "surname": names["surname"][np.where(maiden, p.maiden[person], p.surname[person])],
        "birth": _objects(p.birth[person].astype("datetime64[D]").astype(str).tolist()),
        "street": _joined(house[address].tolist(), " ", names["street"][street[address]].tolist()),
        "city": names["city"][city[address]],
        "postcode": _objects([str(10_000 + 2 * c) for c in code[city[address] * 20 + district[address]].tolist()]),
        "phone": _objects([f"0{x}" for x in phone[p.phone[person]].tolist()]),
    }
    number, domain = rng.integers(0, 100, len(p.given)), rng.integers(0, len(DOMAINS), len(p.given))
    first, last = (names[name][getattr(p, name)[person]].tolist() for name in ("given", "surname"))
    rest = zip(first, last, number[person].tolist(), domain[person].tolist(), strict=True)
    columns["email"] = _objects([f"{a}.{b}{k}@{DOMAINS[d]}".lower() for a, b, k, d in rest])
    return columns


def _change(
    rng: np.random.Generator, columns: dict[str, Texts], p: _Persons, person: Integers, names: dict[str, Texts]
) -> None:
    """Apply nicknames, initials, swaps, errors and missing fields, in place."""
    n = len(person)
    given, surname, birth = columns["given"], columns["surname"], columns["birth"]
    short = _objects([NICKNAMES.get(name, name) for name in names["given"].tolist()])
    nick = rng.random(n) < SHARES["nickname"]
    given[nick] = short[p.given[person[nick]]]
    typist = _zipf(rng, n, np.array(TYPISTS))
    rate = np.array(ERRORS)[typist]
    for column in columns.values():
        wrong = np.flatnonzero(rng.random(n) < rate)
        draws = rng.integers(0, 2**20, (len(wrong), 3)).tolist()
        column[wrong] = _objects([_typo(text, *d) for text, d in zip(column[wrong].tolist(), draws, strict=True)])
    initial = np.flatnonzero(rng.random(n) < SHARES["initial"])
    given[initial] = _objects([name[:1] for name in given[initial].tolist()])
    turned = np.flatnonzero(rng.random(n) < SHARES["turned"])
    birth[turned] = _objects([f"{b[:4]}-{b[8:10]}-{b[5:7]}" for b in birth[turned].tolist()])
    unknown = np.flatnonzero(rng.random(n) < SHARES["unknown"])
    birth[unknown] = _objects([f"{b[:4]}-01-01" for b in birth[unknown].tolist()])
    swapped = np.flatnonzero(rng.random(n) < SHARES["swapped"])
    given[swapped], surname[swapped] = surname[swapped], given[swapped]
    for name, share in MISSING.items():
        columns[name][rng.random(n) < share] = None


def _typo(text: str, kind: int, place: int, which: int) -> str:
    """One character inserted, left out, or replaced by a neighbour on the keyboard, or two exchanged."""
    if not text:
        return text
    k, kind = place % len(text), kind % 4
    near = KEYS.get(text[k].lower()) or LETTERS
    c = near[which % len(near)]
    if kind == 0:
        return text[:k] + c + text[k:]
    if kind == 1:
        return text[:k] + text[k + 1 :]
    if kind == 2:
        return text[:k] + c + text[k + 1 :]
    return text[:k] + text[k + 1 : k + 2] + text[k] + text[k + 2 :]


def _zipf(rng: np.random.Generator, count: int, weights: NDArray[Any]) -> Integers:
    """So many ranks, drawn with the given weights."""
    total = np.cumsum(weights)
    ranks: Integers = np.searchsorted(total, rng.random(count) * total[-1], side="right").clip(max=len(weights) - 1)
    return ranks


def _joined(first: list[Any], between: str, second: list[Any]) -> Texts:
    return _objects([f"{a}{between}{b}" for a, b in zip(first, second, strict=True)])


def _objects(values: list[Any]) -> Texts:
    out = np.empty(len(values), object)
    out[:] = values
    return out
