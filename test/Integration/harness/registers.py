"""Prints what ptxas gives each kernel of some specs; exits 1 if one spills, has a stack, or takes too many registers.

A schedule promises that its tiles fit into the registers of a thread, so spills are a fault of the schedule, not of
ptxas.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

from attnc import Failed, attnc, read_spec

MOST_REGISTERS = 255
ENTRY = re.compile(r"Compiling entry function '(\w+)'")
SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers")


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


def assemble(args, spec, dtype, folder):
    fields = read_spec(spec) | {"dtype": dtype}
    path, ptx = folder / "spec.yaml", folder / "spec.ptx"
    path.write_text(yaml.safe_dump(fields, sort_keys=False), encoding="utf-8")
    attnc(args.attnc, "compile", path, "--target", args.target, "--emit", "ptx", "-o", ptx)
    run = subprocess.run([ptxas(), "-v", f"-arch={args.target}", ptx, "-o", folder / "spec.cubin"], capture_output=True,
                         text=True, check=True)
    return resources(run.stdout + run.stderr)


def check(args, spec, dtype):
    with tempfile.TemporaryDirectory() as name:
        try:
            kernels = assemble(args, spec, dtype, pathlib.Path(name))
        except Failed as error:
            print(f"FAIL: {spec.stem} {dtype}: {error}")
            return False
    fit = bool(kernels)
    for kernel, registers, stack, spilled in kernels:
        fits = registers <= MOST_REGISTERS and stack == 0 and spilled == 0
        fit &= fits
        print(f"{'pass' if fits else 'FAIL'}: {spec.stem} {dtype} {kernel}: {registers} registers, "
              f"{stack} bytes of stack, {spilled} bytes of spills", flush=True)
    return fit


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specs", nargs="+", type=pathlib.Path)
    parser.add_argument("--attnc", default="attnc")
    parser.add_argument("--target", default="sm_80")
    parser.add_argument("--dtypes", default="f32,f16,bf16", help="storage types, with commas")
    args = parser.parse_args()
    results = [check(args, spec, dtype) for spec in args.specs for dtype in args.dtypes.split(",")]
    sys.exit(not all(results))


main()
