"""Fixtures and settings that all tests share."""

import gc
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from trials import trials

# One thread of BLAS in each process, unless the environment says otherwise: threads of several processes of tests wait
# for one another, which took three times the processor's time in tests/learn. NumPy reads this when it is loaded.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# The same examples at every run: a failure in CI is a failure at home. Each failing example is printed with its blob.
settings.register_profile(
    "graphpart",
    max_examples=trials(100),
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("graphpart")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session", autouse=True)
def interrupts_are_heard() -> None:
    """A shell ignores Ctrl-C for what it runs in the background; tests send it there, too."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left_behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Temporary files go to a folder of this session, where in the end nothing of graphpart is left."""
    folder = tmp_path_factory.mktemp("temporary")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(folder))
        patch.setattr(tempfile, "tempdir", str(folder))
        yield
    gc.collect()
    assert [name for name in os.listdir(folder) if "graphpart" in name] == []


@pytest.fixture
def run(capsys):
    """Run the command line; returns (status, standard output, standard error)."""
    from graphpart.cli import main

    def run(*argv):
        status = main([str(arg) for arg in argv])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return status, out, err

    return run


@pytest.fixture
def ctrl_c() -> Iterator[Callable[[float, float], None]]:
    """A callback that lets Ctrl-C come while a run lasts: soon after the first call, however long that took."""
    timers: list[threading.Timer] = []

    def callback(seconds: float, cost: float) -> None:
        if not timers:
            timers.append(threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)))
            timers[0].start()

    yield callback
    for timer in timers:
        timer.cancel()
        timer.join()


@pytest.fixture
def shared_instances() -> Path:
    """The folder of real instances, which GRAPHPART_INSTANCES names. Tests that need it are skipped without it."""
    folder = Path(os.environ.get("GRAPHPART_INSTANCES") or ROOT.parent / "shared" / "instances")
    if not folder.is_dir():
        pytest.skip("GRAPHPART_INSTANCES names no folder of real instances")
    return folder
