"""Exact gradients, by the oracle beside the checkout: a process of its own, for its modules have names that ours have too.

  oracle_gradients.py FOLDER SPEC --in DIR --out DIR     FOLDER: where oracle.py and backward.py lie

Writes exact/NAME.npy, and uncancelled/NAME.npy in which every divisor is held constant, in float64.
"""

import argparse
import pathlib
import sys

import numpy as np


def save(gradients, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, gradient in gradients.items():
        np.save(folder / f"{name}.npy", gradient)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("spec")
    parser.add_argument("--in", dest="given", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    sys.path.insert(0, args.folder)
    import backward  # pylint: disable=import-outside-toplevel,import-error
    import oracle  # pylint: disable=import-outside-toplevel,import-error
    spec = oracle.Spec(args.spec)
    tensors = oracle.load(spec, args.given)
    cotangents = backward.load_cotangents(spec, args.given)
    save(backward.gradients(spec, tensors, cotangents), args.out / "exact")
    save(backward.uncancelled(spec, tensors, cotangents), args.out / "uncancelled")


if __name__ == "__main__":
    main()
