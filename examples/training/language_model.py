"""A decoder that predicts bytes, trained from scratch on the source text of Python's standard library, with compiled attention.

    python3 examples/training/language_model.py --attention exact --out exact.json        # with the package attune and PyTorch installed
    python3 examples/training/language_model.py --plot curves.svg exact.json plain.json

    attention     what computes each layer's core
    exact         attune.torch.Softmax
    linear        attune.torch.Linear, elu + 1
    performer     attune.torch.Performer
    gated_delta   attune.torch.gated_delta_rule
    polysketch    attune.torch.PolySketch, exact in blocks of 64 tokens
    plain         PyTorch's scaled_dot_product_attention, with the weights that `exact` has

Runs of one seed see the same bytes in the same order, and begin with the same embedding and feed-forward weights. The loss is in nats a byte: ln 256 =
5.55 at the beginning. The last line says the loss on text that no step has seen.
"""

import functools
import pathlib
import sysconfig

import torch
from curves import bands, command, drawn, table, trained  # noqa: F401  (tests draw, too)
from layers import Around, Own, blocks
from torch import nn
from torch.nn.functional import cross_entropy, scaled_dot_product_attention

import attune.torch as at

BYTES = 256
HELD_OUT = 1 / 50 # of the text, its end


def text():
    """The modules of the standard library, in the order of their names: [bytes] of uint8."""
    folder = pathlib.Path(sysconfig.get_path("stdlib"))
    return torch.frombuffer(bytearray(b"".join(path.read_bytes() for path in sorted(folder.glob("*.py")))), dtype=torch.uint8)


class GatedDelta(nn.Module):
    """Projections, a decay and a rate of each token, and the gated delta rule."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.gates, self.out = nn.Linear(width, 3 * width), nn.Linear(width, 2 * heads), nn.Linear(width, width)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)          # [batch, tokens, heads, width of a head]
        decay, rate = self.gates(x).chunk(2, -1)                                    # [batch, tokens, heads]
        o, _ = at.gated_delta_rule(q, k, v, nn.functional.logsigmoid(decay + 3), rate.sigmoid(), use_qk_l2norm_in_kernel=True)
        return self.out(o.flatten(2))


ATTENTION = {
    "exact": lambda width, heads: Own(at.Softmax(width, heads, causal=True)),
    "linear": lambda width, heads: Own(at.Linear(width, heads, causal=True)),
    "performer": lambda width, heads: Own(at.Performer(width, heads, causal=True)),
    "gated_delta": GatedDelta,
    "polysketch": lambda width, heads: Own(at.PolySketch(width, heads, size=16, local_exact=64, causal=True)),
    "plain": lambda width, heads: Around(width, heads, functools.partial(scaled_dot_product_attention, is_causal=True)),
}


class Decoder(nn.Module):
    def __init__(self, attention, layers, width, heads, context, seed):
        super().__init__()
        torch.manual_seed(seed)
        self.bytes, self.places = nn.Embedding(BYTES, width), nn.Embedding(context, width)
        nn.init.normal_(self.bytes.weight, std=0.02)
        nn.init.normal_(self.places.weight, std=0.02)
        self.blocks, self.last = blocks(layers, width, seed, lambda _: ATTENTION[attention](width, heads)), nn.LayerNorm(width)

    def forward(self, tokens):
        x = self.bytes(tokens) + self.places.weight[:tokens.shape[1]]               # [batch, tokens, width]
        return self.last(self.blocks(x)) @ self.bytes.weight.T                      # [batch, tokens, 256]


def loss_of(model, rows):
    """Of rows [batch, context + 1] of bytes."""
    rows = rows.long()
    return cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())


def rows_at(source, begins, context):
    return torch.stack([source[begin:begin + context + 1] for begin in begins.tolist()])


def train(args):
    source = text()
    cut = int(len(source) * (1 - HELD_OUT))
    learned, held = source[:cut], source[cut:]
    model = Decoder(args.attention, args.layers, args.width, args.heads, args.context, args.seed)
    order = torch.Generator().manual_seed(args.seed)

    def next_loss():
        begins = torch.randint(len(learned) - args.context - 1, (args.batch,), generator=order)
        return loss_of(model, rows_at(learned, begins, args.context))

    run = trained(model, next_loss, args, args.batch * args.context)
    with torch.no_grad():
        begins = torch.arange(16) * ((len(held) - args.context - 1) // 16)
        return {**run, "held_out": loss_of(model, rows_at(held, begins, args.context)).item()}


def told(run):
    return f"on text not seen {run['held_out']:.3f}; {run['tokens_per_second']:.0f} tokens a second"


if __name__ == "__main__":
    command(__doc__.splitlines()[0], ATTENTION, {"layers": 4, "width": 256, "heads": 4, "context": 1024, "batch": 2, "steps": 400, "seed": 0, "rate": 1e-3},
            train, told, "loss, nats a byte")
