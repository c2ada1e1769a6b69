#!/usr/bin/env python3
"""What a forward run leaves for its gradients, within 1,200 bytes a token: the choice by prices beside what each choice takes.

  benchmarks/save.py [--only REGEX] [--rounds 9]      measures rows, and writes the table
  benchmarks/save.py --report                         measures nothing, writes the table

Three layers, each of long sequences and of a wide model. A step is forward and backward on one core, f32, of 12 layers one after the other and then
backwards, each with tensors of its own that it leaves, as in a model: together they are larger than the caches. Every choice of what is left takes
turns with the others, round after round; processor time. The gradients of each are compared with those where nothing is left.
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import time

import numpy as np
import yaml

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent
sys.path[:0] = [str(HERE / "demo"), str(HERE), str(SOURCE / "utils" / "python")]

# pylint: disable=wrong-import-position
import cpu_machine  # noqa: E402
import freshness  # noqa: E402
from cpu_measure import at_line, attnc, rounded  # noqa: E402
from gated import spread  # noqa: E402
from library import Library  # noqa: E402

STORE = HERE / "results" / "save.json"
LAYERS, MOST_BYTES, TOLERANCE = 12, 1200, 1e-4
HEADS, WIDTH = 4, 64
MECHANISMS = {
    "softmax": {"mechanism": {"kind": "softmax"}},
    "window": {"causal": True, "mechanism": {"kind": "softmax", "window": {"last": 256}}},
    "linformer": {"mechanism": {"kind": "softmax", "low_rank": {"rank": 256}}},
}
# (mechanism, batch, tokens, width of the model)
ROWS = {"softmax_long": ("softmax", 1, 2048, 128), "softmax_wide": ("softmax", 16, 128, 1024),
        "window_long": ("window", 1, 4096, 64), "window_wide": ("window", 1, 4096, 1024),
        "linformer_long": ("linformer", 1, 4096, 64), "linformer_wide": ("linformer", 1, 4096, 1024)}
SLOTS = ("slots_k", "slots_v")
CHOICES = {"nothing": (), "attention": ("o", "lse", *SLOTS), "queries": ("q", *SLOTS), "everything": ("q", "k", "v", "o", "lse", *SLOTS)}


def spec_of(row, **pins):
    mechanism, batch, tokens, model = ROWS[row]
    return {"attention": row, "dtype": "f32", "batch": batch, "queries": tokens, "heads": HEADS, "head_dim": WIDTH, "gradients": "all",
            "projection": {"model_dim": model}, **({"pin": pins} if pins else {}), **MECHANISMS[mechanism]}


def written(spec, folder):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{spec['attention']}.yaml"
    path.write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")
    return path


def chosen_by_price(row, args):
    """The choice within the limit, and the prices of each tensor."""
    path = written(spec_of(row, save=MOST_BYTES), args.work / "priced" / row)
    saved = json.loads(attnc(args.attnc, "explain", path, "--threads", 1, "--json"))["functions"][0]["saved"]
    taken = {name for each in saved if each["taken"] for name in each["names"]}
    return saved, taken


class Step:
    """Forward and backward of all layers, with one choice of what is left."""

    def __init__(self, libraries, inputs, outputs, left):
        forward, backward = libraries
        names = [f"saved_{name}" for name in left if f"saved_{name}" in outputs]
        self.gradients = {name: at_line(array) for name, array in backward.outputs(**inputs, grad_y=inputs["x"]).items()}
        self.forward, self.backward = [], []
        for _ in range(LAYERS if names else 1):
            buffers = {name: at_line(np.zeros_like(outputs[name])) for name in names}
            given = {name: array for name, array in buffers.items() if name in backward.tensors}
            self.forward.append(forward.runner(**inputs, y=outputs["y"], **buffers)[0])
            self.backward.append(backward.runner(**inputs, grad_y=inputs["x"], **given, **self.gradients)[0])

    def run(self):
        """Seconds of a layer."""
        start = time.process_time()
        for layer in range(LAYERS):
            self.forward[layer % len(self.forward)]()
        for layer in reversed(range(LAYERS)):
            self.backward[layer % len(self.backward)]()
        return (time.process_time() - start) / LAYERS


def measure_row(row, args):
    """Seconds of each choice, round by round."""
    saved, taken = chosen_by_price(row, args)
    folder = args.work / row
    path = written(spec_of(row, save="all"), folder)
    attnc(args.attnc, "compile", path, "--isa", "native", "--threads", 1, "-o", folder)
    attnc(args.attnc, "init", path, "--out", folder / "parameters")
    libraries = [Library(folder, row, "f32", threads=1, backward=backward) for backward in (False, True)]
    for library in libraries:
        library.prepare({file.stem: np.load(file) for file in (folder / "parameters").glob("*.npy")})
    _, batch, tokens, model = ROWS[row]
    inputs = {"x": at_line(np.random.default_rng(0).standard_normal((batch, tokens, model), np.float32))}
    outputs = {name: at_line(array) for name, array in libraries[0].outputs(**inputs).items()}
    steps = {name: Step(libraries, inputs, outputs, left) for name, left in CHOICES.items()}
    for step in steps.values():
        step.run()
    exact = steps["nothing"].gradients
    for name, step in steps.items():
        errors = {key: np.linalg.norm(array - exact[key]) / np.linalg.norm(exact[key]) for key, array in step.gradients.items()}
        if not max(errors.values()) <= TOLERANCE:
            raise SystemExit(f"{row}: expected the gradients of a step that leaves nothing where it leaves {name}, but got errors {errors}")
    others, seconds = cpu_machine.Others(), {name: [] for name in steps}
    for _ in range(args.rounds):
        for name, step in steps.items():
            seconds[name].append(rounded(step.run()))
    return {"seconds": seconds, "saved": saved, "taken": sorted(taken), "others": round(others.share(), 3)}


#===----------------------------------------------------------------------------------------------------------------===#
# The table
#===----------------------------------------------------------------------------------------------------------------===#


def choice_of(taken):
    """The choice that prices make: the one of the two within the limit whose tensors they take."""
    return next((name for name in ("attention", "queries") if set(taken) - set(SLOTS) == set(CHOICES[name]) - set(SLOTS)), " and ".join(taken))


def price_of(saved, choice):
    """Seconds that the choice saves, by prices."""
    return sum(each["again_seconds"] - each["read_seconds"] for each in saved if set(each["names"]) & set(CHOICES[choice]))


def line_of(name, stored):
    mechanism, batch, tokens, model = ROWS[name]
    median = {choice: statistics.median(seconds) for choice, seconds in stored["seconds"].items()}
    best = min(("attention", "queries"), key=median.get)
    cells = [mechanism, f"{batch} × {tokens}", str(model), *(f"{1e3 * price_of(stored['saved'], choice):.2f}" for choice in ("attention", "queries")),
             choice_of(stored["taken"]), *(f"{1e3 * median[choice]:.2f} ({spread(stored['seconds'][choice]):.0%})" for choice in CHOICES),
             "yes" if choice_of(stored["taken"]) == best else "**no**"]
    return f"| {' | '.join(cells)} |"


def write(data, store):
    rows = {name: data["points"][name] for name in ROWS if name in data["points"]}
    commits = sorted({stored["commit"] for stored in rows.values()})
    lines = ["# What is left for gradients", "",
             f"By `benchmarks/save.py`, commits {', '.join(commits)}, {data['machine']['processor']}.", "",
             f"Layers of {HEADS} heads of {WIDTH}, f32, one thread, processor time of a layer's forward and backward pass in a model of {LAYERS} of them, median of rounds in which",
             "all choices take turns, and in brackets the half of the distance between the quartiles, as a part of the median. *Attention*: its output and the sums of its rows,",
             f"{4 * HEADS * (WIDTH + 1)} bytes a token; *queries*: x W_q, {4 * HEADS * WIDTH}; compressed keys and values beside both where there are some. With the pin",
             f"`save: {MOST_BYTES}` prices choose between the two, which do not fit together.", "",
             "| | batch × tokens | model | attention saves, predicted ms | queries save, predicted ms | chosen | nothing left, ms | attention left, ms | queries left, ms | everything left, ms | the faster of the two |",
             "|---|---|---|---|---|---|---|---|---|---|---|", *(line_of(name, stored) for name, stored in rows.items()), ""]
    table = store.with_suffix(".md")
    table.write_text("\n".join(lines), encoding="utf-8")
    freshness.mend(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="rows whose name this regular expression finds")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--attnc", type=pathlib.Path, default=SOURCE / "build" / "bin" / "attnc")
    parser.add_argument("--store", type=pathlib.Path, default=STORE)
    parser.add_argument("--work", type=pathlib.Path, default=SOURCE / "build" / "save-bench", help="folder of libraries")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        print(json.dumps(measure_row(args.child, args)))
        return
    data = json.loads(args.store.read_text(encoding="utf-8")) if args.store.exists() else {"points": {}}
    for row in () if args.report else filter(re.compile(args.only).search, ROWS):
        run = subprocess.run([sys.executable, __file__, *sys.argv[1:], "--child", row], stdout=subprocess.PIPE, text=True, check=True)
        data["machine"] = cpu_machine.facts()
        data["points"][row] = json.loads(run.stdout.splitlines()[-1]) | {"commit": cpu_machine.commit(SOURCE)[:7]}
        args.store.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        print(row, file=sys.stderr, flush=True)
    write(data, args.store)


if __name__ == "__main__":
    main()
