"""From `gp.solve` to the first kernel: few functions of the package stand between, for both kinds of problems."""

import sys
from pathlib import Path

import numpy as np
import pytest

import graphpart as gp
from graphpart.crf import choosing
from graphpart.partition.local_search import greedy_joining

PACKAGE = str(Path(gp.__file__).parent)
COMPILED = 1  # the wrapper that notes Ctrl-C (stopping.interruptible), which frames do not show


class Reached(Exception):
    """The kernel was called."""


class Kernel:
    """In place of a kernel: it notes the functions of the package that lead to it."""

    def __init__(self, name):
        self.path = []
        setattr(self, name, self.note)

    def note(self, *arguments):
        frame = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename.startswith(PACKAGE):
                self.path.insert(0, frame.f_code.co_name)
            frame = frame.f_back
        raise Reached


@pytest.mark.parametrize("dense", [True, False])
def test_eight_frames_for_a_partition(monkeypatch, dense):
    kernel = Kernel("join_dense" if dense else "join_sparse")
    monkeypatch.setattr(greedy_joining, "_kernels" if dense else "_sparse_joining", kernel)
    C = np.random.default_rng(0).normal(size=(40, 40))
    with pytest.raises(Reached):
        gp.solve(gp.SetPartition.from_matrix(np.triu(C, 1) + np.triu(C, 1).T, dense=dense))
    assert kernel.path[0] == "solve" and kernel.path[-1] == "join"
    assert len(kernel.path) + COMPILED <= 8, kernel.path


def test_eight_frames_for_a_factor_graph(monkeypatch):
    kernel = Kernel("collect")
    monkeypatch.setattr(choosing, "_min_sum", kernel)
    f = gp.generate.factor_grid(5, 5, "mixed", 3, seed=1).problem
    f = gp.FactorGraph.from_arrays([3] * 26, [*f_arrays(f), ([[24, 25]], np.ones((1, 3, 3)))])
    with pytest.raises(Reached):
        gp.solve(f)
    assert kernel.path[0] == "solve" and len(kernel.path) + COMPILED <= 8, kernel.path


def f_arrays(f):
    """The factors of a factor graph, one by one."""
    return [([scope], table[None]) for scope, table in (f.factor(i) for i in range(f.m))]
