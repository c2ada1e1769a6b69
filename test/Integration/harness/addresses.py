"""Runs the CPU code of specs with every load and store checked by AddressSanitizer, on tensors that end where their memory
does. To be started with AddressSanitizer's library preloaded, which ends the process at the first wrong address.

What must be caught: `--too-small` tells the library of one output row more than there is. `--short-shape` and
`--crooked-shape` give sizes of a tensor that end one too early, or lie at no multiple of their own size: what the runtime reads,
which only an instrumented one tells of the second. Of the first AddressSanitizer knows where PYTHONMALLOC=malloc has Python ask it
for memory.
"""

import argparse
import ctypes
import os
import pathlib
import subprocess
import tempfile

import numpy as np

from attnc import attnc, compile_spec
from library import opened
from memory import Host

SIZES = {"batch": 2, "n": 130, "N": 130}  # no tile divides it, but the blocks of the specs do
ALIGNMENT = 64


class Exact(Host):
    """Workspaces of exactly the bytes that are asked for."""
    libc = ctypes.CDLL(None)
    libc.free.argtypes = [ctypes.c_void_p]

    def workspace(self, size):
        address = ctypes.c_void_p()
        assert self.libc.posix_memalign(ctypes.byref(address), ALIGNMENT, ctypes.c_size_t(max(size, 1))) == 0
        return None, address.value


class OneRowMore(Exact):
    """Describes the smaller of two arrays with the sizes and strides of the larger."""

    def __init__(self, small, large):
        self.small, self.large = small, large

    def describe(self, tensor):
        address, *layout = super().describe(tensor)
        return address, *(super().describe(self.large)[1:] if tensor is self.small else layout)


def runtime_archive():
    """(path, what it is called here): the instrumented runtime where the build has one, else the one that ships."""
    folder = pathlib.Path(subprocess.check_output(["which", "attnc"], text=True).strip()).parents[1] / "lib"
    checked = folder / "libAttuneRuntimeChecked.a"
    return (checked, "instrumented runtime") if checked.exists() else (folder / "libattune_rt.a", "runtime as it ships")


def link_checked(spec, folder, name, isa):
    """In the place of the library one whose kernels, plans and descriptor check their addresses, with what its runtime is."""
    archive, runtime = runtime_archive()
    subprocess.run(["attnc", "compile", spec, "--isa", isa, "--emit", "obj", "-o", folder / "checked.o"], check=True,
                   stdout=subprocess.DEVNULL, env={**os.environ, "ATTUNE_SANITIZE": "address"})
    subprocess.run(["clang-22", "-shared", "-fsanitize=address,undefined", "-shared-libsan", "-Wl,--gc-sections", "-Wl,-z,defs",
                    folder / "checked.o", archive, "-lpthread", "-ldl", "-o", folder / f"lib{name}.so"], check=True)
    return runtime


def draw(member, rng):
    """An input: of key lengths the first is the longest."""
    shape = [int(size) if size.isdigit() else SIZES[size] for size in member.sizes]
    if member.dtype != "i32":
        return rng.standard_normal(shape, np.float32)
    return np.array([SIZES["N"], *rng.integers(0, SIZES["N"] + 1, shape[0] - 1)], np.int32)


def ask_with_shape(library, arrays, wrong):
    """Asks for the workspace with an output whose sizes are one too few, or four bytes off."""
    bound = library.bind(**arrays)
    written = next(name for name, member in library.tensors.items() if member.written)
    tensor = getattr(bound, written).contents
    sizes = tensor.shape[:tensor.ndim]
    if wrong == "short":
        kept = (ctypes.c_int64 * (tensor.ndim - 1))(*sizes[:-1])
        tensor.shape = kept
    else:
        kept = (ctypes.c_int64 * (tensor.ndim + 1))()
        start = ctypes.addressof(kept) + 4
        ctypes.memmove(start, tensor.shape, 8 * tensor.ndim)
        tensor.shape = ctypes.cast(start, ctypes.POINTER(ctypes.c_int64))
    library.workspace_bytes(bound)


def run(library, wrong):
    rng = np.random.default_rng(0)
    memory = library.memory = Exact()
    arrays = {}
    for name, member in library.tensors.items():
        drawn = draw(member, rng)
        arrays[name] = memory.empty(drawn.shape, member.dtype) if member.written else memory.put(drawn, member.dtype)
    if wrong in ("short", "crooked"):
        ask_with_shape(library, arrays, wrong)
    if wrong == "small":
        name, full = next((name, arrays[name]) for name, member in library.tensors.items() if member.written)
        arrays[name] = np.empty(full.size - full.shape[-1], full.dtype)
        library.memory = OneRowMore(arrays[name], full)
    library.runner(**arrays)[0]()


def check_spec(spec, folder, isa, wrong):
    fields = compile_spec("attnc", spec, folder, isa or "native")
    name = fields["attention"]
    runtime = link_checked(spec, folder, name, isa or "native")
    with opened(folder, name, fields["dtype"], threads=2, isa=isa) as library:
        if library.parameters:
            attnc("attnc", "init", spec, "--out", folder / "drawn", "--batch", 1, "--queries", SIZES["n"],
                  *(["--keys", SIZES["N"]] if fields.get("keys") == "?" else []))
            library.prepare({file.stem: np.load(file) for file in (folder / "drawn").glob("*.npy")})
        run(library, wrong)
        print(f"pass: {name} {library.info().isa.decode()}, {runtime}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specs", nargs="+", type=pathlib.Path)
    parser.add_argument("--isa")
    for wrong, flag in [("small", "--too-small"), ("short", "--short-shape"), ("crooked", "--crooked-shape")]:
        parser.add_argument(flag, dest="wrong", action="store_const", const=wrong)
    args = parser.parse_args()
    os.environ.pop("LD_PRELOAD", None)  # the compiler and the linker run as ever
    for spec in args.specs:
        with tempfile.TemporaryDirectory() as folder:
            check_spec(spec, pathlib.Path(folder), args.isa, args.wrong)


main()
