"""
Districts that hang together
============================

A map is divided into districts. Neighbouring places say little about where the
borders are, and places farther apart say more. A district has to hang
together. That is what *lifted pairs* are for.
"""

# %%
# The map has 1500 places in seven planted districts. Two places are neighbours
# if an edge of the Delaunay triangulation joins them.

import networkx as nx
import numpy as np
from scipy.spatial import Delaunay, cKDTree

rng = np.random.default_rng(3)
places = rng.random((1500, 2))
truth = cKDTree(rng.random((7, 2))).query(places)[1]
triangles = Delaunay(places).simplices
street = nx.Graph()
for a, b, c in triangles.tolist():
    street.add_edges_from([(a, b), (b, c), (a, c)])


# %%
# A survey asks pairs of places whether they belong together. Answers are wrong
# in one of four cases. All neighbours are asked, and random pairs of places
# that are near, but are no neighbours.


def survey(pairs):
    G = nx.Graph()
    G.add_nodes_from(range(1500))
    for a, b in pairs:
        yes = (truth[a] == truth[b]) != (rng.random() < 0.25)
        G.add_edge(a, b, cost=-1.0 if yes else 1.0)
    return G


near = survey(street.edges)
others = sorted(cKDTree(places).query_pairs(0.3))
far = survey(
    others[k]
    for k in rng.choice(len(others), 4000, replace=False)
    if not near.has_edge(*others[k])
)
print(
    near.number_of_edges(),
    "pairs of neighbours,",
    far.number_of_edges(),
    "others",
)

# %%
# Three problems: neighbours alone; all pairs alike; neighbours as base pairs,
# by which every cluster has to be connected, and the others as lifted pairs.

import graphpart as gp

problems = {
    "neighbours alone": gp.SetPartition(near),
    "all pairs alike": gp.SetPartition(nx.compose(near, far)),
    "lifted pairs": gp.SetPartition(near, lifted=far),
}
results = {
    name: gp.solve(p, time_limit=4, seed=1) for name, p in problems.items()
}
for name, result in results.items():
    pieces = sum(
        nx.number_connected_components(street.subgraph(cluster))
        for cluster in result.clusters
    )
    score = gp.metrics.adjusted_rand_index(truth, result)
    print(
        f"{name}: {result.n_clusters} clusters in {pieces} pieces, "
        f"adjusted Rand index {score:.2f}"
    )

# %%
# The bound tells how far the cost is from the optimum at most.

print(results["lifted pairs"].message)

# %%
# The maps: each cluster of at least ten places in a colour, others in grey.

import matplotlib.pyplot as plt

figure, axes = plt.subplots(1, 4, figsize=(12, 3.4), layout="constrained")
shown = {"planted": truth} | {name: r.labels for name, r in results.items()}
for axis, (name, labels) in zip(axes, shown.items(), strict=True):
    sizes = np.bincount(labels)
    rank = np.argsort(np.argsort(-sizes, kind="stable"), kind="stable")
    large = sizes[labels] >= 10
    axis.scatter(*places[~large].T, s=4, color="lightgrey")
    axis.scatter(
        *places[large].T,
        s=4,
        c=rank[labels[large]] % 20,
        cmap="tab20",
        vmin=0,
        vmax=19,
    )
    axis.set_title(name)
    axis.set_aspect("equal")
    axis.set_axis_off()
plt.show()
