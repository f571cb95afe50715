"""Lower bounds on the energy of factor graphs, for any arity and any domains.

`lower_bound` is the public function. `message_passing` raises a bound by passes through the variables (`passes`, with
its kernel beside it) and by adding cycles (`tightening`); it also finds labelings. Every bound comes with a
certificate.
"""
