from collections.abc import Callable
from typing import TypeVar

from graphpart.result import Status

_Method = TypeVar("_Method", bound=Callable[..., object])

def interruptible(method: _Method) -> _Method: ...

class Stopping:
    started: float
    deadline: float
    target: float
    max_iterations: int
    callback: Callable[[float, float], object] | None
    history: list[tuple[float, float]]
    reason: Status | None
    iterations: int
    def __init__(
        self,
        time_limit: float | None = None,
        max_iterations: int | None = None,
        target: float | None = None,
        callback: Callable[[float, float], object] | None = None,
    ) -> None: ...
    @property
    def seconds(self) -> float: ...
    @property
    def remaining(self) -> float | None: ...
    def record(self, cost: float) -> None: ...
    def check(self, cost: float) -> bool: ...
    def step(self, cost: float) -> bool: ...
    def stop(self, reason: Status) -> None: ...
    def reraise(self) -> None: ...
