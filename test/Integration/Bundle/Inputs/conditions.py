"""A case of a bundle with conditioned rows, packed and judged: the bounds travel beside the tolerance, and an infinite one removes no check.

Called with a folder.
"""

import pathlib
import sys

import numpy as np

SOURCE = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(SOURCE / "utils" / "python"))

import case_tensors  # noqa: E402
import gpu_check  # noqa: E402

TOLERANCE = 2e-2


def judged(path, output):
    """What gpu_check says of an output of the packed case."""
    case = gpu_check.Case.__new__(gpu_check.Case)
    case.entry = {"dtype": "bf16", "tolerance": TOLERANCE, "skipped": 1}
    _, case.expected, case.bounds = case_tensors.unpack(path, {})
    return case.judge({"o": output.astype(np.float32)})


def main():
    path = pathlib.Path(sys.argv[1]) / "tensors.npz"
    expected = np.random.default_rng(3).standard_normal((2, 3, 4, 8))  # the first entry is not judged
    bounds = np.zeros((1, 3, 4))
    bounds[0, 0, 0], bounds[0, 0, 1] = np.inf, 0.05
    case_tensors.pack(path, {}, {}, {"o": expected}, bounds, "bf16")
    row = lambda head, place, factor: expected * np.where(np.arange(96).reshape(1, 3, 4, 8) // 8 == 4 * head + place, factor, 1)
    right = [expected, row(0, 0, 1.2), row(0, 1, 1.15), row(2, 2, 1.01)]
    wrong = [0 * expected, -expected, np.nan * expected, row(0, 0, 1.3), row(0, 0, np.nan), row(0, 0, np.inf), row(0, 1, 1.22),
             row(2, 2, 1.03), np.roll(expected, 1, axis=1)]
    said = [judged(path, output) for output in right], [judged(path, output) for output in wrong]
    print(f"{said[0].count('')} of {len(right)} taken, {len(wrong) - said[1].count('')} of {len(wrong)} refused")
    return any(said[0]) or not all(said[1])


if __name__ == "__main__":
    sys.exit(main())
