"""
A volume of electron microscopy
===============================

Cells in a volume are separated by thin walls. A boundary map has the
probability of a wall at each voxel. Here, cells and map are generated, with
noise; in practice, a neural network makes the map from the images.
"""

# %%
# The boundary map becomes small regions, by the watershed, and neighbouring
# regions are joined where the wall between them has a hole.

import graphpart as gp

boundary, truth = gp.images.cells((24, 96, 96), size=20, noise=0.1)
s = gp.images.segment(boundary)
print(s)

# %%
# False cuts and false joins, in bits, are two parts of the variation of
# information. For a truth with unlabelled voxels, say ``missing=0``.

cuts, joins = gp.metrics.variation_of_information(truth, s.labels, missing=0)
print(f"false cuts {cuts:.2f}, false joins {joins:.2f}")

# %%
# Learning
# --------
# Walls differ, and so do tissues and microscopes. From a segmented volume, a
# :class:`~graphpart.estimators.Segmenter` learns how features of a boundary
# (its length, mean, quantiles, the sizes of both regions) tell whether it is a
# wall. It chooses the threshold out of sample.

other, true = gp.images.cells((24, 96, 96), size=20, noise=0.1, seed=1)
segmenter = gp.estimators.Segmenter().fit(
    [(gp.images.watershed(other), other)], [true]
)
learned = segmenter.predict((s.regions, boundary))
print(
    "learned: {:.2f}, {:.2f}".format(
        *gp.metrics.variation_of_information(truth, learned)
    )
)

# %%
# A slice of the volume: the boundary map with the outlines of the regions, of
# the segments, and of the true cells.

import matplotlib.pyplot as plt

figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
for axis, (name, labels) in zip(
    axes,
    {"regions": s.regions, "segments": s.labels, "truth": truth}.items(),
    strict=True,
):
    gp.plotting.plot_segments(labels, boundary, axis)
    axis.set_title(name)
plt.show()
