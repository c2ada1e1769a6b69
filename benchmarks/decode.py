#!/usr/bin/env python3
"""One token at a time on a CPU: states in every level of the memory, and exact attention over a cache of keys.

  benchmarks/decode.py [--only REGEX] [--seconds 2]

Needs attnc and `ninja -C build attune-bench-limits`. Libraries are called by a loop in C, by turns with what bounds them; medians of
rounds. A step of a state reads and writes it once: the limit is a pass over as many bytes that multiplies them in place, compiled with
-O3 -march=native. Exact attention reads the cache: the limit is the rate at which as many threads read so many bytes.
"""

import argparse
import ctypes
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
from cpu_measure import at_line
from gated import spread
from gated_peers import compiled_c, pointer
from library import Library

TURN = 2e-2  # seconds, of so many calls as fill it: a processor that has just begun a turn is slow for milliseconds
KEYS = 65536


class Call:
    """A library on some tensors, called by a loop in C."""

    def __init__(self, fields, given, args, limits, threads=1):
        text = yaml.safe_dump(fields, sort_keys=False)
        folder = args.work / f"{fields['attention']}_{abs(hash(text)) % 10 ** 8}_{threads}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "spec.yaml").write_text(text, encoding="utf-8")
        subprocess.run([args.attnc, "compile", folder / "spec.yaml", "--threads", str(threads), "-o", folder / f"lib{fields['attention']}.so"],
                       check=True, capture_output=True)
        self.library = Library(folder, fields["attention"], "f32", threads=threads)
        given = {name: at_line(array) for name, array in given.items()}
        final = {f"final_{name}": array for name, array in given.items() if name.startswith("state_")}
        outputs = {name: at_line(array) for name, array in self.library.outputs(**given).items()}
        self.arrays = {**outputs, **given, **final}
        self.bound = self.library.bind(**self.arrays)
        self.bytes = self.library.workspace_bytes(self.bound)
        self.kept, self.start = self.library.memory.workspace(self.bytes)
        self.repeat = limits.library.attune_repeat
        self.function = ctypes.cast(self.library.functions["run"], ctypes.c_void_p)

    def __call__(self, count):
        if self.repeat(self.function, self.library.handle, ctypes.byref(self.bound), self.start, self.bytes, count):
            raise SystemExit(self.library.functions["message"]().decode())

    def close(self):
        self.library.close()


#===----------------------------------------------------------------------------------------------------------------===#
# States
#===----------------------------------------------------------------------------------------------------------------===#


def state_row(gates, d, heads, batch):
    """(spec, tensors): a step of one token in place."""
    mechanism = {"kind": "kernel", "feature_map": {"kind": "identity"}, "denominator": "none", **gates}
    fields = {"attention": "step", "dtype": "f32", "batch": "?", "queries": "?", "heads": heads, "head_dim": d, "causal": True,
              "state": {"initial": True, "final": True}, "mechanism": mechanism}
    rng = np.random.default_rng(0)
    given = {name: rng.standard_normal((batch, heads, 1, d), np.float32) for name in "qkv"}
    given["k"] /= np.linalg.norm(given["k"], axis=-1, keepdims=True)
    given["state_s"] = np.zeros((batch, heads, d, d), np.float32)
    given["state_position"] = np.zeros(batch, np.int32)
    if "decay" in gates:
        given["g"] = np.full((batch, heads, 1) + ((d,) if gates["decay"]["per"] == "channel" else ()), -0.05, np.float32)
    if "erase" in gates:
        given["beta"] = np.full((batch, heads, 1), 0.5, np.float32)
    return fields, given


GATES = {"plain": {}, "decay": {"decay": {"per": "token"}}, "gated_delta": {"decay": {"per": "token"}, "erase": {"per": "token"}},
         "kda": {"decay": {"per": "channel"}, "erase": {"per": "token"}}}
# Level, heads, batch, by the bytes of all states with d = 64.
PLACES = [("L1", 1, 1), ("L2", 8, 4), ("memory", 8, 1024)]


def turns(candidates, seconds, least=5):
    """Wall time of a call of each by turns."""
    repeats, seen = {}, {name: [] for name in candidates}
    for name, call in candidates.items():
        call(1)
        start = time.perf_counter()
        call(2)
        repeats[name] = max(1, round(TURN / ((time.perf_counter() - start) / 2)))
    start = time.perf_counter()
    while len(seen[name]) < least or time.perf_counter() - start < seconds:
        for name, call in candidates.items():
            call(1 + repeats[name] // 2)
            begin = time.perf_counter()
            call(repeats[name])
            seen[name].append((time.perf_counter() - begin) / repeats[name])
    return seen


def states(args, limits):
    print("| | d | states | KiB | µs a call | a pass, µs | of the pass's rate | beyond it, µs |\n|---|---|---|---|---|---|---|---|")
    for kind, gates in GATES.items():
        for d in (64, 128):
            for level, heads, batch in PLACES:
                batch = max(1, batch * 64 * 64 // (d * d))
                name = f"state_{kind}_{d}_{level}"
                if not re.search(args.only, name):
                    continue
                call = Call(*state_row(gates, d, heads, batch), args, limits)
                state = call.arrays["state_s"].copy()
                library = compiled_c(args.work, d)
                run = lambda count: library["pass"](ctypes.c_long(count), ctypes.c_long(state.size), pointer(state), ctypes.c_float(1.0))
                seen = turns({"ours": call, "pass": run}, args.seconds)
                ours, least = (statistics.median(seen[each]) for each in ("ours", "pass"))
                print(f"| {kind} | {d} | {heads * batch} in {level} | {state.nbytes / 1024:.0f} | {1e6 * ours:.2f} ({spread(seen['ours']):.0%}) | "
                      f"{1e6 * least:.2f} ({spread(seen['pass']):.0%}) | **{least / ours:.2f}** | {1e6 * (ours - least):.2f} |", flush=True)
                call.close()


#===----------------------------------------------------------------------------------------------------------------===#
# Exact attention over a cache
#===----------------------------------------------------------------------------------------------------------------===#


def cache_row(queries, heads, shared, d, keys=KEYS):
    fields = {"attention": "cache", "dtype": "f32", "batch": 1, "queries": queries, "keys": keys, "heads": heads, "kv_heads": shared,
              "head_dim": d, "causal": True, "mechanism": {"kind": "softmax"}}
    rng = np.random.default_rng(0)
    given = {"q": rng.standard_normal((1, heads, queries, d), np.float32)}
    given |= {name: rng.standard_normal((1, shared, keys, d), np.float32) for name in "kv"}
    return fields, given


CACHES = [(1, 1, 1, 64), (1, 8, 8, 64), (1, 8, 2, 64), (4, 8, 2, 64), (16, 8, 2, 64), (1, 8, 2, 128)]


def caches(args, limits_of):
    print(f"\n| {KEYS} keys: queries | heads, of keys | d | MiB | one thread, ms | of reading | two threads, ms | of reading | one over two |")
    print("|---|---|---|---|---|---|---|---|---|")
    for queries, heads, shared, d in CACHES:
        if not re.search(args.only, f"cache_{queries}_{heads}_{shared}_{d}"):
            continue
        fields, given = cache_row(queries, heads, shared, d)
        total = given["k"].nbytes + given["v"].nbytes
        calls = {f"{threads}": Call(fields, given, args, limits_of[1], threads) for threads in (1, 2)}
        read = {threads: limits_of[threads] for threads in (1, 2)}
        rates = {1: [], 2: []}

        def probe(threads):
            return lambda count: rates[threads].append(read[threads].rate(cpu_machine.READ, total, 0.02))
        seen = turns({"1": calls["1"], "read 1": probe(1), "2": calls["2"], "read 2": probe(2)}, args.seconds)
        one, two = (statistics.median(seen[each]) for each in "12")
        part = {threads: total / statistics.median(rates[threads]) / ours for threads, ours in ((1, one), (2, two))}
        print(f"| {queries} | {heads}, {shared} | {d} | {total >> 20} | {1e3 * one:.2f} ({spread(seen['1']):.0%}) | **{part[1]:.2f}** | "
              f"{1e3 * two:.2f} ({spread(seen['2']):.0%}) | {part[2]:.2f} | **{one / two:.2f}** |", flush=True)
        for call in calls.values():
            call.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="rows whose name this regular expression finds: state_KIND_D_LEVEL, cache_N_H_G_D")
    parser.add_argument("--seconds", type=float, default=2, help="of turns for each row")
    parser.add_argument("--attnc", type=pathlib.Path, default=HERE.parent / "build" / "bin" / "attnc")
    parser.add_argument("--limits", type=pathlib.Path, default=HERE.parent / "build" / "lib" / "libattune-bench-limits.so")
    parser.add_argument("--work", type=pathlib.Path, default=HERE.parent / "build" / "gated-bench", help="folder of libraries")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    processors = sorted(os.sched_getaffinity(0))[:2]
    limits = {threads: cpu_machine.Limits(args.limits, processors[:threads]) for threads in (1, 2)}
    print(f"{cpu_machine.processor_line('model name')}, commit {cpu_machine.commit(HERE.parent)}\n")
    states(args, limits[1])
    caches(args, limits)


if __name__ == "__main__":
    main()
