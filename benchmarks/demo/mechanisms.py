"""The specs of the demo, compiled and made ready for a length."""

import contextlib
import pathlib

import numpy as np
import yaml

from attnc import attnc, compile_spec, read_spec
from library import opened

SPECS = pathlib.Path(__file__).resolve().parent / "specs"


def grid_of(n):
    """Rows and columns of an image of n tokens, a power of two."""
    rows = 2 ** ((n.bit_length() - 1) // 2)
    return [rows, n // rows]


def with_grid(fields, n):
    """The fields with every grid replaced by one of n tokens."""
    if isinstance(fields, dict):
        return {key: grid_of(n) if key == "grid" else with_grid(value, n) for key, value in fields.items()}
    return [with_grid(value, n) for value in fields] if isinstance(fields, list) else fields


def arrays_of(folder):
    return {file.stem: np.load(file) for file in sorted(folder.glob("*.npy"))}


class Mechanism:
    """A spec that is compiled once; or, where it names the grid of an image, once a length."""

    def __init__(self, program, spec, folder):
        self.program, self.name, self.folder = program, spec.stem, pathlib.Path(folder) / spec.stem
        self.fields = read_spec(spec)
        first = spec.read_text(encoding="utf-8").splitlines()[0]
        self.title = first.lstrip("# ").split(":")[0]
        self.has_grid = "grid" in str(self.fields)
        self.ready = {}

    def files(self, n):
        """(spec, folder of the library) for a length."""
        key = n if self.has_grid else 0
        if key not in self.ready:
            folder = self.folder / str(key)
            folder.mkdir(parents=True, exist_ok=True)
            spec = folder / f"{self.name}.yaml"
            spec.write_text(yaml.safe_dump(with_grid(self.fields, n), sort_keys=False), encoding="utf-8")
            compile_spec(self.program, spec, folder)
            self.ready[key] = spec, folder
        return self.ready[key]

    def drawn(self, n, *more):
        """The folder of what attnc draws for a length: parameters, and inputs with --inputs."""
        spec, folder = self.files(n)
        drawn = folder / "-".join(["drawn", str(n), *(word.strip("-") for word in more)])
        attnc(self.program, "init", spec, "--out", drawn, "--batch", 1, "--queries", n, *more)
        return drawn

    @contextlib.contextmanager
    def library(self, n, drawn=None):
        """The library, prepared with the parameters of a folder for runs of n tokens."""
        _, folder = self.files(n)
        with opened(folder, self.name, self.fields["dtype"]) as library:
            if library.parameters:
                arrays = arrays_of(drawn or self.drawn(n))
                library.prepare({name: array for name, array in arrays.items() if name not in library.tensors})
            yield library
