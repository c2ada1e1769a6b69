"""One seed after another: its spec and tensors drawn, run, and judged by the float64 interpreter of attn."""

import dataclasses
import importlib
import os
import pathlib
import sys
import tempfile

import numpy as np
import yaml

import judges
import random_condition
import reference
from random_grammar import Limits, draw_spec
from random_range import LARGE_DEGREE, LARGE_LOGIT
from random_tensors import draw_tensors
from server import Server, npy

ORACLE_TOLERANCE, PLAN_TOLERANCE = 1e-11, 1e-10
REFUSED = ("not supported yet", "no schedule fits")  # a kernel that is not there, or tiles too large for the device


def load_oracle(path):
    """The oracle's module. It has a module `reference` of its own beside it, which is not this project's."""
    ours = sys.modules.pop("reference")
    sys.path.insert(0, str(path.parent))
    oracle = importlib.import_module("oracle")
    sys.path.remove(str(path.parent))
    sys.modules["reference"] = ours
    return oracle


def available_isas():
    """The instruction sets of libraries that this machine can run; each seed is compiled for one of them."""
    flags = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    tiles = "amx_bf16" in flags or os.environ.get("ATTUNE_ASSUME_AMX") == "1"  # there, or in an emulator that is preloaded
    return ["avx2"] + ["avx512"] * ("avx512bw" in flags) + ["avx512_bf16"] * ("avx512_bf16" in flags) + ["amx"] * tiles


def tolerance(case, tensors):
    large = tensors.largest_logit > LARGE_LOGIT or any(m.get("degree", 1) >= LARGE_DEGREE for m in case.mechanisms())
    return judges.TOLERANCE[case.fields["dtype"]] * (2 if large else 1)


def judge_output(case, got, expected, tensors, condition):
    """What is wrong with an output, empty if nothing is; and whether the tolerance is less than rounding is expected to
    make of it: `condition` gives that."""
    dtype = case.fields["dtype"]
    if not tensors.in_range:
        held = np.isfinite(reference.rounded(expected, dtype))
        return "" if np.isfinite(got[held]).all() else "expected a finite output", False
    error, bound = judges.storage_error(got, expected, dtype), tolerance(case, tensors)
    if error <= bound:
        return "", False
    rounding = condition()
    if error <= rounding:
        return "", True
    return f"relative error {error:.2e}, tolerance {bound:.0e}, expected of rounding {rounding:.0e}", False


@dataclasses.dataclass
class Outcome:
    """Of one seed. Tensors beyond the range of the tolerances must give a finite output and no more; `conditioned` of its
    outputs are as far off as their condition lets expect, and farther than the tolerance."""
    seed: int
    failures: list
    ran: int = 0
    refused: int = 0
    conditioned: int = 0
    plans: int = 0
    unplanned: int = 0  # GPUs that have no plan with what is pinned
    in_range: bool = True


@dataclasses.dataclass
class Drawn:
    """One seed's spec, and its tensors and results in a folder."""
    seed: int
    case: object
    tensors: object
    folder: pathlib.Path
    parameter: object
    expected: np.ndarray = None

    def rounding(self):
        """The error that rounding is expected to make in what is judged."""
        entries = slice(1, None) if self.tensors.spoiled else slice(None)
        return random_condition.expected_error(self.case, self.tensors.arrays, self.parameter, self.expected, entries)

    def judged(self, array):
        """The part of an output that a NaN in a row that exists does not reach."""
        return array[1:] if self.tensors.spoiled else array


class Worker:
    """Runs seeds through a server of its own."""

    def __init__(self, args):
        self.args, self.server, self.isas = args, Server(), available_isas()
        self.limits = Limits(args.kinds, args.maps, args.plain, args.tokens, args.width)
        self.oracle = load_oracle(pathlib.Path(args.oracle)) if args.oracle else None
        np.seterr(all="ignore")

    def run(self, seed):
        with tempfile.TemporaryDirectory() as folder:
            try:
                return self.run_in(seed, pathlib.Path(folder))
            except ServerFailed as failure:
                return Outcome(seed, [str(failure)])

    def call(self, what, *words):
        status, said = self.server.call(*words)
        if status != 0:
            raise ServerFailed(f"{what} ended with {status}: {said}")

    def draw(self, seed, folder):
        case, spec = draw_spec(seed, self.limits), folder / "spec.yaml"
        spec.write_text(yaml.safe_dump(case.fields, sort_keys=False), encoding="utf-8")
        self.call("attnc init", "init", spec, "--out", folder, "--seed", seed, *case.init_arguments())
        parameter = lambda name: np.load(npy(folder, name)).astype(np.float64)
        tensors = draw_tensors(case, seed, parameter)
        for name, array in tensors.arrays.items():
            np.save(npy(folder, name), array)
        return Drawn(seed, case, tensors, folder, parameter)

    def run_in(self, seed, folder):
        drawn = self.draw(seed, folder)
        drawn.expected = self.interpret("reference", drawn)
        outcome = Outcome(seed, [], in_range=drawn.tensors.in_range)
        if self.oracle:
            outcome.failures += [self.judge_interpreter(drawn), self.judge_rows(drawn)]
        if self.args.terms:
            outcome.failures.append(self.judge_terms(drawn))
        if self.args.plans:
            outcome.failures += self.judge_plans(drawn, outcome)
        for target in self.args.target:
            wrong = self.judge_target(target, drawn, outcome)
            outcome.refused += wrong is None
            outcome.ran += wrong is not None
            outcome.failures.append(wrong)
        outcome.failures = [failure for failure in outcome.failures if failure]
        return outcome

    #===-- The interpreter -------------------------------------------------------------------------------------------===#

    def interpret(self, command, drawn, *rows):
        result = npy(drawn.folder, f"{command}-result")
        self.call(f"the interpreter ({command})", command, drawn.folder / "spec.yaml", drawn.folder, result, *rows)
        return np.load(result)

    def judge_interpreter(self, drawn):
        _, expected = self.oracle.run(str(drawn.folder / "spec.yaml"), str(drawn.folder))
        got, expected = drawn.judged(drawn.expected), drawn.judged(expected)
        if not drawn.tensors.in_range:  # weights of f64 may underflow, in one order of products and not in another
            return "" if np.isfinite(got).all() or not np.isfinite(expected).all() else "interpreter: not finite"
        error = reference.relative_error(got, expected)
        bound = ORACLE_TOLERANCE * max(1, drawn.tensors.largest_logit / 1000)
        return "" if error <= bound else f"interpreter: relative error {error:.2e} against the oracle"

    def judge_rows(self, drawn):
        rows = np.random.default_rng(drawn.seed).integers(0, drawn.case.queries, 3)
        got = self.interpret("reference", drawn, ",".join(map(str, rows)))
        same = np.array_equal(got, drawn.expected[..., rows, :], equal_nan=True)
        return "" if same else f"interpreter: expected rows {rows} as among all rows"

    def judge_terms(self, drawn):
        got = drawn.judged(self.interpret("terms", drawn))
        if not drawn.tensors.in_range:
            return ""
        error = reference.relative_error(got, drawn.judged(drawn.expected))
        bound = ORACLE_TOLERANCE * max(1, drawn.tensors.largest_logit / 1000)
        return "" if error <= bound else f"terms: relative error {error:.2e} against the mechanisms"

    def judge_plans(self, drawn, outcome):
        """Every plan of the laws, and what selection takes, against the spec as it is written."""
        outputs = self.interpret("plans", drawn)
        names = (drawn.folder / "plans-result.npy.txt").read_text(encoding="utf-8").splitlines()
        outcome.plans = len(names)
        outcome.unplanned = len((drawn.folder / "plans-result.npy.refused").read_text(encoding="utf-8").splitlines())
        if not drawn.tensors.in_range:  # weights of f64 may underflow, in one order of products and not in another
            return []
        bound = PLAN_TOLERANCE * max(1, drawn.tensors.largest_logit / 1000)
        errors = [reference.relative_error(drawn.judged(got), drawn.judged(drawn.expected)) for got in outputs]
        return [f"plan '{name}': relative error {error:.2e}" for name, error in zip(names, errors, strict=True)
                if not error <= bound]

    #===-- Compiled code ---------------------------------------------------------------------------------------------===#

    def run_target(self, target, drawn):
        """(exit status, what was said, the output or None)."""
        spec, result = drawn.folder / "spec.yaml", drawn.folder / target
        if target == "cpu":
            command = "library" if drawn.seed % 4 == 0 or self.args.optimized else "quick"
            isa = self.isas[(drawn.seed + drawn.seed // 4) % len(self.isas)]  # each with each
            status, said = self.server.call(command, spec, drawn.folder, npy(drawn.folder, target), isa)
            return status, said, None if status else np.load(npy(drawn.folder, target))
        flags = ["--emulate"] if self.args.emulate else []
        flags += ["--pessimistic"] if self.args.pessimistic else []
        flags += ["--gpu-products", self.args.gpu_products] if self.args.gpu_products else []
        status, said = self.server.call("run", spec, "--in", drawn.folder, "--out", result, "--target", target, *flags)
        return status, said, None if status else np.load(next(result.glob("*.npy")))

    def judge_target(self, target, drawn, outcome):
        """What is wrong; None if the target does not support the spec yet."""
        status, said, got = self.run_target(target, drawn)
        if status != 0:
            return None if any(words in said for words in REFUSED) and status > 0 else f"{target}: ended with {status}: {said}"
        if got.shape != drawn.expected.shape:
            return f"{target}: expected shape {drawn.expected.shape}, but got {got.shape}"
        got, expected = drawn.judged(got).astype(np.float64), drawn.judged(drawn.expected)
        wrong, conditioned = judge_output(drawn.case, got, expected, drawn.tensors, drawn.rounding)
        outcome.conditioned += conditioned
        return f"{target}: {wrong}" if wrong else ""


class ServerFailed(Exception):
    """A command that every seed needs did not end with status 0."""
