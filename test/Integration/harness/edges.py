"""Device code at the edges of what a call may bring, one spec of '?' sizes after another, in the emulator.

| | |
|---|---|
| least | the shortest sequence that the spec takes: one token, unless windows, chunks or agents must divide it |
| one key, one query | where the numbers of keys and queries are not the same |
| large | rows of q and k as long as the tolerances allow; the tolerance is doubled only for logits above 32 and degrees from 8 on |
| negative | every entry of k far below 0, about half of what the tolerances allow: features of elu + 1 are below the least f16 |
| not a number | in one row of the first batch entry: the second one keeps its bits |

The interpreter of attn judges. Exits 1 if something is wrong.
"""

import argparse
import pathlib
import shutil
import sys
import tempfile

import numpy as np
import yaml

import judges
import random_grammar
import random_range
import reference
from attnc import Failed, attnc, read_spec, specs_of
from dynamic import must_divide
from judges import Case
from run_case import poison

LARGEST = 1e4
ROWS = ("q", "k", "x", "context")  # what mechanisms see, or make it of


def spec_file(spec, dtype, folder):
    fields = read_spec(spec) | {"dtype": dtype}
    path = folder / f"{fields['attention']}.yaml"
    path.write_text(yaml.safe_dump(fields, sort_keys=False), encoding="utf-8")
    return path, fields


def lengths_of(case):
    """(what, n, N) of the cases that ask for a length; the others take the last one."""
    step, free = must_divide(case), case.fields.get("keys") == "?"
    alone = free and not case.fields.get("causal")
    middle = 2 * step * max(1, 35 // step)
    return [("least", step, step), *([("one key", middle, 1), ("one query", step, 70)] if alone else [])], middle


def draw(args, case, batch, n, N):
    keys = ["--keys", N] if case.fields.get("keys") == "?" else []
    shutil.rmtree(case.files, ignore_errors=True)
    attnc(args.attnc, "init", case.spec, "--out", case.files, "--inputs", "--seed", 5, "--batch", batch, "--queries", n, *keys)
    poison(case.files)


def save(case, **arrays):
    for name, array in arrays.items():
        np.save(case.files / f"{name}.npy", array)


def run(args, case, folder):
    flags = ["--pessimistic"] if args.pessimistic else []
    attnc(args.attnc, "run", case.spec, "--in", case.files, "--out", folder / "out", "--target", args.target, "--emulate",
          *flags)
    return judges.outputs(folder / "out")


# What a spec's mappings are without their optional keys.
DEFAULTS = {"projection": {"output": True, "bias": False, "cross": False}, "rope": {"base": 10000, "layout": "interleaved"},
            "qk_norm": {"epsilon": 1e-5}, "low_rank": {"tied": True, "per_head": False, "order": "before_map"}}


def with_defaults(fields):
    return {name: DEFAULTS.get(name, {}) | with_defaults(value) if isinstance(value, dict) else
            [with_defaults(item) if isinstance(item, dict) else item for item in value] if isinstance(value, list) else value
            for name, value in fields.items()}


def largest_logit(case):
    """Of the tensors as they are; 0 of mechanisms that have no logits."""
    arrays = {name: np.where(np.abs(array) <= LARGEST, array, 0) for name, array in case.rounded().items()}  # without poison
    fields = with_defaults(case.fields)
    sized = random_grammar.Case({"kv_heads": fields["heads"], "causal": False} | fields,
                                *(arrays["q"].shape[0::2] if "q" in arrays else arrays["x"].shape)[:2],
                                arrays["k"].shape[2] if "k" in arrays else arrays.get("context", arrays["x"]).shape[1])
    return random_range.largest_logit(sized, arrays, lambda name: arrays[name].astype(float))


def tolerance(case):
    """As SPEC.md §6 has it: twice the usual one for large logits, and (case.tolerance) for high degrees, not both."""
    usual = judges.TOLERANCE[case.fields["dtype"]]
    return max(case.tolerance(), usual * (2 if largest_logit(case) > random_range.LARGE_LOGIT else 1))


def wrong_values(args, case, folder):
    """What is wrong with the output on the tensors as they are, if anything."""
    got, expected = run(args, case, folder), judges.by_interpreter(args.attnc, case, folder)
    error, allowed = judges.worst_error(got, expected), tolerance(case)
    if isinstance(error, str):
        return error
    return "" if error <= allowed else f"relative error {error:.2e}, tolerance {allowed:.0e}"


def large_rows(args, case, folder, n):
    """Rows of q and k at the end of the tolerances' range; of a projection's input the norms are its own affair."""
    draw(args, case, 2, n, n)
    limit = random_range.draw_limit(case)
    for name in {"q", "k"} & case.arrays().keys():
        rows = case.arrays()[name]
        save(case, **{name: rows * (limit / np.linalg.norm(rows, axis=-1, keepdims=True))})
    poison(case.files)
    largest = max(np.abs(output).max() for name, output in judges.by_interpreter(args.attnc, case, folder).items() if name != "lse")
    if "v" in case.arrays() and largest > LARGEST:  # without a denominator the output may pass f16
        save(case, v=case.arrays()["v"] * np.float32(LARGEST / largest))
    return wrong_values(args, case, folder)


def negative_keys(args, case, folder, n):
    draw(args, case, 2, n, n)
    if "k" not in case.arrays():  # a projection makes them
        return ""
    entry = random_range.draw_limit(case) / 2 / np.sqrt(case.arrays()["k"].shape[-1])
    save(case, k=(case.arrays()["k"] / 50 - 1).astype(np.float32) * np.float32(entry))
    poison(case.files)
    return wrong_values(args, case, folder)


def not_a_number(args, case, folder, n):
    draw(args, case, 2, n, n)
    if (case.files / "key_lengths.npy").exists():
        save(case, key_lengths=np.full(2, n, np.int32))
        arrays = case.arrays()
        save(case, **{name: np.nan_to_num(arrays[name]) for name in {*ROWS, "v"} & arrays.keys()})
    clean = run(args, case, folder)
    for name in {*ROWS, "v"} & case.arrays().keys():
        array = case.arrays()[name]
        array[0].reshape(-1, array.shape[-1])[0] = np.nan
        save(case, **{name: array})
    got = run(args, case, folder)
    for name, output in got.items():
        if not np.isnan(output[0]).any():
            return f"expected a NaN in the first entry of {name}, but got none"
        if not np.array_equal(output[1], clean[name][1]):
            return f"expected the second entry's bits of {name}, but a NaN of the first one changed them"
    return ""


def outcomes(args, case, folder):
    """(the edge, what is wrong)."""
    lengths, middle = lengths_of(case)
    for what, n, N in lengths:
        draw(args, case, 1, n, N)
        yield what, wrong_values(args, case, folder)
    yield "large", large_rows(args, case, folder, middle)
    yield "negative", negative_keys(args, case, folder, middle)
    yield "not a number", not_a_number(args, case, folder, middle)


def run_spec(args, spec, dtype):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path, fields = spec_file(spec, dtype, folder)
        wrong = []
        try:
            wrong = [f"{what}: {said}" for what, said in outcomes(args, Case(path, fields, folder / "in"), folder) if said]
        except Failed as error:
            wrong = [str(error)]
    print(f"{'FAIL' if wrong else 'pass'}: {spec.stem} {dtype}" + "".join(f"\n  {line}" for line in wrong), flush=True)
    return not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("specs", nargs="+", type=pathlib.Path, help="files, or folders of them")
    parser.add_argument("--attnc", default="attnc")
    parser.add_argument("--target", default="sm_80")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="a sample: every Nth spec")
    parser.add_argument("--pessimistic", action="store_true", help="rounding errors at their worst")
    parser.add_argument("--dtypes", type=lambda text: text.split(","), default=["f32", "f16"], help="in turn, with commas")
    args = parser.parse_args()
    specs = specs_of(args.specs)[::args.every]
    results = [run_spec(args, spec, args.dtypes[i % len(args.dtypes)]) for i, spec in enumerate(specs)]
    sys.exit(not results or not all(results))


if __name__ == "__main__":
    main()
