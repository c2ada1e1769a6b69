"""Runs the specs of a report of `attnc suggest` that have no drawn parameters, and exact softmax, and compares the errors.

check_suggest.py REPORT SPEC INPUTS FOLDER
"""

import json
import pathlib
import subprocess
import sys

import numpy as np

report, spec, inputs, folder = sys.argv[1:]
folder = pathlib.Path(folder)


def output(path, name):
    subprocess.run(["attnc", "run", path, "--in", inputs, "--out", folder / name], check=True)
    return np.load(folder / name / "o.npy").astype(np.float64)


def norm(array):
    return np.sqrt((array ** 2).sum())


exact, agreed = output(spec, "exact"), 0  # `spec` is exact softmax of the same tensors
for index, tried in enumerate(json.load(open(report, encoding="utf-8"))["tried"]):
    if tried["attention"] != "as specified" and any(word in tried["spec"] for word in ("features", "rank", "sketch", "focused", "decay")):
        continue  # parameters were drawn
    path = folder / f"{index}.yaml"
    path.write_text(tried["spec"], encoding="utf-8")
    got = output(path, str(index))
    error = norm(got - exact) / norm(exact)
    heads = max(norm((got - exact)[:, h]) / norm(exact[:, h]) for h in range(exact.shape[1]))
    if not np.allclose([error, heads], [tried["error"], tried["worst_head_error"]], rtol=1e-4):
        sys.exit(f"{tried['attention']}: expected {error} and {heads}, but got {tried['error']} and {tried['worst_head_error']}")
    agreed += 1
print(f"errors of {agreed} attentions agree")
