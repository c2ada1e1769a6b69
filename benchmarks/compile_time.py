"""From spec to library and to cubin: seconds of `attnc compile` (median of several), and the size of the stripped library.

A spec that has no device code yet is shown as refused.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(SOURCE / "utils" / "python"))

from attnc import Failed, attnc, read_spec  # noqa: E402
STRIP = "/usr/lib/llvm-22/bin/llvm-strip"


def compile_seconds(program, arguments, times=5):
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        attnc(program, "compile", *arguments)
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def cubin_seconds(program, spec, target, folder):
    """None if the target does not support the spec yet."""
    try:
        return compile_seconds(program, [spec, "--target", target, "--emit", "cubin", "-o", folder / "out.cubin"])
    except Failed as failure:
        if "not supported yet" not in str(failure):
            raise
        return None


def measure(program, spec, target, folder):
    """Seconds to a library, bytes of the stripped library, seconds to a cubin."""
    fields = read_spec(spec)
    library = folder / f"lib{fields['attention']}.so"
    seconds = compile_seconds(program, [spec, "-o", library])
    subprocess.run([STRIP, "-o", folder / "stripped.so", library], check=True)
    size = (folder / "stripped.so").stat().st_size
    return seconds, size, cubin_seconds(program, spec, target, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specs", nargs="*", type=pathlib.Path, default=sorted((SOURCE / "examples").glob("*.yaml")))
    parser.add_argument("--attnc", default=SOURCE / "build" / "bin" / "attnc")
    parser.add_argument("--target", default="sm_80", help="of the cubins")
    args = parser.parse_args()
    print(f"{'spec':<24} {'library':>9} {'stripped':>10} {'cubin':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for spec in args.specs:
            seconds, size, cubin = measure(args.attnc, spec, args.target, pathlib.Path(folder))
            device = "refused" if cubin is None else f"{cubin:.2f} s"
            print(f"{spec.stem:<24} {seconds:>7.2f} s {size / 1000:>7.0f} kB {device:>9}", flush=True)


main()
