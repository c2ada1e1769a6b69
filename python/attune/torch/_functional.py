"""Exact attention as functions, with the arguments, layouts and defaults of those that people call."""

import typing

import torch

from .._errors import ArgumentError
from ._calls import Tensor, operands, run
from ._masks import seen


def scaled_dot_product_attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attn_mask: Tensor = None,
                                 dropout_p: float = 0.0, is_causal: bool = False,
                                 scale: typing.Optional[float] = None, enable_gqa: bool = False) -> torch.Tensor:
    """`torch.nn.functional.scaled_dot_product_attention`: [batch, H, L, Ev] for query [batch, H, L, E], key
    [batch, G, S, E] and value [batch, G, S, Ev] of f32, f16 or bf16, G = H unless `enable_gqa`. There may be more
    dimensions before the heads, or none of heads and batch.

    `is_causal` lets query i see keys 0 … i. `attn_mask` may hide keys at the end of each sequence, and what lies behind
    the last query's diagonal: True (or 0) lets through, False (or −∞) hides; a compiled model can have it for the former
    only. A query that sees no key gives 0. ArgumentError: other masks, `dropout_p`, dtypes and shapes that do not fit.
    Gradients are compiled when they are first asked for. Under `torch.autocast` tensors are converted to its dtype first.
    """
    if dropout_p != 0:
        raise ArgumentError(f"argument 'dropout_p': expected 0, for compiled attention drops nothing, but got {dropout_p}")
    if attn_mask is not None and is_causal:
        raise ArgumentError("argument 'attn_mask': expected None with is_causal=True, but got a mask; give one of the two")
    dtype, (query, key, value) = operands(query=query, key=key, value=value)
    if query.dim() < 2 or any(tensor.dim() != query.dim() for tensor in (key, value)):
        raise ArgumentError("arguments 'query', 'key', 'value': expected the same number of dimensions, at least 2, but "
                            f"got {query.dim()}, {key.dim()}, {value.dim()}")
    outer = query.shape[:-2]
    query, key, value = (_with_heads(tensor) for tensor in (query, key, value))
    queries, keys = query.shape[2], key.shape[2]
    if key.shape[1] != query.shape[1] and not enable_gqa:
        raise ArgumentError(f"argument 'key': expected {query.shape[1]} heads, as query has, but got {key.shape[1]}; give "
                            "enable_gqa=True if heads share keys and values")
    lengths = None
    if attn_mask is not None:
        is_causal, lengths = seen(attn_mask, outer, queries, keys)
    elif is_causal and queries > keys:  # the last queries see all keys
        first = _softmax(query[:, :, :keys], key, value, dtype=dtype, causal=True, scale=scale)[0]
        rest = _softmax(query[:, :, keys:], key, value, dtype=dtype, causal=False, scale=scale)[0]
        return torch.cat([first, rest], 2).reshape(*outer, queries, value.shape[-1])
    elif is_causal:  # no query sees the keys that are left out
        key, value = key[:, :, :queries], value[:, :, :queries]
    o = _softmax(query, key, value, dtype=dtype, causal=is_causal, scale=scale, lengths=lengths)[0]
    return o.reshape(*outer, queries, value.shape[-1])


def flash_attn_func(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, dropout_p: float = 0.0,
                    softmax_scale: typing.Optional[float] = None, causal: bool = False,
                    window_size: typing.Tuple[int, int] = (-1, -1), softcap: float = 0.0, alibi_slopes: Tensor = None,
                    deterministic: bool = False, return_attn_probs: bool = False) -> typing.Any:
    """`flash_attn.flash_attn_func`: [batch, n, H, dv] for q [batch, n, H, d], k [batch, N, G, d], v [batch, N, G, dv] of
    f32, f16 or bf16; G divides H.

    `causal` lets the last query see all keys. `window_size` (w, 0) with it hides keys more than w tokens back.
    `softcap` c > 0 caps logits by c·tanh(logit / c). `alibi_slopes` [H]: logits less slope times distance.
    Results are always the same bits, whatever `deterministic` says. `return_attn_probs` gives (o, lse [batch, H, n],
    None). ArgumentError: `dropout_p`, other windows, slopes [batch, H], dtypes and shapes that do not fit. Gradients are
    compiled when they are first asked for, those of `alibi_slopes` too.
    """
    mechanism = _flash_mechanism(dropout_p, causal, window_size, softcap, alibi_slopes, q.shape[2])
    dtype, tensors = operands(q=q, k=k, v=v)
    results = _softmax(*(tensor.transpose(1, 2) for tensor in tensors), dtype=dtype, causal=causal,
                       scale=softmax_scale, slopes=alibi_slopes, tokens_first=True, lse=return_attn_probs,
                       mechanism=mechanism)
    return (results[0], results[1], None) if return_attn_probs else results[0]


def flash_attn_varlen_func(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, cu_seqlens_q: torch.Tensor,
                           cu_seqlens_k: torch.Tensor, max_seqlen_q: typing.Optional[int] = None,
                           max_seqlen_k: typing.Optional[int] = None, dropout_p: float = 0.0,
                           softmax_scale: typing.Optional[float] = None, causal: bool = False,
                           window_size: typing.Tuple[int, int] = (-1, -1), softcap: float = 0.0,
                           alibi_slopes: Tensor = None, deterministic: bool = False,
                           return_attn_probs: bool = False) -> typing.Any:
    """`flash_attn.flash_attn_varlen_func`: sequences end to end, [tokens, H, dv] for q [tokens, H, d], k [keys, G, d], v
    [keys, G, dv]. Sequence s has tokens cu_seqlens_q[s] … cu_seqlens_q[s + 1] − 1 and keys likewise; offsets are integers and
    begin with 0. The longest lengths are not needed. lse is [H, tokens]; the rest as in `flash_attn_func`.
    """
    mechanism = _flash_mechanism(dropout_p, causal, window_size, softcap, alibi_slopes, q.shape[1])
    own_keys = cu_seqlens_k is cu_seqlens_q
    dtype, tensors = operands(q=q, k=k, v=v)
    results = _softmax(*(tensor.transpose(0, 1)[None] for tensor in tensors), dtype=dtype, causal=causal,
                       scale=softmax_scale, slopes=alibi_slopes, tokens_first=True, lse=return_attn_probs, mechanism=mechanism,
                       offsets=cu_seqlens_q.int(), key_offsets=None if own_keys else cu_seqlens_k.int())
    return (results[0][0], results[1][0], None) if return_attn_probs else results[0][0]


def _flash_mechanism(dropout_p: float, causal: bool, window_size: typing.Tuple[int, int], softcap: float,
                     alibi_slopes: Tensor, heads: int) -> typing.Mapping[str, typing.Any]:
    """The fields of the mechanism that these arguments stand for."""
    if dropout_p != 0:
        raise ArgumentError(f"argument 'dropout_p': expected 0, for compiled attention drops nothing, but got {dropout_p}")
    left, right = window_size
    if right > 0 or (right == 0 and not causal) or (left >= 0 and not causal):
        raise ArgumentError("argument 'window_size': expected (-1, -1), or (w, 0) with causal=True, but got "
                            f"{tuple(window_size)}; keys after a query's own are seen by all of them or by none")
    more: typing.Dict[str, typing.Any] = {}
    if left >= 0:
        more["window"] = {"last": left + 1}
    if softcap > 0:
        more["softcap"] = softcap
    if alibi_slopes is not None:
        if alibi_slopes.dim() != 1:
            raise ArgumentError(f"argument 'alibi_slopes': expected [{heads}], but got {list(alibi_slopes.shape)}; "
                                "slopes of each sequence are not supported")
        more["alibi"] = True
    return more


def _with_heads(tensor: torch.Tensor) -> torch.Tensor:
    """[batch, heads, tokens, width] of whatever dimensions stand before the last two."""
    if tensor.dim() <= 3:
        return tensor[:, None] if tensor.dim() == 3 else tensor[None, None]
    return tensor if tensor.dim() == 4 else tensor.flatten(0, -4)


# Query heads that share keys are rows of one kernel's tile up to so many queries.
FEW_QUERIES = 16


def _softmax(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, dtype: str, causal: bool,
             scale: typing.Optional[float], lengths: Tensor = None, slopes: Tensor = None, tokens_first: bool = False, lse: bool = False,
             mechanism: typing.Optional[typing.Mapping[str, typing.Any]] = None, offsets: Tensor = None,
             key_offsets: Tensor = None) -> typing.List[torch.Tensor]:
    """o, and lse if wanted, of [batch, heads, tokens, width]."""
    sizes = {"heads": q.shape[1], "kv_heads": k.shape[1], "head_dim": q.shape[3], "value_dim": v.shape[3]}
    if k.shape[1] == 0 or q.shape[1] % k.shape[1] != 0:
        raise ArgumentError(f"expected heads of keys and values that divide those of queries ({q.shape[1]}), but got "
                            f"{k.shape[1]}")
    fields = {"attention": "softmax", "dtype": dtype, "causal": causal,
              "key_lengths": lengths is not None, "mechanism": {"kind": "softmax", **(mechanism or {})}}
    if scale is not None:
        fields["scale"] = scale
    if lse:
        fields["results"] = ["lse"]
    if offsets is None or key_offsets is not None:
        fields["keys"] = "?"
    shares = q.shape[1] > k.shape[1] and q.shape[2] < k.shape[2]  # of a cache, by heads
    if offsets is None and (q.shape[2] == 1 or (shares and q.shape[2] <= FEW_QUERIES)):
        sizes["queries"] = q.shape[2]  # a program of its own: tiles of few queries, and keys once for all heads that share them
    given = {"q": q, "k": k, "v": v, "key_lengths": lengths, "slope": slopes, "offsets": offsets, "key_offsets": key_offsets}
    return run(sizes, fields, given, tokens_first)
