"""Columns of texts as words: which pairs share rare ones, and how similar two texts are by the words that they share.

A word weighs the square of its inverse document frequency, ``ln(n / records with it)``. The similarity of two texts is
the sum of the weights of the words that both have, divided by the geometric mean of both sums: the cosine of their
vectors of inverse document frequencies. A word is a number for DuckDB, with its weight in the upper bits and a code of
the word in the lower ones. So a sum of such numbers has the sum of the weights in its upper bits.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from typing import Any

import numpy as np

__all__ = ["KEY", "RARE", "folded", "with_words", "words_comparison"]

WORD = re.compile(r"[^\W_]+")
WORDS, NORM, KEY, RARE = (f"__{what}" for what in ("words", "norm", "key", "rare"))  # of a column, as further columns
BITS = 32  # for the numbers of words, and sums of them
LEVELS = (0.9, 0.75, 0.6, 0.45, 0.3, 0.15)  # similarities that are told apart


def folded(texts: Any) -> Any:
    """Texts in small letters without accents, None where there is none.

    Examples
    --------
    >>> import pandas
    >>> folded(pandas.Series(["Gijón", None], dtype=object)).tolist()
    ['gijon', None]
    """
    marks = {ord(c): None for c in map(chr, range(0x300, 0x370))}
    return texts.map(lambda text: text and unicodedata.normalize("NFKD", text).translate(marks).casefold())


def with_words(table: Any, name: str, most: int) -> None:
    """Add the words of a column to a table.

    Words are rare if so few records have them that no more than `most` pairs of records share a word.
    """
    texts = [[] if text is None else sorted(set(WORD.findall(text.lower()))) for text in table[name]]
    flat = [word for words in texts for word in words]
    _, code, count = np.unique(np.array(flat, dtype=str), return_inverse=True, return_counts=True)
    code = code.ravel()
    record = np.repeat(np.arange(len(texts)), [len(words) for words in texts])
    weight = np.round(1000.0 * np.log(max(len(texts), 2) / count) ** 2).astype(np.int64)
    number = (weight << BITS) + np.arange(len(count))
    sizes, times = np.unique(count, return_counts=True)
    few = np.cumsum(times * (sizes * (sizes - 1.0) / 2)) <= most
    rare = int(sizes[few][-1]) if few.any() else 0
    # Of each record, words that another one has come first, then those of more weight.
    order = np.lexsort((-weight[code], count[code] < 2, record))
    code, record = code[order], record[order]
    starts = np.searchsorted(record, np.arange(len(texts) + 1))
    first = np.array([code[a] if a < b else -1 for a, b in pairwise(starts)])
    heavy = np.lexsort((-weight[code], record))
    heavy = heavy[np.arange(len(heavy)) - starts[record] < 20]  # the words that are compared
    norm = np.sqrt(np.bincount(record[heavy], weight[code[heavy]], len(texts)))
    ends = np.searchsorted(record[heavy], np.arange(len(texts) + 1))
    lists = [number[code[heavy[a:b]]].tolist() for a, b in pairwise(ends)]
    shared = (count >= 2) & (count <= rare)
    table[name + WORDS] = [row or None for row in lists]
    table[name + NORM] = np.where(norm > 0, norm, np.nan)
    table[name + KEY] = [None if k < 0 else k for k in first.tolist()]
    table[name + RARE] = [code[a:b][shared[code[a:b]]].tolist() or None for a, b in pairwise(starts)]


def words_comparison(name: str) -> Any:
    """How splink compares a column by its words."""
    import splink.comparison_level_library as levels
    import splink.comparison_library as library

    words, norm, key = (f'"{name}{what}' for what in (WORDS, NORM, KEY))
    shared = f'list_sum(list_intersect({words}_l", {words}_r")) // {1 << BITS}'
    similarity = f'coalesce({shared}, 0) / ({norm}_l" * {norm}_r")'
    none = levels.CustomLevel(f'{key}_l" IS NULL OR {key}_r" IS NULL', label_for_charts="missing")
    return library.CustomComparison(
        output_column_name=name,
        comparison_levels=[
            none.configure(is_null_level=True),
            *(levels.CustomLevel(f"{similarity} >= {x}", label_for_charts=f"words {x}") for x in LEVELS),
            levels.ElseLevel(),
        ],
    )
