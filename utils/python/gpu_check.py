"""Judges the libraries of a bundle on this machine's GPU against the float64 results in the bundle, then times them.

Every case is run twice (the bits must be equal), captured in a CUDA graph and replayed (the same bits again), and
compared with what is expected. A sample runs under compute-sanitizer if that is there. What cannot be done is printed as
SKIP with the reason. A case that ends the process or hangs is a failure, and the next one follows in a new process;
started again with the same results folder, the run goes on where it was. With --dry-run the bundle is one for the CPU:
the same flow without a GPU, so that tests know it works.
"""

import argparse
import functools
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import numpy as np

from accuracy import MAIN, error_of, judge, ratio, true_states
from case_tensors import unpack
from journal import BROKEN, NO_DEVICE, TIME_UP, Journal, supervise
from library import opened
from memory import Cuda, Host, why_not
from storage import from_storage

SANITIZERS = ["memcheck", "racecheck", "initcheck", "synccheck"]
SAMPLE = 4  # cases for each of them
SANITIZER_SECONDS = 100  # for all of them
SILENCE = 30             # seconds after which a case is taken to hang
MINUTES = 8              # of checks and timings
CHECK_MINUTES = 4        # of checks


class Case:
    """A case of the bundle with its library, ready to run."""

    def __init__(self, folder, entry, memory, library):
        self.entry, self.memory, self.library = entry, memory, library
        arrays, self.expected, self.bounds = unpack(folder / "tensors.npz", entry["drawn"])
        names = {name.replace(".", "_"): name for name in arrays}
        inputs = {field: memory.put(arrays.pop(names[field]), member.dtype)
                  for field, member in library.tensors.items() if field in names}
        # Every other library gets its parameters from the device's memory.
        library.prepare(arrays, memory if sum(entry["name"].encode()) % 2 else Host())
        self.results = library.outputs(**inputs)
        self.run, _ = library.runner(**inputs, **self.results)

    def stored(self):
        """The bits of all outputs, by their fields of the struct."""
        self.memory.wait()
        return {field: np.array(self.memory.get(result)) for field, result in self.results.items()}

    def output(self):
        """The stored bits of a run."""
        self.run()
        return self.stored()

    def verdict(self):
        """What is wrong; empty if nothing is."""
        first = self.output()
        if field := differs(first, self.output()):
            return f"{field}: two runs differ in their bits"
        if field := differs(first, self.replayed(first)):
            return f"{field}: a captured run differs in its bits"
        return self.judge({field: from_storage(array, self.library.tensors[field].dtype) for field, array in first.items()})

    def replayed(self, first):
        """The outputs of a run that was captured in a graph, and replayed into cleared tensors."""
        if self.memory.device_type == Host.device_type:
            return first
        torch = self.memory.torch
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.run()
        for result in self.results.values():
            result.zero_()
        graph.replay()
        return self.stored()

    def judge(self, got):
        """What is wrong with outputs by their fields of the struct; the first of them, if any is."""
        got = true_states({name: got[name.replace(".", "_")] for name in self.expected})
        with np.errstate(invalid="ignore"):  # a NaN is an infinite error
            verdicts = [self.verdict_of(name, got[name], expected) for name, expected in true_states(self.expected).items()]
        self.error = None if self.entry["tolerance"] is None else max(error for _, error in verdicts)
        return next((wrong for wrong, _ in verdicts if wrong), "")

    def verdict_of(self, name, got, expected):
        """(what is wrong, error in units of what the tolerance bounds) of one output. A gradient's unit is in the entry."""
        tolerance, skipped = self.entry["tolerance"], self.entry["skipped"]
        if name in MAIN:
            verdict = judge(got[skipped:], expected[skipped:], self.entry["dtype"], tolerance, self.bounds)
            return verdict.wrong, verdict.error
        if got.shape != expected.shape:
            return f"{name}: expected shape {expected.shape}, but got {got.shape}", np.inf
        unit = self.entry.get("units", {}).get(name)
        error = error_of(name, got, expected) if unit is None else float(ratio(np.linalg.norm(got - expected), unit))
        return "" if error <= tolerance else f"{name}: relative error {error:.2e}, tolerance {tolerance:.0e}", error

    error = None


def differs(first, second):
    """The first output whose bits do; empty if none."""
    return next((field for field in first if not np.array_equal(first[field].view(np.uint8), second[field].view(np.uint8))), "")


def check_case(bundle, entry, memory):
    """(what is wrong, relative error)."""
    folder = bundle / "cases" / entry["name"]
    try:
        backward = "units" in entry
        with opened(folder, entry["name"], entry["dtype"], threads=1, memory=memory, backward=backward) as library:
            case = Case(folder, entry, memory, library)
            return case.verdict(), case.error
    except Exception as failure:  # of the library, of PyTorch, of the files: the case failed, the others follow
        lines = str(failure).splitlines()
        return f"{type(failure).__name__}: {lines[0] if lines else ''}", None


def works(memory):
    """Whether the device still answers: after an access out of bounds it takes nothing more from this process."""
    try:
        memory.wait()
        return True
    except Exception:  # whatever PyTorch raises
        return False


def check_all(bundle, entries, memory, journal):
    """The worker: checks what the journal does not have. Exit status."""
    start = time.monotonic()
    for i, entry in enumerate(entries):
        if entry["name"] in journal.results:
            continue
        journal.begin(entry["name"])
        wrong, error = check_case(bundle, entry, memory)
        journal.finish(entry["name"], {"wrong": wrong, "error": error})
        if wrong:
            print(f"FAIL: {entry['name']} {entry['dtype']}: {wrong}", flush=True)
            if not works(memory):
                return BROKEN
        if (i + 1) % 50 == 0:
            print(f"{i + 1} of {len(entries)} checked, {time.monotonic() - start:.0f} s", flush=True)
    return 0


def summarize(entries, results):
    """Prints how many are right; names of the cases that are not."""
    failed = [entry["name"] for entry in entries if results.get(entry["name"], {"wrong": "not run"})["wrong"]]
    worst = {}
    for entry in entries:
        error = results.get(entry["name"], {}).get("error")
        if error is not None and entry["name"] not in failed:
            worst[entry["dtype"]] = max(worst.get(entry["dtype"], 0), error / entry["tolerance"])
    for dtype, share in sorted(worst.items()):
        print(f"largest error of {dtype}: {share:.2f} of the tolerance")
    left = sum(entry["name"] not in results for entry in entries)
    print(f"{len(entries) - len(failed)} of {len(entries)} cases right"
          f"{f', {left} were not reached' if left else ''}", flush=True)
    return failed


def died(name, reason):
    print(f"FAIL: {name}: {reason}", flush=True)
    return {"wrong": reason, "error": None}


def check_supervised(args, entries):
    """Names of the cases that failed, checked in another process; None without a device."""
    path = args.results / "checked.jsonl"
    known = len(set(Journal(path, stamp(args)).results) & {entry["name"] for entry in entries})
    if known:
        print(f"{known} checked before, says {path}")
    command = [sys.executable, __file__, *sys.argv[1:], "--worker"]
    status, rest = supervise(command, path, stamp(args), args.silence, died, time.time() + 60 * CHECK_MINUTES)
    if status == NO_DEVICE:
        return None
    if rest:
        print(f"FAIL: {rest}{'; the same command goes on with what is left' if rest == TIME_UP else ''}")
    return summarize(entries, Journal(path, stamp(args)).results) + [rest] * bool(rest)


def stamp(args):
    """Another bundle is another run."""
    return digest(args.bundle)


@functools.cache
def digest(bundle):
    """Of all that is judged: the list of cases, their libraries and tensors."""
    total = hashlib.sha256((bundle / "manifest.json").read_bytes())
    for path in sorted(path for path in (bundle / "cases").rglob("*") if path.is_file()):
        total.update(str(path.relative_to(bundle)).encode() + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()[:16]


def find_sanitizer():
    roots = [os.environ.get(name, "") for name in ("CUDA_HOME", "CUDA_ROOT", "CUDA_PATH")] + ["/usr/local/cuda"]
    candidates = [os.path.join(root, "bin", "compute-sanitizer") for root in roots if root]
    return shutil.which("compute-sanitizer") or next((path for path in candidates if os.access(path, os.X_OK)), None)


def sanitize(args, entries):
    """Tools of compute-sanitizer that found something."""
    program = find_sanitizer()
    if args.dry_run or program is None:
        print(f"SKIP: compute-sanitizer: {'a dry run' if args.dry_run else 'not found'}")
        return []
    step = max(1, len(entries) // SAMPLE)
    names = [entry["name"] for entry in entries[::step]][:SAMPLE]
    deadline, failed = time.monotonic() + SANITIZER_SECONDS, []
    for tool in SANITIZERS:
        results = args.results / f"sanitizer-{tool}"
        shutil.rmtree(results, ignore_errors=True)  # every run is judged by what it did itself
        command = [program, "--tool", tool, "--error-exitcode", "9", sys.executable, __file__, "--bundle", args.bundle,
                   "--cases", ",".join(names), "--worker", "--results", results]
        left = deadline - time.monotonic()
        try:
            run = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False,
                                 timeout=max(left, 1))
        except subprocess.TimeoutExpired:
            print(f"SKIP: compute-sanitizer {tool}: the {SANITIZER_SECONDS} s for all of them are up", flush=True)
            continue
        checked = Journal(results / "checked.jsonl", stamp(args)).results
        right = run.returncode == 0 and all(name in checked and not checked[name]["wrong"] for name in names)
        print(f"{'pass' if right else 'FAIL'}: compute-sanitizer {tool} on {', '.join(names)}", flush=True)
        if not right:
            failed.append(tool)
            print("\n".join((run.stdout + run.stderr).splitlines()[-20:]))
    return failed


def time_all(args, minutes):
    """The status of the benchmarks, which print their table last."""
    here = pathlib.Path(__file__).resolve().parent
    places = (here / "gpu.py", here.parents[1] / "benchmarks" / "gpu.py")
    program = next(path for path in places if path.exists())
    command = [sys.executable, program, "--bundle", args.bundle, "--out", args.results, "--minutes", f"{minutes:.2f}"]
    command += ["--dry-run"] if args.dry_run else []
    return subprocess.run(list(map(str, command)), check=False).returncode


def open_memory(dry_run):
    """The GPU's memory, or the reason why there is none."""
    if dry_run:
        return Host(), ""
    try:
        return Cuda(), ""
    except (ImportError, RuntimeError, AssertionError) as error:
        return None, why_not(error)


def work(args, entries):
    memory, reason = open_memory(args.dry_run)
    if memory is None:
        print(f"SKIP: no GPU that PyTorch can use: {reason}")
        return NO_DEVICE
    return check_all(args.bundle, entries, memory, Journal(args.results / "checked.jsonl", stamp(args)))


def parse():
    parser = argparse.ArgumentParser(prog="gpu-check", description=__doc__)
    parser.add_argument("--bundle", type=pathlib.Path, required=True)
    parser.add_argument("--dry-run", action="store_true", help="on the CPU, with a bundle for it")
    parser.add_argument("--cases", type=lambda text: text.split(","), help="only these, with commas")
    parser.add_argument("--only-cases", action="store_true", help="no sanitizer, no timing")
    parser.add_argument("--results", type=pathlib.Path, help="folder of what was found, and of the timings; a run goes on "
                        "with what is there (default: results in the bundle)")
    parser.add_argument("--silence", type=float, default=SILENCE, help="seconds after which a case is taken to hang")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.results = args.results or args.bundle / "results"
    return args


def main():
    args = parse()
    sys.stdout.reconfigure(line_buffering=True)  # the benchmarks write to the same stream
    manifest = json.loads((args.bundle / "manifest.json").read_text(encoding="utf-8"))
    entries = [e for e in manifest["cases"] if "dtype" in e and (not args.cases or e["name"] in args.cases)]
    if args.worker:
        return work(args, entries)
    refused = [e["name"] for e in manifest["cases"] if "refused" in e]
    start = time.monotonic()
    failed = check_supervised(args, entries)
    if failed is None:
        return 0
    print(f"{len(refused)} refused by the compiler as not supported yet: {', '.join(refused[:12])}"
          f"{' ...' if len(refused) > 12 else ''}" if refused else "none refused by the compiler")
    print(f"checked in {time.monotonic() - start:.0f} s", flush=True)
    if args.only_cases:
        return bool(failed) or not entries
    failed += sanitize(args, entries)
    timed = time_all(args, max(1.0, MINUTES - 1 - (time.monotonic() - start) / 60))
    return bool(failed) or not entries or timed


if __name__ == "__main__":
    sys.exit(main())
