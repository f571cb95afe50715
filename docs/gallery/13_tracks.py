"""
Tracks of moving objects
========================

A detector finds objects in each frame of a recording, misses some, and finds
some that are not there. A track is the cluster of the detections of one
object. Two solutions find the tracks: the first one by nearness, the second
one by the directions that the first one has found.
"""

# %%
# In this scene, paths cross, objects appear and disappear, and a tenth of the
# detections is missing. The colours of the picture at the end are tracks.

import matplotlib.pyplot as plt
import numpy as np

import graphpart as gp

frame, place, truth = gp.generate.tracks(
    objects=12, frames=50, sigma=0.01, seed=12
)
print(len(frame), "detections,", int((truth < 0).sum()), "of them false")


# %%
# Two detections that are up to three frames apart attract if an object would
# have been slow. A track has at most one detection in each frame: frames are
# groups, which takes no pairs.


def pairs(most):
    a, b = np.triu_indices(len(frame), 1)
    gap = frame[b] - frame[a]
    distance = np.hypot(*(place[a] - place[b]).T)
    kept = (gap >= 1) & (gap <= most) & (distance < 0.03 * gap)
    return a[kept], b[kept], gap[kept], distance[kept]


a, b, gap, distance = pairs(3)
p = gp.SetPartition.from_pairs(
    len(frame), (a, b), distance / gap / 0.03 - 1, groups=frame
)
first = gp.solve(p, time_limit=2)
print(first)

# %%
# The velocity at each detection, by least squares over the nearest five
# detections of its track; of short tracks it is not known.


def velocities(labels):
    found = np.full((len(frame), 2), np.nan)
    for cluster in np.unique(labels):
        track = np.flatnonzero(labels == cluster)
        for i in track if len(track) >= 4 else ():
            distances = np.abs(frame[track] - frame[i])
            near = track[np.argsort(distances, kind="stable")[:5]]
            t = frame[near] - frame[near].mean()
            x = place[near] - place[near].mean(axis=0)
            found[i] = (t[:, None] * x).sum(axis=0) / (t**2).sum()
    return found


# %%
# Now pairs attract that are up to ten frames apart, if each detection, moved
# by its velocity, comes near the other one. If only one velocity is known, it
# decides.

v = velocities(first.labels)
a, b, gap, distance = pairs(10)
ahead = np.hypot(*(place[a] + v[a] * gap[:, None] - place[b]).T)
back = np.hypot(*(place[b] - v[b] * gap[:, None] - place[a]).T)
error = np.fmin(np.fmax(ahead, back), 1.0)  # a missing one does not count
near = error < 0.05
q = gp.SetPartition.from_pairs(
    len(frame), (a[near], b[near]), error[near] / 0.05 - 1, groups=frame
)
second = gp.solve(q, time_limit=2)
print(second)

# %%
# IDF1 compares identities: each object is matched with the one track that has
# most of its detections. Clusters of one or two detections count as false.


def tracks_of(result):
    size = np.bincount(result.labels)
    return np.where(size[result.labels] >= 3, result.labels, -1)


for name, result in (("nearness", first), ("directions", second)):
    scores = gp.metrics.identity_scores(truth, tracks_of(result))
    print(name, {key: round(value, 3) for key, value in scores.items()})

# %%
# Places over time, one colour for each track; false detections are grey.

labels = tracks_of(second)
figure, axes = plt.subplots(1, 2, figsize=(9, 4.5), sharey=True)
for axis, title, colours in (
    (axes[0], "objects", truth),
    (axes[1], "tracks", labels),
):
    known = colours >= 0
    axis.scatter(*place[~known].T, s=6, c="0.8")
    axis.scatter(*place[known].T, s=10, c=colours[known] % 20, cmap="tab20")
    axis.set_title(title)
    axis.set_aspect("equal")
