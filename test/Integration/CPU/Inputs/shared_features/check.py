"""Gradients of a module, compiled and by the interpreter."""
import pathlib
import subprocess
import sys

import numpy

module, folder = sys.argv[1], pathlib.Path(sys.argv[2])
given = folder / "in"
given.mkdir(parents=True, exist_ok=True)
draws = numpy.random.default_rng(0)
for name, width in dict(q=16, k=16, v=24, w=24, grad_o=24, grad_p=24).items():
    numpy.save(given / f"{name}.npy", draws.standard_normal((1, 2, 200, width)).astype(numpy.float32))
for out, ways in {"compiled": [], "reference": ["--reference"]}.items():
    subprocess.run(["attnc", "run", module, "--in", given, "--out", folder / out, "--backward", *ways], check=True)
for name in "qkvw":
    compiled, true = (numpy.load(folder / out / f"grad_{name}.npy").astype(float) for out in ("compiled", "reference"))
    error = numpy.linalg.norm(compiled - true) / numpy.linalg.norm(true)
    print(f"{'pass' if error < 5e-5 else 'fail'}: grad_{name}")
