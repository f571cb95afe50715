"""What both kinds of problems share, and what knows neither.

`finishing` makes a Result from labels, with the message of its status; `local_search` runs a kernel from a start and
never returns anything worse; `groups` sorts elements or variables by component; `reduction` is what a smaller problem
with the same optimum looks like. `partition` and `crf` import from here, never from each other.
"""
