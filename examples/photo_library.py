#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A photo library that grows import by import, with truth: who is on the photos?

    photo_library.py

Makes 2,000 faces of 60 people in photos of one to five, one row in ten no face at all, and takes them photo by photo. Ids
never change from import to import. Prints how well ids and people agree (B-cubed) after each import, and the same for all
photos clustered at once.
"""
import numpy as np
from numpy.typing import NDArray

from asterism import DDPVMFMeans, DPVMFMeans

DIMENSION, PEOPLE, JUNK = 128, 60, -1
Rows = NDArray[np.float32]
Ids = NDArray[np.int64]


def unit(x: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths: NDArray[np.float64] = np.linalg.norm(x, axis=-1, keepdims=True)
    return x / lengths


def photos(count: int) -> list[tuple[Rows, NDArray[np.float64], Ids]]:
    """Of each photo the rows, their quality, and who they are. Half of the people have a second look (glasses)."""
    random = np.random.default_rng(7)
    people = unit(random.normal(size=(PEOPLE, DIMENSION)))
    second = unit(.75 * people + .66 * unit(random.normal(size=(PEOPLE, DIMENSION))))
    share = 1 / (np.arange(PEOPLE) + 5.)
    made = []
    for _ in range(count):
        who = random.choice(PEOPLE, random.integers(1, 6), replace=False, p=share / share.sum())
        look = np.where((random.random((len(who), 1)) < .4) & (who[:, None] % 2 == 1), second[who], people[who])
        rows = unit(.85 * look + .53 * unit(random.normal(size=look.shape)))
        junk = random.random(len(who)) < .1
        rows[junk] = unit(random.normal(size=(junk.sum(), DIMENSION)))
        quality = np.where(junk, random.uniform(0, .4, len(who)), random.uniform(.5, 1, len(who)))
        made.append((rows.astype(np.float32), quality, np.where(junk, JUNK, who)))
    return made


def b_cubed(labels: Ids, truth: Ids) -> float:
    """F of precision and recall per row: of the rows with its id, how many are the same person, and the reverse. A row
    without id, and a row that is nobody, is alone."""
    a, b = labels.copy(), truth.copy()
    a[a < 0] = a.max() + 1 + np.arange((a < 0).sum())
    b[b < 0] = b.max() + 1 + np.arange((b < 0).sum())
    same_id, same_person = a[:, None] == a, b[:, None] == b
    both = (same_id & same_person).sum(axis=1)
    precision, recall = (both / same_id.sum(axis=1)).mean(), (both / same_person.sum(axis=1)).mean()
    return float(2 * precision * recall / (precision + recall))


def main() -> None:
    library = photos(700)
    stream = DDPVMFMeans(angle=65, exclusive=True, drift=.1, lifetime=10 ** 9, min_quality=.45, history=0)
    truth = np.concatenate([who for _, _, who in library])
    ids: list[int] = []
    into: dict[int, int] = {}
    for number, (rows, quality, _) in enumerate(library, 1):
        ids += stream.partial_fit(rows, sample_weight=quality).labels_.tolist()
        into.update({event.id: event.into for event in stream.events_ if event.into is not None})
        if number % 140 == 0:
            now = list(ids)
            for old, new in sorted(into.items(), reverse=True):  # ids that were joined
                now = [new if label == old else label for label in now]
            found = np.array(now)
            print(f"import {number // 140}: {len(ids)} faces, {len(np.unique(found[found >= 0]))} ids, "
                  f"B-cubed {b_cubed(found, truth[:len(ids)]):.3f}")

    weights = np.concatenate([np.where(quality < .45, 0, 1) for _, quality, _ in library])
    groups = np.concatenate([np.full(len(who), photo) for photo, (_, _, who) in enumerate(library)])
    batch = DPVMFMeans(angle=70, merge=55).fit(np.concatenate([rows for rows, _, _ in library]), sample_weight=weights,
                                               groups=groups)
    labels = batch.labels_.astype(np.int64)
    print(f"all at once: {batch.n_clusters_} clusters, B-cubed {b_cubed(labels, truth):.3f}")


if __name__ == "__main__":
    main()
