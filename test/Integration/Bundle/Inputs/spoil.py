"""Spoils a bundle: what one case expects, and what the judge of the benchmarks takes for a random feature."""
import pathlib
import sys

import numpy as np

bundle = pathlib.Path(sys.argv[1])
tensors = bundle / "cases" / "agents" / "tensors.npz"
arrays = dict(np.load(tensors))
arrays["expected: o"] = 2 * arrays["expected: o"]
np.savez_compressed(tensors, **arrays)
peers = bundle / "python" / "gpu_definitions.py"
text = peers.read_text(encoding="utf-8")
assert text.count("** -0.25") == 1
peers.write_text(text.replace("** -0.25", "** -0.5"), encoding="utf-8")
