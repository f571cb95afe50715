"""Records as splink takes them, and the candidates with their match weights, as splink finds them.

Only this file calls splink. Its errors become one line.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from graphpart.answers.given import TOGETHER, meaning_of
from graphpart.display import plural
from graphpart.errors import InvalidOption, InvalidProblem, no_column, warn
from graphpart.partition.inputs.arrays import names_of
from graphpart.records.columns import SESSIONS, Column, training_rules
from graphpart.records.words import RARE

__all__ = ["RECORD", "SOURCE", "block", "labelled_pairs", "record_table", "scored_candidates"]

RECORD, SOURCE = "__record", "__source"  # the columns of the rows, from 0, and of the sources
WHOLE = re.compile(r"[-+]?\d+(\.0)?")
SAMPLE = (2e6, 3e5)  # random pairs, without and with texts, whose comparison takes longer


def record_table(frame: Any, on: Sequence[Any], id: Any, source: Any) -> tuple[Any, Sequence[Hashable], Any]:
    """The columns as texts in a frame of pandas, the names of records, and the sources, None where missing."""
    import pandas

    if isinstance(frame, pandas.DataFrame):
        data = frame
    elif hasattr(frame, "to_pandas"):
        data = frame.to_pandas()
    else:
        data = pandas.DataFrame(frame)
    for name in [*on, *(name for name in (id, source) if name is not None)]:
        if name not in data.columns:
            raise InvalidProblem(no_column(name, list(data.columns)))
        if getattr(data[name], "ndim", 1) != 1:
            raise InvalidProblem(f"two columns are called {name!r}: expected different names")
    if len(data) < 2:
        raise InvalidProblem(f"{len(data)} records: expected at least two")
    table = pandas.DataFrame({RECORD: np.arange(len(data))})
    for name in on:
        if not isinstance(name, str) or '"' in name or not name[:1].isalpha() or name in table:
            raise InvalidProblem(
                f"a column is called {name!r}: expected a text that begins with a letter, without quotation marks"
            )
        table[name] = pandas.Series(_texts(data[name]), dtype=object)
    sources = None
    if source is not None:
        given = zip(*_values(data[source]), strict=True)
        sources = np.array([None if gone or x == "" else x for x, gone in given], object)
        table[SOURCE] = [None if x is None else str(x) for x in sources]
    return table, _names(data, id), sources


def _values(column: Any) -> tuple[list[Any], list[bool]]:
    """The values of a column of pandas, and which of them are missing: None, NaN, NaT or NA."""
    return column.tolist(), column.isna().tolist()


def _texts(column: Any) -> list[str | None]:
    """The values as texts, None where there is none.

    Dates without a time are written as such. Numbers that are all whole are written without ".0", whether they come as
    integers, as floating-point numbers or as texts: a CSV file has 1973.0 where pandas has read 1973 beside a gap.
    """
    values, gone = _values(column)
    known = [x for x, missing in zip(values, gone, strict=True) if not missing]
    if known and all(isinstance(x, float) and x.is_integer() for x in known):
        values = [x if missing else int(x) for x, missing in zip(values, gone, strict=True)]
    elif known and all(hasattr(x, "date") and x == x.normalize() for x in known if hasattr(x, "normalize")):
        values = [x.date() if hasattr(x, "normalize") and not missing else x
                  for x, missing in zip(values, gone, strict=True)]  # fmt: skip
    texts = [(None if missing else str(x).strip()) or None for x, missing in zip(values, gone, strict=True)]
    if all(WHOLE.fullmatch(text) for text in texts if text is not None):
        texts = [None if text is None else text.removesuffix(".0") for text in texts]
    return texts


def _names(data: Any, id: Any) -> Sequence[Hashable]:
    """Names of records: the column `id`, or the index of the frame, if its entries are different."""
    if id is not None:
        return names_of(data[id].tolist(), len(data))
    index = data.index
    if not index.is_unique:
        warn(
            f"the index of frame has {index[index.duplicated()].tolist()[0]!r} twice: records are named by their row, "
            "from 0; expected different entries, as after frame.reset_index(drop=True), or id= with a column"
        )
        return range(len(data))
    return names_of(index.tolist(), len(data))


def block(rule: Any, sources: bool) -> Any:
    """A rule as splink knows it; with `sources`, only for records of different ones."""
    import splink
    from splink.blocking_rule_library import CustomRule

    if not isinstance(rule[0], str):
        return rule[0]
    lists = [part for part in rule if part.endswith(RARE)]
    if not sources:
        return splink.block_on(*rule, arrays_to_explode=lists or None)
    quoted = [f'"{part}"' if part in lists else part for part in rule]
    equal = [" = ".join(part.replace('"', f'{side}."', 1) for side in "lr") for part in quoted]
    equal.append(f"coalesce(l.{SOURCE} <> r.{SOURCE}, TRUE)")
    return CustomRule(" and ".join(equal), "duckdb", lists or None)


def labelled_pairs(pairs: Any, names: Sequence[Hashable]) -> Any:
    """Labelled pairs as a frame of splink's form, or None."""
    if pairs is None:
        return None
    import pandas

    data = pairs if isinstance(pairs, pandas.DataFrame) else pandas.DataFrame(pairs)
    if len(data.columns) < 3:
        raise InvalidProblem(
            f"pairs has {plural(len(data.columns), 'column')}: expected two names of records, and 1 or 0"
        )
    place = {name: k for k, name in enumerate(names)}
    left, right, same = (data.iloc[:, k].tolist() for k in range(3))
    unknown = next((x for x in [*left, *right] if x not in place), None)
    if unknown is not None:
        raise InvalidProblem(f"{unknown!r} is in pairs, but is the name of no record")
    gone = data.iloc[:, 2].isna()
    if gone.any():
        raise InvalidProblem(f"pairs has no label in row {int(gone.to_numpy().argmax())}: expected 1 or 0")
    meant = [meaning_of(word) for word in same]
    if None in meant:
        row = meant.index(None)
        raise InvalidProblem(f"pairs has {same[row]!r} in row {row}: expected together or apart, yes or no, 1 or 0")
    kept = [(place[a], place[b]) for a, b, said in zip(left, right, meant, strict=True) if said == TOGETHER]
    return pandas.DataFrame(kept, columns=[f"{RECORD}_l", f"{RECORD}_r"]).assign(clerical_match_score=1.0)


def scored_candidates(
    table: Any, columns: list[Column], blocks: Any, how: Any, labelled: Any, copies: Any
) -> tuple[Any, bool]:
    """The candidates with their match weights for even odds beforehand, and whether anything was learned from pairs.

    `copies` says which rows are copies of earlier ones: how often different records agree is counted without them.
    """
    import duckdb
    import pyarrow
    import splink

    logging.getLogger("splink").setLevel(logging.ERROR)
    with warnings.catch_warnings(), _in_one_line(), duckdb.connect() as connection:
        warnings.simplefilter("ignore")
        api = splink.DuckDBAPI(connection)
        settings = splink.SettingsCreator(
            link_type="dedupe_only",
            unique_id_column_name=RECORD,
            comparisons=how,
            blocking_rules_to_generate_predictions=blocks,
            probability_two_random_records_match=0.5,
            retain_matching_columns=False,
            retain_intermediate_calculation_columns=True,
        )
        most = SAMPLE[any(column.kind == "text" for column in columns)]
        linker = splink.Linker(api.register(table), settings, log_level="ERROR")
        if copies.any():
            _by_different(linker, api, settings, table[~copies], most)
        else:
            linker.training.estimate_u_using_random_sampling(max_pairs=most, seed=1)
        learned = False
        if labelled is not None and len(labelled):
            linker.training.estimate_m_from_pairwise_labels(api.register(labelled))  # type: ignore[no-untyped-call]
            learned = True
        else:
            training = [block(rule, SOURCE in table) for rule in training_rules(columns)] or blocks[:SESSIONS]
            enough = sum(table[column.name].notna().any() for column in columns) > 1
            for one in (
                training if enough and len(how) > 1 else []
            ):  # pairs chosen to agree in a column give no information about it
                before = linker._settings_obj.core_model_settings.copy()  # type: ignore[no-untyped-call]
                try:
                    linker.training.estimate_parameters_using_expectation_maximisation(one, max_pairs=1e6)
                    learned = True
                except Exception as error:  # no such pairs, or no column is left to compare
                    if not _of_splink(error):
                        raise
                    linker._settings_obj.core_model_settings = before  # which has lost columns
        if learned:
            _smooth(linker, len(table) if labelled is None else len(labelled))
        found, chunks = [], 1 + len(table) // 100_000
        for k in range(chunks):  # splink's table has some hundred bytes for each candidate, what is kept of it half
            scored = linker.inference.predict_chunk((k + 1, chunks), warning_mode="never")
            rows = scored.as_duckdbpyrelation()
            kept = [f"{RECORD}_{side}::INTEGER AS {RECORD}_{side}" for side in "lr"]
            kept += [f'"{name}"::FLOAT AS "{name}"' for name in rows.columns if name[:3] == "mw_"]
            found.append(rows.select(", ".join([*kept, "match_weight"])).to_arrow_table())
            scored.drop_table_from_database_and_remove_from_cache()
    order = [(f"{RECORD}_{side}", "ascending") for side in "lr"]  # that of DuckDB depends on its threads
    scores = pyarrow.concat_tables(found).sort_by(order)
    del found
    pyarrow.default_memory_pool().release_unused()  # which Arrow keeps otherwise
    return scores, learned


def _by_different(linker: Any, api: Any, settings: Any, table: Any, most: float) -> None:
    """Take the chance that different records agree, and the frequencies of values, from a table without copies."""
    import splink

    different = splink.Linker(api.register(table), settings, log_level="ERROR")
    different.training.estimate_u_using_random_sampling(max_pairs=most, seed=1)
    both = (one._settings_obj.core_model_settings.comparisons for one in (linker, different))
    for comparison, other in zip(*both, strict=True):
        for level, known in zip(comparison.comparison_levels, other.comparison_levels, strict=True):
            if not level.is_null_level:
                level.u_probability = known._u_probability
                level._trained_u_probabilities = known._trained_u_probabilities
    for column in linker._settings_obj._term_frequency_columns:
        name = column.unquote().name
        rows = frequencies(table[name]).rename_axis(name).reset_index(name=f"tf_{name}")
        linker.table_management.register_term_frequency_lookup(api.register(rows), name)


def frequencies(values: Any) -> Any:
    """The chance that another record has the same value, for each value of a column without copies.

    It is the share of records that have the value. Of values that are known once, it is by Good (1953) and Turing twice
    the number of values known twice, or at least 1, divided by the numbers of values known once and of records.
    """
    count = values.value_counts()
    once = count == 1
    rare = max(1.0, 2.0 * float((count == 2).sum())) / max(1.0, float(once.sum()))
    return count.astype(float).mask(once, min(1.0, rare)) / max(1, int(count.sum()))


def _smooth(linker: Any, count: int) -> None:
    """Keep learned probabilities of levels away from 0: half a pair is added to each level of `count` pairs.

    This is the estimate of Krichevsky and Trofimov (1981), with the prior of Jeffreys. Expectation maximisation alone
    drives the probability of a level that no pair of one entity has to 0, and its match weight to minus infinity.
    """
    for comparison in linker._settings_obj.core_model_settings.comparisons:
        levels = comparison._comparison_levels_excluding_null
        for level in levels:
            if level.m_probability is not None and not level._fix_m_probability:
                level.m_probability = (count * level.m_probability + 0.5) / (count + 0.5 * len(levels))


def _of_splink(error: Exception) -> bool:
    """Whether an exception comes from splink, or from code that it calls."""
    return type(error).__module__.partition(".")[0] in ("splink", "duckdb", "_duckdb", "sqlglot")


@contextmanager
def _in_one_line() -> Iterator[None]:
    """Raise errors of splink as InvalidOption with the one line that describes the error; Ctrl-C as what it is."""
    try:
        yield
    except Exception as error:
        if type(error).__name__ == "InterruptException" or "Query interrupted" in str(error):
            # DuckDB has put an error of its own in place of the KeyboardInterrupt.
            raise KeyboardInterrupt from error
        if not _of_splink(error):
            raise
        lines = [line.strip() for line in str(error).rpartition("Error was:")[2].splitlines()]
        said = next((line for line in lines if line), type(error).__name__)
        raise InvalidOption(
            f"splink refuses this: {said[:300]}; expected rules in blocking and comparisons that fit the columns"
        ) from error
