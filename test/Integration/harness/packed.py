"""Runs packed specs and each of their sequences alone, with batch 1, and prints whether the results are the same bits. What is equal
to a run that other tests judge needs no tolerance. Further arguments are those of attnc run."""

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


def tokens(array, name, queries, keys, s):
    """Those of sequence s, in [1, heads, tokens, …]; a parameter is what it is."""
    offsets = {"q": queries, "o": queries, "lse": queries, "k": keys, "v": keys, "g": keys, "beta": keys, "w": keys}.get(name)
    return array if offsets is None else array[:, :, offsets[s]:offsets[s + 1]]


def check(spec, folder):
    text, own = pathlib.Path(spec).read_text(), pathlib.Path(spec).name
    queries = offsets_of(given.lengths)
    keys = offsets_of(given.key_lengths) if "keys:" in text else queries
    packed, alone, files, one = folder / own, folder / f"one_{own}", folder / "in", folder / "one"
    text = re.sub(r"sequences: .*", f"sequences: {len(queries) - 1}", text)
    packed.write_text(text)
    alone.write_text(re.sub(r"packed: true\nsequences: .*", "batch: 1", text))
    attnc("init", packed, "--inputs", "--out", files, "--queries", queries[-1], *(["--keys", keys[-1]] if keys is not queries else []))
    np.save(files / "offsets.npy", queries)
    if keys is not queries:
        np.save(files / "key_offsets.npy", keys)
    attnc("run", packed, "--in", files, "--out", folder / "out", *given.run.split())
    one.mkdir()
    for s in range(len(queries) - 1):
        if queries[s] == queries[s + 1]:
            continue
        if keys[s] == keys[s + 1]:  # no key, no output
            assert not np.load(folder / "out/o.npy")[:, :, queries[s]:queries[s + 1]].any()
            continue
        for file in files.glob("*.npy"):
            if "offsets" not in file.name:
                np.save(one / file.name, tokens(np.load(file), file.stem, queries, keys, s))
        attnc("run", alone, "--in", one, "--out", folder / "alone", *given.run.split())
        for file in (folder / "alone").glob("*.npy"):
            whole = tokens(np.load(folder / "out" / file.name), file.stem, queries, keys, s)
            assert np.array_equal(whole, np.load(file)), f"{own}: {file.stem} of sequence {s} differs"


for spec in given.specs:
    with tempfile.TemporaryDirectory() as folder:
        check(spec, pathlib.Path(folder))
print("each sequence as it is alone")
