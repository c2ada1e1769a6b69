"""Runs one spec through `attnc init` and `attnc run` and judges the output; exits 1 if it is outside the tolerance.

The judge is the float64 reference of this project, or with `--judge oracle` the oracle beside the checkout.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import yaml

import reference
from attnc import attnc, read_spec
from storage import from_storage, to_storage

# Relative Frobenius error against float64 on the rounded inputs.
TOLERANCE = {"f32": 2e-5, "f16": 4e-3, "bf16": 2e-2}
# The interpreter works in float64; its output is written in f32.
INTERPRETER_TOLERANCE = 1e-7


def variant(spec, dtype, folder):
    """The spec with another storage type, as a file."""
    fields = read_spec(spec)
    fields["dtype"] = dtype or fields["dtype"]
    path = pathlib.Path(folder) / f"{fields['attention']}.yaml"
    path.write_text(yaml.safe_dump(fields, sort_keys=False), encoding="utf-8")
    return path, fields


def judge_by_reference(fields, inputs, rows=None):
    """The float64 output for inputs in f32, which are rounded to the spec's storage type first."""
    q, k, v = (from_storage(to_storage(inputs[name], fields["dtype"]), fields["dtype"]) for name in "qkv")
    return reference.attention(reference.specification(fields), q, k, v, inputs.get("key_lengths"), rows)


def judge_by_oracle(oracle, path, inputs, fields, folder):
    rounded, out = folder / "rounded", folder / "oracle"
    rounded.mkdir(exist_ok=True)
    for name, array in inputs.items():
        wide = array if array.dtype == np.int32 else from_storage(to_storage(array, fields["dtype"]), fields["dtype"])
        np.save(rounded / f"{name}.npy", wide)
    subprocess.run(["/usr/bin/python3", oracle, "run", path, "--in", rounded, "--out", out], check=True)
    return np.load(out / "o.npy")


def size_arguments(args):
    """The '?' sizes, as attnc takes them."""
    given = [(name, getattr(args, name)) for name in ("batch", "queries", "keys")]
    return [text for name, value in given if value is not None for text in (f"--{name}", str(value))]


def run_variant(args, dtype, folder):
    """The error and the tolerance of one storage type."""
    path, fields = variant(args.spec, dtype, folder)
    attnc(args.attnc, "init", path, "--out", folder / "in", "--inputs", "--seed", args.seed, *size_arguments(args))
    flags = ["--target", args.target] if args.target else []
    flags += ["--emulate"] if args.emulate else []
    flags += ["--reference"] if args.reference else []
    attnc(args.attnc, "run", path, "--in", folder / "in", "--out", folder / "out", *flags)
    inputs = {file.stem: np.load(file) for file in (folder / "in").glob("*.npy")}
    if args.judge == "oracle":
        expected = judge_by_oracle(args.oracle, path, inputs, fields, folder)
    else:
        expected = judge_by_reference(fields, inputs)
    got = np.load(folder / "out" / "o.npy")
    if got.shape != expected.shape:
        sys.exit(f"expected an output of shape {expected.shape}, but got {got.shape}")
    tolerance = INTERPRETER_TOLERANCE if args.reference else TOLERANCE[fields["dtype"]]
    return reference.relative_error(got, expected), tolerance


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("spec", type=pathlib.Path)
    parser.add_argument("--attnc", default="attnc")
    parser.add_argument("--dtypes", default="", help="storage types in place of the spec's own, with commas")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--batch", type=int)
    parser.add_argument("--queries", type=int)
    parser.add_argument("--keys", type=int)
    parser.add_argument("--target")
    parser.add_argument("--emulate", action="store_true")
    parser.add_argument("--reference", action="store_true", help="judge the interpreter in place of compiled code")
    parser.add_argument("--judge", choices=["reference", "oracle"], default="reference")
    parser.add_argument("--oracle", help="path of oracle.py")
    args = parser.parse_args()
    failed = False
    for dtype in args.dtypes.split(","):
        with tempfile.TemporaryDirectory() as folder:
            error, tolerance = run_variant(args, dtype, pathlib.Path(folder))
        passed = error <= tolerance
        failed |= not passed
        print(f"{'pass' if passed else 'FAIL'}: {args.spec.stem} {dtype}: relative error {error:.2e}, "
              f"tolerance {tolerance:.0e}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
