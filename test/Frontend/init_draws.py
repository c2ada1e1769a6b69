"""What `attnc init` writes, against a second implementation of docs/Spec.md's draws.

  init_draws.py FOLDER

Philox is written out with Python's integers, the normal quantile is that of Python's `statistics`, and the orthogonal
matrices are NumPy's QR, so nothing here shares code or algorithm with the compiler but the generator's definition. Every
tensor of two specs, which have all kinds of parameters between them, is compared element by element.
"""

# RUN: rm -rf %t && %python %s %t

import math
import os
import statistics
import subprocess
import sys

import numpy as np

SEED = 2**40 + 17  # both words of the key
LAYER = """attention: layer
dtype: f32
batch: 3
queries: '?'
heads: 4
kv_heads: 2
head_dim: 6
value_dim: 5
key_lengths: true
projection: {model_dim: 10, bias: true}
parts:
  - heads: 2
    mechanism: {kind: softmax, low_rank: {rank: 4, tied: false, per_head: true}, lepe: {bias: true}}
  - heads: 2
    mechanism:
      kind: kernel
      feature_map: {kind: favor, features: 15, per_head: true}
      lepe: {grid: [3, 4]}
"""
SKETCH = """attention: sketch
dtype: bf16
batch: 1
queries: 12
heads: 3
head_dim: 6
mechanism: {kind: polysketch, degree: 8, size: 4}
"""
FOCUS = """attention: focus
dtype: f16
batch: 1
queries: 12
heads: 3
head_dim: 6
mechanism: {kind: kernel, feature_map: {kind: focused}}
"""
MASK = 2**32 - 1


def philox(counter, key):
    """Philox4x32-10 of four and two 32-bit words."""
    counter, key = list(counter), list(key)
    for _ in range(10):
        first, second = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [(second >> 32) ^ counter[1] ^ key[0], second & MASK, (first >> 32) ^ counter[3] ^ key[1], first & MASK]
        key = [(key[0] + 0x9E3779B9) & MASK, (key[1] + 0xBB67AE85) & MASK]
    return counter


def bits(name, index):
    """Element `index` of a tensor's sequence, 64 bits."""
    code = 0xCBF29CE484222325
    for byte in name.encode():
        code = (code ^ byte) * 0x100000001B3 % 2**64
    block = index // 2
    words = philox([block & MASK, block >> 32, code & MASK, code >> 32], [SEED & MASK, SEED >> 32])
    low = index % 2 * 2
    return words[low + 1] << 32 | words[low]


def normal(name, index):
    return statistics.NormalDist().inv_cdf(((bits(name, index) >> 12) + 0.5) / 2**52)


def normals(name, shape, deviation=1.0, first=0):
    count = math.prod(shape)
    return deviation * np.array([normal(name, first + i) for i in range(count)]).reshape(shape)


def integers(name, shape, bound):
    return np.array([bits(name, i) * bound >> 64 for i in range(math.prod(shape))]).reshape(shape)


def signs(name, shape):
    return 2.0 * integers(name, shape, 2) - 1


def orthogonal(name, matrices, rows, width):
    """Directions from QR block by block, times the norms of as many normals again."""
    result = []
    for matrix in range(matrices):
        drawn = normals(name, (2, rows, width), first=2 * matrix * rows * width)
        for start in range(0, rows, width):
            q, r = np.linalg.qr(drawn[0, start:start + width].T)
            result.append((q * np.sign(np.diag(r))).T)
        norms = np.linalg.norm(drawn[1], axis=1)
        done = len(result) - math.ceil(rows / width)
        result[done:] = [norms[:, None] * np.concatenate(result[done:])]
    return np.stack(result)


def expected_layer():
    names = {"x": normals("x", (3, 12, 10)), "key_lengths": integers("key_lengths", (3,), 13)}
    for name, shape in {"wq": (10, 24), "wk": (10, 12), "wv": (10, 10), "wo": (20, 10)}.items():
        names[name] = normals(name, shape, shape[0] ** -0.5)
    for name, size in {"bq": 24, "bk": 12, "bv": 10, "bo": 10}.items():
        names[name] = normals(name, (size,), 0.1)
    for name in ("part0.e", "part0.f"):
        names[name] = normals(name, (1, 4, 12), 0.5)
    names["part0.lepe.weight"] = normals("part0.lepe.weight", (2, 5, 3), 3 ** -0.5)
    names["part0.lepe.bias"] = normals("part0.lepe.bias", (2, 5), 0.1)
    names["part1.omega"] = orthogonal("part1.omega", 2, 15, 6)
    names["part1.lepe.weight"] = normals("part1.lepe.weight", (2, 5, 3, 3), 1 / 3)
    return names


def expected_sketch():
    names = {}
    for i in range(4):
        names[f"sketch.leaf{i}.sign"] = signs(f"sketch.leaf{i}.sign", (3, 8))
        names[f"sketch.leaf{i}.index"] = integers(f"sketch.leaf{i}.index", (3, 4), 8)
    for j in range(3):
        for side in "ab":
            names[f"sketch.node{j}.sign_{side}"] = signs(f"sketch.node{j}.sign_{side}", (3, 4))
            names[f"sketch.node{j}.index_{side}"] = integers(f"sketch.node{j}.index_{side}", (3, 4), 4)
    return names


def compare(folder, text, options, expected):
    os.makedirs(folder)
    spec = os.path.join(folder, "spec.yaml")
    with open(spec, "w", encoding="utf-8") as file:
        file.write(text)
    out = os.path.join(folder, "out")
    subprocess.run(["attnc", "init", spec, "--out", out, "--seed", str(SEED), *options], check=True)
    written = {name[:-4] for name in os.listdir(out)}
    assert written == set(expected), f"files {sorted(written ^ set(expected))} are in one of the two only"
    for name, want in expected.items():
        got = np.load(os.path.join(out, name + ".npy"))
        integral = want.dtype.kind == "i"
        assert got.dtype == (np.int32 if integral else np.float32) and got.shape == want.shape, name
        error = np.abs(got - want).max()
        assert error <= (0 if integral else 4e-7 * np.abs(want).max()), f"{name}: off by {error}"


def main():
    folder = sys.argv[1]
    compare(os.path.join(folder, "layer"), LAYER, ["--inputs", "--queries", "12"], expected_layer())
    compare(os.path.join(folder, "sketch"), SKETCH, [], expected_sketch())
    compare(os.path.join(folder, "focus"), FOCUS, [], {"focus": normals("focus", (3, 6), 0.1)})
    print("init_draws: every tensor as drawn here")


if __name__ == "__main__":
    main()
