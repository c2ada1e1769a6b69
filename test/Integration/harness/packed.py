"""Runs packed specs and each of their sequences alone, with batch 1, and prints whether the results are the same bits. What is equal
to a run that other tests judge needs no tolerance. Specs with states run twice, from none and from what the run before has left.
Further arguments are those of attnc run."""

import argparse
import pathlib
import re
import subprocess
import tempfile

import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("specs", nargs="+")
parser.add_argument("--lengths", required=True, help="of the sequences, with commas")
parser.add_argument("--key-lengths", help="of their keys, where the spec has others")
parser.add_argument("--run", default="", help="further arguments of attnc run")
given = parser.parse_args()


def attnc(*arguments):
    subprocess.run(["attnc", *map(str, arguments)], check=True)


def offsets_of(lengths):
    return np.cumsum([0] + [int(length) for length in lengths.split(",")]).astype(np.int32)


def is_state(name):
    return "state." in name


def tokens(array, name, queries, keys, s):
    """Those of sequence s, in [1, heads, tokens, …], or its state; a parameter is what it is."""
    if is_state(name):
        return array[s:s + 1]
    name = name.split(".")[-1]
    offsets = {**dict.fromkeys(["q", "o", "lse", "x", "y"], queries), **dict.fromkeys(["k", "v", "g", "beta", "w", "context"], keys)}.get(name)
    if offsets is None:
        return array
    return np.take(array, range(offsets[s], offsets[s + 1]), axis=1 if name in ("x", "y", "context") else 2)


def check(spec, folder):
    text, own = pathlib.Path(spec).read_text(), pathlib.Path(spec).name
    queries = offsets_of(given.lengths)
    keys = offsets_of(given.key_lengths) if "keys:" in text else queries
    packed, alone, files = folder / own, folder / f"one_{own}", folder / "in"
    text = re.sub(r"sequences: .*", f"sequences: {len(queries) - 1}", text)
    packed.write_text(text)
    alone.write_text(re.sub(r"packed: true\nsequences: .*", "batch: 1", text))
    attnc("init", packed, "--inputs", "--out", files, "--queries", queries[-1], *(["--keys", keys[-1]] if keys is not queries else []))
    np.save(files / "offsets.npy", queries)
    for state in files.glob("*state.*.npy"):
        state.unlink()
    if keys is not queries:
        np.save(files / "key_offsets.npy", keys)
    check_run(packed, alone, folder, queries, keys)
    for state in (folder / "out").glob("*final_state.*.npy"):
        state.rename(files / state.name.replace("final_state.", "state."))
    if "initial: true" in text:
        check_run(packed, alone, folder, queries, keys)


# So many tokens that go on from a state alone are steps of the recurrence: another plan than that of chunks.
FEW = 8


def true_states(results):
    """Rows of states times e to their scales, which differ with the plan."""
    def scaled(name):
        scale = results.get(re.sub(r"state\.[sz]$", "state.scale", name))
        if scale is None or name.endswith("scale"):
            return results[name]
        return results[name] * np.exp(np.float64(scale)).reshape(scale.shape + (1,) * (results[name].ndim - scale.ndim))
    return {name: scaled(name) for name in results if not name.endswith("scale")}


def near(got, expected):
    got, expected = true_states(got), true_states(expected)
    return next((name for name in expected if not np.linalg.norm(got[name] - expected[name]) <= 1e-5 * np.linalg.norm(expected[name])), None)


def equal(got, expected):
    return next((name for name in expected if not np.array_equal(got[name], expected[name])), None)


def check_run(packed, alone, folder, queries, keys):
    """The packed spec's tensors are in `in`, its results go to `out`."""
    files, one = folder / "in", folder / "one"
    attnc("run", packed, "--in", files, "--out", folder / "out", *given.run.split())
    results = {file.stem: np.load(file) for file in (folder / "out").glob("*.npy")}
    states, goes_on = any(map(is_state, results)), "initial: true" in packed.read_text(encoding="utf-8")
    one.mkdir(exist_ok=True)
    for s in range(len(queries) - 1):
        if queries[s] == queries[s + 1] and not states:
            continue
        if keys[s] == keys[s + 1] and not states:  # no key, no output
            assert not tokens(results["o"], "o", queries, keys, s).any()
            continue
        for file in files.glob("*.npy"):
            if "offsets" not in file.name:
                np.save(one / file.name, tokens(np.load(file), file.stem, queries, keys, s))
        attnc("run", alone, "--in", one, "--out", folder / "alone", *given.run.split())
        own = {file.stem: np.load(file) for file in (folder / "alone").glob("*.npy")}
        got = {name: tokens(results[name], name, queries, keys, s) for name in own}
        differs = near if goes_on and queries[s + 1] - queries[s] <= FEW else equal
        assert not (name := differs(got, own)), f"{packed.name}: {name} of sequence {s} differs"
        for name in filter(is_state, got) if queries[s] == queries[s + 1] else ():  # as it was
            before = files / f"{name.replace('final_state.', 'state.')}.npy"
            if "scale" not in name or before.exists():  # of no state it says nothing
                assert np.array_equal(got[name], tokens(np.load(before), name, queries, keys, s) if before.exists() else 0 * got[name])


for spec in given.specs:
    with tempfile.TemporaryDirectory() as folder:
        check(spec, pathlib.Path(folder))
print("each sequence as it is alone")
