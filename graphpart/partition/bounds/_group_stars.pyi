from typing import Any

from graphpart.stopping import Stopping

def sweep(
    starts: Any, pairs: Any, attraction: Any, multipliers: Any, load: Any, forwards: bool, stopping: Stopping
) -> float: ...
