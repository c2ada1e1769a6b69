"""Random specs through `attnc run`, judged by the float64 interpreter of attn on the same inputs.

Each seed draws a spec and its tensors (`attune-random inputs --seed S`): every size, mask and storage type, large logits,
NaN in rows that do not exist. Inputs beyond the range of the tolerances must give a finite output and no more.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import yaml

import reference
from attnc import attnc
from run_case import TOLERANCE

LARGE_LOGIT = 32


def draw(seed, folder):
    """Writes spec and tensors to the folder; (spec's fields, largest |logit|, whether the tolerances hold)."""
    result = subprocess.run(["attune-random", "inputs", "--seed", str(seed), "--out", folder], check=True,
                            capture_output=True, text=True)
    words = result.stdout.split()
    fields = yaml.safe_load((folder / "spec.yaml").read_text(encoding="utf-8"))
    return fields, float(words[words.index("largest_logit") + 1]), words[words.index("in_range") + 1] == "1"


def judge(folder, fields):
    names = ["q", "k", "v"] + (["key_lengths"] if fields["key_lengths"] else [])
    tensors = [folder / f"{name}.npy" for name in names]
    subprocess.run(["attune-eval", folder / "spec.mlir", "-o", folder / "o.npy", *tensors], check=True)
    return np.load(folder / "o.npy")


def check(args, seed, folder):
    """What is wrong with the seed's output, or an empty string; None where the target does not take the spec."""
    fields, largest_logit, in_range = draw(seed, folder)
    if args.emulate and fields["dtype"] == "f32":
        return None
    flags = (["--target", args.target] if args.target else []) + (["--emulate"] if args.emulate else [])
    attnc(args.attnc, "run", folder / "spec.yaml", "--in", folder, "--out", folder / "out", *flags)
    got = np.load(folder / "out" / "o.npy").astype(np.float64)
    if not np.isfinite(got).all():
        return "expected a finite output"
    if not in_range:
        return ""
    tolerance = TOLERANCE[fields["dtype"]] * (2 if largest_logit > LARGE_LOGIT else 1)
    error = reference.relative_error(got, judge(folder, fields))
    return "" if error <= tolerance else f"relative error {error:.2e}, tolerance {tolerance:.0e}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--attnc", default="attnc")
    parser.add_argument("--target")
    parser.add_argument("--emulate", action="store_true")
    args = parser.parse_args()
    run = failed = 0
    for seed in range(args.first, args.first + args.count):
        with tempfile.TemporaryDirectory() as folder:
            wrong = check(args, seed, pathlib.Path(folder))
        run += wrong is not None
        if wrong:
            failed += 1
            print(f"FAIL: seed {seed}: {wrong} (attune-random spec --seed {seed})", flush=True)
    print(f"{run} seeds, {failed} failed")
    sys.exit(failed > 0 or not run)


main()
