"""
Segmenting a photograph
=======================

A photograph is divided into small regions that follow its edges. Neighbouring
regions are joined or kept apart, depending on how strong the edge between them
is. The number of segments is not given.
"""

# %%
# The photograph is bundled with scikit-image. One call does it all: a boundary
# map of differences of color, regions by the watershed, a cost for each
# boundary between two regions, and the partition of least cost.

from skimage import data

import graphpart as gp

image = data.coffee()
s = gp.images.segment(image)
print(s)

# %%
# ``s.labels`` is an array of the shape of the photograph. The result is proven
# optimal: if a segment looks wrong, the reason is the costs, not the solver.

s.plot()

# %%
# The threshold
# -------------
# Two regions attract if a quarter of their common boundary or more has a
# boundary probability below the threshold, and if their colors are alike. A
# larger threshold joins more. The boundary map itself can be computed with
# more or less smoothing, or come from elsewhere.

import matplotlib.pyplot as plt

figure, axes = plt.subplots(1, 3, figsize=(12, 3.2), layout="constrained")
for axis, threshold in zip(axes, (0.2, 0.5, 0.8), strict=True):
    gp.images.segment(image, threshold=threshold).plot(ax=axis)
    axis.set_title(f"threshold {threshold}: {axis.get_title()}")
plt.show()
