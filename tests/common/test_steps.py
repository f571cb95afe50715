"""Common divisors of costs."""

import math
from fractions import Fraction

import numpy as np
from trials import trials

from graphpart.common import steps


def test_steps_of_costs_are_those_of_all_their_parts(monkeypatch):
    monkeypatch.setattr(steps, "PART", 3)
    rng = np.random.default_rng(0)
    for _ in range(trials(500)):
        costs = rng.integers(-4, 5, rng.integers(0, 9)) * rng.choice([0.75, 6.0])
        costs[rng.random(len(costs)) < 0.02] = 0.1
        scaled = [Fraction(cost) * 2**20 for cost in costs.tolist()]
        whole = all(one.denominator == 1 for one in scaled)
        divisor = math.gcd(*map(int, scaled)) * 2.0**-20 or 1.0
        assert steps.step_of(costs, 100.0) == (divisor if whole else 0.0)
