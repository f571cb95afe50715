"""What needs the problem of a result says so if the result was pickled, and works with the problem given."""

import io
import pickle

import pytest

import graphpart as gp


def test_of_partitions():
    p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3)], [-1.0, 2.0, -3.0])
    r = pickle.loads(pickle.dumps(gp.solve(p)))
    expected = "None.*pickled do not hold their problem: give that of the result before it was pickled, as in"
    for call in (
        lambda: gp.partition.doubts(r.problem, r),
        lambda: gp.report(r.problem, r, io.BytesIO()),
        lambda: gp.partition.extend(r.problem, r),
        lambda: gp.solve(r.problem, initial=r),
        r.plot,
    ):
        with pytest.raises(gp.GraphPartError, match=expected):
            call()
    assert len(gp.partition.doubts(p, r).pairs["doubt"]) == 3


def test_of_factor_graphs():
    f = gp.FactorGraph()
    f.add_variable("x", domain=2)
    f.add_factor(("x",), [0.0, 1.0])
    r = pickle.loads(pickle.dumps(gp.solve(f)))
    with pytest.raises(gp.InvalidProblem, match=r"None.*pickled.*as in gp\.crf\.doubts\(problem, result\)"):
        gp.crf.doubts(r.problem, r)
    assert len(gp.crf.doubts(f, r).variables["doubt"]) == 1
