from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

_Wholes = NDArray[np.int64]
_Elements = NDArray[np.int32]

class Search:
    nodes: int
    dives: int
    conflicts: int
    done: bool
    def __init__(
        self,
        costs: Any,
        delta: _Wholes,
        top: int,
        gap: int,
        room: int,
        report: Callable[[_Elements, int], float],
        cost: float,
    ) -> None: ...
    @property
    def bound(self) -> int: ...
    @property
    def open_nodes(self) -> int: ...
    def offer(self, labels: _Elements, value: int, cost: float) -> None: ...
    def run(self, stopping: Stopping, more: int = -1) -> bool: ...
