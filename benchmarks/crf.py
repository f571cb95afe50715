"""Factor graphs: graphpart and its peers side by side on the same instances: cost, bound, seconds, memory, targets.

    python benchmarks/crf.py                         # all rows, 5 rounds (pip install -e '.[bench-crf]' first)
    python benchmarks/crf.py --quick --rounds 1      # small sizes: does everything run?
    python benchmarks/crf.py --only restore million --json
    python benchmarks/crf.py --only real --instances FOLDER --seconds 10
    python benchmarks/crf.py --cpu                   # on a machine with other work: CPU instead of wall-clock seconds

Peers are optional: a missing peer is reported in a line, and has - in the tables. measuring.py describes the
measurements. "build" is the time to convert NumPy arrays to the data structure of the contestant; for PyMaxflow, it is
included in the time. Energies are recomputed here from the arrays; gaps are (cost - lower bound) / |cost|. With --cpu,
the time limit of message passing is in CPU seconds, as that of toulbar2 always is; the limit of `auto` is always by the
clock.

The row "real" takes its instances from the folders of --instances, by default uai and wcsp below the folder that the
environment variable GRAPHPART_INSTANCES names, and their best known values from best_known.csv. Values with a fraction
are rounded: an energy within 0.12 counts as the best known. Seconds do not include reading.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from crf_contestants import (
    AUTO,
    BUILD,
    CBC,
    CONTESTANTS,
    CUT,
    DWAVE,
    ELIMINATION,
    EXPANSION,
    FLOOR,
    HIGHS,
    ICM,
    LIMITED,
    MAXFLOW,
    MAXFLOW_EXPANSION,
    MIN_SUM,
    PASS,
    PGMPY,
    QPBO,
    ROOF,
    SWEEP,
    TEN_BEST,
    TEN_BY_NUMPY,
    TOULBAR2,
    auto_for,
    passing,
)  # fmt: skip
from crf_instances import (
    couplings,
    energy,
    from_file,
    grid,
    path,
    picture,
    potts,
    real_instances,
    sparse,
    third_order,
    tree,
)  # fmt: skip
from measuring import Figure, Measurements, Row, main
from real import INSTANCES

Holds = Callable[[Measurements, str, float], bool]  #: of measurements, an instance and its best known value
CLOSED = 1e-9  #: a relative gap of at most this is rounding


def extra_in_tables(who: str, most: float = 2) -> Figure:
    return Figure(f"{who}: extra memory in tables", lambda r: r.extra_in_tables(who), "<=", most)


def excess(who: str, whose: str, most: float) -> Figure:
    return Figure(f"{who}: energy above {whose}'s", lambda r: r.excess(who, whose), "<=", most)


def over(who: str, whose: str, most: float | None = None) -> Figure:
    return Figure(f"{who}: time over {whose}", lambda r: r.ratio(who, whose), *(() if most is None else ("<=", most)))


def seconds(who: str, most: float) -> Figure:
    return Figure(f"{who}: seconds", lambda r: r.median(who), "<=", most)


def gap(who: str, most: float | None = None) -> Figure:
    return Figure(f"{who}: gap", lambda r: r.gap(who), *(() if most is None else ("<=", most)))


def present(r: Measurements, contestants: tuple[str, ...]) -> list[str]:
    """Those that were measured; KeyError if there are none."""
    measured = [who for who in contestants if (r.sizes[-1], who) in r]
    if not measured:
        raise KeyError(contestants)
    return measured


def least_gap(text: str, contestants: tuple[str, ...], most: float) -> Figure:
    return Figure(text, lambda r: min(r.gap(who) for who in present(r, contestants)), "<=", most)


def proof(contestants: tuple[str, ...], most: float) -> Figure:
    """The seconds of the first that proves its labeling optimal; infinite where none does."""

    def value(r: Measurements) -> float:
        proven = (who for who in present(r, contestants) if r.median(who, "proven") == 1)
        return min((r.median(who) for who in proven), default=np.inf)

    return Figure("seconds to the proof", value, "<=", most)


def restored(name: str, about: str, sizes: dict[str, dict[str, int]], figures: tuple[Figure, ...]) -> Row:
    common = (excess(CUT, MAXFLOW, 1e-12), gap(CUT, CLOSED))
    quick = {"12x16": {"height": 12, "width": 16}}
    return Row(name, about, picture, sizes, quick, (CUT, MAXFLOW), (*figures, *common))


def roof(name: str, about: str, costs: int) -> Row:
    sizes, quick = ({f"{n}x{n}": {"side": n, "costs": costs}} for n in (1000, 20))
    figures = (
        over(ROOF, QPBO, 1),
        Figure("bound off thinqpbo's, relative", lambda r: abs(r.excess(ROOF, QPBO, "bound")), "<=", 1e-9),
        Figure("share of labelled variables", lambda r: r.median(ROOF, "labelled")),
        Figure(
            "thinqpbo labels more, share of variables",
            lambda r: r.median(QPBO, "labelled") - r.median(ROOF, "labelled"), "<=", 0,
        ),
    )  # fmt: skip
    return Row(name, about, couplings, sizes, quick, (ROOF, QPBO), figures)


# ------------------------------------------------------------------------------------------------------ real instances


def known(row: Row, r: Measurements) -> list[tuple[float, str]]:
    """(best known value or nan, instance) of all instances."""
    values = {**row.sizes, **row.quick}
    return [(np.nan if values[size]["best"] is None else values[size]["best"], size) for size in r.sizes]


def counting(text: str, holds: Holds, known_only: bool = False) -> Callable[[Row], Figure]:
    """A figure of a row of real instances: on how many of them something holds."""

    def figure(row: Row) -> Figure:
        def value(r: Measurements) -> float:
            if not r:
                raise KeyError("nothing measured")
            return sum(holds(r, size, best) for best, size in known(row, r) if not (known_only and np.isnan(best)))

        return Figure(text, value)

    return figure


def proves(who: str) -> Holds:
    def holds(r: Measurements, size: str, best: float) -> bool:
        m = r.get((size, who))
        return m is not None and m.median("proven") == 1

    return holds


def reaches(who: str) -> Holds:
    def holds(r: Measurements, size: str, best: float) -> bool:
        m = r.get((size, who))
        slack = 0.0 if best == round(best) else 0.12
        return m is not None and "cost" in m and m.median("cost") <= best + slack + CLOSED * abs(best)

    return holds


def not_above(who: str, whose: str) -> Holds:
    def holds(r: Measurements, size: str, best: float) -> bool:
        a, b = r.get((size, who)), r.get((size, whose))
        if a is None or b is None or "cost" not in a or "cost" not in b:
            return False
        return a.median("cost") <= b.median("cost") + CLOSED * abs(b.median("cost"))

    return holds


SUMMARY = (
    counting("instances", lambda r, size, best: True),
    counting("with a best known value", lambda r, size, best: True, known_only=True),
    *(counting(f"{who}: best known value reached", reaches(who), known_only=True) for who in (AUTO, LIMITED)),
    *(counting(f"{who}: proven optimal", proves(who)) for who in (AUTO, LIMITED)),
    counting(f"{AUTO}: energy not above {LIMITED}'s", not_above(AUTO, LIMITED)),
    counting(f"{LIMITED}: energy not above {AUTO}'s", not_above(LIMITED, AUTO)),
)


def add_options(parser: argparse.ArgumentParser) -> None:
    default = [INSTANCES / kind for kind in ("uai", "wcsp") if (INSTANCES / kind).is_dir()]
    parser.add_argument("--instances", nargs="+", type=Path, default=default, metavar="FOLDER", help="real instances")
    parser.add_argument("--seconds", type=float, default=10, help="limit for each real instance (default 10)")


def prepare(row: Row, options: argparse.Namespace) -> Row:
    """The row of real instances, with those that are there."""
    if row.name != "real":
        return row
    folders = [folder.resolve() for folder in options.instances]
    row = replace(
        row,
        sizes=dict(real_instances(folders, options.seconds)),
        quick=dict(real_instances(folders, min(1.0, options.seconds), most=2)),
    )
    return replace(row, figures=tuple(make(row) for make in SUMMARY))


# ---------------------------------------------------------------------------------------------------------------- rows

ROWS = (
    Row(
        "tree", "random binary tree, binary variables, normal tables", tree,
        {"n=1000000": {"n": 10**6}}, {"n=2000": {"n": 2000}},
        (FLOOR, BUILD, MIN_SUM, TOULBAR2),
        (
            Figure("min-sum: time over tables.sum()", lambda r: r.ratio(MIN_SUM, FLOOR), "<=", 10),
            Figure("min-sum: times faster than pytoulbar2", lambda r: 1 / r.ratio(MIN_SUM, TOULBAR2), ">=", 50),
            Figure("building: seconds", lambda r: r.median(BUILD), "<=", 1.5),
            Figure("min-sum: energy above pytoulbar2's", lambda r: r.excess(MIN_SUM, TOULBAR2), "<=", 1e-6),
            extra_in_tables(MIN_SUM),
        ),
    ),
    Row(
        "path", "path, binary variables, normal tables", path,
        {"n=1000000": {"n": 10**6, "labels": 2}}, {"n=2000": {"n": 2000, "labels": 2}},
        (FLOOR, BUILD, MIN_SUM),
        (Figure("min-sum: time over tables.sum()", lambda r: r.ratio(MIN_SUM, FLOOR), "<=", 20),),
    ),
    Row(
        "chain", "chain, 20 labels, normal tables", path,
        {"n=100000": {"n": 10**5, "labels": 20}}, {"n=200": {"n": 200, "labels": 20}},
        (FLOOR, BUILD, MIN_SUM),
        (
            Figure("min-sum: time over tables.sum()", lambda r: r.ratio(MIN_SUM, FLOOR), "<=", 5),
            extra_in_tables(MIN_SUM),
        ),
    ),
    Row(
        "third-order", "tree of third-order factors, binary variables, normal tables", third_order,
        {"m=100000": {"m": 10**5}}, {"m=1000": {"m": 1000}},
        (FLOOR, BUILD, MIN_SUM, TOULBAR2),
        (
            Figure("min-sum: time over tables.sum()", lambda r: r.ratio(MIN_SUM, FLOOR), "<=", 20),
            Figure("min-sum: energy above pytoulbar2's", lambda r: r.excess(MIN_SUM, TOULBAR2), "<=", 1e-6),
            extra_in_tables(MIN_SUM),
        ),
    ),
    Row(
        "grid", "grid, binary variables, normal tables", grid,
        {"500x500": {"side": 500}}, {"30x30": {"side": 30}},
        (ICM, SWEEP, DWAVE),
        (
            Figure("ICM: energy off D-Wave's, relative", lambda r: abs(r.excess(ICM, DWAVE)), "<=", 1e-12),
            Figure("ICM: times faster than D-Wave", lambda r: 1 / r.ratio(ICM, DWAVE), ">=", 10),
        ),
    ),
    Row(
        "sparse", "sparse random graph, average degree 6, binary variables, normal tables", sparse,
        {"n=1000000": {"n": 10**6, "degree": 6}}, {"n=1000": {"n": 1000, "degree": 6}},
        (ICM, SWEEP),
        (seconds(ICM, 3), extra_in_tables(ICM)),
    ),
    Row(
        "small", "random binary tree, for contestants that are not for large ones", tree,
        {"n=20": {"n": 20}}, {"n=20": {"n": 20}},
        (MIN_SUM, PGMPY, TOULBAR2, HIGHS, CBC),
        (
            Figure("min-sum: energy above HiGHS's", lambda r: r.excess(MIN_SUM, HIGHS), "<=", 1e-9),
            Figure("min-sum: times faster than pgmpy", lambda r: 1 / r.ratio(MIN_SUM, PGMPY), ">=", 1),
            Figure("min-sum: times faster than HiGHS", lambda r: 1 / r.ratio(MIN_SUM, HIGHS), ">=", 1),
        ),
    ),
    restored(
        "restore", "the picture of restore_image.py, to the proven optimum", {"96x128": {"height": 96, "width": 128}},
        (seconds(CUT, 0.020), over(CUT, MAXFLOW)),
    ),
    restored(
        "million", "the same with 10^6 pixels", {"1000x1000": {"height": 1000, "width": 1000}},
        (over(CUT, MAXFLOW, 1), extra_in_tables(CUT, 3)),
    ),
    roof("roof", "grid, normal costs of both labels, couplings of both signs", 2),
    roof("roof-hard", "grid, normal costs of one label, couplings of both signs", 1),
    Row(
        "passes", "one iteration of message passing: grid, 4 labels, normal tables", grid,
        {"400x400": {"side": 400, "labels": 4}}, {"20x20": {"side": 20, "labels": 4}},
        (FLOOR, PASS), (over(PASS, FLOOR, 8),),
    ),
    Row(
        "passes-potts", "one iteration of message passing: Potts grid, 8 labels", potts,
        {"300x300": {"side": 300, "labels": 8}}, {"20x20": {"side": 20, "labels": 8}},
        (FLOOR, PASS), (over(PASS, FLOOR, 2),),
    ),
    Row(
        "potts", "Potts grid, 8 labels, bound and labeling", potts,
        {"200x200": {"side": 200, "labels": 8}}, {"10x10": {"side": 10, "labels": 8}},
        (passing(1), passing(20), auto_for(20), MAXFLOW_EXPANSION),
        (
            Figure(f"{passing(1)}: gap", lambda r: r.gap(passing(1)), "<=", 0.0002),
            proof((passing(20), auto_for(20)), 20),
            gap(passing(20)),
            gap(auto_for(20)),
            excess(passing(20), MAXFLOW_EXPANSION, 0),
        ),
        most_rounds=3,
    ),
    Row(
        "tables", "grid, 4 labels, normal tables, bound and labeling", grid,
        {"100x100": {"side": 100, "labels": 4}}, {"8x8": {"side": 8, "labels": 4}},
        (passing(0.2), passing(30), auto_for(30)),
        (
            gap(passing(0.2), 0.03),
            least_gap("gap after 30 s, of the better one", (passing(30), auto_for(30)), 0.005),
            gap(passing(30)),
            gap(auto_for(30)),
        ),
        most_rounds=3,
    ),
    Row(
        "expansion", "Potts grid, 8 labels, expansion", potts,
        {"500x500": {"side": 500, "labels": 8}}, {"20x20": {"side": 20, "labels": 8}},
        (EXPANSION, MAXFLOW_EXPANSION),
        (excess(EXPANSION, MAXFLOW_EXPANSION, 0), over(EXPANSION, MAXFLOW_EXPANSION, 1)),
    ),
    Row(
        "ten-best", "chain, 5 labels, normal tables, the ten best labelings", path,
        {"n=1000": {"n": 1000, "labels": 5}}, {"n=50": {"n": 50, "labels": 5}},
        (TEN_BEST, TEN_BY_NUMPY, MIN_SUM),
        (
            seconds(TEN_BEST, 0.050),
            over(TEN_BEST, TEN_BY_NUMPY),
            excess(TEN_BEST, MIN_SUM, 1e-12),
            Figure("tenth energy off NumPy's, relative",
                   lambda r: abs(r.excess(TEN_BEST, TEN_BY_NUMPY, "tenth")), "<=", 1e-12),
        ),
    ),
    Row(
        "narrow", "binary grid, normal tables, by elimination", grid,
        {"20x20": {"side": 20}}, {"6x6": {"side": 6}},
        (ELIMINATION, TOULBAR2),
        (gap(ELIMINATION, CLOSED), excess(ELIMINATION, TOULBAR2, 1e-6), over(ELIMINATION, TOULBAR2)),
    ),
    Row("real", "real instances, by default of the UAI competition and for toulbar2", from_file, {}, {},
        (AUTO, LIMITED), most_rounds=1, wide=True),
)  # fmt: skip

if __name__ == "__main__":
    packages = (
        "numpy", "PyMaxflow", "thinqpbo", "pytoulbar2", "dimod", "dwave-samplers", "pgmpy", "pulp", "highspy",
    )  # fmt: skip
    main(ROWS, CONTESTANTS, packages, __doc__, __file__, energy, add_options, prepare)
