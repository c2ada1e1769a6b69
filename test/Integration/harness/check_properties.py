"""Properties of the interpreter and of compiled CPU code, on drawn shapes: identities of attention, and complaints of users.

An identity relates outputs of the same code on tensors, or by specs, that must give the same: no judge is needed, so none
can be wrong. Of compiled code two outputs may be as far apart as one may be from the truth.
"""

import argparse
import importlib
import pathlib
import sys
import tempfile
import time

import numpy as np

import properties
import reference
from properties.draws import Draw
from properties.table import PROPERTIES
from properties.ways import Compiled, Interpreter, Sources


def failures_of(each, way, draw):
    """What is wrong, and how many pairs were compared."""
    wrong, compared = [], 0
    try:
        for what, got, expected, *how in each.pairs(way, draw):
            compared += 1
            message = difference(way, draw, got, expected, *how)
            wrong += [f"{what}: {message}"] if message else []
    except Exception as error:  # one property must not hide the others
        wrong.append(f"{type(error).__name__}: {error}")
    return wrong, compared


def difference(way, draw, got, expected, how=None):
    """`how`: True where the bits must be the same; what else the interpreter may differ by, where f32 is in between."""
    got, expected = np.asarray(got), np.asarray(expected)
    if got.shape != expected.shape:
        return f"expected shape {expected.shape}, but got {got.shape}"
    if got.dtype.kind in "bU":
        return "" if np.array_equal(got, expected) else f"expected {expected}, but got {got}"
    if how is True:
        return "" if got.tobytes() == expected.tobytes() else "expected the same bits"
    error = reference.relative_error(got, expected)
    bound = max(way.tolerance({"dtype": draw.dtype}), how or 0)
    return "" if error <= bound else f"relative error {error:.2e}, tolerance {bound:.0e}"


def families():
    """Each registers its identities when it is imported."""
    folder = pathlib.Path(properties.__file__).parent
    helpers = {"__init__", "ways", "draws", "table", "numbers"}
    return sorted({file.stem for file in folder.glob("*.py")} - helpers)


def parse():
    listed = lambda text: text.split(",")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", nargs="*", help="default: all")
    parser.add_argument("--first", type=int, default=0, help="seed")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--dtypes", type=listed, default=["f32"])
    parser.add_argument("--ways", type=listed, default=["interpreter", "compiled"])
    parser.add_argument("--isa", help="avx2, avx512, avx512_bf16 or amx; default: the best that is there")
    parser.add_argument("--filter", default="", help="only properties whose name contains this")
    parser.add_argument("--long", action="store_true", help="every entry of every table compiled")
    parser.add_argument("--times", action="store_true")
    return parser.parse_args()


def run_property(args, each, ways, make_draw):
    """(how many ran, how many of them failed)"""
    ran = failed = 0
    for way in ways:
        is_compiled = isinstance(way, Compiled)
        if each.compiled_only and not is_compiled or each.compiled_long and is_compiled and not args.long:
            continue
        started = time.process_time()
        thorough = args.long or not is_compiled
        wrong, compared = failures_of(each, way, make_draw(each.name, thorough))
        wrong += [] if compared else ["expected something to compare, but got nothing"]
        spent = f" {time.process_time() - started:.2f} s, {getattr(way, 'compiled', 0)} libraries" if args.times else ""
        print(f"{'FAIL' if wrong else 'pass'}: {each.name}: {way.name}: {compared} pairs{spent}", flush=True)
        for message in wrong:
            print(f"    {message}", flush=True)
        ran, failed = ran + 1, failed + bool(wrong)
    return np.array([ran, failed])


def run_seed(args, seed, dtype, folder):
    sources = Sources(folder)
    interpreter = Interpreter(sources)
    ways = [interpreter] if "interpreter" in args.ways and dtype == "f32" else []
    ways += [Compiled(sources, interpreter, args.isa)] if "compiled" in args.ways else []
    make_draw = lambda name, thorough: Draw(seed, name, dtype, interpreter.server, folder, thorough)
    print(f"seed {seed}, {dtype}:", flush=True)
    totals = np.zeros(2, int)
    for each in PROPERTIES:
        if args.filter in each.name:
            totals += run_property(args, each, ways, make_draw)
    for way in ways:
        way.close()
    return totals


def main():
    args = parse()
    for family in args.families or families():
        importlib.import_module(f"properties.{family}")
    totals = np.zeros(2, int)
    for seed in range(args.first, args.first + args.seeds):
        for dtype in args.dtypes:
            with tempfile.TemporaryDirectory() as folder:
                totals += run_seed(args, seed, dtype, pathlib.Path(folder))
    ran, failed = totals
    print(f"{failed} of {ran} failed")
    sys.exit(bool(failed > 0 or not ran))


if __name__ == "__main__":
    main()
