"""Who says what a spec's output is: the float64 reference, the oracle, or the interpreter of attn.

Each takes a Case, whose inputs and parameters are f32 (i32) arrays that the judge rounds to the spec's storage type first.
"""

import dataclasses
import pathlib
import subprocess

import numpy as np

import reference
from accuracy import MAIN, error_of, storage_error, true_states, unequal  # noqa: F401: for those who judge with them
from attnc import attnc
from storage import from_storage, is_always_f32, to_storage

# Relative Frobenius error against float64 on the rounded inputs.
TOLERANCE = {"f32": 2e-5, "f16": 4e-3, "bf16": 2e-2}
# Of powers this high it is twice that.
LARGE_DEGREE = 8
# The interpreter works in float64; its output is written in f32.
INTERPRETER_TOLERANCE = 1e-7


@dataclasses.dataclass
class Case:
    """A spec file, its fields, and its tensors: as files of a folder, and as arrays."""
    spec: pathlib.Path
    fields: dict
    files: pathlib.Path

    def arrays(self):
        return {file.stem: np.load(file) for file in sorted(self.files.glob("*.npy"))}

    def rounded(self):
        """The arrays as the spec's storage type holds them."""
        dtype = self.fields["dtype"]
        return {name: array if array.dtype == np.int32 or is_always_f32(name) else from_storage(to_storage(array, dtype), dtype)
                for name, array in self.arrays().items()}

    def mechanisms(self):
        return [part["mechanism"] for part in self.fields.get("parts", [self.fields])]

    def tolerance(self):
        large = any(mechanism.get("degree", 0) >= LARGE_DEGREE for mechanism in self.mechanisms())
        return TOLERANCE[self.fields["dtype"]] * (2 if large else 1)


def outputs(folder):
    """All by their names: `o` or `y`, and what else the spec asks for."""
    return {file.stem: np.load(file) for file in sorted(folder.glob("*.npy"))}


def main_output(results):
    """`o` or `y`, whichever it is."""
    return next(array for name, array in results.items() if name in MAIN)


def worst_error(got, expected):
    """Of outputs by their names; as a text what is wrong where they cannot be compared."""
    got, expected = true_states(got), true_states(expected)
    if got.keys() != expected.keys():
        return f"expected the outputs {', '.join(expected)}, but got {', '.join(got)}"
    for name, output in expected.items():
        if got[name].shape != output.shape:
            return f"expected {name} of shape {output.shape}, but got {got[name].shape}"
    return max(error_of(name, got[name], output) for name, output in expected.items())


def by_reference(case, rows=None):
    """Exact softmax and elu1 only."""
    arrays = case.rounded()
    return reference.attention(reference.specification(case.fields), *(arrays[name] for name in "qkv"),
                               arrays.get("key_lengths"), rows)


def by_oracle(oracle, case, folder):
    given, out = folder / "rounded", folder / "oracle"
    given.mkdir(exist_ok=True)
    for name, array in case.rounded().items():
        np.save(given / f"{name}.npy", array)
    subprocess.run(["/usr/bin/python3", oracle, "run", case.spec, "--in", given, "--out", out], check=True)
    return outputs(out)


def by_interpreter(program, case, folder):
    attnc(program, "run", case.spec, "--in", case.files, "--out", folder / "interpreter", "--reference")
    return outputs(folder / "interpreter")
