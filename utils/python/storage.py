"""The three storage types, f32, f16 and bf16, as NumPy arrays; NumPy has no bf16, so it is kept as its 16 bits."""

import numpy as np

# Tensors that are f32 in every dtype, after the name of their part.
ALWAYS_F32 = ("log_decay", "g", "beta", "w", "slope")

DTYPES = {"f32": np.float32, "f16": np.float16, "bf16": np.uint16, "i32": np.int32}


def is_always_f32(name):
    return name.split(".")[-1] in ALWAYS_F32 or "state." in name


def bf16_bits(x):
    """Round to nearest even."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(x), np.uint32(0x7FC0), rounded).astype(np.uint16)


def to_storage(x, dtype):
    if dtype == "f16":
        with np.errstate(over="ignore"):  # what f16 does not hold is infinite, as it is meant to be
            return np.ascontiguousarray(x, np.float16)
    return bf16_bits(x) if dtype == "bf16" else np.ascontiguousarray(x, DTYPES[dtype])


def from_storage(x, dtype):
    """The stored values as f32, exactly."""
    return (x.astype(np.uint32) << 16).view(np.float32) if dtype == "bf16" else x.astype(np.float32)
