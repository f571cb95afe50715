"""What proves a lower bound on the energy of a factor graph, and what checks the proof.

`certificate` says what a reparametrisation proves, adds it up with directed rounding (its kernel), and keeps it in
files; `exact_check` adds it up in rational numbers and shares no code with the rest. The rooms `bounds` and
`graph_cuts` make certificates.
"""
