#!/usr/bin/env python3
"""The speed of every mechanism beside exact softmax: one head size, one thread, by `attnc bench`.

  benchmarks/mechanisms.py [--tokens 4096] [--threads 1] [--only NAME…]

Needs attnc on the path. The fraction is of the f32 multiply-add peak measured in the same process; operations are the
closed-form minimum of the function (docs/Costs.md), never what the plan happened to execute.
"""

import argparse
import math
import pathlib
import platform
import subprocess
import tempfile

KERNEL = {
    "elu1": "{kind: elu1}",
    "relu": "{kind: relu}",
    "cosformer": "{kind: cosformer, max_position: %(n)d}",
    "focused": "{kind: focused}",
    "favor_256": "{kind: favor, features: 256}",
    "favor_relu_256": "{kind: favor_relu, features: 256}",
}

MECHANISMS = {
    "softmax": "{kind: softmax}",
    "softmax_window_128": "{kind: softmax, window: {length: 128}}",
    "softmax_window_8x8": "{kind: softmax, window: {grid: [%(side)d, %(side)d], size: [8, 8]}}",
    "linformer_256": "{kind: softmax, low_rank: {rank: 256}}",
    **{name: "{kind: kernel, feature_map: %s}" % feature_map for name, feature_map in KERNEL.items()},
    "flurka_favor": "{kind: kernel, feature_map: %s, low_rank: {rank: 256}}" % KERNEL["favor_256"],
    "polynomial_4": "{kind: polynomial, degree: 4}",
    "polysketch_4_32": "{kind: polysketch, degree: 4, size: 32}",
    "effatt": "{kind: effatt}",
    "effatt_lepe": "{kind: effatt, lepe: {grid: [%(side)d, %(side)d]}}",
    "elfatt_local_lepe": "{kind: softmax, window: {grid: [%(side)d, %(side)d], size: [8, 8]}, lepe: {}}",
    "eva_64_128": "{kind: eva, chunk: 64, window: {length: 128}}",
    "agent_64": "{kind: agent, agents: 64}",
}

CAUSAL = {
    "softmax_causal": MECHANISMS["softmax"],
    "elu1_causal": MECHANISMS["elu1"],
    "cosformer_causal": MECHANISMS["cosformer"],
    "favor_256_causal": MECHANISMS["favor_256"],
    "polynomial_4_causal": MECHANISMS["polynomial_4"],
    "polysketch_4_32_causal": MECHANISMS["polysketch_4_32"],
    "polysketch_local_causal": "{kind: polysketch, degree: 4, size: 32, local_exact: 256}",
    "eva_causal": "{kind: eva, chunk: 64, window: {length: 256}}",
}


def spec(name, mechanism, tokens, causal):
    sizes = {"n": tokens, "side": math.isqrt(tokens)}
    return (f"attention: {name}\ndtype: f32\nbatch: 1\nqueries: {tokens}\nheads: 4\nhead_dim: 64\n"
            f"causal: {str(causal).lower()}\nmechanism: {mechanism % sizes}\n")


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tokens", type=int, default=4096, help="a square, for the images")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", nargs="*")
    args = parser.parse_args()
    specs = [(name, text, False) for name, text in MECHANISMS.items()] + [(name, text, True) for name, text in CAUSAL.items()]
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name, text, causal in specs:
            if args.only and name not in args.only:
                continue
            files.append(pathlib.Path(folder) / f"{name}.yaml")
            files[-1].write_text(spec(name, text, args.tokens, causal), encoding="utf-8")
        table = subprocess.run(["attnc", "bench", "--threads", str(args.threads), *map(str, files)], check=True,
                               capture_output=True, text=True).stdout
    version = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    print(f"# Mechanisms: n = {args.tokens}, f32, 4 heads of 64\n")
    print(f"{processor()}, {args.threads} thread(s), commit {version}; `benchmarks/mechanisms.py`.\n")
    print(f"```\n{table.rstrip()}\n```")


if __name__ == "__main__":
    main()
