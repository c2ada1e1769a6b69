"""A run of a compiled library as a call of XLA's foreign function interface, and what `jax.vmap` makes of it."""

from __future__ import annotations

import functools
import typing

import jax
import jax.numpy as jnp
import numpy as np

from . import _native
from ._attention import Attention, TensorInfo
from ._errors import ArgumentError
from ._frameworks import CPU

TARGET = "attune_attend"
DTYPES: typing.Dict[str, typing.Any] = {"f32": jnp.float32, "f16": jnp.float16, "bf16": jnp.bfloat16, "i32": jnp.int32}
Arrays = typing.Sequence[typing.Any]
Function = typing.Callable[..., typing.List[typing.Any]]

# Compiled programs name an attention by a number, so it must outlive them all.
_alive: typing.Dict[int, Attention] = {}


class Call(typing.NamedTuple):
    """A run as a program names it, by numbers alone: runs that are equal are traced once."""

    number: int
    given: typing.Tuple[int, ...]  # of its tensors: places among those of a run, then those of prepare
    asked: typing.Tuple[int, ...]  # of the outputs that are computed: places among those of a run

    @classmethod
    def of(cls, attention: Attention, given: typing.Iterable[int], asked: typing.Iterable[int]) -> "Call":
        number = (attention._cpu or attention._handle((CPU, 0))).xla_key()
        _alive[number] = attention
        return cls(number, tuple(given), tuple(asked))

    @property
    def attention(self) -> Attention:
        return _alive[self.number]

    @property
    def inputs(self) -> typing.List[TensorInfo]:
        """What its tensors are."""
        infos = [*self.attention._run_infos, *self.attention._parameter_infos]
        return [infos[place] for place in self.given]

    @property
    def outputs(self) -> typing.List[TensorInfo]:
        return [self.attention._run_infos[place] for place in self.asked]


@functools.lru_cache(maxsize=None)
def _register() -> None:
    jax.ffi.register_ffi_target(TARGET, _native.xla_target(), platform="cpu")


@functools.lru_cache(maxsize=4096)
def function(call: Call) -> Function:
    """The call of arrays, all in the library's dtypes: a list of its outputs. It has no derivative."""
    _register()
    whole = call._replace(asked=(*call.asked, *_also_written(call)))
    attributes = {"handle": np.int64(call.number), "tensors": np.asarray([*whole.given, *whole.asked], np.int64)}

    @jax.custom_batching.custom_vmap
    def run(*arrays: typing.Any) -> typing.List[typing.Any]:
        outputs = jax.ffi.ffi_call(TARGET, _results(whole, arrays))(*arrays, **attributes)
        return list(outputs)[:len(call.asked)]

    @run.def_vmap
    def batched(size: int, mapped: typing.Sequence[bool], *arrays: typing.Any) -> typing.Tuple[
            typing.List[typing.Any], typing.List[bool]]:
        outputs = _folded(call, size, mapped, arrays) if _folds(call, mapped) else _one_by_one(run, mapped, arrays)
        return outputs, [True] * len(outputs)

    return run


def _also_written(call: Call) -> typing.List[int]:
    """Gradients of parameters that are not asked for: a library writes them anyway, so there must be memory for them."""
    infos, prefix = call.attention._run_infos, "grad_"
    parameters = {prefix + info.name for info in call.attention._parameter_infos}
    return [place for place in call.attention._outputs if infos[place].name in parameters and place not in call.asked]


def _results(call: Call, arrays: Arrays) -> typing.List[typing.Any]:
    """Shapes and dtypes of the outputs for inputs that have shapes."""
    attention = call.attention
    row: typing.List[typing.Any] = [None] * len(attention._run_infos)
    for place, array in zip(call.given, arrays):
        if place < len(row):
            row[place] = array
    shapes = dict(zip(attention._outputs, attention._output_shapes(row, attention._outputs)))
    if any(shapes[place] is None for place in call.asked):
        raise ArgumentError(f"{attention.name}: expected inputs of the shapes {attention!r}, but got "
                            f"{', '.join(str(array.shape) for array in row if array is not None)}")
    return [jax.ShapeDtypeStruct(shapes[place], DTYPES[info.dtype]) for place, info in zip(call.asked, call.outputs)]


def _folds(call: Call, mapped: typing.Sequence[bool]) -> bool:
    """Whether entries of a mapped axis can be entries of the batch. A gradient of a parameter is a sum over the batch, of
    which each entry has its own."""
    if any(info.shape[0] != "batch" for info in call.outputs):
        return False
    return all(not is_mapped if info.role == "parameter" else info.shape[0] == "batch"
               for info, is_mapped in zip(call.inputs, mapped))


def _folded(call: Call, size: int, mapped: typing.Sequence[bool], arrays: Arrays) -> typing.List[typing.Any]:
    """One call of `size` times the batch."""
    flat = []
    for info, is_mapped, array in zip(call.inputs, mapped, arrays):
        if info.role != "parameter":
            every = array if is_mapped else jnp.broadcast_to(array, (size, *array.shape))
            array = every.reshape(every.shape[0] * every.shape[1], *every.shape[2:])
        flat.append(array)
    entry = [jax.ShapeDtypeStruct(array.shape[1:] if is_mapped else array.shape, array.dtype)
             for is_mapped, array in zip(mapped, arrays)]
    outputs = function(call)(*flat)
    return [output.reshape(size, *result.shape) for output, result in zip(outputs, _results(call, entry))]


def _one_by_one(run: Function, mapped: typing.Sequence[bool], arrays: Arrays) -> typing.List[typing.Any]:
    varying = tuple(array for array, is_mapped in zip(arrays, mapped) if is_mapped)

    def one(entry: typing.Tuple[typing.Any, ...]) -> typing.List[typing.Any]:
        rest = iter(entry)
        return run(*(next(rest) if is_mapped else array for array, is_mapped in zip(arrays, mapped)))

    return jax.lax.map(one, varying)
