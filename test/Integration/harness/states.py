"""Runs specs with `state` cut in two, and judges what the second run gives: its outputs behind those of the first, and the states
that it leaves, must be those of one run over all tokens, which a judge says. Exits 1 if one is outside its tolerance.

Every cut is run from the drawn initial state and from none (missing files, null pointers). The C interface writes final states
over initial ones.
"""

import argparse
import pathlib
import sys
import tempfile

import numpy as np

import judges
import run_case
from attnc import attnc, compile_spec
from judges import Case
from library import opened
from sample import sampled
from storage import from_storage

# What the interpreter's states lose in the f32 of files.
FILES = 1e-6
# The dimension of tokens.
MODEL = ("x", "y", "context")


def is_state(name):
    return "state." in name


def is_of_tokens(name):
    return name in ("q", "k", "v", "o") + MODEL or name.split(".")[-1] in ("g", "beta", "w")


def dimension(name):
    return 1 if name in MODEL else 2


class Cut:
    """Where tokens are cut: each of packed sequences at `place`, or at its end, or so many tokens before it (−1: the last one)."""

    def __init__(self, arrays, count, place):
        self.place, self.packed = place, "offsets" in arrays
        offsets = arrays.get("offsets", np.array([0, count]))
        middle = [max(first, min(first + place, end)) if place >= 0 else max(first, end + place) for first, end in zip(offsets, offsets[1:])]
        self.runs = [list(zip(offsets, middle)), list(zip(middle, offsets[1:]))]
        self.indices = [np.concatenate([np.arange(*ends) for ends in run]) for run in self.runs]

    def tokens(self, arrays, run):
        """The tensors of the tokens before the cut (run 0) or behind it (1); lengths are of what is left of them."""
        def of(name, array):
            if name == "key_lengths":
                return (np.clip(array, 0, self.place) if run == 0 else np.maximum(array - self.place, 0)).astype(np.int32)
            if name == "offsets":
                return np.cumsum([0] + [end - first for first, end in self.runs[run]]).astype(np.int32)
            return np.take(array, self.indices[run], dimension(name)) if is_of_tokens(name) else array
        return {name: of(name, array) for name, array in arrays.items()}

    def joined(self, first, second):
        def of(name, array):
            both = np.concatenate([first[name], array], axis=dimension(name))
            return np.take(both, np.argsort(np.concatenate(self.indices)), dimension(name))
        return {name: of(name, array) if is_of_tokens(name) else array for name, array in second.items()}


def saved(case, arrays, folder):
    """A case of these tensors."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.glob("*.npy"):
        file.unlink()
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    return Case(case.spec, case.fields, folder)


def going_on(results):
    return {name.replace("final_state.", "state."): array for name, array in results.items() if is_state(name)}


class Runner:
    """Runs tensors, one way."""

    def __init__(self, args, case, way, folder):
        self.args, self.case, self.way, self.folder = args, case, way, folder
        if way == "library":
            compile_spec(args.attnc, case.spec, folder / "library")

    def __call__(self, arrays):
        if self.way == "library":
            return self.in_place(arrays)
        case = saved(self.case, arrays, self.folder / "given")
        return run_case.WAYS[self.way](self.args, case, self.folder)

    def in_place(self, arrays):
        fields = self.case.fields
        with opened(self.folder / "library", fields["attention"], fields["dtype"], threads=2) as library:
            field = lambda name: name.replace(".", "_")
            given = {field(name): library.tensors[field(name)].stored(array.copy()) for name, array in arrays.items()
                     if field(name) in library.tensors}
            library.prepare({name: array for name, array in arrays.items() if field(name) in library.parameters})
            outputs = library.outputs(**given)
            for name in outputs:
                if name.replace("final_state_", "state_") in given and "state_" in name:
                    outputs[name] = given[name.replace("final_state_", "state_")]
            run, _ = library.runner(**given, **outputs)
            run()
            return {run_case.name_of(name): from_storage(array, library.tensors[name].dtype) for name, array in outputs.items()}


def spoiled(state, name):
    """The state with one tensor that is a little wrong."""
    if name not in state:
        return state
    array = state[name]
    return state | {name: array + 1 if array.dtype == np.int32 else (array * 1.01).astype(array.dtype)}


def verdict(case, way, got, expected):
    error = judges.worst_error(got, expected)
    tolerance = FILES if way == "reference" else case.tolerance()
    return not isinstance(error, str) and error <= tolerance, error if isinstance(error, str) else f"{error:.2e} of {tolerance:.0e}"


def cuts_of(args, arrays, count):
    """No cut is past an entry's length."""
    least = int(arrays["key_lengths"].min()) if "key_lengths" in arrays else count
    return [cut for cut in (count if cut == "all" else int(cut) for cut in args.cuts) if cut <= least]


def lengthen(folder, count):
    """Lengths that leave room for cuts."""
    path = folder / "key_lengths.npy"
    if path.exists():
        np.save(path, np.array([count - 7 * entry for entry in range(len(np.load(path)))], np.int32))


def run_spec(args, spec, dtype):
    with tempfile.TemporaryDirectory() as name:
        folder, passed = pathlib.Path(name), True
        case = run_case.draw(args, spec, dtype, folder, lambda files: lengthen(files, args.queries))
        drawn = case.arrays()
        starts = {"drawn": drawn, "none": {name: array for name, array in drawn.items() if not is_state(name)}}
        runners = {way: Runner(args, case, way, folder / way) for way in args.ways}
        for start, arrays in starts.items():
            if start == "drawn" and not case.fields["state"].get("initial"):
                continue
            count = max(array.shape[dimension(name)] for name, array in arrays.items() if is_of_tokens(name))
            expected = run_case.judge(args, saved(case, arrays, folder / start / "whole"), folder / start)
            for way, run in runners.items():
                whole = run(arrays)
                right, said = verdict(case, way, whole, expected)
                for place in cuts_of(args, arrays, count) if all(map(case.fields["state"].get, ("initial", "final"))) else []:
                    cut = Cut(arrays, count, place)
                    first = run(cut.tokens(arrays, 0))
                    state = spoiled(going_on(first), args.spoil)
                    rest = cut.tokens({name: array for name, array in arrays.items() if not is_state(name)}, 1)
                    good, more = verdict(case, way, cut.joined(first, run(rest | state)), expected)
                    right, said = right and good, f"{said}; cut {place}: {more}"
                passed &= right
                print(f"{'pass' if right else 'FAIL'}: {spec.stem} {case.fields['dtype']} {way} from {start}: {said}", flush=True)
        return passed


def main():
    parser = run_case.parser(__doc__)
    parser.add_argument("--cuts", type=lambda text: text.split(","), default=["0", "1", "32", "45", "all"],
                        help="tokens of the first run, of each packed sequence, with commas; 'all' is one, -1 all but the last")
    parser.add_argument("--spoil", help="a tensor of states that is made wrong between the runs, to see that it is noticed")
    parser.set_defaults(queries=70)
    args = parser.parse_args()
    results = [run_spec(args, spec, dtype) for spec in sampled(args.specs) for dtype in args.dtypes.split(",")]
    sys.exit(not results or not all(results))


if __name__ == "__main__":
    main()
