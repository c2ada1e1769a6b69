"""Runs the kernels of specs in the emulator as they are: no finding, the interpreter's values, no bank conflict in a loop,
as many shuffles as the layouts of the tiles call for.

Each run may take ten seconds of the processor.
"""

import argparse
import pathlib
import resource
import subprocess
import sys
import tempfile

from attnc import Failed, specs_of
from run_case import SIZES, draw

SECONDS = 10


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def run(args, spec, dtype, folder):
    """(whether it is as it should be, what to say)."""
    try:
        case = draw(args, spec, dtype, pathlib.Path(folder))
    except Failed as error:
        return False, str(error)
    command = [args.plant, args.target, case.spec, case.files, "none"]  # of the faults none
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit, check=False)
    if done.returncode < 0:
        return False, f"stopped by signal {-done.returncode}, of {SECONDS} seconds of the processor"
    return done.returncode == 0, (done.stdout + done.stderr).removesuffix("0 faults\n").strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specs", nargs="+", type=pathlib.Path, help="files, or folders of them")
    parser.add_argument("--attnc", default="attnc")
    parser.add_argument("--plant", default="attune-plant")
    parser.add_argument("--target", default="sm_80")
    parser.add_argument("--dtypes", default="", help="storage types in place of the spec's own, with commas")
    parser.add_argument("--seed", type=int, default=7)
    for name in SIZES:
        parser.add_argument(f"--{name}", type=int, help="for '?'")
    args = parser.parse_args()
    specs = specs_of(args.specs)
    good = bool(specs)
    for spec in specs:
        for dtype in args.dtypes.split(","):
            with tempfile.TemporaryDirectory() as folder:
                right, said = run(args, spec, dtype, folder)
            print(f"{'pass' if right else 'FAIL'}: {spec.stem} {dtype}: {said}", flush=True)
            good &= right
    sys.exit(not good)


if __name__ == "__main__":
    main()
