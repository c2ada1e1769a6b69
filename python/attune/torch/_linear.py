"""Causal linear attention as functions, with the arguments, layouts and defaults of those that people call.

All take [batch, tokens, heads, width] and give (o, final state). With a state S of [width, dv] a head, 0 or
`initial_state` [batch, heads, width, dv] before the first token, token t does

    S ← diag(e^g_t) S;   S ← S + k_t (β_t v_t − β_t Sᵀ k_t)ᵀ or S + k_t v_tᵀ;   o_t = scale · Sᵀ q_t

f32, f16 or bf16, the same for q, k and v; sums, g, β and states in f32. Values may have more heads than queries and keys:
then each of these serves heads / qk_heads of them. `scale` is width^−1/2 unless given. The final state is None unless
`output_final_state`; it may go into the next call as `initial_state`. With `cu_seqlens` [sequences + 1] of integers a batch
of 1 holds sequences end to end, sequence s from token cu_seqlens[s] to the next one, and states are [sequences, heads,
width, dv]; a sequence without tokens leaves its state as it was. Which form computes it (quadratic, in chunks, in pieces side by
side) the compiler decides. All have gradients, of gates and states too. Under `torch.autocast` q, k and v are converted to its dtype first.
"""

import typing

import torch

from .._errors import ArgumentError
from ._calls import Tensor, operands, run

Results = typing.Tuple[torch.Tensor, Tensor]


def linear_attn(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: typing.Optional[float] = None,
                initial_state: Tensor = None, output_final_state: bool = False, cu_seqlens: Tensor = None) -> Results:
    """No decay, nothing erased: o_t = scale Σ ⟨q_t, k_j⟩ v_j over j ≤ t. Maps of features are the caller's."""
    return _attend(q, k, v, scale, initial_state, output_final_state, cu_seqlens, {})


def retention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: typing.Optional[float] = None,
              initial_state: Tensor = None, output_final_state: bool = False, cu_seqlens: Tensor = None) -> Results:
    """RetNet's: head h of H decays by 1 − 2^(−5−h) a token. Positions are the caller's."""
    decays = torch.log1p(-torch.exp2(-5 - torch.arange(v.shape[2], dtype=torch.float32, device=q.device)))
    return simple_gla(q, k, v, None, decays, scale, initial_state, output_final_state, cu_seqlens)


def simple_gla(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, g: Tensor = None, g_gamma: Tensor = None,
               scale: typing.Optional[float] = None, initial_state: Tensor = None,
               output_final_state: bool = False, cu_seqlens: Tensor = None) -> Results:
    """Logarithms of decays: `g` [batch, tokens, heads] of each token, or `g_gamma` [heads] of all. The scalar-gated
    form of GLA, Mamba-2 (k = B, q = C, v = Δ x, g = Δ A) and, with `g_gamma`, lightning attention."""
    if (g is None) == (g_gamma is None):
        raise ArgumentError("arguments 'g', 'g_gamma': expected one of the two, but got " +
                            ("none" if g is None else "both"))
    gates = {"decay": g} if g is not None else {"log_decay": g_gamma}
    return _attend(q, k, v, scale, initial_state, output_final_state, cu_seqlens, gates)


def gla(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, g: torch.Tensor, scale: typing.Optional[float] = None,
        initial_state: Tensor = None, output_final_state: bool = False, cu_seqlens: Tensor = None) -> Results:
    """Gated linear attention: `g` [batch, tokens, heads, width], the logarithm of the decay of each channel of k."""
    return _attend(q, k, v, scale, initial_state, output_final_state, cu_seqlens, {"decay": g})


def delta_rule(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, beta: torch.Tensor,
               scale: typing.Optional[float] = None, initial_state: Tensor = None, output_final_state: bool = False,
               use_qk_l2norm_in_kernel: bool = False, cu_seqlens: Tensor = None) -> Results:
    """DeltaNet: `beta` [batch, tokens, heads]. k should have norm 1: `use_qk_l2norm_in_kernel` sees to it for k and q."""
    return _attend(q, k, v, scale, initial_state, output_final_state, cu_seqlens, {"beta": beta}, use_qk_l2norm_in_kernel)


def gated_delta_rule(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, g: torch.Tensor, beta: torch.Tensor,
                     scale: typing.Optional[float] = None, initial_state: Tensor = None,
                     output_final_state: bool = False, use_qk_l2norm_in_kernel: bool = False,
                     cu_seqlens: Tensor = None) -> Results:
    """Gated DeltaNet: `g` and `beta` [batch, tokens, heads]."""
    return _attend(q, k, v, scale, initial_state, output_final_state, cu_seqlens, {"decay": g, "beta": beta},
                   use_qk_l2norm_in_kernel)


def kda(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, g: torch.Tensor, beta: torch.Tensor,
        scale: typing.Optional[float] = None, initial_state: Tensor = None, output_final_state: bool = False,
        use_qk_l2norm_in_kernel: bool = False, cu_seqlens: Tensor = None) -> Results:
    """Kimi Delta Attention: `g` [batch, tokens, heads, width], `beta` [batch, tokens, heads]."""
    return _attend(q, k, v, scale, initial_state, output_final_state, cu_seqlens, {"decay": g, "beta": beta},
                   use_qk_l2norm_in_kernel)


def _attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: typing.Optional[float], initial_state: Tensor,
            output_final_state: bool, offsets: Tensor, gates: typing.Mapping[str, Tensor],
            l2_norm: bool = False) -> Results:
    """`gates`: decay [batch, tokens, heads] or [.., width], log_decay [heads], beta [batch, tokens, heads]."""
    dtype, (q, k, v) = operands(q=q, k=k, v=v)
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if tensor.dim() != 4:
            raise ArgumentError(f"argument '{name}': expected [batch, tokens, heads, width], but got {list(tensor.shape)}")
    heads, qk_heads = v.shape[2], q.shape[2]
    if qk_heads == 0 or heads % qk_heads != 0:
        raise ArgumentError(f"expected heads of queries and keys that divide those of values ({heads}), but got {qk_heads}")
    mechanism: typing.Dict[str, typing.Any] = {"kind": "kernel", "feature_map": {"kind": "identity"}}
    given: typing.Dict[str, Tensor] = {"q": q.transpose(1, 2), "k": k.transpose(1, 2), "v": v.transpose(1, 2),
                                       "offsets": None if offsets is None else offsets.int()}
    for name, tensor in gates.items():
        if tensor is None:
            continue
        if name == "log_decay":
            mechanism["decay"], given["log_decay"] = {"per": "head"}, tensor.float()
        elif name == "beta":
            mechanism["erase"], given["beta"] = {"per": "token"}, _by_heads(tensor)
        else:
            mechanism["decay"] = {"per": "token" if tensor.dim() == 3 else "channel"}
            given["g"] = _by_heads(tensor)
    sizes = {"heads": heads, "head_dim": q.shape[3], "value_dim": v.shape[3]}
    if qk_heads != heads:
        sizes["qk_heads"] = qk_heads
    fields: typing.Dict[str, typing.Any] = {"attention": "linear", "dtype": dtype, "causal": True,
                                            "mechanism": mechanism}
    if l2_norm:
        fields["qk_norm"] = {"kind": "l2"}
    if scale is not None:
        fields["scale"] = scale
    if initial_state is not None or output_final_state:
        fields["state"] = {"initial": initial_state is not None, "final": output_final_state}
        given["state_s"] = initial_state
    results = run(sizes, fields, given, tokens_first=True)
    return results[0], results[1] if output_final_state else None


def _by_heads(tensor: torch.Tensor) -> torch.Tensor:
    """[batch, tokens, heads, …] as [batch, heads, tokens, …] of f32."""
    return tensor.float().transpose(1, 2)
