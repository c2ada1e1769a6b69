"""Prints what each kernel of some specs takes of a thread; exits 1 if one spills in a loop or has too many registers.

A schedule promises that its tiles fit into the registers of a thread, so spills that are paid for at each step are a fault
of the schedule, not of ptxas. A number that is put on the stack before a loop and read after it costs nothing. What is read
is the cubin that `attnc` made. SPEC may be a folder. `--forms` adds each form that a
linear mechanism of the spec can take instead of the chosen one.
"""

import argparse
import concurrent.futures
import pathlib
import shutil
import subprocess
import sys
import tempfile

import yaml

from attnc import read_spec
from cubin import Cubin

MOST_REGISTERS = 255
MOST_KNOWN_STACK = 72
TARGETS = "sm_80,sm_86,sm_87,sm_89,sm_90a"
# What is an answer, not a failure: the compiler says that the device has no room, and for what.
REFUSED = ("expected a plan that", "not supported yet", "with order: after_map")


def assemble(args, fields, target, folder):
    """(kernels, what the compiler said)."""
    path, cubin = folder / "spec.yaml", folder / "spec.cubin"
    path.write_text(yaml.safe_dump(fields, sort_keys=False), encoding="utf-8")
    command = [shutil.which(args.attnc), "compile", path, "--target", target, "--emit", "cubin", "-o", cubin]
    command += ["--gpu-products", args.gpu_products] if args.gpu_products else []
    run = subprocess.run(command, capture_output=True, text=True)
    capability = int(target.strip("sm_a"))
    return (None if run.returncode else Cubin(cubin.read_bytes()).kernels(capability)), run.stderr.strip()


def known(args, spec, dtype, form, stack):
    """Is it one of the forms that are known to spill a little?"""
    name = ":".join([spec.stem, dtype, form or "chosen"])
    most = {}
    for entry in filter(None, args.known.split(",")):
        *fields, number = (entry if entry.count(":") == 3 else f"{entry}:{MOST_KNOWN_STACK}").split(":")
        most[":".join(fields)] = int(number)
    return stack <= most.get(name, -1)


def check(args, spec, dtype, target, form):
    """(fits, lines to print) of one spec."""
    fields = read_spec(spec) | {"dtype": dtype} | ({"pin": {"linearize": form}} if form else {})
    name = " ".join([spec.stem, dtype, target] + ([form] if form else []))
    with tempfile.TemporaryDirectory() as folder:
        kernels, said = assemble(args, fields, target, pathlib.Path(folder))
    if kernels is None and form and any(words in said for words in REFUSED):
        return True, [f"none: {name}: {said.splitlines()[0]}"]
    if not kernels:
        return False, [f"FAIL: {name}: {said or 'no kernels'}"]
    fits, lines = True, []
    for kernel, registers, stack, in_loops in kernels:
        good = registers <= MOST_REGISTERS and in_loops == 0
        expected = not good and known(args, spec, dtype, form, stack)
        fits &= good or expected
        verdict = "pass" if good else "known" if expected else "FAIL"
        lines.append(f"{verdict}: {name} {kernel}: {registers} registers, {stack} bytes of stack, {in_loops} spills in loops")
    return fits, lines


def forms_of(spec):
    fields = read_spec(spec)
    mechanisms = [part["mechanism"] for part in fields.get("parts", [fields])]
    linear = any(mechanism.get("kind") in ("kernel", "polysketch") for mechanism in mechanisms)
    no_pairs = any("erase" in mechanism or mechanism.get("decay", {}).get("per") == "channel" for mechanism in mechanisms)
    return ["quadratic"] * (not no_pairs) + ["chunked" if fields.get("causal") else "state"] if linear else []


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specs", nargs="+", type=pathlib.Path, metavar="SPEC")
    parser.add_argument("--attnc", default="attnc")
    parser.add_argument("--targets", default=TARGETS, help="with commas")
    parser.add_argument("--dtypes", default="f32,f16,bf16", help="storage types, with commas")
    parser.add_argument("--gpu-products", help="as attnc takes it")
    parser.add_argument("--forms", action="store_true", help="pin each form of linear mechanisms, too")
    parser.add_argument("--known", default="", metavar="SPEC:DTYPE:FORM[:BYTES],...",
                        help=f"forms whose kernels may spill up to BYTES, {MOST_KNOWN_STACK} if not said")
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    specs = [path for spec in args.specs for path in (sorted(spec.glob("*.yaml")) if spec.is_dir() else [spec])]
    jobs = [(spec, dtype, target, form) for target in args.targets.split(",") for dtype in args.dtypes.split(",")
            for spec in specs for form in [None] + (forms_of(spec) if args.forms else [])]
    fit = True
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for fits, lines in pool.map(lambda job: check(args, *job), jobs):
            fit &= fits
            print("\n".join(lines), flush=True)
    sys.exit(not (fit and jobs))


main()
