"""As much of PyTorch as utils/python/memory.py and gpu_check.py use, on the memory of the runtime tests' stand-in driver.

So device libraries are created, prepared, run and captured as on a GPU; their kernels are written down and not computed,
and outputs keep the bytes of fresh memory, which are NaN. What happens at the n-th graph: ATTUNE_ABORT_AT, ATTUNE_HANG_AT.
"""

import contextlib
import ctypes
import os
import time

import numpy as np

__version__ = "stand-in"
float32, float16, int32, int16, uint8 = (np.dtype(name) for name in ("f4", "f2", "i4", "i2", "u1"))
bfloat16 = "bf16"  # kept as int16

driver = ctypes.CDLL("libcuda.so.1")
HOPPER = (1, 9, 0, 232448)  # devices, capability, shared memory a block
DEVICE = 1 << 62            # as in StandIn.h
graphs, cleared = 0, []


def call(name, *arguments):
    status = getattr(driver, name)(*arguments)
    if status:
        raise RuntimeError(f"{name}: {status}")


def start():
    (ctypes.c_int * len(HOPPER)).in_dll(driver, "standIn")[:] = HOPPER
    call("cuInit", 0)
    context = ctypes.c_void_p()
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 100)
    return context


context = start()


@contextlib.contextmanager
def current():
    call("cuCtxPushCurrent_v2", context)
    try:
        yield
    finally:
        call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))


class Block:
    """Memory of the device, freed with the last tensor that lies in it."""

    def __init__(self, size):
        self.address, self.size = ctypes.c_uint64(), max(size, 1)
        with current():
            call("cuMemAlloc_v2", ctypes.byref(self.address), ctypes.c_size_t(self.size))

    def bytes(self):
        return np.frombuffer((ctypes.c_uint8 * self.size).from_address(self.address.value - DEVICE), np.uint8)

    def __del__(self):
        with current():
            call("cuMemFree_v2", self.address)


class Tensor:
    """Row-major; `host` holds one that was not moved yet."""

    def __init__(self, shape, dtype, block=None, host=None):
        self.shape, self.dtype, self.block, self.host = tuple(shape), dtype, block, host

    def to(self, device):
        moved = empty(self.shape, self.dtype, device)
        moved.array()[...] = self.host
        return moved

    def array(self):
        kind = int16 if self.dtype == bfloat16 else self.dtype
        return self.block.bytes()[:int(np.prod(self.shape)) * kind.itemsize].view(kind).reshape(self.shape)

    def view(self, dtype):
        return Tensor(self.shape, dtype, self.block, self.host)

    def cpu(self):
        return self

    def numpy(self):
        return np.array(self.array())

    def zero_(self):
        cleared.append((self, self.numpy()))
        self.array()[...] = 0

    def data_ptr(self):
        return self.block.address.value

    def stride(self):
        return [int(np.prod(self.shape[i + 1:])) for i in range(len(self.shape))]


def device(kind, ordinal):
    return kind, ordinal


def empty(shape, dtype, device):
    kind = int16 if dtype == bfloat16 else dtype
    shape = (shape,) if isinstance(shape, int) else shape
    return Tensor(shape, dtype, Block(int(np.prod(shape)) * kind.itemsize))


def zeros(count, device):
    return empty((count,), float32, device)


def from_numpy(array):
    return Tensor(array.shape, array.dtype, host=array)


class cuda:
    class CUDAGraph:
        def replay(self):
            """Nothing computes it again: what was cleared is taken to come back."""
            while cleared:
                tensor, before = cleared.pop()
                tensor.array()[...] = before

    class Stream:
        cuda_stream = 0

    @staticmethod
    def current_stream(_):
        return cuda.Stream

    @staticmethod
    def synchronize(_):
        with current():
            call("cuCtxSynchronize")

    @staticmethod
    @contextlib.contextmanager
    def graph(_):
        global graphs
        graphs += 1
        if str(graphs) == os.environ.get("ATTUNE_ABORT_AT"):
            os.abort()
        if str(graphs) == os.environ.get("ATTUNE_HANG_AT"):
            time.sleep(600)
        driver.standInCapture(1)  # from here on, what cannot be captured fails
        try:
            yield
        finally:
            driver.standInCapture(0)
