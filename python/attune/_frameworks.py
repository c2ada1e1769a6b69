"""What the package needs of the frameworks whose tensors it is given: memory for an output, parameters in a dtype.

A framework is known by the module of its tensors' type and never imported from here: whoever has its tensors has it.
"""

from __future__ import annotations

import sys
import typing

import numpy as np

from ._errors import ArgumentError

NUMPY_DTYPES: typing.Dict[str, typing.Any] = {"f32": np.float32, "f16": np.float16, "bf16": np.uint16, "i32": np.int32}
CPU, CUDA = 1, 2
Device = typing.Tuple[int, int]


class Framework:
    """Tensors with `__dlpack__` of a framework that follows the array API; other objects with a buffer."""

    def device(self, tensor: typing.Any) -> Device:
        if not hasattr(tensor, "__dlpack_device__"):
            return CPU, 0
        kind, ordinal = tensor.__dlpack_device__()
        return int(kind), int(ordinal) if int(kind) != CPU else 0

    def view(self, tensor: typing.Any) -> typing.Any:
        """What the native part looks at."""
        return tensor

    def empty(self, shape: typing.Tuple[int, ...], like: typing.Any, dtype: typing.Optional[str] = None) -> typing.Any:
        """Memory for an output beside an input, of its dtype unless another is named."""
        namespace = getattr(like, "__array_namespace__", None)
        if namespace is None:
            raise ArgumentError(f"argument 'out': expected memory for the output, for a {type(like).__module__} tensor "
                                "cannot make any, but got none; give out=")
        wanted = like.dtype if dtype is None else getattr(namespace(), NUMPY_DTYPES[dtype].__name__)
        return namespace().empty(shape, dtype=wanted, device=like.device)

    def check_writable(self, tensor: typing.Any) -> None:
        """Whether what the framework hands out may be written, where that does not say so itself."""

    def as_parameter(self, tensor: typing.Any, dtype: str) -> typing.Any:
        """A parameter in the library's dtype, which copies it anyway."""
        return tensor if hasattr(tensor, "__dlpack__") else _numpy.as_parameter(tensor, dtype)

    def to_numpy(self, tensor: typing.Any) -> np.ndarray:
        """As files hold tensors: f32, integers as i32."""
        array = np.from_dlpack(tensor) if hasattr(tensor, "__dlpack__") else np.asarray(tensor)
        return array.astype(np.int32 if array.dtype.kind in "iu" else np.float32)


def _is_bf16(array: np.ndarray) -> bool:
    """Of the type that ml_dtypes adds to NumPy."""
    return array.dtype.kind == "V" and array.dtype.name == "bfloat16"


def _rounded_to_bf16(array: np.ndarray) -> np.ndarray:
    """The 16 bits of the nearest bf16, ties to even."""
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    return np.where(np.isnan(array), np.uint32(0x7FC0), rounded).astype(np.uint16)


class NumPy(Framework):
    def device(self, tensor: typing.Any) -> Device:
        return CPU, 0

    def view(self, tensor: typing.Any) -> typing.Any:
        return tensor.view(np.uint16) if _is_bf16(tensor) else tensor

    def empty(self, shape: typing.Tuple[int, ...], like: typing.Any, dtype: typing.Optional[str] = None) -> typing.Any:
        return np.empty(shape, like.dtype if dtype is None else NUMPY_DTYPES[dtype])

    def as_parameter(self, tensor: typing.Any, dtype: str) -> typing.Any:
        array = self.view(np.asarray(tensor))
        if array.dtype == NUMPY_DTYPES[dtype] or array.dtype.kind not in "fiu":
            return array  # the library says what is wrong with a dtype that is no number's
        return _rounded_to_bf16(array) if dtype == "bf16" else array.astype(NUMPY_DTYPES[dtype])

    def to_numpy(self, tensor: typing.Any) -> np.ndarray:
        return tensor.astype(np.int32 if tensor.dtype.kind in "iu" else np.float32)


class Torch(Framework):
    def __init__(self) -> None:
        import torch
        from torch.utils.dlpack import to_dlpack
        self.torch, self.to_dlpack = torch, to_dlpack
        self.dtypes = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i32": torch.int32}

    def device(self, tensor: typing.Any) -> Device:
        if not tensor.is_cuda:
            return CPU, 0
        return CUDA, tensor.device.index

    def view(self, tensor: typing.Any) -> typing.Any:
        if tensor.requires_grad:
            if self.torch.is_grad_enabled():
                raise ArgumentError("expected tensors without gradients, which a call of an attention does not record, "
                                    "but got one that requires one; call attune.torch.attend, or this under "
                                    "torch.no_grad()")
            tensor = tensor.detach()
        if tensor.is_neg():
            raise ArgumentError("expected the numbers that lie in memory, but got a view that negates them; call it on "
                                "tensor.resolve_neg()")
        return self.to_dlpack(tensor)

    def empty(self, shape: typing.Tuple[int, ...], like: typing.Any, dtype: typing.Optional[str] = None) -> typing.Any:
        return like.new_empty(shape, dtype=like.dtype if dtype is None else self.dtypes[dtype])

    def as_parameter(self, tensor: typing.Any, dtype: str) -> typing.Any:
        return self.to_dlpack(tensor.detach().to(self.dtypes[dtype]).resolve_neg())

    def to_numpy(self, tensor: typing.Any) -> np.ndarray:
        whole = not tensor.dtype.is_floating_point
        return tensor.detach().to(self.torch.int32 if whole else self.torch.float32).cpu().numpy()


class Jax(NumPy):
    """JAX owns its outputs: its calls go another way."""

    def device(self, tensor: typing.Any) -> Device:
        return Framework.device(self, tensor)

    def view(self, tensor: typing.Any) -> typing.Any:
        return tensor.__dlpack__()

    def as_parameter(self, tensor: typing.Any, dtype: str) -> typing.Any:
        return _numpy.as_parameter(np.asarray(tensor), dtype)

    def check_writable(self, tensor: typing.Any) -> None:
        raise ArgumentError("argument 'out': expected memory that may be written, but got an array of JAX, which never "
                            "is; leave out=, and take what is returned")


_numpy = NumPy()
_makers: typing.Dict[str, typing.Callable[[], Framework]] = {
    "numpy": lambda: _numpy, "torch": Torch, "jax": Jax, "jaxlib": Jax, "ml_dtypes": lambda: _numpy}
_by_module: typing.Dict[str, Framework] = {}
_by_type: typing.Dict[type, Framework] = {np.ndarray: _numpy}


def framework_of(tensor: typing.Any) -> Framework:
    """The framework of a tensor."""
    known = _by_type.get(type(tensor))
    if known is not None:
        return known
    for ancestor in type(tensor).__mro__:
        module = ancestor.__module__.partition(".")[0]
        if module in _makers:
            break
    else:
        module = ""
    if module not in _by_module:
        _by_module[module] = _makers.get(module, Framework)()
    return _by_type.setdefault(type(tensor), _by_module[module])


def is_traced(tensor: typing.Any) -> bool:
    """Whether it stands for an array in a function that JAX is tracing."""
    return type(framework_of(tensor)) is Jax and isinstance(tensor, sys.modules["jax"].core.Tracer)
