"""Compiled attention in JAX: under `jit`, `vmap`, `grad` and `lax.scan`, as a call of XLA's foreign function interface.

    attend = attune.compile({**spec, "gradients": "all"})
    o = attend(q=q, k=k, v=v)                                             # also with JAX's arrays, traced ones too
    f = jax.jit(jax.value_and_grad(lambda q, k, v: attend(q=q, k=k, v=v).sum()))

On the CPU. XLA owns the outputs, and its arrays are read where they lie.

`vmap`      one call of a larger batch where the spec leaves the batch open and no parameter is mapped, else one call
            after another; so is that of gradients, of which those of parameters are computed one after another
`grad`      by compiled code, of the tensors that the spec names in `gradients`; also `vjp`, `value_and_grad`, `jacrev`
            and `checkpoint`. What no derivative is asked for is not computed. The inputs are kept for it, and of exact
            attention the output and one number a row
"""

from __future__ import annotations

import functools
import typing

import jax
import jax.numpy as jnp
from jax.custom_derivatives import SymbolicZero

from ._attention import Attention, TensorInfo
from ._errors import ArgumentError, StateError
from ._xla import DTYPES, Arrays, Call, Function, function

Primals = typing.Sequence[typing.Any]  # of jax.custom_derivatives.CustomVJPPrimal


def attend(attention: Attention, **tensors: typing.Any) -> typing.Any:
    """`attention(**tensors)`, of arrays of JAX or of what becomes one: the output as an array of JAX, or all by name if the
    spec has further results.

    Names, shapes and layouts are those of `attention.tensors`, row-major. Inputs have the dtype that stands there, or
    ArgumentError says so; parameters may have any, and are rounded to it. A derivative is that of the spec's `gradients`:
    it has the dtype of what it belongs to, and of integers (`key_lengths`, `offsets`) there is none.

    A derivative raises CompileError where the spec has no `gradients`, or where it is one of a derivative;
    ArgumentError where it is one by a tensor that `gradients` does not name. JAX's TypeError says that there is no `jvp`.
    """
    return attention(**{name: jnp.asarray(tensor) for name, tensor in tensors.items()})


def call_row(attention: Attention, row: Arrays, given: typing.Mapping[str, typing.Any]) -> typing.Any:
    """With the tensors of a run in their order, and parameters by name if they are given now."""
    if not given and not attention._ready:
        missing = ", ".join(attention.parameters)
        raise StateError(f"{attention.name}: expected the parameters {missing}, but got none; give them to prepare, "
                         "once (attune.init draws them as the paper does)")
    infos = [*attention._run_infos, *attention._parameter_infos]
    tensors = [*row, *(given.get(info.name) for info in attention._parameter_infos)]
    places = [place for place, tensor in enumerate(tensors) if tensor is not None]
    arrays = [_checked(attention, infos[place], tensors[place]) for place in places]
    return attention._returned(_differentiable(Call.of(attention, places, attention._shown))(*arrays))


def _checked(attention: Attention, info: TensorInfo, tensor: typing.Any) -> typing.Any:
    """Of the library's dtype: XLA would hand over the words of any other, to be refused when the program runs."""
    array = jnp.asarray(tensor)
    if info.role != "parameter" and array.dtype != DTYPES[info.dtype]:
        raise ArgumentError(f"{attention.name}: argument '{info.name}': expected dtype {info.dtype}, but got "
                            f"{array.dtype}; convert the tensor or compile the spec for that dtype")
    return array


@functools.lru_cache(maxsize=4096)
def _differentiable(call: Call) -> Function:
    """The call of arrays, whose parameters may have any dtype; jitted, for calls that are not traced."""
    @jax.custom_vjp
    def run(*arrays: typing.Any) -> typing.List[typing.Any]:
        return function(call)(*(array.astype(DTYPES[info.dtype]) for info, array in zip(call.inputs, arrays)))

    run.defvjp(functools.partial(_forward, call), functools.partial(_backward, call), symbolic_zeros=True)
    return jax.jit(run)


def _forward(call: Call, *primals: typing.Any) -> typing.Tuple[typing.List[typing.Any], typing.Any]:
    """The outputs, and what the backward pass needs: the inputs, what the run leaves for it, and which gradients are
    wanted."""
    arrays = [primal.value for primal in primals]
    marks, left = _marked(_wanted(call, primals)), call.attention._left()
    every = call._replace(asked=(*call.asked, *(place for place in left.values() if place not in call.asked)))
    outputs = _differentiable(every)(*arrays)
    saved = {name: outputs[every.asked.index(place)] for name, place in left.items()}
    return outputs[:len(call.asked)], (arrays, marks, saved)


def _wanted(call: Call, primals: Primals) -> typing.List[bool]:
    """Which inputs a derivative is asked by. Raises if there is none."""
    backward = call.attention.backward
    wanted = [primal.perturbed and jnp.issubdtype(primal.value.dtype, jnp.inexact) for primal in primals]
    for info, is_wanted in zip(call.inputs, wanted):
        if is_wanted and f"grad_{info.name}" not in backward._output_names:
            named = ", ".join(name[len("grad_"):] for name in backward._output_names)
            raise ArgumentError(f"{call.attention.name}: expected a derivative by tensors among {named}, which the spec names in "
                                f"`gradients`, but got one by '{info.name}'; name it there too, or hold it constant with "
                                "jax.lax.stop_gradient")
    return wanted


def _marked(wanted: typing.Sequence[bool]) -> typing.Any:
    """An empty array whose width has a bit for each input. JAX keeps one structure of residuals for all derivatives of a
    traced function, whatever each is asked by; the shape of a residual is each one's own."""
    return jnp.zeros((0, sum(1 << bit for bit, is_wanted in enumerate(wanted) if is_wanted)), jnp.int8)


def _unmarked(marks: typing.Any, count: int) -> typing.List[bool]:
    return [bool(marks.shape[1] >> bit & 1) for bit in range(count)]


def _backward(call: Call, kept: typing.Any, cotangents: Arrays) -> typing.Tuple[typing.Any, ...]:
    """The gradients that are wanted, and None for others. Cotangents that are 0 are not given: the library knows."""
    arrays, marks, saved = kept
    wanted, backward = _unmarked(marks, len(arrays)), call.attention.backward
    tensors = {**{info.name: array for info, array in zip(call.inputs, arrays)}, **saved}
    tensors.update((f"grad_{info.name}", cotangent) for info, cotangent in zip(call.outputs, cotangents)
                   if not isinstance(cotangent, SymbolicZero))
    names = [f"grad_{info.name}" for info, is_wanted in zip(call.inputs, wanted) if is_wanted]
    gradients = dict(zip(names, _gradients(backward, tensors, names)))
    return tuple(gradients[f"grad_{info.name}"].astype(array.dtype) if is_wanted else None
                 for info, array, is_wanted in zip(call.inputs, arrays, wanted))


def _gradients(backward: Attention, tensors: typing.Mapping[str, typing.Any], names: typing.Sequence[str]) -> \
        typing.List[typing.Any]:
    """Those of `names`, in their order."""
    if not names:
        return []
    infos = [*backward._run_infos, *backward._parameter_infos]
    given = [place for place, info in enumerate(infos) if info.name in tensors]
    asked = [backward._run_names.index(name) for name in names]
    return _differentiable(Call.of(backward, given, asked))(*[tensors[infos[place].name] for place in given])
