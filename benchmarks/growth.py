"""How time and memory of each linear form grow with the length: 4096, 16,384 and 65,537 tokens (65,536 where blocks divide).

Four heads of 64 in f32 on one thread. Every (form, length) runs in a process of its own: seconds are processor time, the median
of --runs runs; memory is the growth of the process's largest resident size over what it was before the tensors and the
library were made, the inputs and outputs included. Every run starts with cold caches. `ratio` is the growth over that of n: 1 is linear. Prints a Markdown table.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import yaml

SOURCE = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(SOURCE / "utils" / "python"), str(SOURCE / "benchmarks" / "demo")]

# pylint: disable=wrong-import-position
from measure import draw, reset_peak, resident
from mechanisms import Mechanism, arrays_of
from library import opened

LENGTHS = [4096, 16384, 65537]
MOST = 1.1
# Written between runs, so that none finds its tensors in a cache: those of 4096 tokens would fit.
OTHER_BYTES = 2 ** 28


def kernel(feature_map, **more):
    return {"mechanism": {"kind": "kernel", "feature_map": feature_map, **more}}


FAVOR = {"kind": "favor", "features": 128}
CAUSAL = {"causal": True}
FORMS = {
    "elu1": kernel({"kind": "elu1"}),
    "elu1_causal": kernel({"kind": "elu1"}) | CAUSAL,
    "relu": kernel({"kind": "relu"}),
    "cosformer": kernel({"kind": "cosformer", "max_position": 65537}),
    "cosformer_causal": kernel({"kind": "cosformer", "max_position": 65537}) | CAUSAL,
    "focused_lepe": kernel({"kind": "focused"}, lepe={}),
    "favor": kernel(FAVOR),
    "favor_causal": kernel(FAVOR) | CAUSAL,
    "favor_epsilon": kernel(FAVOR | {"epsilon": 1e-4, "stabilizer": "max"}),
    "favor_relu": kernel({"kind": "favor_relu", "features": 128}),
    "polysketch": {"qk_norm": {}, "mechanism": {"kind": "polysketch", "degree": 4, "size": 16}},
    "polysketch_causal": {"qk_norm": {}, "mechanism": {"kind": "polysketch", "degree": 4, "size": 16}} | CAUSAL,
    "polysketch_local": {"qk_norm": {}, "mechanism": {"kind": "polysketch", "degree": 4, "size": 16, "local_exact": 64}} | CAUSAL,
    "effatt": {"mechanism": {"kind": "effatt"}},
    "elfatt": {"parts": [
        {"heads": 2, "mechanism": {"kind": "effatt", "lepe": {"grid": [64, 64]}}},
        {"heads": 2, "mechanism": {"kind": "softmax", "window": {"grid": [64, 64], "size": [8, 8]}, "lepe": {}}}]},
    "window": {"mechanism": {"kind": "softmax", "window": {"length": 64}}},
    "agent": {"mechanism": {"kind": "agent", "agents": 64}},
    "linformer": {"mechanism": {"kind": "softmax", "low_rank": {"rank": 128}}},
    "flurka": kernel(FAVOR, low_rank={"rank": 128}),
    "flurka_rnn": kernel({"kind": "elu1"}, low_rank={"rank": 128}),
    "flurka_naive": kernel({"kind": "elu1"}, low_rank={"rank": 128, "order": "after_map"}, denominator="none"),
    "flurka_eva": {"mechanism": {"kind": "eva", "window": {"length": 16}, "chunk": 8, "low_rank": {"rank": 128}}},
    "layer": kernel({"kind": "elu1"}) | {"projection": {"model_dim": 64}, "rope": {}, "qk_norm": {}} | CAUSAL,
}
# Their windows, agents or slots must divide the length.
DIVIDED = {"polysketch_local", "elfatt", "window", "agent", "flurka_eva"}


def child(folder, name, n, runs):
    """Prints what one process measured. The parameters lie in `drawn` of the folder."""
    before = resident("VmRSS")
    with opened(folder, name, "f32", threads=1) as library:
        if library.parameters:
            library.prepare(arrays_of(folder / f"drawn-{n}"))
        reset_peak()
        inputs = draw(library, n)
        output, result = library.output(**inputs)
        run, workspace = library.runner(**inputs, **{output: result})
        run()
        memory = resident("VmHWM") - before
        times, other = [], np.ones(OTHER_BYTES, np.uint8)
        for _ in range(runs):
            other += 1
            start = time.process_time()
            run()
            times.append(time.process_time() - start)
        print(json.dumps({"seconds": statistics.median(times), "memory": memory, "workspace": workspace}))


def measure(args, mechanism, n):
    _, folder = mechanism.files(n)
    mechanism.drawn(n)
    command = [sys.executable, __file__, "--child", folder, mechanism.name, str(n), "--runs", str(args.runs)]
    said = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout
    return json.loads(said)


def mechanism_of(args, name, folder):
    spec = folder / f"{name}.yaml"
    fields = {"attention": name, "dtype": "f32", "batch": "?", "queries": "?", "heads": 4, "head_dim": 64} | FORMS[name]
    spec.write_text(f"# {name}:\n" + yaml.safe_dump(fields, sort_keys=False), encoding="utf-8")
    return Mechanism(args.attnc, spec, folder)


def row(args, name, folder):
    """The cells of a form, and whether it grows no faster than MOST allows."""
    mechanism = mechanism_of(args, name, folder)
    lengths = [n - n % 2 if name in DIVIDED else n for n in LENGTHS]
    lines = [measure(args, mechanism, n) for n in lengths]
    def ratio(key, i):
        return lines[i][key] / lines[i - 1][key] / (lengths[i] / lengths[i - 1])
    times, memory = [ratio("seconds", i) for i in (1, 2)], [ratio("memory", i) for i in (1, 2)]
    cells = [name, *(f"{line['seconds'] * 1e3:.2f}" for line in lines), *(f"{r:.2f}" for r in times),
             *(f"{line['memory'] / 2**20:.1f}" for line in lines), *(f"{r:.2f}" for r in memory),
             *(f"{line['workspace'] / 1024:.0f}" for line in lines)]
    return cells, max(times + memory) <= MOST


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("forms", nargs="*", default=list(FORMS), help="default: all")
    parser.add_argument("--attnc", default=SOURCE / "build" / "bin" / "attnc")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        child(pathlib.Path(args.child[0]), args.child[1], int(args.child[2]), args.runs)
        return
    heads = ["form", "ms, 4k", "16k", "65k", "ratio", "ratio", "MiB, 4k", "16k", "65k", "ratio", "ratio", "workspace KiB, 4k", "16k", "65k"]
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    above = []
    for name in args.forms:
        with tempfile.TemporaryDirectory() as folder:
            cells, linear = row(args, name, pathlib.Path(folder))
        above += [] if linear else [name]
        print("| " + " | ".join(cells) + " |", flush=True)
    print(f"\nabove {MOST} times the growth of n: {', '.join(above) or 'none'}")


main()
