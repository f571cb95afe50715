"""Records of persons as small integers, pairs of them that may be of the same person, and attributes of these pairs.

For examples/records_large.py. pyarrow numbers the different texts of each field, rapidfuzz compares two of them, and
all else is arithmetic on arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import graphpart as gp

__all__ = ["FIELDS", "Floats", "Ints", "Records", "Tell", "attributes", "candidates", "encode"]

FIELDS = ("given", "surname", "birth", "street", "city", "postcode", "phone", "email")
WINDOW = 20  # records that follow in a sorted order and are candidates

Ints = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]
Tell = Callable[[int, int], None]


class Records(NamedTuple):
    """Records as small integers.

    `texts` has the different texts of each field, the first of which is empty: missing. `codes` has which one each
    record has, and codes of what follows from a field, 0 where that is missing.
    """

    texts: dict[str, NDArray[np.object_]]
    codes: dict[str, Ints]

    def first(self, n: int) -> Records:
        """The first n records."""
        return Records(self.texts, {name: code[:n] for name, code in self.codes.items()})


# ----------------------------------------------------------------------------------------------------------- records


def encode(columns: dict[str, Any]) -> Records:
    """Each text once, and small integers instead; what sorted orders and attributes need beside the fields."""
    texts, codes = {}, {}
    for name in FIELDS:
        texts[name], codes[name] = coded(columns[name])
    formal = {nick: name for name, nick in gp.generate.NICKNAMES.items()}
    for new, name, function in (
        ("letter", "given", lambda text: text[:1].lower()),
        ("initial", "given", lambda text: text if len(text) == 1 else ""),
        ("called", "given", lambda text: formal.get(text, text)),
        ("sound", "surname", sound),
        ("year", "birth", lambda text: text[:4]),
        ("day", "birth", lambda text: text[5:]),
        ("house", "street", lambda text: text.split(" ")[0]),
    ):
        codes[new] = coded([function(text) for text in texts[name].tolist()])[1][codes[name]]
    dates = texts["birth"].tolist()
    turned = [text[:4] + text[7:] + text[4:7] for text in dates]  # day and month
    for (one, left, of_one), (other, right, of_other) in (
        (("first", texts["given"].tolist(), "given"), ("last", texts["surname"].tolist(), "surname")),
        (("date", dates, "birth"), ("turned", turned, "birth")),
    ):
        both = coded(left + right)[1]
        codes[one], codes[other] = both[: len(left)][codes[of_one]], both[len(left) :][codes[of_other]]
    codes["either"] = np.minimum(codes["date"], codes["turned"])  # the same for both
    return Records(texts, codes)


def coded(column: Any) -> tuple[NDArray[np.object_], Ints]:
    """The different texts of a column, the empty one first, and which one each row has; None is empty, too."""
    import pyarrow as pa

    empty = pa.array([""])
    found = pa.chunked_array([empty, pa.array(column, pa.string()).fill_null("")]).dictionary_encode().combine_chunks()
    return found.dictionary.to_numpy(zero_copy_only=False), found.indices.to_numpy()[1:]


def sound(name: str) -> str:
    """How a name sounds, roughly: its first letter, and its other consonants in classes without repetition."""
    classes = name.lower().translate(SOUNDS).replace("-", "")[1:]
    return name[:1].lower() + "".join(c for k, c in enumerate(classes) if k == 0 or c != classes[k - 1])[:3]


SOUNDS = str.maketrans("abcdefghijklmnopqrstuvwxyz", "-123-12--22455-12623-1-2-2")


def combined(*codes: Ints) -> Ints:
    """One key from several codes; 0 where one of them is 0."""
    key, known = np.zeros(len(codes[0]), np.int64), np.ones(len(codes[0]), bool)
    for code in codes:
        key = key * (int(code.max(initial=0)) + 1) + code  # far from 2^63
        known &= code > 0
    return np.where(known, key, 0)


# -------------------------------------------------------------------------------------------------------- candidates


ORDERS = (  # fields that both records of a candidate share, and what is sorted by among these
    (("sound", "letter", "year"), "day"), (("sound", "letter", "day"), "year"), (("date", "sound"), "letter"),
    (("either", "letter"), "sound"), (("called", "surname"), "postcode"), (("called", "surname"), "date"),
    (("postcode", "house"), "letter"), (("street",), "called"), (("phone",), "letter"), (("email",), "date"),
)  # fmt: skip


def sorted_orders(codes: dict[str, Ints]) -> Iterator[tuple[Ints, Ints]]:
    """The keys of `ORDERS`, and one for names that may be swapped."""
    for key, by in ORDERS:
        yield combined(*(codes[name] for name in key)), codes[by]
    one, other = codes["first"], codes["last"]
    yield combined(np.minimum(one, other), np.maximum(one, other), codes["year"]), codes["day"]


def candidates(records: Records, tell: Tell, first: int = 0) -> tuple[Ints, Ints]:
    """Pairs u < v of records that are near each other in one of the sorted orders; of these, those with v >= first."""
    n, parts = len(records.codes["given"]), [np.zeros(0, np.int64)]
    for k, (key, by) in enumerate(sorted_orders(records.codes)):
        tell(k, len(ORDERS) + 1)
        order = np.lexsort((by, key))
        order = order[np.searchsorted(key[order], 1) :]  # without those that lack the key
        keys, near = key[order], []
        for distance in range(1, WINDOW + 1):
            at = np.flatnonzero(keys[distance:] == keys[:-distance])
            low, high = np.sort([order[at], order[at + distance]], axis=0)
            near.append((low * n + high)[high >= first])
        parts.append(np.concatenate(near))
    found = np.concatenate(parts)
    found.sort()
    found = found[np.diff(found, prepend=-1) > 0]
    return (found // n).astype(np.int32), (found % n).astype(np.int32)


# -------------------------------------------------------------------------------------------------------- attributes


def attributes(records: Records, u: Ints, v: Ints) -> Floats:
    """Attributes of pairs, shape (m, V).

    For each field: how similar the texts are, whether they are equal, clearly different, or one is missing, and in bits
    how rare a common text is. For given names: whether one is an initial or a nickname of the other, and whether it is
    swapped with the surname. Whether day and month are swapped. And some of what fields say together: twins agree in
    the date of birth, namesakes in the name.
    """
    from rapidfuzz import process
    from rapidfuzz.distance import OSA, JaroWinkler

    texts, codes = records
    out, equal, differ, missing = [], {}, {}, {}
    for name in FIELDS:
        a, b = codes[name][u], codes[name][v]
        missing[name] = (a == 0) | (b == 0)
        equal[name] = (a == b) & ~missing[name]
        alike = np.where(missing[name], 0.0, 1.0)
        compared = np.flatnonzero(~missing[name] & ~equal[name])
        scorer = JaroWinkler if name in ("given", "surname", "street", "city") else OSA
        x, y = texts[name][a[compared]], texts[name][b[compared]]
        alike[compared] = process.cpdist(x, y, scorer=scorer.normalized_similarity, workers=-1)
        differ[name] = ~missing[name] & (alike < 0.75)
        rare = np.log2(len(codes[name]) / np.bincount(codes[name], minlength=len(texts[name])).clip(1))
        out += [alike, equal[name], differ[name], missing[name], np.where(equal[name], rare[a], 0.0)]
    same = {name: (codes[name][u] == codes[name][v]) & (codes[name][u] > 0) for name in ("letter", "called")}
    nickname = same["called"] & ~equal["given"]
    initial = same["letter"] & ~equal["given"] & ((codes["initial"][u] > 0) | (codes["initial"][v] > 0))
    swapped = (codes["first"][u] == codes["last"][v]) & (codes["last"][u] == codes["first"][v]) & ~missing["given"]
    turned = (codes["date"][u] == codes["turned"][v]) & ~equal["birth"] & ~missing["birth"]
    other = differ["given"] & ~nickname & ~initial & ~swapped
    out += [nickname, initial, swapped, turned, other, other & equal["birth"], other & differ["birth"]]
    out += [other & missing["birth"], other & equal["surname"], other & equal["street"], initial & missing["birth"]]
    out += [differ["birth"] & equal["given"], differ["birth"] & equal["surname"] & equal["given"]]
    return np.stack(out, axis=1)
