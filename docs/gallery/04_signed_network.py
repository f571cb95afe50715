"""
Communities in a signed network
===============================

Some members of a network are friends, others are enemies. Which groups explain
this best? Two friends in different groups, or two enemies in the same group,
are a *disagreement*. We look for the partition with the fewest disagreements.
"""

# %%
# The network has 80 members in four groups. A quarter of all pairs know each
# other. Of these, pairs within a group are friends and pairs between groups
# are enemies, except for one pair in six, for which it is the other way round.

import networkx as nx
import numpy as np

rng = np.random.default_rng(5)
group = rng.permutation(np.repeat(np.arange(4), 20))
G = nx.Graph()
G.add_nodes_from(range(80))
for a in range(80):
    for b in range(a):
        if rng.random() < 0.25:
            friends = (group[a] == group[b]) ^ (rng.random() < 1 / 6)
            G.add_edge(a, b, sign=1 if friends else -1)
print(
    G.number_of_edges(),
    "pairs,",
    sum(sign < 0 for *_, sign in G.edges(data="sign")),
    "of them enemies",
)

# %%
# The cost of being together is -1 for friends, 1 for enemies. Up to a
# constant, the cost of a partition is then the number of its disagreements.
# Pairs that do not know each other cost nothing.

import graphpart as gp

for a, b, sign in G.edges(data="sign"):
    G.edges[a, b]["cost"] = -sign
problem = gp.SetPartition(G)
result = gp.solve(problem, time_limit=20)
friends = sum(sign > 0 for *_, sign in G.edges(data="sign"))
print(result.message)
print(
    f"{friends + result.cost:g} disagreements, "
    f"at least {friends + result.lower_bound:g} in any partition"
)

# %%
# How similar is the result to the planted groups? With so much noise, some
# members have fewer disagreements in another group.

score = gp.metrics.compare(group, result)
sizes = sorted(map(len, result.clusters), reverse=True)
print(f"{result.n_clusters} groups, sizes {sizes}")
print(f"adjusted Rand index {score.adjusted_rand_index:.3f}")

# %%
# Methods that use only the friendships have less information. For comparison,
# here is greedy maximisation of the modularity of the friendships:

only_friends = G.edge_subgraph(
    (a, b) for a, b, sign in G.edges(data="sign") if sign > 0
)
communities = nx.community.greedy_modularity_communities(only_friends)
labels = {
    member: k for k, members in enumerate(communities) for member in members
}
labels = [labels.get(member, -1 - member) for member in range(80)]
print(
    f"adjusted Rand index {gp.metrics.adjusted_rand_index(group, labels):.3f}"
)

# %%
# The matrix of costs, before and after ordering the members by group. Blue
# attracts, red repels.

import matplotlib.pyplot as plt

figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
problem.plot(ax=axes[0], kind="matrix")
result.plot(ax=axes[1], kind="matrix")
plt.show()
