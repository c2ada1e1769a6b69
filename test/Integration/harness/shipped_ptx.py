"""The PTX that a compiled library gives to the driver, byte by byte, against `attnc compile --emit ptx`, which prints the text
that `attnc run --emulate` executes. A stand-in for the driver receives it, so that the library's own runtime has chosen and
unpacked it. Each spec is compiled into one library for all targets.

Two differences are made on purpose, and held to what they may be. Where the texts of two targets differ in the lines alone that
name PTX's version and the architecture, the library has that of the older. And with --assembled ptxas has turned launch bounds
where kernels spilled, which are lines of their own; else ptxas is kept from it.

With --plant one byte of the text in the library is another, packed anew with the sum that then belongs to it: it must be found.
"""

import argparse
import ctypes
import lzma
import os
import pathlib
import re
import struct
import sys
import tempfile
import zlib

import yaml

from attnc import attnc, read_spec, specs_of
from library import opened
from library_size import PACKED, SUM_BYTES
from memory import Host

TAKEN = ctypes.CFUNCTYPE(None, ctypes.c_char_p)
HEAD = re.compile(rb"^\.(version|target) .*\n", re.MULTILINE)
BOUND = b".minnctapersm 1\n"


class OnStandIn(Host):
    """For a library that asks for a GPU and is not run."""
    device_type = 2


def capability(target):
    """sm_90a: (9, 0)."""
    return divmod(int(re.fullmatch(r"sm_(\d+)a?", target).group(1)), 10)


def hide_ptxas(folder):
    """One too old to be asked for anything goes before all others."""
    old = folder / "bin" / "ptxas"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho release 1.0\n", encoding="utf-8")
    old.chmod(0o755)
    os.environ["CUDA_HOME"] = str(folder)


#===------------------------------------------------------------------------------------------------------------------===#
# What the driver is given
#===------------------------------------------------------------------------------------------------------------------===#


def handed(driver, folder, fields, target):
    """The text that a GPU of the target gets."""
    texts = []
    taken = TAKEN(texts.append)
    driver.standInTakePtx(*capability(target), taken)
    with opened(folder, fields["attention"], fields["dtype"], memory=OnStandIn()) as library:
        chosen = library.info().isa.decode()
    driver.standInTakePtx(*capability(target), TAKEN())
    if chosen != target or len(texts) != 1:
        sys.exit(f"expected the code for {target}, once, but got that for {chosen}, {len(texts)} times")
    return texts[0]


def packing(data, start):
    """How what begins there was packed, for lzma.compress: but for the window's size, as liblzma does it by itself."""
    window, = struct.unpack_from("<I", data, start + 1)
    return {"format": lzma.FORMAT_ALONE,
            "filters": [{"id": lzma.FILTER_LZMA1, "preset": lzma.PRESET_DEFAULT, "dict_size": window}]}


def packed_text(data):
    """(where the stream begins, where it ends, the PTX that it was packed from)."""
    for match in PACKED.finditer(data):
        stream = lzma.LZMADecompressor(lzma.FORMAT_ALONE)
        text = stream.decompress(data[match.start():])
        if stream.eof and HEAD.search(text):
            return match.start(), len(data) - len(stream.unused_data), text
    sys.exit("expected packed PTX in the library, but got none")


def plant(path):
    """Changes a digit of the text in a library to another, so that it packs into as many bytes; returns where in the text."""
    data = path.read_bytes()
    start, end, text = packed_text(data)
    pack = packing(data, start)
    if lzma.compress(text, **pack) != data[start:end]:
        sys.exit("expected PTX that packs as the compiler has packed it, but got other bytes")
    for found in re.compile(rb"\d").finditer(text, len(text) // 2):
        changed = bytearray(text)
        changed[found.start()] ^= 1  # another digit
        packed = lzma.compress(changed, **pack)
        if len(packed) == end - start:
            path.write_bytes(data[:start] + packed + struct.pack("<I", zlib.adler32(changed)) + data[end + SUM_BYTES:])
            return found.start()
    sys.exit("expected a digit that can be another in as many packed bytes, but got none")


#===------------------------------------------------------------------------------------------------------------------===#
# What it should be
#===------------------------------------------------------------------------------------------------------------------===#


def difference(got, expected):
    """The first lines that differ."""
    ours, theirs = got.split(b"\n"), expected.split(b"\n")
    row = next((row for row, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
    said = [lines[row].decode() if row < len(lines) else "nothing" for lines in (theirs, ours)]
    return f"line {row + 1}: expected {said[0]!r}, but got {said[1]!r}"


def judge(args, got, emitted, target):
    """(whether the text is right, what to say)."""
    same = (lambda a, b: a.replace(BOUND, b"") == b.replace(BOUND, b"")) if args.assembled else (lambda a, b: a == b)
    own = emitted[target]
    if same(got, own):
        return True, f"{len(got)} bytes" + ("" if got == own else " but for launch bounds")
    for other, text in emitted.items():
        if same(got, text) and capability(other) < capability(target) and same(HEAD.sub(b"", text, 2), HEAD.sub(b"", own, 2)):
            return True, f"{len(got)} bytes, as for {other}"
    return False, difference(got, own)


def check_spec(args, driver, spec, dtype, folder):
    fields = read_spec(spec)
    fields["dtype"] = dtype or fields["dtype"]
    path = folder / "spec.yaml"
    path.write_text(yaml.safe_dump(fields, sort_keys=False), encoding="utf-8")
    library = folder / f"lib{fields['attention']}.so"
    products = ["--gpu-products", args.gpu_products] if args.gpu_products else []
    attnc("attnc", "compile", path, "--target", ",".join(args.targets), *products, "-o", library)
    if args.plant:
        print(f"changed: byte {plant(library)} of the text in {library.name}", flush=True)
    emitted, all_right = {}, True
    for target in args.targets:
        attnc("attnc", "compile", path, "--target", target, *products, "--emit", "ptx", "-o", folder / "text.ptx")
        emitted[target] = (folder / "text.ptx").read_bytes()
    for target in args.targets:
        right, said = judge(args, handed(driver, folder, fields, target), emitted, target)
        print(f"{'pass' if right else 'FAIL'}: {spec.stem} {fields['dtype']} {target}: {said}", flush=True)
        all_right &= right
    return all_right


def main():
    listed = lambda text: text.split(",")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specs", nargs="+", type=pathlib.Path, help="files, or folders of them")
    parser.add_argument("--driver", required=True, help="the stand-in, a libcuda.so.1")
    parser.add_argument("--targets", type=listed, default=["sm_80", "sm_90a"])
    parser.add_argument("--dtypes", type=listed, default=[""], help="storage types in place of the spec's own")
    parser.add_argument("--gpu-products", help="as attnc takes it")
    parser.add_argument("--assembled", action="store_true", help="with ptxas, which may turn launch bounds")
    parser.add_argument("--plant", action="store_true", help="changes a byte in the library first")
    args = parser.parse_args()
    driver = ctypes.CDLL(args.driver)  # by its name of record the runtime finds it
    results = []
    with tempfile.TemporaryDirectory() as toolkit:
        if not args.assembled:
            hide_ptxas(pathlib.Path(toolkit))
        for spec in specs_of(args.specs):
            for dtype in args.dtypes:
                with tempfile.TemporaryDirectory() as folder:
                    results.append(check_spec(args, driver, spec, dtype, pathlib.Path(folder)))
    sys.exit(not results or not all(results))


if __name__ == "__main__":
    main()
