"""Where the tensors of a compiled library lie: in host memory as NumPy arrays, or on a GPU as PyTorch tensors.

Both kinds of memory have the same methods, so that a client of a library is written once. Storage types are f32, f16,
bf16 and i32; NumPy keeps bf16 as its 16 bits.
"""

import ctypes
import sys

import numpy as np

from storage import DTYPES, to_storage

WORKSPACE_ALIGNMENT = 64


def why_not(error):
    """Of an error that Cuda() raised: why there is no GPU, and what to do."""
    if isinstance(error, ModuleNotFoundError):
        return f"{sys.executable} has no {error.name}; install it (pip install {error.name}), or put the python3 that has " \
               "it first on PATH"
    first = (str(error).splitlines() or [type(error).__name__])[0]
    return f"{first}; check with nvidia-smi, and CUDA_VISIBLE_DEVICES, that a GPU is there, and that " \
           "this PyTorch is one for CUDA"


def in_storage(array, dtype):
    """An array as files hold it, f32 or i32, in a storage type."""
    return np.ascontiguousarray(array, np.int32) if dtype == "i32" else to_storage(array, dtype)


class Host:
    """NumPy arrays, and the CPU's code."""
    device_type, ordinal, stream = 1, 0, None

    def put(self, array, dtype):
        return in_storage(array, dtype)

    def empty(self, shape, dtype):
        return np.empty(shape, DTYPES[dtype])

    def get(self, tensor):
        """The stored bits, as a NumPy array."""
        return tensor

    def workspace(self, size):
        """(what to keep alive, address)."""
        memory = np.empty(size + WORKSPACE_ALIGNMENT, np.uint8)
        return memory, memory.ctypes.data + (-memory.ctypes.data) % WORKSPACE_ALIGNMENT

    def describe(self, tensor):
        """(address, sizes, strides in elements)."""
        return tensor.ctypes.data, tensor.shape, [stride // tensor.itemsize for stride in tensor.strides]

    def wait(self):
        pass


class Cuda:
    """PyTorch tensors of one GPU, and the code for it; runs go to PyTorch's current stream."""
    device_type = 2

    def __init__(self, ordinal=0):
        import torch
        self.torch, self.ordinal = torch, ordinal
        self.device = torch.device("cuda", ordinal)
        self.dtypes = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i32": torch.int32}
        torch.zeros(1, device=self.device)  # makes the primary context current

    @property
    def stream(self):
        return ctypes.c_void_p(self.torch.cuda.current_stream(self.device).cuda_stream)

    def put(self, array, dtype):
        stored = in_storage(array, dtype)
        tensor = self.torch.from_numpy(stored.view(np.int16) if dtype == "bf16" else stored).to(self.device)
        return tensor.view(self.torch.bfloat16) if dtype == "bf16" else tensor

    def empty(self, shape, dtype):
        return self.torch.empty(tuple(shape), dtype=self.dtypes[dtype], device=self.device)

    def get(self, tensor):
        bits = tensor.dtype == self.torch.bfloat16
        array = (tensor.view(self.torch.int16) if bits else tensor).cpu().numpy()
        return array.view(np.uint16) if bits else array

    def workspace(self, size):
        memory = self.torch.empty(size + WORKSPACE_ALIGNMENT, dtype=self.torch.uint8, device=self.device)
        return memory, memory.data_ptr() + (-memory.data_ptr()) % WORKSPACE_ALIGNMENT

    def describe(self, tensor):
        return tensor.data_ptr(), tuple(tensor.shape), tensor.stride()

    def wait(self):
        self.torch.cuda.synchronize(self.device)
