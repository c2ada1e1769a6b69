"""The models of benchmarks/papers/steps.py: layers of PyTorch around compiled attention. Weights are drawn: only time is measured."""

import time

import torch
from steps_shapes import sizes
from torch import nn
from torch.nn.functional import gelu, scaled_dot_product_attention

import attune
import attune.torch as at

LEARNED = ("wq", "wk", "wv", "wo", "e", "f")


class Compiled(nn.Module):
    """What a spec of these sizes computes: of x alone if it has projections, else of q, k, v [batch, heads, tokens, width of a head]."""

    def __init__(self, fields):
        super().__init__()
        self.spec, self.own = {"attention": "step", **fields}, []
        for name, array in attune.init(self.spec).items():
            attribute, tensor = name.replace(".", "_"), torch.from_numpy(array)
            if name in LEARNED:
                self.register_parameter(attribute, nn.Parameter(tensor))
            else:
                self.register_buffer(attribute, tensor)
            self.own.append(attribute)

    def parameters_by_name(self):
        return {name: getattr(self, name) for name in self.own}

    def prepare(self):
        """Parameters are prepared once and not in each forward pass; what a step changes is prepared again in the next."""
        given = {name: tensor.detach() for name, tensor in self.parameters_by_name().items()}
        if given:
            at._op._prepared.get(at._op.spec_text(self.spec), given)  # pylint: disable=protected-access

    def forward(self, *inputs):
        names = "qkv" if len(inputs) == 3 else "x"
        return at.attend(self.spec, **dict(zip(names, inputs)), **self.parameters_by_name())


class Plain(nn.Module):
    """PyTorch's own attention."""

    def __init__(self, causal):
        super().__init__()
        self.causal = causal

    def forward(self, q, k, v):
        return scaled_dot_product_attention(q, k, v, is_causal=self.causal)


class Around(nn.Module):
    """PyTorch's projections around a core of q, k, v."""

    def __init__(self, shape, core):
        super().__init__()
        self.heads, self.core = shape.heads, core
        self.q, self.k, self.v, self.out = (nn.Linear(shape.model, shape.model) for _ in range(4))

    def forward(self, x):
        q, k, v = (layer(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for layer in (self.q, self.k, self.v))
        return self.out(self.core(q, k, v).transpose(1, 2).flatten(2))


class Block(nn.Module):
    """Attention and a feed-forward part: of an encoder two products and GELU, of a decoder three, gated."""

    def __init__(self, shape, attention):
        super().__init__()
        width, hidden = shape.model, shape.hidden
        self.attention, self.before, self.between = attention, nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.gate = nn.Linear(width, hidden) if shape.causal else None

    def forward(self, x):
        x = x + self.attention(self.before(x))
        y = self.between(x)
        return x + self.down(gelu(self.up(y)) if self.gate is None else gelu(self.gate(y)) * self.up(y))


def attention_of(shape, variant):
    if variant == "plain":
        return Around(shape, Plain(shape.causal))
    compiled = Compiled(sizes(shape, variant))
    return Around(shape, compiled) if shape.causal else compiled


def model_of(shape, variant, layers):
    torch.manual_seed(0)
    return nn.Sequential(*(Block(shape, attention_of(shape, variant)) for _ in range(layers)))


def part_of(shape, block):
    """The part of a block that is priced."""
    return block.attention.core if shape.causal else block.attention


class Clock:
    """Seconds of the processor that a module takes in a forward pass, and in one with its backward pass."""

    def __init__(self, module):
        self.taken = 0.0
        hooks = (module.register_forward_pre_hook, module.register_forward_hook, module.register_full_backward_pre_hook,
                 module.register_full_backward_hook)
        self.handles = [hook(self.stopped if place % 2 else self.started) for place, hook in enumerate(hooks)]

    def started(self, *_):
        self.taken -= time.process_time()

    def stopped(self, *_):
        self.taken += time.process_time()

    def remove(self):
        for handle in self.handles:
            handle.remove()


def with_same_weights(exact, plain):
    """Gives a block with compiled exact attention the weights of PyTorch's; the projections of a compiled layer have no biases."""
    if not isinstance(exact.attention, Compiled):
        exact.load_state_dict(plain.state_dict())
        return
    exact.load_state_dict({name: value for name, value in plain.state_dict().items() if not name.startswith("attention.")}, strict=False)
    of = plain.attention
    with torch.no_grad():
        for name, layer in (("wq", of.q), ("wk", of.k), ("wv", of.v), ("wo", of.out)):
            getattr(exact.attention, name).copy_(layer.weight.T)
            layer.bias.zero_()


def step(model, x, optimizer):
    optimizer.zero_grad(set_to_none=True)
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    return loss.item()


def difference(shape):
    """How far the loss and gradients (of x, a norm, the feed-forward part) of a block with compiled exact attention are from PyTorch's, at most, of
    their norms."""
    found = []
    exact, plain = (model_of(shape, variant, 1) for variant in ("exact", "plain"))
    with_same_weights(exact[0], plain[0])
    for model in (plain, exact):
        x = torch.randn(1, shape.tokens, shape.model, generator=torch.Generator().manual_seed(1)).requires_grad_()
        loss = model(x).square().mean()
        loss.backward()
        found.append([loss.detach(), x.grad, model[0].before.weight.grad, model[0].up.weight.grad])
    return max(((a - b).norm() / a.norm()).item() for a, b in zip(*found))
