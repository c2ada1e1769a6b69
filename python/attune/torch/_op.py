"""Compiled attention as an operator of PyTorch, `attune::attend`, so that it stays one under `torch.compile` and in an
exported program. It is named by its spec, not by an object of this process: a program that is saved works in
another."""

import collections
import functools
import json
import typing

import torch

from .. import _fork
from .._attention import Attention
from .._compile import compile, reopened
from .._errors import ArgumentError, CompileError, SpecError
from .._frameworks import framework_of
from .._spec import SpecLike, normalized, read_spec

MOST_PREPARED = 256


@functools.lru_cache(maxsize=1024)
def opened(spec: str) -> Attention:
    """The attention of a spec's text, in this process once."""
    return compile(spec)


class _Prepared:
    """Attentions with parameters, and copies of what they were given; the oldest go.

    A tensor's address says which attention is meant, its content whether that is still right: of a change through
    `.data`, or from outside of PyTorch, no counter of versions tells.
    """

    def __init__(self) -> None:
        self.lock = _fork.Lock()
        self.known: "collections.OrderedDict[typing.Any, typing.Tuple[Attention, typing.List[torch.Tensor]]]" = \
            collections.OrderedDict()

    def get(self, spec: str, parameters: typing.Dict[str, torch.Tensor]) -> Attention:
        """Of a spec with gradients, those are prepared with it."""
        key = (spec, tuple((name, tensor.data_ptr()) for name, tensor in parameters.items()))
        with self.lock:
            attention, copies = self.known.get(key, (None, []))
            if attention is None or not all(map(same, copies, parameters.values())):
                # Another one, since a thread may be running what is there.
                attention = reopened(opened(spec), spec).prepare(parameters)
                self.known[key] = attention, [tensor.clone() for tensor in parameters.values()]
            self.known.move_to_end(key)
            if len(self.known) > MOST_PREPARED:
                self.known.popitem(last=False)
            return attention


def same(left: torch.Tensor, right: torch.Tensor) -> bool:
    return left.shape == right.shape and left.dtype == right.dtype and torch.equal(left, right)


_prepared = _Prepared()


class _Plan(typing.NamedTuple):
    """Where the tensors of an operator's list belong: for each tensor of a run its place in the list, or none; places of
    parameters by name."""

    attention: Attention
    row: typing.List[typing.Optional[int]]
    parameters: typing.Dict[str, int]


@functools.lru_cache(maxsize=4096)
def _plan(spec: str, names: str, backward: bool = False) -> _Plan:
    attention = opened(spec).backward if backward else opened(spec)
    row, parameters = attention._arranged({name: place for place, name in enumerate(names.split(","))})
    return _Plan(attention, row, parameters)


def _empty(attention: Attention, row: typing.List[typing.Any], tokens_first: bool, positions: typing.Sequence[int]) -> \
        typing.List[torch.Tensor]:
    """Memory for the outputs: row-major, or o with the heads behind the tokens."""
    shapes = attention._output_shapes(row, positions)
    if None in shapes:
        raise ArgumentError(f"expected the inputs of {attention!r}, but got "
                            f"{', '.join(str(list(tensor.shape)) for tensor in row if tensor is not None)}")
    first = typing.cast(typing.Tuple[int, ...], shapes[0])
    if tokens_first and len(first) == 4:
        shapes[0] = (first[0], first[2], first[1], first[3])
    framework = framework_of(row[0])
    return [framework.empty(typing.cast(typing.Tuple[int, ...], shape), row[0], attention._own_dtype(position))
            for position, shape in zip(positions, shapes)]


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach() if tensor.requires_grad else tensor


def _written(attention: Attention, wanted: str) -> typing.List[int]:
    """The outputs of the operator: those of the spec and, if there are gradients to come, what is left for them."""
    left = attention._left().values() if wanted else ()
    return [*attention._shown, *(place for place in left if place not in attention._shown)]


@torch.library.custom_op("attune::attend", mutates_args=())
def _attend(tensors: typing.List[torch.Tensor], names: str, spec: str, tokens_first: bool, wanted: str = "") -> \
        typing.List[torch.Tensor]:
    """The outputs of a spec. `wanted` names the tensors whose gradients are to come: then the spec is compiled with them."""
    spec = _with_gradients(spec, wanted) if wanted else spec
    attention, places, parameters = _plan(spec, names)
    if parameters:
        attention = _prepared.get(spec, {name: _plain(tensors[place]) for name, place in parameters.items()})
    row = [None if place is None else _plain(tensors[place]) for place in places]
    written = _written(attention, wanted)
    results = _empty(attention, row, tokens_first, written)
    for position, result in zip(written, results):
        row[position] = result
    if tokens_first and results[0].dim() == 4:
        row[written[0]] = results[0].transpose(1, 2)
    attention._call(row, {}, {})
    return results


@_attend.register_fake
def _shape(tensors: typing.List[torch.Tensor], names: str, spec: str, tokens_first: bool, wanted: str = "") -> \
        typing.List[torch.Tensor]:
    attention, places, _ = _plan(_with_gradients(spec, wanted) if wanted else spec, names)
    row = [None if place is None else tensors[place] for place in places]
    return _empty(attention, row, tokens_first, _written(attention, wanted))


@torch.library.custom_op("attune::attend_backward", mutates_args=())
def _attend_backward(tensors: typing.List[torch.Tensor], names: str, spec: str, wanted: str) -> typing.List[torch.Tensor]:
    """The gradients of the tensors of `wanted`, whose spec asks for those alone: `tensors` are what the operator was called
    with and, behind them, the cotangents that there are."""
    attention, places, parameters = _plan(spec, names, backward=True)
    if parameters:
        attention = _prepared.get(spec, {name: _plain(tensors[place]) for name, place in parameters.items()}).backward
    row = [None if place is None else _plain(tensors[place]) for place in places]
    results = attention._call(row, {}, None)
    named = {attention._output_names[0]: results} if isinstance(results, torch.Tensor) else results
    given = dict(zip(names.split(","), tensors))
    return [named[f"grad_{attention._name_of(name)}"].to(given[name].dtype) for name in wanted.split(",")]


@_attend_backward.register_fake
def _gradient_shapes(tensors: typing.List[torch.Tensor], names: str, spec: str, wanted: str) -> typing.List[torch.Tensor]:
    given = dict(zip(names.split(","), tensors))
    return [torch.empty_like(given[name], memory_format=torch.contiguous_format) for name in wanted.split(",")]


def twice(context: typing.Any, *gradients: typing.Any) -> typing.NoReturn:
    raise NotImplementedError("expected one derivative of compiled attention, but got a call of backward() through its "
                              "gradients (create_graph=True); the gradients have none")


_attend_backward.register_autograd(twice)


def keep(ctx: typing.Any, inputs: typing.Any, output: typing.Any) -> None:
    tensors, ctx.names, ctx.spec, ctx.tokens_first, wanted = inputs
    ctx.has_cotangent = [result.is_floating_point() for result in output]
    ctx.left = _names_left(ctx.spec, wanted)
    ctx.save_for_backward(*tensors, *(output[place] for _, place in ctx.left))


def with_unit_rows(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor, copied if the innermost stride is not 1."""
    return tensor if tensor.stride(-1) == 1 or tensor.shape[-1] == 1 else tensor.contiguous()


def gradients_of(context: typing.Any, gradients: typing.Sequence[typing.Optional[torch.Tensor]], needs: typing.Sequence[bool],
                 operator: typing.Callable[..., typing.List[torch.Tensor]]) -> typing.List[typing.Optional[torch.Tensor]]:
    """Of each tensor of a call, by `attune::attend_backward` or what stands for it. A cotangent that is None is 0, and nothing is computed
    for tensors that need no gradient."""
    names, saved = context.names.split(","), context.saved_tensors  # which can be asked for once
    tensors, left = list(saved[:len(names)]), saved[len(names):]
    needed = [name for name, is_needed in zip(names, needs) if is_needed]
    taken = dict(_names_left(context.spec, ",".join(needed)))
    for (name, place), tensor in zip(context.left, left):
        if name in taken:
            tensors.append(tensor.transpose(1, 2) if context.tokens_first and place == 0 and tensor.dim() == 4 else tensor)
            names.append(name)
    for output, gradient, floats in zip(_output_names(context.spec), gradients, context.has_cotangent):
        if gradient is not None and floats:
            turned = gradient.transpose(1, 2) if context.tokens_first and output == "o" and gradient.dim() == 4 else gradient
            tensors.append(with_unit_rows(turned))
            names.append(f"grad_{output}")
    wanted = ",".join(needed)
    by_name = dict(zip(needed, operator(tensors, ",".join(names), _with_gradients(context.spec, wanted), wanted)))
    return [by_name.get(name) for name in context.names.split(",")]


def _backward(context: typing.Any, gradients: typing.Sequence[typing.Optional[torch.Tensor]]) -> typing.Any:
    return gradients_of(context, gradients, context.needs_input_grad[0], torch.ops.attune.attend_backward), None, None, None, None


_attend.register_autograd(_backward, setup_context=keep)


@torch.compiler.assume_constant_result
@functools.lru_cache(maxsize=4096)
def _names_left(spec: str, wanted: str) -> typing.Tuple[typing.Tuple[str, int], ...]:
    """What the operator leaves for its gradients: by the name under which they take it, its place among the outputs."""
    if not wanted:
        return ()
    attention = opened(_with_gradients(spec, wanted))
    written = _written(attention, wanted)
    return tuple((name, written.index(place)) for name, place in attention._left().items())


@torch.compiler.assume_constant_result
def _wanted(spec: str, names: str) -> str:
    """The names of these tensors if there are gradients of them; without, the forward pass goes on as it is, and the
    backward pass says why there are none."""
    return _differentiable(spec, names)


@functools.lru_cache(maxsize=4096)
def _differentiable(spec: str, names: str) -> str:
    try:
        opened(_with_gradients(spec, names))
    except (CompileError, SpecError):
        return ""
    return names


@torch.compiler.assume_constant_result
@functools.lru_cache(maxsize=4096)
def _with_gradients(spec: str, names: str) -> str:
    """The text of a spec with the gradients of these tensors."""
    attention = opened(spec)
    asked = [attention._name_of(name) for name in names.split(",")]
    try:
        return written({**json.loads(spec), "gradients": asked}) + "\n"
    except ValueError:
        kept = _without_field(spec.split("\n"), "gradients")
        return "\n".join([*kept, f"gradients: {json.dumps(asked)}", ""])


def _without_field(lines: typing.Sequence[str], field: str) -> typing.List[str]:
    """Those of a mapping in YAML without a field and what is indented, or listed, below it."""
    kept, inside = [], False
    for line in lines:
        inside = line.startswith(f"{field}:") or (inside and (line[:1].isspace() or line.startswith("- ")))
        if line and not inside:
            kept.append(line)
    return kept


@torch.compiler.assume_constant_result
def spec_text(spec: SpecLike) -> str:
    """The text by which the operator knows a spec; normalized, so that layout does not count."""
    read = read_spec(spec)
    if read.suffix == ".mlir":
        raise ArgumentError(f"expected a spec of YAML or a mapping, but got {read.shown}")
    text = normalized(read)
    return text if "\n" in text or text.startswith("{") else text + "\n"


def call(tensors: typing.Sequence[torch.Tensor], names: typing.Sequence[str], text: str, tokens_first: bool) -> \
        typing.List[torch.Tensor]:
    """The operator: the outputs of the spec of this text, then what is left for gradients if there may be some."""
    needed = [name for name, tensor in zip(names, tensors) if tensor.requires_grad] if torch.is_grad_enabled() else []
    wanted = _wanted(text, ",".join(needed)) if needed else ""
    operator = _operator()
    return typing.cast(typing.List[torch.Tensor], operator(list(tensors), ",".join(names), text, tokens_first, wanted))


def _operator() -> typing.Callable[..., typing.List[torch.Tensor]]:
    if torch.compiler.is_compiling() or not torch._C._are_functorch_transforms_active():
        return torch.ops.attune.attend
    from ._transforms import attend_transformed
    return attend_transformed


def attend(spec: SpecLike, *, tokens_first: bool = False, **tensors: torch.Tensor) -> typing.Any:
    """The output of a spec for tensors by name, inputs and parameters alike: the operator `attune::attend`. A spec with
    further results gives all by name, as `Attention` does.

    `tokens_first` gives o as [batch, n, heads, dv], which a projection of the heads together reads without a copy.
    Parameters (`omega`, `e`, `wq` …) are prepared when they are first seen or have changed; that they have not is
    checked by their content. Under autograd the gradients of what needs them are computed by compiled code, too: where a
    tensor requires one, the spec is compiled with its gradients, and of exact attention o and one number a row are kept.
    """
    given = {name: tensor for name, tensor in tensors.items() if tensor is not None}
    text = spec_text(spec)
    results, names = call(list(given.values()), list(given), text, tokens_first), _output_names(text)
    return results[0] if len(names) == 1 else dict(zip(names, results))


@torch.compiler.assume_constant_result
def _output_names(spec: str) -> typing.Tuple[str, ...]:
    return opened(spec)._output_names


def written(fields: typing.Mapping[str, typing.Any]) -> str:
    """A mapping as `spec_text` has it."""
    return json.dumps(fields, sort_keys=True)
