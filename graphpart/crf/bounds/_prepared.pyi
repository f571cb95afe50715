from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.problem._view import View

_Floats = NDArray[np.float64]
_Offsets = NDArray[np.int64]

class Prepared:
    done_forward: bool
    def __init__(
        self,
        view: View,
        first: _Offsets,
        unary: _Floats,
        own: _Offsets,
        tight: NDArray[np.uint8],
        triplets: NDArray[np.integer[Any]],
        cap: float,
    ) -> None: ...
    @property
    def kinds(self) -> tuple[int, int, int, int]: ...
