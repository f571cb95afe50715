"""
Segmenting a photograph
=======================

A photograph is divided into small regions of similar color. Neighbouring
regions are joined or kept apart, depending on the contrast across their common
boundary. The number of segments is not given.
"""

# %%
# The photograph is bundled with scikit-image. Its 600 superpixels are the
# elements.

import matplotlib.pyplot as plt
import numpy as np
from skimage import color, data, segmentation

image = data.coffee()[::2, ::2]
region = segmentation.slic(image, 600, compactness=15, start_label=0)
region = np.unique(region, return_inverse=True)[1].reshape(region.shape)
n = int(region.max()) + 1
size = np.bincount(region.ravel())
lab = color.rgb2lab(image)
mean = np.stack(
    [
        np.bincount(region.ravel(), lab[..., c].ravel()) / size
        for c in range(3)
    ],
    axis=1,
)

# %%
# Boundaries
# ----------
# Two superpixels share a boundary if a pixel of one is a neighbour of a pixel
# of the other. The length of the boundary is the number of such pairs of
# pixels. Its contrast is the distance between the mean colors of both
# superpixels.

sides = [(region[:, :-1], region[:, 1:]), (region[:-1], region[1:])]
u, v = (np.concatenate([side[k].ravel() for side in sides]) for k in (0, 1))
across = u != v
codes, length = np.unique(
    np.minimum(u, v)[across] * n + np.maximum(u, v)[across], return_counts=True
)
pairs = np.stack(np.divmod(codes, n), axis=1)
contrast = np.linalg.norm(mean[pairs[:, 0]] - mean[pairs[:, 1]], axis=1)

# %%
# Costs
# -----
# A pair attracts if the contrast is below the threshold, and repels if it is
# above. Long boundaries count more. Superpixels without a common boundary have
# no cost: they are joined only through others.

import graphpart as gp

results = {}
for threshold in (8.0, 16.0):
    problem = gp.SetPartition.from_pairs(
        n, pairs, length * (contrast - threshold)
    )
    results[threshold] = gp.solve(problem, time_limit=5)
    print(
        f"threshold {threshold:g}: {results[threshold].n_clusters} segments, "
        f"{results[threshold].status}"
    )

# %%
# Both results are proven optimal: if a segment looks wrong, the reason is the
# costs, not the solver. :doc:`Learned costs </studies>` give better segments.

figure, axes = plt.subplots(1, 3, figsize=(12, 3.2), layout="constrained")
axes[0].imshow(segmentation.mark_boundaries(image, region))
axes[0].set_title(f"{n} superpixels")
for axis, (threshold, result) in zip(axes[1:], results.items(), strict=True):
    axis.imshow(
        segmentation.mark_boundaries(
            image, result.labels[region], mode="thick"
        )
    )
    axis.set_title(f"threshold {threshold:g}: {result.n_clusters} segments")
for axis in axes:
    axis.set_axis_off()
plt.show()
