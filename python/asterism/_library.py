# SPDX-License-Identifier: MIT
"""The C library: where it is, its functions and structs, its statuses as exceptions, and contexts to call it with.

ctypes releases the GIL for the time of a call. A context belongs to one thread at a time, so that every call borrows
one and gives it back: threads never wait for each other. A forked child starts with none of its parent's contexts,
whose threads it does not have.
"""
from __future__ import annotations

import contextlib
import ctypes
import ctypes.util
import functools
import os
import re
import sys
import threading
from pathlib import Path
from typing import Any, Callable, Iterator, Sequence

import numpy as np

from ._header import Header
from ._standalone import issparse

PACKAGE = Path(__file__).resolve().parent
LIBRARY = {"win32": "libasterism.dll", "darwin": "libasterism.dylib"}.get(sys.platform, "libasterism.so")
HEADERS = ("asterism.h", "asterism_depth.h", "asterism_tally.h", "asterism_ranks.h", "asterism_arrow.h", "asterism_field.h", "private/asterism_hallway.h")

# A context keeps its working memory for the next call. Beyond this many numbers it is freed instead: memory that a
# program does not know of is worse than the milliseconds that it costs to get it again.
KEEP_NUMBERS = 1 << 24


def find_headers() -> list[Path]:
    """Beside the package, where a wheel carries them, or in the source tree that the package is run from."""
    for folder in (PACKAGE, PACKAGE.parents[1] / "include"):
        if (folder / HEADERS[0]).is_file():
            return [folder / name for name in HEADERS]
    raise ImportError(f"asterism.h is neither in {PACKAGE} nor in include/ of a source tree: the package is not whole")


def find_library() -> str:
    """ASTERISM_LIBRARY, the one that a wheel carries, that of the source tree, or that of the system."""
    given = os.environ.get("ASTERISM_LIBRARY")
    if given:
        return given
    for path in (PACKAGE / LIBRARY, PACKAGE.parents[1] / "build" / "release" / LIBRARY):
        if path.is_file():
            return str(path)
    found = ctypes.util.find_library("asterism")
    if found:
        return found
    raise ImportError(f"{LIBRARY} was not found: install the package with pip, build the library in build/release, "
                      "or name the file in the environment variable ASTERISM_LIBRARY")


def load() -> ctypes.CDLL:
    library = ctypes.CDLL(find_library())
    for name, (result, arguments) in header.functions.items():
        function = getattr(library, name, None)
        if function is not None:
            function.restype, function.argtypes = result, arguments
    version = library.ast_version().decode()
    if version != header.version:
        raise ImportError(f"the library at {find_library()} is version {version}, this package is {header.version}")
    return library


header = Header(find_headers())
lib = load()
constants = header.constants
structs = header.structs


def sized(name: str, **fields: Any) -> Any:
    """A struct of the caller's that begins with its own size."""
    kind = structs[name]
    return kind(size=ctypes.sizeof(kind), **fields)


def defaults(name: str) -> Any:
    """A struct of options with the defaults of its _init function in the header."""
    options = sized(name)
    for path, value in header.defaults[name]:
        *groups, field = path.split(".")
        setattr(functools.reduce(getattr, groups, options), field, value)
    return options


def records(call: Callable[..., Any], handle: Any, name: str) -> list[Any]:
    """Copies of the structs that a _records function of the library returns. What they point to is not copied."""
    kind, count = structs[name], ctypes.c_size_t()
    first = call(handle, ctypes.sizeof(kind), ctypes.byref(count))
    return [kind.from_buffer_copy(one) for one in (kind * count.value).from_address(first)] if count.value else []


def record_array(call: Callable[..., Any], handle: Any, name: str, fields: Sequence[str]) -> np.ndarray:
    """These fields of the same structs, as a structured array: no loop over them."""
    kind, count = structs[name], ctypes.c_size_t()
    first = call(handle, ctypes.sizeof(kind), ctypes.byref(count))
    types = dict(kind._fields_)
    layout = np.dtype({"names": list(fields), "itemsize": ctypes.sizeof(kind),
                       "formats": [np.dtype(np.uintp if types[one] is ctypes.c_void_p else types[one]) for one in fields],
                       "offsets": [getattr(kind, one).offset for one in fields]})
    if not count.value:
        return np.empty(0, layout)
    return np.frombuffer((ctypes.c_char * (ctypes.sizeof(kind) * count.value)).from_address(first), layout).copy()


def opened(call: Callable[..., int], context: Context, *arguments: Any) -> int:
    """The handle that an _open function of the library returns. Raises what its status stands for."""
    handle = ctypes.c_void_p()
    context.check(call(ctypes.byref(handle), context.handle, *arguments))
    return handle.value


# C's constants in a sentence of the library, such as AST_STREAM_DDP: 'ddp' in Python.
CONSTANT = re.compile(r"\bAST_(?:STREAM_|SCORE_|ORDER_|MERGE_|METRIC_|COMPONENT_|KEEP_)?([A-Z][A-Z0-9_]*)")


class Context:
    """An ast_context: threads, working memory, the last message."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.process = os.getpid()
        handle = ctypes.c_void_p()
        status = lib.ast_open(ctypes.byref(handle), threads)
        if status != constants["AST_OK"]:
            raise exception_of(status)(f"asterism could not start {threads or 'its'} threads (n_threads: 1 to 256, or None)")
        self.handle = handle.value

    def check(self, status: int) -> None:
        """Raises what a status stands for, with the library's sentence."""
        if status != constants["AST_OK"]:
            raise exception_of(status)(self.message())

    def message(self) -> str:
        return CONSTANT.sub(lambda found: f"'{found[1].lower()}'", lib.ast_message(self.handle).decode("utf-8", "replace"))

    @contextlib.contextmanager
    def cancelled_by(self, cancel: Any) -> Iterator[None]:
        """Calls within the block stop when `cancel`, a CANCEL or None, returns non-zero."""
        lib.ast_set_cancel(self.handle, ctypes.cast(cancel, ctypes.c_void_p) if cancel else None, None)
        try:
            yield
        finally:
            lib.ast_set_cancel(self.handle, None, None)

    def close(self) -> None:
        if self.handle and self.process == os.getpid():
            lib.ast_close(self.handle)
        self.handle = None


def exception_of(status: int) -> type[BaseException]:
    """Wrong options and wrong data are ValueErrors, as everywhere in Python."""
    if status in (constants["AST_BAD_OPTION"], constants["AST_BAD_DATA"]):
        return ValueError
    return {constants["AST_NO_MEMORY"]: MemoryError,
            constants["AST_CANCELLED"]: KeyboardInterrupt}.get(status, RuntimeError)


class Lender:
    """Contexts that nobody uses at the moment. At most as many are kept for each number of threads as were ever needed
    at once, and no more than four."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """After a fork: the contexts are the parent's, and the lock may be held by a thread that is not here."""
        self.lock = threading.Lock()
        self.free: dict[int, list[Context]] = {}

    @contextlib.contextmanager
    def borrow(self, n_threads: int | None, numbers: int) -> Iterator[Context]:
        """A context for a call on so many numbers. After an exception it is as good as before."""
        threads = thread_count(n_threads)
        with self.lock:
            idle = self.free.get(threads)
            context = idle.pop() if idle else None
        context = context or Context(threads)
        try:
            yield context
        finally:
            self.give_back(context, numbers)

    def give_back(self, context: Context, numbers: int) -> None:
        with self.lock:
            idle = self.free.setdefault(context.threads, [])
            keep = numbers <= KEEP_NUMBERS and len(idle) < 4 and context.process == os.getpid()
            if keep:
                idle.append(context)
        if not keep:
            context.close()


lender = Lender()
os.register_at_fork(after_in_child=lender.forget)


def thread_count(n_threads: int | None) -> int:
    """None: one for each processor that the process may use, which the library calls 0."""
    if n_threads is None:
        return 0
    if isinstance(n_threads, bool) or not isinstance(n_threads, (int, np.integer)) or not 1 <= n_threads <= 256:
        raise ValueError(f"n_threads is {n_threads!r}; it must be None (all processors) or an integer from 1 to 256")
    return int(n_threads)


TYPES = {np.dtype(np.float32): "AST_F4", np.dtype(np.float64): "AST_F8", np.dtype(np.float16): "AST_F2"}


def points_of(array: Any, weights: np.ndarray | None = None, late: np.ndarray | None = None,
              rotation: np.ndarray | None = None) -> Any:
    """A view of an (N, D) array of floats, in whatever order it lies in memory, or of a sparse matrix in CSR format. It
    holds on to all arrays. late: (N) uint8; rotation: (D, D) float64."""
    view = sized(
        "ast_points", data=array.data.ctypes.data if issparse(array) else array.ctypes.data, type=constants[TYPES[array.dtype]],
        count=array.shape[0], dimension=array.shape[1], weights=None if weights is None else weights.ctypes.data,
        late=None if late is None else late.ctypes.data,
        rotation=None if rotation is None else rotation.ctypes.data)
    if issparse(array):
        view.starts, view.columns = array.indptr.ctypes.data, array.indices.ctypes.data
        view.index = constants["AST_I8" if array.indices.dtype == np.int64 else "AST_I4"]
    else:
        view.row_stride, view.column_stride = array.strides
    view.keep = (array, weights, late, rotation)
    return view


def array_at(address: int | None, shape: tuple[int, ...], dtype: type) -> np.ndarray:
    """A copy of what the library returned: its memory is gone with the next call."""
    count = int(np.prod(shape))
    if not address or count == 0:
        return np.empty(shape, dtype)
    size = count * np.dtype(dtype).itemsize
    return np.frombuffer((ctypes.c_char * size).from_address(address), dtype).reshape(shape).copy()


CANCEL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)

# How long Ctrl-C waits for the call to stop. Whatever takes longer ends by itself, a moment later.
GRACE_SECONDS = 0.1


def interruptible(call: Callable[[Any], Any]) -> Any:
    """call(cancel), from which Ctrl-C returns at once.

    Signals reach Python's main thread only, and not while it is inside the library. So the main thread waits, and
    another one works; when a handler raises, the library is told to stop when it next calls `cancel`. What the call
    uses (arrays, its context) belongs to the thread that works until it has stopped, and the program may end before
    that. Other threads get no signals, and call the library themselves.
    """
    if threading.current_thread() is not threading.main_thread():
        return call(None)
    job = Job(call)
    thread = threading.Thread(target=job.run, name="asterism", daemon=True)
    thread.start()
    try:
        job.done.wait()
    except BaseException:
        job.stop = True
        thread.join(GRACE_SECONDS)
        raise
    thread.join()
    return job.outcome()


class Job:
    """A call in another thread, and what became of it."""

    def __init__(self, call: Callable[[Any], Any]) -> None:
        self.call, self.stop, self.done = call, False, threading.Event()
        self.result: Any = None
        self.error: BaseException | None = None

    def run(self) -> None:
        cancel = CANCEL(lambda data: int(self.stop))
        try:
            self.result = self.call(cancel)
        except BaseException as error:  # raised where the caller is
            self.error = error
        finally:
            del self.call
            self.done.set()

    def outcome(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.result
