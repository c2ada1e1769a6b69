"""The compiler's other commands: explain, init, suggest."""

from __future__ import annotations

import json as json_module
import pathlib
import re
import tempfile
import typing

import numpy as np

from . import _compiler
from ._errors import ArgumentError
from ._frameworks import framework_of
from ._spec import SpecLike, read_spec


def explain(spec: SpecLike, target: str = "cpu", *, device: typing.Optional[str] = None,
            batch: typing.Optional[int] = None, queries: typing.Optional[int] = None, keys: typing.Optional[int] = None,
            json: bool = False) -> typing.Any:
    """What the compiler decided and why: forms, prices, the lengths at which the decision flips; as text, or with
    `json=True` as the object that `attnc explain --json` prints. `batch`, `queries` and `keys` stand for '?'.

    Raises SpecError, CompileError, CompilerNotFoundError.
    """
    read = read_spec(spec)
    options = ["--device", device] if device else ["--target", target]
    options += _compiler.size_options(batch=batch, queries=queries, keys=keys) + ["--json"] * json
    with _compiler.spec_file(read) as path:
        said = _compiler.call(read, "explain", path, *options)
    return json_module.loads(said) if json else said


def init(spec: SpecLike, *, seed: int = 0, inputs: bool = False, batch: typing.Optional[int] = None,
         queries: typing.Optional[int] = None, keys: typing.Optional[int] = None) -> typing.Dict[str, np.ndarray]:
    """The parameters of a spec by name, drawn as its paper draws them: E from N(0, 1/k), orthogonal features, signs;
    those that are learned from zero small. f32, indices i32. With `inputs=True` standard normal inputs too.

    Raises SpecError (a '?' that a tensor needs and no argument gives, among others), CompilerNotFoundError.
    """
    read = read_spec(spec)
    options = ["--seed", str(seed), *_compiler.size_options(batch=batch, queries=queries, keys=keys)]
    with _compiler.spec_file(read) as path, tempfile.TemporaryDirectory(prefix="attune-") as folder:
        _compiler.call(read, "init", path, "--out", folder, *options, *["--inputs"] * inputs)
        return {file.stem: np.load(file) for file in sorted(pathlib.Path(folder).glob("*.npy"))}


def suggest(spec: SpecLike, tensors: typing.Mapping[str, typing.Any], *, max_error: float = 0.05, target: str = "cpu",
            seed: int = 0, threads: int = 0, json: bool = False) -> typing.Any:
    """Tries some 25 attentions on your tensors (`q`, `k`, `v`, or `x` and the weights): error against exact softmax,
    time, and which to take; as text, or with `json=True` as an object. Random tensors give answers about random
    tensors.

    Raises SpecError, CompileError, CompilerNotFoundError.
    """
    read = read_spec(spec)
    options = ["--max-error", repr(float(max_error)), "--target", target, "--seed", str(seed)]
    options += ["--threads", str(threads)] * bool(threads) + ["--json"] * json
    with _compiler.spec_file(read) as path, tempfile.TemporaryDirectory(prefix="attune-") as folder:
        for name, tensor in tensors.items():
            if not re.fullmatch(r"[A-Za-z_][\w.]*", name, re.A):  # it names a file
                raise ArgumentError(f"expected names of tensors of letters, digits, '_' and '.', but got {name!r}")
            np.save(pathlib.Path(folder) / f"{name}.npy", framework_of(tensor).to_numpy(tensor))
        said = _compiler.call(read, "suggest", path, "--in", folder, *options)
    return json_module.loads(said) if json else said
