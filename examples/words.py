#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Groups of words, without saying how many: GloVe vectors (or any file of `word v1 v2 ...`) clustered by direction.

    words.py FILE [ANGLE]

Prints the ten biggest clusters, each with the words nearest to its mean, and the cluster of a few words of interest.
"""
import sys

import numpy as np
from numpy.typing import NDArray

from asterism import DPVMFMeans

INTERESTING = ("guitar", "tuesday", "paris", "surgeon", "goalkeeper")


def read(path: str) -> tuple[NDArray[np.str_], NDArray[np.float32]]:
    """The words, and their vectors (N, D)."""
    with open(path, encoding="utf-8") as file:
        rows = [line.split() for line in file]
    return np.array([row[0] for row in rows]), np.array([row[1:] for row in rows], np.float32)


def directions(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """What all words share says nothing about any of them: without it the directions differ more."""
    shared: NDArray[np.float32] = vectors.mean(axis=0)
    return vectors - shared


def nearest(words: NDArray[np.str_], cosines: NDArray[np.float32], members: NDArray[np.intp], count: int = 9) -> str:
    """The members with the largest cosine to their mean."""
    return " ".join(words[members[np.argsort(-cosines[members])[:count]]])


def main(path: str, angle: float = 72.0) -> None:
    words, vectors = read(path)
    X = directions(vectors)
    model = DPVMFMeans(angle=angle, n_init=5, random_state=1).fit(X)
    print(f"{len(words)} words, {angle:g} degrees: {len(model.cluster_centers_)} clusters, "
          f"{np.count_nonzero(model.counts_ == 1)} of them of one word; stability {model.stability_:.2f} over 5 orders")

    cosines = model.similarity_
    print("\nthe ten biggest\n  size  nearest to the mean")
    for cluster in np.argsort(-model.counts_, kind="stable")[:10]:
        members = np.flatnonzero(model.labels_ == cluster)
        print(f"{len(members):6}  {nearest(words, cosines, members)}")

    print("\nin the company of")
    for word in INTERESTING:
        for row in np.flatnonzero(words == word):
            company = np.flatnonzero((model.labels_ == model.labels_[row]) & (words != word))
            print(f"  {word:<12}{nearest(words, cosines, company, 7)}")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.strip())
    main(sys.argv[1], *map(float, sys.argv[2:]))
