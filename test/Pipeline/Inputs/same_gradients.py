"""Two folders have the same gradients of q, k and v, but for a share of their norms."""

import pathlib
import sys

import numpy as np

got, exact = map(pathlib.Path, sys.argv[1:3])
for name in "qkv":
    a, b = (np.load(folder / f"grad_{name}.npy").astype(np.float64) for folder in (got, exact))
    assert a.shape == b.shape and np.linalg.norm(a - b) <= float(sys.argv[3]) * np.linalg.norm(b), name
