"""The judge of gradients accepts what is exact, rounded to f32, and rejects what a mistake in a backward pass would give."""

import argparse
import pathlib
import tempfile
import types

import numpy as np
import yaml

import gradients
import judges
import run_case
from judges import Case

HEAD = {"attention": "probe", "dtype": "f32", "batch": 1, "queries": 24, "heads": 4, "kv_heads": 2, "head_dim": 8, "gradients": "all"}
GUARDED = {**HEAD, "mechanism": {"kind": "kernel", "feature_map": {"kind": "elu1"}, "denominator": {"bias": 2.0}}}
BIASED = {**HEAD, "projection": {"model_dim": 12, "bias": True}, "qk_norm": {"epsilon": 0.5}, "mechanism": {"kind": "softmax"}}
LARGE = {**GUARDED, "dtype": "f16"}
PADDED = {**HEAD, "key_lengths": True, "mechanism": {"kind": "softmax"}}


def exact_of(args, fields, files, folder):
    folder.mkdir(parents=True, exist_ok=True)
    spec = folder / "spec.yaml"
    spec.write_text(yaml.safe_dump(fields), encoding="utf-8")
    return gradients.Exact(args.oracle, Case(spec, fields, files), folder / "oracle")


def drawn(args, fields, folder):
    """A case of these fields, and what is exact of it."""
    folder.mkdir()
    spec = folder / "drawn.yaml"
    spec.write_text(yaml.safe_dump(fields), encoding="utf-8")
    call = types.SimpleNamespace(attnc=args.attnc, seed=3, own=True, gradients=None, rows=None, **dict.fromkeys(run_case.SIZES))
    case = gradients.draw(call, spec, "", folder)
    return case, exact_of(args, fields, case.files, folder / "exact")


def changed(files, folder, name, change):
    """The files with one of them changed."""
    folder.mkdir()
    for file in files.glob("*.npy"):
        np.save(folder / file.name, change(np.load(file)) if file.stem == name else np.load(file))
    return folder


def first_of_groups(array):
    """Without what the second query head of each group gives."""
    array = array.copy()
    array[:, 1::2] = 0
    return array


def mistakes(args, folder):
    """(what was forgotten, the judge, gradients, whether they are right)."""
    case, exact = drawn(args, GUARDED, folder / "guarded")
    right = {name: array.astype(np.float32) for name, array in exact.exact.items()}
    yield "nothing", exact, right, True
    for name in right:
        yield f"the sign of {name}", exact, {**right, name: -right[name]}, False
    yield "one of them", exact, {name: array for name, array in right.items() if name != "k"}, False
    yield "a row of q", exact, {**right, "q": np.where(np.arange(24)[:, None] == 23, 0, right["q"])}, False
    yield "what the denominator gives back", exact, {**right, **exact.uncancelled}, False
    yield "NaN", exact, {**right, "v": np.where(np.arange(8) == 0, np.nan, right["v"])}, False
    alone = exact_of(args, GUARDED, changed(case.files, folder / "alone", "grad_o", first_of_groups), folder / "without_sum")
    yield "the sum over heads", exact, {**right, "k": alone.exact["k"]}, False
    bare = exact_of(args, {**GUARDED, "mechanism": {**GUARDED["mechanism"], "denominator": {"bias": 0}}}, case.files, folder / "bare")
    yield "the guard", exact, {**right, **bare.exact}, False
    case, exact = drawn(args, BIASED, folder / "biased")
    right = {name: array.astype(np.float32) for name, array in exact.exact.items()}
    # Of a bias of keys the exact gradient is not small here: a norm stands between. The uncancelled one is the unit.
    yield "nothing of a layer", exact, right, True
    bare = exact_of(args, {**BIASED, "qk_norm": {"epsilon": 0.4}}, case.files, folder / "other_epsilon")
    yield "the epsilon of a norm", exact, {**right, "wk": bare.exact["wk"]}, False
    # f16 holds no gradient beyond 65,504, and infinity stands for those, of the same sign.
    case, _ = drawn(args, LARGE, folder / "large")
    files = changed(case.files, folder / "larger", "v", lambda v: 3e3 * v)
    files = changed(files, folder / "largest", "grad_o", lambda grad_o: 1e3 * grad_o)
    exact = exact_of(args, LARGE, files, folder / "overflowing")
    held = {name: np.where(np.abs(array) < 65520, array, np.copysign(np.inf, array)).astype(np.float32) for name, array in exact.exact.items()}
    assert np.isinf(held["q"]).any() and np.isfinite(held["v"]).all()
    yield "nothing that f16 holds", exact, held, True
    yield "the sign of infinity", exact, {**held, "q": np.where(np.isinf(held["q"]), -held["q"], held["q"])}, False
    yield "infinity where there is a number", exact, {**held, "v": np.where(np.arange(8) == 0, np.inf, held["v"])}, False
    case, exact = drawn(args, PADDED, folder / "padded")
    right = {name: array.astype(np.float32) for name, array in exact.exact.items()}
    yield "nothing of padded keys", exact, right, True
    yield "that padded keys have none", exact, {**right, "k": np.where(right["k"] == 0, 1e-3, right["k"])}, False


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oracle", required=True)
    parser.add_argument("--attnc", default="attnc")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for forgotten, exact, got, right in mistakes(args, pathlib.Path(folder)):
            accepted, said = exact.verdict(got, judges.INTERPRETER_TOLERANCE if right else gradients.TOLERANCE["f32"])
            print(f"forgotten: {forgotten}: {'accepted' if accepted else 'rejected'}, {said}", flush=True)
            assert accepted == right, f"expected a verdict {right}, but got {accepted}"


if __name__ == "__main__":
    main()
