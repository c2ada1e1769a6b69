"""Masks of PyTorch's attention as what a spec can say: causal, and lengths of the keys."""

import typing

import torch

from .._errors import ArgumentError


def _hidden(mask: torch.Tensor) -> torch.Tensor:
    """Where a mask lets nothing through: True of a boolean one, −∞ of one that is added."""
    if mask.dtype == torch.bool:
        return mask
    hidden = torch.isneginf(mask)
    if not bool((hidden | (mask == 0)).all()):
        raise ArgumentError("expected a mask of 0 and -inf, but got other numbers; compiled attention adds no bias")
    return hidden


@torch.library.custom_op("attune::key_lengths", mutates_args=())
def _key_lengths(mask: torch.Tensor) -> torch.Tensor:
    hidden = _hidden(mask)
    lengths = (~hidden).sum(1)
    if not torch.equal(hidden, torch.arange(mask.shape[1], device=mask.device) >= lengths[:, None]):
        raise ArgumentError("argument 'key_padding_mask': expected padding at the end of each sequence, but got it "
                            "elsewhere; move the padding behind the tokens")
    return lengths.to(torch.int32)


@_key_lengths.register_fake
def _shape(mask: torch.Tensor) -> torch.Tensor:
    return mask.new_empty(mask.shape[0], dtype=torch.int32)


def key_lengths(mask: typing.Optional[torch.Tensor]) -> typing.Optional[torch.Tensor]:
    """[batch] i32 of a `key_padding_mask` [batch, N], in which True (or −∞) is padding; it must be at the ends."""
    return None if mask is None else torch.ops.attune.key_lengths(mask)


def is_causal(mask: typing.Optional[torch.Tensor], hint: bool, queries: int, keys: int) -> bool:
    """Whether `attn_mask` is the causal mask; an error if it is another. The hint `is_causal` is believed, as
    PyTorch's own attention does."""
    if hint:
        if queries != keys:
            raise ArgumentError(f"expected as many keys as queries ({queries}) with is_causal, but got {keys}")
        return True
    if mask is None:
        return False
    if torch.compiler.is_compiling():
        raise ArgumentError("argument 'attn_mask': expected none, or is_causal=True beside it, when a model is "
                            "compiled, but got a mask alone")
    expected = torch.ones(queries, keys, dtype=torch.bool, device=mask.device).triu(keys - queries + 1)
    if mask.dim() == 2 and torch.equal(_hidden(mask), expected):
        return True
    if not bool(_hidden(mask).any()):
        return False
    raise ArgumentError("argument 'attn_mask': expected the causal mask, but got another one; compiled attention knows "
                        "causal masks, windows, and padded keys (key_padding_mask)")
