# SPDX-License-Identifier: MIT
"""One clustering by several processes, the ranks of asterism_ranks.h, over sockets.

Every rank works in a child of the process that an engine (Dask, MPI, a pool) gave it, because a rank that loses the others
can only end. All ranks talk to a hub in the process that asked for the clustering: it adds their numbers and hands the bytes
of one rank to the others. If a rank is lost, so is the attempt, and the caller begins another one: the result is the same."""
from __future__ import annotations

import contextlib
import ctypes
import os
import pickle
import secrets
import socket
import struct
import threading
import time
from typing import Any, Callable, Iterator

import numpy as np

from ._library import lib, sized

HELLO = struct.Struct("<16sI64s")  # token, rank, name of the machine
CALL = struct.Struct("<iQ")  # who broadcasts, or one of the following; number of bytes
SUM, END = -1, -2
LOST = 75  # exit code of a rank that was cut off


class RankLost(RuntimeError):
    """A process of the clustering is gone; a further attempt gives the same result."""


def receive(link: socket.socket, place: Any) -> None:
    """Fills the buffer; ConnectionError if the other side is gone."""
    view = memoryview(place).cast("B")
    while view.nbytes:
        count = link.recv_into(view)
        if count == 0:
            raise ConnectionError("the other side has closed the connection")
        view = view[count:]


def unpack(kind: struct.Struct, link: socket.socket) -> tuple[Any, ...]:
    place = bytearray(kind.size)
    receive(link, place)
    return kind.unpack(place)


# ---- The hub ---------------------------------------------------------------------------------------------------------

class Hub:
    """Where the ranks of one attempt meet. A thread serves them."""

    def __init__(self, host: str, ranks: int, wait: float) -> None:
        self.ranks, self.wait, self.token = ranks, wait, secrets.token_bytes(16)
        self.listener = socket.create_server((host, 0), backlog=ranks)
        self.address = self.listener.getsockname()[:2]
        self.links: dict[int, socket.socket] = {}
        self.began = 0
        self.closed = False
        self.thread = threading.Thread(target=self._serve, name="asterism hub", daemon=True)

    def __enter__(self) -> Hub:
        self.thread.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()
        self.thread.join()

    def close(self) -> None:
        """Cuts off all ranks. A forked child may have copies of a socket: shutting it down reaches the other side all the same."""
        self.closed = True
        for link in (self.listener, *list(self.links.values())):
            with contextlib.suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)
            link.close()

    def _serve(self) -> None:
        try:
            self._welcome()
            links = [self.links[rank] for rank in range(self.ranks)]
            while self._exchange(links):
                pass
        except (OSError, EOFError):
            self.close()  # the attempt is over

    def _welcome(self) -> None:
        """Waits for all ranks, and tells each how many of them are on its machine."""
        machines, end = {}, time.monotonic() + self.wait
        while len(self.links) < self.ranks:
            self.listener.settimeout(max(end - time.monotonic(), 0.001))
            link, _ = self.listener.accept()
            link.settimeout(10)
            with contextlib.suppress(OSError):
                token, rank, machine = unpack(HELLO, link)
                if secrets.compare_digest(token, self.token):
                    if rank in self.links:
                        raise EOFError("a rank was begun again: its process was lost")
                    prepare(link)
                    self.links[rank], machines[rank] = link, machine
                    self.began = len(self.links)
                    continue
            link.close()  # a stranger
        for rank, link in self.links.items():
            link.sendall(struct.pack("<I", sum(other == machines[rank] for other in machines.values())))

    def _exchange(self, links: list[socket.socket]) -> bool:
        """One call of all ranks; False after the last."""
        calls = [unpack(CALL, link) for link in links]
        origin, size = calls[0]
        if any(call != calls[0] for call in calls):
            raise EOFError("the ranks are not at the same place")
        if origin == END:
            return False
        place = bytearray(size)
        if origin == SUM:
            total, own = np.zeros(size // 8, np.uint64), np.frombuffer(place, np.uint64)
            for link in links:
                receive(link, place)
                total += own
            place = total.data.cast("B")
        else:
            receive(links[origin], place)
        for rank, link in enumerate(links):
            if rank != origin:
                link.sendall(place)
        return True


def prepare(link: socket.socket) -> None:
    link.settimeout(None)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if link.family in (socket.AF_INET, socket.AF_INET6):
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def own_address(other: str | None) -> str:
    """The address under which the machine `other` (None: some machine of the network) reaches this one."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((other or "192.0.2.1", 9))  # nothing is sent
        return str(probe.getsockname()[0])
    return "127.0.0.1"


# ---- A rank ----------------------------------------------------------------------------------------------------------

class Seat:
    """The place of one rank at the hub."""

    def __init__(self, address: tuple[str, int], token: bytes, rank: int, ranks: int) -> None:
        self.rank, self.ranks = rank, ranks
        try:
            self.link = socket.create_connection(address, timeout=30)
            prepare(self.link)
            self.link.sendall(HELLO.pack(token, rank, socket.gethostname().encode()[:64]))
        except OSError as error:
            raise RankLost(f"the hub at {address[0]} port {address[1]} does not answer: {error}") from None

    def threads(self) -> int:
        """The processors of this machine that are this rank's. Returns when all ranks are there."""
        try:
            near, = unpack(struct.Struct("<I"), self.link)
        except OSError as error:
            raise RankLost(f"the other processes of the clustering did not come: {error}") from None
        return max(1, len(os.sched_getaffinity(0)) // int(near))

    @contextlib.contextmanager
    def joined(self, context: Any) -> Iterator[None]:
        """The context is this rank within the block. The functions cannot fail: they end the process."""
        parent = os.getppid()

        def call(origin: int, address: int, size: int) -> None:
            try:
                if os.getppid() != parent:
                    os._exit(LOST)  # nobody is left who wants the result
                place = (ctypes.c_char * size).from_address(address)
                self.link.sendall(CALL.pack(origin, size))
                if origin in (SUM, self.rank):
                    self.link.sendall(place)
                if origin != self.rank:
                    receive(self.link, place)
            except BaseException:
                os._exit(LOST)

        total = FUNCTION_SUM(lambda data, values, count: call(SUM, values, 8 * count))
        share = FUNCTION_BROADCAST(lambda data, values, size, origin: call(origin, values, size))
        comm = sized("ast_comm", rank=self.rank, ranks=self.ranks, sum=ctypes.cast(total, ctypes.c_void_p),
                     broadcast=ctypes.cast(share, ctypes.c_void_p))
        context.check(lib.ast_join(context.handle, ctypes.byref(comm)))
        try:
            yield
            self.link.sendall(CALL.pack(END, 0))
        finally:
            lib.ast_join(context.handle, None)


FUNCTION_SUM = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
FUNCTION_BROADCAST = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


def in_child(seat: Seat, work: Callable[[], Any]) -> Any:
    """What `work` returns or raises in a forked child, which may end at any time: then RankLost."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        close_all_but(seat.link.fileno(), writing)
        answer_and_exit(writing, work)
    os.close(writing)
    seat.link.close()  # it is the child's
    with open(reading, "rb") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    if status != 0 or not answer:
        raise RankLost(f"rank {seat.rank} of the clustering has ended: another one was lost")
    found, error = pickle.loads(answer)
    if error is not None:
        raise error
    return found


def close_all_but(*files: int) -> None:
    """The parent's connections: whoever is at their other end shall notice when the parent dies."""
    first = 3
    for file in sorted(files):
        os.closerange(first, file)
        first = file + 1
    os.closerange(first, os.sysconf("SC_OPEN_MAX"))


def answer_and_exit(writing: int, work: Callable[[], Any]) -> None:
    try:
        try:
            answer = pickle.dumps((work(), None), protocol=5)
        except Exception as error:
            answer = pickle.dumps((None, error), protocol=5)
        with open(writing, "wb") as pipe:
            pipe.write(answer)
        os._exit(0)
    finally:
        os._exit(LOST)
