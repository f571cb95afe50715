"""
A first clustering, from a data frame
=====================================

The input is a table with a row for each pair of things: two names and a score.
The number of clusters is not given.
"""

# %%
# The table
# ---------
# Eight shops write product names in their own way. A program has compared some
# pairs of names, and gives the probability that both are the same product. Not
# all pairs were compared, and the scores contradict each other.

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
# Every pair gets a **cost**, which is paid if both things are in the same
# cluster. A probability above one half becomes a negative cost: the pair
# attracts. A probability below one half becomes a positive cost: the pair
# repels. graphpart looks for the clusters such that the sum of the costs of
# all pairs within clusters is least.

import graphpart as gp

problem = gp.SetPartition.from_frame(
    pairs, "left", "right", probability="score"
)
problem

# %%
# If each pair with a score above 0.5 were a match, *espresso cup* would be
# joined with *espresso machine* (0.55), and through these two all names would
# be connected. The clusters of least cost weigh the evidence of all pairs at
# once:

result = gp.solve(problem)
for cluster in result.clusters:
    print(", ".join(sorted(cluster)))

# %%
# How good is that?
# -----------------
# The summary says how good it is: no clustering has a cost below the lower
# bound. Here the cost is equal to the lower bound, so no clustering is better.

print(result.summary())

# %%
# Which decisions are least certain?
# ----------------------------------
# The *doubt* of a decision is the amount by which the cost would rise if it
# were made otherwise, here in bits. The frame also has the columns of the
# table above, in the row of the pair that speaks most for the change.

doubts = gp.partition.doubts(problem, result)
doubts.to_frame()[["decision", "change", "score", "doubt", "chance"]].head(5)

# %%
# Back to the table
# -----------------

frame = result.to_frame()
frame.sort_values("cluster")

# %%
# In the picture, colors are clusters. Blue lines are pairs that attract, red
# lines pairs that repel; lines within clusters are solid, lines between them
# are dashed. Pairs that speak against the clusters are drawn in full color:
# dashed blue and solid red.

import matplotlib.pyplot as plt

figure, axis = plt.subplots(figsize=(8, 5), layout="constrained")
result.plot(ax=axis)
axis.margins(0.15)
plt.show()
