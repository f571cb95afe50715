from typing import Any

from graphpart.partition.problem import Labels
from graphpart.stopping import Stopping

def join_dense(matrix: Any, tolerance: float, cost: float, stopping: Stopping) -> Labels: ...
