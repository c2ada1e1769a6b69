"""A NaN in one key: rows of earlier chunks stay finite, its own row does not."""

import pathlib
import sys
import tempfile

import numpy as np

from attnc import attnc, read_spec

CHUNK = 64  # no chunk is longer


def check(spec):
    n = read_spec(spec)["queries"]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        attnc("attnc", "init", spec, "--inputs", "--out", folder)
        keys = np.load(folder / "k.npy")
        for place in (5, n // 2 - 1, n // 2 + 1, n - 1):
            spoiled = keys.copy()
            spoiled[:, :, place, 3] = np.nan
            np.save(folder / "k.npy", spoiled)
            attnc("attnc", "run", spec, "--in", folder, "--out", folder / "out")
            finite = np.isfinite(np.load(folder / "out" / "o.npy")).all(axis=(0, 1, 3))
            if not finite[:max(0, place - CHUNK + 1)].all() or finite[place]:
                sys.exit(f"{spec}: a NaN in key {place}: expected finite rows before its chunk and NaN in its own row, "
                         f"but got NaN from row {np.argmin(finite)} on")


for path in sys.argv[1:]:
    check(pathlib.Path(path))
