"""What an architecture adds to a compiled library: the second of two, with its kernels as PTX and, where ptxas is found, as
cubin, both packed. Prints a table; exits 1 if one adds too much.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

from attnc import attnc, read_spec, specs_of

MOST_BYTES = 100_000


def stripped_size(args, spec, targets, folder):
    library = folder / f"lib{read_spec(spec)['attention']}.so"
    attnc(args.attnc, "compile", spec, "--target", targets, "-o", library)
    subprocess.run(["llvm-strip", str(library)], check=True)
    return library.stat().st_size


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specs", nargs="+", type=pathlib.Path, help="specs, or folders of them")
    parser.add_argument("--attnc", default="attnc")
    parser.add_argument("--targets", default="sm_80,sm_86", help="two")
    parser.add_argument("--known", type=lambda text: text.split(","), default=[], help="specs that may add more")
    args = parser.parse_args()
    first, over = args.targets.split(",")[0], []
    print(f"{'spec':<28} {first:>9} {'both':>9} {'one more':>9}")
    with tempfile.TemporaryDirectory() as name:
        for spec in specs_of(args.specs):
            one, both = (stripped_size(args, spec, targets, pathlib.Path(name)) for targets in (first, args.targets))
            print(f"{spec.stem:<28} {one / 1000:>6.0f} kB {both / 1000:>6.0f} kB {(both - one) / 1000:>6.0f} kB", flush=True)
            over += [spec.stem] if both - one > MOST_BYTES and spec.stem not in args.known else []
    if over:
        sys.exit(f"expected at most {MOST_BYTES // 1000} kB more for an architecture, but got more for {', '.join(over)}")


main()
