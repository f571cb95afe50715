from typing import Any

from graphpart.partition.problem import Labels
from graphpart.stopping import Stopping

def enumerate_partitions(
    matrix: Any,
    tolerance: float,
    stopping: Stopping,
    weight: Any,
    most_elements: int,
    least: int,
    most: int,
    links: Any = None,
) -> Labels | None: ...
