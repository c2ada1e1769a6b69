"""With every key masked the output is 0, whatever the keys hold; for every mechanism.

  no_keys.py FOLDER

Runs the interpreter on small specs whose key_lengths are all 0 and whose keys and values are NaN and infinite.
"""

# RUN: rm -rf %t && %python %s %t

import os
import subprocess
import sys

import numpy as np

HEAD = """attention: probe
dtype: f32
batch: 2
queries: 16
heads: 2
head_dim: 8
key_lengths: true
"""
MAPS = ["{kind: elu1}", "{kind: relu}", "{kind: focused}", "{kind: cosformer, max_position: 16}",
        "{kind: favor, features: 12}", "{kind: favor, features: 12, epsilon: 1e-3, stabilizer: max}",
        "{kind: favor_relu, features: 12}"]
MECHANISMS = ["{kind: softmax}", "{kind: softmax, window: {length: 8}}", "{kind: polynomial, degree: 4}",
              "{kind: polysketch, degree: 4, size: 8}", "{kind: effatt}", "{kind: agent, agents: 4}",
              "{kind: eva, chunk: 4}", "{kind: eva, chunk: 4, window: {length: 8}, exclude_local: true, mass: true}",
              "{kind: softmax, low_rank: {rank: 4}}", "{kind: softmax, lepe: {grid: [4, 4]}}"]
MECHANISMS += [f"{{kind: kernel, feature_map: {feature_map}}}" for feature_map in MAPS]


def output(folder, mechanism):
    os.makedirs(folder)
    spec = os.path.join(folder, "probe.yaml")
    with open(spec, "w", encoding="utf-8") as file:
        file.write(f"{HEAD}mechanism: {mechanism}\n")
    subprocess.run(["attnc", "init", spec, "--out", folder, "--inputs"], check=True)
    shape = (2, 2, 16, 8)
    np.save(os.path.join(folder, "k.npy"), np.full(shape, np.nan, np.float32))
    np.save(os.path.join(folder, "v.npy"), np.full(shape, np.inf, np.float32))
    np.save(os.path.join(folder, "key_lengths.npy"), np.zeros(2, np.int32))
    subprocess.run(["attnc", "run", spec, "--in", folder, "--out", folder, "--reference"], check=True)
    return np.load(os.path.join(folder, "o.npy"))


def main():
    for number, mechanism in enumerate(MECHANISMS):
        o = output(os.path.join(sys.argv[1], str(number)), mechanism)
        assert o.shape == (2, 2, 16, 8) and not o.any(), f"{mechanism}: expected zeros, but got {o.ravel()[:4]} …"
    print(f"no_keys: {len(MECHANISMS)} mechanisms give zeros")


if __name__ == "__main__":
    main()
