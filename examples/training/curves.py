"""What the examples of training share: the steps, a line that tells of them, and curves of losses, drawn as SVG."""

import argparse
import json
import math
import pathlib
import resource
import sys
import time

import torch
from torch import nn


def learning_rate(step, steps, most):
    """Up in a straight line for a tenth of the steps, then down along a cosine to a tenth."""
    warm = max(1, steps // 10)
    if step < warm:
        return most * (step + 1) / warm
    return most * (0.1 + 0.45 * (1 + math.cos(math.pi * (step - warm) / max(1, steps - warm))))


def trained(model, next_loss, args, tokens):
    """Takes `args.steps` steps, each down the loss that `next_loss()` gives for `tokens` tokens: the losses, the tokens a second, and what they cost."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.rate, betas=(0.9, 0.95), weight_decay=0.1)
    losses, began, first = [], time.perf_counter(), None
    for step in range(args.steps):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, args.steps, args.rate)
        loss = next_loss()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        first = first or time.perf_counter() # what is compiled once is not the speed of a step
        rate = step * tokens / max(time.perf_counter() - first, 1e-9)
        if sys.stderr.isatty() or step % 50 == 0 or step + 1 == args.steps:
            print(f"\r{args.attention}: step {step + 1} of {args.steps}, loss {losses[-1]:.3f}, {rate:.0f} tokens a second",
                  end="" if sys.stderr.isatty() and step + 1 < args.steps else "\n", file=sys.stderr, flush=True)
    return {"losses": losses, "tokens_per_second": rate, "seconds": time.perf_counter() - began,
            "peak_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}


COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")


def smooth(losses, steps):
    return [sum(losses[max(0, i - steps + 1):i + 1]) / min(i + 1, steps) for i in range(len(losses))]


POINTS = 200 # of a curve


def of_attention(runs):
    """The runs of each attention, in the order in which these come."""
    return {name: [run for run in runs if run["attention"] == name] for name in dict.fromkeys(run["attention"] for run in runs)}


def bands(runs):
    """Of each attention the steps, and over its seeds the least, the mean and the largest loss there, each the mean of the last fiftieth of the steps."""
    result = {}
    for name, own in of_attention(runs).items():
        curves = [smooth(run["losses"], max(1, len(run["losses"]) // 50)) for run in own]
        count = min(len(curve) for curve in curves)
        steps = sorted({round(i * (count - 1) / min(POINTS, count)) for i in range(min(POINTS, count) + 1)})
        at = [[curve[step] for curve in curves] for step in steps]
        result[name] = (steps, [min(losses) for losses in at], [sum(losses) / len(losses) for losses in at], [max(losses) for losses in at])
    return result


def drawn(runs, axis="loss"):
    """The mean curve of each attention over its seeds, with a band from the least to the largest, as an SVG."""
    width, height, left, below = 720, 420, 60, 40
    curves = bands(runs)
    last = max(steps[-1] for steps, *_ in curves.values())
    top, least = max(max(high) for *_, high in curves.values()), min(min(low) for _, low, *_ in curves.values())
    x = lambda step: left + (width - left - 20) * step / max(1, last)
    y = lambda loss: 20 + (height - below - 20) * (top - loss) / max(top - least, 1e-9)
    points = lambda steps, losses: " ".join(f"{x(step):.1f},{y(loss):.1f}" for step, loss in zip(steps, losses))
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
             f'<rect width="{width}" height="{height}" fill="white"/>']
    for part in range(6):
        loss, step = least + (top - least) * part / 5, last * part / 5
        lines.append(f'<path d="M{left} {y(loss):.1f}H{width - 20}" stroke="#ddd"/><text x="{left - 6}" y="{y(loss) + 4:.1f}" text-anchor="end">{loss:.2f}</text>')
        lines.append(f'<text x="{x(step):.1f}" y="{height - below + 18}" text-anchor="middle">{step:.0f}</text>')
    lines.append(f'<text x="{width / 2}" y="{height - 6}" text-anchor="middle">step</text><text x="6" y="14">{axis}</text>')
    for row, (name, (steps, low, mean, high)) in enumerate(curves.items()):
        color, dashes = COLORS[row % len(COLORS)], ' stroke-dasharray="6 4"' if name == "plain" else ""
        lines.append(f'<polygon points="{points(steps, low)} {points(steps[::-1], high[::-1])}" fill="{color}" fill-opacity="0.15"/>')
        lines.append(f'<polyline points="{points(steps, mean)}" fill="none" stroke="{color}" stroke-width="1.5"{dashes}/>')
        lines.append(f'<path d="M{width - 150} {34 + 18 * row}h20" stroke="{color}" stroke-width="3"{dashes}/><text x="{width - 124}" y="{38 + 18 * row}">{name}</text>')
    return "\n".join([*lines, "</svg>", ""])


def spread(numbers, form):
    """Their mean, and how far from it they go."""
    mean = sum(numbers) / len(numbers)
    return form.format(mean) + (f" ± {form.format(max(abs(number - mean) for number in numbers))}" if len(numbers) > 1 else "")


def table(runs):
    """What runs came to, in Markdown: a line for each attention, over its seeds. The loss is the mean of the last fiftieth of the steps. What a run does not
    say has no column: a machine that does other things as well says nothing of speed."""
    columns = {"loss": ("{:.3f}", lambda run: smooth(run["losses"], max(1, len(run["losses"]) // 50))[-1])}
    for field, name, form, unit in (("held_out", "held out", "{:.3f}", 1), ("accuracy", "accuracy", "{:.3f}", 1),
                                    ("tokens_per_second", "tokens a second", "{:.0f}", 1), ("peak_bytes", "peak GiB", "{:.2f}", 2**30)):
        if all(field in run for run in runs):
            columns[name] = (form, lambda run, field=field, unit=unit: run[field] / unit)
    lines = [f"| attention | seeds | {' | '.join(columns)} |", "|---" * (len(columns) + 2) + "|"]
    for name, own in of_attention(runs).items():
        cells = [spread([value(run) for run in own], form) for form, value in columns.values()]
        lines.append(f"| {name} | {len(own)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def runs_in(path):
    """Of a file that --out has written, or of one with a list of such runs."""
    found = json.loads(path.read_text())
    return found if isinstance(found, list) else [found]


def command(description, attentions, settings, train, told, axis):
    """The command of an example: trains with `train`, whose run `told` puts into words, or draws runs. `settings` are the numbers that a run depends on, with
    their defaults; `rate` is one of them."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--attention", choices=attentions, default="exact")
    for name, default in settings.items():
        parser.add_argument(f"--{name}", type=type(default), default=default, help="the largest learning rate" if name == "rate" else None)
    parser.add_argument("--out", type=pathlib.Path, help="where to write the run, as JSON")
    parser.add_argument("--plot", type=pathlib.Path, help="draw the runs that are given, and print a table of them, in place of training")
    parser.add_argument("runs", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    if args.plot:
        if not args.runs:
            parser.error("expected runs to draw, JSON files of --out, but got none")
        runs = [run for path in args.runs for run in runs_in(path)]
        args.plot.write_text(drawn(runs, axis))
        print(table(runs))
        return
    run = {"attention": args.attention, **train(args), **{name: getattr(args, name) for name in settings}}
    if args.out:
        args.out.write_text(json.dumps(run) + "\n")
    print(f"{args.attention}: loss {run['losses'][-1]:.3f}, {told(run)}, {run['peak_bytes'] / 2**30:.2f} GiB")
