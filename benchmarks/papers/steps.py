#!/usr/bin/env python3
"""The papers' model steps on one core of this machine: FLuRKA's encoder and PolySketchFormer's decoder, in f32.

Run it with a Python that has the package attune and PyTorch, as benchmarks/README.md says. A forward pass, and a step of training (forward,
backward, the update of plain SGD), of one layer and, where that takes no hour, of all; processor time, variants by turns in one process. What is
measured takes its row in benchmarks/results/steps.json, from which steps.md and a part of docs/Papers.md are written.

  benchmarks/papers/steps.py                        measures all shapes: some 25 minutes
  benchmarks/papers/steps.py --only figure5_first   one of them
  benchmarks/papers/steps.py --verify               measures nothing: compares compiled exact attention in both models with PyTorch's
  benchmarks/papers/steps.py --report               measures nothing, writes the table
"""

import argparse
import gc
import json
import pathlib
import subprocess
import sys
import time

import steps_report
from prices import SOURCE, Prices
from steps_shapes import SHAPES, VARIANTS, Shape, sizes

TOLERANCE = 1e-3
CHECKED = [Shape("encoder", 300, 4, 32, 128, (), {}, slots=64), Shape("decoder", 300, 4, 32, 256, (), {})]


def timed(function):
    start = time.process_time()
    function()
    return time.process_time() - start


class Runs:
    """One variant's model of so many layers and what its runs take, in seconds."""

    def __init__(self, shape, variant, layers, x):
        import steps_models as models
        import torch
        self.torch, self.models, self.shape, self.x = torch, models, shape, x
        self.model = models.model_of(shape, variant, layers)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-6)
        for module in self.model.modules():
            if isinstance(module, models.Compiled):
                module.prepare()

    def forward(self):
        with self.torch.no_grad():
            self.model(self.x)

    def step(self):
        self.models.step(self.model, self.x.requires_grad_(), self.optimizer)
        self.x = self.x.detach()

    def round(self):
        """{pass: seconds, attention_pass: seconds of the priced part of the first layer}"""
        taken = {}
        for name, function in (("forward", self.forward), ("step", self.step))[:1 + self.shape.trains]:
            clock = self.models.Clock(self.models.part_of(self.shape, self.model[0]))
            taken[name] = round(timed(function), 5)
            clock.remove()
            taken[f"attention_{name}"] = round(clock.taken, 5)
        return taken


def measured(shape, layers, rounds, variants):
    """{variant: {pass: [seconds of each round]}}. Several rounds follow one that does not count, but for a large shape."""
    import torch
    torch.set_num_threads(1)
    x = torch.randn(1, shape.tokens, shape.model, generator=torch.Generator().manual_seed(1))
    runs, taken, keeps = {}, {variant: {} for variant in variants}, rounds > 1 and not shape.large
    for turn in range(-1 if keeps else 0, rounds):
        for variant in variants:
            run = runs.pop(variant, None) or Runs(shape, variant, layers, x)
            for name, seconds in run.round().items():
                taken[variant].setdefault(name, []).extend([seconds] * (turn >= 0))
            print(f"{shape.tokens} tokens, {layers} layers, {variant}: {taken[variant]}", file=sys.stderr, flush=True)
            if keeps:
                runs[variant] = run
            else:
                del run
                forget()
    return taken


def forget():
    """The copies of parameters that calls keep."""
    import attune.torch
    attune.torch._op._prepared.known.clear()  # pylint: disable=protected-access
    gc.collect()


def priced(prices, shape, variant):
    """Seconds as the cost model has them, the device, and the form; PyTorch's own has no price."""
    plan = None if variant == "plain" else prices.plan(None, **sizes(shape, variant))
    return {"predicted": plan["seconds"], "device": plan["device"], "forms": plan["forms"]} if plan else {}


def commit():
    """Of the checkout, which must be what was built and installed."""
    run = subprocess.run(["git", "-C", str(SOURCE), "rev-parse", "--short=7", "HEAD"], capture_output=True, text=True, check=True)
    return run.stdout.strip()[:7]


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown")


def measure(args, data):
    import torch
    prices = Prices(args.attnc, dtype="f32", threads=1)
    data |= {"processor": machine(), "PyTorch": torch.__version__.split("+")[0]}
    for name in args.only or SHAPES:
        shape = SHAPES[name]
        for layers, rounds in shape.rounds.items():
            if args.layers not in (None, layers):
                continue
            for variant, taken in measured(shape, layers, args.rounds or rounds, args.variants or shape.variants).items():
                row = data["rows"].setdefault(name, {}).setdefault(variant, {})
                row |= {"commit": commit(), **priced(prices, shape, variant), str(layers): taken}
            forget()
            args.store.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def verify():
    import steps_models
    for shape in CHECKED:
        found = steps_models.difference(shape)
        print(f"{shape.title}: compiled exact attention differs from PyTorch's by {found:.1e} at most")
        if found > TOLERANCE:
            sys.exit(f"expected at most {TOLERANCE:g}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=SHAPES)
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, help="only these, which the shapes must have")
    parser.add_argument("--layers", type=int, help="only with so many")
    parser.add_argument("--rounds", type=int, help="in place of the shape's own")
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--attnc", default=SOURCE / "build" / "bin" / "attnc")
    parser.add_argument("--store", type=pathlib.Path, default=steps_report.STORE)
    args = parser.parse_args()
    if not args.report:
        verify()
    if args.verify:
        return
    data = json.loads(args.store.read_text(encoding="utf-8")) if args.store.exists() else {"rows": {}}
    if not args.report:
        measure(args, data)
    args.store.with_suffix(".md").write_text(steps_report.text_of(data), encoding="utf-8")
    print(f"wrote {args.store.with_suffix('.md').name}")


if __name__ == "__main__":
    main()
