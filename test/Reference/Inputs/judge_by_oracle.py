"""Judges the interpreter of the attn dialect by the oracle: relative Frobenius error at most 1e-11 in the ideal mode.

usage: judge_by_oracle.py SHARED_FOLDER

Over every example of the contract, with every storage type. Rows of keys that do not exist are NaN. Each output is also
computed for chosen rows alone, which must give the same.
"""

import pathlib
import sys
import tempfile

import numpy as np
import yaml

from server import Server, npy

BOUND = 1e-11


def poison(folder):
    """NaN in the rows of keys that do not exist."""
    lengths = np.load(npy(folder, "key_lengths"))
    for name in "kv":
        if npy(folder, name).exists():
            tensor = np.load(npy(folder, name))
            for entry, length in enumerate(lengths):
                tensor[entry, :, length:] = np.nan
            np.save(npy(folder, name), tensor)


def judge(oracle, server, fields, seed, folder):
    """What is wrong, and the error."""
    path = folder / "spec.yaml"
    path.write_text(yaml.safe_dump(fields, sort_keys=False), encoding="utf-8")
    spec = oracle.Spec(str(path))
    spec.resolve(2, 48, 61)
    oracle.init(spec, str(folder), seed, True)
    if spec.key_lengths:
        poison(folder)
    _, expected = oracle.run(str(path), str(folder))

    def run(rows=()):
        status, said = server.call("reference", path, folder, npy(folder, "got"), ",".join(map(str, rows)))
        return np.load(npy(folder, "got")) if status == 0 else said

    got, rows = run(), np.unique(np.random.default_rng(seed).integers(0, spec.n, 3))
    if isinstance(got, str):
        return got, np.inf
    if not np.array_equal(run(rows), got[..., rows, :]):
        return f"expected rows {rows} as among all rows, but got others", np.inf
    error = oracle.errors(got, expected)[0]
    return ("" if error <= BOUND else f"relative error {error:.2e}"), error


def main():
    shared = pathlib.Path(sys.argv[1])
    sys.path.insert(0, str(shared / "reference"))
    import oracle
    server = Server()
    worst, failed, count = 0.0, 0, 0
    for path in sorted((shared / "spec" / "examples").glob("*.yaml")):
        for dtype in ("f32", "f16", "bf16"):
            fields = yaml.safe_load(path.read_text(encoding="utf-8")) | {"dtype": dtype}
            with tempfile.TemporaryDirectory() as folder:
                wrong, error = judge(oracle, server, fields, count, pathlib.Path(folder))
            count, worst, failed = count + 1, max(worst, error), failed + bool(wrong)
            if wrong:
                print(f"FAIL: {path.stem} {dtype}: {wrong}")
    server.close()
    print(f"{count} runs, largest relative error {worst:.1e}, {failed} failed")
    sys.exit(failed > 0 or not count)


main()
