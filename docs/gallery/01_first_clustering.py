"""
A first clustering, from a data frame
=====================================

A table with a row for each pair of things and a score is all that is needed. Nobody says how many clusters there are.
"""

# %%
# The table
# ---------
# Eight shops write product names in their own way. A program has compared some pairs of names, and gives the
# probability that both are the same product. Not all pairs were compared, and the scores contradict each other.

import pandas as pd

pairs = pd.DataFrame(
    [
        ("espresso cup", "cup, espresso", 0.95),
        ("espresso cup", "cup for espresso", 0.90),
        ("cup, espresso", "cup for espresso", 0.85),
        ("espresso cup", "espresso machine", 0.55),
        ("cup for espresso", "espresso machine", 0.20),
        ("cup, espresso", "espresso machine", 0.10),
        ("espresso machine", "coffee machine", 0.80),
        ("espresso machine", "machine, coffee", 0.60),
        ("coffee machine", "machine, coffee", 0.97),
        ("coffee machine", "cup for coffee", 0.30),
        ("cup for coffee", "cup for espresso", 0.65),
        ("cup for coffee", "cup, espresso", 0.25),
        ("cup for coffee", "espresso cup", 0.30),
        ("cup for coffee", "coffee mug", 0.75),
        ("coffee mug", "cup for espresso", 0.15),
    ],
    columns=["left", "right", "score"],
)
pairs.head()

# %%
# From probabilities to costs
# ---------------------------
# Every pair gets a **cost**, that of being in the same cluster. A probability above one half becomes a cost below zero:
# the pair attracts. One below one half repels. graphpart looks for the clusters such that the costs of all pairs that
# are together add up to the least sum.

import graphpart as gp

problem = gp.SetPartition.from_frame(pairs, "left", "right", probability="score")
problem

# %%
# "Is a score above 0.5 a match?", asked pair by pair, would join *espresso cup* with *espresso machine* (0.55), and
# through them everything with everything. The clusters of least cost weigh the evidence of all pairs at once:

result = gp.solve(problem)
for cluster in result.clusters:
    print(", ".join(sorted(cluster)))

# %%
# How good is that?
# -----------------
# The summary says so: the lower bound is what no clustering can be below. Here both meet, so there is none better.

print(result.summary())

# %%
# What is least sure?
# -------------------
# The *doubt* of a pair is by how much the cost would rise were it decided otherwise, here in bits.

doubts = gp.partition.doubts(problem, result)
doubts.to_frame("pairs")[["left", "right", "joined", "doubt"]].head(5)

# %%
# Back to the table
# -----------------

frame = result.to_frame()
frame.sort_values("cluster")

# %%
# And a picture: blue lines attract, dashed red ones repel, colors are clusters.

import matplotlib.pyplot as plt

figure, axis = plt.subplots(figsize=(8, 5), layout="constrained")
result.plot(ax=axis)
axis.margins(0.15)
plt.show()
