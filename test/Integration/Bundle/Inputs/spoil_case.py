"""Doubles what a case of a bundle expects of one output: BUNDLE CASE OUTPUT."""
import pathlib
import sys

import numpy as np

tensors = pathlib.Path(sys.argv[1]) / "cases" / sys.argv[2] / "tensors.npz"
arrays = dict(np.load(tensors))
arrays[f"expected: {sys.argv[3]}"] *= 2
np.savez(tensors, **arrays)
