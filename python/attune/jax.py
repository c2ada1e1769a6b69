"""Compiled attention in JAX: under `jit`, `vmap` and `lax.scan`, as a call of XLA's foreign function interface.

    attend = attune.compile(spec)
    o = attend(q=q, k=k, v=v)                                             # also with JAX's arrays, traced ones too
    f = jax.jit(lambda q, k, v: attend(q=q, k=k, v=v))

On the CPU. XLA owns the output, and its arrays are read where they lie. `vmap` runs as one call of a larger batch where
the spec leaves the batch open and no parameter is mapped, else as one call after another. There are no gradients.
"""

from __future__ import annotations

import functools
import typing

import jax
import jax.numpy as jnp
import numpy as np

from . import _native
from ._attention import Attention
from ._errors import ArgumentError, StateError
from ._frameworks import CPU

TARGET = "attune_attend"
DTYPES: typing.Dict[str, typing.Any] = {"f32": jnp.float32, "f16": jnp.float16, "bf16": jnp.bfloat16, "i32": jnp.int32}
Arrays = typing.Sequence[typing.Any]

# Compiled programs name an attention by a number, so it must outlive them all.
_alive: typing.Dict[int, Attention] = {}


@functools.lru_cache(maxsize=None)
def _register() -> None:
    jax.ffi.register_ffi_target(TARGET, _native.xla_target(), platform="cpu")


def attend(attention: Attention, **tensors: typing.Any) -> typing.Any:
    """`attention(**tensors)`, of arrays of JAX or of what becomes one."""
    return attention(**{name: jnp.asarray(tensor) for name, tensor in tensors.items()})


def call_row(attention: Attention, row: Arrays, given: typing.Mapping[str, typing.Any]) -> typing.Any:
    """With the tensors of a run in their order, and parameters by name if they are given now."""
    if not given and not attention._ready:
        missing = ", ".join(attention.parameters)
        raise StateError(f"{attention.name}: expected the parameters {missing}, but got none; give them to prepare, "
                         "once (attune.init draws them as the paper does)")
    infos = [*attention._run_infos, *attention._parameter_infos]
    tensors = [*row, *(given.get(info.name) for info in attention._parameter_infos)]
    places = tuple(place for place, tensor in enumerate(tensors) if tensor is not None)
    arrays = []
    for place in places:
        is_parameter = infos[place].role == "parameter"
        arrays.append(_checked(attention, infos[place], tensors[place], is_parameter))
    shapes = attention._output_shapes(row)
    if None in shapes:
        raise ArgumentError(f"{attention.name}: expected inputs of the shapes {attention!r}, but got "
                            f"{', '.join(str(getattr(tensor, 'shape', None)) for tensor in row if tensor is not None)}")
    return attention._returned(_traced(_number(attention), places, tuple(shapes))(*arrays))


def _checked(attention: Attention, info: typing.Any, tensor: typing.Any, is_parameter: bool) -> typing.Any:
    """Of the library's dtype: XLA would hand over the words of any other, to be refused when the program runs."""
    array = jnp.asarray(tensor, DTYPES[info.dtype]) if is_parameter else jnp.asarray(tensor)
    if array.dtype != DTYPES[info.dtype]:
        raise ArgumentError(f"{attention.name}: argument '{info.name}': expected dtype {info.dtype}, but got "
                            f"{array.dtype}; convert the tensor or compile the spec for that dtype")
    return array


def _number(attention: Attention) -> int:
    number = (attention._cpu or attention._handle((CPU, 0))).xla_key()
    _alive[number] = attention
    return number


@functools.lru_cache(maxsize=4096)
def _traced(number: int, places: typing.Tuple[int, ...],
            shapes: typing.Tuple[typing.Tuple[int, ...], ...]) -> typing.Callable[..., typing.Any]:
    """The call on arrays of these shapes, a list of outputs; jitted, for calls that are not traced."""
    _register()
    attention = _alive[number]
    attributes = {"handle": np.int64(number), "tensors": np.asarray([*places, *attention._outputs], np.int64)}
    foreign = jax.ffi.ffi_call(TARGET, [jax.ShapeDtypeStruct(shape, DTYPES[attention._run_infos[position].dtype])
                                        for position, shape in zip(attention._outputs, shapes)])

    @jax.custom_batching.custom_vmap
    def call(*arrays: typing.Any) -> typing.Any:
        return foreign(*arrays, **attributes)

    @call.def_vmap
    def batched(size: int, mapped: typing.Sequence[bool], *arrays: typing.Any) -> typing.Tuple[typing.Any, typing.Any]:
        outputs = _folded(number, places, shapes, size, mapped, arrays) if _folds(attention, places, mapped) else \
            _one_by_one(call, mapped, arrays)
        return outputs, [True] * len(shapes)

    return jax.jit(call)


def _folds(attention: Attention, places: typing.Sequence[int], mapped: typing.Sequence[bool]) -> bool:
    """Whether entries of a mapped axis can be entries of the batch."""
    infos = [*attention._run_infos, *attention._parameter_infos]
    if any(infos[position].shape[0] != "batch" for position in attention._outputs):
        return False
    for place, is_mapped in zip(places, mapped):
        info = infos[place]
        if info.role == "parameter" and is_mapped:
            return False
        if info.role != "parameter" and info.shape[0] != "batch":
            return False
    return True


def _folded(number: int, places: typing.Tuple[int, ...], shapes: typing.Tuple[typing.Tuple[int, ...], ...], size: int,
            mapped: typing.Sequence[bool], arrays: Arrays) -> typing.List[typing.Any]:
    """One call of `size` times the batch."""
    attention = _alive[number]
    runs = len(attention._run_infos)
    flat = []
    for place, is_mapped, array in zip(places, mapped, arrays):
        if place >= runs:
            flat.append(array)
            continue
        every = array if is_mapped else jnp.broadcast_to(array, (size, *array.shape))
        flat.append(every.reshape(every.shape[0] * every.shape[1], *every.shape[2:]))
    outputs = _traced(number, places, tuple((size * shape[0], *shape[1:]) for shape in shapes))(*flat)
    return [output.reshape(size, *shape) for output, shape in zip(outputs, shapes)]


def _one_by_one(call: typing.Callable[..., typing.Any], mapped: typing.Sequence[bool], arrays: Arrays) -> typing.Any:
    varying = tuple(array for array, is_mapped in zip(arrays, mapped) if is_mapped)

    def one(entry: typing.Tuple[typing.Any, ...]) -> typing.Any:
        rest = iter(entry)
        return call(*(next(rest) if is_mapped else array for array, is_mapped in zip(arrays, mapped)))

    return jax.lax.map(one, varying)
