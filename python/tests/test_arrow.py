# SPDX-License-Identifier: MIT
"""Rows by Arrow's C data interface, from a producer that is written here: Debian has no package that makes Arrow arrays."""
import ctypes
import gc

import numpy as np
import pytest

import asterism
from asterism import arrow
from asterism.arrow import ArrowArray, ArrowSchema, ArrowStream

RANDOM = np.random.default_rng(7)
ROWS = RANDOM.normal(size=(200, 5)).astype(np.float32)
FORMATS = {np.dtype(np.float16): b"e", np.dtype(np.float32): b"f", np.dtype(np.float64): b"g", np.dtype(np.int8): b"c",
           np.dtype(np.uint8): b"C"}


class Producer:
    """Chunks of lists as a stream. kind: +l, +L, +w; `null`: rows under which there is garbage; `before`: an offset, `others`: a
    table with other columns."""

    def __init__(self, chunks, kind=b"+l", null=None, holes=None, before=0, table=False, fail=False):
        self.chunks, self.kind, self.null, self.holes, self.before = chunks, kind, null, holes, before
        self.table, self.fail = table, fail
        self.alive, self.keep = 0, []

    def bits(self, there):
        return np.packbits(there, bitorder="little")

    def schema(self):
        number = ArrowSchema(format=FORMATS[self.chunks[0].dtype], name=b"item", flags=2)
        text = self.kind if self.kind != b"+w" else b"+w:%d" % self.chunks[0].shape[1]
        rows = self.parent(ArrowSchema(format=text, name=b"embedding", flags=2), [number])
        if self.table:
            ids = ArrowSchema(format=b"l", name=b"id")
            rows = self.parent(ArrowSchema(format=b"+s", name=b""), [ids, rows])

        @arrow.RELEASE_SCHEMA
        def release(given):
            given.contents.release = arrow.RELEASE_SCHEMA()
        rows.release = release
        self.keep.append((release, rows))
        return rows

    def parent(self, own, children):
        pointers = (ctypes.POINTER(type(own)) * len(children))(*[ctypes.pointer(child) for child in children])
        own.n_children, own.children = len(children), pointers
        self.keep.append((pointers, children))
        return own

    def array(self, rows, null_count, buffers):
        addresses = (ctypes.c_void_p * len(buffers))(*[None if b is None else b.ctypes.data for b in buffers])
        self.keep.append((addresses, buffers))
        return ArrowArray(length=rows, null_count=null_count, n_buffers=len(buffers), buffers=addresses)

    def chunk(self, values):
        n, width = values.shape
        pad = np.full((self.before, width), 77, values.dtype)
        whole = np.ascontiguousarray(np.concatenate([pad, values]))
        there = np.ones(n + self.before, bool)
        for row in self.null or []:
            there[self.before + row] = False
        holes = None
        if self.holes is not None:
            holes = np.ones(whole.shape, bool)
            holes[self.before + self.holes, 1] = False
        numbers = self.array(whole.size, -1 if holes is not None else 0, [None if holes is None else self.bits(holes.ravel()), whole])
        starts = np.arange(n + self.before + 1, dtype=np.int32 if self.kind == b"+l" else np.int64) * width
        validity = self.bits(there) if self.null else None
        lists = self.array(n, len(self.null or []), [validity] if self.kind == b"+w" else [validity, starts])
        lists.offset = self.before
        lists = self.parent(lists, [numbers])
        if self.table:
            ids = self.array(n, 0, [None, np.arange(n)])
            lists = self.parent(self.array(n, 0, [None]), [ids, lists])

        @arrow.RELEASE_ARRAY
        def release(given):
            self.alive -= 1
            given.contents.release = arrow.RELEASE_ARRAY()
        lists.release = release
        self.alive += 1
        self.keep.append((release, lists))
        return lists

    def __arrow_c_stream__(self, requested_schema=None):
        left = list(self.chunks)
        kinds = dict(ArrowStream._fields_)

        @kinds["get_schema"]
        def get_schema(stream, place):
            own = self.schema()
            ctypes.memmove(place, ctypes.byref(own), ctypes.sizeof(own))
            return 0

        @kinds["get_next"]
        def get_next(stream, place):
            if self.fail:
                return 5
            own = self.chunk(left.pop(0)) if left else ArrowArray()
            ctypes.memmove(place, ctypes.byref(own), ctypes.sizeof(own))
            return 0

        @kinds["get_last_error"]
        def get_last_error(stream):
            return b"the disk is gone"

        @kinds["release"]
        def release(stream):
            pass
        stream = ArrowStream(get_schema, get_next, get_last_error, release)
        self.keep.append((stream, get_schema, get_next, get_last_error, release))
        return arrow._capsule(ctypes.addressof(stream), b"arrow_array_stream", None)


@pytest.mark.parametrize("kind", [b"+l", b"+L", b"+w"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8, np.uint8])
@pytest.mark.parametrize("table", [False, True])
def test_every_kind_of_list(kind, dtype, table):
    rows = (ROWS * 20).astype(np.int8).astype(dtype) if np.dtype(dtype).kind != "u" else np.abs(ROWS * 20).astype(dtype)
    one = Producer([rows], kind, table=table)
    found = asterism.arrow_rows(one)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, rows)
    several = Producer([rows[:70], rows[70:71], rows[71:]], kind, before=9, table=table)
    np.testing.assert_array_equal(asterism.arrow_rows(several), rows)
    assert one.alive == 1 and several.alive == 0  # the first is not copied
    del found
    gc.collect()
    assert one.alive == 0


def test_rows_of_one_chunk_are_not_copied():
    producer = Producer([ROWS], before=3)
    found = asterism.arrow_rows(producer)
    buffers = [b for _, b in (k for k in producer.keep if isinstance(k[1], list)) for b in b if isinstance(b, np.ndarray)]
    assert any(b.dtype == np.float32 and np.shares_memory(found, b) for b in buffers)
    assert not found.flags.writeable


def test_ids_beside_the_rows():
    rows, ids = asterism.arrow_rows(Producer([ROWS[:20], ROWS[20:50]], before=2, table=True), "embedding", ids="id")
    np.testing.assert_array_equal(rows, ROWS[:50])
    np.testing.assert_array_equal(ids, [*range(20), *range(30)])
    with pytest.raises(ValueError, match="no column 'key'; there are: id, embedding"):
        asterism.arrow_rows(Producer([ROWS], table=True), ids="key")
    with pytest.raises(ValueError, match="ids are integers .* or strings"):
        asterism.arrow_rows(Producer([ROWS], table=True), ids="embedding")


@pytest.mark.parametrize("kind", [b"+l", b"+w"])
def test_null_rows_are_missing(kind):
    producer = Producer([ROWS[:100], ROWS[100:]], kind, null=[3, 99], holes=50, before=5)
    expected = ROWS.copy()
    for row in (3, 99, 103, 199, 50, 150):
        expected[row] = np.nan
    np.testing.assert_array_equal(asterism.arrow_rows(producer), expected)
    labels = asterism.DPVMFMeans(60, allow_missing=True).fit(producer).labels_
    np.testing.assert_array_equal(np.flatnonzero(labels < 0), [3, 50, 99, 103, 150, 199])


def test_null_rows_of_whole_numbers():
    rows = (ROWS * 20).astype(np.int8)
    found = asterism.arrow_rows(Producer([rows], null=[0]))
    assert found.dtype == np.float32 and np.isnan(found[0]).all()
    np.testing.assert_array_equal(found[1:], rows[1:])


def test_estimators_take_arrow():
    plain = asterism.DPVMFMeans(60).fit(ROWS)
    for producer in (Producer([ROWS]), Producer([ROWS[:20], ROWS[20:]], b"+w", table=True)):
        found = asterism.DPVMFMeans(60).fit(producer)
        np.testing.assert_array_equal(found.labels_, plain.labels_)
        np.testing.assert_array_equal(found.predict(Producer([ROWS])), plain.predict(ROWS))


def test_labels_as_arrow():
    model = asterism.DPVMFMeans(60).fit(ROWS)
    schema, array = model.labels_arrow_.__arrow_c_array__()
    own = ArrowArray.from_address(arrow._pointer(array, b"arrow_array"))
    assert ArrowSchema.from_address(arrow._pointer(schema, b"arrow_schema")).format == b"i"
    assert own.length == len(ROWS) and own.null_count == 0
    found = np.array((ctypes.c_int32 * len(ROWS)).from_address(own.buffers[1]))
    np.testing.assert_array_equal(found, model.labels_)
    before = len(arrow._kept)
    del own, schema, array
    gc.collect()
    assert len(arrow._kept) < before


@pytest.mark.filterwarnings("ignore:memory leak in callback")  # of a string that a callback returns
def test_one_sentence_each():
    ragged = Producer([ROWS[:50], ROWS[50:, :4]])
    with pytest.raises(ValueError, match=r"^row 51 \(counting from 1\) has 4 numbers, but the first has 5; all rows need the same number$"):
        asterism.arrow_rows(ragged)
    with pytest.raises(ValueError, match=r"no column named 'vector'; there are: id \(int64\), embedding \(list of float32\)"):
        asterism.arrow_rows(Producer([ROWS], table=True), "vector")
    with pytest.raises(ValueError, match="column 'id' is of type int64; rows are lists"):
        asterism.arrow_rows(Producer([ROWS], table=True), "id")
    with pytest.raises(ValueError, match="there are no rows, or all are null or empty"):
        asterism.arrow_rows(Producer([ROWS[:2]], null=[0, 1]))
    with pytest.raises(RuntimeError, match="the disk is gone"):
        asterism.arrow_rows(Producer([ROWS], fail=True))

    class Labels:
        __arrow_c_array__ = asterism.DPVMFMeans(60).fit(ROWS).labels_arrow_.__arrow_c_array__
    with pytest.raises(ValueError, match="the column 'labels' is of type int32; rows are lists"):
        asterism.arrow_rows(Labels())
