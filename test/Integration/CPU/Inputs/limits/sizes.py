"""The workspace of a compiled library for one token, asked for sizes up to 2^62: it is what a line through the small sizes gives, or
refused where that or a tensor is more than 2^56 bytes."""

import ctypes
import sys

import numpy as np

from library import CODES, DataType, Device, LibraryError, Tensor, opened

LIMIT = 2**56


def question(library, **sizes):
    """The struct of tensors without data, and the bytes of the largest."""
    arrays, largest = {}, 0
    for name, member in library.tensors.items():
        if member.sizes and name != "lse":
            shape = [int(size) if size.isdigit() else sizes[size] for size in member.sizes]
            code, bits = CODES[member.dtype]
            arrays[name] = Tensor(None, Device(1, 0), len(shape), DataType(code, bits, 1),
                                  (ctypes.c_int64 * len(shape))(*shape), None, 0)
            largest = max(largest, bits // 8 * int(np.prod([*shape], dtype=object)))

    class Tensors(ctypes.Structure):
        _fields_ = [("size", ctypes.c_size_t)] + [(name, ctypes.POINTER(Tensor)) for name in library.tensors]

    bound = Tensors(size=ctypes.sizeof(Tensors))
    for name, tensor in arrays.items():
        setattr(bound, name, ctypes.pointer(tensor))
    return bound, largest


def asked(library, **sizes):
    """Bytes of workspace, or the message; and the bytes of the largest tensor."""
    bound, largest = question(library, **sizes)
    try:
        return library.workspace_bytes(bound), largest
    except LibraryError as error:
        return str(error), largest


def check_batches(library):
    one, two = (asked(library, batch=batch, n=1, N=1)[0] for batch in (1, 2))
    assert two > one, "the plan has no workspace that grows with the batch"
    answered = refused = 0
    for batch in sorted({2**power + more for power in range(1, 63) for more in (-1, 0, 1)}):
        got, largest = asked(library, batch=batch, n=1, N=1)
        expected = one + (two - one) * (batch - 1)
        if largest > LIMIT:
            assert "bytes of elements, but got sizes [" in str(got), (batch, got)
        elif expected > LIMIT:
            assert f"2^56 bytes of workspace, but batch {batch} with 1 queries" in str(got), (batch, got)
            refused += 1
        else:
            assert got == expected, (batch, got, expected)
            answered += 1
    print(f"{answered} answered, {refused} refused for the workspace")


def main(folder):
    rng = np.random.default_rng(0)
    with opened(folder, "limits", "f32", {"omega": rng.standard_normal((1, 512, 8), np.float32)}) as library:
        check_batches(library)
    with opened(folder, "narrow", "f32") as library:
        print(asked(library, batch=2**25, n=2**30, N=2**30)[0])


main(sys.argv[1])
