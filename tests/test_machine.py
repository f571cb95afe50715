"""Memory and processors of this machine, and of systems that tell in another way or not at all."""

import ctypes
import multiprocessing.process
import os
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest

from graphpart import machine
from graphpart.errors import InvalidOption


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="compared with what Linux shows in /proc")
def test_memory_is_what_linux_shows():
    with open("/proc/meminfo") as lines:
        total = int(next(line for line in lines if line.startswith("MemTotal:")).split()[1]) << 10
    assert total <= machine.memory() < 1.1 * total + 2**20  # less what the kernel reserved


def test_memory_by_pages(monkeypatch):
    monkeypatch.setattr(machine.sys, "platform", "other")
    monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}.__getitem__, raising=False)
    assert machine.memory() == 4_096_000


@pytest.mark.parametrize("answer", [-1, ValueError("unknown name"), OSError("no answer")])
def test_unknown_memory_is_no_limit(monkeypatch, answer):
    def sysconf(name):
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(machine.sys, "platform", "other")
    monkeypatch.setattr(os, "sysconf", sysconf, raising=False)
    assert machine.memory() == sys.maxsize
    monkeypatch.delattr(os, "sysconf")
    assert machine.memory() == sys.maxsize


@pytest.mark.parametrize("known", [True, False])
def test_memory_as_windows_tells_it(monkeypatch, known):
    def status(pointer):
        fields = ctypes.cast(pointer, ctypes.POINTER(ctypes.c_uint32 * 16)).contents
        assert fields[0] == 64  # the size of the structure, or Windows refuses
        fields[1], fields[2], fields[3] = 42, 5, 2  # share in use; total, lower and upper half
        return known

    windll = SimpleNamespace(kernel32=SimpleNamespace(GlobalMemoryStatusEx=status))
    monkeypatch.setattr(machine.sys, "platform", "win32")
    monkeypatch.setattr(ctypes, "windll", windll, raising=False)
    assert machine.memory() == ((2 << 32) + 5 if known else sys.maxsize)


def test_processors(monkeypatch):
    assert 1 <= machine.processors() <= os.cpu_count()
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert machine.processors() == os.cpu_count()
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert machine.processors() == 1
    monkeypatch.setenv("GRAPHPART_THREADS", "3")
    assert machine.processors() == 3
    monkeypatch.setenv("GRAPHPART_THREADS", "0")
    with pytest.raises(InvalidOption, match="GRAPHPART_THREADS is '0': expected a whole number of at least 1"):
        machine.processors()


def test_one_thread_within_workers(monkeypatch):
    """As of joblib and Dask: processes that multiprocessing started, and threads."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1, 2}, raising=False)
    found, worker = [], threading.Thread(target=lambda: found.append(machine.processors()))
    worker.start()
    worker.join()
    assert machine.processors() == 3 and found == [1]
    monkeypatch.setattr(multiprocessing.process, "parent_process", lambda: "another")
    assert machine.processors() == 1


def test_side_by_side(monkeypatch):
    monkeypatch.setenv("GRAPHPART_THREADS", "2")
    both = threading.Barrier(2, timeout=60)  # each waits for the other
    assert sum(machine.side_by_side(both.wait, both.wait)) == 1
    me = threading.get_ident()
    assert machine.side_by_side(threading.get_ident, threading.get_ident, worth=False) == [me, me]
    with pytest.raises(ZeroDivisionError):
        machine.side_by_side(lambda: 1, lambda: 1 // 0)


@pytest.mark.skipif(not machine.can_limit(), reason="the system does not say how much memory a process takes")
@pytest.mark.parametrize(
    ("method", "elements", "most"),
    [("greedy-joining", 100_000, 5), ("kernighan-lin-pairs", 100_000, 5), ("greedy-joining", 20_000, 5.4)],
)
def test_methods_take_five_times_the_memory_of_the_problem(method, elements, most):
    """As docs/how-to/memory-and-time.md says, and what a process takes for itself: some megabytes beside 16.

    What arrays leave when they go is returned to the system at once. Else the method uses that first, and seems to take
    four times the memory; dask.distributed sets the same for processes that it starts.
    """
    code = f"""
import numpy as np
import graphpart as gp
from graphpart import machine
rng = np.random.default_rng(0)
pairs = rng.integers(0, {elements}, (1_000_000, 2))
pairs = pairs[pairs[:, 0] != pairs[:, 1]]
p = gp.SetPartition.from_pairs({elements}, pairs, rng.normal(size=len(pairs)))
del pairs
gp.solve(gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-1.0, 1.0]), method={method!r})
machine.forget_peak()
before = machine.peak()
gp.solve(p, method={method!r})
print((machine.peak() - before) / (16 * p.m))
"""
    env = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    assert 2 < float(done.stdout) < most


@pytest.mark.skipif(not machine.can_limit(), reason="the system does not limit the memory of processes")
def test_the_limit_of_memory_is_taken_back_and_never_above_what_was_there():
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    with pytest.raises(MemoryError), machine.limited(2**27):
        bytearray(2**31)
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
    with machine.limited(1):
        small = resource.getrlimit(resource.RLIMIT_DATA)
        with machine.limited(2**40):
            assert resource.getrlimit(resource.RLIMIT_DATA) == small
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


def test_systems_that_do_not_say_what_is_allocated_have_no_limit(monkeypatch):
    def status(name):
        raise IndexError  # the line of this name is missing

    monkeypatch.setattr(machine, "_status", status)
    assert not machine.can_limit() and not machine.scarce()
    with machine.limited(1):
        assert len(bytearray(2**27)) == 2**27
