"""How far an output in a storage type is from the exact one."""

import numpy as np

# The largest number of a storage type.
LARGEST = {"f32": (2 - 2.0 ** -23) * 2.0 ** 127, "f16": 65504.0, "bf16": (2 - 2.0 ** -7) * 2.0 ** 127}
# What an output may be off near 0 whatever the exact one is: half the distance of f16's numbers there; below the normal numbers
# of f32, whose exponents bf16 has too, arithmetic may give 0 (powers are rescaled, ex2.approx.ftz flushes).
NEAR_ZERO = {"f32": 2.0 ** -126, "f16": 2.0 ** -25, "bf16": 2.0 ** -126}


def storage_error(got, expected, dtype):
    """Relative Frobenius error of an output in a storage type against the exact one.

    What the type cannot hold is judged by what it holds in its place: beyond its largest number infinity, which counts
    as that number, and of an error what may be lost near 0.
    """
    largest, lost = LARGEST[dtype], NEAR_ZERO[dtype]
    held, wanted = np.clip(got, -largest, largest), np.clip(expected, -largest, largest)
    difference = np.linalg.norm(np.maximum(np.abs(held - wanted) - lost, 0).ravel())
    if difference == 0:
        return 0.0
    size = np.linalg.norm(wanted.ravel())
    return difference / size if size > 0 and np.isfinite(difference) else np.inf
