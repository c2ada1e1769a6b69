"""Gradients of random specs of the whole grammar, judged by the interpreter and that by the oracle; exits 1 if one is outside its tolerance.

Each seed draws a spec (random_grammar.py), with `gradients: all`, and standard normal tensors and cotangents, NaN in rows of keys that do not exist.
--dtypes says which storage types are drawn; what the contract allows for their roundings beside projections, rotations and norms is not told
apart, so f32 alone says all. A spec that this version does not support is counted by its reason, and so is one whose exact gradients noise of f32 moves; --refusals
says which share may be.
"""

import argparse
import collections
import dataclasses
import functools
import pathlib
import shutil
import sys
import tempfile

import numpy as np
import yaml

import gradients
import judges
import run_case
from attnc import Failed, attnc
from judges import Case
from random_grammar import KINDS, MAPS, Limits, draw_spec
from refusals import kind, reason


CONDITIONED = "gradients that noise of f32 moves as far as they are off"


def shorten(folder):
    """Rows of E and F with a norm of about 1, as training begins with: logits stay those of ordinary tokens."""
    for path in [*folder.glob("*e.npy"), *folder.glob("*f.npy")]:
        if path.stem.split(".")[-1] in ("e", "f"):
            weight = np.load(path)
            np.save(path, (weight / np.sqrt(max(weight.shape[-1], 1))).astype(weight.dtype))


def draw(args, seed, folder):
    case = draw_spec(seed, Limits(args.kinds, args.maps, args.plain, args.tokens, args.width, "small", 0, not args.target, tuple(args.dtypes)))
    fields = case.fields | {"gradients": "all"}
    spec = folder / f"{fields['attention']}.yaml"
    spec.write_text(yaml.safe_dump(fields, sort_keys=False), encoding="utf-8")
    attnc(args.attnc, "init", spec, "--out", folder / "in", "--inputs", "--backward", "--seed", seed, *case.init_arguments())
    run_case.poison(folder / "in")
    shorten(folder / "in")
    if args.rows:
        gradients.lengthen(folder / "in", args.rows, fields)
    return Case(spec, fields, folder / "in")


def is_as_interpreted(case, interpreted, got, tolerance):
    """Whether gradients are those of the interpreter, within half of what the oracle would allow at least."""
    cotangent = next(np.linalg.norm(array) for name, array in judges.outputs(case.files).items() if name in ("grad_o", "grad_y"))
    return got.keys() == interpreted.keys() and all(
        got[name].shape == exact.shape and np.linalg.norm(got[name] - exact) <= tolerance / 2 * max(np.linalg.norm(exact), 1e-3 * cotangent)
        for name, exact in interpreted.items())


def without_nothing(case, exact, got):
    """What is judged: of a focus that cancels (one channel, one key) the oracle knows no part that its rounding would be one of."""
    return {name: exact.exact[name] if name.split(".")[-1] == "focus" and np.linalg.norm(exact.exact[name]) < 1e-9 * exact.cotangent and
            np.linalg.norm(gradient) < 1e-5 * exact.cotangent else gradient for name, gradient in got.items()}


# Relative noise on the tensors of f32: what a few roundings on the way to a weight or a divisor amount to.
NOISE = 2.0 ** -21


# What an error may be of what that noise moves: roundings on the way are as many.
MOST_OF_NOISE = 16


def with_noise(arrays):
    """Tensors by their names; cotangents and constants of the function stay what they are."""
    rng = np.random.default_rng(1)
    def moves(name, array):
        return array.dtype == np.float32 and not name.startswith("grad_") and "sign" not in name.split(".")[-1]
    return {name: (array * (1 + NOISE * rng.uniform(-1, 1, array.shape))).astype(array.dtype) if moves(name, array) else array
            for name, array in arrays.items()}


def is_conditioned(args, case, interpreted, exact, got, folder):
    """Whether each gradient outside its tolerance is one that noise of f32 on the tensors alone moves, and is off by no more than a few times
    as much: divisors that nearly cancel, as those of signed features, powers that have lost all their digits."""
    noisy = folder / "noisy"
    shutil.copytree(case.files, noisy)
    for name, array in with_noise(case.arrays()).items():
        np.save(noisy / f"{name}.npy", array)
    moved = gradients.gradients(args, "reference", dataclasses.replace(case, files=noisy), folder / "moved")
    tolerance = gradients.tolerance("run", case)

    def is_right(name, gradient):
        error = np.linalg.norm(got[name] - gradient)
        noise = np.linalg.norm(moved[name] - gradient)
        return error <= max(tolerance * exact.unit(name), MOST_OF_NOISE * noise)  # NaN is neither
    return all(is_right(name, gradient) for name, gradient in interpreted.items())


def computed(args, way, case, folder):
    """The gradients of one way, as a text what went wrong; of `saved`, which is given what a forward run has left, nothing where that is nothing."""
    if way != "saved":
        return gradients.gradients(args, way, case, folder)
    folder.mkdir()
    left = {path: np.load(path) for path in gradients.files_saved(args, case, folder / "files")}
    return gradients.gradients_given(args, case, folder / "all", left) if left else None


def judge(args, seed, folder):
    """(the reason of a refusal, what is wrong): both are empty if all is right. The oracle is slow: it is asked for one seed in ten, and where
    the interpreter, which it judges there, says otherwise."""
    case = draw(args, seed, folder)
    exact = functools.cache(lambda: gradients.Exact(args.oracle, case, folder / "oracle"))
    interpreted = gradients.gradients(args, "reference", case, folder / "interpreted")
    if isinstance(interpreted, str):
        return "", f"reference: {interpreted}"
    if seed % 10 == 0:
        right, said = exact().verdict(interpreted, gradients.tolerance("reference", case))
        if not right:
            return "", f"reference: {said}"
    for way in args.ways:
        got = computed(args, way, case, folder / way)
        if got is None:
            continue
        if isinstance(got, str):
            why = reason(got)
            return why, "" if why else f"{way}: {got}"
        if args.spoil:
            name = next(iter(got))
            got[name] = got[name] * 1.001 + 1e-3 * np.abs(got[name]).max(initial=1)
        if is_as_interpreted(case, interpreted, got, gradients.tolerance(way, case)):
            continue
        right, said = exact().verdict(without_nothing(case, exact(), got), gradients.tolerance(way, case))
        if not right and is_conditioned(args, case, interpreted, exact(), got, folder):
            return CONDITIONED, ""
        if not right:
            return "", f"{way}: {said}"
    return "", ""


def run(args, seed):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        try:
            refusal, wrong = judge(args, seed, folder)
        except Failed as error:
            refusal, wrong = reason(str(error)), "" if reason(str(error)) else str(error)
        if wrong:
            print(f"FAIL: seed {seed}\n  {wrong}\n  " + "\n  ".join(next(folder.glob("*.yaml")).read_text(encoding="utf-8").splitlines()), flush=True)
        return refusal, wrong


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attnc", default="attnc")
    parser.add_argument("--oracle", required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--spoil", action="store_true", help="makes each first gradient wrong by a thousandth of itself and of the cotangent")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=KINDS)
    parser.add_argument("--maps", type=lambda text: text.split(","), default=MAPS)
    parser.add_argument("--plain", action="store_true", help="nothing that modifies a mechanism")
    parser.add_argument("--tokens", type=int, default=96)
    parser.add_argument("--width", type=int, default=48)
    parser.add_argument("--rows", type=float, help="rows of queries and keys are up to so many times as long as drawn ones")
    parser.add_argument("--dtypes", type=lambda text: text.split(","), default=["f32"])
    parser.add_argument("--ways", type=lambda text: text.split(","), default=["run"])
    parser.add_argument("--target")
    parser.add_argument("--emulate", action="store_true")
    parser.add_argument("--threads", type=int, help="threads to run with, for which plans are made, too")
    parser.add_argument("--refusals", type=float, default=1, help="the share of the seeds that may be refused")
    return parser.parse_args()


def end(args, refusals, wrong):
    """Says how many specs were refused, by the kinds of reasons, and how many judged and wrong."""
    for why, count in refusals.most_common():
        print(f"SKIP: {count} specs: {why}")
    refused = sum(refusals.values())
    print(f"{args.count - refused} of {args.count} judged, {wrong} wrong")
    sys.exit(wrong > 0 or refused > args.refusals * args.count)


def main():
    args = parse()
    refusals, wrong = collections.Counter(), 0
    for seed in range(args.first, args.first + args.count):
        why, failure = run(args, seed)
        wrong += bool(failure)
        if why:
            refusals[kind(why)] += 1
    end(args, refusals, wrong)


if __name__ == "__main__":
    main()
