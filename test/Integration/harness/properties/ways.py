"""The two ways in which a property must hold: the interpreter of attn in float64, and compiled CPU code.

Both take a program (the fields of a spec, or the text of a .mlir file) and its tensors by name, and give its outputs by
name. A library is compiled once for all the properties that use it.
"""

import hashlib
import pathlib
import subprocess

import numpy as np
import yaml

from attnc import attnc
from judges import TOLERANCE
from library import Library
from server import Server, npy
from storage import DTYPES, from_storage, to_storage


class Plain(yaml.SafeDumper):
    """Without anchors, which a spec may not have, for what stands twice."""

    def ignore_aliases(self, data):
        return True


def to_yaml(fields):
    return yaml.dump(fields, Dumper=Plain, sort_keys=False)


class Sources:
    """Programs as files of a folder, each in a folder of its own."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def path(self, program):
        is_text = isinstance(program, str)
        text = program if is_text else to_yaml(program)
        folder = self.folder / hashlib.sha256(text.encode()).hexdigest()[:16]
        path = folder / ("program.mlir" if is_text else "spec.yaml")
        if not path.exists():
            folder.mkdir(parents=True)
            path.write_text(text, encoding="utf-8")
        return path


def name_of(program):
    """That of the library: of the field `attention`, or of the function."""
    return program.split("@")[1].split("(")[0] if isinstance(program, str) else program["attention"]


def save(folder, arrays):
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.npy"):
        old.unlink()
    for name, array in arrays.items():
        np.save(npy(folder, name), array if array.dtype.kind == "i" else array.astype(np.float32))


class Interpreter:
    """attune-serve, attune-eval for a .mlir file."""
    name = "interpreter"

    def __init__(self, sources):
        self.sources, self.server = sources, Server()

    def tolerance(self, _):
        return 1e-12

    def __call__(self, program, arrays, rows=None):
        """`rows`: of these queries only."""
        path = self.sources.path(program)
        given, result = path.parent / "in", npy(path.parent, "result")
        save(given, arrays)
        if isinstance(program, str):
            return self.of_functions(path, given, arrays, program)
        chosen = [] if rows is None else [",".join(map(str, rows))]
        status, said = self.server.call("reference", path, given, result, *chosen)
        if status != 0:
            raise AssertionError(f"the interpreter ended with {status}: {said}")
        return np.load(result)

    def of_functions(self, path, given, arrays, text):
        """All results by name; arguments and results in the order of the function."""
        names = [piece.split('"')[1] for piece in text.split("attn.name =")[1:]]
        inputs, outputs = [n for n in names if n in arrays], [n for n in names if n not in arrays]
        files = [npy(path.parent, name) for name in outputs]
        command = ["attune-eval", path, *(npy(given, name) for name in inputs)]
        subprocess.run(command + [word for file in files for word in ("-o", file)], check=True)
        return {name: np.load(file) for name, file in zip(outputs, files)}

    def close(self):
        self.server.close()


class Compiled:
    """Libraries through their C interface, on one thread; the interpreter is at hand as a judge."""
    name = "compiled code"

    def __init__(self, sources, judge, isa=None):
        self.sources, self.judge, self.isa, self.open, self.compiled = sources, judge, isa, {}, 0

    @staticmethod
    def widened(array, dtype):
        return from_storage(array, dtype).astype(np.float64)

    def rounded(self, array, dtype):
        return array if array.dtype.kind == "i" else from_storage(to_storage(array, dtype), dtype)

    def tolerance(self, program):
        return TOLERANCE["f32" if isinstance(program, str) else program["dtype"]]

    def library(self, program, threads=1):
        path = self.sources.path(program)
        key = path, threads
        if key not in self.open:
            name = name_of(program)
            if not (path.parent / f"{name}.h").exists():
                self.compiled += 1
                attnc("attnc", "compile", path, "--isa", self.isa or "native", "-o", path.parent / f"lib{name}.so")
            dtype = "f32" if isinstance(program, str) else program["dtype"]
            self.open[key] = Library(path.parent, name, dtype, threads=threads, isa=self.isa)
        return self.open[key]

    def __call__(self, program, arrays):
        library = self.library(program)
        outputs = call(library, arrays)
        return outputs if isinstance(program, str) else next(iter(outputs.values()))

    def close(self):
        for library in self.open.values():
            library.close()


def call(library, arrays):
    """Every output by name, as float64, after preparing the parameters."""
    given = {name.replace(".", "_"): array for name, array in arrays.items()}
    if library.parameters:
        library.prepare({name: array for name, array in given.items() if name not in library.tensors})
    inputs = {name: library.tensors[name].stored(array) for name, array in given.items() if name in library.tensors}
    sizes = {size: actual for name, array in inputs.items() for size, actual in zip(library.tensors[name].sizes, array.shape)}
    results = {}
    for name, member in library.tensors.items():
        if member.written:
            shape = [int(size) if size.isdigit() else sizes[size] for size in member.sizes]
            results[name] = np.full(shape, -1, DTYPES[member.dtype])
    run, _ = library.runner(**inputs, **results)
    run()
    return {name: Compiled.widened(array, library.tensors[name].dtype) for name, array in results.items()}

