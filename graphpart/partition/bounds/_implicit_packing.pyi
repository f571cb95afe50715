from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

_Reals = NDArray[np.float64]
_Numbers = NDArray[np.int64]

class ImplicitPairs:
    def __init__(
        self,
        starts: Any,
        neighbours: Any,
        pairs: Any,
        m: int,
        beta: Any,
        x: Any,
        y: Any,
        single: Any,
        group_starts: Any,
        group: Any,
        count: Any,
        price: Any,
        most: int,
    ) -> None: ...
    def made(self) -> _Numbers: ...
    def size(self) -> int: ...
    def costs(self) -> _Reals: ...
    def begin(self, left: Any) -> None: ...
    def end(self) -> tuple[_Numbers, NDArray[np.int32], _Numbers, _Numbers, _Reals, NDArray[np.bool_]]: ...
    def stars(
        self,
        rest: Any,
        most_each: Any,
        order: Any,
        threshold: float,
        least: int,
        largest: int,
        once: bool,
        stopping: Stopping,
    ) -> int: ...
    def cycles(self, rest: Any, reach: int, stopping: Stopping) -> int: ...
    def numbers(self, keys: Any) -> _Numbers: ...
    def violated_stars(
        self, y: Any, tolerance: float, largest: int, stopping: Stopping
    ) -> tuple[_Numbers, NDArray[np.int32], _Reals]: ...
