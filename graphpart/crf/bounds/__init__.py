"""Lower bounds on the energy of factor graphs, for any arity and any domains.

`lower_bound` is the front door. `message_passing` raises a bound by `passes` through the variables (their kernel beside
them) and, for cycles, by `tightening`; it gives labelings as well. Every bound ends in a certificate.
"""
