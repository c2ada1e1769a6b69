"""Packs what a machine with a GPU needs to judge and to time compiled libraries, where there is no compiler.

A bundle holds, for every example and for random specs of the whole grammar, the compiled library and its header,
parameters, inputs or the seeds they are drawn from, and the float64 interpreter's output; the libraries that
benchmarks/gpu.py times; and the programs that use all that (`run-check`, `run-bench`). A spec that the target does not
support yet is listed with the compiler's words. Everything is drawn from seeds.
"""

import argparse
import dataclasses
import json
import lzma
import multiprocessing
import pathlib
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zlib

import numpy as np
import yaml

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SOURCE / "test" / "Integration" / "harness"), str(SOURCE / "benchmarks")]

import case_tensors  # noqa: E402
import gpu_specs  # noqa: E402
import gradients  # noqa: E402
import random_draw  # noqa: E402
from accuracy import MAIN, conditioned  # noqa: E402
from attnc import Failed, attnc, read_spec, specs_of  # noqa: E402
from judges import Case as Judged  # noqa: E402
from judges import main_output, outputs  # noqa: E402
from library import members  # noqa: E402
from random_grammar import Limits  # noqa: E402
from refusals import reason  # noqa: E402
from sketch_bounds import UNIT  # noqa: E402

TIMED_OUT = "timed out"
MOST_BYTES = 50 << 20
# For '?' of examples.
SIZES = {"batch": 2, "queries": 150, "keys": 170}
CLIENT = ["utils/python/gpu_check.py", "utils/python/accuracy.py", "utils/python/case_tensors.py",
          "utils/python/journal.py", "utils/python/library.py", "utils/python/memory.py",
          "utils/python/storage.py", "benchmarks/gpu.py", "benchmarks/gpu_specs.py", "benchmarks/gpu_definitions.py",
          "benchmarks/gpu_peers.py", "benchmarks/gpu_report.py"]


@dataclasses.dataclass
class Drawn:
    """A spec file with its tensors in files of a folder, and what is expected. `tolerance` is None where no more than
    finiteness is asked."""
    name: str
    spec: pathlib.Path
    fields: dict
    tensors: pathlib.Path
    expected: dict = None                                   # outputs by their names
    tolerance: object = None
    bounds: np.ndarray = None                               # of the rows that are judged, if some are conditioned
    drawn: dict = dataclasses.field(default_factory=dict)   # the inputs that are drawn again
    skipped: int = 0                                        # first batch entries that hold a NaN and are not judged
    units: dict = None                                      # of gradients' errors by their names, if these are what is expected

    def array(self, name):
        return np.load(self.tensors / f"{name}.npy")

    def write(self, arrays):
        for name, array in arrays.items():
            np.save(self.tensors / f"{name}.npy", array)


def interpret(program, spec, tensors):
    """The outputs of the interpreter in float64, by their names."""
    with tempfile.TemporaryDirectory() as folder:
        attnc(program, "run", spec, "--in", tensors, "--out", folder, "--reference")
        return outputs(pathlib.Path(folder))


def size_arguments(fields, sizes):
    """The '?' sizes, as attnc takes them."""
    return [text for name, size in sizes.items() if fields.get(name) == "?" for text in (f"--{name}", str(size))]


def draw_tensors(program, path, dtype, folder, suffix="", flags=(), **more):
    """The example of that storage type, with more fields; its inputs are what is drawn again, the rest `init` draws."""
    fields = read_spec(path) | more
    fields |= {"dtype": dtype or fields["dtype"], "attention": f"{fields['attention']}{f'_{dtype}' if dtype else ''}{suffix}"}
    spec = folder / "spec.yaml"
    spec.write_text(yaml.safe_dump(fields, sort_keys=False), encoding="utf-8")
    drawn = Drawn(fields["attention"], spec, fields, folder / "tensors")
    attnc(program, "init", spec, "--out", drawn.tensors, "--inputs", "--seed", 7, *flags, *size_arguments(fields, SIZES))
    shapes = {name: drawn.array(name).shape for name in case_tensors.DRAWN if (drawn.tensors / f"{name}.npy").exists()}
    arrays, drawn.drawn = case_tensors.draw_inputs(shapes, zlib.crc32(drawn.name.encode()))
    drawn.write(arrays)
    return drawn


def draw_example(program, path, dtype, folder):
    drawn = draw_tensors(program, path, dtype, folder)
    judged = Judged(drawn.spec, drawn.fields, drawn.tensors)
    drawn.tolerance = judged.tolerance()
    drawn.expected = interpret(program, drawn.spec, drawn.tensors)
    if any(mechanism["kind"] == "polysketch" for mechanism in judged.mechanisms()):  # whose states have layouts of the library's own
        drawn.expected = {name: array for name, array in drawn.expected.items() if name in MAIN}
    return drawn


def draw_gradients(args, path, dtype, folder):
    """The gradients of all tensors of an example, as the oracle has them."""
    drawn = draw_tensors(args.attnc, path, dtype, folder, "_gradients", ["--backward"], gradients="all")
    case = Judged(drawn.spec, drawn.fields, drawn.tensors)
    exact = gradients.Exact(args.gradients, case, folder / "oracle")
    drawn.tolerance = gradients.tolerance("run", case)
    drawn.expected = {f"grad_{name}": gradient for name, gradient in exact.exact.items()}
    drawn.units = {f"grad_{name}": float(exact.unit(name)) for name in exact.exact}
    return drawn


def draw_random(args, seed, folder):
    """The first draw of the seed that says something, and of which f32 misses no row by much that is not conditioned."""
    program, limits = args.attnc, Limits(cpu_forms=args.target == "cpu")
    init = lambda spec, tensors, sizes: attnc(program, "init", spec, "--out", tensors, "--seed", seed, *sizes)
    names = set()

    def exact(drawn, tensors):
        results = interpret(program, drawn.spec, tensors)
        names.update(results)
        return main_output(results)

    for attempt in range(random_draw.MOST_DRAWS):
        names.clear()
        random = random_draw.Drawn(seed, attempt, limits, folder / str(attempt), init, exact)
        unit = UNIT["f32"] if args.target == "cpu" else random.storage_unit()
        if random.disagreement():
            raise ValueError(f"seed {seed}: {random.disagreement()}")
        if not random.says_nothing(unit) and not random.is_noisy(unit):
            bounds = random.bounds(unit)
            needed = bounds is not None and conditioned(bounds, random.tolerance).any()
            return Drawn(random.case.fields["attention"], random.spec, random.case.fields, random.folder,
                         {next(name for name in MAIN if name in names): random.expected},
                         random.tolerance, bounds if needed else None, skipped=int(random.tensors.spoiled))
    raise ValueError(f"expected a draw of seed {seed} that says something among {random_draw.MOST_DRAWS}, but got none")


def compile_library(args, spec, library):
    """Once more where a busy machine let the assembler run out of its time."""
    for last in (False, True):
        try:
            products = ["--gpu-products", args.gpu_products] if args.gpu_products else []
            attnc(args.attnc, "compile", spec, "--target", args.target, *products, "-o", library)
            return strip(library)
        except Failed as failure:
            if last or TIMED_OUT not in str(failure):
                raise


def strip(library):
    program = shutil.which("llvm-strip-22") or shutil.which("strip")
    if program:
        subprocess.run([program, str(library)], check=True)


def without_code(name, failure):
    """The entry of what the target does not support yet, or, which is an error in the end, of what did not compile."""
    said = reason(str(failure))
    return {"name": name, "refused": said} if said else {"name": name, "failed": str(failure)}


def pack(args, drawn, bundle):
    """Compiles, and writes the case; returns its entry of the manifest."""
    target = bundle / "cases" / drawn.name
    target.mkdir(parents=True)
    library = target / f"lib{drawn.name}.so"
    try:
        compile_library(args, drawn.spec, library)
    except Failed as failure:
        shutil.rmtree(target)
        return without_code(drawn.name, failure)
    arrays = {file.stem: np.load(file) for file in sorted(drawn.tensors.glob("*.npy"))}
    dtype = drawn.fields["dtype"]
    case_tensors.pack(target / "tensors.npz", arrays, drawn.drawn, drawn.expected, drawn.bounds, dtype)
    shutil.copy(drawn.spec, target / "spec.yaml")
    units = {} if drawn.units is None else {"units": drawn.units}
    return {"name": drawn.name, "dtype": dtype, "drawn": drawn.drawn, "skipped": drawn.skipped, "tolerance": drawn.tolerance, **units}


def pack_one(job):
    """The entry of one case; `what` is the path of an example, or a seed."""
    args, bundle, what, dtype = job
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        draw = draw_random(args, what, folder) if isinstance(what, int) \
            else draw_example(args.attnc, what, dtype, folder)
        return pack(args, draw, bundle)


def pack_gradients(job):
    """The entry of an example's gradients."""
    args, bundle, path, dtype = job
    with tempfile.TemporaryDirectory() as name:
        try:
            drawn = draw_gradients(args, path, dtype, pathlib.Path(name))
        except Failed as failure:
            return without_code(f"{path.stem}_gradients", failure)
        return pack(args, drawn, bundle)


class Workers:
    """Processes that pack, and a line on standard error now and then that says how far they are."""

    def __init__(self, pool):
        self.pool, self.start, self.said, self.processor = pool, time.monotonic(), 0.0, 0.0

    def map(self, function, jobs, what):
        entries = []
        for entry, seconds in self.pool.imap(counted, [(function, job) for job in jobs]):
            entries.append(entry)
            self.processor += seconds
            now = time.monotonic() - self.start
            if now - self.said > 20 or len(entries) == len(jobs):
                self.said = now
                print(f"gpu-bundle: {len(entries)} of {len(jobs)} {what}, {now:.0f} s, {self.processor:.0f} s of "
                      "processor time", file=sys.stderr, flush=True)
        return entries


def counted(call):
    """(what the function gives for the job, processor seconds of it and of what it started)."""
    function, job = call
    before = processor_seconds()
    return function(job), processor_seconds() - before


def processor_seconds():
    return sum(used.ru_utime + used.ru_stime
               for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def pack_cases(args, bundle, workers):
    """Entries of all examples, of their gradients, and of as many random specs as asked for that the target supports."""
    jobs = [(args, bundle, path, dtype) for path in specs_of(args.specs)[:args.examples] for dtype in args.dtypes]
    entries = workers.map(pack_one, jobs, "examples")
    if args.gradients:
        entries += workers.map(pack_gradients, jobs, "gradients")
    seed = 0
    while (missing := args.random - sum("dtype" in e for e in entries if e["name"].startswith("random_"))) > 0:
        if seed >= 20 * args.random:
            print(f"gpu-bundle: {missing} random specs fewer than asked for: most are refused", file=sys.stderr)
            break
        entries += workers.map(pack_one, [(args, bundle, s, None) for s in range(seed, seed + missing)], "random specs")
        seed += missing
    return entries


def pack_bench(job):
    """The entry of a library that is timed. What the compiler predicts goes with it."""
    args, bundle, spec = job
    folder = bundle / "bench" / spec.name
    folder.mkdir(parents=True)
    path = folder / "spec.yaml"
    path.write_text(yaml.safe_dump(spec.fields, sort_keys=False), encoding="utf-8")
    try:
        compile_library(args, path, folder / f"lib{spec.name}.so")
    except Failed as failure:
        shutil.rmtree(folder)
        return without_code(spec.name, failure)
    attnc(args.attnc, "init", path, "--out", folder, "--seed", 3, *spec.init_sizes())
    drop_open(folder, spec.name)
    return {"name": spec.name, "predicted": predict(args, path, spec)}


def drop_open(folder, name):
    """What has the length in its shape is drawn where it is timed."""
    header = (folder / f"{name}.h").read_text(encoding="utf-8")
    parameters = members(header, f"{name}_parameters")
    for path in folder.glob("*.npy"):
        if not all(size.isdigit() for size in parameters[path.stem.replace(".", "_")].sizes):
            path.unlink()


def predict(args, path, spec):
    """What the compiler says of the last target, by length: seconds of its plan, and the products that the function needs."""
    target = args.target.split(",")[-1]
    result = {}
    for n in spec.lengths:
        told = json.loads(attnc(args.attnc, "explain", path, "--target", target, "--json", *spec.sizes_of(n)))
        kernels = [kernel for function in told["functions"] for kernel in function["kernels"]]
        result[str(n)] = {"seconds": sum(kernel["seconds"] for kernel in kernels),
                          "useful_multiply_adds": told["useful_operations"] / 2}
    return result


def commit():
    run = subprocess.run(["git", "-C", str(SOURCE), "describe", "--always", "--dirty"], capture_output=True, text=True,
                         check=False)
    return run.stdout.strip() or "unknown"


PROGRAM = """#!/bin/sh
here="$(dirname "$0")"
python3 -c 'import sys, numpy; sys.exit(sys.version_info < (3, 9))' 2>/dev/null || {
  echo "{name}: expected python3 of 3.9 or later with NumPy and PyTorch, but got $(python3 --version 2>&1) without NumPy or \
older at '$(command -v python3)'; pip install numpy torch, or put the python3 that has them first on PATH" >&2
  exit 1
}
exec python3 "$here/python/{module}" --bundle "$here" "$@"
"""


def copy_client(bundle):
    (bundle / "python").mkdir()
    for path in CLIENT:
        shutil.copy(SOURCE / path, bundle / "python")
    for name, module in (("run-check", "gpu_check.py"), ("run-bench", "gpu.py")):
        program = bundle / name
        program.write_text(PROGRAM.replace("{name}", name).replace("{module}", module), encoding="utf-8")
        program.chmod(0o755)


def archive(bundle):
    """A compressed tar beside the folder; returns its bytes."""
    path = bundle.with_suffix(".tar.xz")
    # Every library carries the same runtime: a window as wide as all of them finds it.
    with lzma.open(path, "wb", preset=9) as file, tarfile.open(fileobj=file, mode="w") as tar:
        tar.add(bundle, arcname=bundle.name)
    return path, path.stat().st_size


def parse():
    parser = argparse.ArgumentParser(prog="gpu-bundle", description=__doc__)
    parser.add_argument("-o", "--out", type=pathlib.Path, default=pathlib.Path("gpu-bundle"), help="a folder; "
                        "FOLDER.tar.xz is written beside it")
    parser.add_argument("--attnc", default=SOURCE / "build" / "bin" / "attnc")
    parser.add_argument("--target", default="sm_90a", help="as attnc compile takes it; cpu for a dry run")
    parser.add_argument("--gpu-products", help="as attnc compile takes it: mma.sync in the place of wgmma on sm_90a")
    parser.add_argument("--specs", type=pathlib.Path, nargs="+", default=[SOURCE / "examples"], help="in place of the examples: files, folders")
    parser.add_argument("--examples", type=int, help="only the first so many")
    parser.add_argument("--gradients", metavar="ORACLE", help="pack the examples' gradients too, as oracle.py says them")
    parser.add_argument("--dtypes", type=lambda text: text.split(","), default=[None],
                        help="storage types of the examples, with commas (default: each its own)")
    parser.add_argument("--random", type=int, default=300, help="random specs")
    parser.add_argument("--quick", action="store_true", help="few benchmarks")
    parser.add_argument("--bench-dtypes", type=lambda text: text.split(","), default=["bf16", "f16"], help="storage types of the benchmarks")
    parser.add_argument("--no-bench", action="store_true", help="none")
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args()


def main():
    args = parse()
    shutil.rmtree(args.out, ignore_errors=True)
    args.out.mkdir(parents=True)
    with multiprocessing.Pool(args.jobs) as pool:
        workers = Workers(pool)
        entries = pack_cases(args, args.out, workers)
        jobs = [(args, args.out, spec) for spec in gpu_specs.all_specs(args.quick, args.bench_dtypes) if not args.no_bench]
        bench = workers.map(pack_bench, jobs, "benchmarks")
    manifest = {"commit": commit(), "target": args.target, "cases": entries, "bench": bench}
    copy_client(args.out)
    (args.out / "manifest.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    path, size = archive(args.out)
    packed, every = sum("dtype" in entry for entry in entries), entries + bench
    failed = [entry for entry in every if "failed" in entry]
    print(f"{path}: {size / 2**20:.1f} MiB, {packed} cases, "
          f"{sum('refused' in entry for entry in entries)} refused as not supported yet, "
          f"{sum('predicted' in entry for entry in bench)} benchmarks")
    for entry in failed:
        print(f"FAIL: {entry['name']}: {entry['failed']}")
    if size > MOST_BYTES:
        sys.exit(f"gpu-bundle: expected at most {MOST_BYTES >> 20} MiB, but got {size / 2**20:.1f}; ask for fewer "
                 "random specs or targets")
    if failed:
        sys.exit(f"gpu-bundle: {len(failed)} specs did not compile")


if __name__ == "__main__":
    main()
