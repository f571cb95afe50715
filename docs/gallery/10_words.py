"""
Tagging the words of a text
===========================

Which words of a sentence are nouns, which are verbs? The answer depends on
the word, on its neighbours, and on the tags of its neighbours. A
*linear-chain conditional random field* :cite:p:`LaffertyMcCallumPereira2001`
learns all three from sentences whose words are tagged.
"""

# %%
# The text
# --------
# The file ``fables.txt`` beside this script has sentences from Aesop's fables,
# in the translation by George Fyler Townsend of 1867. Each word is followed by
# its tag.

from pathlib import Path

lines = Path("fables.txt").read_text().splitlines()
sentences = [[word.rsplit("/", 1) for word in line.split()] for line in lines]
words = [[word for word, _ in sentence] for sentence in sentences]
tags = [[tag for _, tag in sentence] for sentence in sentences]
print(len(words), "sentences,", sum(map(len, words)), "words")
print(" ".join(words[9]))
print(" ".join(tags[9]))

# %%
# A tagger
# --------
# A sequence is a list of words. The words themselves are the attributes. The
# last fables are kept aside to see how good the tagger is.

import graphpart as gp

train, test = slice(0, 68), slice(68, None)
plain = gp.estimators.ChainCRF().fit(words[train], tags[train])
print(f"{plain.score(words[test], tags[test]):.1%} of the tags are right")

# %%
# Attributes
# ----------
# Many words of a new text were never seen before, and tell nothing. Their
# endings do. So each word becomes a dictionary of attributes. A text such as
# ``"ending": "ing"`` is an attribute that a word has or does not have, and a
# number is a value. `sigma` says how large the parameters may become.


def attributes(sentence):
    """What is known of each word of a sentence."""
    around = ["(start)", *sentence, "(end)"]
    return [
        {
            "word": word,
            "ending": [word[-3:], word[-2:]],
            "length": len(word) / 10,
            "before": before,
            "after": after,
        }
        for before, word, after in zip(
            around, sentence, around[2:], strict=False
        )
    ]


X = [attributes(sentence) for sentence in words]
tagger = gp.estimators.ChainCRF(sigma=2.0).fit(X[train], tags[train])
print(f"{tagger.score(X[test], tags[test]):.1%} of the tags are right")

# %%
# What it has learned
# -------------------
# ``coef_`` has a number for each tag and each attribute. These are the
# attributes that speak most for a tag.

import numpy as np

names = np.array(tagger.feature_names_)
for tag, row in zip(tagger.classes_, tagger.coef_, strict=True):
    print(f"{tag:5}", ", ".join(names[np.argsort(-row)[:4]]))

# %%
# How sure it is
# --------------
# ``predict_k_best`` returns the most probable tags of a whole sentence, with
# their probabilities. ``predict_marginals`` returns the probability of each
# tag of each word. Both are exact.

text = "the crow dropped a large stone into the well"
sentence = text.split()
best = tagger.predict_k_best([attributes(sentence)], 3)[0]
print(" " * 6, "  ".join(f"{word:5}" for word in sentence))
for labels, probability in zip(best.labels, best.probabilities, strict=True):
    print(f"{probability:6.1%}", "  ".join(f"{tag:5}" for tag in labels))

# %%
# The first picture has a row for each word and a column for each tag. The
# second one shows which tags follow each other.

import matplotlib.pyplot as plt

chances = tagger.predict_marginals([attributes(sentence)])[0]
figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
axes[0].imshow(chances, cmap="Blues", vmin=0, vmax=1, aspect="auto")
axes[0].set_xticks(range(len(tagger.classes_)), tagger.classes_, rotation=45)
axes[0].set_yticks(range(len(sentence)), sentence)
axes[0].set_title("probability of each tag")
moves = tagger.transitions_
limit = np.abs(moves).max()
axes[1].imshow(moves, cmap="RdBu_r", vmin=-limit, vmax=limit)
axes[1].set_xticks(range(len(moves)), tagger.classes_, rotation=45)
axes[1].set_yticks(range(len(moves)), tagger.classes_)
axes[1].set_title("score of a tag (row) before a tag (column)")
plt.show()
