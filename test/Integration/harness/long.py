"""Long sequences: one head of 64 at the given lengths through `attnc run`, under 1 GiB.

Judged on 64 chosen rows by the streaming interpreter, which is itself held to the float64 reference on those rows.
"""

import argparse
import pathlib
import resource
import subprocess
import sys
import tempfile

import numpy as np

import reference
from attnc import attnc, read_spec
from judges import Case, by_reference

ROWS = 64
JUDGES_APART = 1e-11
MOST_RESIDENT = 2 ** 30


def judge_by_interpreter(args, folder, rows):
    """The attn interpreter on the chosen rows only; it streams over the keys."""
    attnc(args.attnc, "compile", args.spec, "--emit", "attn", "-o", folder / "attn.mlir")
    inputs = [folder / "in" / f"{name}.npy" for name in "qkv"]
    subprocess.run(["attune-eval", folder / "attn.mlir", "--rows", ",".join(map(str, rows)), *inputs, "-o",
                    folder / "judge.npy"], check=True)
    return np.load(folder / "judge.npy")


def check_length(args, case, n, folder):
    sizes = ["--batch", 1, "--queries", n] + (["--keys", n] if case.fields.get("keys") == "?" else [])
    attnc(args.attnc, "init", args.spec, "--out", case.files, "--inputs", *sizes)
    attnc(args.attnc, "run", args.spec, "--in", case.files, "--out", folder / "out")
    rows = np.sort(np.random.default_rng(4).choice(n, ROWS, replace=False))
    rows[0], rows[-1] = 0, n - 1
    got = np.load(folder / "out" / "o.npy", mmap_mode="r")[:, :, rows]
    judge = judge_by_interpreter(args, folder, rows)
    apart = reference.relative_error(judge, by_reference(case, rows))
    if apart > JUDGES_APART:
        sys.exit(f"expected the interpreter and the reference to agree at n = {n}, but got a relative error of {apart:.2e}")
    return reference.relative_error(got, judge)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("spec", type=pathlib.Path)
    parser.add_argument("lengths", nargs="+", type=int)
    parser.add_argument("--attnc", default="attnc")
    args = parser.parse_args()
    fields = read_spec(args.spec)
    failed = False
    for n in args.lengths:
        with tempfile.TemporaryDirectory() as folder:
            case = Case(args.spec, fields, pathlib.Path(folder) / "in")
            error = check_length(args, case, n, pathlib.Path(folder))
        # Of the children so far, the largest; in KiB.
        resident = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        passed = error <= case.tolerance() and resident < MOST_RESIDENT
        failed |= not passed
        print(f"{'pass' if passed else 'FAIL'}: {args.spec.stem} n = {n}: relative error {error:.2e} on {ROWS} rows, "
              f"{resident / 2**20:.0f} MiB resident")
    sys.exit(failed)


if __name__ == "__main__":
    main()
