"""The layers that the models of the examples share: projections around a core of attention, and blocks of it."""

import torch
from torch import nn
from torch.nn.functional import gelu

import attune.torch as at


class Own(nn.Module):
    """A module of attune.torch, without the weights between tokens that it returns beside its output."""

    def __init__(self, module):
        super().__init__()
        self.of = module

    def forward(self, x):
        return self.of(x)[0]


class Around(nn.Module):
    """The projections of a module of attune.torch, drawn as it draws them, around a core of q, k, v [batch, heads, tokens, width of a head]."""

    def __init__(self, width, heads, core):
        super().__init__()
        self.of, self.core = at.Softmax(width, heads), core

    def forward(self, x):
        q, k, v = (layer(x).unflatten(-1, (self.of.num_heads, -1)).transpose(1, 2) for layer in (self.of.q_proj, self.of.k_proj, self.of.v_proj))
        return self.of.out_proj(self.core(q, k, v).transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, width, attention):
        super().__init__()
        self.before, self.attention, self.between = nn.LayerNorm(width), attention, nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.before(x))
        return x + self.down(gelu(self.up(self.between(x))))


def blocks(layers, width, seed, attention):
    """`layers` blocks around what `attention(seed of the layer)` makes. Every layer draws from a seed of its own, and what stands behind its attention from
    another, so that it does not depend on how much that drew."""
    made = []
    for layer in range(layers):
        torch.manual_seed(1000 * seed + layer)
        core = attention(1000 * seed + layer)
        torch.manual_seed(1000 * seed + layer + 500)
        made.append(Block(width, core))
    return nn.Sequential(*made)
