"""One seed of random decoders after another: spec and tensors drawn, run as a whole and in pieces, judged."""

import collections
import copy
import dataclasses
import pathlib
import tempfile

import numpy as np
import yaml

import decoder_mutants
import refusals
from decoder_grammar import Limits, draw_spec
from decoder_judge import Truth, error_of, tolerance, without_layouts
from decoder_pieces import draw_cuts, piece, run_in_pieces
from decoder_tensors import draw_tensors
from judges import true_states
from random_grammar import Choices
from random_worker import available_isas, load_oracle
from server import Server

# Wrong outputs cost runs of the judge: of one seed in so many.
MUTANTS_ONE_IN = 6
MOST_DRAWS = 5
LONGEST_PREFIX = 40
# The interpreter's outputs in f32 files, beside the oracle's.
INTERPRETER = 1e-6


class Failed(Exception):
    """A command that every seed needs did not end with status 0."""


@dataclasses.dataclass
class Outcome:
    seed: int
    failures: list = dataclasses.field(default_factory=list)
    refusals: list = dataclasses.field(default_factory=list)    # (target, why)
    nothing: list = dataclasses.field(default_factory=list)     # draws that said nothing, why
    runs: int = 0
    pieces: int = 0            # runs that were put together of several
    excused: int = 0
    in_range: bool = True
    refused_pins: int = 0
    mutants: collections.Counter = dataclasses.field(default_factory=collections.Counter)  # (name, "refused" | "accepted" | "equal")
    spec: str = ""


def save(arrays, folder):
    folder.mkdir(parents=True)
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    return folder


def load(folder):
    return {file.stem: np.load(file) for file in sorted(folder.glob("*.npy"))}


class Worker:
    def __init__(self, args):
        self.args, self.isas, self.server = args, available_isas(), Server()
        self.limits = Limits(args.families, args.tokens, args.width, not args.small, not args.no_pins, tuple(args.dtypes))
        self.oracle = load_oracle(pathlib.Path(args.oracle)) if args.oracle else None
        np.seterr(all="ignore")

    def run(self, seed):
        outcome = Outcome(seed)
        for attempt in range(MOST_DRAWS):
            with tempfile.TemporaryDirectory() as folder:
                self.folder, self.count = pathlib.Path(folder), 0
                try:
                    self.run_draw(seed, attempt, outcome)
                except Failed as failure:
                    outcome.failures.append(str(failure))
                except Refused as refused:
                    outcome.refusals.append(("init", str(refused)))
            if len(outcome.nothing) <= attempt:
                return outcome
        outcome.failures.append(f"expected a draw that says something among {MOST_DRAWS}, but got none")
        return outcome

    #===-- Files and commands ----------------------------------------------------------------------------------------===#

    def path(self, name):
        self.count += 1
        return self.folder / f"{name}{self.count}"

    def write(self, fields):
        path = self.path("spec").with_suffix(".yaml")
        path.write_text(yaml.safe_dump(fields, sort_keys=False), encoding="utf-8")
        return path

    def init(self, case, spec, seed):
        """Parameters; what the compiler does not take yet the oracle draws."""
        out = self.path("init")
        status, said = self.server.call("init", spec, "--out", out, "--seed", seed, *case.init_arguments())
        if status and not self.oracle:
            raise Refused(reason_of(status, said))
        if status:
            s = self.oracle.Spec(str(spec))
            s.resolve(case.batch, max(case.queries, 1), max(case.keys, 1), case.sequences)
            self.oracle.init(s, str(out), seed, False)
        return load(out)

    def exact(self, fields, arrays):
        """By the oracle where there is one, else by the interpreter, which no form concerns."""
        spec = self.write({name: value for name, value in fields.items() if name != "pin"})
        folder = save(arrays, self.path("in"))
        if not self.oracle:
            return self.interpreted(spec, folder)
        return {name: np.asarray(array) for name, array in self.oracle.run_all(str(spec), str(folder)).items()}

    def interpreted(self, spec, folder):
        out = self.path("out")
        status, said = self.server.call("run", spec, "--in", folder, "--out", out, "--reference")
        if status:
            raise Failed(f"the interpreter ended with {status}: {said}")
        return load(out)

    #===-- One draw --------------------------------------------------------------------------------------------------===#

    def run_draw(self, seed, attempt, outcome):
        key = (seed, attempt) if attempt else seed
        case = draw_spec(key, self.limits)
        spec, choices = self.write(case.fields), Choices(key, "runs")
        outcome.spec = case.text()
        parameters = self.init(case, self.write({**case.fields, "pin": {}} if "pin" in case.fields else case.fields), seed)
        prefix = self.prefix(case, key, parameters, choices)
        chained = case.open_sizes() and case.state("initial") and case.state("final")
        least = case.keys if chained and choices.once(2) else 0
        tensors = draw_tensors(case, key, parameters, prefix and self.state_of(case, prefix), least=least)
        outcome.in_range = tensors.in_range
        truth = Truth(case, tensors, lambda arrays: self.exact(case.fields, arrays))
        runs = [("whole", lambda run: run(tensors.arrays))]
        if chained:
            cuts = draw_cuts(choices, case, tensors.arrays)
            runs.append((f"cut at {cuts.tolist()}", lambda run: run_in_pieces(case, tensors.arrays, cuts, run, self.args.spoil == "state")))
        self.judges_wrong = choices.once(MUTANTS_ONE_IN)
        for target in self.args.target:
            self.judge_target(target, case, spec, truth, runs, outcome)
        if self.oracle and choices.once(4) or "reference" in self.args.target:
            self.judge_interpreter(spec, truth, outcome)
        if self.judges_wrong and tensors.in_range:
            self.judge_wrong_tensors(case, truth, prefix, outcome)

    def prefix(self, case, key, parameters, choices):
        """(case, arrays) of the tokens that leave the initial state; None if it is 0, or a library's own."""
        sketched = any(m["kind"] == "polysketch" for m in case.mechanisms())
        if not case.state("initial") or sketched or choices.once(4):
            return None
        count = case.sequences if case.packed else 1
        lengths = np.array([choices.below(LONGEST_PREFIX) for _ in range(count)])
        before = copy.copy(case)
        before = before.with_lengths(lengths if case.packed else np.full(case.sequences, lengths[0]))
        before.fields = {name: value for name, value in case.fields.items() if name not in ("keys", "pin")} | \
            {"queries": "?", "state": {"final": True}}
        if case.packed and "keys" in case.fields:
            before.fields["keys"] = "?"
        seed = (*key, 99) if isinstance(key, tuple) else (key, 99)
        return before, draw_tensors(before, seed, parameters, kind="normal").arrays

    def state_of(self, case, prefix):
        before, arrays = prefix
        outputs = self.exact(before.fields, arrays)
        return {name.replace("final_state.", "state."): array.astype(np.int32 if array.dtype.kind == "i" else np.float32)
                for name, array in outputs.items() if "final_state." in name}

    #===-- Targets ---------------------------------------------------------------------------------------------------===#

    def judge_target(self, target, case, spec, truth, runs, outcome):
        run, why = self.runner(target, case, spec, truth.tensors.arrays, outcome)
        if run is None:
            outcome.refusals.append((target, why))
            return
        for name, execute in runs:
            try:
                got = execute(run)
            except Failed as failure:
                outcome.failures.append(f"{target}, {name}: {failure}")
                continue
            outcome.runs += 1
            outcome.pieces += name != "whole"
            verdict = truth.judge(got)
            if verdict.nothing:
                outcome.nothing.append(verdict.nothing)
                return
            outcome.excused += verdict.excused
            outcome.failures += [f"{target}, {name}: {text}" for text in verdict.wrong]
            if self.judges_wrong and not verdict.wrong and not verdict.excused and truth.tensors.in_range:
                self.judge_wrong_outputs(truth, got, outcome)

    def runner(self, target, case, spec, arrays, outcome):
        """(how to run arrays, or None, why it is refused). A form that the spec cannot have is not asked for again."""
        whole = None
        def attempt(path):
            nonlocal whole
            if target == "cpu":
                return self.open(case, path, outcome.seed)
            *answer, whole = self.call(target, path, arrays)
            return answer
        status, said = attempt(spec)
        if status and "pin" in case.fields and "linearize" in said:
            outcome.refused_pins += 1
            spec = self.write({name: value for name, value in case.fields.items() if name != "pin"})
            status, said = attempt(spec)
        if status:
            return None, reason_of(status, said)
        return lambda given: load(whole) if whole and given is arrays else self.outputs(target, spec, given), ""

    def open(self, case, spec, seed):
        """Every eighth library as users have it, the others without LLVM's optimisation; for each instruction set in turn."""
        isas = [isa for isa in self.isas if case.fields["dtype"] == "bf16" or isa in ("avx2", "avx512")]
        return self.server.call("open", spec, isas[(seed + seed // 8) % len(isas)], "quick" if seed % 8 else "library")

    def call(self, target, spec, arrays):
        """(exit status, what was said, where the outputs are)."""
        folder, out = save(decoder_mutants.spoiled(self.args.spoil, arrays), self.path("given")), self.path("out")
        if target == "cpu":
            out.mkdir()
            return *self.server.call("call", folder, out), out
        how = ["--reference"] if target == "reference" else ["--target", target, "--emulate"]
        return *self.server.call("run", spec, "--in", folder, "--out", out, *how), out

    def outputs(self, target, spec, arrays):
        status, said, out = self.call(target, spec, arrays)
        if status:
            raise Failed(f"ended with {status}: {said}")
        return load(out)

    def judge_interpreter(self, spec, truth, outcome):
        """Where the compiler takes the spec."""
        folder, out = save(truth.tensors.arrays, self.path("given")), self.path("out")
        status, said = self.server.call("run", spec, "--in", folder, "--out", out, "--reference")
        if status:
            if not refusals.reason(said) and "pin" not in truth.case.fields:
                outcome.failures.append(f"interpreter: ended with {status}: {said}")
            return
        got = true_states(without_layouts(truth.case, load(out)))
        for name, expected in truth.expected.items() if truth.tensors.in_range else ():
            error = error_of(name, got[name], expected, "f32") if name in got else np.inf
            if not error <= INTERPRETER * max(1, truth.tensors.largest_logit / 1000):
                outcome.failures.append(f"interpreter: {name}: error {error:.2e} against the oracle")

    #===-- The judge judged ------------------------------------------------------------------------------------------===#

    def differs(self, truth, outputs):
        for name, array in outputs.items():
            if name in truth.expected and not error_of(name, array, truth.expected[name], truth.dtype) <= \
                    tolerance(truth.case, truth.tensors, name):
                return True
        return False

    def judge_mutant(self, truth, name, outputs, outcome):
        if not self.differs(truth, true_states(without_layouts(truth.case, outputs))):
            outcome.mutants[name, "equal"] += 1
            return
        verdict = truth.judge(outputs)
        kind = "refused" if verdict.wrong else "nothing" if verdict.nothing else "equal" if verdict.excused else "accepted"
        outcome.mutants[name, kind] += 1

    def judge_wrong_outputs(self, truth, got, outcome):
        for name, outputs in decoder_mutants.of_outputs(got):
            self.judge_mutant(truth, name, outputs, outcome)

    def judge_wrong_tensors(self, case, truth, prefix, outcome):
        for name, fields, arrays in decoder_mutants.of_tensors(case, truth.tensors.arrays):
            self.judge_wrong_tensor(truth, name, fields, arrays, outcome)
        if prefix and prefix[0].lengths.min() > 0 and "key_lengths" not in prefix[1]:
            short = shorter(*prefix)
            state = self.state_of(case, short)
            state["state.position"] = truth.tensors.arrays["state.position"]
            self.judge_wrong_tensor(truth, "a state a token short", case.fields, truth.tensors.arrays | state, outcome)

    def judge_wrong_tensor(self, truth, name, fields, arrays, outcome):
        try:
            outputs = self.exact(fields, arrays)
        except Exception:  # positions past max_position, a window that no longer fits
            return
        self.judge_mutant(truth, name, outputs, outcome)


def shorter(before, arrays):
    """The prefix without the last token of each sequence."""
    ends = before.lengths - 1
    return before.with_lengths(ends), piece(before, arrays, 0 * ends, ends)


def reason_of(status, said):
    """Why a spec is refused: a line that says so, or all that was said."""
    if reason := refusals.reason(said):
        return reason
    raise Failed(f"the compiler ended with {status}: {said}")


class Refused(Exception):
    """By a target, as not supported."""
