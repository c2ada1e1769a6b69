"""Finds attnc and calls it. The compiler is a program of its own, so LLVM is never loaded into the caller's process."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import mmap
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import typing

from ._errors import CompileError, CompilerNotFoundError, SpecError
from ._spec import Spec

VARIABLE = "ATTUNE_ATTNC"
INSIDE = pathlib.Path(__file__).parent / "bin" / "attnc"
SPEC_IS_WRONG = 2
WORK_FAILED = 1
# In what `attnc --version` prints, and the environment that decides it.
ASSEMBLER, PARTS = "cubins: by ", ("program: ", "library: ", "linker: ", "runtime: ")
PLACES = ("ATTUNE_RUNTIME_ARCHIVE", "CUDA_HOME", "CUDA_ROOT", "LD_LIBRARY_PATH", "LD_PRELOAD", "PATH")
PROGRAM_HEADER_NOTE, NOTE_BUILD_ID = 4, 3


def find() -> pathlib.Path:
    """The compiler: named by ATTUNE_ATTNC, else the package's own, else one on PATH."""
    named = os.environ.get(VARIABLE)
    if named:
        if os.access(named, os.X_OK) and os.path.isfile(named):
            return pathlib.Path(named)
        raise CompilerNotFoundError(f"{VARIABLE}: expected the path of attnc, but there is no program '{named}'")
    if INSIDE.exists():
        return INSIDE
    found = shutil.which("attnc")
    if found:
        return pathlib.Path(found)
    raise CompilerNotFoundError(
        f"expected the compiler attnc, but got none: not in the environment variable {VARIABLE}, not in the package "
        f"({INSIDE}), not on PATH; build it (cmake --preset default && cmake --build --preset demo), then install the "
        f"package again or set {VARIABLE} to build/bin/attnc. What is in the cache of compiled specs needs it too, to "
        "know whose it is")


@contextlib.contextmanager
def spec_file(spec: Spec) -> typing.Iterator[pathlib.Path]:
    """The spec in a file of its own, which nobody changes while it is compiled."""
    with tempfile.TemporaryDirectory(prefix="attune-") as folder:
        path = pathlib.Path(folder) / f"spec{spec.suffix}"
        try:
            path.write_text(spec.text, encoding="utf-8")
        except UnicodeEncodeError as error:
            raise SpecError(f"{spec.shown}: error: expected text that can be written as UTF-8, but got: {error}") from error
        yield path


def call(spec: Spec, command: str, path: pathlib.Path, *options: object) -> str:
    """Standard output of `attnc COMMAND path options`; what attnc says of `path` is said of the spec."""
    program = find()
    arguments = [str(program), command, str(path), *map(str, options)]
    try:
        run = subprocess.run(arguments, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise CompilerNotFoundError(f"expected the compiler {program} to start, but got: {error}") from error
    if run.returncode == 0:
        return run.stdout
    said = run.stderr.replace(str(path), spec.shown).strip()
    if run.returncode == SPEC_IS_WRONG:
        raise SpecError(said)
    if run.returncode == WORK_FAILED:
        raise CompileError(said)
    if "shared libraries" in said:
        raise CompilerNotFoundError(f"{said}\nexpected LLVM and MLIR 22, which {program} needs; install them "
                                    "(Debian: libmlir-22)")
    raise CompileError(f"attnc {command} ended with status {run.returncode}\n{said}")


def size_options(**sizes: typing.Optional[int]) -> typing.List[str]:
    """`--batch 2 --queries 100` of what is given."""
    return [text for name, size in sizes.items() if size is not None for text in (f"--{name}", str(size))]


def identity() -> str:
    """Which compiler this is: the program, the libraries of LLVM and MLIR that it loads, the linker that it calls and
    the runtime that it links into libraries; what they are, not where."""
    program = find()
    files = [program, *_named(program, PARTS)]
    return "+".join(_file_identity(file) for file in files)


def assembler_identity() -> str:
    """Which ptxas, if any, turns the compiler's PTX into machine code: its path and its content."""
    paths = _named(find(), (ASSEMBLER,))
    return f"{paths[0]}={_file_identity(paths[0])}" if paths else "none"


def _named(program: pathlib.Path, facts: typing.Tuple[str, ...]) -> typing.List[str]:
    """The files that the compiler names among its facts: it knows where it looks."""
    places = tuple(os.environ.get(name) for name in PLACES)
    return [line[len(fact):] for line in _facts(str(program), _file_identity(program), places)
            for fact in facts if line.startswith(fact)]


@functools.lru_cache(maxsize=None)
def _facts(program: str, version: str, places: typing.Tuple[typing.Optional[str], ...]) -> typing.List[str]:
    del version, places  # they make the answer another one
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, errors="surrogateescape", check=False)
    except OSError as error:
        raise CompilerNotFoundError(f"expected the compiler {program} to start, but got: {error}") from error
    return said.stdout.splitlines()


def _file_identity(path: typing.Union[str, pathlib.Path]) -> str:
    try:
        state = os.stat(path)
    except OSError:
        return "none"
    return _identity_of(str(path), state.st_mtime_ns, state.st_size)


@functools.lru_cache(maxsize=None)
def _identity_of(path: str, changed: int, size: int) -> str:
    del changed  # it makes the file another one
    if size == 0:  # of which nothing can be mapped
        return "empty"
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return _build_id(content) or hashlib.sha256(content).hexdigest()


def _build_id(elf: mmap.mmap) -> typing.Optional[str]:
    """The linker's identifier of a 64-bit program, if it wrote one."""
    if elf[:6] != b"\x7fELF\x02\x01":
        return None
    start, = struct.unpack_from("<Q", elf, 32)
    size, count = struct.unpack_from("<HH", elf, 54)
    for header in range(start, start + size * count, size):
        if struct.unpack_from("<I", elf, header)[0] != PROGRAM_HEADER_NOTE:
            continue
        offset, = struct.unpack_from("<Q", elf, header + 8)
        length, = struct.unpack_from("<Q", elf, header + 32)
        found = _note(elf[offset:offset + length], NOTE_BUILD_ID)
        if found:
            return found
    return None


def _note(notes: bytes, wanted: int) -> typing.Optional[str]:
    """The GNU note of a kind, in hexadecimal digits."""
    position = 0
    while position + 12 <= len(notes):
        name_size, size, kind = struct.unpack_from("<III", notes, position)
        name = position + 12
        value = name + (name_size + 3) // 4 * 4
        if kind == wanted and notes[name:name + name_size] == b"GNU\0":
            return notes[value:value + size].hex()
        position = value + (size + 3) // 4 * 4
    return None


@functools.lru_cache(maxsize=None)
def host_cpu() -> str:
    """The processor: its model and the instructions that it knows."""
    fields = {}
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if not line.strip():
                    break  # the first processor speaks for all
                name, _, value = line.partition(":")
                fields[name.strip()] = value.strip()
    except OSError:
        pass
    return "\n".join([os.uname().machine, *(fields.get(name, "") for name in ("vendor_id", "model name", "flags"))])
