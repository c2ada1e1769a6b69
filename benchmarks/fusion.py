#!/usr/bin/env python3
"""Fused or apart: for each alternative that the cost model prices, shapes on both sides of the crossover, both ways measured.

  benchmarks/fusion.py [--threads 2] [--seconds 1] [--only NAME…] > benchmarks/results/fusion.md

Needs attnc on the path. Each row compiles one spec with each way pinned, loads both libraries into this process and runs them
by turns, in batches of at least a millisecond: wall time with --threads threads, or processor time with one. Predictions are those
of `attnc explain` for the host with as many cores.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "utils" / "python"))

# pylint: disable=wrong-import-position
from library import Library
from storage import to_storage
from fusion_rows import ROWS

BATCH_SECONDS = 1e-3


def attnc(*arguments):
    return subprocess.run(["attnc", *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def write(folder, fields, pin):
    """The spec with some forms pinned, as a file in a folder of its own."""
    place = folder / "-".join(pin.values())
    place.mkdir()
    path = place / "spec.yaml"
    path.write_text(yaml.safe_dump({"attention": "fusion", "dtype": "f32", "batch": 1, **fields, "pin": pin}), encoding="utf-8")
    return path


def predicted(spec, device):
    """Seconds of the plan that is taken."""
    said = json.loads(attnc("explain", spec, "--json", *device))
    return said["functions"][0]["seconds"]


def loaded(spec, threads, drawn):
    attnc("compile", spec, "-o", spec.parent / "libfusion.so")
    library = Library(spec.parent, "fusion", "f32", threads=threads,
                      parameters={path.stem: np.load(path) for path in drawn.glob("*.npy")} or None)
    return library


def inputs_of(library):
    """Standard normal inputs; all sizes are known."""
    rng = np.random.default_rng(0)
    return {name: to_storage(rng.standard_normal([int(size) for size in member.sizes], np.float32), member.dtype)
            for name, member in library.tensors.items() if not member.written}


class Way:
    """One way of a row: its library and a run of it on some inputs."""

    def __init__(self, spec, threads, drawn):
        self.library = loaded(spec, threads, drawn)
        self.inputs = inputs_of(self.library)
        name, self.output = self.library.output(**self.inputs)
        self.run, self.workspace = self.library.runner(**self.inputs, **{name: self.output})
        self.run()

    def seconds(self, repeats, clock):
        start = clock()
        for _ in range(repeats):
            self.run()
        return (clock() - start) / repeats


def in_turn(ways, seconds, clock):
    """Seconds of each way, the tenth part of its rounds being faster, and their ratios to the first.

    What else the machine does only adds to a time; the fast rounds have least of it.
    """
    once = max(way.seconds(3, time.perf_counter) for way in ways)
    repeats = max(1, round(BATCH_SECONDS / once))
    rounds, start = [], time.perf_counter()
    while len(rounds) < 5 or time.perf_counter() - start < seconds:
        rounds.append([way.seconds(repeats, clock) for way in ways])
    times = np.quantile(np.array(rounds), 0.1, axis=0)
    return times, times / times[0]


def row(name, fields, law, forms, args, folder):
    """A line of the table: predicted and measured seconds of each form, relative to the first."""
    folder = folder / name
    folder.mkdir()
    specs = [write(folder, fields, {law: form}) for form in forms]
    prices = [predicted(spec, args.device) for spec in specs]
    attnc("init", specs[0], "--out", folder / "drawn")
    ways = [Way(spec, args.threads, folder / "drawn") for spec in specs]
    for way in ways[1:]:
        np.testing.assert_allclose(way.output, ways[0].output, rtol=1e-3, atol=1e-5)
    times, ratios = in_turn(ways, args.seconds, time.process_time if args.threads == 1 else time.perf_counter)
    best = min(range(len(forms)), key=lambda i: prices[i])
    fastest = min(range(len(forms)), key=lambda i: ratios[i])
    verdict = "yes" if best == fastest else f"within {ratios[best] / ratios[fastest] - 1:.0%}"
    for way in ways:
        way.library.close()
    cells = [name, *[f"{1e6 * t:.4g}" for t in times]]
    cells += [f"{prices[1] / prices[0]:.2f}", f"{ratios[1]:.2f}", forms[best], verdict]
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each row")
    parser.add_argument("--device", help="a description to price with")
    parser.add_argument("--only", nargs="*", help="groups of rows")
    args = parser.parse_args()
    args.device = (["--device", args.device] if args.device else []) + ["--threads", args.threads]
    for group, (law, forms, rows) in ROWS.items():
        if args.only and group not in args.only:
            continue
        print(f"\n| {group}, {args.threads} threads | {forms[0]}, µs | {forms[1]}, µs | predicted ratio | measured | the model takes | the faster |")
        print("|---|---|---|---|---|---|---|", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            for name, fields in rows.items():
                print(row(name, fields, law, forms, args, pathlib.Path(folder)), flush=True)


if __name__ == "__main__":
    main()
