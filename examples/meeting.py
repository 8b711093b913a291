#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Who speaks? A meeting of 20 minutes with truth, then a second one in which the same people keep their names.

    meeting.py

Six voices, two of them alike. A frame is a second with one row for each person who speaks, as pyannote or whisperX give
embeddings of segments; one row in six is short and noisy, which its quality says.
"""
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from asterism import DDPVMFMeans

DIMENSION, VOICES = 256, 6
Frame = tuple[NDArray[np.float64], list[int], NDArray[np.float64]]


def unit(x: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths: NDArray[np.float64] = np.linalg.norm(x, axis=-1, keepdims=True)
    return x / lengths


def voices() -> NDArray[np.float64]:
    random = np.random.default_rng(3)
    found = unit(random.normal(size=(VOICES, DIMENSION)))
    found[1] = unit(.55 * found[0] + .835 * found[1])
    return found


def meeting(seed: int, seconds: int) -> list[Frame]:
    random, people = np.random.default_rng(seed), voices()
    frames, now, left = [], 0, 0
    for _ in range(seconds):
        if left == 0:
            now, left = int(random.integers(VOICES)), int(random.integers(2, 20))
        left -= 1
        who = [now] if random.random() > .1 else [now, (now + 1) % VOICES]
        short = random.random(len(who)) < 1 / 6
        noise = np.where(short, 1.6, .95)[:, None] * random.normal(size=(len(who), DIMENSION)) / DIMENSION ** .5
        frames.append((unit(people[who] + noise), who, np.where(short, .2, 1.)))
    return frames


def follow(stream: DDPVMFMeans, frames: list[Frame]) -> str:
    """Wrong: a row with another id than most rows of its speaker."""
    counts = [Counter[int]() for _ in range(VOICES)]
    without = 0
    for rows, who, quality in frames:
        for label, speaker in zip(stream.partial_fit(rows, sample_weight=quality).labels_.tolist(), who):
            counts[speaker][label] += label >= 0
            without += label < 0
    rows_with = sum(sum(count.values()) for count in counts)
    right = sum(count.most_common(1)[0][1] for count in counts)
    return (f"{rows_with + without} rows, {len(stream.ids_)} ids, {100 * (1 - right / rows_with):.1f}% wrong, "
            f"{100 * without / (rows_with + without):.1f}% without id")


def main() -> None:
    stream = DDPVMFMeans(angle=66, exclusive=True, drift=.1, lifetime=10 ** 9, min_quality=.5, born_after=3)
    print("first meeting:", follow(stream, meeting(1, 1200)))
    for id, name in zip(stream.ids_.tolist(), ["Ada", "Emmy", "Sofia", "Maria", "Rosa", "Lise"]):
        stream.name(id, name)
    print("second meeting:", follow(stream, meeting(2, 600)))
    rows, who, _ = meeting(3, 1)[0]
    print("who is it?", ", ".join(stream.names_.get(id, "a guest") for id in stream.predict(rows).tolist()))


if __name__ == "__main__":
    main()
