"""A compiled attention library in Python: its C ABI through ctypes, nothing else.

The order of the tensors is read from the generated header, so this file knows no mechanism.
"""

import contextlib
import ctypes
import pathlib
import re

import numpy as np

from storage import DTYPES

CODES = {"f32": (2, 32), "f16": (2, 16), "bf16": (4, 16), "i32": (0, 32)}
WORKSPACE_ALIGNMENT = 64


class Device(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32)]


class DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    """DLPack's DLTensor."""
    _fields_ = [("data", ctypes.c_void_p), ("device", Device), ("ndim", ctypes.c_int32), ("dtype", DataType),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class Options(ctypes.Structure):
    """attune_options of ABI version 1."""
    _fields_ = [("size", ctypes.c_size_t), ("version", ctypes.c_uint32), ("threads", ctypes.c_int32),
                ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("parallel_for", ctypes.c_void_p),
                ("parallel_for_context", ctypes.c_void_p), ("isa", ctypes.c_char_p)]


class PlanInfo(ctypes.Structure):
    _fields_ = [("form", ctypes.c_char_p), ("from_length", ctypes.c_int64), ("scratch_bytes", ctypes.c_size_t)]


class Info(ctypes.Structure):
    """attune_info of ABI version 1."""
    _fields_ = [("size", ctypes.c_size_t), ("version", ctypes.c_uint32), ("plan_count", ctypes.c_int32),
                ("name", ctypes.c_char_p), ("summary", ctypes.c_char_p), ("compiler", ctypes.c_char_p),
                ("isa", ctypes.c_char_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("threads", ctypes.c_int32), ("reserved", ctypes.c_uint32), ("scratch_bytes", ctypes.c_size_t),
                ("batch", ctypes.c_int64), ("queries", ctypes.c_int64), ("keys", ctypes.c_int64),
                ("heads", ctypes.c_int64), ("kv_heads", ctypes.c_int64), ("head_dim", ctypes.c_int64),
                ("value_dim", ctypes.c_int64), ("plans", PlanInfo * 3)]


class LibraryError(Exception):
    """A status other than ATTUNE_OK, with the library's own message."""


def describe(array, dtype):
    """A DLTensor that looks at a NumPy array, with the array's strides."""
    rank = array.ndim
    code, bits = CODES["i32" if array.dtype == np.int32 else dtype]
    steps = [stride // array.itemsize for stride in array.strides]
    return Tensor(array.ctypes.data, Device(1, 0), rank, DataType(code, bits, 1),
                  (ctypes.c_int64 * rank)(*array.shape), (ctypes.c_int64 * rank)(*steps), 0)


def tensor_names(header, name):
    """The tensors of NAME_run, in the order of the generated struct."""
    body = re.search(rf"typedef struct {name}_tensors \{{(.*?)\}} {name}_tensors;", header, re.S)
    if not body:
        raise LibraryError(f"expected 'struct {name}_tensors' in the generated header, but got none")
    return re.findall(r"const DLTensor \*(\w+);", body.group(1))


class Library:
    """NAME_create … NAME_destroy of `folder/libNAME.so`, whose header lies beside it."""

    def __init__(self, folder, name, dtype, threads=0, isa=None):
        folder = pathlib.Path(folder).resolve()
        self.dtype = dtype
        self.names = tensor_names((folder / f"{name}.h").read_text(encoding="utf-8"), name)
        loaded = ctypes.CDLL(str(folder / f"lib{name}.so"))
        self.functions = {part: getattr(loaded, f"{name}_{part}")
                          for part in ("create", "prepare", "workspace", "run", "info", "destroy", "message")}
        self.functions["message"].restype = ctypes.c_char_p
        self.functions["destroy"].restype = None
        self.handle = ctypes.c_void_p()
        options = Options(ctypes.sizeof(Options), 1, threads, 1, 0, None, None, isa.encode() if isa else None)
        self.call("create", ctypes.byref(options), ctypes.byref(self.handle))
        self.call("prepare", self.handle, None)

    def call(self, part, *arguments):
        status = self.functions[part](*arguments)
        if status != 0:
            raise LibraryError(f"{part}: {self.functions['message']().decode()} (status {status})")

    def close(self):
        self.functions["destroy"](self.handle)
        self.handle = ctypes.c_void_p()

    def info(self):
        info = Info(size=ctypes.sizeof(Info))
        self.call("info", self.handle, ctypes.byref(info))
        return info

    def bind(self, **arrays):
        """The struct of tensors; names that are not given stay null."""
        unknown = set(arrays) - set(self.names)
        if unknown:
            raise LibraryError(f"expected tensors among {', '.join(self.names)}, but got {', '.join(sorted(unknown))}")
        described = {name: describe(array, self.dtype) for name, array in arrays.items()}

        class Tensors(ctypes.Structure):
            _fields_ = [("size", ctypes.c_size_t)] + [(name, ctypes.POINTER(Tensor)) for name in self.names]

        bound = Tensors(size=ctypes.sizeof(Tensors))
        for name, tensor in described.items():
            setattr(bound, name, ctypes.pointer(tensor))
        return bound

    def workspace_bytes(self, bound):
        size = ctypes.c_size_t()
        self.call("workspace", self.handle, ctypes.byref(bound), ctypes.byref(size))
        return size.value

    def runner(self, **arrays):
        """A function without arguments that runs once on these arrays, and the bytes of its workspace."""
        bound = self.bind(**arrays)
        size = self.workspace_bytes(bound)
        memory = np.empty(size + WORKSPACE_ALIGNMENT, np.uint8)
        start = memory.ctypes.data + (-memory.ctypes.data) % WORKSPACE_ALIGNMENT

        def run(keep=(memory, arrays)):
            self.call("run", self.handle, ctypes.byref(bound), ctypes.c_void_p(start), ctypes.c_size_t(size), None)

        return run, size

    def __call__(self, q, k, v, **more):
        """The output for inputs in storage type; `more` names key_lengths and the like."""
        o = np.empty((*q.shape[:3], v.shape[3]), DTYPES[self.dtype])
        run, _ = self.runner(q=q, k=k, v=v, o=o, **more)
        run()
        return o


@contextlib.contextmanager
def opened(*arguments, **options):
    library = Library(*arguments, **options)
    try:
        yield library
    finally:
        library.close()
