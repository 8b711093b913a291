# SPDX-License-Identifier: MIT
"""Processes, threads and signals: fork after a fit, many threads at once, Ctrl-C."""
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest

from asterism import DPVMFMeans, SphericalKMeans, _library


def labels_in_child(X):
    return DPVMFMeans(30).fit_predict(X)


def test_a_forked_child_fits_after_its_parent_did(three_ways):
    X = np.tile(three_ways[0], (200, 1))
    expected = DPVMFMeans(30).fit_predict(X)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        results = pool.map_async(labels_in_child, [X] * 6).get(timeout=120)
    for labels in results:
        np.testing.assert_array_equal(labels, expected)
    np.testing.assert_array_equal(DPVMFMeans(30).fit_predict(X), expected)


def test_a_child_forked_during_a_fit_fits(three_ways):
    """The contexts in use, and the lock of the others, are the parent's affair."""
    X = np.tile(three_ways[0], (2000, 1))
    stop = threading.Event()
    threads = [threading.Thread(target=lambda: [DPVMFMeans(20).fit(X) for _ in iter(stop.is_set, True)])
               for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            child = os.fork()
            if child == 0:
                os._exit(0 if (DPVMFMeans(30).fit_predict(three_ways[0]) == three_ways[1]).all() else 1)
            assert wait_for(child) == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def wait_for(child, seconds=60):
    for _ in range(100 * seconds):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "it never came back"


def test_a_child_has_threads_of_its_own(three_ways):
    DPVMFMeans(30, n_threads=2).fit(three_ways[0])
    assert _library.lender.free[2]
    child = os.fork()
    if child == 0:
        os._exit(0 if not _library.lender.free else 1)
    assert wait_for(child) == 0


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_joblib(three_ways, backend):
    X, truth = three_ways
    tasks = (joblib.delayed(DPVMFMeans(30).fit_predict)(X) for _ in range(4))
    for labels in joblib.Parallel(n_jobs=2, backend=backend)(tasks):
        np.testing.assert_array_equal(labels, truth)


def test_threads(three_ways):
    X = np.tile(three_ways[0], (50, 1))
    expected = SphericalKMeans(5, random_state=1).fit_predict(X)
    with ThreadPoolExecutor(8) as pool:
        for labels in pool.map(lambda _: SphericalKMeans(5, random_state=1).fit_predict(X), range(32)):
            np.testing.assert_array_equal(labels, expected)
    assert all(len(idle) <= 4 for idle in _library.lender.free.values())


def test_big_calls_leave_no_memory_behind(three_ways, monkeypatch):
    monkeypatch.setattr(_library, "KEEP_NUMBERS", 100)
    _library.lender.forget()
    DPVMFMeans(30).fit(three_ways[0])
    assert not any(_library.lender.free.values())


def interrupted_fit(model, X, after):
    """Sends SIGINT to this process while it fits; how long it took from there."""
    sent = []

    def send():
        time.sleep(after)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=send)
    sender.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    returned = time.perf_counter()
    sender.join()
    return returned - sent[0]


@pytest.mark.parametrize("model", [SphericalKMeans(300, max_iter=10**6, n_init=1000, random_state=1),
                                   DPVMFMeans(1, max_iter=10**6, n_init=1000, random_state=1)])
def test_ctrl_c_stops_a_fit_that_would_take_for_ever(model):
    X = np.random.RandomState(0).normal(size=(50_000, 3)).astype(np.float32)
    interrupted_fit(model, X, after=0.3)
    assert not hasattr(model, "labels_")
    for _ in range(600):  # the thread that worked ends by itself
        if not any(thread.name == "asterism" for thread in threading.enumerate()):
            break
        time.sleep(0.1)
    assert not any(thread.name == "asterism" for thread in threading.enumerate())
    assert len(DPVMFMeans(90).fit(X[:100]).labels_) == 100


def test_ctrl_c_ends_a_program():
    """While the library is in the middle of a long pass: nothing is waited for, and nothing crashes."""
    program = """if True:
        import os, signal, threading, numpy, asterism
        X = numpy.random.RandomState(0).normal(size=(500_000, 3)).astype(numpy.float32)
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        asterism.DPVMFMeans(0.5).fit(X)
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == -signal.SIGINT
    assert done.stderr.rstrip().endswith("KeyboardInterrupt")


def test_a_failure_in_the_other_thread_is_raised_here(three_ways):
    X = three_ways[0].copy()
    X[0, 0] = np.inf
    with pytest.raises(ValueError, match="infin") as caught:
        DPVMFMeans(30).fit(X)
    assert caught.traceback[-1].name == "check"


def test_outside_the_main_thread_there_is_no_other(three_ways):
    names = []
    X, truth = three_ways

    def watched(call):
        return _library.interruptible(lambda progress: names.append((threading.current_thread().name, progress)))

    thread = threading.Thread(target=watched, args=(None,), name="mine")
    thread.start()
    thread.join()
    assert names == [("mine", None)]
