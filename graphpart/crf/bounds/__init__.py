"""Lower bounds on the energy of factor graphs, with proofs.

`certificate` states what proves a bound, `_certificate` adds it up with directed rounding, `exact_check` in rational
numbers, `certificate_file` keeps it in files. `lower_bound` is the front door and calls `message_passing`, which calls
the kernel `_message_passing` and, for cycles, `tightening`; each ends in `certificate.certify`.
"""
