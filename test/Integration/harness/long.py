"""Long sequences: one head of 64 at the given lengths through `attnc run`, judged on 64 chosen rows, under 1 GiB."""

import argparse
import pathlib
import resource
import sys
import tempfile

import numpy as np

import reference
from attnc import attnc, read_spec
from run_case import TOLERANCE, judge_by_reference

ROWS = 64
MOST_RESIDENT = 2 ** 30


def check_length(args, fields, n, folder):
    sizes = ["--batch", 1, "--queries", n] + (["--keys", n] if fields.get("keys") == "?" else [])
    attnc(args.attnc, "init", args.spec, "--out", folder / "in", "--inputs", *sizes)
    attnc(args.attnc, "run", args.spec, "--in", folder / "in", "--out", folder / "out")
    inputs = {file.stem: np.load(file) for file in (folder / "in").glob("*.npy")}
    rows = np.sort(np.random.default_rng(4).choice(n, ROWS, replace=False))
    rows[0], rows[-1] = 0, n - 1
    got = np.load(folder / "out" / "o.npy", mmap_mode="r")[:, :, rows]
    return reference.relative_error(got, judge_by_reference(fields, inputs, rows))


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
            error = check_length(args, fields, n, pathlib.Path(folder))
        # Of the children so far, the largest; in KiB.
        resident = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        passed = error <= TOLERANCE[fields["dtype"]] and resident < MOST_RESIDENT
        failed |= not passed
        print(f"{'pass' if passed else 'FAIL'}: {args.spec.stem} n = {n}: relative error {error:.2e} on {ROWS} rows, "
              f"{resident / 2**20:.0f} MiB resident")
    sys.exit(failed)


if __name__ == "__main__":
    main()
