"""Runs a spec with given decays (--decays, with commas: its heads, or its tokens and their features, take them in turn) beside the
interpreter, and prints the largest relative error of a head: each is judged by itself, since one that forgets is small beside one
that does not."""

import argparse
import pathlib
import subprocess
import tempfile

import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("spec")
parser.add_argument("--decays", required=True)
parser.add_argument("--sizes", default="")
parser.add_argument("--run", default="", help="further arguments of attnc run")
given = parser.parse_args()


def attnc(*arguments):
    subprocess.run(["attnc", *arguments], check=True)


with tempfile.TemporaryDirectory() as folder:
    files, ways = pathlib.Path(folder, "in"), {"kernels": given.run.split(), "exact": ["--reference"]}
    attnc("init", given.spec, "--inputs", "--out", files, *given.sizes.split())
    file = next(path for path in (files / "log_decay.npy", files / "g.npy") if path.exists())
    shape, numbers = np.load(file).shape, np.array([float(text) for text in given.decays.split(",")], np.float32)
    places = sum(np.indices(shape)[2:] if len(shape) > 1 else np.indices(shape))  # tokens and features, or heads
    np.save(file, numbers[places % len(numbers)])
    for way, arguments in ways.items():
        attnc("run", given.spec, "--in", files, "--out", f"{folder}/{way}", *arguments)
    got, exact = (np.load(pathlib.Path(folder, way, "o.npy")).astype(np.float64) for way in ways)
assert np.isfinite(got).all()
norm = [np.sqrt((array ** 2).sum(axis=(0, 2, 3))) for array in (got - exact, exact)]
print("largest error of a head", "within 2e-5" if (error := (norm[0] / norm[1]).max()) <= 2e-5 else f"{error:.1e}")
