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


@torch.library.custom_op("attune::seen_lengths", mutates_args=())
def _seen_lengths(mask: torch.Tensor, batch: int, queries: int, causal: bool) -> torch.Tensor:
    """[batch] i32 of a mask [batch or 1, heads or 1, queries or 1, keys] that is built of lengths and, perhaps, the
    causal mask."""
    visible = ~_hidden(mask) if mask.dtype != torch.bool else mask
    keys = mask.shape[3]
    columns = torch.arange(keys, device=mask.device)
    lengths = visible[:, 0, -1].sum(1) if queries > 0 else torch.zeros_like(visible[:, 0, 0, 0], dtype=torch.int64)
    expected = (columns < lengths[:, None])[:, None, None]
    if causal:
        rows = torch.arange(queries, device=mask.device)[:, None]
        expected = expected & (columns <= rows + keys - queries)
    if not bool((visible == expected).all()):
        raise ArgumentError("argument 'attn_mask': expected one that hides keys at the end of each sequence, or what is "
                            "behind the last query's diagonal, but got another one; compiled attention knows lengths, "
                            "causal masks and windows")
    return lengths.to(torch.int32).expand(batch).contiguous()


@_seen_lengths.register_fake
def _seen_shape(mask: torch.Tensor, batch: int, queries: int, causal: bool) -> torch.Tensor:
    return mask.new_empty(batch, dtype=torch.int32)


def seen(mask: torch.Tensor, outer: typing.Sequence[int], queries: int,
         keys: int) -> typing.Tuple[bool, torch.Tensor]:
    """Whether a mask of what queries see is causal, and its lengths [batch]: `mask` is as
    `scaled_dot_product_attention` takes it, `outer` what stands before tokens in the query, batch and heads."""
    shape = [1] * (4 - mask.dim()) + list(mask.shape)
    wanted = [1] * (2 - len(outer)) + list(outer) + [queries, keys]
    if len(shape) != 4 or len(wanted) != 4 or shape[3] != keys or any(a not in (1, b) for a, b in zip(shape, wanted)):
        raise ArgumentError(f"argument 'attn_mask': expected a mask that broadcasts to {wanted}, but got "
                            f"{list(mask.shape)}")
    mask, batch = mask.reshape(shape), wanted[0]
    causal = shape[2] != 1 and _is_triangle(mask, queries, keys)
    return causal, torch.ops.attune.seen_lengths(mask, batch, queries, causal)


def _is_triangle(mask: torch.Tensor, queries: int, keys: int) -> bool:
    """Whether the first query sees less than the last one."""
    if torch.compiler.is_compiling():
        raise ArgumentError("argument 'attn_mask': expected one row for all queries, or is_causal=True in its place, when "
                            "a model is compiled, but got a row for each")
    hidden = ~mask if mask.dtype == torch.bool else _hidden(mask)
    return queries > 0 and bool((hidden[:, :, 0] & ~hidden[:, :, -1]).any())
