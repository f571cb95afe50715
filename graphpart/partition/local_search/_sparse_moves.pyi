from typing import Any

from graphpart.partition.problem import Labels
from graphpart.stopping import Stopping

def greedy_moving(
    starts: Any,
    neighbours: Any,
    costs: Any,
    labels: Labels,
    terms: Any,
    magnitude: float,
    tolerance: float,
    cost: float,
    stopping: Stopping,
) -> Labels: ...
def kernighan_lin_sequence(
    starts: Any,
    neighbours: Any,
    costs: Any,
    labels: Labels,
    terms: Any,
    magnitude: float,
    tolerance: float,
    cost: float,
    stopping: Stopping,
) -> Labels: ...
