"""Records of the same entity: pairs scored by splink, and the partition that suits the scores best.

1. Columns are texts, compared without capitals and accents; `columns.py` chooses candidates and comparisons by what is
   in them.
2. splink (Linacre et al. 2022), on DuckDB, estimates the probabilities of each level of each comparison among random
   pairs, and among pairs of one entity by expectation maximisation, or from labelled pairs, with half a pair more at
   each level. The match weight of a candidate is the base-2 logarithm of the ratio of both.
3. The prior, the share of pairs of one entity among all pairs, is the one that the candidates bear out: the fixed point
   of the sum of their probabilities, divided by the number of all pairs. With sources, only pairs of different ones are
   candidates, and the prior takes into account that a record has at most one partner in each other source.
   Of a single column, nothing can be learned. Half of the pairs of one entity are taken to be at the first level of its
   comparison, a quarter at the second one, and so on; so many pairs are of one entity that nearly all equal ones are.
   If there are at least `FEW` records for each different value, such as a sex or a city, it is n / 2 of n records.
   Of several columns, without sources, how often different records agree, and how rare values are, is counted without
   copies: a record that has no value beside those of another one is left out.
4. The cost of a candidate is minus the logarithm of its odds. A pair that is no candidate costs 0 by default: that both
   records agree in no rule is evidence against them, but weak, since of one entity, too, many pairs have no key in
   common. On 2000 generated people, costs of 0, 0.5 and 2 gave nearly the same clusters.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from graphpart.answers.applying import with_answers
from graphpart.answers.given import answers_of, listed
from graphpart.errors import InvalidOption, MissingDependency, unknown, warn
from graphpart.methods import find_method
from graphpart.partition.inputs.frames import is_frame, table_of
from graphpart.partition.inputs.origin import Fields, Origin
from graphpart.partition.problem import SetPartition
from graphpart.partition.problem.requirements import RequirementOptions, with_options
from graphpart.records.columns import Column, blocking_rules, comparison, halving, kind_of, most_pairs
from graphpart.records.results import Matches, extended
from graphpart.records.scoring import RECORD, SOURCE, block, labelled_pairs, record_table, scored_candidates
from graphpart.records.second_round import factors_from_clusters
from graphpart.records.words import folded, with_words
from graphpart.solve import run

__all__ = ["match"]

Floats = NDArray[np.float64]
SUREST = 0.98  # the probability that pairs of one column are of one entity, at most
PATTERNS = 32  # sets of columns that are known of rows
FEW = 10  # records for each different row from which equal ones are not taken to be of one entity


@with_options(RequirementOptions)
def match(
    frame: Any,
    on: Sequence[str] | None = None,
    id: str | None = None,
    source: str | None = None,
    pairs: Any = None,
    *,
    blocking: Sequence[Any] | None = None,
    comparisons: Sequence[Any] | None = None,
    prior: float | None = None,
    missing: float = 0.0,
    answers: Any = None,
    error: float = 0.0,
    method: str = "auto",
    time_limit: float | None = None,
    progress: Callable[[str], object] | None = None,
    **requirements: Unpack[RequirementOptions],
) -> Matches:
    """Clusters of records that are of the same entity, such as a person, from the table alone.

    Parameters
    ----------
    frame : DataFrame of pandas or polars, or Table of Arrow
        A row for each record.
    on : sequence of str
        The columns to compare; they have to be named. What they hold decides how: dates, codes, categories, names or
        texts.
    id : str, optional
        The column with the names of records; default: the index of a data frame of pandas, else 0, ..., n - 1.
    source : str, optional
        The column with the source of each record. Each source has an entity at most once: records of one source are
        never in one cluster, and pairs of them are neither compared nor learned from.
    pairs : DataFrame, optional
        Labelled pairs, to learn from: its first two columns are names of records, its third one is 1 (or True) for
        pairs of one entity. Pairs with 0 are not used: other pairs are drawn at random. If it has the columns `left`,
        `right` and `answer`, these are answers about pairs that were chosen: weights are then learned from them as by
        :meth:`Matches.learned`, after all else, and they are required, or evidence; also as the path of a file.
    blocking, comparisons : sequence, optional
        Rules and comparisons of splink in place of those that are chosen: names of columns, or what
        ``splink.block_on`` and ``splink.comparison_library`` make.
    prior : float, optional
        The share of pairs of one entity among all pairs; default: estimated.
    missing : float
        The cost of a pair that no rule makes a candidate.
    answers, error
        Answers of people about pairs of records, as :func:`graphpart.answers.answered` takes them, or the path of a
        file of them: they decide about clusters, but weights are not learned from them.
    method, time_limit
        As for :func:`graphpart.solve`. The limit is that of the search, which is after the comparison of the records.
    progress : callable, optional
        Called with a line of text when a step begins.
    **requirements
        What clusters must obey, as :meth:`graphpart.SetPartition.require` takes it; `groups` may be a column, too. It
        is then the same as `source`, if there is no `source` and no `group_cost`.

    Returns
    -------
    Matches
        A result with `scores`, a row for each candidate, and `settings`. Its message says what was chosen. The doubts
        of its problem, ``gp.partition.doubts(r.problem, r)``, show the compared columns of both records.

    Raises
    ------
    MissingDependency
        If splink is not installed: ``pip install 'graphpart[records]'``.
    InvalidProblem
        If there is no such column, or fewer than two records.
    InvalidOption
        If no column is named, or the prior is not between 0 and 1.

    Examples
    --------
    >>> import graphpart as gp, pandas as pd
    >>> columns, person = gp.generate.person_records(500)
    >>> people = pd.DataFrame(columns)
    >>> r = match(people, on=["given", "surname", "birth", "street", "phone"])
    >>> bool(gp.metrics.compare(person, r.labels).joins_f1 > 0.85)
    True
    """
    try:
        import splink  # noqa: F401
        from pyarrow import default_memory_pool
        from pyarrow.compute import multiply
    except ImportError:
        raise MissingDependency("splink", "records", "matching records") from None
    tell, began = progress or (lambda _: None), time.perf_counter()
    _check_one_table(frame, on)
    asked = None
    pairs = listed(pairs)
    if (is_frame(pairs) or isinstance(pairs, dict)) and "answer" in table_of(pairs).columns:
        asked, pairs = pairs, None
    if isinstance(on, str) or not on:
        raise InvalidOption(f"on is {on!r}: expected the names of the columns to compare, in a list{_of(frame)}")
    if prior is not None and not 0 < prior < 1:
        raise InvalidOption(f"prior is {prior!r}: expected a share between 0 and 1")
    hard = requirements.get("group_cost", math.inf) == math.inf
    if source is None and hard and isinstance(requirements.get("groups"), str):
        source = requirements.pop("groups")  # the same model: pairs within a group are no candidates
    table, names, sources = record_table(frame, list(dict.fromkeys(on)), id, source)
    columns = [Column(name, kind_of(table[name])) for name in table if name not in (RECORD, SOURCE)]
    own = {column.name: table[column.name].tolist() for column in columns}
    if sources is not None and source not in own:
        own[str(source)] = sources.tolist()
    if isinstance(groups := requirements.get("groups"), str):  # a column
        requirements["groups"] = record_table(frame, [], id, groups)[2]
    unsolved = SetPartition.from_pairs(len(names), [], [], names)  # mistakes are found now, where no pairs are needed
    early: Any = {name: x for name, x in requirements.items() if name not in ("connected", "lifted")}
    unsolved.require(**early)
    if answers is not None:
        answers = answers_of(unsolved, answers)
    labelled = labelled_pairs(pairs, names)
    for column in columns:
        table[column.name] = folded(table[column.name])
    for column in columns:
        if column.kind == "text":
            with_words(table, column.name, most_pairs(len(table)))
    rules = blocking_rules(table, columns) if blocking is None else [_rule(rule) for rule in blocking]
    blocks = [block(rule, blocking is None and sources is not None) for rule in rules]
    how = [_comparison(one, columns) for one in (columns if comparisons is None else comparisons)]
    whole, rows, few = _equal_rows(table, columns)
    copies = np.zeros(len(table), bool)
    if len(how) == 1 and pairs is None and comparisons is None:
        how = [how[0].configure(m_probabilities=halving(columns[0]))]
        if columns[0].kind in ("name", "category"):  # a value that is rare because it is one entity's says nothing
            how = [how[0].configure(term_frequency_adjustments=few)]
    elif len(how) > 1 and not few and sources is None:
        copies = _copies(table[[column.name for column in columns]])
    tell(f"{len(table)} records, compared on {', '.join(f'{c.name} ({c.kind})' for c in columns)}")
    tell(f"candidates agree in one of {len(rules)} rules: {'; '.join(' and '.join(map(str, r)) for r in rules)}")
    scored, learned = scored_candidates(table, columns, blocks, how, labelled, copies)
    u, v, weight = (scored.column(name).to_numpy() for name in (f"{RECORD}_l", f"{RECORD}_r", "match_weight"))
    equal = _equal(whole, u, v)
    weight = np.maximum(weight, -15.0)  # with even odds beforehand: the evidence alone
    if prior is not None:
        share = prior
    elif len(how) == 1 and not learned:
        share = 1 / len(table)
        sure = weight[equal] if equal.any() else weight[:0] if columns[0].kind != "text" else weight
        if len(sure) and not few:  # equal values are of one entity, and so are whole texts
            share = max(share, SUREST * 2.0 ** -float(sure.max()))
    else:
        share = _prior(weight, len(table)) if sources is None else _prior_of_sources(weight, u, v, table[SOURCE])
    if len(how) == 1 and not learned:  # the share of all pairs at a level is known, with pairs of one entity among them
        chance = np.minimum(share * np.exp2(weight), SUREST)
        weight = np.log2(chance / (1 - chance))
    else:
        weight = weight + float(np.log2(share / (1 - share)))
    tell(f"{len(u)} candidates, one of {1 / share:.0f} pairs of records is of one entity")
    alone: dict[str, Any] = {} if sources is None else {"groups": sources}  # at most one of each source in a cluster
    problem = SetPartition.from_pairs(len(names), (u, v), -weight, names, dense=False, missing=missing, **alone)
    origin = Origin("probability", "match_probability", "left", "right", fields=Fields(names, own), shared=True)
    problem._origin = origin
    problem = problem.require(**requirements)
    told = ""
    levels = {name: scored.column(name) for name in scored.column_names if name.startswith("mw_")}
    if learned:
        found, told = factors_from_clusters(problem, u, v, weight, levels, sources is not None)
        told = f"; {told}"
        if found is not None:
            factors, weight, problem = found
            levels = {name: multiply(levels[name], x) for name, x in zip(levels, factors, strict=True)}
    start: Any = None
    if answers is not None:
        if "initial" in find_method(method, "partition").options:
            time_limit = None if time_limit is None else time_limit / 2
            start = run(problem, method, time_limit=time_limit)  # of equally good clusters, those without answers stay
        problem, given = with_answers(problem, answers, error)
        tell(str(given))
        told += f"; {given}"
    scores = _scores(names, u, v, weight, levels)
    _warn_of_equal(weight[_equal(rows, u, v)] < 0, len(table), columns)
    del scored, levels, u, v
    default_memory_pool().release_unused()  # of the first weights
    problem._origin = replace(origin, table=table_of(scores))
    result = run(problem, method, time_limit=time_limit, **({} if start is None else {"initial": start}))
    chosen = ", ".join(f"{c.name} as {c.kind}" for c in columns)
    settings = {"columns": {c.name: c.kind for c in columns}, "blocking": rules, "prior": share, "missing": missing}
    message = f"{result.message}; compared {chosen}; {len(rules)} blocking rules; prior {share:.3g}"
    if not learned:
        message += "; too few columns or records to learn from: weights rest on assumptions"
        if len(columns) == 1 and columns[0].kind == "text":
            warn(
                "of one column of texts, no weights can be learned, and few copies with errors are candidates: "
                f"SetPartition.from_embeddings(frame[{columns[0].name!r}]) compares all texts"
            )
    result = replace(result, message=message + told, seconds=time.perf_counter() - began)
    r: Matches = extended(Matches, result, scores=scores, settings=settings, records=frame)  # type: ignore[arg-type]
    if asked is not None:
        r = r.learned(asked, error=error, method=method, time_limit=time_limit)
        tell("; ".join(r.message.rsplit("; ", 2)[1:]))  # how many answers
    return r


def _equal_rows(table: Any, columns: list[Column]) -> tuple[Any, Any, bool]:
    """A number for each row, the same for equal ones, -1 if a value is missing; with missing values equal; if few.

    Values are few if there are ten rows for each different one. Texts are not equal by chance.
    """
    rows = table.groupby([column.name for column in columns], sort=False, dropna=False).ngroup()
    gone = table[[column.name for column in columns]].isna()
    rows, whole = rows.mask(gone.all(axis=1), -1).to_numpy(), rows.mask(gone.any(axis=1), -1).to_numpy()
    known = whole[whole >= 0]
    few = 0 < FEW * len(np.unique(known)) <= len(known) and all(column.kind != "text" for column in columns)
    return whole, rows, few


def _copies(values: Any) -> NDArray[np.bool_]:
    """Which rows have no known value beside those of another one, which knows more or is the first of equal ones.

    Rows with one of the `PATTERNS` most frequent sets of known columns are looked at.
    """
    known = values.notna().to_numpy()
    sets, of, count = np.unique(known, axis=0, return_inverse=True, return_counts=True)
    copies = np.zeros(len(values), bool)
    for k in np.argsort(-count, kind="stable")[:PATTERNS].tolist():
        if not sets[k].any():
            continue
        at = np.flatnonzero((known >= sets[k]).all(axis=1))  # rows that know at least these columns
        more = of.ravel()[at] != k
        at = np.concatenate([at[more], at[~more]])  # those that know more first
        again = values.iloc[at].duplicated(subset=list(values.columns[sets[k]])).to_numpy()
        copies[at[again & (of.ravel()[at] == k)]] = True
    return copies


def _equal(rows: Any, u: Any, v: Any) -> NDArray[np.bool_]:
    """Which candidates are equal rows."""
    return np.asarray((rows[u] == rows[v]) & (rows[u] >= 0))


def _warn_of_equal(apart: NDArray[np.bool_], n: int, columns: list[Column]) -> None:
    """Say so if most pairs of equal rows, and many, are kept apart."""
    count = int(apart.sum())
    if 2 * count > len(apart) and 20 * count >= n:
        warn(
            f"{count} of {len(apart)} pairs of records that are equal in {', '.join(c.name for c in columns)} are more "
            "probably different: add a column that tells records apart, such as a name, a date or a number"
        )


def _check_one_table(frame: Any, on: Any) -> None:
    """Raise InvalidOption for several tables, or texts: the message says how they become one, or what takes them."""
    if isinstance(frame, tuple | list) and frame and on is None and all(isinstance(one, str) for one in frame):
        raise InvalidOption(
            "frame is a list of texts: expected a table; SetPartition.from_embeddings(texts) takes texts"
        )
    several = isinstance(frame, tuple | list) and any(hasattr(one, "columns") for one in frame)
    if several or hasattr(on, "columns"):
        what = f"frame is a {type(frame).__name__} of tables" if several else "on is a table"
        raise InvalidOption(
            f"{what}: expected one table with a column of sources, such as match(pandas.concat([a.assign(source='a'), "
            "b.assign(source='b')], ignore_index=True), on=[...], source='source')"
        )


def _rule(rule: Any) -> tuple[Any, ...]:
    """A rule of the caller: names of columns in which both records agree, or a rule of splink, alone."""
    return tuple(rule) if isinstance(rule, tuple | list) else (rule,)


def _comparison(one: Any, columns: list[Column]) -> Any:
    """A comparison of splink for a column or its name; a comparison of splink is returned unchanged."""
    if isinstance(one, str):
        known = {column.name: column for column in columns}
        if one not in known:
            raise unknown("comparison", one, known)
        one = known[one]
    return comparison(one) if isinstance(one, Column) else one


def _of(frame: Any) -> str:
    """The columns of a table, as the end of a message."""
    columns = list(getattr(frame, "column_names", getattr(frame, "columns", ())))
    return f"; the table has {', '.join(map(repr, columns[:20]))}{', ...' * (len(columns) > 20)}" if columns else ""


def _prior(weight: Floats, n: int) -> float:
    """The share of pairs of one entity that the candidates bear out."""
    every = n * (n - 1) / 2
    share, ratio = 1 / n, np.exp2(np.minimum(weight, 60.0))
    for _ in range(100):
        odds = ratio * (share / (1 - share))
        new = min(0.5, max(0.5, float((odds / (1 + odds)).sum())) / every)
        if abs(new - share) < 1e-6 * share:
            break
        share = new
    return share


def _prior_of_sources(weight: Floats, u: Any, v: Any, sources: Any) -> float:
    """The prior for pairs of different sources, where a record has at most one partner in each other source.

    A share of records has a partner in another source, any record of it alike. With the evidence r of each candidate,
    the likelihood of a record's candidates in that source is 1 - share + share * sum(r) / (records of that source). The
    share that makes all of them most likely is the fixed point of the mean of the probabilities of a partner.
    """
    import pandas

    codes, known = pandas.factorize(sources)
    size = np.bincount(codes[codes >= 0], minlength=1)
    both = (codes[u] >= 0) & (codes[v] >= 0)
    u, v, weight = u[both], v[both], weight[both]
    if len(known) < 2 or not len(u):
        return _prior(weight, len(codes))
    ends, others = np.concatenate([u, v]), codes[np.concatenate([v, u])]
    group = np.unique(ends * len(known) + others, return_inverse=True)[1].ravel()
    ratio = np.exp2(np.minimum(np.concatenate([weight, weight]), 60.0)) / size[others]
    evidence = np.bincount(group, ratio)
    groups = int((codes >= 0).sum()) * (len(known) - 1)
    share = 0.5
    for _ in range(200):
        partner = evidence * (share / (1 - share))
        new = min(1 - 1 / (groups + 1), max(0.5, float((partner / (1 + partner)).sum())) / groups)
        if abs(new - share) < 1e-6 * share:
            break
        share = new
    prior = share / (1 - share) / float(size.mean())
    return prior / (1 + prior)


def _scores(names: Any, u: Any, v: Any, weight: Floats, levels: dict[str, Any]) -> Any:
    """The table of candidates, with the part of the weight that comes from each column."""
    import pyarrow

    known = pyarrow.array(list(names))
    ends = {"left": known.take(pyarrow.array(u)), "right": known.take(pyarrow.array(v))}
    values = {"match_weight": weight, "match_probability": 1 / (1 + np.exp2(-weight))}
    return pyarrow.table(ends | values | levels)
