#!/usr/bin/env python3
"""How near are the prices of CPU plans to what was measured?

  benchmarks/prices.py

Takes the points of benchmarks/results/cpu*.json, of which the plan that is taken is priced for the device of the store, and the
pairs of plans of plans*.json. Nothing is measured. Points of plans whose forms have other names today are left out; so are
places beyond the cheapest 64. Needs attune-bench-prices (--tool).
"""

import argparse
import itertools
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import cpu_goals
import cpu_report
import cpu_rows

RESULTS = pathlib.Path(__file__).resolve().parent / "results"
STORES = {"cpu": "x86-64-avx512", "cpu-emerald-rapids": RESULTS / "emerald-rapids.yaml",
          "cpu-granite-rapids": RESULTS / "granite-rapids.yaml"}
PLANS = {"plans": "x86-64-avx512", "plans-emerald-rapids": RESULTS / "emerald-rapids.yaml"}
APART = 1.05


def prices(tool, spec, device, threads, most):
    """The cheapest plans."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(spec)
        file.flush()
        done = subprocess.run([tool, file.name, str(device), str(threads), str(most)], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def errors_of(tool, store, device):
    """Of each point: whether a rate or constant was fitted to its family, and the error of its price."""
    known = {point.name: point for point in [*cpu_goals.points(), *cpu_rows.grid(all_widths=True), *cpu_rows.quick()]}
    stored = json.loads((RESULTS / f"{store}.json").read_text(encoding="utf-8"))["points"]
    fitted = cpu_report.fitted_to(str(device))
    for name, point in stored.items():
        if name not in known or "failed" in point:
            continue
        measured = statistics.median(point["seconds"]["attune"])
        for plan in prices(tool, json.dumps(known[name].fields), device, known[name].threads, 1):
            yield known[name].family in fitted, abs(plan["seconds"] / measured - 1), name


def pairs_of(tool, store, device, spec_of):
    """Of each pair of plans that measure apart: whether prices order it as it measures."""
    for point in json.loads((RESULTS / f"{store}.json").read_text(encoding="utf-8")).values():
        plans = {plan["forms"]: plan for plan in prices(tool, spec_of(point["spec"], point["n"]), device, point["threads"], 64)
                 if plan["forms"] in point["plans"]}
        for a, b in itertools.combinations(plans, 2):
            fast, slow = sorted((a, b), key=lambda forms: point["plans"][forms])
            if point["plans"][slow] >= APART * point["plans"][fast]:
                yield plans[fast]["seconds"] <= plans[slow]["seconds"]


def spec_of_plans():
    """`spec_of` of plans.py, which runs when it is imported."""
    text = (RESULTS.parent / "plans.py").read_text(encoding="utf-8")
    names = {}
    exec(text[text.index("def kernel("):text.index("def attnc(")], names)  # pylint: disable=exec-used
    return names["spec_of"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=RESULTS.parents[1] / "build" / "bin" / "attune-bench-prices")
    parser.add_argument("--worst", action="store_true", help="name the points with the largest errors, too")
    args = parser.parse_args()
    print("| store | points | held out: median error | worst | all: median error | worst |")
    print("|---|---|---|---|---|---|")
    for store, device in STORES.items():
        rows = list(errors_of(args.tool, store, device))
        held_out = [error for is_fitted, error, _ in rows if not is_fitted]
        every = [error for _, error, _ in rows]
        cells = [f"{how(errors):.3f}" for errors in (held_out, every) for how in (statistics.median, max)]
        print(f"| {store} | {len(held_out)} of {len(rows)} | {' | '.join(cells)} |", flush=True)
        if args.worst:
            worst = sorted(rows, key=lambda row: -row[1])[:6]
            print(", ".join(f"{point} {error:.2f}" for _, error, point in worst), file=sys.stderr)
    print("\n| plans | pairs at least 5 % apart | ordered as measured |\n|---|---|---|")
    for store, device in PLANS.items():
        pairs = list(pairs_of(args.tool, store, device, spec_of_plans()))
        print(f"| {store} | {len(pairs)} | {sum(pairs)} |", flush=True)


main()
