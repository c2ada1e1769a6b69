#!/usr/bin/env python3
"""Is the plan that is taken the fastest one? Every plan of 12 specs, measured beside its price.

  benchmarks/plans.py [SPEC…] [--lengths 128 1024 …] [--threads 1 2] [--quick] [--report]

Each point (spec, n, threads) is one call of `attnc bench --plans`: the cheapest plans by price, at most 12, compiled and
run in turn in one process. What was measured is kept in benchmarks/results/plans.json, point by point: a call goes on where
the last one ended, and `--again` measures anew. `--report` writes plans.md beside it from the measurements and from the
prices of the attnc at hand. Needs attnc (--attnc). Medians of rounds; one thread is timed by processor time, two by the
wall clock, without the rounds in which a thread had to wait for a processor.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import plans_report

HERE = pathlib.Path(__file__).resolve().parent
RESULTS = HERE / "results"
LENGTHS = [128, 1024, 4096, 16384]


def kernel(feature_map, more=""):
    return f"mechanism: {{kind: kernel, feature_map: {feature_map}{more}}}\n"


ELU, FAVOR, RELU = "{kind: elu1}", "{kind: favor, features: %d}", "{kind: favor_relu, features: 256}"
CAUSAL = "causal: true\n"

# Heads, the rest of the spec. Quadratic plans of 16k tokens with more heads would take longer than a point may.
SPECS = {
    "elu1": (2, kernel(ELU)),
    "elu1_causal": (2, CAUSAL + kernel(ELU)),
    "elu1_gqa": (4, "kv_heads: 1\n" + CAUSAL + kernel(ELU)),
    "cosformer": (2, kernel("{kind: cosformer, max_position: %(n)d}")),
    "focused": (2, kernel("{kind: focused}")),
    "favor_causal": (2, CAUSAL + kernel(FAVOR % 128)),
    "favor_relu_gqa": (4, "kv_heads: 2\n" + CAUSAL + kernel(RELU)),
    "polysketch_causal": (2, "qk_norm: {}\n" + CAUSAL + "mechanism: {kind: polysketch, degree: 4, size: 16}\n"),
    "favor_layer": (2, "projection: {model_dim: 128}\n" + kernel(FAVOR % 64)),
    "linformer_layer": (4, "projection: {model_dim: 256}\nmechanism: {kind: softmax, low_rank: {rank: 64}}\n"),
    "flurka_layer": (4, "projection: {model_dim: 256}\n" + kernel(FAVOR % 64, ", low_rank: {rank: 64}")),
    "parts": (4, CAUSAL + f"parts:\n  - {{heads: 2, {kernel(ELU).strip()}}}\n"
                          f"  - {{heads: 2, {kernel(FAVOR % 256).strip()}}}\n"),
}


def spec_of(name, n):
    heads, rest = SPECS[name]
    return (f"attention: {name}\ndtype: f32\nbatch: 1\nqueries: {n}\nheads: {heads}\nhead_dim: 64\n"
            + rest.replace("%(n)d", str(n)))


def attnc(args, command, spec, *more):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(spec)
        file.flush()
        call = [args.attnc, command, file.name, "--json", *map(str, more)]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, call))}: {done.stderr}")
    return json.loads(done.stdout)


def device_options(args):
    return ["--device", args.device] if args.device else []


def priced(args, name, n, threads):
    """Seconds of each plan by its forms, the plan that is taken first."""
    function = attnc(args, "explain", spec_of(name, n), "--threads", threads, *device_options(args))["functions"][0]
    plans = {function["forms"]: function["seconds"]}
    return plans | {plan["forms"]: plan["seconds"] for plan in function["rejected"]}


def measured(args, name, n, threads):
    start = time.time()
    table = attnc(args, "bench", spec_of(name, n), "--threads", threads, "--plans", 12, *device_options(args))[0]
    return {"spec": name, "n": n, "threads": threads, "took": round(time.time() - start, 1), "priced": table["priced"],
            "plans": {plan["forms"]: plan["median_seconds"] for plan in table["plans"]}}


def points_of(args):
    return [(name, n, threads) for threads in args.threads for name in args.specs for n in args.lengths]


def measure_all(args, store):
    for name, n, threads in points_of(args):
        key = f"{name} {n} {threads}"
        if key in store and not args.again:
            continue
        store[key] = measured(args, name, n, threads)
        args.store.write_text(json.dumps(store, indent=1) + "\n", encoding="utf-8")
        best = min(store[key]["plans"].values())
        taken = next(iter(store[key]["plans"].values()))
        print(f"{name:20} n = {n:<6} threads {threads}  {taken * 1e3:9.3f} ms, {taken / best:.2f} of the best of "
              f"{len(store[key]['plans'])}  ({store[key]['took']} s)", file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("specs", nargs="*", default=list(SPECS), metavar="SPEC", help="default: all of them")
    parser.add_argument("--lengths", type=int, nargs="*", default=LENGTHS)
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--device", help="as of attnc: prices plans; default the usual one of a CPU")
    parser.add_argument("--attnc", default=HERE.parent / "build" / "bin" / "attnc")
    parser.add_argument("--store", type=pathlib.Path, default=RESULTS / "plans.json")
    parser.add_argument("--again", action="store_true", help="measure again what has been measured")
    parser.add_argument("--quick", action="store_true", help="128 and 1024 tokens, one thread")
    parser.add_argument("--report", action="store_true", help="measure nothing; write the tables")
    args = parser.parse_args()
    if args.quick:
        args.lengths, args.threads = LENGTHS[:2], [1]
    for name in args.specs:
        if name not in SPECS:
            raise SystemExit(f"expected one of {', '.join(SPECS)}, but got {name}")
    store = json.loads(args.store.read_text(encoding="utf-8")) if args.store.exists() else {}
    if not args.report:
        measure_all(args, store)
    chosen = [store[key] for key in (f"{a} {b} {c}" for a, b, c in points_of(args)) if key in store]
    rows = [plans_report.Row(point, priced(args, point["spec"], point["n"], point["threads"])) for point in chosen]
    text = plans_report.text_of(rows, args)
    print(text)
    if args.report:
        args.store.with_suffix(".md").write_text(text, encoding="utf-8")


main()
