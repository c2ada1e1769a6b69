"""A decoder that predicts bytes, trained from scratch on the source text of Python's standard library, with compiled attention.

    python3 examples/training/language_model.py --attention exact --out exact.json        # with the package attune and PyTorch installed
    python3 examples/training/language_model.py --plot curves.svg exact.json plain.json

    attention     what computes each layer's core
    exact         attune.torch.Softmax
    linear        attune.torch.Linear, elu + 1
    performer     attune.torch.Performer
    gated_delta   attune.torch.gated_delta_rule
    plain         PyTorch's scaled_dot_product_attention, with the weights that `exact` has

Runs of one seed see the same bytes in the same order, and begin with the same embedding and feed-forward weights. The loss is in nats a byte: ln 256 =
5.55 at the beginning. The last line says the loss on text that no step has seen.
"""

import argparse
import json
import math
import pathlib
import resource
import sys
import sysconfig
import time

import torch
from torch import nn
from torch.nn.functional import cross_entropy, gelu, scaled_dot_product_attention

import attune.torch as at

BYTES = 256
HELD_OUT = 1 / 50 # of the text, its end


def text():
    """The modules of the standard library, in the order of their names: [bytes] of uint8."""
    folder = pathlib.Path(sysconfig.get_path("stdlib"))
    return torch.frombuffer(bytearray(b"".join(path.read_bytes() for path in sorted(folder.glob("*.py")))), dtype=torch.uint8)


class Plain(nn.Module):
    """Exact attention by PyTorch, from the projections of a module of attune.torch."""

    def __init__(self, width, heads):
        super().__init__()
        self.of = at.Softmax(width, heads, causal=True)

    def forward(self, x):
        parts = [layer(x).unflatten(-1, (self.of.num_heads, -1)).transpose(1, 2) for layer in (self.of.q_proj, self.of.k_proj, self.of.v_proj)]
        return self.of.out_proj(scaled_dot_product_attention(*parts, is_causal=True).transpose(1, 2).flatten(2))


class Own(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.of = module

    def forward(self, x):
        return self.of(x)[0]


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
    "plain": Plain,
}


class Block(nn.Module):
    def __init__(self, width, attention):
        super().__init__()
        self.before, self.attention, self.between = nn.LayerNorm(width), attention, nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.before(x))
        return x + self.down(gelu(self.up(self.between(x))))


class Decoder(nn.Module):
    def __init__(self, attention, layers, width, heads, context, seed):
        super().__init__()
        torch.manual_seed(seed)
        self.bytes, self.places = nn.Embedding(BYTES, width), nn.Embedding(context, width)
        nn.init.normal_(self.bytes.weight, std=0.02)
        nn.init.normal_(self.places.weight, std=0.02)
        # Every layer draws from a seed of its own, so that what stands behind an attention does not depend on how much that drew.
        blocks = []
        for layer in range(layers):
            torch.manual_seed(1000 * seed + layer)
            core = ATTENTION[attention](width, heads)
            torch.manual_seed(1000 * seed + layer + 500)
            blocks.append(Block(width, core))
        self.blocks, self.last = nn.ModuleList(blocks), nn.LayerNorm(width)

    def forward(self, tokens):
        x = self.bytes(tokens) + self.places.weight[:tokens.shape[1]]               # [batch, tokens, width]
        for block in self.blocks:
            x = block(x)
        return self.last(x) @ self.bytes.weight.T                                   # [batch, tokens, 256]


def loss_of(model, rows):
    """Of rows [batch, context + 1] of bytes."""
    rows = rows.long()
    return cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())


def rows_at(source, begins, context):
    return torch.stack([source[begin:begin + context + 1] for begin in begins.tolist()])


def learning_rate(step, steps, most):
    """Up in a straight line for a tenth of the steps, then down along a cosine to a tenth."""
    warm = max(1, steps // 10)
    if step < warm:
        return most * (step + 1) / warm
    return most * (0.1 + 0.45 * (1 + math.cos(math.pi * (step - warm) / max(1, steps - warm))))


def train(args):
    source = text()
    cut = int(len(source) * (1 - HELD_OUT))
    learned, held = source[:cut], source[cut:]
    model = Decoder(args.attention, args.layers, args.width, args.heads, args.context, args.seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.rate, betas=(0.9, 0.95), weight_decay=0.1)
    order = torch.Generator().manual_seed(args.seed)
    losses, began, first = [], time.perf_counter(), None
    for step in range(args.steps):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, args.steps, args.rate)
        rows = rows_at(learned, torch.randint(len(learned) - args.context - 1, (args.batch,), generator=order), args.context)
        loss = loss_of(model, rows)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        first = first or time.perf_counter() # what is compiled once is not the speed of a step
        rate = step * args.batch * args.context / max(time.perf_counter() - first, 1e-9)
        if sys.stderr.isatty() or step % 50 == 0 or step + 1 == args.steps:
            print(f"\r{args.attention}: step {step + 1} of {args.steps}, loss {losses[-1]:.3f}, {rate:.0f} tokens a second",
                  end="" if sys.stderr.isatty() and step + 1 < args.steps else "\n", file=sys.stderr, flush=True)
    with torch.no_grad():
        begins = torch.arange(16) * ((len(held) - args.context - 1) // 16)
        after = loss_of(model, rows_at(held, begins, args.context)).item()
    return {"attention": args.attention, "seed": args.seed, "losses": losses, "held_out": after, "tokens_per_second": rate,
            "seconds": time.perf_counter() - began, "peak_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
            **{name: getattr(args, name) for name in ("layers", "width", "heads", "context", "batch", "steps", "rate")}}


COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")


def smooth(losses, steps):
    return [sum(losses[max(0, i - steps + 1):i + 1]) / min(i + 1, steps) for i in range(len(losses))]


def drawn(runs):
    """The curves of runs, each the mean of the last steps, as an SVG."""
    width, height, left, below = 720, 420, 60, 40
    curves = [(run, smooth(run["losses"], max(1, len(run["losses"]) // 50))) for run in runs]
    steps, top = max(len(curve) for _, curve in curves), max(max(curve) for _, curve in curves)
    least = min(min(curve) for _, curve in curves)
    x = lambda step: left + (width - left - 20) * step / max(1, steps - 1)
    y = lambda loss: 20 + (height - below - 20) * (top - loss) / max(top - least, 1e-9)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
             f'<rect width="{width}" height="{height}" fill="white"/>']
    for part in range(6):
        loss, step = least + (top - least) * part / 5, (steps - 1) * part / 5
        lines.append(f'<path d="M{left} {y(loss):.1f}H{width - 20}" stroke="#ddd"/><text x="{left - 6}" y="{y(loss) + 4:.1f}" text-anchor="end">{loss:.2f}</text>')
        lines.append(f'<text x="{x(step):.1f}" y="{height - below + 18}" text-anchor="middle">{step:.0f}</text>')
    lines.append(f'<text x="{width / 2}" y="{height - 6}" text-anchor="middle">step</text><text x="6" y="14">loss, nats a byte</text>')
    names = list(dict.fromkeys(run["attention"] for run in runs))
    for run, curve in curves:
        points = " ".join(f"{x(step):.1f},{y(loss):.1f}" for step, loss in enumerate(curve))
        lines.append(f'<polyline points="{points}" fill="none" stroke="{COLORS[names.index(run["attention"]) % len(COLORS)]}" stroke-width="1.5"/>')
    for row, name in enumerate(names):
        color = COLORS[row % len(COLORS)]
        lines.append(f'<path d="M{width - 150} {34 + 18 * row}h20" stroke="{color}" stroke-width="3"/><text x="{width - 124}" y="{38 + 18 * row}">{name}</text>')
    return "\n".join([*lines, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--attention", choices=ATTENTION, default="exact")
    for name, default in (("layers", 4), ("width", 256), ("heads", 4), ("context", 1024), ("batch", 2), ("steps", 400), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--rate", type=float, default=1e-3, help="the largest learning rate")
    parser.add_argument("--out", type=pathlib.Path, help="where to write the run, as JSON")
    parser.add_argument("--plot", type=pathlib.Path, help="draw the runs that are given, in place of training")
    parser.add_argument("runs", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    if args.plot:
        if not args.runs:
            parser.error("expected runs to draw, JSON files of --out, but got none")
        args.plot.write_text(drawn([json.loads(path.read_text()) for path in args.runs]))
        return
    run = train(args)
    if args.out:
        args.out.write_text(json.dumps(run) + "\n")
    print(f"{args.attention}: loss {run['losses'][-1]:.3f}, on text not seen {run['held_out']:.3f}; {run['tokens_per_second']:.0f} tokens a second, "
          f"{run['peak_bytes'] / 2**30:.2f} GiB")


if __name__ == "__main__":
    main()
