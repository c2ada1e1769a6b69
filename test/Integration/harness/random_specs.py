"""Random specs of the whole grammar, judged by the float64 interpreter of attn, and the interpreter by the oracle.

Each seed draws a spec and its tensors (random_grammar.py): every mechanism and what modifies it, sizes at every residue,
every storage type, large logits, NaN in rows that do not exist. Each target compiles and runs it; inputs beyond the range
of the tolerances must give a finite output and no more. A target that does not support a spec yet says so, and that is
counted. With --oracle the interpreter's own output is held against the oracle's, its chosen rows against
all of them; with --terms the mechanisms' decompositions against the mechanisms.
"""

import argparse
import importlib
import multiprocessing
import os
import pathlib
import sys
import tempfile

import numpy as np
import yaml

import random_grammar
import reference
from judges import TOLERANCE
from random_grammar import LARGE_LOGIT, Limits, draw_spec, draw_tensors
from server import Server, npy

ORACLE_TOLERANCE = 1e-11
REFUSED = "not supported yet"


def load_oracle(path):
    """The oracle's module. It has a module `reference` of its own beside it, which is not this project's."""
    ours = sys.modules.pop("reference")
    sys.path.insert(0, str(path.parent))
    oracle = importlib.import_module("oracle")
    sys.path.remove(str(path.parent))
    sys.modules["reference"] = ours
    return oracle


class Worker:
    """Runs seeds in a process of its own."""

    def __init__(self, args):
        self.args, self.server = args, Server()
        self.limits = Limits(args.kinds, args.maps, args.plain, args.tokens, args.width)
        self.oracle = load_oracle(pathlib.Path(args.oracle)) if args.oracle else None
        np.seterr(all="ignore")

    def run(self, seed):
        """(failures, targets that ran, targets that refused) of a seed."""
        with tempfile.TemporaryDirectory() as folder:
            return self.run_in(seed, pathlib.Path(folder))

    def run_in(self, seed, folder):
        case = draw_spec(seed, self.limits)
        spec = folder / "spec.yaml"
        spec.write_text(yaml.safe_dump(case.fields, sort_keys=False), encoding="utf-8")
        status, said = self.server.call("init", spec, "--out", folder, "--seed", seed, *case.init_arguments())
        if status != 0:
            return [f"attnc init ended with {status}: {said}"], 0, 0
        tensors = draw_tensors(case, seed)
        for name, array in tensors.arrays.items():
            np.save(npy(folder, name), array)
        status, said = self.server.call("reference", spec, folder, npy(folder, "expected"))
        if status != 0:
            return [f"the interpreter ended with {status}: {said}"], 0, 0
        expected = np.load(npy(folder, "expected"))
        failures = []
        if self.oracle:
            failures = [self.judge_interpreter(spec, folder, expected, tensors),
                        self.judge_rows(seed, case, spec, folder, expected)]
        if self.args.terms:
            failures.append(self.judge_terms(spec, folder, expected, tensors))
        ran = refused = 0
        for target in self.args.target:
            if self.args.emulate and case.fields["dtype"] == "f32":
                continue
            wrong = self.judge_target(target, case, folder, expected, tensors)
            refused += wrong is None
            ran += wrong is not None
            failures.append(wrong)
        return [f for f in failures if f], ran, refused

    def judge_interpreter(self, spec, folder, got, tensors):
        _, expected = self.oracle.run(str(spec), str(folder))
        if not tensors.in_range:  # weights of f64 may underflow, in one order of products and not in another
            return "" if np.isfinite(got).all() or not np.isfinite(expected).all() else "interpreter: not finite"
        error = reference.relative_error(got, expected)
        bound = ORACLE_TOLERANCE * max(1, tensors.largest_logit / 1000)
        return "" if error <= bound else f"interpreter: relative error {error:.2e} against the oracle"

    def judge_rows(self, seed, case, spec, folder, expected):
        rows = np.random.default_rng(seed).integers(0, case.queries, 3)
        status, said = self.server.call("reference", spec, folder, npy(folder, "rows"), ",".join(map(str, rows)))
        if status != 0:
            return f"the interpreter of chosen rows ended with {status}: {said}"
        same = np.array_equal(np.load(npy(folder, "rows")), expected[..., rows, :], equal_nan=True)
        return "" if same else f"interpreter: expected rows {rows} as among all rows"

    def judge_terms(self, spec, folder, expected, tensors):
        status, said = self.server.call("terms", spec, folder, npy(folder, "terms"))
        if status != 0:
            return f"the interpreter of terms ended with {status}: {said}"
        if not tensors.in_range:
            return ""
        error = reference.relative_error(np.load(npy(folder, "terms")), expected)
        bound = ORACLE_TOLERANCE * max(1, tensors.largest_logit / 1000)
        return "" if error <= bound else f"terms: relative error {error:.2e} against the mechanisms"

    def judge_target(self, target, case, folder, expected, tensors):
        """What is wrong; None if the target does not support the spec yet."""
        flags = ["--emulate"] if self.args.emulate else []
        status, said = self.server.call("run", folder / "spec.yaml", "--in", folder, "--out", folder / target, "--target",
                                        target, *flags)
        if status != 0:
            return None if REFUSED in said and status > 0 else f"{target}: ended with {status}: {said}"
        outputs = list((folder / target).glob("*.npy"))
        got = np.load(outputs[0]).astype(np.float64)
        if got.shape != expected.shape:
            return f"{target}: expected shape {expected.shape}, but got {got.shape}"
        dtype = case.fields["dtype"]
        if not np.isfinite(got).all():
            # What the storage type cannot hold is infinite in it.
            return f"{target}: expected a finite output" if np.isfinite(reference.rounded(expected, dtype)).all() else ""
        if not tensors.in_range or is_lost(expected, dtype):
            return ""
        twice = tensors.largest_logit > LARGE_LOGIT or case.is_large_degree()
        tolerance = TOLERANCE[case.fields["dtype"]] * (2 if twice else 1)
        error = reference.relative_error(got, expected)
        return "" if error <= tolerance else f"{target}: relative error {error:.2e}, tolerance {tolerance:.0e}"


def is_lost(expected, dtype):
    """Whether the storage type cannot hold the output: it passes the range above, or below most of it is 0."""
    held = reference.rounded(expected, dtype)
    return not np.isfinite(held).all() or reference.relative_error(held, expected) > TOLERANCE[dtype] / 2


worker = None


def start(args):
    global worker
    worker = Worker(args)


def run_seed(seed):
    return seed, *worker.run(seed)


def report(args, seed, failures):
    fields = draw_spec(seed, Limits(args.kinds, args.maps, args.plain, args.tokens, args.width)).fields
    text = yaml.safe_dump(fields, sort_keys=False, default_flow_style=None, width=120)
    print(f"FAIL: seed {seed}\n  " + "\n  ".join(failures) + "\n  " + "\n  ".join(text.splitlines()), flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    listed = lambda text: [word for word in text.split(",") if word]
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--target", type=listed, default=["cpu"], help="targets, with commas; '' for none")
    parser.add_argument("--emulate", action="store_true")
    parser.add_argument("--oracle", help="path of oracle.py: judges the interpreter")
    parser.add_argument("--terms", action="store_true", help="judge the mechanisms' decompositions")
    parser.add_argument("--kinds", type=listed, default=random_grammar.KINDS)
    parser.add_argument("--maps", type=listed, default=random_grammar.MAPS, help="feature maps of kind kernel")
    parser.add_argument("--plain", action="store_true", help="mechanisms alone: nothing that modifies them, no parts")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--all-supported", action="store_true", help="a spec that a target does not support is a failure")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    return parser.parse_args()


def main():
    args = parse()
    ran = refused = failed = 0
    seeds = range(args.first, args.first + args.count)
    with multiprocessing.Pool(args.jobs, start, [args]) as pool:
        for seed, failures, seed_ran, seed_refused in pool.imap_unordered(run_seed, seeds):
            if seed_refused and args.all_supported:
                failures.append("expected every target to support the spec")
            ran, refused, failed = ran + seed_ran, refused + seed_refused, failed + bool(failures)
            if failures:
                report(args, seed, failures)
    print(f"{len(seeds)} seeds, {ran} runs, {refused} refused as not supported yet, {failed} failed")
    sys.exit(failed > 0 or (bool(args.target) and not ran))


if __name__ == "__main__":
    main()
