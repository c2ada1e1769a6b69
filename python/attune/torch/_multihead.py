"""Attention of many heads with its projections, called as PyTorch's own module is."""

import typing

import torch
from torch import nn

from .._errors import ArgumentError
from .._tools import init
from ._calls import DTYPES, Tensor
from ._masks import is_causal, key_lengths
from ._op import call, written

# What a model learns; the rest of what a mechanism draws are buffers.
LEARNED = ("e", "f", "focus", "lepe")


class MultiheadAttention(nn.Module):
    """`torch.nn.MultiheadAttention` with a mechanism of a spec in place of softmax.

    embed_dim, num_heads, bias, kdim, vdim, batch_first   as there, but batch_first is True unless said otherwise
    mechanism   the field of the spec, such as {"kind": "softmax"}
    keys        N, for mechanisms whose parameters depend on it (E of Linformer and FLuRKA): the largest length; shorter
                sequences are padded
    kv_heads    key and value heads; num_heads unless given
    head_dim    embed_dim / num_heads unless given
    causal      always, whatever a call says
    scale       of the logits; the mechanism's own unless given
    seed        of what is drawn: features, sketches, E

    The projections are `q_proj`, `k_proj`, `v_proj`, `out_proj`. What the mechanism learns are parameters, what it
    draws are buffers. Weights between tokens do not exist, so none are returned, and there is no dropout on them.
    Raises SpecError where the mechanism does not fit.
    """

    def __init__(self, embed_dim: int, num_heads: int, mechanism: typing.Mapping[str, typing.Any], *, bias: bool = True,
                 kdim: typing.Optional[int] = None, vdim: typing.Optional[int] = None, batch_first: bool = True,
                 keys: typing.Optional[int] = None, kv_heads: typing.Optional[int] = None,
                 head_dim: typing.Optional[int] = None, causal: bool = False, scale: typing.Optional[float] = None,
                 seed: int = 0, device: typing.Any = None, dtype: typing.Optional[torch.dtype] = None) -> None:
        super().__init__()
        self.embed_dim, self.num_heads, self.kv_heads = embed_dim, num_heads, kv_heads or num_heads
        if head_dim is None and embed_dim % num_heads != 0:
            raise ArgumentError(f"expected heads that divide embed_dim ({embed_dim}), but got {num_heads}; give "
                                "head_dim")
        self.head_dim = head_dim or embed_dim // num_heads
        self.batch_first, self.causal, self.keys = batch_first, causal, keys
        wide, narrow = self.num_heads * self.head_dim, self.kv_heads * self.head_dim
        made = {"bias": bias, "device": device, "dtype": dtype}
        self.q_proj = nn.Linear(embed_dim, wide, **made)
        self.k_proj = nn.Linear(kdim or embed_dim, narrow, **made)
        self.v_proj = nn.Linear(vdim or embed_dim, narrow, **made)
        self.out_proj = nn.Linear(wide, embed_dim, **made)
        self._texts = self._specs(mechanism, scale)
        self._register_drawn(seed, device, dtype)

    # nn.TransformerEncoderLayer asks for these before it takes a fast path around the module's forward.
    _qkv_same_embed_dim = False
    in_proj_bias = None

    def _specs(self, mechanism: typing.Mapping[str, typing.Any],
               scale: typing.Optional[float]) -> typing.Dict[typing.Tuple[str, bool, bool], str]:
        """The texts for all that calls may differ in: written now, for a compiled model cannot."""
        fields: typing.Dict[str, typing.Any] = {
            "attention": mechanism["kind"], "batch": "?", "queries": "?", "keys": "?", "heads": self.num_heads,
            "kv_heads": self.kv_heads, "head_dim": self.head_dim, "mechanism": mechanism}
        if scale is not None:
            fields["scale"] = scale
        return {(dtype, causal, lengths): written({**fields, "dtype": dtype, "causal": causal, "key_lengths": lengths})
                for dtype in DTYPES.values() for causal in (False, True) for lengths in (False, True)}

    def _register_drawn(self, seed: int, device: typing.Any, dtype: typing.Optional[torch.dtype]) -> None:
        """The mechanism's own parameters, as its paper draws them."""
        drawn = init(self._texts["f32", self.causal, False] + "\n", seed=seed, queries=self.keys, keys=self.keys)
        self._own = []
        for name, array in drawn.items():
            attribute = name.replace(".", "_")
            tensor = torch.from_numpy(array).to(device)
            tensor = tensor.to(dtype) if dtype is not None and tensor.is_floating_point() else tensor
            if name.split(".")[0] in LEARNED:
                self.register_parameter(attribute, nn.Parameter(tensor))
            else:
                self.register_buffer(attribute, tensor)
            self._own.append(attribute)

    def forward(self, query: torch.Tensor, key: Tensor = None, value: Tensor = None, key_padding_mask: Tensor = None,
                need_weights: bool = False, attn_mask: Tensor = None, average_attn_weights: bool = True,
                is_causal: bool = False) -> typing.Tuple[torch.Tensor, None]:
        """(output, None): query [batch, n, embed_dim], key and value [batch, N, …] (query unless given), n and N first
        without batch_first, no batch for one sequence. `attn_mask` is None or the causal mask; padding of
        `key_padding_mask` [batch, N] is at the ends."""
        key = query if key is None else key
        value = key if value is None else value
        alone, tokens_first = query.dim() == 2, not self.batch_first
        if alone:
            query, key, value = query[None], key[None], value[None]
            key_padding_mask = None if key_padding_mask is None else key_padding_mask[None]
        elif tokens_first:
            query, key, value = query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1)
        out = self.out_proj(self._attend(query, key, value, key_padding_mask, attn_mask, is_causal).flatten(2))
        return (out[0] if alone else out.transpose(0, 1) if tokens_first else out), None

    def _attend(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, padding: Tensor, mask: Tensor,
                hint: bool) -> torch.Tensor:
        """[batch, n, heads, head_dim]."""
        causal = is_causal(mask, hint, query.shape[1], key.shape[1]) or self.causal
        q = self._heads(self.q_proj(query), self.num_heads)
        k, v = self._heads(self.k_proj(key), self.kv_heads), self._heads(self.v_proj(value), self.kv_heads)
        k, v, lengths = self._filled(k, v, key_lengths(padding))
        if q.dtype not in DTYPES:
            raise ArgumentError(f"expected a model of float32, float16 or bfloat16, but got {q.dtype}")
        names, tensors = ["q", "k", "v"], [q, k, v]
        if lengths is not None:
            names.append("key_lengths")
            tensors.append(lengths)
        tensors += [getattr(self, name) for name in self._own]
        text = self._texts[DTYPES[q.dtype], causal, lengths is not None]
        return call(tensors, [*names, *self._own], text, tokens_first=True)[0]

    def _heads(self, tokens: torch.Tensor, heads: int) -> torch.Tensor:
        """[batch, n, heads · d] as [batch, heads, n, d], a view."""
        return tokens.unflatten(-1, (heads, self.head_dim)).transpose(1, 2)

    def _filled(self, k: torch.Tensor, v: torch.Tensor,
                lengths: Tensor) -> typing.Tuple[torch.Tensor, torch.Tensor, Tensor]:
        """With as many keys as the parameters have columns; those past the sequence do not exist."""
        missing = 0 if self.keys is None else self.keys - k.shape[2]
        if missing < 0:
            raise ArgumentError(f"expected at most {self.keys} keys, which this module was made for, but got "
                                f"{k.shape[2]}; make it with more keys=")
        if missing == 0:
            return k, v, lengths
        if lengths is None:
            lengths = torch.full((k.shape[0],), k.shape[2], dtype=torch.int32, device=k.device)
        pad = (0, 0, 0, missing)
        return nn.functional.pad(k, pad), nn.functional.pad(v, pad), lengths

    @property
    def in_proj_weight(self) -> typing.NoReturn:
        """What nn.TransformerEncoder's nested tensors ask for."""
        raise RuntimeError("expected padded sequences, but nn.TransformerEncoder made nested tensors of them; use "
                           "attune.torch.swap, or set its use_nested_tensor to False")

    def projections(self) -> typing.Dict[str, nn.Linear]:
        """q_proj, k_proj, v_proj, out_proj by name."""
        return {name: getattr(self, name) for name in ("q_proj", "k_proj", "v_proj", "out_proj")}

    @classmethod
    def take_over(cls, attention: nn.Module, **options: typing.Any) -> "MultiheadAttention":
        """This mechanism with the sizes and copies of the projections of a `torch.nn.MultiheadAttention`, or of a
        module of this package. `options` are those of the constructor."""
        from ._swap import take_over
        return take_over(cls, attention, options)

    def extra_repr(self) -> str:
        return f"{self.embed_dim}, heads={self.num_heads}, own={self._own}"
