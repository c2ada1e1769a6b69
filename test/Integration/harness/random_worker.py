"""One seed after another: its spec and tensors drawn, run, and judged by the float64 interpreter of attn."""

import dataclasses
import importlib
import os
import pathlib
import sys
import tempfile

import numpy as np

import pins
import random_mutants
import reference
import refusals
from random_draw import MOST_DRAWS, Drawn
from random_grammar import Limits
from server import Server, npy
from sketch_bounds import UNIT

ORACLE_TOLERANCE, PLAN_TOLERANCE = 1e-11, 1e-10


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


@dataclasses.dataclass
class Outcome:
    """Of one seed. Tensors beyond the range of the tolerances must give a finite output and no more."""
    seed: int
    failures: list
    ran: int = 0
    refusals: list = dataclasses.field(default_factory=list)   # why targets do not support the spec
    redrawn: int = 0        # draws that said nothing
    conditioned: int = 0    # outputs with conditioned rows
    excused: int = 0        # outputs that are right only by what is allowed beyond the tolerance
    mutants: int = 0        # wrong outputs that were judged
    left_out: int = 0       # mutants that differ too little to be wrong
    plans: int = 0
    unplanned: int = 0      # GPUs that have no plan with what is pinned
    in_range: bool = True
    long: bool = False
    spec: str = ""          # its text


def judge_pins(target, drawn):
    """What is pinned must be what is compiled: what is wrong, empty if nothing is."""
    pinned = drawn.case.fields.get("pin")
    try:
        return "; ".join(pins.wrong_pins("attnc", drawn.spec, pinned, target)) if pinned else ""
    except pins.Refused as refused:
        return f"compiled, but not explained: {refused}"


class Worker:
    """Runs seeds through a server of its own."""

    def __init__(self, args):
        self.args, self.server, self.isas = args, Server(), available_isas()
        self.limits = Limits(args.kinds, args.maps, args.plain, args.tokens, args.width, args.sizes, args.work,
                             all(target == "cpu" for target in args.target), tuple(args.dtypes))
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

    def init(self, seed):
        return lambda spec, folder, sizes: self.call("attnc init", "init", spec, "--out", folder, "--seed", seed, *sizes)

    def unit(self, target, drawn):
        """What numbers of a sketch are rounded to: the CPU keeps them in f32 whatever the storage."""
        return UNIT["f32"] if target == "cpu" or self.args.f32_sketches else drawn.storage_unit()

    def draw(self, seed, folder, outcome):
        """The first draw of the seed that says something of every target."""
        for attempt in range(MOST_DRAWS):
            drawn = Drawn(seed, attempt, self.limits, folder / str(attempt), self.init(seed), self.reference)
            if not any(drawn.says_nothing(self.unit(target, drawn)) for target in self.args.target):
                return drawn
            outcome.redrawn += 1
        raise ServerFailed(f"expected a draw that says something among {MOST_DRAWS}, but got none")

    def run_in(self, seed, folder):
        outcome = Outcome(seed, [])
        drawn = self.draw(seed, folder, outcome)
        outcome.spec = drawn.spec.read_text(encoding="utf-8")
        outcome.in_range, outcome.long = drawn.tensors.in_range, not drawn.all_rows
        outcome.failures = [drawn.disagreement()] if self.args.target else []
        if self.oracle:
            outcome.failures += [self.judge_interpreter(drawn), self.judge_rows(drawn)]
        if self.args.terms:
            outcome.failures.append(self.judge_terms(drawn))
        if self.args.plans:
            outcome.failures += self.judge_plans(drawn, outcome)
        for target in self.args.target:
            outcome.failures.append(self.judge_target(target, drawn, outcome))
        outcome.failures = [failure for failure in outcome.failures if failure]
        return outcome

    #===-- The interpreter -------------------------------------------------------------------------------------------===#

    def interpret(self, command, drawn, *rows, folder=None):
        result = npy(drawn.folder, f"{command}-result")
        self.call(f"the interpreter ({command})", command, drawn.spec, folder or drawn.folder, result, *rows)
        return np.load(result)

    def reference(self, drawn, folder):
        return self.interpret("reference", drawn, *([] if drawn.all_rows else [listed(drawn.places)]), folder=folder)

    def judge_interpreter(self, drawn):
        _, expected = self.oracle.run(str(drawn.spec), str(drawn.folder))
        got, expected = drawn.judged(drawn.expected), drawn.judged(expected)
        if not drawn.tensors.in_range:  # weights of f64 may underflow, in one order of products and not in another
            return "" if np.isfinite(got).all() or not np.isfinite(expected).all() else "interpreter: not finite"
        error = reference.relative_error(got, expected)
        bound = ORACLE_TOLERANCE * max(1, drawn.tensors.largest_logit / 1000)
        return "" if error <= bound else f"interpreter: relative error {error:.2e} against the oracle"

    def judge_rows(self, drawn):
        chosen = np.random.default_rng(drawn.seed).integers(0, len(drawn.places), 3)
        got = self.interpret("reference", drawn, listed(drawn.places[chosen]))
        same = np.array_equal(got, drawn.expected[..., chosen, :], equal_nan=True)
        return "" if same else f"interpreter: expected rows {drawn.places[chosen]} as among all rows"

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
        spec, result = drawn.spec, drawn.folder / target
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
        """What is wrong, empty if nothing is; a target that does not support the spec says why."""
        status, said, got = self.run_target(target, drawn)
        if status > 0 and (reason := refusals.reason(said)):
            outcome.refusals.append(reason)
            return ""
        outcome.ran += 1
        if status != 0:
            return f"{target}: ended with {status}: {said}"
        if wrong := judge_pins(target, drawn):
            return f"{target}: {wrong}"
        unit = self.unit(target, drawn)
        verdict = drawn.judge(got, unit)
        outcome.conditioned += verdict.conditioned > 0
        if verdict.wrong or drawn.tolerance is None:
            return f"{target}: {verdict.wrong}" if verdict.wrong else ""
        outcome.excused += verdict.excused > 0 or verdict.error > drawn.tolerance
        return self.judge_mutants(drawn, got[..., drawn.places, :], unit, outcome)

    def judge_mutants(self, drawn, got, unit, outcome):
        """The judge judged, by outputs that are wrong."""
        names, judged, left_out = random_mutants.accepted(
            drawn.judged(got).astype(np.float64), drawn.judged(drawn.expected), drawn.case.fields["dtype"],
            drawn.allowed(unit), drawn.bounds(unit), drawn.noise(unit))
        outcome.mutants += judged
        outcome.left_out += left_out
        return f"the judge accepts mutants of the output: {', '.join(names)}" if names else ""


def listed(numbers):
    return ",".join(map(str, numbers))


class ServerFailed(Exception):
    """A command that every seed needs did not end with status 0."""
