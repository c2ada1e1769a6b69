"""Calls the compiler driver; where it lies is the caller's matter."""

import pathlib
import subprocess

import yaml


class Failed(Exception):
    """attnc did not end with status 0; carries what it said."""


def attnc(program, *arguments):
    run = subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        said = "\n".join(run.stderr.splitlines()[:20])
        raise Failed(f"attnc {' '.join(map(str, arguments))} ended with {run.returncode}\n{said}")
    return run.stdout


def compile_spec(program, spec, folder, isa="native"):
    """Compiles a spec file into libNAME.so and NAME.h of `folder`, for this machine or, with `isa` None, for all; returns its fields, NAME among
    them."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    fields = read_spec(spec)
    attnc(program, "compile", spec, *(["--isa", isa] if isa else []), "-o", folder / f"lib{fields['attention']}.so")
    return fields


def specs_of(paths):
    """The files; all specs of a folder."""
    return [spec for path in paths for spec in (sorted(path.glob("*.yaml")) if path.is_dir() else [path])]


def read_spec(spec):
    return yaml.safe_load(pathlib.Path(spec).read_text(encoding="utf-8"))
