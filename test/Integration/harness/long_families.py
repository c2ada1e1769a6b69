"""Sums over long sequences, of every mechanism: 65,537 keys (for windows and chunks 65,790), one head of 64, f32, through a
compiled library, judged on chosen rows by the definitions of benchmarks/cpu_definitions.py in float64.

Where a mechanism allows it there are few queries, as only the sums over keys are long. Three kinds of inputs: normal ones;
values with a common offset, so that sums only grow; keys that are copies of a few tokens, so that weights tie.
"""

import argparse
import pathlib
import sys
import tempfile

import numpy as np
import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "benchmarks"))

# pylint: disable=wrong-import-position
import cpu_definitions
import cpu_rows
from attnc import attnc, compile_spec
from judges import Case
from library import opened
from reference import relative_error

WIDTH, ROWS, FEW_QUERIES, TOKENS_THAT_TIE = 64, 32, 299, 16
BLOCK = 255                     # of windows and of exact pairs: a divisor of no power of two
KEYS, LONGER = 2 ** 16 + 1, 2 ** 18 + 1
# What would make the judge slow, and what must divide the length.
SMALLER = {"features": 64, "rank": 64, "window": {"length": BLOCK}, "local_exact": BLOCK, "chunk": 15, "agents": BLOCK}
FEATURES = {"favor": {"features": 64}, "favor_relu": {"features": 64}, "cosformer": {"max_position": LONGER}}


def smaller(fields):
    """A mechanism with the sizes of this test."""
    if not isinstance(fields, dict):
        return fields
    return {name: SMALLER[name] if name in SMALLER else smaller(value) for name, value in fields.items()}


def causal_maps():
    """Kernel attention of every map, causal."""
    maps = ["elu1", "relu", "cosformer", "focused", "favor", "favor_relu"]
    return {f"{name}_causal": (cpu_rows.kernel(name, **FEATURES.get(name, {})), True) for name in maps}


NAIVE = {**cpu_rows.kernel("elu1"), "low_rank": {"rank": 64, "order": "after_map"}, "denominator": "none"}


def families():
    """(mechanism, causal) by name: those that benchmarks time, but for bounded windows, images and layers, and the rest."""
    timed = {name: (family.mechanism, family.causal) for name, family in cpu_rows.FAMILIES.items()
             if not (family.image or family.layer or name.startswith("window"))}
    return {name: (smaller(cpu_rows.filled(mechanism, LONGER)), causal)
            for name, (mechanism, causal) in (timed | causal_maps() | {"flurka_after_map": (NAIVE, False)}).items()}


def lengths(mechanism, causal, keys):
    """(queries, keys)."""
    if mechanism["kind"] in ("eva", "agent") or "local_exact" in mechanism:
        keys = (keys // BLOCK + 1) * BLOCK
    square = mechanism["kind"] in ("eva", "agent") or (causal and mechanism["kind"] in ("kernel", "polysketch"))
    return (keys if square else FEW_QUERIES), keys


def draws(rng, queries, keys):
    """(what, q, k, v) of each kind of inputs."""
    q, k, v = (rng.standard_normal((1, 1, count, WIDTH), np.float32) for count in (queries, keys, keys))
    yield "normal", q, k, v
    yield "offset", q, k, v + np.float32(3)
    yield "ties", q, k[:, :, rng.integers(TOKENS_THAT_TIE, size=keys)], v + np.float32(1)


def after_map(mechanism, q, k, v, e):
    """Naive FLuRKA, of maps without parameters: what is compressed are the features."""
    queries, keys = (cpu_definitions.features(mechanism["feature_map"], x, {}, None, False) for x in (q, k))
    return queries @ (np.swapaxes(e @ keys, 2, 3) @ (e @ v))


def expected(mechanism, causal, q, k, v, parameters, rows):
    """Causal attention of few queries has them at the end of the keys, where the definition wants them too."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    own = {name.replace(".", "_"): array if "index" in name else array.astype(np.float64)
           for name, array in parameters.items()}
    if mechanism.get("low_rank", {}).get("order") == "after_map":
        return after_map(mechanism, q[:, :, rows], k, v, own["e"])
    before = k.shape[2] - q.shape[2] if causal else 0
    q = np.concatenate([np.zeros((1, 1, before, WIDTH)), q], axis=2)
    return cpu_definitions.part(mechanism, causal, q, k, v, own, rows + before)


def parameters_of(case, keys):
    """As they are drawn, but for E: of so many tokens its slots would be longer than the tolerances' range of tokens."""
    return {name: array * np.float32((SMALLER["rank"] / keys) ** 0.5) if name == "e" else array
            for name, array in case.arrays().items()}


def check_family(program, name, keys, folder):
    """How many kinds of inputs are beyond the tolerance."""
    mechanism, causal = families()[name]
    queries, keys = lengths(mechanism, causal, keys)
    fields = {"attention": name, "dtype": "f32", "batch": 1, "queries": queries, "keys": keys, "heads": 1,
              "head_dim": WIDTH, "causal": causal, "mechanism": mechanism}
    case = Case(folder / "spec.yaml", fields, folder / "parameters")
    case.spec.write_text(yaml.safe_dump(fields, sort_keys=False), encoding="utf-8")
    attnc(program, "init", case.spec, "--out", case.files)
    compile_spec(program, case.spec, folder)
    rng, errors = np.random.default_rng(4), {}
    rows = np.sort(rng.choice(queries, ROWS, replace=False))
    rows[0], rows[-1] = 0, queries - 1
    parameters = parameters_of(case, keys)
    with opened(folder, name, "f32", parameters) as library:
        form = library.info().plans[0].form.decode()
        for what, *inputs in draws(rng, queries, keys):
            judge = expected(mechanism, causal, *inputs, parameters, rows)
            errors[what] = relative_error(library(*inputs)[:, :, rows], judge)
    wrong = sum(not error <= case.tolerance() for error in errors.values())
    print(f"{'FAIL' if wrong else 'pass'}: {name} ({form}), {queries} x {keys}: "
          f"{', '.join(f'{what} {error:.1e}' for what, error in errors.items())}", flush=True)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="of families; none: all")
    parser.add_argument("--keys", type=int, default=KEYS)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="a sample: every Nth family")
    parser.add_argument("--attnc", default="attnc")
    args = parser.parse_args()
    wrong, names = 0, (args.names or list(families()))[::args.every]
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            wrong += check_family(args.attnc, name, args.keys, pathlib.Path(folder))
    print(f"{len(names)} families, {wrong} wrong")
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
