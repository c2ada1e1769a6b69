#!/usr/bin/env python3
"""Backward passes on one core: beside forward passes, their limit, and PyTorch's forward and backward passes.

  benchmarks/gradients.py [--only REGEX] [--seconds 3] [--rounds 5]      measures rows, and writes the table
  benchmarks/gradients.py --growth | --memory [--only REGEX]             growth from 8192 to 65,536 tokens; exact attention of 65,536
  benchmarks/gradients.py --report                                       measures nothing, writes the table

Needs attnc, `ninja -C build attune-bench-limits` and PyTorch. Every row and length has a process of its own. There the gradients of the
compiled library are compared with each peer's, then all run by turns, round after round, with the limit of multiply-adds measured in
each (benchmarks/cpu.py): processor time, one thread. What was measured takes its row in benchmarks/results/gradients.json.

The limit: multiply-adds that the gradients need at least (gradients_rows.py) at the rate of fused multiply-adds in registers.
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

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent
sys.path[:0] = [str(HERE / "demo"), str(HERE), str(SOURCE / "utils" / "python")]

# pylint: disable=wrong-import-position
from measure import reset_peak, resident  # noqa: E402  before cpu, whose folder has other modules of the same names
import cpu  # noqa: E402
import cpu_machine  # noqa: E402
import gradients_report  # noqa: E402
import gradients_rows  # noqa: E402
from cpu_measure import Candidate, Files, at_line, inputs_of, rounded, rounds_of  # noqa: E402
from library import Library  # noqa: E402

STORE = HERE / "results" / "gradients.json"
TOLERANCE = 1e-3  # between ours and a peer, which has its own order of sums


def repeated(run):
    def repeat(times):
        for _ in range(times):
            run()
    return repeat


class Ours:
    """The library of a row: `forward`; `saving`, which leaves what the backward pass takes; `backward`."""

    def __init__(self, row, files, inputs, grad_o):
        forward, backward = self.libraries = [Library(files.folder, files.name, row.dtype, threads=1, backward=backward)
                                              for backward in (False, True)]
        for library in self.libraries:
            if library.parameters:
                library.prepare(files.parameters)
        outputs = {name: at_line(array) for name, array in forward.outputs(**inputs).items()}
        saved = {f"saved_{name.removeprefix('saved_')}": array for name, array in outputs.items()}
        given = inputs | {"grad_o": grad_o} | {name: array for name, array in saved.items() if name in backward.tensors}
        self.gradients = {name: at_line(array) for name, array in backward.outputs(**given).items()}
        self.forward, _ = forward.runner(**inputs, o=outputs["o"])
        self.saving, _ = forward.runner(**inputs, **outputs)
        self.backward, _ = backward.runner(**given, **self.gradients)
        self.saves = len(outputs) > 1

    def both(self):
        self.saving()
        self.backward()

    def close(self):
        for library in self.libraries:
            library.close()


class Drawn(Files):
    """The files of a row, and its inputs: those of benchmarks/gated.py where it is one of its rows."""

    def __init__(self, program, work, row):
        super().__init__(program, work, row)
        self.parameters, self.inputs = self.drawn(), inputs_of(row) if row.gated is None else row.gated.inputs()
        if "decay" in self.inputs:
            self.parameters["log_decay"] = self.inputs.pop("decay")
        self.inputs = {name: at_line(array) for name, array in self.inputs.items()}
        self.grad_o = at_line(np.random.default_rng(2).standard_normal(self.inputs["v"].shape, np.float32))


#===----------------------------------------------------------------------------------------------------------------===#
# In a process of its own
#===----------------------------------------------------------------------------------------------------------------===#


def errors(ours, theirs):
    """Relative Frobenius errors of q̄, k̄ and v̄."""
    expected = [tensor.numpy().astype(np.float64) for tensor in theirs]
    return [float(np.linalg.norm(ours[f"grad_{name}"] - array) / np.linalg.norm(array)) for name, array in zip("qkv", expected)]


def peers_of(row, drawn, ours):
    """Those whose gradients are ours, with the largest error of each; and why the others are not there."""
    from gradients_peers import PEERS, Unavailable, gradients
    found, agreed, absent = {}, {}, {}
    for name, make in PEERS.items():
        try:
            run = gradients(make, row, drawn.inputs, drawn.parameters, drawn.grad_o)
            agreed[name] = float(f"{np.max(errors(ours.gradients, run())):.1e}")  # NaN if one is
            found[name] = Candidate(repeated(run), None, together=True)
        except Unavailable as reason:
            absent[name] = str(reason)
        except Exception as error:  # a peer's own failure is no reason to stop
            absent[name] = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:120]}"
    wrong = {name: error for name, error in agreed.items() if not error <= TOLERANCE}
    if wrong or not agreed:
        raise SystemExit(f"{row.name}: expected a peer with the same gradients, but got errors {wrong} and {absent}")
    return found, agreed, absent


def speed(row, args):
    """Seconds of each candidate and the rates of the limit, round by round."""
    processors = cpu.prepare_process(args, 1)
    limits, clock = cpu_machine.Limits(args.limits, processors), cpu_machine.Clock(processors)
    drawn = Drawn(args.attnc, args.work, row)
    ours = Ours(row, drawn, drawn.inputs, drawn.grad_o)
    ours.both()
    candidates = {name: Candidate(repeated(run), None) for name, run in
                  [("forward", ours.forward), *([("saving", ours.saving)] if ours.saves else []), ("backward", ours.backward)]}
    found, agreed, absent = peers_of(row, drawn, ours)
    others = cpu_machine.Others()
    seen, products, trouble = rounds_of(candidates | found, clock, limits, args.seconds, args.rounds)
    ours.close()
    return {"seconds": {name: [rounded(second) for second in seconds] for name, seconds in seen.items()},
            "rates": [rounded(rates["f32"]) for rates in products], "errors": agreed, "absent": absent, "others": round(others.share(), 3),
            **trouble}


def growth(row, args):
    """Seconds of a forward and a backward run, and what they add to the largest resident size, tensors included."""
    cpu.prepare_process(args, 1)
    Files(args.attnc, args.work, row)  # compiled before memory is looked at
    before = resident("VmRSS")
    drawn = Drawn(args.attnc, args.work, row)
    reset_peak()
    ours, seconds = Ours(row, drawn, drawn.inputs, drawn.grad_o), []
    for _ in range(1 if row.group == "exact" else args.rounds):
        start = time.process_time()
        ours.both()
        seconds.append(time.process_time() - start)
    memory = resident("VmHWM") - before
    ours.close()
    return {"both": rounded(statistics.median(seconds)), "memory": memory}


#===----------------------------------------------------------------------------------------------------------------===#
# All rows
#===----------------------------------------------------------------------------------------------------------------===#


def wanted(args):
    """What is to be measured, and of which rows."""
    if args.growth:
        return growth, [gradients_rows.row_of(family, n) for family in gradients_rows.GROWTH_FORMS for n in gradients_rows.GROWTH_LENGTHS]
    if args.memory:
        return growth, [gradients_rows.row_of("softmax", gradients_rows.GROWTH_LENGTHS[-1])]
    return speed, gradients_rows.rows()


def measure(args):
    _, rows = wanted(args)
    for row in rows:
        if not re.search(args.only, row.name):
            continue
        command = [sys.executable, __file__, *sys.argv[1:], "--child", row.family, str(row.n)]
        run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if run.returncode:
            print(f"{row.name}: not measured", file=sys.stderr)
            continue
        data = cpu.load(args.store)
        data["machine"] = cpu_machine.facts() | {"peers": {name: version for name, version in cpu.versions().items() if name == "torch"}}
        data["points"][row.name] = json.loads(run.stdout.splitlines()[-1]) | {"commit": cpu_machine.commit(SOURCE)[:7]}
        cpu.save(args.store, data)
        print(row.name, file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="rows whose name this regular expression finds")
    parser.add_argument("--seconds", type=float, default=3, help="of turns for each row")
    parser.add_argument("--rounds", type=int, default=5, help="at least so many")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--attnc", type=pathlib.Path, default=SOURCE / "build" / "bin" / "attnc")
    parser.add_argument("--limits", type=pathlib.Path, default=SOURCE / "build" / "lib" / "libattune-bench-limits.so")
    parser.add_argument("--store", type=pathlib.Path, default=STORE)
    parser.add_argument("--work", type=pathlib.Path, default=SOURCE / "build" / "gradients-bench", help="folder of libraries")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    if args.child:
        print(json.dumps(wanted(args)[0](gradients_rows.row_of(args.child[0], int(args.child[1])), args)))
        return
    if not args.report:
        measure(args)
    gradients_report.write(cpu.load(args.store), args.store)


if __name__ == "__main__":
    main()
