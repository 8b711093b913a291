#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A result of DuckDB goes to DPVMFMeans by Arrow's C data interface, and the labels are joined back in SQL by id.

    capsule.py libduckdb.so      prints the number of rows that join, and how many there are
"""
import ctypes
import sys
from ctypes import POINTER, byref, c_char_p, c_uint64, c_void_p

import numpy as np

import asterism
from asterism import arrow
from asterism.arrow import ArrowArray, ArrowSchema, ArrowStream

ROWS, WIDTH = 7000, 12
KINDS = dict(ArrowStream._fields_)


class Result(ctypes.Structure):
    _fields_ = [("unused", c_uint64 * 3), ("pointers", c_void_p * 3)]


def declared(path):
    duck = ctypes.CDLL(path)
    for name, result, *arguments in (
            ("open", ctypes.c_int, c_char_p, POINTER(c_void_p)), ("connect", ctypes.c_int, c_void_p, POINTER(c_void_p)),
            ("query", ctypes.c_int, c_void_p, c_char_p, POINTER(Result)), ("result_error", c_char_p, POINTER(Result)),
            ("column_count", c_uint64, POINTER(Result)), ("column_name", c_char_p, POINTER(Result), c_uint64),
            ("column_logical_type", c_void_p, POINTER(Result), c_uint64), ("fetch_chunk", c_void_p, Result),
            ("result_get_arrow_options", c_void_p, POINTER(Result)),
            ("to_arrow_schema", c_void_p, c_void_p, POINTER(c_void_p), POINTER(c_char_p), c_uint64, POINTER(ArrowSchema)),
            ("data_chunk_to_arrow", c_void_p, c_void_p, c_void_p, POINTER(ArrowArray)), ("error_data_message", c_char_p, c_void_p),
            ("error_data_has_error", ctypes.c_bool, c_void_p), ("value_int64", ctypes.c_int64, POINTER(Result), c_uint64, c_uint64),
            ("arrow_scan", ctypes.c_int, c_void_p, c_char_p, POINTER(ArrowStream))):
        function = getattr(duck, "duckdb_" + name)
        function.restype, function.argtypes = result, arguments
    return duck


class Database:
    def __init__(self, path):
        self.duck, self.handle, self.connection = declared(path), c_void_p(), c_void_p()
        assert self.duck.duckdb_open(None, byref(self.handle)) == 0
        assert self.duck.duckdb_connect(self.handle, byref(self.connection)) == 0

    def run(self, sql):
        result = Result()
        if self.duck.duckdb_query(self.connection, sql.encode(), byref(result)) != 0:
            sys.exit(f"{sql}: {self.duck.duckdb_result_error(byref(result)).decode()}")
        return result

    def numbers(self, sql):
        result = self.run(sql)
        return [self.duck.duckdb_value_int64(byref(result), place, 0) for place in range(self.duck.duckdb_column_count(byref(result)))]

    def check(self, error):
        if self.duck.duckdb_error_data_has_error(error):
            sys.exit(self.duck.duckdb_error_data_message(error).decode())


def stream_of(get_schema, get_next):
    """An ArrowStream and what it needs to live."""
    functions = [KINDS["get_schema"](get_schema), KINDS["get_next"](get_next), KINDS["get_last_error"](lambda stream: None)]

    def forget(stream):
        stream.contents.release = arrow.RELEASE_STREAM()
    functions.append(arrow.RELEASE_STREAM(forget))
    return ArrowStream(*functions), functions


class Rows:
    """What a query returns, once, by the C data interface."""

    def __init__(self, database, sql):
        self.database, self.result = database, database.run(sql)
        self.options = database.duck.duckdb_result_get_arrow_options(byref(self.result))

    def __arrow_c_stream__(self, requested_schema=None):
        duck = self.database.duck

        def get_schema(stream, place):
            count = duck.duckdb_column_count(byref(self.result))
            types = (c_void_p * count)(*[duck.duckdb_column_logical_type(byref(self.result), i) for i in range(count)])
            names = (c_char_p * count)(*[duck.duckdb_column_name(byref(self.result), i) for i in range(count)])
            self.database.check(duck.duckdb_to_arrow_schema(self.options, types, names, count, place))
            return 0

        def get_next(stream, place):
            chunk = duck.duckdb_fetch_chunk(self.result)
            place.contents.release = arrow.RELEASE_ARRAY()
            if chunk:
                self.database.check(duck.duckdb_data_chunk_to_arrow(self.options, chunk, place))
            return 0
        self.stream = stream_of(get_schema, get_next)
        return arrow._capsule(ctypes.addressof(self.stream[0]), b"arrow_array_stream", None)


def table_of(columns):
    """A stream of one chunk with these columns of integers: name, array, format."""
    keep = []

    def struct(kind, children, **fields):
        pointers = (POINTER(kind) * len(children))(*[ctypes.pointer(child) for child in children])
        forget = (arrow.RELEASE_SCHEMA if kind is ArrowSchema else arrow.RELEASE_ARRAY)(lambda given: release(given, forget))
        own = kind(n_children=len(children), children=pointers, release=forget, **fields)
        keep.extend([pointers, children, forget, own])
        return own

    def release(given, forget):
        given.contents.release = type(forget)()
        for place in range(given.contents.n_children):
            child = given.contents.children[place]
            if child.contents.release:
                child.contents.release(child)

    def array(values):
        buffers = (c_void_p * 2)(None, values.ctypes.data)
        keep.extend([buffers, values])
        return struct(ArrowArray, [], length=len(values), n_buffers=2, buffers=buffers)

    def get_schema(stream, place):
        own = struct(ArrowSchema, [struct(ArrowSchema, [], format=text, name=name) for name, _, text in columns], format=b"+s", name=b"")
        ctypes.memmove(place, byref(own), ctypes.sizeof(own))
        return 0
    left = [1]

    def get_next(stream, place):
        nothing = (c_void_p * 1)(None)
        keep.append(nothing)
        own = struct(ArrowArray, [array(values) for _, values, _ in columns], length=len(columns[0][1]), n_buffers=1,
                     buffers=nothing) if left else ArrowArray()
        left.clear()
        ctypes.memmove(place, byref(own), ctypes.sizeof(own))
        return 0
    stream = stream_of(get_schema, get_next)
    keep.append(stream)
    return stream[0], keep


def main(path):
    database = Database(path)
    database.run("SELECT setseed(0.5)")
    database.run(f"""CREATE TABLE notes AS SELECT 10 * i + 3 AS id, CASE WHEN i % 100 = 7 THEN NULL ELSE
                     [(CASE WHEN j = i % {WIDTH} THEN 3 ELSE 0 END + (i * (j + 3) % 17) / 40.0)::FLOAT FOR j IN range({WIDTH})] END
                     AS embedding FROM range({ROWS}) t(i)""")
    query = "SELECT id, embedding FROM notes ORDER BY id"
    model = asterism.DPVMFMeans(40, order="given", allow_missing=True).fit(Rows(database, query))
    rows, ids = asterism.arrow_rows(Rows(database, query), "embedding", ids="id")
    i, j = np.arange(ROWS)[:, None], np.arange(WIDTH)
    expected = (np.where(j == i % WIDTH, 3, 0) + (i * (j + 3) % 17) / 40).astype(np.float32)
    expected[7::100] = np.nan
    np.testing.assert_array_equal(rows, expected)
    np.testing.assert_array_equal(ids, 10 * i[:, 0] + 3)
    np.testing.assert_array_equal(model.labels_, asterism.DPVMFMeans(40, order="given", allow_missing=True).fit(expected).labels_)
    stream, keep = table_of([(b"id", ids.astype(np.int64), b"l"), (b"cluster", model.labels_, b"i")])
    assert database.duck.duckdb_arrow_scan(database.connection, b"found", byref(stream)) == 0
    joined = database.numbers(f"""SELECT count(*), count(DISTINCT cluster), count(*) FILTER (cluster = -1),
                                  count(*) FILTER (cluster = -1 AND embedding IS NULL) FROM notes JOIN found USING (id)""")
    assert joined == [ROWS, model.n_clusters_ + 1, ROWS // 100, ROWS // 100], (joined, model.n_clusters_)
    print(*joined)
    del keep


if __name__ == "__main__":
    main(sys.argv[1])
