"""Gradients of specs with states, without `state.*` and `grad_final_state.*`: those of compiled code beside those of the interpreter."""

import pathlib
import subprocess
import sys

import numpy as np

TOLERANCE = 5e-5


def check(spec, folder):
    run = lambda *command: subprocess.run(["attnc", *map(str, command)], check=True, capture_output=True, text=True, timeout=200)
    run("init", spec, "--out", folder / "in", "--inputs", "--backward", "--queries", 45)
    for file in [*(folder / "in").glob("state.*"), *(folder / "in").glob("grad_final_state.*")]:
        file.unlink()
    run("run", spec, "--in", folder / "in", "--out", folder / "run", "--backward")
    run("run", spec, "--in", folder / "in", "--out", folder / "reference", "--backward", "--reference")
    files = sorted((folder / "reference").glob("*.npy"))
    assert "grad_state.s.npy" in {file.name for file in files}, files
    for file in files:
        expected, given = np.load(file).astype(float), np.load(folder / "run" / file.name).astype(float)
        error, norm = np.linalg.norm(given - expected), np.linalg.norm(expected)
        if not error <= TOLERANCE * norm:
            sys.exit(f"{spec}: {file.name} is off by {error} of {norm}")


base, *specs = sys.argv[1:]
for name in specs:
    check(name, pathlib.Path(base) / pathlib.Path(name).stem)
print(len(specs), "specs are right without states")
