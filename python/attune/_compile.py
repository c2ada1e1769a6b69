"""From a spec to an attention: through the cache, or by the compiler."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import typing

from . import _compiler, cache
from ._attention import Attention
from ._errors import ArgumentError, LibraryError
from ._frameworks import CPU, Device
from ._spec import Spec, SpecLike, normalized, read_spec

FORMAT = 2  # of what an entry of the cache holds
TRIES = 3
MOST_THREADS = 1024


def compile(spec: SpecLike, target: typing.Union[str, typing.Sequence[str]] = "cpu", *, threads: int = 0,
            device: typing.Optional[str] = None, isa: typing.Optional[str] = None,
            parameters: typing.Optional[typing.Mapping[str, typing.Any]] = None) -> Attention:
    """Compiles a spec, or finds it in the cache (see `attune.cache`), and opens it.

    spec        a mapping, the text of a spec (it has a line break), or the path of a .yaml or .mlir file
    target      "cpu", "sm_80", "sm_86", "sm_87", "sm_89" or "sm_90a"; several, for a library that runs on all of them
    threads     of a call on the CPU; 0: every CPU that the process may use
    device      what plans are priced for: a name of `attnc explain --list-devices`, or a path that ends in .yaml
    isa         what code for a CPU is made for: None, this processor; "all", every one, so that the library may go to other machines; or
                "avx2", "avx512" or, of a spec in bf16, "avx512_bf16" or "amx", which is then used in place of the best that is there
    parameters  as `Attention.prepare` takes them

    Raises SpecError (with the compiler's text, its place in `diagnostics`), CompileError, CompilerNotFoundError; for
    what this machine cannot run UnsupportedError.
    """
    read = read_spec(spec)
    targets = target.split(",") if isinstance(target, str) else list(target)
    if not isinstance(threads, int) or not 0 <= threads <= MOST_THREADS:
        raise ArgumentError(f"option 'threads': expected 0 (every CPU) or 1 ... {MOST_THREADS}, but got {threads!r}")
    opened = _opened(read, targets, device, threads, isa)
    return opened.prepare(parameters) if parameters else opened


def _opened(spec: Spec, targets: typing.List[str], device: typing.Optional[str], threads: int,
            isa: typing.Optional[str]) -> Attention:
    """Another process may clear the cache between the look and the load: then it is compiled again."""
    runs_on: typing.Optional[Device] = (CPU, 0) if "cpu" in targets else None
    for last in (False,) * (TRIES - 1) + (True,):
        library = _library(spec, targets, device, native=isa is None)
        try:
            return Attention(library, library.name[len("lib"):-len(".so")], runs_on, threads, None if isa == "all" else isa)
        except LibraryError:
            if last or library.exists():
                raise
    raise AssertionError("the last try returns or raises")


def reopened(attention: Attention, spec: SpecLike) -> Attention:
    """Another attention of the library that `compile(spec)` has given, for parameters of its own; without a look at the cache, unless somebody
    has cleared that."""
    try:
        return Attention(attention.library, attention.name, (CPU, 0), 0, None)
    except LibraryError:
        return compile(spec)


def _library(spec: Spec, targets: typing.List[str], device: typing.Optional[str], native: bool) -> pathlib.Path:
    options = ["--device", device] if device else []
    if not device or targets != ["cpu"]:
        options += ["--target", ",".join(targets)]
    if not device and "cpu" in targets:  # said, so that the key has the very number that plans are priced for
        options += ["--threads", str(min(len(os.sched_getaffinity(0)), MOST_THREADS))]
    if native and "cpu" in targets:
        options += ["--isa", "native"]

    def make(folder: pathlib.Path) -> None:
        with _compiler.spec_file(spec) as path:
            _compiler.call(spec, "compile", path, "-o", f"{folder}/", *options)

    return cache.fetch(_key(spec, targets, options, device), make)


def _key(spec: Spec, targets: typing.List[str], options: typing.List[str], device: typing.Optional[str]) -> str:
    """All that the compiled library depends on."""
    assembler = None if targets == ["cpu"] else _compiler.assembler_identity()
    content = [FORMAT, spec.suffix, normalized(spec), options, _described(device), _compiler.identity(), assembler,
               _compiler.host_cpu()]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _described(device: typing.Optional[str]) -> typing.Optional[str]:
    """The content of a device's description; None for one that the compiler knows by its name."""
    if not device or not device.endswith(".yaml"):
        return None
    path = pathlib.Path(device)
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
