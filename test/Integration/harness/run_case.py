"""Runs specs with drawn tensors and judges their outputs; exits 1 if one is outside its tolerance.

--ways says how each is run: `run` is `attnc run`, `library` the compiled .so through its C interface, `reference` the
interpreter. Rows of keys that do not exist are NaN.
"""

import argparse
import pathlib
import sys
import tempfile

import numpy as np
import yaml

import judges
import reference
from attnc import Failed, attnc, compile_spec, read_spec
from judges import Case
from library import LibraryError, opened
from sample import sampled
from storage import from_storage

# For '?'.
SIZES = {"batch": 2, "queries": 70, "keys": 90, "sequences": 4}


def variant(spec, dtype, folder, **more):
    """The spec with another storage type, and with more fields, as a file."""
    fields = read_spec(spec) | more
    fields["dtype"] = dtype or fields["dtype"]
    path = pathlib.Path(folder) / f"{fields['attention']}.yaml"
    path.write_text(yaml.safe_dump(fields, sort_keys=False), encoding="utf-8")
    return path, fields


def size_arguments(args, fields):
    """The '?' sizes, as attnc takes them."""
    return [text for name, size in SIZES.items() if fields.get(name) == "?"
            for text in (f"--{name}", str(getattr(args, name) or size))]


def poison(folder):
    """NaN in the rows of keys that do not exist."""
    if not (folder / "key_lengths.npy").exists():
        return
    lengths = np.load(folder / "key_lengths.npy")
    for path in [folder / f"{name}.npy" for name in ("k", "v", "context")]:
        if path.exists():
            tensor = np.load(path)
            for entry, length in enumerate(lengths):
                tensor[entry, ..., length:, :] = np.nan
            np.save(path, tensor)
    for path in folder.glob("*.npy"):
        if path.stem.split(".")[-1] in ("g", "beta", "w"):  # [batch, heads, tokens] or [.., entries]
            tensor = np.load(path)
            for entry, length in enumerate(lengths):
                tensor[entry, :, length:] = np.nan
            np.save(path, tensor)


def draw(args, spec, dtype, folder, change=lambda files: None):
    """`change` does something to the drawn files."""
    path, fields = variant(spec, dtype, folder)
    attnc(args.attnc, "init", path, "--out", folder / "in", "--inputs", "--seed", args.seed, *size_arguments(args, fields))
    change(folder / "in")
    poison(folder / "in")
    return Case(path, fields, folder / "in")


def judge(args, case, folder):
    if args.judge == "oracle":
        return judges.by_oracle(args.oracle, case, folder)
    if args.judge == "interpreter":
        return judges.by_interpreter(args.attnc, case, folder)
    return {"o": judges.by_reference(case)}


def run_in_memory(args, case, folder):
    flags = ["--target", args.target] if args.target else []
    flags += ["--emulate"] if args.emulate else []
    flags += ["--pessimistic"] if args.pessimistic else []
    flags += ["--gpu-products", args.gpu_products] if args.gpu_products else []
    attnc(args.attnc, "run", case.spec, "--in", case.files, "--out", folder / "run", *flags)
    return judges.outputs(folder / "run")


def run_interpreter(args, case, folder):
    return judges.by_interpreter(args.attnc, case, folder)


def name_of(field):
    """`part0_final_state_s` of the C struct is `part0.final_state.s`."""
    before, state, after = field.partition("final_state_")
    return f"{before[:-1]}{'.' if before else ''}final_state.{after}" if state else field


def run_library(args, case, folder):
    """The parameters go to prepare, the rest to run."""
    compile_spec(args.attnc, case.spec, folder / "library")
    arrays = case.arrays()
    with opened(folder / "library", case.fields["attention"], case.fields["dtype"], threads=1) as library:
        fields = {name.replace(".", "_"): name for name in arrays}
        inputs = {field: member.stored(arrays.pop(fields[field])) for field, member in library.tensors.items() if field in fields}
        library.prepare(arrays)
        outputs = library.outputs(**inputs)
        run, _ = library.runner(**inputs, **outputs)
        run()
        return {name_of(field): from_storage(array, library.tensors[field].dtype) for field, array in outputs.items()}


WAYS = {"run": run_in_memory, "library": run_library, "reference": run_interpreter}


def attempt(args, way, case, folder):
    """The outputs by their names, or as a text what went wrong."""
    try:
        return WAYS[way](args, case, folder)
    except (Failed, LibraryError) as error:
        return str(error)


def verdict(way, case, got, expected):
    """(whether it is right, what to say)."""
    if isinstance(got, str):
        return False, got
    error = judges.worst_error(got, expected)
    if isinstance(error, str):
        return False, error
    tolerance = judges.INTERPRETER_TOLERANCE if way == "reference" else case.tolerance()
    return error <= tolerance, f"relative error {error:.2e}, tolerance {tolerance:.0e}"


def run_spec(args, spec, dtype):
    """Whether all ways of one spec are as expected."""
    with tempfile.TemporaryDirectory() as name:
        folder, passed = pathlib.Path(name), True
        case = draw(args, spec, dtype, folder)
        expected = judge(args, case, folder)
        for way in args.ways:
            right, said = verdict(way, case, attempt(args, way, case, folder), expected)
            passed &= bool(right)
            print(f"{'pass' if right else 'FAIL'}: {spec.stem} {case.fields['dtype']} {way}: {said}", flush=True)
        return passed


def parser(description):
    parser = argparse.ArgumentParser(description=description)
    listed = lambda text: [word for word in text.split(",") if word]
    parser.add_argument("specs", nargs="+", type=pathlib.Path, help="files, or folders of them")
    parser.add_argument("--attnc", default="attnc")
    parser.add_argument("--ways", type=listed, default=["run"], help="run, library, reference, with commas")
    parser.add_argument("--dtypes", default="", help="storage types in place of the spec's own, with commas")
    parser.add_argument("--seed", type=int, default=7)
    for name in SIZES:
        parser.add_argument(f"--{name}", type=int, help="for '?'")
    parser.add_argument("--target")
    parser.add_argument("--emulate", action="store_true")
    parser.add_argument("--pessimistic", action="store_true", help="with --emulate: rounding errors at their worst")
    parser.add_argument("--gpu-products", help="as attnc takes it")
    parser.add_argument("--judge", choices=["reference", "oracle", "interpreter"], default="reference")
    parser.add_argument("--oracle", help="path of oracle.py")
    return parser


def parse():
    own = parser(__doc__)
    args = own.parse_args()
    if not args.ways:
        own.error("expected --ways of run, library and reference, but got none")
    return args


def main():
    args = parse()
    results = [run_spec(args, spec, dtype) for spec in sampled(args.specs) for dtype in args.dtypes.split(",")]
    sys.exit(not results or not all(results))


if __name__ == "__main__":
    main()
