from collections.abc import Callable
from typing import TypeVar

from graphpart.result import Status

_Method = TypeVar("_Method", bound=Callable[..., object])
_Record = tuple[tuple[float, float], ...]

def interruptible(method: _Method) -> _Method: ...

class Stopping:
    started: float
    deadline: float
    target: float
    plus: float
    incumbent: float
    bound: float
    max_iterations: int
    callback: Callable[[float, float], object] | None
    history: list[tuple[float, float]]
    bounds: list[tuple[float, float]]
    reason: Status | None
    parent: Stopping | None
    iterations: int
    def __init__(
        self,
        time_limit: float | None = None,
        max_iterations: int | None = None,
        target: float | None = None,
        callback: Callable[[float, float], object] | None = None,
    ) -> None: ...
    def child(self, seconds: float | None = None, iterations: int | None = None, plus: float = 0.0) -> Stopping: ...
    @property
    def root(self) -> Stopping: ...
    @property
    def seconds(self) -> float: ...
    @property
    def remaining(self) -> float | None: ...
    def record(self, cost: float) -> None: ...
    def raise_bound(self, bound: float) -> None: ...
    def check(self, cost: float) -> bool: ...
    def step(self, cost: float) -> bool: ...
    def stop(self, reason: Status) -> None: ...
    def ended(self, cost: float, bound: float) -> tuple[_Record, _Record]: ...
    def reraise(self) -> None: ...
