"""
Twenty questions
================

A result is less sure in some places than in others. Which pairs should a
person look at, and what are the answers worth? Here the answers come from the
truth, which is known of generated scores.
"""

# %%
# Scores of pairs
# ---------------
# Three hundred records of thirty persons, and a score for each pair that a
# matcher compared. The scores of a record err together, as those of a record
# with a wrong name or date do.

import matplotlib.pyplot as plt
import numpy as np
import pandas

import graphpart as gp

rng = np.random.default_rng(4)
n = 300
person = rng.integers(0, 30, n)
u, v = np.triu_indices(n, 1)
compared = (person[u] == person[v]) | (rng.random(len(u)) < 0.05)
u, v = u[compared], v[compared]
same = person[u] == person[v]
mistake = rng.normal(0, 3.0, n)
bits = np.where(same, 4.0, -4.0) + rng.normal(0, 2.0, len(u))
bits = bits - mistake[u] - mistake[v]
scores = {"left": u, "right": v, "score": 1 / (1 + np.exp2(-bits))}
p = gp.SetPartition.from_frame(
    scores, "left", "right", probability="score", missing=0.5
)
r = gp.solve(p, seed=0)
f1 = gp.metrics.compare(person, r.labels).joins_f1
print(f"{len(u)} pairs, {r.n_clusters} clusters, F1 of joins {f1:.3f}")

# %%
# The questions
# -------------
# Each row is a pair to look at: what the result says, the chance that it is
# wrong, and how many pairs of records the answer corrects, as expected.

asked = gp.questions(p, r, 20)
asked.head()

# %%
# Answers, and what follows
# -------------------------
# A person would answer them on the page of :func:`graphpart.review`; here, the
# truth does. The answers are required, and the new result starts from the old.


def answered(table):
    left, right = table["left"].to_numpy(), table["right"].to_numpy()
    together = person[left] == person[right]
    return table.assign(answer=np.where(together, "together", "apart"))


s = gp.solve(p, answers=answered(asked), initial=r, seed=0)
f1 = gp.metrics.compare(person, s.labels).joins_f1
print(f"F1 of joins {f1:.3f}; {len(s.changes(r))} records have moved")

# %%
# Beside other questions
# ----------------------
# Pairs whose score is nearest to one half look unsure, but little depends on
# many of them: the other pairs of both records decide. All ways ask ten
# questions at a time. ``gp.questions`` also gets the answers so far, and
# learns from them whether joins or cuts are wrong more often.


def by_questions(q, result, said):
    return gp.questions(q, result, 10, answers=said)


def nearest_half(q, result, said):
    a, b, cost = q.pairs()
    order = np.argsort(np.abs(cost))[:10]
    return pandas.DataFrame({"left": a[order], "right": b[order]})


def at_random(q, result, said):
    a, b, cost = q.pairs()
    order = np.random.default_rng(0).permutation(np.flatnonzero(cost < 9))[:10]
    return pandas.DataFrame({"left": a[order], "right": b[order]})


ways = {
    "questions": by_questions,
    "nearest to 1/2": nearest_half,
    "at random": at_random,
}
for name, ask in ways.items():
    q, result, said = p, r, None
    curve = [gp.metrics.compare(person, r.labels).joins_f1]
    for _ in range(5):
        table = answered(ask(q, result, said))
        said = table if said is None else pandas.concat([said, table])
        q = gp.answers.answered(q, table)
        result = gp.solve(q, "kernighan-lin-pairs", initial=result)
        curve.append(gp.metrics.compare(person, result.labels).joins_f1)
    print(f"{name}: F1 {curve[-1]:.3f} after 50 answers")
    plt.plot(range(0, 60, 10), curve, marker="o", label=name)
plt.xlabel("answers")
plt.ylabel("F1 of joins")
plt.legend()
plt.show()
