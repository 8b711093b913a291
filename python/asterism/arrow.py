# SPDX-License-Identifier: MIT
"""Rows from Arrow, and labels to Arrow, by the C data interface: three small structs and no package.

Whatever has __arrow_c_stream__ or __arrow_c_array__ (tables of pyarrow and polars, results of DuckDB) can be passed where rows
are wanted: a column of lists, or a table with one such column. Rows that lie one behind the other in one chunk are not
copied."""
from __future__ import annotations

import ctypes
from typing import Any, Iterator

import numpy as np

TYPES = {b"e": np.float16, b"f": np.float32, b"g": np.float64, b"c": np.int8, b"C": np.uint8}
NAMES = {b"n": "null", b"b": "bool", b"s": "int16", b"S": "uint16", b"i": "int32", b"I": "uint32", b"l": "int64", b"L": "uint64",
         b"u": "string", b"U": "large string", b"z": "binary", b"+s": "struct", b"vu": "string view"}


class ArrowSchema(ctypes.Structure):
    pass


class ArrowArray(ctypes.Structure):
    pass


class ArrowStream(ctypes.Structure):
    pass


RELEASE_SCHEMA = ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowSchema))
RELEASE_ARRAY = ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowArray))
RELEASE_STREAM = ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowStream))
ArrowSchema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_void_p),
                        ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
                        ("children", ctypes.POINTER(ctypes.POINTER(ArrowSchema))), ("dictionary", ctypes.POINTER(ArrowSchema)),
                        ("release", RELEASE_SCHEMA), ("private_data", ctypes.c_void_p)]
ArrowArray._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
                       ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
                       ("buffers", ctypes.POINTER(ctypes.c_void_p)), ("children", ctypes.POINTER(ctypes.POINTER(ArrowArray))),
                       ("dictionary", ctypes.POINTER(ArrowArray)), ("release", RELEASE_ARRAY),
                       ("private_data", ctypes.c_void_p)]
ArrowStream._fields_ = [("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ArrowStream), ctypes.POINTER(ArrowSchema))),
                        ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ArrowStream), ctypes.POINTER(ArrowArray))),
                        ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(ArrowStream))),
                        ("release", RELEASE_STREAM), ("private_data", ctypes.c_void_p)]

_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype, _capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


def is_arrow(X: Any) -> bool:
    """Whether X gives its rows by the C data interface, and is not better known here (NumPy, pandas)."""
    return not hasattr(X, "iloc") and not isinstance(X, np.ndarray) and (
        hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__"))


class Chunk:
    """An array that was handed over. It is released when the last view of it is gone."""

    def __init__(self) -> None:
        self.array = ArrowArray()

    def __del__(self) -> None:
        if self.array.release:
            self.array.release(ctypes.byref(self.array))


class Memory:
    """Bytes of a chunk, as NumPy takes them; the view keeps the chunk."""

    def __init__(self, chunk: Chunk, address: int, count: int, dtype: Any) -> None:
        self.chunk = chunk
        self.__array_interface__ = {"version": 3, "shape": (count,), "typestr": np.dtype(dtype).str, "data": (address, True)}


def view(chunk: Chunk, buffer: Any, offset: int, count: int, dtype: Any) -> np.ndarray:
    if count == 0 or not buffer:
        return np.zeros(0, dtype)
    return np.asarray(Memory(chunk, buffer + offset * np.dtype(dtype).itemsize, count, dtype))


def valid(chunk: Chunk, array: Any, start: int, count: int) -> np.ndarray | None:
    """(count) truth values from element `start` on; None where all are there."""
    if array.null_count == 0 or array.n_buffers == 0 or not array.buffers[0]:
        return None
    first = array.offset + start
    bits = view(chunk, array.buffers[0], first // 8, (first % 8 + count + 7) // 8, np.uint8)
    found = np.unpackbits(bits, bitorder="little")[first % 8:first % 8 + count].astype(bool)
    return None if found.all() else found


# ---- Types -----------------------------------------------------------------------------------------------------------

def type_name(schema: Any) -> str:
    text = bytes(schema.format)
    if text[:2] in (b"+l", b"+L", b"+w", b"+v"):
        return f"list of {type_name(schema.children[0].contents)}"
    return NAMES.get(text) or (np.dtype(TYPES[text]).name if text in TYPES else text.decode("ascii", "replace"))


def holds_points(schema: Any) -> bool:
    return bytes(schema.format)[:2] in (b"+l", b"+L", b"+w") and bytes(schema.children[0].contents.format) in TYPES


def column_of(schema: Any, column: str | None) -> int | None:
    """The number of the column of points in a table; None for an array that is the column itself."""
    if bytes(schema.format) != b"+s":
        if not holds_points(schema):
            raise TypeError(f"X is an Arrow array of type {type_name(schema)}; rows are lists of floats of 2, 4 or 8 bytes or "
                            "of integers of 1 byte")
        return None
    children = [schema.children[i].contents for i in range(schema.n_children)]
    names = [bytes(child.name or b"").decode("utf-8", "replace") for child in children]
    listed = ", ".join(f"{name} ({type_name(child)})" for name, child in zip(names, children))
    found = [i for i, child in enumerate(children) if (names[i] == column if column is not None else holds_points(child))]
    if column is not None and len(found) != 1:
        raise ValueError(f"X has {'no' if not found else 'more than one'} column {column!r}; there are: {listed}")
    if len(found) != 1:
        raise ValueError(f"X has {len(found)} columns of lists of numbers, and needs to have one: pass the column itself, or "
                         f"asterism.arrow_rows(X, column); there are: {listed}")
    if not holds_points(children[found[0]]):
        raise TypeError(f"column {column!r} of X is of type {type_name(children[found[0]])}; rows are lists of floats of 2, 4 or "
                        "8 bytes or of integers of 1 byte")
    return found[0]


# ---- Rows ------------------------------------------------------------------------------------------------------------

def chunks_of(X: Any) -> Iterator[Any]:
    """The schema, then every chunk."""
    schema = ArrowSchema()
    if not hasattr(X, "__arrow_c_stream__"):
        schemas, arrays = X.__arrow_c_array__()
        yield ArrowSchema.from_address(_pointer(schemas, b"arrow_schema"))
        source = ArrowArray.from_address(_pointer(arrays, b"arrow_array"))
        chunk = Chunk()
        ctypes.memmove(ctypes.byref(chunk.array), ctypes.byref(source), ctypes.sizeof(ArrowArray))
        source.release = RELEASE_ARRAY()  # it is ours now
        yield chunk
        return
    capsule = X.__arrow_c_stream__()
    stream = ArrowStream.from_address(_pointer(capsule, b"arrow_array_stream"))

    def check(code: int) -> None:
        if code != 0:
            said = stream.get_last_error(ctypes.byref(stream)) or b"no reason is given"
            raise RuntimeError(f"the rows of X cannot be read: {said.decode('utf-8', 'replace')}")
    check(stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)))
    try:
        yield schema
        while True:
            chunk = Chunk()
            check(stream.get_next(ctypes.byref(stream), ctypes.byref(chunk.array)))
            if not chunk.array.release:
                break
            yield chunk
    finally:
        if schema.release:
            schema.release(ctypes.byref(schema))


class Part:
    """The rows of a chunk: where each begins among its numbers, how long it is, and which are there."""

    def __init__(self, chunk: Chunk, schema: Any, column: int | None, before: int) -> None:
        array, start = chunk.array, 0
        there = None
        count = array.length
        if column is not None:
            there, start = valid(chunk, array, 0, count), array.offset
            array = array.children[column].contents
        own = valid(chunk, array, start, count)
        self.there = own if there is None else there if own is None else own & there
        self.count, self.before = count, before
        first, values = array.offset + start, array.children[0].contents
        text = bytes(schema.format)
        if text[:3] == b"+w:":
            width = int(text[3:])
            self.starts, self.lengths = np.arange(first, first + count) * width, np.full(count, width)
        else:
            ends = view(chunk, array.buffers[1], first, count + 1, np.int32 if text == b"+l" else np.int64).astype(np.int64)
            self.starts, self.lengths = ends[:-1], np.diff(ends)
        kind = TYPES[bytes(schema.children[0].contents.format)]
        self.numbers = view(chunk, values.buffers[1], values.offset, values.length, kind)
        self.holes = valid(chunk, values, 0, values.length)
        self.missing = self.lengths == 0 if self.there is None else ~self.there | (self.lengths == 0)

    def width(self) -> int | None:
        """The length of all rows that are there; None: there is none."""
        lengths = self.lengths[~self.missing]
        if len(lengths) and (lengths != lengths[0]).any():
            place = int(np.flatnonzero(~self.missing)[np.flatnonzero(lengths != lengths[0])[0]])
            raise ValueError(f"row {self.before + place} of X has {self.lengths[place]} numbers, but the first has {lengths[0]}; "
                             "all rows need the same number")
        return int(lengths[0]) if len(lengths) else None

    def whole(self, width: int) -> np.ndarray | None:
        """The rows as they lie in memory, if nothing is between them."""
        if self.missing.any() or self.holes is not None or not len(self.starts) or \
                (self.starts != self.starts[0] + width * np.arange(self.count)).any():
            return None
        return self.numbers[self.starts[0]:self.starts[0] + width * self.count].reshape(self.count, width)

    def fill(self, place: np.ndarray) -> None:
        width = place.shape[1]
        rows = self.whole(width)
        if rows is not None:
            place[:] = rows
            return
        place[self.missing] = np.nan
        there = np.flatnonzero(~self.missing)
        at = self.starts[there][:, None] + np.arange(width)
        place[there] = self.numbers[at]
        if self.holes is not None:
            place[there[~self.holes[at].all(axis=1)]] = np.nan


def arrow_rows(X: Any, column: str | None = None) -> np.ndarray:
    """(N, D) rows of whatever gives Arrow arrays: a column of lists, or the named one of a table, or its only one. A list that is
    null, empty or has a null is a missing row, NaN. One chunk without such rows is not copied.

    >>> asterism.arrow_rows(duckdb.sql("SELECT id, embedding FROM notes").arrow(), "embedding")  # doctest: +SKIP
    """
    source = chunks_of(X)
    schema = next(source)
    place = column_of(schema, column)
    own = schema if place is None else schema.children[place].contents
    kind, parts, count = TYPES[bytes(own.children[0].contents.format)], [], 0
    for chunk in source:
        parts.append(Part(chunk, own, place, count))
        count += parts[-1].count
    widths = [(part, part.width()) for part in parts]
    known = [(part, width) for part, width in widths if width is not None]
    if not known:
        raise ValueError("X has no row" if count == 0 else "every row of X is null or empty")
    width = known[0][1]
    for part, other in known:
        if other != width:
            row = part.before + int(np.flatnonzero(~part.missing)[0])
            raise ValueError(f"row {row} of X has {other} numbers, but the first has {width}; all rows need the same number")
    rows = parts[0].whole(width) if len(parts) == 1 else None
    if rows is not None:
        return rows
    holed = any(part.missing.any() or part.holes is not None for part in parts)
    matrix = np.empty((count, width), np.float32 if holed and np.dtype(kind).kind in "iu" else kind)
    for part in parts:
        part.fill(matrix[part.before:part.before + part.count])
    return matrix


# ---- Labels ----------------------------------------------------------------------------------------------------------

_kept: dict[int, Any] = {}  # what exported structs point to, by their private_data
_next = 0


def _keep(things: Any) -> int:
    global _next
    _next += 1
    _kept[_next] = things
    return _next


@RELEASE_SCHEMA
def _release_schema(schema: Any) -> None:
    _kept.pop(schema.contents.private_data, None)
    schema.contents.release = RELEASE_SCHEMA()


@RELEASE_ARRAY
def _release_array(array: Any) -> None:
    _kept.pop(array.contents.private_data, None)
    array.contents.release = RELEASE_ARRAY()


_DESTROY = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_raw_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _destroy_schema(capsule: Any) -> None:
    address = _raw_pointer(capsule, b"arrow_schema")
    schema = ArrowSchema.from_address(address)
    if schema.release:
        schema.release(ctypes.byref(schema))
    _kept.pop(address, None)


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _destroy_array(capsule: Any) -> None:
    address = _raw_pointer(capsule, b"arrow_array")
    array = ArrowArray.from_address(address)
    if array.release:
        array.release(ctypes.byref(array))
    _kept.pop(address, None)


class ArrowLabels:
    """Labels as an Arrow array of int32, for pyarrow.array(labels), polars and DuckDB. Nothing is copied."""

    def __init__(self, labels: Any) -> None:
        self.labels = np.ascontiguousarray(labels, np.int32)

    def __len__(self) -> int:
        return len(self.labels)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.labels if dtype is None else self.labels.astype(dtype)

    def __arrow_c_schema__(self) -> Any:
        schema = ArrowSchema(format=b"i", name=b"labels", release=_release_schema)
        schema.private_data = _keep(schema)
        _kept[ctypes.addressof(schema)] = schema
        return _capsule(ctypes.addressof(schema), b"arrow_schema", ctypes.cast(_destroy_schema, ctypes.c_void_p))

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        buffers = (ctypes.c_void_p * 2)(None, self.labels.ctypes.data)
        array = ArrowArray(length=len(self.labels), n_buffers=2, buffers=buffers, release=_release_array)
        array.private_data = _keep((self.labels, buffers))
        _kept[ctypes.addressof(array)] = array
        return self.__arrow_c_schema__(), _capsule(ctypes.addressof(array), b"arrow_array",
                                                   ctypes.cast(_destroy_array, ctypes.c_void_p))
