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
from cpu_measure import at_line, attnc, rounded  # noqa: E402
from library import Library  # noqa: E402
from save_report import CHOICES, HEADS, LAYERS, MECHANISMS, MOST_BYTES, ROWS, WIDTH, write  # noqa: E402

STORE = HERE / "results" / "save.json"
TOLERANCE = 1e-4


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
