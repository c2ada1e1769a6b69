"""A small language model of gated delta layers in plain PyTorch, and its core exchanged for the compiled one: the same logits, for a
prompt, a token at a time from caches, and of sequences end to end.

    python3 examples/programs/gated_delta_model.py            # with the package attune and PyTorch installed
"""

import time

import torch
from torch import nn
from torch.nn.functional import rms_norm, silu, softplus

TAPS = 4


def gated_delta_rule(q, k, v, g, beta, scale=None, initial_state=None, output_final_state=False,
                     use_qk_l2norm_in_kernel=False, cu_seqlens=None):
    """The core, a token after another; called as `attune.torch.gated_delta_rule` is, which takes its place."""
    if use_qk_l2norm_in_kernel:
        q, k = (x * (x.square().sum(-1, keepdim=True) + 1e-6).rsqrt() for x in (q, k))
    heads = v.shape[2]
    q, k = (x.repeat_interleave(heads // x.shape[2], 2) for x in (q, k))
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    begins = set() if cu_seqlens is None else set(cu_seqlens.tolist())
    nothing = v.new_zeros(v.shape[0], heads, k.shape[3], v.shape[3])
    state, rows = nothing if initial_state is None else initial_state, []
    for t in range(v.shape[1]):
        state = nothing if t in begins else g[:, t, :, None, None].exp() * state       # [batch, heads, width, dv]
        seen = torch.einsum("bhkv,bhk->bhv", state, k[:, t])
        state = state + torch.einsum("bhk,bhv->bhkv", k[:, t], beta[:, t, :, None] * (v[:, t] - seen))
        rows.append(scale * torch.einsum("bhkv,bhk->bhv", state, q[:, t]))
    o = torch.stack(rows, 1) if rows else v[:, :0]
    return o, state if output_final_state else None


def short_conv(x, weight, before=None, entries=None):
    """silu of a causal convolution of each channel; x [batch, tokens, channels], weight [channels, TAPS]. `before` holds the TAPS − 1
    rows ahead of x, `entries` [tokens] numbers the sequence that a row is of. Returns the rows ahead of what follows, too."""
    if before is None:
        before = x.new_zeros(x.shape[0], TAPS - 1, x.shape[2])
    rows, tokens = torch.cat([before, x], 1), x.shape[1]
    total = x * weight[:, TAPS - 1]
    for back in range(1, TAPS):
        start = TAPS - 1 - back
        tap = rows[:, start:start + tokens] * weight[:, start]
        if entries is not None:
            other = torch.cat([entries.new_full((back,), -1), entries])[:tokens] != entries
            tap = tap.masked_fill(other[:, None], 0)
        total = total + tap
    return silu(total), rows[:, rows.shape[1] - (TAPS - 1):]


class GatedDeltaLayer(nn.Module):
    """Projections, short convolutions, the core, a gated norm of each head, the output's projection."""

    core = staticmethod(gated_delta_rule)

    def __init__(self, width, heads, qk_heads, head_dim, value_dim):
        super().__init__()
        self.shapes = (qk_heads, head_dim), (qk_heads, head_dim), (heads, value_dim)
        self.sizes = [count * size for count, size in self.shapes]
        self.qkv = nn.Linear(width, sum(self.sizes), bias=False)
        self.conv = nn.Parameter(torch.randn(sum(self.sizes), TAPS) / TAPS ** 0.5)
        self.gates = nn.Linear(width, 2 * heads, bias=False)
        self.a_log = nn.Parameter(torch.empty(heads).uniform_(1, 16).log())
        self.dt_bias = nn.Parameter(torch.empty(heads).uniform_(-5, -2))
        self.gate, self.out = nn.Linear(width, self.sizes[2], bias=False), nn.Linear(self.sizes[2], width, bias=False)
        self.norm = nn.Parameter(torch.ones(value_dim))

    def forward(self, x, cache=None, cu_seqlens=None, entries=None):
        before, state = (None, None) if cache is None else cache
        mixed, before = short_conv(self.qkv(x), self.conv, before, entries)
        q, k, v = (part.unflatten(-1, shape) for part, shape in zip(mixed.split(self.sizes, -1), self.shapes))
        a, b = self.gates(x).chunk(2, -1)
        g = -self.a_log.exp() * softplus(a + self.dt_bias)                            # [batch, tokens, heads]
        o, state = self.core(q, k, v, g, b.sigmoid(), initial_state=state, output_final_state=cu_seqlens is None,
                             use_qk_l2norm_in_kernel=True, cu_seqlens=cu_seqlens)
        o = rms_norm(o, o.shape[-1:], self.norm, 1e-6) * silu(self.gate(x)).unflatten(-1, self.shapes[2])
        return self.out(o.flatten(2)), (before, state)


class Block(nn.Module):
    def __init__(self, width, **sizes):
        super().__init__()
        self.norms = nn.ModuleList(nn.RMSNorm(width, 1e-6) for _ in range(2))
        self.mixer = GatedDeltaLayer(width, **sizes)
        self.mlp = nn.Sequential(nn.Linear(width, 3 * width), nn.SiLU(), nn.Linear(3 * width, width))

    def forward(self, x, cache, cu_seqlens, entries):
        mixed, cache = self.mixer(self.norms[0](x), cache, cu_seqlens, entries)
        x = x + mixed
        return x + self.mlp(self.norms[1](x)), cache


class Decoder(nn.Module):
    """Tokens [batch, n] to logits [batch, n, vocabulary], and caches for the tokens after them. With `cu_seqlens` a batch of 1 holds
    sequences end to end, which leave no caches."""

    def __init__(self, vocabulary=199, width=96, layers=3, heads=4, qk_heads=2, head_dim=32, value_dim=40):
        super().__init__()
        self.embedding, self.norm = nn.Embedding(vocabulary, width), nn.RMSNorm(width, 1e-6)
        self.blocks = nn.ModuleList(Block(width, heads=heads, qk_heads=qk_heads, head_dim=head_dim, value_dim=value_dim)
                                    for _ in range(layers))
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens, caches=None, cu_seqlens=None):
        x, entries, left = self.embedding(tokens), None, []
        if cu_seqlens is not None:
            entries = torch.searchsorted(cu_seqlens, torch.arange(tokens.shape[1], dtype=cu_seqlens.dtype), right=True)
        for block, cache in zip(self.blocks, caches or [None] * len(self.blocks)):
            x, cache = block(x, cache, cu_seqlens, entries)
            left.append(cache)
        return self.head(self.norm(x)), left


def with_core(model, core):
    """Gives every layer another core: all that a model has to change."""
    for layer in model.modules():
        if isinstance(layer, GatedDeltaLayer):
            layer.core = core
    return model


def token_by_token(model, tokens, prompt):
    """The logits of a prompt in one call, and of a token a call after it."""
    logits, caches = model(tokens[:, :prompt])
    rows = [logits]
    for t in range(prompt, tokens.shape[1]):
        logits, caches = model(tokens[:, t:t + 1], caches)
        rows.append(logits)
    return torch.cat(rows, 1)


def main():
    import attune.torch
    torch.manual_seed(0)
    torch.set_num_threads(1)  # for PyTorch's part: its tensors are small
    model, tokens = Decoder().eval(), torch.randint(199, (1, 300))
    offsets = torch.tensor([0, 150, 151, 300], dtype=torch.int32)
    calls = {"a prompt": lambda: model(tokens)[0], "token by token": lambda: token_by_token(model, tokens, 250),
             "sequences end to end": lambda: model(tokens, cu_seqlens=offsets)[0]}
    with torch.no_grad():
        for name, call in calls.items():
            with_core(model, gated_delta_rule)
            expected, before = timed(call)
            with_core(model, attune.torch.gated_delta_rule)
            got, after = timed(call)
            difference = (got - expected).norm() / expected.norm()
            print(f"{name}: {before:.0f} ms, compiled {after:.0f} ms, relative difference {difference:.1e}")
            assert difference < 2e-5


def timed(call):
    """What the second call gives, and its milliseconds: the first may compile."""
    call()
    start = time.perf_counter()
    return call(), 1e3 * (time.perf_counter() - start)


if __name__ == "__main__":
    main()
