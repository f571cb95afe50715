"""
How good is this answer? Bounds, certificates, proofs
=====================================================

A local search says that *it* finds nothing better. A lower bound says that *nobody* will find anything better by more
than so much, and a certificate lets others check it. Branch and cut closes the gap.
"""

# %%
# A problem: 60 elements in planted subsets, costs of all pairs with so much noise that the subsets can hardly be seen.

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
    certificate = gp.partition.lower_bound(problem, method=method, time_limit=10)
    gap = (found.cost - certificate.bound) / abs(found.cost)
    print(f"{method:16} {certificate.bound:10.2f}   at most {gap:.2%} above the best possible")

# %%
# Certificates
# ------------
# The bound comes with the multipliers of inequalities that every partition satisfies. To check it, one adds them up;
# ``exact=True`` does that in rational numbers, by a short program that shares nothing with the one that made the bound.

print(certificate)
print("holds:", certificate.verify(problem, exact=True))

# %%
# It is no proof of anything stronger, and not of another problem:

from dataclasses import replace

print("a bound 1 higher holds:", replace(certificate, bound=certificate.bound + 1).verify(problem))

# %%
# Proofs
# ------
# Branch and cut divides the problem until no part can hold anything better. ``gp.solve`` calls it where a proof is
# within reach.

result = gp.partition.exact(problem, time_limit=20)
print(result.message)
print(f"cost {result.cost:.2f}, the local optimum had {found.cost:.2f}")

# %%
# Cost and lower bound over time: the run ends where they meet.

import matplotlib.pyplot as plt

from graphpart.plotting import plot_history

figure, axis = plt.subplots(figsize=(8, 4), layout="constrained")
plot_history(result, ax=axis)
plt.show()
