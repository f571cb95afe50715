from typing import Any

from graphpart.stopping import Stopping

def share(starts: Any, pairs: Any, capacity: Any, worth: Any, amounts: Any, sweeps: int, stopping: Stopping) -> int: ...
