#!/usr/bin/env python3
"""Every family on this CPU beside its limits, its peers and the cost model.

  benchmarks/cpu.py [--only REGEX] [--quick] [--prepare] [--minutes 1.8]     measures what is not yet in the store
  benchmarks/cpu.py --report                                                 writes the tables and figures from the store
  benchmarks/cpu.py --list [--only REGEX]                                    names points

A point is (family, type, width, length, threads). Its library and every peer that is there (PyTorch, JAX, packages) are
checked against the definition in float64, then run by turns in one process, round after round, with the limits of the
machine measured in each round. What was measured is kept point by point in benchmarks/results/cpu.json, so that a call goes
on where the last one ended; --again measures anew. Without PyTorch the rest is measured and the tables say so. Needs attnc
(--attnc) and `ninja attune-bench-limits`.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent
sys.path[:0] = [str(HERE), str(SOURCE / "utils" / "python")]

# pylint: disable=wrong-import-position
import cpu_goals
import cpu_machine
import cpu_rows

STORE = HERE / "results" / "cpu.json"
USUAL_DEVICE = "x86-64-avx512"  # whose numbers price plans unless another is named
POOLS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")


def load(store):
    return json.loads(store.read_text(encoding="utf-8")) if store.exists() else {"machine": {}, "points": {}}


def save(store, data):
    """In one step: a call that is stopped leaves the file whole."""
    new = store.with_suffix(".new")
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(point)}" for name, point in sorted(data["points"].items()))
    new.write_text(f'{{"machine": {json.dumps(data["machine"], indent=1)},\n"points": {{\n{lines}\n}}}}\n', encoding="utf-8")
    os.replace(new, store)


def points_of(args):
    """What was asked for, the rows of the goals first."""
    if args.quick:
        points = cpu_rows.quick()
    else:
        goals = cpu_goals.points()
        points = goals if args.goals else goals + [p for p in cpu_rows.grid(args.all_widths) if p.name not in {g.name for g in goals}]
    return cpu_rows.matching(points, args.only)


def left(args):
    done = load(args.store)["points"] if not args.again else {}
    if args.prepare:
        return points_of(args)
    return [point for point in points_of(args) if point.name not in done]


#===----------------------------------------------------------------------------------------------------------------===#
# Measuring
#===----------------------------------------------------------------------------------------------------------------===#


def progress(done, total, point, result, start):
    """One line, drawn over on a terminal."""
    bar = "#" * round(24 * done / total)
    took = time.perf_counter() - start
    said = result.get("failed") or (f"{1e3 * min(result['seconds']['attune']):.3f} ms" if "seconds" in result else "ready")
    end = "\n" if not sys.stderr.isatty() or done == total else "\x1b[K\r"
    print(f"[{bar:24}] {done}/{total} {took / 60:.1f} min  {point.name}: {said}", end=end, file=sys.stderr, flush=True)


def prepare_process(args, threads):
    """The processors of this process, before a library makes threads of its own."""
    processors = cpu_machine.least_busy(threads)
    if len(processors) < threads:
        raise SystemExit(f"expected {threads} processors, but got {len(processors)}")
    os.sched_setaffinity(0, set(processors))
    os.environ.update({name: str(threads) for name in POOLS}, OPENBLAS_NUM_THREADS="1", JAX_PLATFORMS="cpu",
                      TORCHINDUCTOR_CACHE_DIR=str(args.work / "inductor"), CUDA_VISIBLE_DEVICES="")
    return processors


def work(args, threads):
    """Measures the points of so many threads; run in a process of its own."""
    processors = prepare_process(args, threads)
    from cpu_measure import Wrong, measure
    limits = cpu_machine.Limits(args.limits, processors)
    memory_limits = {} if args.prepare else limits.all()
    clock = cpu_machine.Clock(processors)
    points = [point for point in left(args) if point.threads == threads]
    start = time.perf_counter()
    for done, point in enumerate(points, 1):
        if args.minutes and time.perf_counter() - start > 60 * args.minutes:
            break
        try:
            result = measure(point, args, limits, memory_limits, clock)
        except (Wrong, subprocess.CalledProcessError) as error:
            result = {"failed": str(getattr(error, "stderr", "") or error).strip().splitlines()[0]}
        if not args.prepare:
            data = load(args.store)
            data["machine"] = cpu_machine.facts() | {"peers": versions(), "device": args.device or USUAL_DEVICE}
            data["points"][point.name] = result | {"commit": cpu_machine.commit(SOURCE)}
            save(args.store, data)
        progress(done, len(points), point, result, start)


def versions():
    """Releases of the peers that are there."""
    from importlib import metadata
    found = {}
    for name in ("torch", "jax", "performer-pytorch", "linformer", "linear-attention-transformer", "pytorch-fast-transformers"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="points whose name this regular expression finds")
    parser.add_argument("--peers", default="", type=re.compile, help="peers whose name this regular expression finds")
    parser.add_argument("--goals", action="store_true", help="the rows of the goals alone")
    parser.add_argument("--all-widths", action="store_true", help="every width at every length")
    parser.add_argument("--quick", action="store_true", help="one small point of each family")
    parser.add_argument("--prepare", action="store_true", help="compile and check only, so that measuring takes less time")
    parser.add_argument("--again", action="store_true", help="measure again what has been measured")
    parser.add_argument("--seconds", type=float, default=0.8, help="of turns for each point")
    parser.add_argument("--rounds", type=int, default=5, help="at least so many")
    parser.add_argument("--minutes", type=float, help="begin no point later, for each number of threads")
    parser.add_argument("--device", help="as of attnc: prices plans; default the usual one of a CPU")
    parser.add_argument("--attnc", type=pathlib.Path, default=SOURCE / "build" / "bin" / "attnc")
    parser.add_argument("--limits", type=pathlib.Path, default=SOURCE / "build" / "lib" / "libattune-bench-limits.so")
    parser.add_argument("--store", type=pathlib.Path, default=STORE, help="what was measured; another machine has one of its own")
    parser.add_argument("--work", type=pathlib.Path, default=SOURCE / "build" / "cpu-bench", help="folder of libraries")
    parser.add_argument("--list", action="store_true", help="name the points and what is left of them")
    parser.add_argument("--report", action="store_true", help="measure nothing; write the tables and figures; with --store those of another machine")
    parser.add_argument("--json", action="store_true", help="print what is stored of the points")
    parser.add_argument("--threads", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    args = arguments()
    if args.report:
        import cpu_report
        cpu_report.write(load(args.store), args.store, SOURCE)
    elif args.list:
        waiting = {point.name for point in left(args)}
        print("\n".join(f"{point.name}{'' if point.name in waiting else '  (measured)'}" for point in points_of(args)))
    elif args.threads:
        work(args, args.threads)
    else:
        args.work.mkdir(parents=True, exist_ok=True)
        for threads in sorted({point.threads for point in left(args)}):
            subprocess.run([sys.executable, __file__, *sys.argv[1:], "--threads", str(threads)], check=True)
    if args.json:
        stored = load(args.store)
        names = {point.name for point in points_of(args)}
        stored["points"] = {name: point for name, point in stored["points"].items() if name in names}
        print(json.dumps(stored))


if __name__ == "__main__":
    main()
