"""Code that both kinds of problems share, and that depends on neither.

`finishing` makes a Result from labels, with the message of its status. `local_search` runs a kernel from a start and
never returns worse labels. `groups` sorts elements or variables by component. `reduction` is the interface of a smaller
problem with the same optimum. `partition` and `crf` import from here, never from each other.
"""
