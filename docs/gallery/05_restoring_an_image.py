"""
Restoring an image to the optimum
=================================

A black and white picture was sent, and every fifth pixel arrived flipped. The
most likely picture is the labeling of least energy in a factor graph. Its
tables prefer that pixels are as they arrived, and that neighbouring pixels are
equal.
"""

# %%
# The picture is an array, and so is what arrived.

import numpy as np

import graphpart as gp

height, width = 96, 128
truth = gp.generate.noisy_image(height, width, seed=1).truth
truth = truth.reshape(height, width)
rng = np.random.default_rng(1)
seen = truth ^ (rng.random(truth.shape) < 0.2)

# %%
# The factor graph has a variable for each pixel. Another label than the one
# that arrived costs 1. Two neighbours of different labels cost 0.45. The costs
# of labels are an array with one more axis than the image.

f = gp.crf.potts(unary=seen[..., None] != np.arange(2), weight=0.45)
f

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
# boundaries. No solver can do better with this model. ``to_array`` returns the
# labels in the shape of the picture.

pictures = {
    "what is seen": seen,
    "ICM": icm.to_array(),
    "optimum": cut.to_array(),
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
    axis.imshow(labels, cmap="gray_r", interpolation="nearest")
    axis.set_title(f"{name}\nenergy {f.evaluate(labels):.0f}")
    axis.set_axis_off()
plt.show()

# %%
# Eight grey values
# -----------------
# With more than two labels there is no single cut. Message passing finds a
# lower bound and a labeling, and here they are equal, which proves both. The
# costs are squared differences of intensities.

levels = np.arange(8) / 7
steps = np.add.outer(np.arange(height) // 24, np.arange(width) // 32) % 8
noisy = levels[steps] + rng.normal(scale=0.15, size=steps.shape)

f = gp.crf.potts(unary=(noisy[..., None] - levels) ** 2, weight=0.12)
r = gp.solve(f)
print(r.message)
print(f"wrong pixels {np.mean(r.to_array() != steps):.2%}")

figure, axes = plt.subplots(1, 2, figsize=(10, 3.2), layout="constrained")
axes[0].imshow(noisy, cmap="gray")
axes[0].set_title("what is seen")
axes[1].imshow(levels[r.to_array()], cmap="gray")
axes[1].set_title(f"restored: {r.status}")
plt.show()
