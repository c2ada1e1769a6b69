"""Golden data: inputs and outputs of small specs, kept beside the specs.

`--make` draws the inputs and writes what the interpreter gives for them. Without it the kept output is held against the
float64 reference (or, with `--oracle`, against the oracle), and compiled code and the interpreter against the kept output.
"""

import argparse
import pathlib
import sys
import tempfile

import numpy as np

import reference
from attnc import attnc, read_spec
from run_case import INTERPRETER_TOLERANCE, TOLERANCE, judge_by_oracle, judge_by_reference


def load(folder):
    return {path.stem: np.load(path) for path in sorted(folder.glob("*.npy"))}


def make(args, spec, data):
    data.mkdir(parents=True, exist_ok=True)
    attnc(args.attnc, "init", spec, "--out", data, "--inputs", "--seed", 11)
    attnc(args.attnc, "run", spec, "--in", data, "--out", data, "--reference")


def check(args, spec, data):
    """(what was judged, its error, its tolerance) of each comparison."""
    fields, kept = read_spec(spec), load(data)
    golden = kept.pop("o").astype(np.float64)
    if args.oracle:
        with tempfile.TemporaryDirectory() as folder:
            judge = judge_by_oracle(args.oracle, spec, kept, fields, pathlib.Path(folder))
        yield "golden data against the oracle", reference.relative_error(golden, judge), INTERPRETER_TOLERANCE
        return
    judge = judge_by_reference(fields, kept)
    yield "golden data against float64", reference.relative_error(golden, judge), INTERPRETER_TOLERANCE
    for name, flags, tolerance in (("interpreter", ["--reference"], INTERPRETER_TOLERANCE),
                                   ("compiled code", [], TOLERANCE[fields["dtype"]])):
        with tempfile.TemporaryDirectory() as folder:
            attnc(args.attnc, "run", spec, "--in", data, "--out", folder, *flags)
            yield name, reference.relative_error(np.load(pathlib.Path(folder) / "o.npy"), golden), tolerance


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specs", nargs="+", type=pathlib.Path)
    parser.add_argument("--attnc", default="attnc")
    parser.add_argument("--make", action="store_true")
    parser.add_argument("--oracle")
    args = parser.parse_args()
    failed = False
    for spec in args.specs:
        data = spec.parent / "data" / spec.stem
        if args.make:
            make(args, spec, data)
            continue
        for name, error, tolerance in check(args, spec, data):
            failed |= not error <= tolerance
            print(f"{'pass' if error <= tolerance else 'FAIL'}: {spec.stem}: {name}: relative error {error:.2e}, "
                  f"tolerance {tolerance:.0e}")
    sys.exit(failed)


main()
