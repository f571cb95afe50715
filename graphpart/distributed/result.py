"""The result of a distributed run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from graphpart.display import Facts, Shown, number, percent, plural
from graphpart.errors import deprecated
from graphpart.result import Status, relative_gap

__all__ = ["DistributedResult"]


@dataclass(frozen=True, repr=False)
class DistributedResult(Shown):
    """A partition whose labels are in Parquet files.

    Attributes
    ----------
    labels : str
        The folder of Parquet files with the columns ``id`` and ``label``: whole numbers from 0 on, equal for
        elements of the same cluster. Where identifiers are integers with gaps, labels may have gaps, too. A folder that
        neither `output` nor `work_folder` named is removed with this result, or when Python ends.
    cost : float
        The sum of the costs of pairs within clusters, from a pass over all pairs.
    lower_bound : float
        No partition costs less.
    status : Status
    message : str
        A description of the run, in one line.
    elements, pairs, n_clusters : int
        Pairs whose costs add up to 0 are not counted. If each component fits into one part, rows that repel between
        components are not looked at further: each of them is counted as a pair.
    levels : tuple of dict
        Numbers for each level and each round of refinement, by name: elements, pairs, blocks, tasks.
    seconds : float
        Wall clock.
    history, bounds : tuple of (float, float)
        (seconds, cost) and (seconds, lower bound) pairs; the last of each are those of the result.
    stages : dict
        For each stage: ``tasks``, ``seconds``, ``processor`` (processor seconds of all tasks), ``bytes`` written, and
        ``memory`` (the largest memory of a process that performed one of its tasks). Tasks of an earlier run with the
        same work folder are not counted.
    bytes : int
        The size of all files in the work folder at the end.
    wrong_rows : int
        Rows of the input that were left out.
    warnings : tuple of str
        Descriptions of the first of these rows.
    """

    labels: str
    cost: float
    lower_bound: float
    status: Status
    message: str
    elements: int
    pairs: int
    n_clusters: int
    levels: tuple[dict[str, Any], ...]
    seconds: float
    history: tuple[tuple[float, float], ...] = ()
    bounds: tuple[tuple[float, float], ...] = ()
    stages: dict[str, dict[str, Any]] = field(default_factory=dict)
    bytes: int = 0
    wrong_rows: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def subsets(self) -> int:
        """The name of `n_clusters` in version 0.2."""
        deprecated("subsets", "n_clusters")
        return self.n_clusters

    @property
    def gap(self) -> float:
        """``(cost - lower_bound) / |cost|``: 0 when proven optimal, ``inf`` when no bound is known."""
        return relative_gap(self.cost, self.lower_bound)

    def summary(self) -> Facts:
        """Cost, bound, gap, status and more, by name: a dictionary that prints as aligned lines."""
        facts = {"elements": self.elements, "clusters": self.n_clusters, "cost": self.cost} | self._facts()
        facts |= {"message": self.message, "labels": self.labels, "wrong rows": self.wrong_rows}
        facts |= {
            "bytes": self.bytes,
            "memory of a worker": max((v["memory"] for v in self.stages.values()), default=0),
        }
        return Facts(facts | {f"{k}, seconds": round(v["seconds"], 3) for k, v in self.stages.items()})

    def to_frame(self) -> Any:
        """The labels as a pandas data frame with the columns ``id`` and ``label``; all of them in memory."""
        import pyarrow.parquet as pq

        return pq.read_table(self.labels).to_pandas()

    def _title(self) -> str:
        counts = f"{plural(self.n_clusters, 'cluster')} of {plural(self.elements, 'element')}"
        return f"{type(self).__name__}: {counts}, cost {number(self.cost)}"

    def _facts(self) -> dict[str, Any]:
        return {
            "pairs": self.pairs,
            "lower bound": self.lower_bound,
            "gap": percent(self.gap),
            "status": str(self.status),
            "seconds": round(self.seconds, 3),
        }
