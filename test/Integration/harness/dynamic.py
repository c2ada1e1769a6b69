"""One library of '?' sizes at many lengths: each spec is compiled once and run at every n, with keys of the same number.

A length that the spec's windows, chunks or agents do not divide must be refused by the library. The interpreter of attn
judges all rows, or --rows chosen ones where n is larger than 1000.
"""

import argparse
import math
import pathlib
import resource
import sys
import tempfile

import numpy as np

import reference
from attnc import Failed, attnc, compile_spec, read_spec
from judges import Case
from library import LibraryError, opened
from run_case import poison
from server import Server, npy
from storage import from_storage

ALL_ROWS = 1000
MOST_RESIDENT = 2 ** 30


def must_divide(case):
    """What divides every length that the spec takes. Chunks and windows of compressed keys are of slots, whose number divides
    into n queries."""
    divisor = 1
    for mechanism in case.mechanisms():
        blocks = [mechanism.get("window", {}).get("length"), mechanism.get("chunk"), mechanism.get("local_exact")]
        blocks = [block for block in blocks if block]
        if "low_rank" in mechanism:
            blocks = [mechanism["low_rank"]["rank"] // block for block in blocks]
        divisor = math.lcm(divisor, mechanism.get("agents", 1), *blocks)
    return divisor


def judge(server, case, folder, rows):
    """The interpreter of attn on these rows; it streams over the keys."""
    status, said = server.call("reference", case.spec, case.files, npy(folder, "judge"), ",".join(map(str, rows)))
    if status != 0:
        sys.exit(f"{case.spec}: the interpreter ended with {status}: {said}")
    return np.load(npy(folder, "judge"))


def draw(args, case, n):
    sizes = ["--batch", args.batch, "--queries", n] + (["--keys", n] if case.fields.get("keys") == "?" else [])
    attnc(args.attnc, "init", case.spec, "--out", case.files, "--inputs", "--seed", n, *sizes)
    poison(case.files)


def rows_of(args, n):
    if n <= ALL_ROWS:
        return np.arange(n)
    rows = np.sort(np.random.default_rng(4).choice(n, args.rows, replace=False))
    rows[0], rows[-1] = 0, n - 1
    return rows


def run_length(args, server, library, case, n):
    """The relative error at n."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        case = Case(case.spec, case.fields, folder / "in")
        draw(args, case, n)
        arrays = case.arrays()
        inputs = {name: member.stored(arrays.pop(name)) for name, member in library.tensors.items() if name in arrays}
        library.prepare(arrays)
        got = from_storage(library(**inputs), case.fields["dtype"])
        rows = rows_of(args, n)
        return reference.relative_error(got[..., rows, :], judge(server, case, folder, rows))


def zeros(struct, n):
    sizes = {"batch": 1, "n": n, "N": n}
    return {name: np.zeros([int(size) if size.isdigit() else sizes[size] for size in member.sizes], np.float32)
            for name, member in struct.items() if not member.written}


def is_refused(library, n):
    """Whether the library says that n cannot be."""
    try:
        library.prepare(zeros(library.parameters, n))
        library(**zeros(library.tensors, n))
    except LibraryError as error:
        return "(status 1)" in str(error)
    return False


def run_spec(args, server, case, folder):
    """(n, whether it is right, what to say) of each length."""
    compile_spec(args.attnc, case.spec, folder)
    divisor = must_divide(case)
    with opened(folder, case.fields["attention"], case.fields["dtype"]) as library:
        for n in args.lengths:
            if n % divisor:
                yield n, is_refused(library, n), f"to be refused, for {divisor} does not divide it"
                continue
            error, tolerance = run_length(args, server, library, case, n), case.tolerance()
            yield n, error <= tolerance, f"relative error {error:.2e}, tolerance {tolerance:.0e}"


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specs", nargs="+", type=pathlib.Path, help="files, or folders of them")
    parser.add_argument("--attnc", default="attnc")
    parser.add_argument("--lengths", type=lambda text: list(map(int, text.split(","))), default=[1, 63, 64, 65, 1000])
    parser.add_argument("--rows", type=int, default=16, help="judged where n is large")
    parser.add_argument("--batch", type=int, default=1)
    return parser.parse_args()


def spec_outcomes(args, server, spec):
    """(the length, if any; whether it is right; what to say)."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        case = Case(spec, read_spec(spec), folder)
        try:
            yield from ((f" n = {n}", right, said) for n, right, said in run_spec(args, server, case, folder))
        except (Failed, LibraryError) as error:
            yield "", False, str(error)


def main():
    args, server, failed, done = parse(), Server(), 0, 0
    for spec in [spec for path in args.specs for spec in (sorted(path.glob("*.yaml")) if path.is_dir() else [path])]:
        for at, right, said in spec_outcomes(args, server, spec):
            failed, done = failed + (not right), done + 1
            print(f"{'pass' if right else 'FAIL'}: {spec.stem}{at}: {said}", flush=True)
    server.close()
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"{failed} of {done} failed, {resident / 2**20:.0f} MiB resident at most")
    sys.exit(failed > 0 or not done or resident > MOST_RESIDENT)


if __name__ == "__main__":
    main()
