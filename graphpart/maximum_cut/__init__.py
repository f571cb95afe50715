"""Two sides: the least cost of a graph whose pairs with ends on different sides are paid, proven by cutting planes.

Known as maximum cut, Ising model, unconstrained binary quadratic program, frustration index, and partition into at most
two clusters. Both kinds of problems come to it: set partition problems with at most two clusters, and factor graphs
whose variables have two labels and whose factors have at most two variables. It knows neither of them.

`signed_graph` states the problem; `reduction` makes it smaller; `odd_cycles` is the linear relaxation with odd cycle
inequalities, which `linear_program` solves; `semidefinite` is the relaxation for dense graphs. `branch_and_cut` divides
where their values are not enough; what either relaxation does at a node is in `cycle_bounding` and `square_bounding`.
"""
