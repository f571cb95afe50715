from typing import Any

from graphpart.partition.problem import Labels
from graphpart.stopping import Stopping

def join_sparse(
    n: int, u: Any, v: Any, cost: Any, tolerance: float, cost_at_start: float, stopping: Stopping
) -> Labels: ...
