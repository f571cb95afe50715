"""From the end of a race to a result, for `auto` and `exact`, with and without limits."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from graphpart.common.finishing import MESSAGES
from graphpart.partition.bounds.trivial_bound import lowered
from graphpart.partition.problem import Labels, SetPartition
from graphpart.partition.results.finish import finish
from graphpart.result import PartitionResult, Status
from graphpart.stopping import Stopping

__all__ = ["concluded"]


def concluded(
    p: SetPartition, labels: Labels, bound: float, method: str, stopping: Stopping, how: str, **more: Any
) -> PartitionResult:
    """The result of labels and the bound that a race has reached; inf stands for a proof.

    A proven result is ``optimal``, for any reason of the end of the run. Otherwise the status of `auto` is
    ``local_optimum`` and that of `exact` is ``feasible``, unless the run was stopped. The message is that of the
    status, and `how`. `more` is for `finish`.
    """
    status = Status.LOCAL_OPTIMUM if method == "auto" else Status.FEASIBLE
    if bound == math.inf:
        status = Status.OPTIMAL
    elif p.background is None and p._limits is None and math.isfinite(bound):
        bound = lowered(p, bound)  # the constant of contracted elements is rounded, too
    result = finish(p, labels, stopping, method, status, lower_bound=bound, **more)
    said = Status.FEASIBLE if result.status is Status.LOCAL_OPTIMUM else result.status  # other methods may find more
    return replace(result, message=f"{MESSAGES[said]} ({how})")
