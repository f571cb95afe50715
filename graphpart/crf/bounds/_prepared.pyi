from typing import Any

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Offsets = NDArray[np.int64]
_Elements = NDArray[np.int32]

class Prepared:
    done_forward: bool
    def __init__(
        self,
        domains: _Elements,
        first: _Offsets,
        scope_start: _Offsets,
        scope: _Elements,
        table_start: _Offsets,
        tables: _Floats,
        unary: _Floats,
        own: _Offsets,
        tight: NDArray[np.uint8],
        triplets: NDArray[np.integer[Any]],
        cap: float,
    ) -> None: ...
    @property
    def kinds(self) -> tuple[int, int, int, int]: ...
