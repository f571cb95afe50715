"""Reports for people: one self-contained HTML file that says how good a result is, and shows it.

`report` and `report_benchmark` are the faces. Of a result, `words` says how good it is, `progress` draws cost and bound
over time; `partitions` and `labelings` put together what is shown of each kind of problem: `pair_totals` goes through
the costs of pairs once, `layout` places elements, `pictures` draws graph and matrix, `grids` finds out whether elements
lie on a grid. Of a benchmark, `profiles` computes performance profiles. `charts` draws by Bokeh (extra `report`),
`payload` packs data, `page` writes the file. Scripts and styles of the page are in `assets`. Calls partition and crf
for doubts; nothing calls it but users and the command line.
"""

from graphpart.reporting.benchmark import report_benchmark
from graphpart.reporting.charts import check_report
from graphpart.reporting.report import report

__all__ = ["check_report", "report", "report_benchmark"]
