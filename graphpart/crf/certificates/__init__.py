"""Certificates of lower bounds on the energy of a factor graph, and their check.

`certificate` defines the bound that a reparametrisation proves, computes it with directed rounding (in its kernel), and
reads and writes certificates. `exact_check` computes the bound in rational numbers and shares no code with the rest.
The rooms `bounds` and `graph_cuts` make certificates.
"""
