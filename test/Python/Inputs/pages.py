"""Runs the programs on the pages that import the package, those of frameworks where the frameworks are."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from support import SOURCE

sys.path.insert(0, str(SOURCE / "utils"))
import check_pages  # noqa: E402


# README's example goes on with the same call of these.
GOES_ON = {
    "torch": "import torch\ngiven = map(torch.from_numpy, (q, k, v))\n"
             "assert torch.equal(attend(**dict(zip('qkv', given))), torch.from_numpy(o))\n",
    "jax": "import jax\ngiven = map(jax.numpy.asarray, (q, k, v))\n"
           "assert (jax.jit(lambda q, k, v: attend(q=q, k=k, v=v))(*given) == o).all()\n"}


def programs(page):
    """(line, code) of the programs of a page that import the package."""
    for line, code in check_pages.blocks(page, "python"):
        if re.search(r"^import attune", code, re.M):
            yield line, code
            if page.name == "README.md" and page.parent == SOURCE:
                yield from ((line, code + more) for more in GOES_ON.values())


def missing(code):
    """A framework that a program imports and that is not here."""
    used = re.findall(r"^\s*(?:import|from) (torch|jax|onnxruntime|onnx)\b", code, re.M)
    return next((name for name in used if importlib.util.find_spec(name) is None), None)


def fault_of(code):
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(SOURCE / "examples", pathlib.Path(folder) / "examples")
        run = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    return run.stderr.strip() if run.returncode else ""


def main():
    ran, faults = 0, []
    for page in check_pages.PAGES:
        for line, code in programs(page):
            if missing(code):
                print(f"{check_pages.name_of(page)}:{line}: left out, needs {missing(code)}")
                continue
            ran += 1
            fault = fault_of(code)
            if fault:
                faults.append(f"{check_pages.name_of(page)}:{line}: expected a program that runs, but got: {fault}")
    print(*faults, sep="\n", file=sys.stderr)
    print(f"{ran} programs on pages run")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
