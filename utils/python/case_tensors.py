"""The tensors of a case of a bundle, as small as they go.

Inputs that are no more than normal numbers are not packed: they are drawn where they are needed, from a seed, with the
same bits on every machine. The rest is kept as the spec's storage type holds it, which is what a library and the
interpreter read of it; what is expected, in f32 or, where the tolerance is a thousand times as wide, in 16 bits of
mantissa.
"""

import zlib

import numpy as np

from storage import from_storage, is_always_f32, to_storage

# Of which a bundle draws examples' rows.
DRAWN = ("q", "k", "v", "x", "context")
UNIFORMS = 12  # their sum has variance 1
# Names in the file of what is no tensor of the library.
EXPECTED, BOUNDS = "expected: ", "bounds"


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


def narrowed(name, array, dtype):
    return array if array.dtype == np.int32 or is_always_f32(name) else to_storage(array, dtype)


def widened(array):
    return array if array.dtype == np.int32 else from_storage(array, "bf16" if array.dtype == np.uint16 else "f32")


def sixteen_bits(expected):
    """f32 whose mantissa ends after 16 bits."""
    bits = np.ascontiguousarray(expected, np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x40)) & np.uint32(0xFFFFFF80)
    return np.where(np.isfinite(expected), rounded, bits).astype(np.uint32).view(np.float32)


def pack(path, arrays, drawn, expected, bounds, dtype):
    """Writes what is not drawn again; uncompressed, for the whole bundle is compressed at once. `expected`: the outputs by their
    names. `bounds` of the rows' errors, or None, as the judge takes them."""
    kept = {name: narrowed(name, array, dtype) for name, array in arrays.items() if name not in drawn}
    judged = {EXPECTED + name: array if dtype == "f32" or array.dtype == np.int32 else sixteen_bits(array)
              for name, array in expected.items()}
    if bounds is not None:
        judged[BOUNDS] = bounds.astype(np.float32)
    np.savez(path, **judged, **kept)


def unpack(path, drawn):
    """(f32 and i32 arrays by name, what is expected by its name, bounds or None). A ValueError if this machine draws other numbers."""
    with np.load(path) as file:
        expected = {name[len(EXPECTED):]: file[name] for name in file.files if name.startswith(EXPECTED)}
        bounds = file[BOUNDS] if BOUNDS in file.files else None
        arrays = {name: widened(file[name]) for name in file.files if name != BOUNDS and not name.startswith(EXPECTED)}
    for name, how in drawn.items():
        arrays[name] = draw(how["seed"], how["shape"])
        if zlib.crc32(arrays[name].tobytes()) != how["sum"]:
            raise ValueError(f"{name}: expected the numbers that the bundle was made with, but this NumPy draws others")
    return arrays, expected, bounds
