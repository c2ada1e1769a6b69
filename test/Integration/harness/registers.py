"""Prints what ptxas gives each kernel of some specs; exits 1 if one spills, has a stack, or takes too many registers.

A schedule promises that its tiles fit into the registers of a thread, so spills are a fault of the schedule, not of
ptxas. SPEC may be a folder. `--forms` adds each form that a spec's linear mechanism can take instead of the chosen one.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

from attnc import read_spec

MOST_REGISTERS = 255
TARGETS = "sm_80,sm_86,sm_87,sm_89,sm_90a"
ENTRY = re.compile(r"Compiling entry function '(\w+)'")
SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers")
# What is an answer, not a failure: the compiler says that the device has no room, and for what.
REFUSED = ("expected a plan that", "not supported yet", "S24")


def ptxas():
    roots = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_ROOT")]
    for path in [os.path.join(root, "bin", "ptxas") for root in roots if root]:
        if os.access(path, os.X_OK):
            return path
    return shutil.which("ptxas")


def resources(said):
    """(kernel, registers, stack, spilled bytes) of each entry in what `ptxas -v` said."""
    kernels = []
    for line in said.splitlines():
        if found := ENTRY.search(line):
            kernels.append([found.group(1), 0, 0, 0])
        elif found := SPILLS.search(line):
            kernels[-1][2:] = [int(found.group(1)), int(found.group(2)) + int(found.group(3))]
        elif found := USED.search(line):
            kernels[-1][1] = int(found.group(1))
    return kernels


def without_ptxas():
    """An environment in which attnc finds no assembler, which it would run for its warnings."""
    kept = {name: value for name, value in os.environ.items() if name not in ("CUDA_HOME", "CUDA_ROOT")}
    folder = os.path.dirname(ptxas())
    kept["PATH"] = os.pathsep.join(part for part in kept.get("PATH", "").split(os.pathsep) if part != folder)
    return kept


def assemble(args, fields, target, folder):
    """What ptxas said, or the compiler's error."""
    path, ptx = folder / "spec.yaml", folder / "spec.ptx"
    path.write_text(yaml.safe_dump(fields, sort_keys=False), encoding="utf-8")
    command = [shutil.which(args.attnc), "compile", path, "--target", target, "--emit", "ptx", "-o", ptx]
    run = subprocess.run(command, capture_output=True, text=True, env=without_ptxas())
    if run.returncode:
        return None, run.stderr.strip()
    run = subprocess.run([ptxas(), "-v", f"-arch={target}", ptx, "-o", folder / "spec.cubin"], capture_output=True,
                         text=True)
    said = run.stdout + run.stderr
    return (None, said) if run.returncode else (resources(said), "")


def check(args, spec, dtype, target, form):
    """(fits, lines to print) of one spec."""
    fields = read_spec(spec) | {"dtype": dtype} | ({"pin": {"linearize": form}} if form else {})
    name = " ".join([spec.stem, dtype, target] + ([form] if form else []))
    with tempfile.TemporaryDirectory() as folder:
        kernels, error = assemble(args, fields, target, pathlib.Path(folder))
    if kernels is None and form and any(words in error for words in REFUSED):
        return True, [f"none: {name}: {error.splitlines()[0]}"]
    if not kernels:
        return False, [f"FAIL: {name}: {error or 'no kernels'}"]
    fits, lines = True, []
    for kernel, registers, stack, spilled in kernels:
        good = registers <= MOST_REGISTERS and stack == 0 and spilled == 0
        fits &= good
        lines.append(f"{'pass' if good else 'FAIL'}: {name} {kernel}: {registers} registers, {stack} bytes of stack, "
                     f"{spilled} bytes of spills")
    return fits, lines


def forms_of(spec):
    mechanism = read_spec(spec)["mechanism"]
    return ["quadratic", "state", "chunked"] if mechanism.get("kind") in ("kernel", "polysketch") else []


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specs", nargs="+", type=pathlib.Path, metavar="SPEC")
    parser.add_argument("--attnc", default="attnc")
    parser.add_argument("--targets", default=TARGETS, help="with commas")
    parser.add_argument("--dtypes", default="f32,f16,bf16", help="storage types, with commas")
    parser.add_argument("--forms", action="store_true", help="pin each form of linear mechanisms, too")
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
