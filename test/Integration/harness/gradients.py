"""Runs specs backward with drawn tensors and judges every gradient by the oracle; exits 1 if one is outside its tolerance.

Each spec gets `gradients: all`, unless --own, or those that --gradients names. --ways says how each is run: `reference` by the
interpreter, `run` by `attnc run --backward`, `saved` by that with what a forward run has left, which has to count: with other numbers
in its place the gradients have to be others. Rows of keys that do not exist are NaN. A spec that this version does not support yet is
skipped, which is said; --at-least says how many there must be that are not.
"""

import dataclasses
import functools
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np

import judges
import run_case
from attnc import Failed, attnc
from judges import Case
from sample import at_least, sampled

HERE = pathlib.Path(__file__).resolve().parent
# Of compiled code, as the contract says. The interpreter works in float64; its gradients are written in f32.
TOLERANCE = {"f32": 5e-5, "f16": 1e-2, "bf16": 4e-2}
# Whose gradients are in the spec's dtype, which may not hold them; others are f32.
STORED = {"q", "k", "v", "x", "context"}


def draw(args, spec, dtype, folder):
    """A case whose files have the gradients of its outputs too."""
    named = args.gradients.split(",") if args.gradients else "all"
    more = {} if args.own else {"gradients": named}
    path, fields = run_case.variant(spec, dtype, folder, **more)
    attnc(args.attnc, "init", path, "--out", folder / "in", "--inputs", "--backward", "--seed", args.seed,
          *run_case.size_arguments(args, fields))
    run_case.poison(folder / "in")
    if args.rows:
        lengthen(folder / "in", args.rows, fields)
    return Case(path, fields, folder / "in")


def longest_row(folder, tokens, weight, width):
    """The largest norm of a head's row of these tokens, [batch, n, model] times [model, heads · width]."""
    product = np.load(folder / f"{tokens}.npy").astype(np.float64) @ np.load(folder / f"{weight}.npy").astype(np.float64)
    rows = product.reshape(*product.shape[:2], -1, width)
    return np.nanmax(np.linalg.norm(rows, axis=-1), initial=0)


def lengthen(folder, factor, fields):
    """Rows of queries and keys, or tokens of layers, of very different norms: every other one `factor` times as long, the others between that and a
    fiftieth of it. Of layers rows are at most that many times the root of their width, beyond which the contract says nothing."""
    rng = np.random.default_rng(3)
    names = [name for name in ("q", "k") if (folder / f"{name}.npy").exists()] or ["x", "context"]
    for path in [folder / f"{name}.npy" for name in names if (folder / f"{name}.npy").exists()]:
        tensor = np.load(path)
        factors = factor * 0.02 ** rng.uniform(0, 1, tensor.shape[:-1])
        factors[..., ::2] = factor
        np.save(path, (tensor * factors[..., None]).astype(tensor.dtype))
    if names != ["x", "context"]:
        return
    most = factor * np.sqrt(fields["head_dim"])
    for tokens, weight in (("x", "wq"), ("context" if (folder / "context.npy").exists() else "x", "wk")):
        longest = longest_row(folder, tokens, weight, fields["head_dim"])
        if longest > most:
            tensor = np.load(folder / f"{tokens}.npy")
            np.save(folder / f"{tokens}.npy", (tensor * (most / longest)).astype(tensor.dtype))


class Exact:
    """What the gradients of a case are, and how large a unit of their errors is."""

    def __init__(self, oracle, case, folder):
        subprocess.run(["/usr/bin/python3", HERE / "oracle_gradients.py", pathlib.Path(oracle).parent, case.spec, "--in", case.files,
                        "--out", folder], check=True)
        self.dtype = case.fields["dtype"]
        self.exact, self.uncancelled = judges.outputs(folder / "exact"), judges.outputs(folder / "uncancelled")
        given = judges.outputs(case.files)
        self.cotangent = next(np.linalg.norm(given[name]) for name in ("grad_o", "grad_y") if name in given)

    def unit(self, name):
        """The exact norm; where a gradient is the difference of parts that nearly cancel, a share of the norm of the parts."""
        return max(np.linalg.norm(self.exact[name]), np.linalg.norm(self.uncancelled[name]) / 5, 1e-3 * self.cotangent)

    def error(self, name, got):
        """In units, or as a text what makes it no gradient of that tensor."""
        exact = self.exact[name]
        if got.shape != exact.shape:
            return f"expected grad_{name} of shape {exact.shape}, but got {got.shape}"
        difference, _ = judges.unequal(got, exact, self.dtype if name in STORED else "f32")
        return np.linalg.norm(difference) / self.unit(name)

    def verdict(self, got, tolerance):
        """(whether all are right, what to say) of gradients by the names of their tensors."""
        if got.keys() != self.exact.keys():
            return False, f"expected gradients of {', '.join(self.exact)}, but got {', '.join(got)}"
        errors = {name: self.error(name, gradient) for name, gradient in got.items()}
        texts = [error for error in errors.values() if isinstance(error, str)]
        if texts:
            return False, texts[0]
        name = max(errors, key=lambda each: np.inf if np.isnan(errors[each]) else errors[each])
        return bool(errors[name] <= tolerance), f"{len(errors)} gradients, worst {errors[name]:.1e} of {name}, tolerance {tolerance:.0e}"


def tolerance(way, case):
    """Doubled where that of outputs is."""
    if way == "reference":
        return judges.INTERPRETER_TOLERANCE
    dtype = case.fields["dtype"]
    return TOLERANCE[dtype] * case.tolerance() / judges.TOLERANCE[dtype]


def flags_of(args, way):
    if way == "reference":
        return ["--reference"]
    flags = ["--target", args.target] if args.target else []
    flags += ["--threads", str(args.threads)] if args.threads else []
    return flags + (["--emulate"] if args.emulate else [])


def gradients(args, way, case, folder):
    """The gradients by the names of their tensors; as a text what went wrong."""
    try:
        attnc(args.attnc, "run", case.spec, "--in", case.files, "--out", folder, "--backward", *flags_of(args, way))
    except Failed as error:
        return str(error)
    results = judges.outputs(folder)
    wrong = [name for name in results if not name.startswith("grad_")]
    return f"expected gradients alone, but got {wrong[0]}" if wrong else {name[5:]: array for name, array in results.items()}


def files_saved(args, case, folder):
    """A folder with the case's files and what a forward run leaves, and the files that are that: sums of rows and the output they are of may be
    outputs of the spec."""
    shutil.copytree(case.files, folder)
    out = folder.parent / "forward"
    attnc(args.attnc, "run", case.spec, "--in", case.files, "--out", out, "--save", *flags_of(args, "run"))
    left = {path.stem: path for path in sorted(out.glob("saved.*.npy"))}
    if (out / "lse.npy").exists():
        left.setdefault("saved.lse", out / "lse.npy")
    if "saved.lse" in left and (out / "o.npy").exists():
        left.setdefault("saved.o", out / "o.npy")
    for name, path in left.items():
        shutil.copy(path, folder / f"{name}.npy")
    return [folder / f"{name}.npy" for name in left]


def gradients_given(args, case, folder, given):
    """The gradients of a run that finds these arrays, by their files; as a text what went wrong."""
    files = folder / "given"
    shutil.copytree(case.files, files)
    for path, array in given.items():
        np.save(files / path.name, array)
    return gradients(args, "saved", dataclasses.replace(case, files=files), folder / "gradients")


def gradients_saved(args, case, folder):
    """The gradients of a run that is given what the forward run has left, and of one that is given half of it; as a text what went wrong. It has to
    count: with other numbers of any one tensor the gradients are others, of the sums of rows all of them that are of queries, keys and values."""
    paths = files_saved(args, case, folder / "files")
    if not paths:
        return "nothing is saved (not supported yet)"
    left = {path: np.load(path) for path in paths}
    got = gradients_given(args, case, folder / "all", left)
    half = gradients_given(args, case, folder / "half", dict(list(left.items())[::2]))
    for path, array in left.items():
        if isinstance(got, str) or isinstance(half, str):
            return got if isinstance(got, str) else half
        spoiled = gradients_given(args, case, folder / path.stem, {**left, path: np.where(np.isfinite(array), array + 1, array)})
        if isinstance(spoiled, str):
            return spoiled
        same = [name for name in got if np.array_equal(got[name], spoiled[name]) and got[name].any()]
        if len(same) == len(got) or (path.stem == "saved.lse" and set(same) & {"q", "k", "v"}):
            return f"expected gradients that read {path.stem}, but that of {same[0]} does not"
    return got, half


def is_unsupported(got):
    return isinstance(got, str) and "not supported yet" in got


def run_way(args, way, case, exact, folder):
    """True, False, or nothing where the spec is not supported yet."""
    got = gradients_saved(args, case, folder / way) if way == "saved" else gradients(args, way, case, folder / way)
    named = f"{case.spec.stem} {case.fields['dtype']} {way}"
    if is_unsupported(got):
        print(f"SKIP: {named}: {next(line for line in got.splitlines() if 'not supported yet' in line)}", flush=True)
        return None
    verdicts = [exact().verdict(each, tolerance(way, case)) for each in (got if isinstance(got, tuple) else [got]) if not isinstance(each, str)]
    right, said = next((verdict for verdict in verdicts if not verdict[0]), verdicts[0]) if verdicts else (False, got)
    print(f"{'pass' if right else 'FAIL'}: {named}: {said}", flush=True)
    return right


def run_spec(args, spec, dtype):
    """For each way: True, False, or nothing."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        try:
            case = draw(args, spec, dtype, folder)
        except Failed as error:
            if not is_unsupported(str(error)):
                raise
            print(f"SKIP: {spec.stem}: {str(error).splitlines()[1]}", flush=True)
            return [None] * len(args.ways)
        exact = functools.cache(lambda: Exact(args.oracle, case, folder / "oracle"))
        return [run_way(args, way, case, exact, folder) for way in args.ways]


def main():
    parser = run_case.parser(__doc__)
    parser.add_argument("--own", action="store_true", help="the gradients that the specs name")
    parser.add_argument("--at-least", type=int, default=1, help="of all specs, how many must not be skipped")
    parser.add_argument("--threads", type=int, help="threads to run with, for which plans are made, too")
    parser.add_argument("--rows", type=float, help="rows of queries and keys are up to so many times as long as drawn ones")
    parser.add_argument("--gradients", help="names of tensors, in place of all")
    parser.set_defaults(queries=48, keys=60, ways=["reference"])
    args = parser.parse_args()
    results = [right for spec in sampled(args.specs) for dtype in args.dtypes.split(",") for right in run_spec(args, spec, dtype)]
    judged = [right for right in results if right is not None]
    print(f"{len(judged)} of {len(results)} judged")
    sys.exit(len(judged) < at_least(args.at_least, args.specs) or not all(judged))


if __name__ == "__main__":
    main()
