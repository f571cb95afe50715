"""How many random problems a test tries: with GRAPHPART_FULL_CI=1 as many as it names, otherwise a fifth of them."""

import os

FULL = os.environ.get("GRAPHPART_FULL_CI", "0") not in ("", "0")
SHARE = 5  # so that all tests of a change end in some minutes; the first fifth always: the same problems at every run


def trials(number: int) -> int:
    """The number of random problems to try where ``number`` are tried with GRAPHPART_FULL_CI=1; 1 or more."""
    return number if FULL else -(-number // SHARE)
