"""How much code the assembler is given: lines of PTX of each kernel, and of all kernels of a spec. That is what the time
from spec to cubin goes by, and unlike the time it is the same on every machine. Exits 1 if one is longer than allowed.
"""

import argparse
import pathlib
import re
import sys
import tempfile

import yaml

from attnc import attnc, read_spec, specs_of

ENTRY = re.compile(r"^\.visible \.entry (\w+)\(|^\.entry (\w+)\(", re.MULTILINE)


def kernel_lines(ptx):
    """{kernel: lines}"""
    entries = list(ENTRY.finditer(ptx))
    ends = [entry.start() for entry in entries[1:]] + [len(ptx)]
    return {entry.group(1) or entry.group(2): ptx[entry.start():end].count("\n") for entry, end in zip(entries, ends)}


def ptx_of(args, spec, dtype, target, folder):
    path, ptx = folder / "spec.yaml", folder / "spec.ptx"
    path.write_text(yaml.safe_dump(read_spec(spec) | {"dtype": dtype}, sort_keys=False), encoding="utf-8")
    attnc(args.attnc, "compile", path, "--target", target, "--emit", "ptx", "-o", ptx)
    return ptx.read_text(encoding="utf-8")


def check(args, spec, dtype, target, folder):
    """Prints a line; what is too long, in words."""
    lines = kernel_lines(ptx_of(args, spec, dtype, target, folder))
    name, longest = max(lines.items(), key=lambda kernel: kernel[1])
    total = sum(lines.values())
    print(f"{spec.stem:<28} {dtype:<5} {target:<8} {len(lines):>3} {total:>8} {longest:>8}  {name}", flush=True)
    over = [f"{name} of {longest} lines"] if longest > args.kernel else []
    return over + ([f"{spec.stem} {dtype} of {total} lines"] if total > args.spec else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specs", nargs="+", type=pathlib.Path, help="specs, or folders of them")
    parser.add_argument("--attnc", default="attnc")
    parser.add_argument("--targets", default="sm_80", help="with commas")
    parser.add_argument("--dtypes", default="f32", help="storage types, with commas; f32 is the longest")
    parser.add_argument("--kernel", type=int, required=True, help="lines that a kernel may have")
    parser.add_argument("--spec", type=int, required=True, help="lines that all kernels of a spec may have")
    args = parser.parse_args()
    over, specs = [], specs_of(args.specs)
    print(f"{'spec':<28} {'dtype':<5} {'target':<8} {'':>3} {'all':>8} {'longest':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for spec in specs:
            for dtype in args.dtypes.split(","):
                for target in args.targets.split(","):
                    over += check(args, spec, dtype, target, pathlib.Path(folder))
    if not specs:
        sys.exit("expected specs, but got folders without any")
    if over:
        sys.exit(f"expected kernels of at most {args.kernel} lines and specs of at most {args.spec}, but got {', '.join(over)}")


main()
