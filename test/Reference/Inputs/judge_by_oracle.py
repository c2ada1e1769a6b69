"""Judges the interpreter of the attn dialect by the oracle: relative Frobenius error at most 1e-11 in the ideal mode.

usage: judge_by_oracle.py SHARED_FOLDER

Over the examples of the contract that the dialect has ops for, and over variants of every option. Rows of keys that do
not exist are NaN. Each output is also computed for chosen rows alone, which must give the same.
"""

import itertools
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import yaml

BOUND = 1e-11
OTHER_FIELDS = {"rope", "qk_norm", "projection", "parts"}
OTHER_MECHANISM_FIELDS = {"window", "lepe", "low_rank"}


def supported(fields):
    mechanism = fields.get("mechanism", {})
    if OTHER_FIELDS & fields.keys() or OTHER_MECHANISM_FIELDS & mechanism.keys():
        return False
    return mechanism.get("kind") == "softmax" or mechanism.get("feature_map", {}).get("kind") == "elu1"


def variants():
    softmax, kernel = {"kind": "softmax"}, {"kind": "kernel", "feature_map": {"kind": "elu1"}}
    base = {"attention": "variant", "batch": 3, "heads": 4}
    sizes = [(1, 1), (5, 9), (9, 5), (13, 13)]
    dims = [{"head_dim": 1}, {"head_dim": 7, "value_dim": 3}, {"head_dim": 16, "kv_heads": 2},
            {"head_dim": 8, "kv_heads": 1}]
    mechanisms = [softmax, kernel, kernel | {"denominator": {"bias": 0.5, "floor": 0}},
                  kernel | {"denominator": {"bias": 0, "floor": 30}}]
    options = itertools.product(sizes, dims, mechanisms, (False, True), (False, True))
    for (n, keys), dim, mechanism, causal, lengths in options:
        if causal and mechanism["kind"] == "kernel" and n != keys:
            continue
        dtype = ["f32", "f16", "bf16"][(n + dim["head_dim"]) % 3]
        scale = {"scale": 0.7} if mechanism is softmax and n == 9 else {}
        yield base | dim | scale | {"dtype": dtype, "queries": n, "keys": keys, "causal": causal,
                                    "key_lengths": lengths, "mechanism": mechanism}


def module_of(spec, mechanism):
    """The spec as one op. Sizes of batch and sequence are dynamic: the interpreter reads them off the arrays."""
    def tensor(heads, width, tokens="?"):
        return f"tensor<?x{heads}x{tokens}x{width}x{spec.dtype}>"
    q, k, v, o = tensor(spec.H, spec.d), tensor(spec.G, spec.d), tensor(spec.G, spec.dv), tensor(spec.H, spec.dv)
    arguments = f"%q: {q}, %k: {k}, %v: {v}" + (", %l: tensor<?xi32>" if spec.key_lengths else "")
    lengths = " lengths(%l : tensor<?xi32>)" if spec.key_lengths else ""
    attributes = ["causal"] if spec.causal else []
    if mechanism["kind"] == "softmax":
        scale = spec.scale if spec.scale is not None else spec.d ** -0.5
        attributes.append(f"scale = {scale:.17e} : f64")
    else:
        part = spec.parts[0]
        attributes.append(f"denominator = #attn.denominator<bias = {part.bias:.17e}, floor = {part.floor:.17e}>")
        attributes.append("feature_map = #attn.feature_map<elu1>")
    return (f"func.func @f({arguments}) -> {o} {{\n  %o = attn.{mechanism['kind']} %q, %k, %v{lengths} "
            f"{{{', '.join(attributes)}}} : {q}, {k}, {v} -> {o}\n  return %o : {o}\n}}\n")


def poison(folder):
    """NaN in the rows of keys that do not exist."""
    lengths = np.load(folder / "key_lengths.npy")
    for name in "kv":
        tensor = np.load(folder / f"{name}.npy")
        for entry, length in enumerate(lengths):
            tensor[entry, :, length:] = np.nan
        np.save(folder / f"{name}.npy", tensor)


def judge(oracle, fields, seed, folder):
    path = folder / "spec.yaml"
    path.write_text(yaml.safe_dump(fields, sort_keys=False), encoding="utf-8")
    spec = oracle.Spec(str(path))
    spec.resolve(2, 48, 61)
    oracle.init(spec, str(folder), seed, True)
    if spec.key_lengths:
        poison(folder)
    name, expected = oracle.run(str(path), str(folder))
    (folder / "spec.mlir").write_text(module_of(spec, fields["mechanism"]), encoding="utf-8")
    inputs = [str(folder / f"{x}.npy") for x in ["q", "k", "v"] + ["key_lengths"] * spec.key_lengths]

    def run(*options):
        out = folder / "out.npy"
        subprocess.run(["attune-eval", str(folder / "spec.mlir"), "-o", str(out), *options, *inputs], check=True)
        return np.load(out)

    rows = np.unique(np.random.default_rng(seed).integers(0, spec.n, 3))
    chosen = run("--rows", ",".join(map(str, rows)))
    got = run()
    if not np.array_equal(chosen, got[:, :, rows]):
        return float("inf")
    return oracle.errors(got, expected)[0]


def main():
    shared = pathlib.Path(sys.argv[1])
    sys.path.insert(0, str(shared / "reference"))
    import oracle
    examples = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
                for path in sorted((shared / "spec" / "examples").glob("*.yaml"))}
    cases = [(name, fields) for name, fields in examples.items() if supported(fields)]
    found = len(cases)
    # A third of them: 3 divides none of the options' counts, so every value of each option meets most others.
    thinned = itertools.islice(enumerate(variants()), 0, None, 3)
    cases += [(f"variant {i}: {fields}", fields) for i, fields in thinned]
    worst, failed = 0.0, 0
    for seed, (name, fields) in enumerate(cases):
        with tempfile.TemporaryDirectory() as folder:
            error = judge(oracle, fields, seed, pathlib.Path(folder))
        worst = max(worst, error)
        if not error <= BOUND:
            failed += 1
            print(f"FAIL: relative error {error:.2e}: {name}")
    print(f"{found} examples and {len(cases) - found} variants, largest relative error {worst:.1e}, {failed} failed")
    sys.exit(failed > 0 or not found)


main()
