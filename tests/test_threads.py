"""Threads of the caller: many runs at once, also on one problem object, end as one after the other.

They run side by side where kernels have released the interpreter lock, and everywhere in a Python without it.
"""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from strategies_crf import random_factor_graph

import graphpart as gp
from graphpart.methods import methods_for
from graphpart.testing import partition_problems

THREADS = 4


def in_threads(call):
    """What `call` returns in each of several threads, which begin at once."""
    ready = threading.Barrier(THREADS)

    def one(_):
        ready.wait()
        return call()

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(one, range(THREADS)))


def outcome(problem, method):
    """What a method returns without a clock; or the error, of which a problem that it refuses gives the same one."""
    try:
        r = gp.solve(problem, method)
    except gp.GraphPartError as error:
        return type(error), str(error)
    return r.labels.tolist(), r.cost, r.lower_bound, r.status


def problems(kind):
    """New objects at each call, which know nothing yet."""
    if kind == "partition":
        yield from (p for _, p in partition_problems(seed=3, random=6))
    for seed in range(6 * (kind == "crf")):
        yield random_factor_graph(np.random.default_rng(seed), n=6)


CASES = [(kind, method.name) for kind in ("partition", "crf") for method in methods_for(kind)]


@pytest.mark.filterwarnings("ignore::graphpart.GraphPartWarning")  # some problems have costs of one sign only
@pytest.mark.parametrize(("kind", "method"), CASES, ids=["-".join(case) for case in CASES])
def test_runs_at_once_on_one_problem_end_as_one_run(kind, method):
    alone = [outcome(p, method) for p in problems(kind)]
    for p, expected in zip(problems(kind), alone, strict=True):
        assert in_threads(lambda p=p: outcome(p, method)) == [expected] * THREADS


def test_a_sub_interpreter_is_refused_in_one_line():
    code = """
import sys
import graphpart
try:
    import _interpreters as interpreters
except ImportError:  # before Python 3.13
    import _xxsubinterpreters as interpreters
try:
    failed = interpreters.run_string(interpreters.create(), f"import sys; sys.path[:] = {sys.path}; import graphpart")
except interpreters.RunFailedError as error:  # before Python 3.13
    failed = error
print(getattr(failed, "formatted", failed))
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.count("\n") == 1
    assert "ImportError" in said and "cannot be imported in a sub-interpreter" in said and "use threads" in said


@pytest.mark.skipif(sys.version_info < (3, 13), reason="Python before 3.13 always has the global interpreter lock")
def test_kernels_do_not_bring_the_interpreter_lock_back():
    def lock(before):
        code = f"import sys; {before}; print(sys._is_gil_enabled())"
        return subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout

    assert lock("import graphpart as gp; gp.solve(gp.generate.planted_partition(6, 2))") == lock("pass")
