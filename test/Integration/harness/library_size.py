"""What an architecture adds to a compiled library, with its kernels as PTX and, where ptxas is found, as cubin, both packed:
the second of two, by the size of the files; with --each every one of several, by what is packed in one file: its cubin, and
an equal part of the PTX of all. Prints a table; exits 1 if one adds too much.
"""

import argparse
import lzma
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

from attnc import attnc, read_spec, specs_of

MOST_BYTES = 100_000
# How what is packed begins (lib/Target/PackImage.cpp): properties, window, no size. Behind it is a sum of four bytes.
PACKED, SUM_BYTES = re.compile(rb"\x5d.{4}\xff{8}\x00", re.DOTALL), 4


def stripped_size(args, spec, targets, folder):
    library = folder / f"lib{read_spec(spec)['attention']}.so"
    attnc(args.attnc, "compile", spec, "--target", targets, "-o", library)
    subprocess.run(["llvm-strip", str(library)], check=True)
    return library.stat().st_size


def unpacked(library):
    """(bytes in the library, what they were packed from) of each image."""
    data = library.read_bytes()
    for match in PACKED.finditer(data):
        stream = lzma.LZMADecompressor(lzma.FORMAT_ALONE)
        try:
            image = stream.decompress(data[match.start():])
        except lzma.LZMAError:
            continue
        if stream.eof:
            yield len(data) - match.start() - len(stream.unused_data) + SUM_BYTES, image


def additions(library, targets):
    """By target: bytes of its cubin, and of its part of the PTX, which is packed as one for all."""
    images = list(unpacked(library))
    cubins = [size for size, image in images if image.startswith(b"\x7fELF")]
    ptx = sum(size for size, image in images if not image.startswith(b"\x7fELF"))
    if len(cubins) not in (0, len(targets)) or ptx == 0:
        sys.exit(f"expected PTX, and a cubin for each of {', '.join(targets)} or none, in {library.name}, but got {ptx} bytes "
                 f"and {len(cubins)} cubins")
    return [cubin + ptx // len(targets) for cubin in cubins or [0] * len(targets)]


def print_each(args):
    """Specs of which an architecture adds too much."""
    targets, over = args.targets.split(","), []
    print(f"{'spec':<28} {'':<5}" + "".join(f"{target:>10}" for target in targets))
    with tempfile.TemporaryDirectory() as name:
        for spec in specs_of(args.specs):
            for dtype in args.dtypes or [read_spec(spec)["dtype"]]:
                path, library = pathlib.Path(name) / "spec.yaml", pathlib.Path(name) / "libspec.so"
                path.write_text(yaml.safe_dump(read_spec(spec) | {"dtype": dtype}, sort_keys=False), encoding="utf-8")
                attnc(args.attnc, "compile", path, "--target", args.targets, "-o", library)
                adds = additions(library, targets)
                print(f"{spec.stem:<28} {dtype:<5}" + "".join(f"{size / 1000:>7.0f} kB" for size in adds),
                      flush=True)
                over += [f"{spec.stem} ({dtype})"] if max(adds) > MOST_BYTES and spec.stem not in args.known else []
    return over


def print_second(args):
    """Specs of which the second of two architectures adds too much."""
    first, over = args.targets.split(",")[0], []
    print(f"{'spec':<28} {first:>9} {'both':>9} {'one more':>9}")
    with tempfile.TemporaryDirectory() as name:
        for spec in specs_of(args.specs):
            one, both = (stripped_size(args, spec, targets, pathlib.Path(name)) for targets in (first, args.targets))
            print(f"{spec.stem:<28} {one / 1000:>6.0f} kB {both / 1000:>6.0f} kB {(both - one) / 1000:>6.0f} kB", flush=True)
            over += [spec.stem] if both - one > MOST_BYTES and spec.stem not in args.known else []
    return over


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specs", nargs="+", type=pathlib.Path, help="specs, or folders of them")
    parser.add_argument("--attnc", default="attnc")
    parser.add_argument("--targets", default="sm_80,sm_86", help="two, or with --each any number")
    parser.add_argument("--each", action="store_true")
    parser.add_argument("--dtypes", type=lambda text: text.split(","), help="with --each, in place of the specs' own")
    parser.add_argument("--known", type=lambda text: text.split(","), default=[], help="specs that may add more")
    args = parser.parse_args()
    if not specs_of(args.specs):
        sys.exit("expected specs, but got folders without any")
    over = print_each(args) if args.each else print_second(args)
    if over:
        sys.exit(f"expected at most {MOST_BYTES // 1000} kB more for an architecture, but got more for {', '.join(over)}")


if __name__ == "__main__":
    main()
