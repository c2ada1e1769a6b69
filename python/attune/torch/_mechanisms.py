"""A module for each mechanism; options beside its own are those of MultiheadAttention."""

import typing

import torch

from ._multihead import MultiheadAttention
from ._swap import published, sizes_of, with_weights

__all__ = ["Agent", "Cosformer", "Effatt", "Flurka", "Focused", "Linear", "Linformer", "Performer", "PolySketch",
           "Polynomial", "Relu", "Softmax"]

Window = typing.Optional[typing.Mapping[str, typing.Any]]


def _kernel(feature_map: typing.Mapping[str, typing.Any], **more: typing.Any) -> typing.Dict[str, typing.Any]:
    return {"kind": "kernel", "feature_map": feature_map, **_given(more)}


def _given(fields: typing.Mapping[str, typing.Any]) -> typing.Dict[str, typing.Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _favor(head_dim: int, features: typing.Optional[int], **more: typing.Any) -> typing.Dict[str, typing.Any]:
    return {"kind": "favor", "features": features or 2 * head_dim, **_given(more)}


class Softmax(MultiheadAttention):
    """Exact attention; with `window` inside blocks: {"length": w} or {"grid": [h, w], "size": [a, b]}."""

    def __init__(self, embed_dim: int, num_heads: int, *, window: Window = None, **more: typing.Any) -> None:
        super().__init__(embed_dim, num_heads, {"kind": "softmax", **_given({"window": window})}, **more)


class Linear(MultiheadAttention):
    """Linear attention with elu + 1."""

    def __init__(self, embed_dim: int, num_heads: int, **more: typing.Any) -> None:
        super().__init__(embed_dim, num_heads, _kernel({"kind": "elu1"}), **more)


class Relu(MultiheadAttention):
    """Linear attention with relu."""

    def __init__(self, embed_dim: int, num_heads: int, **more: typing.Any) -> None:
        super().__init__(embed_dim, num_heads, _kernel({"kind": "relu"}), **more)


class Cosformer(MultiheadAttention):
    """Linear attention with relu, weighted by the distance of tokens; `max_position` is the largest length."""

    def __init__(self, embed_dim: int, num_heads: int, *, max_position: int, **more: typing.Any) -> None:
        super().__init__(embed_dim, num_heads, _kernel({"kind": "cosformer", "max_position": max_position}), **more)


class Focused(MultiheadAttention):
    """Focused linear attention; `focus` is learned."""

    def __init__(self, embed_dim: int, num_heads: int, *, power: float = 3, **more: typing.Any) -> None:
        super().__init__(embed_dim, num_heads, _kernel({"kind": "focused", "power": power}), **more)


class Performer(MultiheadAttention):
    """FAVOR+: softmax by `features` random features (twice the width of a head unless given)."""

    omega: torch.Tensor

    def __init__(self, embed_dim: int, num_heads: int, *, features: typing.Optional[int] = None,
                 per_head: typing.Optional[bool] = None, epsilon: typing.Optional[float] = None,
                 stabilizer: typing.Optional[str] = None, **more: typing.Any) -> None:
        width = more.get("head_dim") or embed_dim // num_heads
        super().__init__(embed_dim, num_heads, _kernel(_favor(width, features, per_head=per_head, epsilon=epsilon,
                                                              stabilizer=stabilizer)), **more)

    @classmethod
    def from_state_dict(cls, state: typing.Mapping[str, torch.Tensor], num_heads: int, *, prefix: str = "",
                        **more: typing.Any) -> "Performer":
        """From the state of a published Performer module (to_q, to_k, to_v, to_out,
        fast_attention.projection_matrix): the same function, with its ε of 1e-4 and its maxima, which keys of a
        causal one cannot have."""
        weights = published(state, prefix)
        omega = state[f"{prefix}fast_attention.projection_matrix"]
        more = {"features": omega.shape[0], "epsilon": 1e-4, "stabilizer": "projection", **more}
        made = with_weights(cls, {**sizes_of(weights, num_heads), **more}, weights)
        made.omega.copy_(omega[None])
        return made


class Linformer(MultiheadAttention):
    """Softmax over keys and values that E (and F, unless `tied`) compresses to `rank` tokens; `keys` is the largest
    length."""

    e: torch.Tensor
    f: torch.Tensor

    def __init__(self, embed_dim: int, num_heads: int, *, rank: int, keys: int, tied: bool = True,
                 per_head: bool = False, **more: typing.Any) -> None:
        low_rank = {"rank": rank, "tied": tied, "per_head": per_head}
        super().__init__(embed_dim, num_heads, {"kind": "softmax", "low_rank": low_rank}, keys=keys, **more)

    @classmethod
    def from_state_dict(cls, state: typing.Mapping[str, torch.Tensor], num_heads: int, *, prefix: str = "",
                        **more: typing.Any) -> "Linformer":
        """From the state of a published Linformer module: to_q, to_k, to_v, to_out, proj_k [N, rank], and proj_v unless
        keys and values share it."""
        weights = published(state, prefix)
        e, f = state[f"{prefix}proj_k"], state.get(f"{prefix}proj_v")
        more = {"keys": e.shape[0], "rank": e.shape[1], "tied": f is None, **more}
        made = with_weights(cls, {**sizes_of(weights, num_heads), **more}, weights)
        with torch.no_grad():
            made.e.copy_(e.T[None])
            if f is not None:
                made.f.copy_(f.T[None])
        return made


class Flurka(MultiheadAttention):
    """FLuRKA: a kernel over keys and values that E compresses to `rank` tokens; `keys` is the largest length. The map is
    FAVOR+ with `features`, or `feature_map`, such as {"kind": "elu1"}."""

    def __init__(self, embed_dim: int, num_heads: int, *, rank: int, keys: int, features: typing.Optional[int] = None,
                 feature_map: typing.Optional[typing.Mapping[str, typing.Any]] = None, tied: bool = True,
                 per_head: bool = False, **more: typing.Any) -> None:
        width = more.get("head_dim") or embed_dim // num_heads
        low_rank = {"rank": rank, "tied": tied, "per_head": per_head}
        super().__init__(embed_dim, num_heads, _kernel(feature_map or _favor(width, features), low_rank=low_rank),
                         keys=keys, **more)


class PolySketch(MultiheadAttention):
    """Powers of the logits by sketches of `size`; causal ones are exact inside blocks of `local_exact`."""

    def __init__(self, embed_dim: int, num_heads: int, *, degree: int = 4, size: int = 32,
                 local_exact: typing.Optional[int] = None, **more: typing.Any) -> None:
        mechanism = {"kind": "polysketch", "degree": degree, "size": size, **_given({"local_exact": local_exact})}
        super().__init__(embed_dim, num_heads, mechanism, **more)


class Polynomial(MultiheadAttention):
    """An even power of the logits."""

    def __init__(self, embed_dim: int, num_heads: int, *, degree: int = 4, **more: typing.Any) -> None:
        super().__init__(embed_dim, num_heads, {"kind": "polynomial", "degree": degree}, **more)


class Effatt(MultiheadAttention):
    """Efficient attention: softmax over the features of queries and over the tokens of keys; not causal."""

    def __init__(self, embed_dim: int, num_heads: int, **more: typing.Any) -> None:
        super().__init__(embed_dim, num_heads, {"kind": "effatt"}, **more)


class Agent(MultiheadAttention):
    """Agent attention: `agents` averages of queries stand between queries and keys; not causal."""

    def __init__(self, embed_dim: int, num_heads: int, *, agents: int, **more: typing.Any) -> None:
        super().__init__(embed_dim, num_heads, {"kind": "agent", "agents": agents}, **more)
