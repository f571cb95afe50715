from typing import Any

from graphpart.partition.problem import Labels
from graphpart.stopping import Stopping

def greedy_moving(
    matrix: Any, labels: Labels, magnitude: float, tolerance: float, has_must_cut: bool, cost: float, stopping: Stopping
) -> Labels: ...
def kernighan_lin(
    matrix: Any,
    labels: Labels,
    magnitude: float,
    tolerance: float,
    has_must_cut: bool,
    cost: float,
    stopping: Stopping,
    rest: int = 0,
    patience: int = 0,
) -> Labels: ...
