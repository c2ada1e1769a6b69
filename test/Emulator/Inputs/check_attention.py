"""Compares the first rows of a dumped attention output with float64: check_attention.py KEYS ROWS SCALE Q K V O."""

import sys

import numpy as np


def main():
    keys, rows, scale = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    q, k, v, o = [np.fromfile(path, np.float16).astype(np.float64).reshape(keys, 64) for path in sys.argv[4:8]]
    scores = scale * q[:rows] @ k.T
    weights = 2.0 ** (scores - scores.max(axis=1, keepdims=True))
    expected = weights @ v / weights.sum(axis=1, keepdims=True)
    # A NaN would hide in the maximum of the differences.
    finite = np.isfinite(o[:rows]).all()
    error = np.linalg.norm(o[:rows] - expected) / np.linalg.norm(expected)
    print("values agree" if finite and error < 2e-3 else f"values differ: relative error {error:.3g}, finite: {finite}")


if __name__ == "__main__":
    main()
