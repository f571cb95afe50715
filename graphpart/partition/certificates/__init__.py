"""What proves a lower bound of a set partition problem, and what checks the proof.

`inequalities` states those that every partition satisfies; `certificate` adds up their multipliers to a bound, rounded
downwards; `exact_check` does so in rational numbers and shares no code with the rest; `certificate_file` says how
certificates stand in files. The rooms `bounds`, `reduction` and `exact_solvers` build on it.
"""
