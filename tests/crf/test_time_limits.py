"""What has no partial answer ends with one clear line when its time is over, and with KeyboardInterrupt by Ctrl-C."""

import _thread
import math
import threading

import numpy as np
import pytest

import graphpart as gp
from graphpart.crf.bucket_elimination import _kernels

FUNCTIONS = {
    "the m best labelings": lambda f, **options: gp.crf.m_best(f, 5, **options),
    "min-marginals": gp.crf.min_marginals,
    "marginals": gp.crf.marginals,
    "log Z": gp.crf.log_partition,
    "samples": lambda f, **options: gp.crf.samples(f, 5, seed=1, **options),
}


def grid(side, seed=0):
    """Binary variables, width `side`."""
    rng = np.random.default_rng(seed)
    at = np.arange(side * side).reshape(side, side)
    pairs = np.concatenate(
        [np.stack([a.ravel(), b.ravel()], 1) for a, b in ((at[1:], at[:-1]), (at[:, 1:], at[:, :-1]))]
    )
    return gp.FactorGraph.from_arrays([2] * side**2, [(pairs, rng.normal(size=(len(pairs), 2, 2)))])


WIDE = grid(21)


@pytest.mark.parametrize("what", FUNCTIONS)
def test_time_limit(what):
    for limit in (0.0, 0.05):
        with pytest.raises(gp.TimeLimitReached) as caught:
            FUNCTIONS[what](WIDE, time_limit=limit, memory_limit="8GB", order=range(WIDE.n))
        text = str(caught.value)
        assert text.startswith("time_limit ended the run after ") and f": {what} along an order of width 21 " in text
        assert "expected more time, a better order, or evidence" in text and "\n" not in text
        assert isinstance(caught.value, TimeoutError) and isinstance(caught.value, gp.GraphPartError)


@pytest.mark.parametrize("what", FUNCTIONS)
def test_enough_time_changes_nothing(what):
    f = grid(4)

    def plain(found):
        if isinstance(found, float):
            return [found]
        if isinstance(found, np.ndarray):
            return found.tolist()
        if hasattr(found, "costs"):
            return [found.labels.tolist(), found.costs.tolist()]
        return getattr(found, "probabilities", found).flat.tolist()

    assert plain(FUNCTIONS[what](f, time_limit=60)) == plain(FUNCTIONS[what](f))


@pytest.mark.parametrize("what", FUNCTIONS)
def test_wrong_time_limits(what):
    for wrong in (-1, math.nan, "soon"):
        with pytest.raises(gp.InvalidOption, match="time_limit is"):
            FUNCTIONS[what](grid(3), time_limit=wrong)


def test_time_limit_of_forests():
    chain = gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [[[0.0, 1.0], [2.0, 0.0]]])])
    assert gp.crf.marginals(chain, time_limit=10).log_z == gp.crf.marginals(chain).log_z
    with pytest.raises(gp.TimeLimitReached, match="expected some time for marginals"):
        gp.crf.marginals(chain, time_limit=0)


@pytest.mark.parametrize("what", ["the m best labelings", "marginals"])
def test_interrupt(what):
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        FUNCTIONS[what](WIDE, memory_limit="8GB", order=range(WIDE.n))


def test_all_labelings_in_time_are_returned(monkeypatch):
    """A limit that is over when the last labeling is found does not take it away."""
    f, best = grid(3), _kernels.best

    def slow(*arguments):
        rows = best(*arguments)
        arguments[-1].stop(gp.Status.TIME_LIMIT)
        return rows

    monkeypatch.setattr(_kernels, "best", slow)
    assert len(gp.crf.m_best(f, 5, time_limit=60)) == 5
