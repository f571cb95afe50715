"""
Restoring an image to the optimum
=================================

A black and white picture was sent, and every fifth pixel arrived flipped. The
most likely picture is the labeling of least energy in a factor graph. Its
tables prefer that pixels are as they arrived, and that neighbouring pixels are
equal.
"""

# %%
# The factor graph has a variable for each pixel. Each variable has a factor
# for what arrived, and each two neighbours have a factor.

import graphpart as gp

height, width = 96, 128
f, truth = gp.generate.noisy_image(
    height, width, noise=0.2, smoothness=0.6, seed=1
)
f

# %%
# The label that arrived at a pixel is the one that costs less in the factor of
# this pixel alone.

import numpy as np

unary = np.diff(f.scope_start) == 1
tables = f.tables[f.table_start[:-1][unary][:, None] + np.arange(2)]
seen = np.empty(f.n, np.int32)
seen[f.scope[f.scope_start[:-1][unary]]] = tables.argmin(axis=1)

# %%
# Two ways
# --------
# *Iterated conditional modes* (ICM) :cite:p:`Besag1986` changes one pixel
# after the other, and stops when changing any single pixel does not lower the
# energy. A *minimum cut* :cite:p:`KolmogorovZabih2004` finds the least energy
# of all pictures, and proves it.

icm = gp.crf.icm(f, initial=seen)
cut = gp.solve(f)
print(f"seen     energy {f.evaluate(seen):9.2f}")
print(f"ICM      energy {icm.cost:9.2f}   {icm.status}")
print(f"min cut  energy {cut.cost:9.2f}   {cut.status}: {cut.message}")

# %%
# The picture that was sent has a higher energy than the optimum. The pixels
# that are still wrong are therefore due to the model, which prefers short
# boundaries. No solver can do better with this model.

pictures = {
    "what is seen": seen,
    "ICM": icm.labels,
    "optimum": cut.labels,
    "what was sent": truth,
}
for name, labels in pictures.items():
    print(
        f"{name:14} energy {f.evaluate(labels):9.2f}   "
        f"wrong pixels {np.mean(labels != truth):6.2%}"
    )

import matplotlib.pyplot as plt

figure, axes = plt.subplots(1, 4, figsize=(12, 2.9), layout="constrained")
for axis, (name, labels) in zip(axes, pictures.items(), strict=True):
    axis.imshow(
        labels.reshape(height, width), cmap="gray_r", interpolation="nearest"
    )
    axis.set_title(f"{name}\nenergy {f.evaluate(labels):.0f}")
    axis.set_axis_off()
plt.show()
