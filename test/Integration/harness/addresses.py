"""Runs the CPU code of specs with every load and store checked by AddressSanitizer, on tensors that end where their memory
does. To be started with AddressSanitizer's library preloaded, which ends the process at the first wrong address.

`--too-small` tells the library of one output row more than there is: a run that must be caught.
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


def link_checked(spec, folder, name):
    """In the place of the library one whose kernels, plans and descriptor check their addresses; the runtime's archive is
    the one that ships."""
    archive = pathlib.Path(subprocess.check_output(["which", "attnc"], text=True).strip()).parents[1] / "lib/libattune_rt.a"
    subprocess.run(["attnc", "compile", spec, "--emit", "obj", "-o", folder / "checked.o"], check=True,
                   stdout=subprocess.DEVNULL, env={**os.environ, "ATTUNE_SANITIZE": "address"})
    subprocess.run(["clang-22", "-shared", "-fsanitize=address", "-shared-libsan", "-Wl,--gc-sections", folder / "checked.o",
                    archive, "-lpthread", "-ldl", "-o", folder / f"lib{name}.so"], check=True)


def draw(member, rng):
    """An input: of key lengths the first is the longest."""
    shape = [int(size) if size.isdigit() else SIZES[size] for size in member.sizes]
    if member.dtype != "i32":
        return rng.standard_normal(shape, np.float32)
    return np.array([SIZES["N"], *rng.integers(0, SIZES["N"] + 1, shape[0] - 1)], np.int32)


def run(library, too_small):
    rng = np.random.default_rng(0)
    memory = library.memory = Exact()
    arrays = {}
    for name, member in library.tensors.items():
        drawn = draw(member, rng)
        arrays[name] = memory.empty(drawn.shape, member.dtype) if member.written else memory.put(drawn, member.dtype)
    if too_small:
        name, full = next((name, arrays[name]) for name, member in library.tensors.items() if member.written)
        arrays[name] = np.empty(full.size - full.shape[-1], full.dtype)
        library.memory = OneRowMore(arrays[name], full)
    library.runner(**arrays)[0]()


def check_spec(spec, folder, isa, too_small):
    fields = compile_spec("attnc", spec, folder)
    name = fields["attention"]
    link_checked(spec, folder, name)
    with opened(folder, name, fields["dtype"], threads=2, isa=isa) as library:
        if library.parameters:
            attnc("attnc", "init", spec, "--out", folder / "drawn", "--batch", 1, "--queries", SIZES["n"],
                  *(["--keys", SIZES["N"]] if fields.get("keys") == "?" else []))
            library.prepare({file.stem: np.load(file) for file in (folder / "drawn").glob("*.npy")})
        run(library, too_small)
        print(f"pass: {name} {library.info().isa.decode()}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specs", nargs="+", type=pathlib.Path)
    parser.add_argument("--isa")
    parser.add_argument("--too-small", action="store_true")
    args = parser.parse_args()
    os.environ.pop("LD_PRELOAD", None)  # the compiler and the linker run as ever
    for spec in args.specs:
        with tempfile.TemporaryDirectory() as folder:
            check_spec(spec, pathlib.Path(folder), args.isa, args.too_small)


main()
