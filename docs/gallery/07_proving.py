"""
How good is this answer? Bounds, certificates, proofs
=====================================================

A local search ends when it finds nothing better, but something better may
exist. A lower bound says by how much, at most, the cost of any solution can be
lower. A certificate lets others check the bound. Branch and cut finds the
optimum and proves it.
"""

# %%
# The problem has 60 elements in planted clusters. The costs of all pairs have
# so much noise that the clusters can hardly be recognised.

import graphpart as gp

problem = gp.generate.planted_partition(60, 5, 2.2, seed=3).problem
found = gp.partition.kernighan_lin(problem)
print(found)

# %%
# It is a local optimum, without a bound. How much better could it be?
#
# Bounds
# ------
# There are several lower bounds, from weak and fast to strong and slow:

for method in ("negative-sum", "cycle-packing", "message-passing", "lp"):
    certificate = gp.partition.lower_bound(
        problem, method=method, time_limit=10
    )
    gap = (found.cost - certificate.bound) / abs(found.cost)
    print(f"{method:16} {certificate.bound:10.2f}   gap {gap:.2%}")

# %%
# Certificates
# ------------
# A certificate contains inequalities that every partition satisfies, and their
# multipliers. The check computes the bound from these. With ``exact=True`` it
# uses rational numbers, and a short program that shares no code with the
# program that made the bound.

print(certificate)
print("holds:", certificate.verify(problem, exact=True))

# %%
# The certificate does not prove a higher bound:

from dataclasses import replace

print(
    "a bound 1 higher holds:",
    replace(certificate, bound=certificate.bound + 1).verify(problem),
)

# %%
# Proofs
# ------
# Branch and cut divides the problem into parts until the bound of each part
# shows that it contains no better solution. ``gp.solve`` uses branch and cut
# where a proof is within reach.

result = gp.partition.exact(problem, time_limit=20)
print(result.message)
print(f"cost {result.cost:.2f}, the local optimum had {found.cost:.2f}")

# %%
# The picture shows cost and lower bound over time. The run ends when they are
# equal.

import matplotlib.pyplot as plt

from graphpart.plotting import plot_history

figure, axis = plt.subplots(figsize=(8, 4), layout="constrained")
plot_history(result, ax=axis)
plt.show()
