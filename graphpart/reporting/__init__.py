"""Reports: one self-contained HTML file that describes a result and shows how good it is.

`report` and `report_benchmark` are the public functions. For a result, `words` describes how good it is, and `progress`
draws cost and bound over time. `partitions` and `labelings` assemble the page for each kind of problem: `pair_totals`
sums the costs of pairs in one pass, `cluster_map` and `pictures` draw, and `doubtful` describes the least certain
decisions. For a benchmark, `profiles` computes performance profiles. `charts` draws by Bokeh (extra `report`),
`payload` packs data, `page` writes the file. Scripts and styles of the page are in `assets`. This room calls partition
and crf for doubts; only users and the command line call it.
"""

from graphpart.reporting.benchmark import report_benchmark
from graphpart.reporting.charts import check_report
from graphpart.reporting.report import report

__all__ = ["check_report", "report", "report_benchmark"]


def __dir__() -> list[str]:
    return sorted(__all__)
