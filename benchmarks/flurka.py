#!/usr/bin/env python3
"""FLuRKA beside the two layers that it is made of: predicted by `attnc explain`, measured by `attnc bench --plans`.

  benchmarks/flurka.py [--threads 1] [--attnc PATH] > benchmarks/results/flurka.md

The three layers of equations (6) to (8), whole: projections, attention and output projection, f32, batch 1, elu + 1, E and F
shared by the heads. They run in turn in one process; one thread is timed by its processor time. Shapes are inside and
outside the region in which the claims, as corrected, say that FLuRKA needs the fewest operations (docs/Costs.md).
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

# N, k, H, d, and what is known of the shape.
SHAPES = [
    (4096, 128, 8, 64, "inside"),
    (16384, 256, 8, 64, "inside"),
    (8192, 256, 4, 128, "inside"),
    (5111, 511, 8, 64, "the counterexample to Claims 1 and 3 as printed"),
    (2048, 1024, 8, 64, "outside: k > D"),
    (1024, 32, 8, 64, "outside: k < d"),
]
ELU = "kind: kernel, feature_map: {kind: elu1}"


def layers(tokens, slots, heads, width):
    """The spec of each layer by its name."""
    low_rank = f"low_rank: {{rank: {slots}, tied: false}}"
    mechanisms = {"low_rank": f"kind: softmax, {low_rank}", "kernel": ELU, "flurka": f"{ELU}, {low_rank}"}
    return {name: f"attention: {name}\ndtype: f32\nbatch: 1\nqueries: {tokens}\nheads: {heads}\nhead_dim: {width}\n"
                  f"projection: {{model_dim: {heads * width}}}\nmechanism: {{{mechanism}}}\n"
            for name, mechanism in mechanisms.items()}


def ask(args, command, *words):
    call = [args.attnc, command, *words, "--json", "--threads", args.threads]
    return json.loads(subprocess.run(list(map(str, call)), capture_output=True, text=True, check=True).stdout)


def measure(args, shape):
    """(equations and predicted seconds, measured seconds by layer)."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name, text in layers(*shape).items():
            files.append(pathlib.Path(folder) / f"{name}.yaml")
            files[-1].write_text(text, encoding="utf-8")
        told = ask(args, "explain", files[-1])["flurka_equations"]
        tables = ask(args, "bench", *files, "--plans", 1)
    return told, {table["spec"]: table["plans"][0]["median_seconds"] for table in tables}


NEAR = 1.05  # closer prices are a tie, which no measurement can contradict


def agreement(predicted, seconds):
    """Whether FLuRKA is on the predicted side of each of the others: yes, no, or of which it is too close to tell."""
    close, wrong = [], []
    for name in ("low_rank", "kernel"):
        price, time = predicted[name] / predicted["flurka"], seconds[name] / seconds["flurka"]
        if 1 / NEAR < price < NEAR:
            close.append(name.replace("_", " "))
        elif (price > 1) != (time > 1):
            wrong.append(name.replace("_", " "))
    if wrong:
        return "not over " + " and ".join(wrong)
    return "yes" + (f"; {' and '.join(close)} too close to tell" if close else "")


def row(args, shape, known):
    told, seconds = measure(args, shape)
    predicted = {name: told[f"{name}_seconds"] for name in seconds}
    cells = [*map(str, shape), known]
    for values, scale, form in ((told, 1e9, "{:.2f}"), (predicted, 1e-3, "{:.1f}"), (seconds, 1e-3, "{:.1f}")):
        cells.append(" / ".join(form.format(values[name] / scale) for name in ("low_rank", "kernel", "flurka")))
    cells += [f"{seconds['low_rank'] / seconds['flurka']:.2f}, {seconds['kernel'] / seconds['flurka']:.2f}",
              agreement(predicted, seconds)]
    return cells


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--attnc", default=HERE.parent / "build" / "bin" / "attnc")
    args = parser.parse_args()
    print("# FLuRKA and what it is made of\n")
    print(f"{processor()}, {args.threads} thread(s), priced for `x86-64-avx512`; `benchmarks/flurka.py`. Whole layers, f32, elu + 1, "
          "E and F shared by the heads. Each cell: low rank / kernel / FLuRKA.\n")
    head = ["N", "k", "H", "d", "shape", "(6) / (7) / (8), G multiply-adds", "predicted, ms", "measured, ms",
            "FLuRKA over low rank, over kernel", "on the predicted side"]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for *shape, known in SHAPES:
        print("| " + " | ".join(row(args, shape, known)) + " |", flush=True)


main()
