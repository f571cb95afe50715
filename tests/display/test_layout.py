"""Which lines of a map are drawn."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphpart.display.layout import clearest


@given(st.integers(0, 7), st.randoms(use_true_random=False))
def test_lines_are_left_out_only_where_both_ends_have_two(n, random):
    lines = [pair for pair in itertools.combinations(range(n), 2) if random.random() < 0.7]
    u, v = np.array(lines, np.int64).reshape(-1, 2).T
    order = np.array([random.randrange(3) for _ in lines], np.int64)
    kept = clearest(n, u, v, order).tolist()
    assert kept == sorted(kept) and len(kept) <= 2 * n
    drawn = [0] * n
    for k in sorted(range(len(lines)), key=lambda k: order[k]):
        assert (k in kept) == (min(drawn[u[k]], drawn[v[k]]) < 2)
        if k in kept:
            drawn[u[k]] += 1
            drawn[v[k]] += 1
