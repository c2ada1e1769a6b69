"""From spec to cubin, or for the target cpu to a library: seconds that `attnc compile` takes, by the clock and of all processors together, for each
storage type and target, as a table in Markdown. Kernels are compiled side by side, so the clock wants two processors that are free.

With --gradients every spec asks for all gradients, whose code is in a library too, whatever the target. A spec that has no
such code is shown as refused. With --most a compilation that takes more processor time is a failure.
"""

import argparse
import pathlib
import resource
import statistics
import sys
import tempfile
import time

import yaml

SOURCE = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(SOURCE / "utils" / "python"))

from attnc import Failed, attnc, read_spec, specs_of  # noqa: E402


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compile_seconds(args, spec, target, folder):
    """(by the clock, of processors), medians; None if the target does not support the spec."""
    taken = []
    made = ["-o", folder / "out.so"] if target == "cpu" or args.gradients else ["--emit", "cubin", "-o", folder / "out.cubin"]
    for _ in range(args.times):
        time.sleep(args.pause)
        clock, used = time.perf_counter(), processor_seconds()
        try:
            attnc(args.attnc, "compile", spec, "--target", target, *made)
        except Failed as failure:
            if not any(words in str(failure) for words in ("not supported yet", "no schedule fits")):
                raise
            return None
        taken.append((time.perf_counter() - clock, processor_seconds() - used))
    return tuple(map(statistics.median, zip(*taken)))


def row(args, spec, columns, folder):
    results = []
    for target, dtype in columns:
        path = folder / "spec.yaml"
        more = {"gradients": "all"} if args.gradients else {}
        path.write_text(yaml.safe_dump(read_spec(spec) | {"dtype": dtype} | more, sort_keys=False), encoding="utf-8")
        results.append(compile_seconds(args, path, target, folder))
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specs", nargs="*", type=pathlib.Path, default=[SOURCE / "examples"], help="specs, or folders of them")
    parser.add_argument("--gradients", action="store_true", help="libraries of specs that ask for all gradients")
    parser.add_argument("--attnc", default=SOURCE / "build" / "bin" / "attnc")
    parser.add_argument("--targets", default="sm_80,sm_90a", help="with commas, cpu among them")
    parser.add_argument("--dtypes", default="f32,f16,bf16", help="storage types, with commas")
    parser.add_argument("--times", type=int, default=3, help="of which the median is taken")
    parser.add_argument("--pause", type=float, default=0, help="seconds before each, on a machine that others use too")
    parser.add_argument("--most", type=float, help="seconds of all processors that a compilation may take")
    args = parser.parse_args()
    columns = [(target, dtype) for target in args.targets.split(",") for dtype in args.dtypes.split(",")]
    print(f"| spec | {' | '.join(' '.join(column) for column in columns)} |\n|---|{'---|' * len(columns)}")
    slowest, late, clocks = {}, [], {column: [] for column in columns}
    with tempfile.TemporaryDirectory() as folder:
        for spec in specs_of(args.specs):
            results = row(args, spec, columns, pathlib.Path(folder))
            print(f"| {spec.stem} | {' | '.join(f'{r[0]:.2f} ({r[1]:.2f})' if r else 'refused' for r in results)} |", flush=True)
            for column, result in zip(columns, results):
                clocks[column] += [result[0]] if result else []
                if result and result[0] > slowest.get(column, (0, ""))[0]:
                    slowest[column] = (result[0], spec.stem)
                if result and args.most and result[1] > args.most:
                    late.append(f"{spec} {' '.join(column)}: expected at most {args.most} s of processor time from spec to "
                                f"cubin, but got {result[1]:.2f}: see where it goes with --emit llvm and --emit ptx")
    print("\nMedian by the clock: " + "; ".join(f"{' '.join(column)} {statistics.median(taken):.2f} s" for column, taken in clocks.items() if taken) + ".")
    print("Slowest by the clock: " +
          "; ".join(f"{' '.join(column)} {seconds:.2f} s ({spec})" for column, (seconds, spec) in slowest.items()) + ".")
    for failure in late:
        print(failure, file=sys.stderr)
    return 1 if late else 0


sys.exit(main())
