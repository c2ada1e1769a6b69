"""The operators below transforms of `torch.func`.

`vmap` is one call of a larger batch where the spec leaves the batch open and what is mapped, and what comes of it, has one; else one call
after another, of which each gives an entry. A gradient of a parameter is a sum over the batch, of which each entry has its own.
"""

import typing

import torch

from .._attention import Attention, TensorInfo
from ._op import (_attend, _attend_backward, _with_gradients, _written, gradients_of, keep, opened, twice,
                  with_unit_rows)

Dimensions = typing.Sequence[typing.Optional[int]]
Tensors = typing.List[torch.Tensor]
Operator = typing.Callable[..., Tensors]


def _infos(attention: Attention, names: str) -> typing.List[TensorInfo]:
    return [attention.tensors[attention._name_of(name)] for name in names.split(",")]


def _has_batch(info: TensorInfo) -> bool:
    return info.role != "parameter" and info.shape[:1] == ("batch",)


def _mapped(size: int, dimensions: Dimensions, tensors: Tensors, inputs: typing.Sequence[TensorInfo], outputs: typing.Sequence[TensorInfo],
            call: typing.Callable[[Tensors], Tensors]) -> typing.Tuple[Tensors, typing.List[int]]:
    mapped = [info for info, dimension in zip(inputs, dimensions) if dimension is not None]
    if all(map(_has_batch, [*mapped, *outputs])):
        whole = call([_folded(size, tensor, dimension) if _has_batch(info) else tensor
                      for tensor, dimension, info in zip(tensors, dimensions, inputs)])
        results = [result.unflatten(0, (size, result.shape[0] // size)) for result in whole]
    else:
        entries = [call([tensor if dimension is None else with_unit_rows(tensor.select(dimension, entry))
                         for tensor, dimension in zip(tensors, dimensions)]) for entry in range(size)]
        results = [torch.stack(parts) for parts in zip(*entries)]
    return results, [0] * len(results)


def _folded(size: int, tensor: torch.Tensor, dimension: typing.Optional[int]) -> torch.Tensor:
    """[size · batch, …] of a tensor that is mapped, or the same for all."""
    every = tensor.expand(size, *tensor.shape) if dimension is None else tensor.movedim(dimension, 0)
    return with_unit_rows(every.flatten(0, 1))


def _attend_mapped(operator: Operator, size: int, dimensions: Dimensions, tensors: Tensors, names: str, spec: str, tokens_first: bool,
                   wanted: str) -> typing.Tuple[Tensors, typing.List[int]]:
    attention = opened(_with_gradients(spec, wanted) if wanted else spec)
    outputs = [attention._run_infos[place] for place in _written(attention, wanted)]
    return _mapped(size, dimensions, tensors, _infos(attention, names), outputs,
                   lambda given: operator(given, names, spec, tokens_first, wanted))


def _gradients_mapped(operator: Operator, size: int, dimensions: Dimensions, tensors: Tensors, names: str, spec: str, wanted: str) -> \
        typing.Tuple[Tensors, typing.List[int]]:
    attention = opened(spec).backward
    outputs = _infos(attention, ",".join(f"grad_{name}" for name in wanted.split(",")))
    return _mapped(size, dimensions, tensors, _infos(attention, names), outputs, lambda given: operator(given, names, spec, wanted))


_attend.register_vmap(lambda info, dimensions, *given: _attend_mapped(torch.ops.attune.attend, info.batch_size, dimensions[0], *given))
_attend_backward.register_vmap(
    lambda info, dimensions, *given: _gradients_mapped(torch.ops.attune.attend_backward, info.batch_size, dimensions[0], *given))


class _Attend(torch.autograd.Function):
    """The operator below transforms of `torch.func`, which an operator's own derivative does not know."""

    @staticmethod
    def forward(names: str, spec: str, tokens_first: bool, wanted: str, *tensors: torch.Tensor) -> typing.Tuple[torch.Tensor, ...]:
        return tuple(torch.ops.attune.attend(list(tensors), names, spec, tokens_first, wanted))

    @staticmethod
    def setup_context(ctx: typing.Any, inputs: typing.Any, output: typing.Any) -> None:
        names, spec, tokens_first, wanted, *tensors = inputs
        keep(ctx, (tensors, names, spec, tokens_first, wanted), output)

    @staticmethod
    def backward(ctx: typing.Any, *gradients: typing.Any) -> typing.Any:
        return (None, None, None, None, *gradients_of(ctx, gradients, ctx.needs_input_grad[4:], _gradients))

    @staticmethod
    def vmap(info: typing.Any, dimensions: typing.Any, names: str, spec: str, tokens_first: bool, wanted: str, *tensors: torch.Tensor) -> \
            typing.Tuple[typing.Tuple[torch.Tensor, ...], typing.Tuple[int, ...]]:
        results, places = _attend_mapped(attend_transformed, info.batch_size, dimensions[4:], list(tensors), names, spec, tokens_first, wanted)
        return tuple(results), tuple(places)


class _Gradients(torch.autograd.Function):
    """Its gradients below them, which have none."""

    @staticmethod
    def forward(names: str, spec: str, wanted: str, *tensors: torch.Tensor) -> typing.Tuple[torch.Tensor, ...]:
        return tuple(torch.ops.attune.attend_backward(list(tensors), names, spec, wanted))

    @staticmethod
    def setup_context(ctx: typing.Any, inputs: typing.Any, output: typing.Any) -> None:
        pass

    backward = staticmethod(twice)

    @staticmethod
    def vmap(info: typing.Any, dimensions: typing.Any, names: str, spec: str, wanted: str, *tensors: torch.Tensor) -> \
            typing.Tuple[typing.Tuple[torch.Tensor, ...], typing.Tuple[int, ...]]:
        results, places = _gradients_mapped(_gradients, info.batch_size, dimensions[3:], list(tensors), names, spec, wanted)
        return tuple(results), tuple(places)


def attend_transformed(tensors: Tensors, names: str, spec: str, tokens_first: bool, wanted: str) -> Tensors:
    """`attune::attend` where transforms of `torch.func` are active."""
    return list(_Attend.apply(names, spec, tokens_first, wanted, *tensors))


def _gradients(tensors: Tensors, names: str, spec: str, wanted: str) -> Tensors:
    return list(_Gradients.apply(names, spec, wanted, *tensors))
