"""Functions of attention with tensor squares as features, their inputs, and what comes out of them beside o = (q·k)² v / (1 + Σ (q·k)²)."""

import pathlib
import sys

import numpy as np

TOKENS, HEADS, WIDTH, VALUES = 77, 2, 12, 16


def function(causal):
    x, v = f"tensor<1x{HEADS}x{TOKENS}x{WIDTH}xf32>", f"tensor<1x{HEADS}x{TOKENS}x{VALUES}xf32>"
    return f'''func.func @squares(%q: {x} {{attn.name = "q"}}, %k: {x} {{attn.name = "k"}}, %v: {v} {{attn.name = "v"}}) -> ({v} {{attn.name = "o"}}) {{
  %o = attn.kernel %q, %k, %v {{{"causal, " if causal else ""}denominator = #attn.denominator<bias = 1.0, floor = 0.0>, feature_map = #attn.feature_map<tensor_square>}}
      : {x}, {x}, {v} -> {v}
  return %o : {v}
}}
'''


def make(inputs, encoder, causal):
    random = np.random.default_rng(1)
    for name, width in (("q", WIDTH), ("k", WIDTH), ("v", VALUES)):
        np.save(f"{inputs}/{name}.npy", random.standard_normal((1, HEADS, TOKENS, width)).astype(np.float32))
    pathlib.Path(encoder).write_text(function(False), encoding="utf-8")
    pathlib.Path(causal).write_text(function(True), encoding="utf-8")


def judge(inputs, encoder, causal):
    q, k, v = (np.load(f"{inputs}/{name}.npy").astype(float) for name in "qkv")
    for folder, mask in ((encoder, 1), (causal, np.tri(TOKENS))):
        weights = (q @ k.swapaxes(-1, -2)) ** 2 * mask
        expected = weights @ v / (1 + weights.sum(-1, keepdims=True))
        error = np.linalg.norm(np.load(f"{folder}/o.npy") - expected) / np.linalg.norm(expected)
        if not error < 2e-6:
            sys.exit(f"{folder}: relative error {error}")
    print("tensor squares are right")


{"make": make, "judge": judge}[sys.argv[1]](*sys.argv[2:])
