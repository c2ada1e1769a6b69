"""The tensors of a case of a bundle, as small as they go.

Inputs that are no more than normal numbers are not packed: they are drawn where they are needed, from a seed, with the
same bits on every machine. The rest is kept as the spec's storage type holds it, which is what a library and the
interpreter read of it; what is expected, in f32 or, where the tolerance is a thousand times as wide, in 16 bits of
mantissa.
"""

import zlib

import numpy as np

from storage import from_storage, to_storage

# Of which a bundle draws examples' rows.
DRAWN = ("q", "k", "v", "x", "context")
UNIFORMS = 12  # their sum has variance 1


def draw(seed, shape):
    """Nearly standard normal f32: sums of uniform numbers, so that no library's logarithm has a say in the bits; of a
    generator whose stream NumPy keeps for good."""
    state, total = np.random.RandomState(seed), np.zeros(shape)
    for _ in range(UNIFORMS):
        total += state.random_sample(shape)
    return (total - UNIFORMS / 2).astype(np.float32)


def draw_inputs(shapes, seed):
    """(arrays, what `pack` needs to know of them) for inputs by name."""
    seeds = {name: seed + i for i, name in enumerate(sorted(shapes))}
    arrays = {name: draw(seeds[name], shape) for name, shape in shapes.items()}
    return arrays, {name: {"seed": seeds[name], "shape": list(shape), "sum": zlib.crc32(arrays[name].tobytes())}
                    for name, shape in shapes.items()}


def narrowed(array, dtype):
    return array if array.dtype == np.int32 else to_storage(array, dtype)


def widened(array, dtype):
    return array if array.dtype == np.int32 else from_storage(array, dtype)


def sixteen_bits(expected):
    """f32 whose mantissa ends after 16 bits."""
    bits = np.ascontiguousarray(expected, np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x40)) & np.uint32(0xFFFFFF80)
    return np.where(np.isfinite(expected), rounded, bits).astype(np.uint32).view(np.float32)


def pack(path, arrays, drawn, expected, bounds, dtype):
    """Writes what is not drawn again; uncompressed, for the whole bundle is compressed at once. `bounds` of the rows' errors, or
    None, as the judge takes them."""
    kept = {name: narrowed(array, dtype) for name, array in arrays.items() if name not in drawn}
    judged = {"expected": expected if dtype == "f32" else sixteen_bits(expected)}
    if bounds is not None:
        judged["bounds"] = bounds.astype(np.float32)
    np.savez(path, **judged, **kept)


def unpack(path, drawn, dtype):
    """(f32 and i32 arrays by name, expected, bounds or None). A ValueError if this machine draws other numbers."""
    with np.load(path) as file:
        judged = {name: file[name] for name in ("expected", "bounds") if name in file.files}
        arrays = {name: widened(file[name], dtype) for name in file.files if name not in judged}
    for name, how in drawn.items():
        arrays[name] = draw(how["seed"], how["shape"])
        if zlib.crc32(arrays[name].tobytes()) != how["sum"]:
            raise ValueError(f"{name}: expected the numbers that the bundle was made with, but this NumPy draws others")
    return arrays, judged["expected"], judged.get("bounds")
