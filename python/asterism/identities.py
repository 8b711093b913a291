# SPDX-License-Identifier: MIT
"""Names and corrections that users give to the ids of a stream, and people who are known before they appear."""
from __future__ import annotations

import ctypes
from typing import Any, NamedTuple, Sequence, TypeVar

import numpy as np

from ._base import DEGREES, real_number, whole_number
from ._library import array_at, lib, points_of, records

S = TypeVar("S", bound="Identities")
CHANGES = ("named", "enrolled", "joined", "split", "forgotten", "forbidden", "locked", "unlocked", "set")


class Identity(NamedTuple):
    """A person, voice or object that the stream remembers."""

    id: int
    name: str | None
    means: np.ndarray  # (M, D) float32: one, or several such as face and profile
    age: int  # frames since it last had rows
    weight: float  # how sure the tracker is of the means, in rows
    locked: bool
    forbidden: int  # rows that are known not to be this one


class Change(NamedTuple):
    """An entry of the log."""

    frame: int  # the number of the frame that came next
    event: str  # "named", "enrolled", "joined", "split", "forgotten", "forbidden", "locked", "unlocked" or "set"
    id: int | None
    other: int | None  # "joined": the id that stays; "split": the new one
    rows: int  # number of rows that the change was made with


class Identities:
    """The part of DDPVMFMeans that manages identities between frames. No call touches another identity."""

    _stream: Any
    angle: Any
    drift: Any
    lifetime: Any

    def name(self: S, id: int, name: Any) -> S:
        """Names an identity; None removes its name. The stream never merges two identities that both have names."""
        return self._change("ast_stream_name", number(id), None if name is None else str(name).encode())

    def enroll(self: S, means: Any, names: Sequence[Any] | None = None, *, id: int | None = None) -> S:
        """Adds people who are known from rows (N, D): rows with the same name are one person; without `names` every
        row is one person. They get the next ids, in order of their first rows, and may be as similar to each other and
        to others as siblings. With `id`, all rows are added to that identity. A row that fits a mean of its person is
        added to this mean, and any other row becomes a further mean."""
        first = not hasattr(self, "_stream")
        X = self._validated(means, reset=first)
        given = list(range(len(X))) if names is None else [str(name) for name in names]
        if len(given) != len(X):
            raise ValueError(f"there are {len(given)} names for {len(X)} directions")
        if id is not None and names is not None:
            raise ValueError("rows of a known id come without names; `name` names it")
        if first:
            self._start(X.shape[1])
            self.labels_ = np.empty(0, np.int32)
        if id is not None:
            return self._enroll_rows(X, None, number(id))
        taken = {str(name): known for known, name in self.names_.items()}
        for name in dict.fromkeys(given):
            if name in taken:
                raise ValueError(f"{name} is the name of id {taken[name]} already; join the two, or choose another")
        rows: dict[Any, list[int]] = {}
        for row, name in enumerate(given):
            rows.setdefault(name, []).append(row)
        if "_fitted_X" in self.__dict__:
            self._comparison()  # of the last frame, with the ids of that frame
        try:
            for name, own in rows.items():
                self._stream.call("ast_stream_enroll", ctypes.byref(points_of(X[own])),
                                  None if names is None else str(name).encode(), ctypes.byref(ctypes.c_int32(-1)))
        finally:
            self._take_records(self._stream.records())
        return self

    def join(self: S, a: int, b: int) -> S:
        """Identities a and b are one person, who keeps the id b and the means of both."""
        return self._change("ast_stream_join", number(a), number(b))

    def split(self, id: int, X: Any = None, *, mean: int | None = None) -> int:
        """The rows X, or the mean number `mean`, belong to somebody else. Returns the new id."""
        if (X is None) == (mean is None):
            raise ValueError("split takes either rows or the number of a mean")
        born, rows = ctypes.c_int32(-1), None
        if X is not None:
            kept = self._validated(X, reset=False)
            rows = ctypes.byref(points_of(kept))
        self._change("ast_stream_split", number(id), rows, 0 if mean is None else whole_number("mean", mean, 0),
                     ctypes.byref(born))
        return born.value

    def forget(self: S, id: int) -> S:
        """Removes everything that the stream knows about a person. The id is never used again."""
        return self._change("ast_stream_forget", number(id))

    def forbid(self: S, id: int, X: Any) -> S:
        """The rows X are not `id`: later rows that are nearer to one of them than to the means get another id."""
        rows = self._validated(X, reset=False)
        return self._change("ast_stream_forbid", number(id), ctypes.byref(points_of(rows)))

    def lock(self: S, id: int) -> S:
        """Fixes the means of this identity: frames no longer move them."""
        return self._change("ast_stream_lock", number(id))

    def unlock(self: S, id: int) -> S:
        """Frames move the means of this identity again."""
        return self._change("ast_stream_unlock", number(id))

    def set(self: S, *, angle: float | None = None, drift: float | None = None,
            lifetime: int | None = None) -> S:
        """Changes these parameters of the running stream."""
        fields: dict[str, Any] = {}
        if angle is not None:
            fields["angle"] = real_number("angle", angle, DEGREES)
        if drift is not None:
            fields["drift"] = real_number("drift", drift, DEGREES)
        if lifetime is not None:
            fields["lifetime"] = whole_number("lifetime", lifetime, 0, 2 ** 32 - 1)
        options = self._begun().options(fields)
        self._change("ast_stream_set", ctypes.byref(options))
        self._stream.fields.update(fields)
        for name in fields:
            setattr(self, name, {"angle": angle, "drift": drift, "lifetime": lifetime}[name])
        return self

    @property
    def names_(self) -> dict[int, Any]:
        """{id: name} of the identities that have a name."""
        if not hasattr(self, "_stream"):
            return {}
        with self._begun()._here().lock:
            return {one.id: one.name.decode() for one in records(lib.ast_stream_list, self._stream.handle, "ast_identity")
                    if one.name}

    @property
    def log_(self) -> "list[Change]":
        """Every change since the stream began, the first one first."""
        with self._begun()._here().lock:
            entries = records(lib.ast_stream_changes, self._stream.handle, "ast_identity_change")
        return [Change(e.frame, CHANGES[e.kind], none_below_0(e.id), none_below_0(e.other), e.rows) for e in entries]

    def list(self) -> "list[Identity]":
        """Everybody whom the stream remembers, in order of id."""
        dimension = self.n_features_in_  # type: ignore[attr-defined]
        with self._begun()._here().lock:
            return [Identity(one.id, one.name.decode() if one.name else None,
                             np.array(array_at(one.mean, (one.means, dimension), np.float32)), one.age, one.weight,
                             bool(one.locked), one.forbidden)
                    for one in records(lib.ast_stream_list, self._stream.handle, "ast_identity")]

    # ---- Below the surface -----------------------------------------------------------------------------------------

    _validated: Any
    _start: Any
    _comparison: Any
    _take_records: Any

    def _begun(self) -> Any:
        if not hasattr(self, "_stream"):
            raise AttributeError("this DDPVMFMeans has no identities yet: enroll somebody, or take a frame")
        return self._stream

    def _change(self: S, function: str, *arguments: Any) -> S:
        self._begun()
        if "_fitted_X" in self.__dict__:
            self._comparison()  # of the last frame, with the ids of that frame
        self._stream.call(function, *arguments)
        self._take_records(self._stream.records())
        return self

    def _enroll_rows(self: S, X: np.ndarray, name: bytes | None, id: int) -> S:
        return self._change("ast_stream_enroll", ctypes.byref(points_of(X)), name, ctypes.byref(ctypes.c_int32(id)))


def number(id: Any) -> int:
    return whole_number("id", id, 0, 2 ** 31 - 1)


def none_below_0(id: int) -> int | None:
    return None if id < 0 else id
