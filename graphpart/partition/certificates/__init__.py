"""Certificates of lower bounds of set partition problems, and their check.

`inequalities` defines the inequalities that every partition satisfies. `certificate` computes the bound that their
multipliers prove, rounded downwards. `exact_check` computes it in rational numbers and shares no code with the rest.
`certificate_file` reads and writes files. The rooms `bounds`, `reduction` and `exact_solvers` build on this room.
"""
