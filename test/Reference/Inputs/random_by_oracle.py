"""Random specs are specs to the oracle as well, and the interpreter agrees with it on random inputs.

usage: random_by_oracle.py SHARED_FOLDER COUNT
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np

BOUND = 1e-11


def check(oracle, seed, folder):
    drawn = subprocess.run(["attune-random", "inputs", "--seed", str(seed), "--out", folder], check=True,
                           capture_output=True, text=True)
    spec = oracle.Spec(f"{folder}/spec.yaml")
    with np.errstate(all="ignore"):
        _, expected = oracle.run(f"{folder}/spec.yaml", folder)
    names = ["q", "k", "v"] + ["key_lengths"] * spec.key_lengths
    subprocess.run(["attune-eval", f"{folder}/spec.mlir", "-o", f"{folder}/o.npy"] + [f"{folder}/{n}.npy" for n in names],
                   check=True)
    got = np.load(f"{folder}/o.npy")
    if "in_range 0" in drawn.stdout:  # weights of f64 may underflow, in one order of products and not in another
        return 0.0 if np.isfinite(got).all() else np.inf
    return oracle.errors(got, expected)[0]


def main():
    shared, count = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    sys.path.insert(0, str(shared / "reference"))
    import oracle
    failed = 0
    for seed in range(count):
        with tempfile.TemporaryDirectory() as folder:
            error = check(oracle, seed, folder)
        if not error <= BOUND:
            failed += 1
            print(f"FAIL: seed {seed}: relative error {error:.2e}")
    print(f"{count} seeds, {failed} failed")
    sys.exit(failed > 0)


main()
