from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

class Contacts:
    def __init__(self) -> None: ...
    def add(
        self,
        regions: NDArray[np.int32],
        boundary: NDArray[np.float32] | None,
        core: Sequence[int],
    ) -> None: ...
    def add_offset(
        self, regions: NDArray[np.int32], values: NDArray[np.float32], offset: Sequence[int], core: Sequence[int]
    ) -> None: ...
    def arrays(
        self,
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.float32], NDArray[np.uint32]]: ...
