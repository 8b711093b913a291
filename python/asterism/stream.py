# SPDX-License-Identifier: MIT
"""DDP-vMF-means: directions that arrive frame by frame, drift, vanish and come back under their old id."""
from __future__ import annotations

import copy
import ctypes
import os
import threading
import weakref
from collections import deque
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._base import (DEGREES, DirectionClusterer, checked_weights, flag, float_array, one_of, real_number, refuse_nan,
                    unit_rows, whole_number)
from ._library import Context, array_at, constants, defaults, lib, opened, points_of, record_array, sized, thread_count
from .identities import Identities

SCORES = {None: "AST_SCORE_OF_TRACKER", "nearest": "AST_SCORE_NEAREST", "geodesic": "AST_SCORE_GEODESIC"}
AXES = ("none", "manhattan", "atlanta")
EVENTS = ("born", "revived", "seen", "unseen", "died", "merged")


RECORD = ("id", "event", "age", "count", "share", "weight", "spread", "into", "mean")  # fields of an ast_tracked


class Event(NamedTuple):
    """What happened to a cluster in a frame."""

    id: int
    event: str  # "born", "revived" (has rows again that are not late), "seen", "unseen", "died" or "merged"
    age: int  # frames since it last had rows that were not late
    count: int  # its rows in this frame, with late ones
    share: float  # of the frame's rows that are not missing
    weight: float  # how sure the tracker is of the mean, in points
    spread: float  # degrees that its points lie from the mean, root mean square, as learned so far
    into: int | None  # "merged": the id that it is part of from now on


class Axes(NamedTuple):
    """The axes of a building, in the coordinates of a frame."""

    kind: str  # "manhattan" (three at right angles), "atlanta" (a vertical and walls at other angles) or "none"
    directions: NDArray[np.float64]  # (K, 3) unit vectors, the vertical first
    shares: NDArray[np.float64]  # (K) of the rows that face along the axis or against it, within 12 degrees


class DDPVMFMeans(Identities, DirectionClusterer):
    """DDP-vMF-means: clusters of directions over time, as many as the angle asks for, each under an id of its own.

    `partial_fit` takes the next frame; `fit` forgets everything and takes the first. Frames may differ in size and be
    empty. Parameters count from the first frame on, and changes of them from the next `fit`.

    Parameters
    ----------
    angle : float, default=60
        Degrees, 0 to 180: how far a point may be from its mean.
    drift : float, default=1.0
        Degrees that a direction moves in a frame.
    beta : float or None, default=None
        The paper's tracker instead, with this transition weight; `drift` is not used then.
    lifetime : int, default=400
        After so many frames in a row without points a cluster dies.
    max_clusters : int or None, default=None
        When more are remembered, those unseen for longest go first.
    max_iter : int, default=100
        Passes over a frame at most: a small number keeps a deadline.
    history : int, default=10000
        Of how many frames `history_` keeps the shares, for `asterism.plot.shares`.
    axial : bool, default=False
        Whether x and -x are the same direction.
    revive : 'near' or 'any', default='near'
        Which cluster a point brings back: one within `angle` of where it was, or any that explains the point, as in the
        paper. The longer a cluster is away, the farther it reaches with 'any'.
    merge_tracked : bool or None, default=None
        Whether two clusters become one if their means are closer than half the angle in three frames in a row: for
        frames in which many points belong to one direction, such as surface normals. The older id stays. With
        `exclusive`, two ids become one when their means agree and they were never seen in one frame. None: only with
        `exclusive`.
    rigid : bool, default=False
        Whether all directions (of 3 dimensions) turn together, as a camera sees a room. The turn is learned from the
        clusters in view and applied to all of them.
    score : 'nearest', 'geodesic' or None, default=None
        'nearest': the cosine with the mean, less for every frame of absence. A row fits a mean of few rows up to a
        larger angle, as far as such a mean lies from the true direction. 'geodesic': the score of the paper, by which
        means may move to meet a row. None: 'nearest', but 'geodesic' with `beta` or `revive='any'`.
    exclusive : bool, default=False
        Whether two rows of a frame never share an id: faces of one picture, speakers of one moment. Of all assignments
        of rows to ids that they fit, the one with the largest sum of scores.
    revive_near : bool or None, default=None
        The older name: True is `revive='near'`, False is `revive='any'`. None: as `revive` says.
    min_quality : float, default=0
        Rows of a smaller `sample_weight` get an id, but start none and do not move means.
    born_after : int, default=1
        Frames in which a cluster must have rows before it gets its id. Until then its rows are -1, and the id is
        reserved.
    min_size : int, default=1
        A cluster is born with at least so many rows of one frame; rows of smaller ones are -1. Not with `exclusive`.
    center : (D) array or None, default=None
        The mean of such rows as unit vectors, from a sample, which is subtracted from every row: many networks put all
        faces into a narrow cone. Means are those of centred rows.
    measure, allow_missing, n_threads, n_jobs
        As in `DPVMFMeans`.
    outlier_angle : float or None, default=None
        `predict` labels rows farther than this from every mean -1. None: farther than `angle`.

    Attributes
    ----------
    labels_ : (N) int32 ids of the last frame's rows; -1 for missing rows
    ids_ : (K) int32, the clusters that are remembered, in order
    cluster_centers_ : (K, D) float32, their means
    kappas_ : (K) concentration of the last frame's points around each mean; NaN with fewer than two
    events_ : list of Event, what happened in the last frame, in order of id
    history_ : deque of {id: share}, one a frame
    names_ : {id: name} of those that have one
    log_ : list of Change, what users changed
    n_frames_ : int
    rotation_ : (3, 3) array, the rotation of the camera in the last frame, from its coordinates to those of the first
        frame; `rotation_rank_` is how many degrees of freedom the directions in view determine (0, 2 or 3), and
        `rotation_deviation_` (3) its standard deviation in degrees about the axes of the first frame. For directions of
        3 dimensions that are not axial and not exclusive
    axes_ : Axes, the axes of the building that the directions of the last frame support
    similarity_, margin_, runner_up_ : (N) the cosine with the own mean, how much larger it is than that with the
        nearest other id, and that id
    objective_, n_iter_, n_features_in_, feature_names_in_ : of the last frame, as in `DPVMFMeans`

    Examples
    --------
    >>> from asterism import DDPVMFMeans
    >>> stream = DDPVMFMeans(angle=30)
    >>> stream.partial_fit([[1, 0, 0], [0, 1, 0]]).labels_
    array([0, 1], dtype=int32)
    >>> stream.partial_fit([[0, 0.99, 0.05], [0, 0, 1]]).labels_
    array([1, 2], dtype=int32)
    >>> [(event.id, event.event) for event in stream.events_]
    [(0, 'unseen'), (1, 'seen'), (2, 'born')]
    """

    pickle_labels = True  # of one frame: a pickle goes on where the stream was
    history_: deque[dict[int, float]]
    n_frames_: int

    def __init__(self, angle: float = 60, *, drift: float = 1.0, beta: float | None = None, lifetime: int = 400,
                 max_clusters: int | None = None, max_iter: int = 100, history: int = 10000, axial: bool = False,
                 revive: str = "near", merge_tracked: bool | None = None, rigid: bool = False, score: str | None = None,
                 exclusive: bool = False, min_quality: float = 0, born_after: int = 1, min_size: int = 1,
                 center: Any = None, revive_near: bool | None = None,
                 measure: str = "cosine", outlier_angle: float | None = None, allow_missing: bool = False,
                 n_threads: int | None = None, n_jobs: int | None = None) -> None:
        self.angle = angle
        self.drift = drift
        self.beta = beta
        self.lifetime = lifetime
        self.max_clusters = max_clusters
        self.max_iter = max_iter
        self.history = history
        self.axial = axial
        self.revive = revive
        self.merge_tracked = merge_tracked
        self.rigid = rigid
        self.score = score
        self.exclusive = exclusive
        self.min_quality = min_quality
        self.born_after = born_after
        self.min_size = min_size
        self.center = center
        self.revive_near = revive_near
        self.measure = measure
        self.outlier_angle = outlier_angle
        self.allow_missing = allow_missing
        self.n_threads = n_threads
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> "DDPVMFMeans":
        """Forgets everything and takes X (N, D) as the first frame."""
        X = self._validated(X, reset=True)
        self._start(X.shape[1])
        return self._step(X)

    def partial_fit(self, X: Any, y: Any = None, *, sample_weight: Any = None, late: Any = None,
                    rotation: Any = None) -> "DDPVMFMeans":
        """Takes X (N, D) as the next frame. N may be 0. sample_weight: (N), how much each row moves its mean, in rows: its
        quality. late: (N) booleans. Rows that are late (as are those of weight 0 or below `min_quality`) start no cluster
        and do not count in means; after the others they get the id of the nearest cluster of the frame if that is within
        `angle`, otherwise -1; with `exclusive` an id that no other row of the frame has. rotation: (D, D), such as that of
        a camera in the world: rows are rotated by it, new = R old, before they are clustered."""
        first = not hasattr(self, "_stream")
        X = self._validated(X, reset=first, ensure_min_samples=0)
        if late is not None:
            late = np.ascontiguousarray(late, np.uint8).ravel()
            if late.shape != (len(X),):
                raise ValueError(f"late has {len(late)} entries for {len(X)} rows")
        weights = None if sample_weight is None else checked_weights(sample_weight, X)
        if weights is not None and (weights < 0).any():
            row = int(np.argmax(weights < 0))
            raise ValueError(f"sample_weight[{row}] is {weights[row]:g}; weights must not be negative")
        if rotation is not None:
            rotation = np.ascontiguousarray(rotation, np.float64)
            if rotation.shape != (X.shape[1], X.shape[1]):
                raise ValueError(f"the rotation has the shape {rotation.shape}; it must be ({X.shape[1]}, {X.shape[1]})")
        if first:
            self._start(X.shape[1])
        return self._step(X, late, weights, rotation)

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Forgets everything, takes X as the first frame and returns its ids."""
        return self.fit(X).labels_

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Forgets everything, takes X as the first frame and returns `transform(X)`."""
        return self.fit(X).transform(X)

    def rotate(self, rotation: Any) -> "DDPVMFMeans":
        """Turns every mean by a rotation matrix (D, D), new = R old, as an IMU measures between two frames."""
        self._validated(np.zeros((1, len(rotation))), reset=False)
        matrix = np.ascontiguousarray(rotation, np.float64)
        if matrix.shape != (self.n_features_in_, self.n_features_in_):
            raise ValueError(f"the rotation has the shape {matrix.shape}; it must be ({len(matrix)}, {len(matrix)})")
        centers = self.cluster_centers_
        self._stream.rotate(matrix)
        self._made["means"] = unit_rows(centers @ matrix.T).astype(np.float32)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The id of the nearest mean for every row of X, -1 for rows farther than `outlier_angle` (None: `angle`)
        from every mean, and for rows without a direction. Rows that are forbidden for an id get another. Learns
        nothing."""
        if self.outlier_angle is None:
            X = self._validated(X, reset=False)
            labels = self._stream.predict(X)
            if not self.allow_missing:
                refuse_nan(X, labels)
            return labels
        labels = self._assign(X, self.outlier_angle)[0]
        return np.append(self.ids_, np.int32(-1))[labels]  # -1 takes the last

    @property
    def kappas_(self) -> np.ndarray:
        """Maximum likelihood around a known mean: A(kappa) is the average cosine to it."""
        cosines = np.full(len(self.ids_), np.nan)
        for k, cluster in enumerate(self.ids_):
            members = self.labels_ == cluster
            if members.sum() > 1:
                cosines[k] = self.similarity_[members].mean(dtype=np.float64)
        return np.array([lib.ast_vmf_kappa(self.n_features_in_, c) if c < 1 - 2**-24 else np.nan for c in cosines])

    # ---- Below the surface -----------------------------------------------------------------------------------------

    def _start(self, dimension: int) -> None:
        self.center_ = self._center(dimension)
        self._stream = Stream(self._threads(), {
            "dimension": dimension, "method": constants["AST_STREAM_DDP"], "angle": real_number("angle", self.angle, DEGREES),
            "drift": real_number("drift", self.drift, DEGREES),
            "beta": np.nan if self.beta is None else real_number("beta", self.beta, "None or a number"),
            "lifetime": whole_number("lifetime", self.lifetime, 0, 2 ** 32 - 1), "axial": int(bool(self.axial)),
            "revive_near": int(self._near()), "rigid": int(bool(self.rigid)),
            "merge_tracked": int(flag("merge_tracked", self.exclusive if self.merge_tracked is None else self.merge_tracked)),
            "score": self._score(), "exclusive": int(bool(self.exclusive)),
            "min_quality": real_number("min_quality", self.min_quality, "0 or more"),
            "born_after": whole_number("born_after", self.born_after, 1),
            "min_size": whole_number("min_size", self.min_size, 1), "center": self.center_,
            "max_iterations": whole_number("max_iter", self.max_iter, 1),
            "max_clusters": 0 if self.max_clusters is None else whole_number("max_clusters", self.max_clusters, 1)})
        self.history_ = deque(maxlen=whole_number("history", self.history, 0))
        self.n_frames_ = 0

    def _center(self, dimension: int) -> np.ndarray | None:
        if self.center is None:
            return None
        center = float_array("center", self.center, f"one row of {dimension} numbers").ravel()
        if center.shape != (dimension,):
            raise ValueError(f"center has {len(center)} components, and the rows have {dimension}")
        return center

    def _near(self) -> bool:
        one_of("revive", self.revive, ("near", "any"))
        return self.revive == "near" if self.revive_near is None else flag("revive_near", self.revive_near)

    def _score(self) -> int:
        return int(constants[SCORES[one_of("score", self.score, SCORES)]])

    def _step(self, X: np.ndarray, late: np.ndarray | None = None,
              weights: np.ndarray | None = None, rotation: np.ndarray | None = None) -> "DDPVMFMeans":
        if not self.allow_missing:
            refuse_nan(X, np.full(len(X), -1))  # before the stream has learned from the rest
        self.labels_, frame, found = self._stream.step(X, late, weights, rotation)
        self._take_records(found)
        self.objective_, self.n_iter_ = frame.objective, frame.iterations
        self.n_frames_ += 1
        seen = found[found["count"] > 0]
        self.history_.append(dict(zip(seen["id"].tolist(), seen["share"].tolist())))
        self._keep_for_similarity(X if rotation is None else X @ rotation.T)
        return self

    def _take_records(self, found: np.ndarray) -> None:
        """A frame costs the same in Python however many ids there are: lists and means are made for who asks."""
        self._found_records = found
        self._made: dict[str, Any] = {}  # from these records

    def _records_of_frame(self, name: str) -> np.ndarray:
        if "_found_records" not in self.__dict__:
            raise AttributeError(f"this DDPVMFMeans is not fitted yet, and has no {name}")
        return self._found_records

    @property
    def events_(self) -> list[Event]:
        """What happened in the last frame, in order of id."""
        found = self._records_of_frame("events_")
        if "events" not in self._made:
            columns = [found[name].tolist() for name in RECORD[:-1]]
            self._made["events"] = [Event(id, EVENTS[event], age, count, share, weight, spread, None if into < 0 else into)
                                    for id, event, age, count, share, weight, spread, into in zip(*columns)]
        return self._made["events"]

    @property
    def ids_(self) -> NDArray[np.int32]:
        """The clusters that are remembered, in order."""
        found = self._records_of_frame("ids_")
        if "ids" not in self._made:
            self._made["ids"] = found["id"][alive(found)].copy()
        return self._made["ids"]

    @property
    def cluster_centers_(self) -> NDArray[np.float32]:  # type: ignore[override]
        """(K, D) their means."""
        self._records_of_frame("cluster_centers_")
        if "means" not in self._made:
            self._made["means"] = self._stream.means()
        return self._made["means"]

    def _comparison(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of the last frame, computed for the first who asks."""
        if "_fitted_X" in self.__dict__:
            self._compared = self._stream.compare(self.__dict__.pop("_fitted_X"), self.labels_)
        elif "_compared" not in self.__dict__:
            raise AttributeError("this DDPVMFMeans is not fitted yet, and has no similarity_")
        return self._compared

    @property
    def similarity_(self) -> np.ndarray:
        """The cosine of each row of the last frame with the mean of its id; NaN without an id."""
        return self._comparison()[0]

    @property
    def margin_(self) -> np.ndarray:
        """How much larger `similarity_` is than the largest cosine with another id; NaN if there is no other."""
        own, other, _ = self._comparison()
        return own - other

    @property
    def runner_up_(self) -> np.ndarray:
        """The id whose mean is nearest to each row among the others; -1 if there is no other."""
        return self._comparison()[2]

    def _found(self) -> "Stream":
        if not hasattr(self, "_stream"):
            raise AttributeError("this DDPVMFMeans is not fitted yet, and has no rotation_ or axes_")
        if self.n_features_in_ != 3 or self.axial or self.exclusive:
            raise AttributeError("rotation_ and axes_ are for directions of 3 dimensions, not axial and not exclusive")
        return self._stream

    @property
    def rotation_(self) -> np.ndarray:
        """From the camera of the last frame to the first frame: X @ rotation_.T are the rows in the first frame."""
        return self._found().rotation()[0]

    @property
    def rotation_rank_(self) -> int:
        """How many degrees of freedom the directions of the last frame determine: 0, 2 or 3."""
        return self._found().rotation()[2]

    @property
    def rotation_deviation_(self) -> np.ndarray:
        """Standard deviation in degrees, about the axes of the first frame."""
        return np.minimum(np.degrees(np.sqrt(np.diag(self._found().rotation()[1]))), 180)

    @property
    def axes_(self) -> Axes:
        """The axes of the building in the last frame."""
        axes = self._found().axes()
        return Axes(AXES[axes.kind], np.array(axes.directions, np.float64)[:axes.count],
                    np.array(axes.shares, np.float64)[:axes.count])

    def __getstate__(self) -> dict[str, Any]:
        """A copy goes its own way: it has the state of the stream, not the stream."""
        if "_found_records" in self.__dict__:
            self.cluster_centers_, self.events_  # addresses in the records do not outlive the stream
        state = dict(super().__getstate__())
        if "_stream" in state:
            state["_stream"] = copy.deepcopy(state["_stream"])
        return state


class Stream:
    """An ast_stream with a context of its own. It can be pickled, copied and used after a fork: all three continue from
    its state. One thread at a time works with it; others wait."""

    def __init__(self, n_threads: int | None, fields: dict[str, Any], state: bytes | None = None) -> None:
        self.n_threads, self.fields = n_threads, fields
        self._open(state)

    def _open(self, state: bytes | None) -> None:
        options = self.options({})
        self.lock, self.process = threading.Lock(), os.getpid()
        self.context = Context(thread_count(self.n_threads))
        try:
            self.handle = opened(lib.ast_stream_open, self.context, ctypes.byref(options))
        except BaseException:
            self.context.close()
            raise
        self.close = weakref.finalize(self, close_stream, self.handle, self.context)
        if state is not None:
            self.context.check(lib.ast_stream_load(self.handle, state, len(state)))

    def options(self, changes: dict[str, Any]) -> Any:
        """The ast_stream_options of this stream, with these changes."""
        options = defaults("ast_stream_options")
        for name, value in {**self.fields, **changes}.items():
            setattr(options, name, value.ctypes.data if isinstance(value, np.ndarray) else value)
        return options

    def _here(self) -> "Stream":
        """In a forked child the threads are gone: go on from the state, with threads of its own."""
        if self.process != os.getpid():
            self._open(self._state())
        return self

    def step(self, X: np.ndarray, late: np.ndarray | None = None,
             weights: np.ndarray | None = None,
             rotation: np.ndarray | None = None) -> tuple[np.ndarray, Any, np.ndarray]:
        """Labels, the ast_frame, and the ast_tracked."""
        points = points_of(X, weights, late, rotation)
        labels, frame = np.empty(len(X), np.int32), sized("ast_frame")
        with self._here().lock:
            self.context.check(lib.ast_stream_step(self.handle, ctypes.byref(points), labels.ctypes.data,
                                                   ctypes.byref(frame)))
            return labels, frame, self._records()

    def records(self) -> np.ndarray:
        """The ast_tracked."""
        with self._here().lock:
            return self._records()

    def _records(self) -> np.ndarray:
        return record_array(lib.ast_stream_records, self.handle, "ast_tracked", RECORD)

    def means(self) -> np.ndarray:
        """Of the ids that live on, in order. Most of them are in one block of memory, that of the stream."""
        dimension = self.fields["dimension"]
        with self._here().lock:
            found = self._records()
            addresses = found["mean"][alive(found)]
            listed = record_array(lib.ast_stream_list, self.handle, "ast_identity", ("means", "mean"))
            block = array_at(int(listed["mean"][0]), (int(listed["means"].sum()), dimension), np.float32) if len(listed) \
                else np.empty((0, dimension), np.float32)
            places = (addresses - listed["mean"][0]) // (4 * dimension) if len(listed) else np.zeros(len(addresses), np.uintp)
            inside = places < len(block)  # unsigned: what lies before the block is large
            means = np.empty((len(addresses), dimension), np.float32)
            means[inside] = block[places[inside]]
            for row in np.flatnonzero(~inside):
                means[row] = array_at(int(addresses[row]), (dimension,), np.float32)
        return means

    def call(self, function: str, *arguments: Any) -> None:
        """A function of the library that takes the stream and returns a status."""
        with self._here().lock:
            self.context.check(getattr(lib, function)(self.handle, *arguments))

    def predict(self, X: np.ndarray) -> np.ndarray:
        labels = np.empty(len(X), np.int32)
        self.call("ast_stream_predict", ctypes.byref(points_of(X)), labels.ctypes.data)
        return labels

    def compare(self, X: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Cosines with the own id, with the nearest other one, and that id."""
        points, own, other = points_of(X), np.empty(len(X), np.float32), np.empty(len(X), np.float32)
        labels, ids = np.ascontiguousarray(labels, np.int32), np.empty(len(X), np.int32)
        with self._here().lock:
            self.context.check(lib.ast_stream_compare(self.handle, ctypes.byref(points), labels.ctypes.data,
                                                      own.ctypes.data, other.ctypes.data, ids.ctypes.data))
        return own, other, ids

    def rotation(self) -> tuple[np.ndarray, np.ndarray, int]:
        """From the camera to the first frame; its covariance, radians squared; its rank."""
        rotation, covariance, rank = np.empty((3, 3)), np.empty((3, 3)), ctypes.c_int()
        with self._here().lock:
            self.context.check(lib.ast_stream_rotation(self.handle, rotation.ctypes.data, covariance.ctypes.data,
                                                       ctypes.byref(rank)))
        return rotation, covariance, rank.value

    def axes(self) -> Any:
        axes = sized("ast_world_axes")
        with self._here().lock:
            self.context.check(lib.ast_stream_axes(self.handle, ctypes.byref(axes)))
        return axes

    def rotate(self, matrix: np.ndarray) -> None:
        with self._here().lock:
            self.context.check(lib.ast_stream_rotate(self.handle, matrix.ctypes.data))

    def _state(self) -> bytes:
        size = ctypes.c_size_t()
        address = lib.ast_stream_save(self.handle, ctypes.byref(size))
        if not address:
            raise MemoryError("there is no memory for the state of the stream")
        return ctypes.string_at(address, size.value)

    def __getstate__(self) -> dict[str, Any]:
        with self._here().lock:
            return {"n_threads": self.n_threads, "fields": self.fields, "state": self._state()}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        self.__init__(**saved)


def alive(found: np.ndarray) -> np.ndarray:
    return ~np.isin(found["event"], (constants["AST_DIED"], constants["AST_MERGED"]))


def close_stream(handle: int, context: Context) -> None:
    if context.process == os.getpid():
        lib.ast_stream_close(handle)
        context.close()
