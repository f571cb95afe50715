from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

class Joins:
    def __init__(
        self, starts: Any, neighbours: Any, costs: Any, beta: Any, g: Any, h: Any, exact: bool, largest: int
    ) -> None: ...
    def run(self, stopping: Stopping) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint8]]: ...
