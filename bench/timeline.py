#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a timeline of asterism-bench --trace shows: shares of the time per kind and thread, and what more threads would
gain.

    build/release/bench/asterism-bench W1 --trace trace.json
    /usr/bin/python3 bench/timeline.py trace.json

The simulation takes the jobs of a run on one thread. Blocks go to the threads in order, a chunk commits after the chunk
before it, and what lies between two jobs stays on one thread. It assumes that memory keeps up with all threads, that
they are not interrupted, and that a worker takes part WAKE microseconds after a job began."""
import argparse
import collections
import heapq
import json
import sys

KINDS = ("score", "commit", "sums", "block", "wait for the turn", "wake-up", "tail")
COUNTS = (2, 4, 8, 16, 32, 64)


def read(path):
    """(name, {thread: spans in the order of their beginning}) of each run; a span is (begin, end, kind, number, faults)"""
    names, runs = {}, collections.OrderedDict()
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    for e in events:
        if e["ph"] == "M":
            names[e["pid"]] = e["args"]["name"]
            runs[e["pid"]] = {}
        else:
            span = (e["ts"], e["ts"] + e["dur"], e["name"], e["args"]["number"], e["args"]["faults"])
            runs[e["pid"]].setdefault(e["tid"], []).append(span)
    for threads in runs.values():
        for spans in threads.values():
            spans.sort(key=lambda s: (s[0], -s[1]))
    return [(names[pid], threads) for pid, threads in runs.items()]


def own_times(spans):
    """The microseconds of each kind, without the spans within."""
    own, stack = collections.Counter(), []
    for begin, end, kind, _, _ in spans:
        if kind == "wake-up":  # it began on another thread
            own[kind] += end - begin
            continue
        while stack and stack[-1][0] <= begin:
            stack.pop()
        if stack:
            own[stack[-1][1]] -= end - begin
        own[kind] += end - begin
        stack.append((end, kind))
    return own


def jobs_of(spans):
    """The jobs in order: (begin, end, [(score, commit or None, rest) of each block])."""
    jobs = []
    for begin, end, kind, _, _ in spans:
        if kind == "job":
            jobs.append((begin, end, []))
        elif kind == "block":
            jobs[-1][2].append([end - begin, None, 0.0])
        elif kind in ("commit", "sums") and jobs and jobs[-1][2] and begin < jobs[-1][1]:
            block = jobs[-1][2][-1]
            block[0] -= end - begin
            if kind == "commit":
                block[1] = end - begin
            else:
                block[2] += end - begin
    return jobs


def simulate_job(blocks, threads, wake):
    free = [0.0] + [wake] * (threads - 1)
    heapq.heapify(free)
    committed, last = 0.0, 0.0
    for score, commit, rest in blocks:
        end = heapq.heappop(free) + score
        if commit is not None:
            committed = end = max(end, committed) + commit
        end += rest
        last = max(last, end)
        heapq.heappush(free, end)
    return last


def simulate(spans, threads, wake):
    call = [s for s in spans if s[2] == "call"][0]
    jobs = jobs_of(spans)
    serial = call[1] - call[0] - sum(end - begin for begin, end, _ in jobs)
    return serial + sum(simulate_job(blocks, threads, wake) if len(blocks) > 1 else end - begin
                        for begin, end, blocks in jobs)


def print_shares(name, threads):
    call = [s for s in threads[0] if s[2] == "call"][0]
    length = call[1] - call[0]
    faults = sum(s[4] for spans in threads.values() for s in spans if s[2] in ("call", "block") and
                 (s[2] == "call" or spans is not threads[0]))
    print(f"{name}: {length / 1e3:.3f} ms, {faults} page faults")
    for thread, spans in sorted(threads.items()):
        own = own_times(spans)
        busy = sum(own[k] for k in ("score", "commit", "sums", "block"))
        shares = ", ".join(f"{k} {100 * own[k] / length:.1f}%" for k in KINDS if own[k] > 0.0005 * length)
        other = own["call"] + own["pass"] + own["load"] + own["update"] + own["job"]
        outside = f"; outside of jobs: load {100 * own['load'] / length:.1f}%, pass {100 * own['pass'] / length:.1f}%, " \
                  f"update {100 * own['update'] / length:.1f}%, other {100 * own['call'] / length:.1f}%" \
            if thread == 0 and other else ""
        print(f"  thread {thread}: works {100 * busy / length:.1f}%: {shares}{outside}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace")
    parser.add_argument("--wake", type=float, default=3, help="microseconds until a worker takes part (default 3)")
    given = parser.parse_args()
    runs = read(given.trace)
    for name, threads in runs:
        print_shares(name, threads)
    single = [(name, threads[0]) for name, threads in runs if name.endswith(", 1 thread")]
    if not single:
        sys.exit("no run on one thread: there is nothing to simulate with")
    print("\nsimulated speed-up" + "".join(f"{n:>8}" for n in COUNTS) + "   outside of jobs")
    for name, spans in single:
        call = [s for s in spans if s[2] == "call"][0]
        length = call[1] - call[0]
        outside = length - sum(s[1] - s[0] for s in spans if s[2] == "job")
        speeds = "".join(f"{length / simulate(spans, n, given.wake):8.2f}" for n in COUNTS)
        print(f"{name[:-10]:>30}{speeds}   {100 * outside / length:.1f}%")


if __name__ == "__main__":
    main()
