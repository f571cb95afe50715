"""Feed one reader with mutated files, guided by coverage: only the exceptions that it states may come out.

    pip install 'graphpart[fuzz]'
    python benchmarks/fuzz_readers.py FORMAT [SECONDS] [options of libFuzzer]

FORMAT is a name in the table of formats, ``any`` (told by content), or ``labels``. What can be read must also come back
unchanged when it is written and read again. Inputs that fail are kept as ``crash-*`` in the current folder.
"""

import io
import math
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["graphpart.io"]):
    import numpy as np

    import graphpart as gp
    from graphpart import machine
    from graphpart.files import labels  # noqa: F401  be traced
    from graphpart.io import FORMATS, cplib, csv, json, metis, multicut, npy, npz, pace, qubo, uai, wcsp  # noqa: F401  be traced

STATED = (gp.FormatError, gp.InfeasibleProblem)
MEMORY = 64 << 20  # pretend that the machine is small, such that nothing honest but large slows the run

machine.memory = lambda: MEMORY


def same(p: gp.SetPartition, q: gp.SetPartition) -> bool:
    """Whether two problems have the same costs, requirements and objective."""
    return (
        p.n == q.n
        and list(p.nodes) == list(q.nodes)
        and np.array_equal(*(np.stack(x.pairs())[:, x.pairs()[2] != 0] for x in (p, q)))
        and np.array_equal(p.must_join, q.must_join)
        and (p.offset, p.sense) == (q.offset, q.sense)
    )


def same_factors(f: gp.FactorGraph, g: gp.FactorGraph) -> bool:
    """Whether two factor graphs have the same variables, factors and objective, factors in any order."""

    def content(h: gp.FactorGraph) -> list[tuple[str, ...]]:
        return sorted((repr(scope), repr(table.tolist())) for scope, table in map(h.factor, range(h.m)))

    return (
        list(f.variables) == list(g.variables)
        and f.domains.tolist() == g.domains.tolist()
        and content(f) == content(g)
        and (f.constant, f.offset, f.sense) == (g.constant, g.offset, g.sense)
    )


def test_problem(data: bytes, format: str | None) -> None:
    """Read a file and, if it holds a problem, write it and read it again."""
    try:
        p = gp.read(io.BytesIO(data), format)
    except STATED:
        return
    if p.n > 1000:
        return
    stream = io.BytesIO()
    if isinstance(p, gp.FactorGraph):
        gp.write(p, stream, "json")
        assert same_factors(p, gp.read(io.BytesIO(stream.getvalue()), "json"))
        return
    try:
        gp.write(p, stream, "npz")
    except gp.InvalidProblem:  # nodes that it cannot hold
        return
    assert same(p, gp.read(io.BytesIO(stream.getvalue()), "npz"))


def test_labels(data: bytes) -> None:
    """Read labels, without and with a problem."""
    for problem in (None, gp.SetPartition.from_pairs(3, [(0, 1)], [1.0])):
        try:
            gp.read_labels(io.BytesIO(data), problem)
        except STATED:
            return


def seeds(format: str) -> list[bytes]:
    """Small valid files."""
    if format == "labels":
        return [b"0\n0\n1\n", b"element,cluster\n0,1\n1,1\n2,5\n", b'node,label\n"a b",x\n']
    problems = [
        gp.SetPartition.from_pairs(3, [(0, 1), (1, 2), (0, 2)], [-1.0, 1.0, 1.0]),
        gp.SetPartition.from_pairs(4, [(0, 1), (1, 2)], [-2.5, 1e-300], must_join=[(2, 3)]),
        gp.SetPartition.from_pairs(3, [(0, 1)], [math.inf], ["a", "b c", "d"], offset=2.0, sense=-1),
        gp.FactorGraph.from_arrays(
            [2, 3], [([[1]], [[0.5, 1.0, math.inf]]), ([[0, 1]], [[[1.0, 2.0, 0.0], [0.0, 3.0, 1.0]]])]
        ),
        gp.FactorGraph.from_arrays(
            [2, 2], [([[0], [1]], [[0.0, 1.0], [0.0, -2.0]]), ([[0, 1]], [[[0.0, 0.0], [0.0, 3.0]]])]
        ),
    ]
    files = [b"u,v,sign\n1,2,1\n2,3,-1\n", b"u,v,weight\n1,2,1.5\n", b"%c\n2 1 1\n2 3\n1 3\n", b"c x\np cep 2 1\n1 2\n"]
    for known in FORMATS:
        for p in problems:
            if known.name in (format, "npz" if format == "any" else format) or format == "any":
                stream = io.BytesIO()
                try:
                    gp.write(p, stream, known.name)
                except gp.GraphPartError:
                    continue
                files.append(stream.getvalue())
    return files


def main() -> None:
    """Run one target."""
    format, seconds = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "60"
    target = test_labels if format == "labels" else lambda data: test_problem(data, None if format == "any" else format)
    with tempfile.TemporaryDirectory() as corpus:
        for i, data in enumerate(seeds(format)):
            (Path(corpus) / f"{i}").write_bytes(data)
        options = [f"-max_total_time={seconds}", "-rss_limit_mb=2048", "-timeout=20", "-print_final_stats=1"]
        atheris.Setup([sys.argv[0], corpus, *options, *sys.argv[3:]], target)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
