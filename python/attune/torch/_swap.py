"""Weights of the modules that people have, in ours."""

import typing

import torch
from torch import nn

from .._errors import ArgumentError
from ._multihead import MultiheadAttention

Weights = typing.Dict[str, torch.Tensor]
Kind = typing.TypeVar("Kind", bound=MultiheadAttention)


def swap(model: nn.Module, kind: typing.Type[MultiheadAttention], **options: typing.Any) -> nn.Module:
    """Puts `kind` in the place of every `torch.nn.MultiheadAttention` of a model (and of every module of this
    package) with its projections, and returns the model, changed. `options` are those of kind's constructor; each
    module draws with a seed of its own, from `seed` on.

        swap(model, attune.torch.Softmax)
        swap(model, attune.torch.Flurka, rank=64, keys=512)
    """
    seed = options.pop("seed", 0)
    if _is_attention(model):
        return kind.take_over(model, seed=seed, **options)
    for module in list(model.modules()):
        if isinstance(module, nn.TransformerEncoder):
            # Nested tensors would go around the modules' forward.
            module.use_nested_tensor = module.enable_nested_tensor = False
        for name, child in list(module.named_children()):
            if _is_attention(child):
                setattr(module, name, kind.take_over(child, seed=seed, **options))
                seed += 1
    return model


def _is_attention(module: nn.Module) -> bool:
    return isinstance(module, (nn.MultiheadAttention, MultiheadAttention))


def take_over(kind: typing.Type[Kind], attention: nn.Module, options: typing.Mapping[str, typing.Any]) -> Kind:
    """See MultiheadAttention.take_over."""
    if isinstance(attention, MultiheadAttention):
        sizes, weights = _of_ours(attention)
    elif isinstance(attention, nn.MultiheadAttention):
        sizes, weights = _of_torch(attention)
    else:
        raise ArgumentError(f"expected a torch.nn.MultiheadAttention, but got a {type(attention).__name__}")
    made = with_weights(kind, {**sizes, **options}, weights)
    return made.train(attention.training)


def _of_torch(attention: nn.MultiheadAttention) -> typing.Tuple[typing.Dict[str, typing.Any], Weights]:
    if attention.bias_k is not None or attention.add_zero_attn:
        raise ArgumentError("expected attention over its tokens alone, but got one with add_bias_kv or add_zero_attn")
    if attention._qkv_same_embed_dim:
        q, k, v = attention.in_proj_weight.chunk(3)
    else:
        q, k, v = attention.q_proj_weight, attention.k_proj_weight, attention.v_proj_weight
    weights: Weights = {"q_proj.weight": q, "k_proj.weight": k, "v_proj.weight": v,
                        "out_proj.weight": attention.out_proj.weight}
    if attention.in_proj_bias is not None:
        weights |= zip(("q_proj.bias", "k_proj.bias", "v_proj.bias"), attention.in_proj_bias.chunk(3))
        weights["out_proj.bias"] = attention.out_proj.bias
    sizes = {"embed_dim": attention.embed_dim, "num_heads": attention.num_heads, "kdim": attention.kdim,
             "vdim": attention.vdim, "batch_first": attention.batch_first, "bias": attention.in_proj_bias is not None}
    return sizes, weights


def _of_ours(attention: MultiheadAttention) -> typing.Tuple[typing.Dict[str, typing.Any], Weights]:
    weights: Weights = {f"{name}.{part}": getattr(layer, part) for name, layer in attention.projections().items()
                        for part in ("weight", "bias") if getattr(layer, part) is not None}
    sizes = {"embed_dim": attention.embed_dim, "num_heads": attention.num_heads, "kv_heads": attention.kv_heads,
             "head_dim": attention.head_dim, "kdim": attention.k_proj.in_features, "vdim": attention.v_proj.in_features,
             "batch_first": attention.batch_first, "bias": attention.q_proj.bias is not None,
             "causal": attention.causal}
    return sizes, weights


def with_weights(kind: typing.Type[Kind], sizes: typing.Mapping[str, typing.Any], weights: Weights) -> Kind:
    """A module with copies of weights by name, which is trained if they are; a projection without a bias there has
    one of zeros, if the module has one."""
    like = weights["q_proj.weight"]
    made = kind(**{"device": like.device, "dtype": like.dtype, **sizes})
    state = {name: tensor.detach() for name, tensor in weights.items()}
    for name, layer in made.projections().items():
        if layer.bias is not None:
            state.setdefault(f"{name}.bias", torch.zeros_like(layer.bias))
    unexpected = made.load_state_dict(state, strict=False).unexpected_keys
    if unexpected:
        raise ArgumentError(f"expected weights that the module has, but got {', '.join(unexpected)}")
    return made.requires_grad_(like.requires_grad)


def published(state: typing.Mapping[str, torch.Tensor], prefix: str) -> Weights:
    """The projections of the published Linformer and Performer modules, whose names are to_q, to_k, to_v, to_out."""
    names = {"to_q": "q_proj", "to_k": "k_proj", "to_v": "v_proj", "to_out": "out_proj"}
    weights: Weights = {}
    for theirs, ours in names.items():
        if f"{prefix}{theirs}.weight" not in state:
            raise ArgumentError(f"expected '{prefix}{theirs}.weight' in the state, but got "
                                f"{', '.join(state) or 'nothing'}; give prefix= if the module is inside a model")
        for part in ("weight", "bias"):
            if f"{prefix}{theirs}.{part}" in state:
                weights[f"{ours}.{part}"] = state[f"{prefix}{theirs}.{part}"]
    return weights


def sizes_of(weights: Weights, num_heads: int) -> typing.Dict[str, typing.Any]:
    """What a constructor needs, read off the projections."""
    q, k = weights["q_proj.weight"], weights["k_proj.weight"]
    width = q.shape[0] // num_heads
    return {"embed_dim": q.shape[1], "num_heads": num_heads, "head_dim": width, "kv_heads": k.shape[0] // width}
