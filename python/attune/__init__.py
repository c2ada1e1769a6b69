"""Attune: efficient attention, compiled from a spec.

    import attune
    attend = attune.compile({"attention": "linear", "dtype": "f32", "batch": "?", "queries": "?", "heads": 4,
                             "head_dim": 64, "mechanism": {"kind": "kernel", "feature_map": {"kind": "elu1"}}})
    o = attend(q=q, k=k, v=v)          # NumPy, PyTorch, JAX, anything with __dlpack__: nothing is copied

`compile` makes an attention that can be called; `explain` says what was decided and why; `suggest` tries others on your
tensors; `init` draws parameters. `attune.cache` is where compiled specs are kept. `attune.torch` and `attune.jax`
are for those frameworks: import them where you use them.
"""

from . import cache
from ._attention import Attention, TensorInfo
from ._compile import compile
from ._errors import (ArgumentError, CompileError, CompilerNotFoundError, DeviceError, Diagnostic, Error, LibraryError,
                      OutOfMemoryError, SpecError, StateError, UnsupportedError)
from ._spec import SpecLike
from ._tools import explain, init, suggest

__version__ = "0.1.0"
__all__ = ["ArgumentError", "Attention", "CompileError", "CompilerNotFoundError", "DeviceError", "Diagnostic", "Error",
           "LibraryError", "OutOfMemoryError", "SpecError", "SpecLike", "StateError", "TensorInfo", "UnsupportedError",
           "cache", "compile", "explain", "init", "suggest"]
