"""Gradients of random decoders (gates, states, packed sequences, masks and logits), judged by the oracle; exits 1 if one is outside its tolerance.

Each seed draws a spec (decoder_grammar.py), tensors (decoder_tensors.py: values at the borders of their ranges, NaN in what does not exist), the
state that a prefix leaves, and standard normal cotangents of every output. Where a run can be cut, it is: gradients of the pieces, each given those
of the states that the next one began with, are the whole's. States of sketches have the library's layout, and are judged in pieces alone.
"""

import argparse
import collections
import pathlib
import tempfile
import types

import numpy as np

import decoder_grammar
import decoder_judge
import gradients
import judges
import random_gradients
import refusals
from decoder_pieces import axis, draw_cuts, going_on, is_of_tokens, is_state, piece, places_of
from decoder_tensors import draw_tensors
from decoder_worker import Failed, Refused, Worker, load, reason_of, save
from judges import Case
from random_grammar import Choices


class Nothing(Exception):
    """The draw says nothing: why."""


def worker_arguments(args):
    return types.SimpleNamespace(families=args.families, tokens=args.tokens, width=args.width, small=True, no_pins=not args.pins, dtypes=args.dtypes,
                                 oracle=args.oracle, spoil=None)


def is_judged(name):
    """Of a name of a gradient or an output: whether numbers belong to it. Positions and scales have no gradient."""
    return name.split(".")[-1] not in ("position", "scale")


def layouts_of_sketches(case):
    """The names of states whose layout is the library's; what it holds of a block has that of tokens."""
    return tuple(prefix + state + last for prefix, *_, m in case.parts() if m["kind"] == "polysketch"
                 for state in ("state.", "final_state.") for last in ("s", "z", "scale"))


def states_without_unit(case):
    """The names of initial states of FAVOR. Where none is given the oracle has no unit for it, and a gradient of 0; ours are those at a state of 0:
    neither judges the other."""
    return tuple(prefix + "state." + last for prefix, *_, m in case.parts() if m.get("feature_map", {}).get("kind") == "favor" for last in ("s", "z"))


class GradientWorker(Worker):
    """Draws and judges one seed after another."""

    def __init__(self, args):
        super().__init__(worker_arguments(args))
        self.options = args

    def verdict_of(self, seed):
        """(why it is refused, what is wrong); both are empty if all is right."""
        with tempfile.TemporaryDirectory() as folder:
            self.folder, self.count = pathlib.Path(folder), 0
            try:
                return self.judge(seed)
            except (Failed, gradients.Failed) as failure:
                return ("", str(failure)) if not refusals.reason(str(failure)) else (refusals.reason(str(failure)), "")
            except Refused as refused:
                return str(refused), ""
            except Nothing as why:
                return str(why), ""

    def judge(self, seed):
        case, choices = decoder_grammar.draw_spec(seed, self.limits), Choices(seed, "gradients")
        case.fields["gradients"] = "all"
        self.text = case.text()
        spec = self.write(case.fields)
        try:
            parameters = self.init(case, spec, seed)
        except Failed as failure:  # a form that the spec cannot have is not asked for
            if "linearize" not in str(failure):
                raise
            del case.fields["pin"]
            spec = self.write(case.fields)
            parameters = self.init(case, spec, seed)
        prefix = self.prefix(case, seed, parameters, choices)
        chained = case.open_sizes() and case.state("initial") and case.state("final")
        tensors = draw_tensors(case, seed, parameters, prefix and self.state_of(case, prefix))
        if not tensors.in_range:
            raise Nothing("outside the range of the tolerances")
        arrays = tensors.arrays | self.cotangents(case, spec, tensors.arrays, choices.rng)
        judged = Case(spec, case.fields, save(arrays, self.path("in")))
        self.skipped = layouts_of_sketches(case) + (() if prefix else states_without_unit(case))
        self.truth = gradients.Exact(self.options.oracle, judged, self.path("oracle"))
        dtype = case.fields["dtype"]
        self.allowed = gradients.TOLERANCE[dtype] * decoder_judge.tolerance(case, tensors) / judges.TOLERANCE[dtype]
        for way in self.options.ways:
            is_exact = way == "reference"
            got = self.reference(spec, arrays) if is_exact else self.backward(spec, arrays)
            said = self.wrong(judged, got, judges.INTERPRETER_TOLERANCE if is_exact else self.allowed, is_exact)
            if said:
                return "", f"{way}: {said}"
        if chained and "run" in self.options.ways:
            cuts = draw_cuts(choices, case, tensors.arrays)
            said = self.wrong(judged, self.in_pieces(case, spec, arrays, cuts), self.allowed)
            return "", said and f"cut at {cuts.tolist()}: {said}"
        return "", ""

    #===-- Runs ------------------------------------------------------------------------------------------------------===#

    def flags(self):
        target = self.options.target
        return ["--target", target, "--emulate"] if target else []

    def run_with(self, spec, arrays, *options):
        out = self.path("out")
        status, said = self.server.call("run", spec, "--in", save(arrays, self.path("given")), "--out", out, *options)
        if status:
            raise Refused(reason_of(status, said))
        return load(out)

    def forward(self, spec, arrays):
        return self.run_with(spec, {name: array for name, array in arrays.items() if not name.startswith("grad_")}, *self.flags())

    def backward(self, spec, arrays):
        return {name[5:]: array for name, array in self.run_with(spec, arrays, "--backward", *self.flags()).items()}

    def reference(self, spec, arrays):
        return {name[5:]: array for name, array in self.run_with(spec, arrays, "--backward", "--reference").items()}

    def cotangents(self, case, spec, arrays, rng):
        """Of every output; of final states of sketches none, whose layout the oracle does not know."""
        outputs = self.run_with(spec, arrays, "--reference")
        return {f"grad_{name}": rng.standard_normal(array.shape).astype(np.float32) for name, array in sorted(outputs.items())
                if is_judged(name) and name not in layouts_of_sketches(case)}

    def in_pieces(self, case, spec, arrays, cuts):
        """Gradients of one piece after another, from the last."""
        ends = [*cuts, case.lengths]
        begins = [0 * case.lengths, *cuts]
        state = {name: array for name, array in arrays.items() if name.startswith(states_of(case))}
        last = {name: array for name, array in arrays.items() if name.startswith("grad_") and is_state(name)}
        tokens = {name: array for name, array in arrays.items() if name not in state and name not in last}
        states = [state]
        for begin, end in zip(begins[:-1], ends[:-1]):
            states.append(going_on(self.forward(spec, piece_of(case, tokens, begin, end) | states[-1])))
        joined, handed = {}, last
        for begin, end, state in reversed(list(zip(begins, ends, states))):
            got = self.backward(spec, piece_of(case, tokens, begin, end) | state | handed)
            handed = {f"grad_{name}".replace("state.", "final_state."): array for name, array in got.items() if is_state(name)}
            for name, array in got.items():
                join(case, joined, name, array, places_of(case, begin, end))
        return joined

    #===-- Verdicts --------------------------------------------------------------------------------------------------===#

    def wrong(self, judged, got, allowed, is_exact=False):
        """What is wrong with gradients, by the names of their tensors; empty if nothing is. Those of f64 noise of f32 does not excuse."""
        got = {name: array for name, array in got.items() if name not in self.skipped}
        exact = {name for name in self.truth.exact if name not in self.skipped}
        if self.options.spoil:
            name = next(iter(got))
            got[name] = got[name] * 1.001 + 1e-3 * np.abs(got[name]).max(initial=1)
        if got.keys() != exact:
            return f"expected gradients of {', '.join(sorted(exact))}, but got {', '.join(sorted(got))}"
        errors = {name: self.truth.error(name, array) for name, array in got.items()}
        texts = [error for error in errors.values() if isinstance(error, str)]
        if texts:
            return texts[0]
        off = {name: error for name, error in errors.items() if not error <= allowed}
        if not off:
            return ""
        if not is_exact and self.is_conditioned(judged, off):
            raise Nothing(random_gradients.CONDITIONED)
        return ", ".join(f"{name} {error:.1e}" for name, error in off.items()) + f", tolerance {allowed:.0e}"

    def is_conditioned(self, judged, off):
        """Whether noise of f32 on the tensors moves each of these gradients as far as they are off, but for a few roundings (random_gradients.py)."""
        noisy = self.reference(judged.spec, random_gradients.with_noise(judged.arrays()))
        return all(error <= random_gradients.MOST_OF_NOISE * self.truth.error(name, noisy[name]) for name, error in off.items())


def states_of(case):
    return tuple({"state."} | {prefix + "state." for prefix, *_ in case.parts()})


def piece_of(case, arrays, begin, end):
    """decoder_pieces.piece, of cotangents of what tokens have too."""
    plain = {name.removeprefix("grad_"): array for name, array in arrays.items() if name.startswith("grad_")}
    rest = {name: array for name, array in arrays.items() if not name.startswith("grad_")}
    return piece(case, rest, begin, end) | {f"grad_{name}": array for name, array in piece(case, plain, begin, end).items()}


def join(case, joined, name, array, places):
    """Rows of tokens where they belong, sums of parameters, the first piece's gradient of the state."""
    if is_state(name):
        joined[name] = array
    elif not is_of_tokens(name):
        joined[name] = joined.get(name, 0) + array.astype(np.float64)
    else:
        shape = list(array.shape)
        shape[axis(name)] = case.queries
        whole = joined.setdefault(name, np.full(shape, np.nan, array.dtype))
        whole[(slice(None),) * axis(name) + (places,)] = array


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    listed = lambda text: [word for word in text.split(",") if word]
    parser.add_argument("--oracle", required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--families", type=listed, default=decoder_grammar.FAMILIES)
    parser.add_argument("--dtypes", type=listed, default=["f32"])
    parser.add_argument("--ways", type=listed, default=["reference", "run"])
    parser.add_argument("--tokens", type=int, default=96)
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--pins", action="store_true", help="forms are drawn too")
    parser.add_argument("--target", help="a GPU target, emulated")
    parser.add_argument("--spoil", action="store_true", help="makes each first gradient wrong by a thousandth of itself and of the largest one")
    parser.add_argument("--refusals", type=float, default=1, help="the share of the seeds that may be refused, or say nothing")
    return parser.parse_args()


def main():
    args = parse()
    worker, refused, wrong = GradientWorker(args), collections.Counter(), 0
    for seed in range(args.first, args.first + args.count):
        why, failure = worker.verdict_of(seed)
        wrong += bool(failure)
        if failure:
            print(f"FAIL: seed {seed}\n  {failure}\n  " + "\n  ".join(worker.text.splitlines()), flush=True)
        if why:
            refused[refusals.kind(why)] += 1
    worker.server.close()
    random_gradients.end(args, refused, wrong)


if __name__ == "__main__":
    main()
