"""A compiled attention library in Python: its C ABI through ctypes, nothing else. It runs on the CPU on NumPy arrays,
or, given `memory=Cuda()`, on a GPU on PyTorch tensors.

The order of the tensors is read from the generated header, so this file knows no mechanism.
"""

import contextlib
import ctypes
import dataclasses
import pathlib
import re

from memory import Host, in_storage

CODES = {"f32": (2, 32), "f16": (2, 16), "bf16": (4, 16), "i32": (0, 32)}


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


@dataclasses.dataclass
class Member:
    """A tensor of a generated struct: its storage type, and its sizes as the header writes them."""
    name: str
    dtype: str
    sizes: list
    written: bool

    def describe(self, memory, tensor):
        """A DLTensor that looks at a tensor of that memory, with its strides."""
        address, sizes, steps = memory.describe(tensor)
        rank = len(sizes)
        code, bits = CODES[self.dtype]
        return Tensor(address, Device(memory.device_type, memory.ordinal), rank, DataType(code, bits, 1),
                      (ctypes.c_int64 * rank)(*sizes), (ctypes.c_int64 * rank)(*steps), 0)

    def stored(self, array):
        """An array as files hold it, in the storage type."""
        return in_storage(array, self.dtype)


def members(header, struct):
    """The tensors of a generated struct by name, in its order; none if the library has no such struct."""
    body = re.search(rf"typedef struct {struct} \{{(.*?)\}} {struct};", header, re.S)
    found = re.findall(r"const DLTensor \*(\w+); /\* (\w+) \[(.*?)\](.*?)\*/", body.group(1)) if body else []
    return {name: Member(name, dtype, [size.strip() for size in sizes.split(",")], "written" in more)
            for name, dtype, sizes, more in found}


def bind(struct, arrays, memory):
    """The generated struct with these tensors; those that are not given stay null."""
    unknown = set(arrays) - set(struct)
    if unknown:
        raise LibraryError(f"expected tensors among {', '.join(struct)}, but got {', '.join(sorted(unknown))}")

    class Tensors(ctypes.Structure):
        _fields_ = [("size", ctypes.c_size_t)] + [(name, ctypes.POINTER(Tensor)) for name in struct]

    bound = Tensors(size=ctypes.sizeof(Tensors))
    for name, array in arrays.items():
        setattr(bound, name, ctypes.pointer(struct[name].describe(memory, array)))
    return bound


class Library:
    """NAME_create … NAME_destroy of `folder/libNAME.so`, whose header lies beside it; `backward`: NAME_backward_create ….

    A library with parameters is prepared when they are given, here or to `prepare`; without them, at once.
    """

    def __init__(self, folder, name, dtype, parameters=None, threads=0, isa=None, memory=None, backward=False):
        folder = pathlib.Path(folder).resolve()
        self.dtype, self.memory = dtype, memory or Host()
        header = (folder / f"{name}.h").read_text(encoding="utf-8")
        pass_name = f"{name}_backward" if backward else name
        self.tensors, self.parameters = members(header, f"{pass_name}_tensors"), members(header, f"{pass_name}_parameters")
        if not self.tensors:
            raise LibraryError(f"expected 'struct {pass_name}_tensors' in the generated header, but got none")
        loaded = ctypes.CDLL(str(folder / f"lib{name}.so"))
        self.functions = {part: getattr(loaded, f"{pass_name}_{part}")
                          for part in ("create", "prepare", "workspace", "run", "info", "destroy", "message")}
        self.functions["message"].restype = ctypes.c_char_p
        self.functions["destroy"].restype = None
        self.handle = ctypes.c_void_p()
        options = Options(ctypes.sizeof(Options), 1, threads, self.memory.device_type, self.memory.ordinal, None, None,
                          isa.encode() if isa else None)
        self.call("create", ctypes.byref(options), ctypes.byref(self.handle))
        if parameters or not self.parameters:
            self.prepare(parameters or {})

    def prepare(self, parameters, memory=None):
        """Parameters by the names that a spec gives them (`part0.omega`), in f32 or i32; the library copies them, from
        the host's memory unless another is given."""
        memory = memory or Host()
        named = {name.replace(".", "_"): array for name, array in parameters.items()}
        arrays = {name: memory.put(array, self.parameters[name].dtype) if name in self.parameters else array
                  for name, array in named.items()}
        bound = bind(self.parameters, arrays, memory)
        self.call("prepare", self.handle, ctypes.byref(bound) if arrays else None)

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
        return bind(self.tensors, arrays, self.memory)

    def outputs(self, **inputs):
        """Arrays for all outputs by their names, for these inputs, their sizes taken from theirs."""
        sizes = {}
        for name, array in inputs.items():
            for size, actual in zip(self.tensors[name].sizes, array.shape):
                open_size, more, _ = size.partition(" + 1")  # offsets say where sequences begin, and where the last one ends
                sizes[open_size] = actual - (1 if more else 0)
        shapes = {member.name: [int(size) if size.isdigit() else sizes[size] for size in member.sizes]
                  for member in self.tensors.values() if member.written}
        return {name: self.memory.empty(shape, self.tensors[name].dtype) for name, shape in shapes.items()}

    def output(self, **inputs):
        """(name, array) of the output alone."""
        return next(iter(self.outputs(**inputs).items()))

    def workspace_bytes(self, bound):
        size = ctypes.c_size_t()
        self.call("workspace", self.handle, ctypes.byref(bound), ctypes.byref(size))
        return size.value

    def runner(self, **arrays):
        """A function without arguments that runs once on these arrays, and the bytes of its workspace."""
        bound = self.bind(**arrays)
        size = self.workspace_bytes(bound)
        kept, start = self.memory.workspace(size)

        def run(keep=(kept, arrays)):
            self.call("run", self.handle, ctypes.byref(bound), ctypes.c_void_p(start), ctypes.c_size_t(size),
                      self.memory.stream)

        return run, size

    def __call__(self, *qkv, **more):
        """The output for inputs in storage type: q, k, v in order, or all by name."""
        inputs = {**dict(zip(("q", "k", "v"), qkv)), **more}
        name, result = self.output(**inputs)
        run, _ = self.runner(**inputs, **{name: result})
        run()
        return result


@contextlib.contextmanager
def opened(*arguments, **options):
    library = Library(*arguments, **options)
    try:
        yield library
    finally:
        library.close()
