# SPDX-License-Identifier: MIT
"""Rows from Arrow, and labels to Arrow, by the C data interface: three small structs and no package.

Any object with __arrow_c_stream__ or __arrow_c_array__ (tables of pyarrow and polars, results of DuckDB) can be passed as rows,
if it is a column of lists or a table with one such column. Rows that are contiguous in one chunk are not copied."""
from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ._library import constants, lender, lib, sized

TYPES = {constants["AST_F2"]: np.float16, constants["AST_F4"]: np.float32, constants["AST_F8"]: np.float64,
         constants["AST_I1"]: np.int8, constants["AST_U1"]: np.uint8}
INTEGERS = {b"c": np.int8, b"s": np.int16, b"i": np.int32, b"l": np.int64,
            b"C": np.uint8, b"S": np.uint16, b"I": np.uint32, b"L": np.uint64}
STRINGS = {b"u": np.int32, b"U": np.int64}  # by the type of their offsets


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
    """Whether X offers its rows by the C data interface, and is not an array of NumPy or an object of pandas."""
    return not hasattr(X, "iloc") and not isinstance(X, np.ndarray) and (
        hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__"))


class Table:
    """The schema and the chunks of an Arrow object, released when the last view of them is gone."""

    def __init__(self, X: Any) -> None:
        self.schema, self.chunks, self.rows = ArrowSchema(), [], ctypes.c_void_p()
        if hasattr(X, "__arrow_c_stream__"):
            self._take_stream(X.__arrow_c_stream__())
            return
        schema, array = X.__arrow_c_array__()
        move(self.schema, ArrowSchema.from_address(_pointer(schema, b"arrow_schema")))
        self.chunks.append(ArrowArray())
        move(self.chunks[0], ArrowArray.from_address(_pointer(array, b"arrow_array")))

    def _take_stream(self, capsule: Any) -> None:
        stream = ArrowStream.from_address(_pointer(capsule, b"arrow_array_stream"))

        def check(code: int) -> None:
            if code != 0:
                said = stream.get_last_error(ctypes.byref(stream)) or b"no reason is given"
                raise RuntimeError(f"the rows of X cannot be read: {said.decode('utf-8', 'replace')}")
        check(stream.get_schema(ctypes.byref(stream), ctypes.byref(self.schema)))
        while True:
            chunk = ArrowArray()
            check(stream.get_next(ctypes.byref(stream), ctypes.byref(chunk)))
            if not chunk.release:
                return
            self.chunks.append(chunk)

    def __del__(self) -> None:
        if self.rows:
            lib.ast_arrow_close(self.rows)
        release(*self.chunks, self.schema)

    def points(self, column: str | None) -> Memory:
        chunks = (ctypes.POINTER(ArrowArray) * len(self.chunks))(*[ctypes.pointer(chunk) for chunk in self.chunks])
        points, name = sized("ast_points"), None if column is None else column.encode()
        with lender.borrow(1, 0) as context:
            context.check(lib.ast_points_arrow(ctypes.byref(self.rows), context.handle, ctypes.byref(self.schema), chunks,
                                               len(self.chunks), name, ctypes.byref(points), None))
        self.lent = not lib.ast_arrow_copied(self.rows)
        return Memory(self, points.data, (points.count, points.dimension), TYPES[points.type])

    def names(self) -> list[str]:
        children = [self.schema.children[i].contents for i in range(self.schema.n_children)]
        return [bytes(child.name or b"").decode("utf-8", "replace") for child in children]


class Memory:
    """Memory of a table, as NumPy takes it; the view keeps the table."""

    def __init__(self, table: Any, address: int, shape: tuple[int, ...], dtype: Any) -> None:
        self.table = table
        self.__array_interface__ = {"version": 3, "shape": shape, "typestr": np.dtype(dtype).str, "data": (address, True)}


def release(*structs: Any) -> None:
    for given in structs:
        if given.release:
            given.release(ctypes.byref(given))


def move(to: Any, given: Any) -> None:
    """Moves the struct: the caller's one is marked as released."""
    ctypes.memmove(ctypes.byref(to), ctypes.byref(given), ctypes.sizeof(to))
    given.release = type(given.release)()


def arrow_rows(X: Any, column: str | None = None, *, ids: str | None = None) -> Any:
    """(N, D) rows of an object with Arrow arrays: a column of lists, or a table and the name of such a column, which may be left
    out if there is only one. A list that is null, empty or has a null is a missing row, NaN. Contiguous rows are not copied. ids:
    the name of a column of integers or strings; then the result is a pair, the rows and an array of the ids.

    >>> asterism.arrow_rows(duckdb.sql("SELECT id, embedding FROM notes").arrow(), "embedding")  # doctest: +SKIP
    """
    table = Table(X)
    rows = np.asarray(table.points(column))
    found = rows if ids is None else (rows, ids_of(table, ids))
    release(table.schema, *(() if table.lent else table.chunks))
    return found


def ids_of(table: Table, name: str) -> np.ndarray:
    places = [place for place, own in enumerate(table.names()) if own == name]
    if len(places) != 1:
        raise ValueError(f"X has {'more than one' if places else 'no'} column {name!r}; there are: {', '.join(table.names())}")
    text = bytes(table.schema.children[places[0]].contents.format)
    if text not in INTEGERS and text not in STRINGS:
        raise ValueError(f"column {name!r} of X is of type {text.decode('ascii', 'replace')!r}; ids are integers (Arrow's c, s, i, l, C, S, "
                         "I, L) or strings (u, U)")
    parts = [ids_of_chunk(table, chunk, chunk.children[places[0]].contents, text, name) for chunk in table.chunks]
    return np.concatenate(parts)


def ids_of_chunk(table: Table, chunk: Any, array: Any, text: bytes, name: str) -> np.ndarray:
    first, count = chunk.offset + array.offset, chunk.length

    def values(place: int, first: int, count: int, kind: Any) -> np.ndarray:
        if not count or not array.buffers[place]:
            return np.zeros(count, kind)
        return np.asarray(Memory(table, array.buffers[place] + first * np.dtype(kind).itemsize, (count,), kind))
    if array.null_count != 0 and array.buffers[0]:
        bits = np.unpackbits(values(0, first // 8, (first % 8 + count + 7) // 8, np.uint8), bitorder="little")
        if not bits[first % 8:first % 8 + count].all():
            raise ValueError(f"column {name!r} of X has nulls; every row needs an id")
    if text in INTEGERS:
        return values(1, first, count, INTEGERS[text]).copy()
    ends = values(1, first, count + 1, STRINGS[text])
    letters = values(2, 0, int(ends[-1]), np.uint8).tobytes()
    return np.array([letters[a:b].decode("utf-8", "replace") for a, b in zip(ends[:-1], ends[1:])], object)


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
