#!/usr/bin/env python3
"""Linear attention with gates and the delta rule on one core: beside its limit, without gates, and beside other programs.

  benchmarks/gated.py [--only REGEX] [--seconds 3]

Needs attnc and `ninja -C build attune-bench-limits`; PyTorch and onnxruntime where they are to be peers. A point is checked against
the recurrence in float64, then all of it run by turns, one run a turn, with the limit of multiply-adds measured in each round: processor
time of the thread, medians of rounds, and in brackets the half of the distance between the quartiles, as a part of the median.

The limit: multiply-adds that the chunked algorithm needs with chunks of 32 tokens (gated_rows.py) at the rate of fused multiply-adds in
registers.
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

import numpy as np
import yaml

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "utils" / "python")]

# pylint: disable=wrong-import-position
import cpu_machine
from cpu_report import spread
from gated_peers import PEERS, Unavailable, per_token
from gated_rows import rows
from library import Library

LIMIT, PLAIN = "limit", "undecayed"
WARM = 0.1  # seconds: what is shorter runs once before it is timed
CHECKED = 600  # tokens that the recurrence is run for
TOLERANCE = {"attune": 2e-5}
PEER_TOLERANCE = 1e-3


class Compiled:
    """The library of a row, run by a loop in C."""

    def __init__(self, row, given, args, limits):
        folder = args.work / row.name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "spec.yaml").write_text(yaml.safe_dump(row.spec(), sort_keys=False), encoding="utf-8")
        subprocess.run([args.attnc, "compile", folder / "spec.yaml", "--threads", "1", "-o", folder / f"lib{row.kind}.so"], check=True,
                       capture_output=True)
        parameters = {"log_decay": given["decay"]} if row.decay == "head" else {}
        self.library = Library(folder, row.kind, "f32", threads=1, parameters=parameters or None)
        given = {name: array for name, array in given.items() if name != "decay"}
        name, self.result = self.library.output(**given)
        self.once, _ = self.library.runner(**given, **{name: self.result})

    def close(self):
        self.library.close()


def recurrence(row, given):
    """The first tokens by the definition in float64: [heads, tokens, d]."""
    count = min(CHECKED, row.n)
    wide = {name: given[name][0, :, :count].astype(np.float64) for name in "qkv"}
    g, beta = per_token(row, given) if row.decay else None, given.get("beta")
    state, output = np.zeros((row.heads, row.d, row.d)), np.zeros((row.heads, count, row.d))
    for t in range(count):
        q, k, v = (wide[name][:, t] for name in "qkv")
        if row.decay:
            left = np.exp(g[0, :, t].astype(np.float64))
            state *= left[..., None] if row.decay == "channel" else left[:, None, None]
        written = v
        if row.erases:
            written = beta[0, :, t, None] * (v - np.einsum("hi,hij->hj", k, state))
        state += k[:, :, None] * written[:, None, :]
        output[:, t] = row.d ** -0.5 * np.einsum("hi,hij->hj", q, state)
    return output


def error_of(output, expected):
    got = output[:, :expected.shape[1]]
    return float(np.linalg.norm(got - expected) / np.linalg.norm(expected))


def candidates_of(row, args, limits):
    """What is run by turns, and why the rest is not."""
    given = row.inputs()
    expected = recurrence(row, given)
    ours = Compiled(row, given, args, limits)
    found, absent = {"attune": (ours.once, lambda: ours.result[0])}, {}
    for name, make in PEERS.items():
        if not args.peers.search(name):
            continue
        try:
            found[name] = make(row, given, args.work)
        except Unavailable as reason:
            absent[name] = str(reason)
    for name, (run, output) in found.items():
        run()
        error = error_of(output(), expected)
        if not error <= TOLERANCE.get(name, PEER_TOLERANCE):
            raise SystemExit(f"{row.name}: {name} computes something else: error {error:.1e}")
    return ours, {name: run for name, (run, _) in found.items()}, absent


def turn(run):
    start = time.thread_time()
    run()
    return time.thread_time() - start


def measured(row, args, limits, plain):
    """Seconds of each candidate and of the limit, round by round."""
    ours, candidates, absent = candidates_of(row, args, limits)
    if plain is not None:
        candidates[PLAIN] = plain.once
    seen, start, slow = {name: [] for name in (*candidates, LIMIT)}, time.perf_counter(), {}
    while len(seen[LIMIT]) < 5 or time.perf_counter() - start < args.seconds:
        for name, run in candidates.items():
            if slow.get(name, 0) * 5 > args.seconds and len(seen[name]) >= 3:
                continue
            limits.await_whole_cores(0.2)
            if slow.get(name, 0) < WARM:
                run()
            seen[name].append(turn(run))
            slow[name] = seen[name][-1]
        seen[LIMIT].append(row.multiply_adds() / limits.rate(cpu_machine.MULTIPLY_ADDS))
    return ours, seen, absent


def cells(row, seen):
    middle = {name: statistics.median(values) for name, values in seen.items()}
    ours = middle["attune"]
    ratio = lambda name: f"{middle[name] / ours:.2f}" if name in middle and name != row.kind else "–"
    times = [f"{1e3 * middle['attune']:.2f} ({spread(seen['attune']):.0%})", f"{1e3 * middle[LIMIT]:.2f}", f"**{middle[LIMIT] / ours:.2f}**",
             ratio(PLAIN)]
    peers = [f"{middle[name] / ours:.1f} ({spread(seen[name]):.0%})" if name in middle else "–" for name in PEERS]
    return [row.kind, str(row.d), str(row.n), str(row.heads), *times, *peers]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="rows whose name this regular expression finds")
    parser.add_argument("--peers", default="", type=re.compile, help="peers whose name this regular expression finds")
    parser.add_argument("--seconds", type=float, default=3, help="of turns for each row")
    parser.add_argument("--attnc", type=pathlib.Path, default=HERE.parent / "build" / "bin" / "attnc")
    parser.add_argument("--limits", type=pathlib.Path, default=HERE.parent / "build" / "lib" / "libattune-bench-limits.so")
    parser.add_argument("--work", type=pathlib.Path, default=HERE.parent / "build" / "gated-bench", help="folder of libraries")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    processors = cpu_machine.least_busy(1)
    os.sched_setaffinity(0, set(processors))
    limits = cpu_machine.Limits(args.limits, processors)
    print(f"{cpu_machine.processor_line('model name')}, commit {cpu_machine.commit(HERE.parent)}\n")
    print("| | d | n | heads | ms | limit, ms | of the limit | rate beside no gates | C, token by token | PyTorch, compiled | ONNX Runtime |")
    print("|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
    plain, reasons = {}, {}
    for row in rows():
        if not re.search(args.only, row.name) and not row.kind == PLAIN:
            continue
        size = (row.d, row.n)
        if row.kind == PLAIN and not re.search(args.only, row.name):
            given = row.inputs()
            plain = {size: Compiled(row, given, args, limits)}
            continue
        ours, seen, absent = measured(row, args, limits, plain.get(size))
        reasons |= absent
        print("| " + " | ".join(cells(row, seen)) + " |", flush=True)
        if row.kind == PLAIN:
            for other in plain.values():
                other.close()
            plain = {size: ours}
        else:
            ours.close()
    for name, reason in reasons.items():
        print(f"\nNot measured: {name} ({reason}).")


if __name__ == "__main__":
    main()
