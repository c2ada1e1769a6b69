"""Functions of attention with squares as features, of either kind, their inputs, and what comes out of them beside o = (q·k)² v / (1 + Σ (q·k)²)."""

import pathlib
import sys

import numpy as np

TOKENS, HEADS, WIDTH, VALUES = 77, 2, 12, 16
# What each folder has: the features, and whether it is causal.
FUNCTIONS = {"encoder": ("tensor_square", False), "causal": ("tensor_square", True), "symmetric": ("symmetric_square", False),
             "symmetric_causal": ("symmetric_square", True)}


def function(square, causal):
    x, v = f"tensor<1x{HEADS}x{TOKENS}x{WIDTH}xf32>", f"tensor<1x{HEADS}x{TOKENS}x{VALUES}xf32>"
    return f'''func.func @squares(%q: {x} {{attn.name = "q"}}, %k: {x} {{attn.name = "k"}}, %v: {v} {{attn.name = "v"}}) -> ({v} {{attn.name = "o"}}) {{
  %o = attn.kernel %q, %k, %v {{{"causal, " if causal else ""}denominator = #attn.denominator<bias = 1.0, floor = 0.0>, feature_map = #attn.feature_map<{square}>}}
      : {x}, {x}, {v} -> {v}
  return %o : {v}
}}
'''


def make(folder):
    random = np.random.default_rng(1)
    for name, width in (("q", WIDTH), ("k", WIDTH), ("v", VALUES)):
        np.save(folder / "in" / f"{name}.npy", random.standard_normal((1, HEADS, TOKENS, width)).astype(np.float32))
    for name, said in FUNCTIONS.items():
        (folder / f"{name}.mlir").write_text(function(*said), encoding="utf-8")


def judge(folder):
    q, k, v = (np.load(folder / "in" / f"{name}.npy").astype(float) for name in "qkv")
    for name, (_, causal) in FUNCTIONS.items():
        weights = (q @ k.swapaxes(-1, -2)) ** 2 * (np.tri(TOKENS) if causal else 1)
        expected = weights @ v / (1 + weights.sum(-1, keepdims=True))
        error = np.linalg.norm(np.load(folder / name / "o.npy") - expected) / np.linalg.norm(expected)
        if not error < 2e-6:
            sys.exit(f"{name}: relative error {error}")
    print(f"{len(FUNCTIONS)} functions are right")


{"make": make, "judge": judge}[sys.argv[1]](pathlib.Path(sys.argv[2]))
