"""What users of other libraries complain of: offsets beyond 32 bits, strides, alignment, and errors that name no cause."""

import mmap

import numpy as np

from library import LibraryError
from properties.table import BLOCK, CAUSAL_MEANS, COMPRESSED, MEANS, holds

# Not counted against memory before it is touched.
NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)
STEP = (1 << 31) // 24 + 64
LENGTHS = {"key_lengths": True}
CI = "softmax", "elu1", "favor", "effatt", "agent", "eva"


def sparse(shape, strides, dtype):
    """An array of huge strides, in elements, over memory of which only the touched pages exist."""
    span = sum((size - 1) * stride for size, stride in zip(shape, strides)) + 1
    size = np.dtype(dtype).itemsize
    memory = mmap.mmap(-1, span * size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE)
    array = np.frombuffer(memory, dtype, span)
    return np.lib.stride_tricks.as_strided(array, shape, [stride * size for stride in strides], writeable=True)


def far(array, strides):
    """A copy of the array whose last elements lie beyond 2³¹ elements from its first."""
    copy = sparse(array.shape, strides, array.dtype)
    copy[...] = array
    assert sum((size - 1) * stride for size, stride in zip(array.shape, strides)) > 1 << 31
    return copy


def far_strides(shape):
    """{what: strides in elements}: far apart are the rows, the heads, or the entries of the batch."""
    batch, heads, rows, width = shape
    beyond = (1 << 31) + 128
    yield "rows", (width, batch * width, STEP, 1)
    yield "heads", (heads * beyond, beyond, width, 1) if heads > 1 else (beyond, beyond, width, 1)
    yield "batch", (beyond, rows * width, width, 1)


@holds("32-bit offsets overflow beyond 2³¹ elements (pytorch#145869)", compiled_only=True)
def beyond_two_to_the_31(run, draw):
    tables = (MEANS, CI, {}), (CAUSAL_MEANS, ("softmax", "elu1"), {"causal": True}), (COMPRESSED, ("linformer",), {})
    for table, some, more in tables:
        for name, mechanism in draw.some(table, *some).items():
            fields = draw.spec(mechanism, **more, **(LENGTHS if table is not COMPRESSED else {}))
            tensors = draw.tensors(fields, 40)
            expected, library = run(fields, tensors), run.library(fields)
            stored = {key: library.tensors[key].stored(x) for key, x in tensors.items() if key in library.tensors}
            result = np.zeros((*stored["q"].shape[:3], draw.dv), stored["v"].dtype)
            for what in ("rows", "heads", "batch"):
                place = lambda x: far(x, dict(far_strides(x.shape))[what])
                arrays = {key: place(x) if x.ndim == 4 else x for key, x in stored.items()} | {"o": place(result)}
                once, _ = library.runner(**arrays)
                once()
                yield f"{name}, {what}", run.widened(arrays["o"], fields["dtype"]), expected, True


@holds("tensors that are aligned to their elements only", compiled_only=True)
def unaligned(run, draw):
    def moved(array):
        memory = np.zeros(array.nbytes + 64, np.uint8)
        start = (-memory.ctypes.data) % 64 + array.itemsize
        view = memory[start:start + array.nbytes].view(array.dtype).reshape(array.shape)
        view[...] = array
        return view

    for name, mechanism in MEANS.items():
        fields = draw.spec(mechanism, **LENGTHS)
        tensors = draw.tensors(fields, draw.length(BLOCK))
        expected, library = run(fields, tensors), run.library(fields)
        stored = {key: moved(library.tensors[key].stored(x)) for key, x in tensors.items() if key in library.tensors}
        stored["o"] = moved(np.zeros((*stored["q"].shape[:3], draw.dv), stored["v"].dtype))
        once, _ = library.runner(**stored)
        once()
        yield name, run.widened(stored["o"], fields["dtype"]), expected, True


def refusals(draw, stored):
    """(what, wrong tensors, words of the message)"""
    q = stored["q"]
    yield "rank", {"q": q[0]}, ["'q'", "expected rank 4", "got rank 3"]
    yield "width", {"q": np.ascontiguousarray(q[..., 1:])}, ["'q'", f"expected size {draw.d}", f"got {draw.d - 1}"]
    yield "heads", {"k": stored["k"][:, :0]}, ["'k'", f"expected size {draw.kv_heads}", "got 0"]
    yield "batch", {"v": stored["v"][:1]}, ["'v'", "expected size 2", "got 1"]
    yield "keys", {"v": stored["v"][:, :, 1:]}, ["'v'", "expected size", "keys"]
    yield "inner stride", {"q": np.repeat(q, 2, axis=-1)[..., ::2]}, ["'q'", "stride", "1"]
    yield "lengths", {"key_lengths": np.array([1, 10 ** 6], np.int32)}, ["'key_lengths'", "1000000"]
    yield "negative lengths", {"key_lengths": np.array([-1, 1], np.int32)}, ["'key_lengths'", "-1"]


@holds("errors that name no cause (cudnn-frontend#147, tilelang#1165): shapes, strides and lengths that cannot be", compiled_only=True)
def named_causes(run, draw):
    fields = draw.spec(MEANS["softmax"], **LENGTHS)
    tensors = draw.tensors(fields, 9)
    library = run.library(fields)
    stored = {key: library.tensors[key].stored(x) for key, x in tensors.items()}
    output = {"o": np.full((2, draw.heads, 9, draw.dv), 7, stored["v"].dtype)}
    for what, wrong, words in refusals(draw, stored):
        try:
            library.runner(**(stored | wrong | output))[0]()
            yield what, "accepted", "refused"
        except LibraryError as error:
            missing = [word for word in words if word not in str(error)]
            yield f"{what}: {error}", np.array(missing), np.array([])
        yield f"{what}: nothing written", np.all(output["o"] == 7), True


@holds("storage types that do not match are refused, not read as something else", compiled_only=True)
def other_types(run, draw):
    fields = draw.spec(MEANS["softmax"], **LENGTHS)
    tensors, library = draw.tensors(fields, 9), run.library(fields)
    stored = {key: library.tensors[key].stored(x) for key, x in tensors.items()}
    for dtype in {"f32", "f16", "bf16", "i32"} - {fields["dtype"]}:
        member, own = library.tensors["k"], library.tensors["k"].dtype
        member.dtype = dtype
        try:
            library.runner(**stored, o=np.zeros((2, draw.heads, 9, draw.dv), stored["v"].dtype))[0]()
            yield dtype, "accepted", "refused"
        except LibraryError as error:
            yield f"{dtype}: {error}", f"expected dtype {own}, but got {dtype}" in str(error), True
        finally:
            member.dtype = own
