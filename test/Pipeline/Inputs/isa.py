"""Runs the library of softmax_bf16 for every instruction set, and that for this machine alone, on the CPU."""
import pathlib
import sys

import numpy as np

from library import opened
from storage import to_storage

folder = pathlib.Path(sys.argv[1])
q, k, v = (to_storage(np.random.default_rng(i).standard_normal((1, 4, 20, 64)), "bf16") for i in range(3))
results = []
for kind in ("all", "native"):
    with opened(folder / kind, "softmax_bf16", "bf16", threads=1) as library:
        results.append((library.info().isa, library(q, k, v).tobytes()))
print("the same instruction set, the same bits" if results[0] == results[1] else f"got {results[0][0]} and {results[1][0]}")
