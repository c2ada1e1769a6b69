"""What functions on tensors share: a spec from their sizes, and a call of it."""

import operator
import typing

import torch

from .._errors import ArgumentError
from ._op import call, spec_text, with_unit_rows

DTYPES = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16"}
Tensor = typing.Optional[torch.Tensor]


def operands(**named: torch.Tensor) -> typing.Tuple[str, typing.List[torch.Tensor]]:
    """The spec's name of the one dtype that all have, and the tensors. Under `torch.autocast` they are converted to its dtype first, as
    PyTorch's own attention has it."""
    device = next(iter(named.values())).device.type
    if torch.is_autocast_enabled(device):
        to = torch.get_autocast_dtype(device)
        named = {name: tensor.to(to) if tensor.dtype in DTYPES else tensor for name, tensor in named.items()}
    return _dtype_of(named), list(named.values())


def _dtype_of(named: typing.Mapping[str, torch.Tensor]) -> str:
    first = next(iter(named.values())).dtype
    for name, tensor in named.items():
        if tensor.dtype not in DTYPES or tensor.dtype != first:
            wanted = first if first in DTYPES else "float32, float16 or bfloat16"
            raise ArgumentError(f"argument '{name}': expected {wanted}, but got {tensor.dtype}; convert it with to()")
    return DTYPES[first]


def run(sizes: typing.Mapping[str, int], fields: typing.Mapping[str, typing.Any], given: typing.Mapping[str, Tensor],
        tokens_first: bool) -> typing.List[torch.Tensor]:
    """The outputs, in their order, of a spec of open batch (or sequences, given `offsets`) and length, of `sizes` that make
    it another spec, and the rest of its `fields`; tensors by name."""
    fixed = {name: operator.index(size) for name, size in sizes.items()}  # one program each, where shapes are dynamic
    entries = {"batch": "?"} if given.get("offsets") is None else {"packed": True, "sequences": "?"}
    text = spec_text({**entries, "queries": "?", **fixed, **fields})
    tensors = {name: with_unit_rows(tensor) for name, tensor in given.items() if tensor is not None}
    return call(list(tensors.values()), list(tensors), text, tokens_first)
